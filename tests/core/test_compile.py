"""Where compiled kernels are kept: a package of two kernels, in folders that can be written to or not."""

import ctypes
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import numba
import numpy as np
import pytest
from inside import plant

import skstruct
from skstruct.core import compile as under_test
from skstruct.data.trie import Trie

SOURCES = {
    "__init__.py": "",
    "core/__init__.py": "",
    "core/helper.py": """
from .compile import inline

@inline
def amount():
    return 1
""",
    "caller.py": """
from .core.compile import kernel
from .core.helper import amount

@kernel
def add(x):
    return x + amount()

@kernel
def double(x):
    return 2 * x
""",
}

RUN = """
import json, sys, tempfile, warnings
tempfile.tempdir = sys.argv[1]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from toy import caller
    names = sys.argv[2:]
    values = [getattr(caller, name)(40) for name in names]
stats = [getattr(getattr(caller, name), "stats", None) for name in names]
print(json.dumps({
    "values": values,
    "compiled": [name for name, s in zip(names, stats) if s and s.cache_misses],
    "folders": [s and s.cache_path for s in stats],
    "warnings": [str(w.message) for w in caught],
}))
"""


def _drop_privileges():
    """Let permissions bind root too: without the capabilities to override them (Linux)."""
    libc = ctypes.CDLL(None)
    for capability in (1, 2, 3):  # DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def _environment(place, **settings):
    """The environment of a user whose home is ``place / "home"``; of numba's settings only those given."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "XDG_"))}
    home = str(place / "home")
    return {**environment, "HOME": home, "LOCALAPPDATA": home, "PYTHONPATH": str(place / "code"), **settings}


def _python(place, script, *arguments, **settings):
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env=_environment(place, **settings),
        cwd=place,
        preexec_fn=_drop_privileges if sys.platform == "linux" and os.getuid() == 0 else None,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _run(place, *kernels, **settings):
    return json.loads(_python(place, RUN, place / "temporary", *kernels, **settings))


def _set_mode(place, mode):
    for folder, _, _ in os.walk(place, topdown=False):
        os.chmod(folder, mode)


def _copy(source, to):
    """Copy a tree as an image or an archive does: with new times."""
    shutil.copytree(source, to, copy_function=shutil.copyfile)


def _folders_in(parent):
    return sorted(path.name for path in parent.iterdir() if path.is_dir())


@pytest.fixture
def place():
    """A folder with the package ``code/toy``, a home and a folder for temporary files."""
    place = Path(tempfile.mkdtemp(prefix="skstruct-test-")).resolve()
    for name in ("code/toy/core", "home", "temporary"):
        (place / name).mkdir(parents=True)
    for name, text in SOURCES.items():
        (place / "code/toy" / name).write_text(text)
    for name in ("compile.py", "linking.py"):
        shutil.copy(Path(under_test.__file__).parent / name, place / "code/toy/core" / name)
    yield place
    _set_mode(place, 0o755)
    shutil.rmtree(place)


@pytest.fixture
def read_only(place):
    """A function that takes the right to write from folders of ``place``, or from all of it."""

    def close(*names):
        for name in names or ("",):
            _set_mode(place / name, 0o555)
        script = "import sys, tempfile; tempfile.TemporaryFile(dir=sys.argv[1])"
        with pytest.raises(AssertionError):
            _python(place, script, place / (names or ("code",))[0])

    try:
        _set_mode(place / "temporary", 0o555)
        _python(place, "import sys; open(sys.argv[1] + '/x', 'w')", place / "temporary")
    except AssertionError:
        return close
    finally:
        _set_mode(place / "temporary", 0o755)
    pytest.skip("permissions do not bind this user")


def test_beside_the_source(place):
    first = _run(place, "add")
    assert first["values"] == [41] and first["compiled"] == ["add"] and not first["warnings"]
    assert Path(first["folders"][0]).parent == place / "code/toy/__pycache__"
    second = _run(place, "add")
    assert second == {**first, "compiled": []}
    assert not _folders_in(place / "home") and not _folders_in(place / "temporary")


def test_who_asks_is_told_before_each_compilation(place):
    script = """
from toy import caller
from toy.core.compile import before_compiling
before_compiling(lambda: print("soon"))
caller.double(1)
caller.double(2)
"""
    assert _python(place, script) == "soon\n"
    assert _python(place, script) == ""


def test_edited_helper_in_another_file(place):
    assert _run(place, "add")["values"] == [41]
    helper = place / "code/toy/core/helper.py"
    helper.write_text(helper.read_text().replace("return 1", "return 2"))
    again = _run(place, "add")
    assert again["values"] == [42]
    # What belonged to the sources that are gone is gone as well.
    assert _folders_in(place / "code/toy/__pycache__") == [Path(again["folders"][0]).name]


def test_edit_while_a_process_runs(place):
    """The process keeps what it has loaded, and leaves the cache of the new sources alone."""
    script = """
import os, subprocess, sys
from toy import caller
from toy.core import helper
caller.double(1)
text = open(helper.__file__).read().replace("return 1", "return 2")
open(helper.__file__, "w").write(text)
subprocess.run([sys.executable, "-c", "from toy import caller; assert caller.add(40) == 42"], check=True)
print(caller.add(40))
"""
    assert _python(place, script) == "41\n"
    done = _run(place, "add")
    assert done["values"] == [42] and done["compiled"] == []


@pytest.mark.slow
def test_upgrade_over_a_warm_cache(place):
    """The same of the package itself: a lexicon finds nothing once the helper that looks up is changed."""
    _copy(Path(skstruct.__file__).parent, place / "code/skstruct")
    script = (
        "from skstruct.features.lexicon import Lexicon; import numpy as np;"
        "print(Lexicon(['b'], True).match(['a', 'b'], np.array([0, 2])).tolist())"
    )
    assert _python(place, script) == "[0, 4]\n"
    helper = place / "code/skstruct/core/hashing.py"
    head = "def find(table, compound, left, right):\n"
    assert head in helper.read_text()
    helper.write_text(helper.read_text().replace(head, head + "    return np.int64(-1)\n"))
    assert _python(place, script) == "[0, 0]\n"


def test_module_that_is_edited_and_loaded_again(place):
    script = """
import importlib, toy.caller as caller
assert caller.double(1) == 2
text = open(caller.__file__).read().replace("2 * x", "3 * x  # longer")
open(caller.__file__, "w").write(text)
print(importlib.reload(caller).double(1))
"""
    assert _python(place, script) == "3\n"


def test_filled_cache_where_nothing_can_be_written(place, read_only):
    _run(place, "add")
    _copy(place / "code", place / "image")
    shutil.rmtree(place / "code")
    (place / "image").rename(place / "code")
    read_only()
    done = _run(place, "add")
    assert done["values"] == [41] and done["compiled"] == [] and done["warnings"] == []


@pytest.mark.parametrize("home", [None, "~"], ids=["home", "no home"])
def test_nowhere_to_write(place, read_only, home):
    read_only()
    # What Python makes of "~" for a user without a home is "~".
    done = _run(place, "add", "double", **({"HOME": home} if home else {}))
    assert done["values"] == [41, 80] and done["compiled"] == ["add", "double"]
    (warning,) = done["warnings"]
    assert "NUMBA_CACHE_DIR" in warning


def test_user_without_home_gets_no_folder_named_tilde(place, read_only):
    read_only("code")
    _run(place, "add", HOME="~")
    assert _folders_in(place) == ["code", "home", "temporary"]
    assert _folders_in(place / "temporary")


def test_home_when_the_package_is_read_only(place, read_only):
    read_only("code")
    first = _run(place, "add")
    assert Path(first["folders"][0]).is_relative_to(place / "home")
    assert _run(place, "add") == {**first, "compiled": []}


def test_private_folder(place, read_only):
    """It takes what is not in a cache that can only be read."""
    _run(place, "add")
    read_only("code", "home")
    first = _run(place, "add", "double")
    assert first["compiled"] == ["double"] and not first["warnings"]
    folder = Path(first["folders"][1]).parent
    assert folder.parent == place / "temporary"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700 and folder.stat().st_uid == os.getuid()
    assert _run(place, "add", "double") == {**first, "compiled": []}


def _loosen(folder):
    folder.chmod(0o755)


def _give_away(folder):
    try:
        os.chown(folder, 12345, -1)
    except PermissionError:
        pytest.skip("only root can give a folder to another user")


def _replace_by_link(folder):
    folder.rename(folder.with_name("real"))
    folder.symlink_to("real")


@pytest.mark.parametrize("spoil", [_loosen, _give_away, _replace_by_link])
def test_private_folder_that_others_prepared_is_refused(place, read_only, spoil):
    read_only("code", "home")
    folder = Path(_run(place, "add")["folders"][0]).parent
    spoil(folder)
    done = _run(place, "add")
    assert done["values"] == [41] and done["compiled"] == ["add"]
    assert ["NUMBA_CACHE_DIR" in w for w in done["warnings"]] == [True]


def test_numba_cache_dir_comes_first(place):
    _run(place, "add")
    chosen = place / "chosen"
    first = _run(place, "add", NUMBA_CACHE_DIR=str(chosen))
    assert first["compiled"] == ["add"]  # so that the folder is complete, and can be copied
    assert Path(first["folders"][0]).parent == chosen
    # The code may have moved: its text is what counts.
    (place / "elsewhere").mkdir()
    _copy(place / "code/toy", place / "elsewhere/toy")
    moved = {"PYTHONPATH": str(place / "elsewhere"), "NUMBA_CACHE_DIR": str(chosen)}
    assert _run(place, "add", **moved) == {**first, "compiled": []}


def test_numba_cache_dir_that_cannot_be_written_to(place, read_only):
    (place / "chosen").mkdir()
    read_only("chosen")
    done = _run(place, "add", NUMBA_CACHE_DIR=str(place / "chosen"))
    assert Path(done["folders"][0]).is_relative_to(place / "code")


def test_portable_kernels_serve_another_processor(place, read_only):
    generic = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    assert _run(place, "add", **generic)["compiled"] == ["add"]
    read_only()
    done = _run(place, "add")  # this processor has a name and features
    assert done["values"] == [41] and done["compiled"] == [] and done["warnings"] == []


def test_kernels_of_a_processor_do_not_serve_another(place):
    _run(place, "add")
    assert _run(place, "add", NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")["compiled"] == ["add"]
    assert _run(place, "add")["compiled"] == []


def test_other_packages_keep_their_settings(place):
    (place / "code/other.py").write_text("import numba\n\n@numba.njit(cache=True)\ndef f(x):\n    return x\n")
    script = """
import os, numba
from numba.core import caching
def settings():
    env = {k: v for k, v in os.environ.items() if k.startswith("NUMBA_")}
    locators = list(caching.CacheImpl._locator_classes)
    return env, numba.config.CACHE_DIR, locators, caching.FunctionCache._impl_class
before = settings()
import toy.caller, other
toy.caller.add(1), other.f(1)
assert settings() == before
print(other.f.stats.cache_path)
"""
    assert _python(place, script) == f"{place / 'code/__pycache__'}\n"


def test_without_compilation(place):
    done = _run(place, "add", NUMBA_DISABLE_JIT="1")
    assert done["values"] == [41] and done["folders"] == [None]


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_processes_that_start_at_once(place):
    script = """
import multiprocessing
from toy import caller
with multiprocessing.get_context("fork").Pool(4) as pool:
    print(pool.map(caller.run, [40] * 8))
"""
    with open(place / "code/toy/caller.py", "a") as file:
        file.write("\n\ndef run(x):\n    return add(x)\n")
    assert _python(place, script) == f"{[41] * 8}\n"
    assert _run(place, "add")["compiled"] == []


def test_the_hash_covers_kernels_and_what_they_import():
    package = Path(skstruct.__file__).parent
    covered = {str(Path(path).relative_to(package).as_posix()) for path in under_test.kernel_sources()}
    with_kernels = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if "\n@kernel" in path.read_text("utf-8") or "\n@inline" in path.read_text("utf-8")
    }
    assert with_kernels
    assert with_kernels | {"core/codes.py", "core/compile.py", "core/linking.py"} <= covered
    assert not any(path.startswith(("cli/", "datasets/", "metrics/")) for path in covered)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_the_folder_of_the_package_is_named_after_its_sources():
    Trie(np.array([1], np.int32), np.array([0, 1]))
    expected = f"skstruct-{under_test.hash_sources()}-numba-{numba.__version__}"
    assert Path(plant.stats.cache_path).name == expected


@pytest.mark.slow
def test_fit_in_a_read_only_container(place, read_only):
    _copy(Path(skstruct.__file__).parent, place / "code/skstruct")
    shutil.rmtree(place / "code/skstruct/__pycache__", ignore_errors=True)
    read_only()
    script = """
import tempfile, warnings, sys
tempfile.tempdir = sys.argv[1]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import skstruct
    assert not caught
    X, y = [["the", "dog"]] * 4, [["D", "N"]] * 4
    print(skstruct.StructuredPerceptron().fit(X, y).predict(X[:1]))
    print(*[w.message for w in caught if "NUMBA_CACHE_DIR" in str(w.message)], sep="\\n")
"""
    first, *warned = _python(place, script, place / "temporary", HOME="~").splitlines()
    assert "'D', 'N'" in first and len(warned) == 1
