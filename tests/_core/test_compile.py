"""Where compiled kernels are kept: a package of a few kernels, in folders that can be
written to or not.
"""

import os
import shutil
import stat
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from inside import plant
from toy_package import copy_tree, folders_in, place, read_only, run_kernels, run_python

import skstruct
from skstruct._core import sources
from skstruct.features.contexts import Trie

__all__ = ["place", "read_only"]  # fixtures


def test_beside_the_source(place):
    first = run_kernels(place, "add")
    assert (
        first["values"] == [41]
        and first["compiled"] == ["add"]
        and not first["warnings"]
    )
    assert Path(first["folders"][0]).parent == place / "code/toy/__pycache__"
    second = run_kernels(place, "add")
    assert second == {**first, "compiled": []}
    assert not folders_in(place / "home") and not folders_in(place / "temporary")


def test_compiling_is_announced_once_and_by_the_main_process_only(place):
    script = """
import multiprocessing, os
os.dup2(1, 2)
work = "from toy import caller; caller.add(1)"
worker = multiprocessing.get_context("spawn").Process(target=exec, args=[work])
worker.start()
worker.join()
print("now", worker.exitcode, flush=True)
from toy import caller
caller.double(1)
caller.double(2.0)
"""
    said = run_python(place, script).splitlines()
    assert (
        said[0] == "now 0"
        and len(said) == 2
        and said[1].startswith("skstruct: compiling")
    )
    assert run_python(place, script) == "now 0\n"


def test_edited_helper_in_another_file(place):
    assert run_kernels(place, "add")["values"] == [41]
    helper = place / "code/toy/core/helper.py"
    helper.write_text(helper.read_text().replace("return 1", "return 2"))
    again = run_kernels(place, "add")
    assert again["values"] == [42]
    # What belonged to the sources that are gone is gone as well.
    assert folders_in(place / "code/toy/__pycache__") == [
        Path(again["folders"][0]).name
    ]


def test_edit_while_a_process_runs(place):
    """The process keeps what it has loaded, and leaves the cache of the new sources
    alone.
    """
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
    assert run_python(place, script) == "41\n"
    done = run_kernels(place, "add")
    assert done["values"] == [42] and done["compiled"] == []


@pytest.mark.slow
def test_upgrade_over_a_warm_cache(place):
    """The same of the package itself: a lexicon finds nothing once the helper that
    looks up is changed.
    """
    copy_tree(Path(skstruct.__file__).parent, place / "code/skstruct")
    script = (
        "from skstruct.features.contexts import Lexicon; import numpy as np;"
        "print(Lexicon(['b'], True).match(['a', 'b'], np.array([0, 2])).tolist())"
    )
    assert run_python(place, script) == "[0, 4]\n"
    helper = place / "code/skstruct/_core/hashing.py"
    text = helper.read_text()
    begin = "    key = (np.int64(left) << 32)"
    assert begin in text[text.index("def find(") : text.index("def find_pairs(")]
    at = text.index(begin, text.index("def find("))
    helper.write_text(f"{text[:at]}    return np.int64(-1)\n{text[at:]}")
    assert run_python(place, script) == "[0, 0]\n"


def test_module_that_is_edited_and_loaded_again(place):
    script = """
import importlib, toy.caller as caller
assert caller.double(1) == 2
text = open(caller.__file__).read().replace("2 * x", "3 * x  # longer")
open(caller.__file__, "w").write(text)
print(importlib.reload(caller).double(1))
"""
    assert run_python(place, script) == "3\n"


def test_filled_cache_where_nothing_can_be_written(place, read_only):
    run_kernels(place, "add")
    copy_tree(place / "code", place / "image")
    shutil.rmtree(place / "code")
    (place / "image").rename(place / "code")
    read_only()
    done = run_kernels(place, "add")
    assert done["values"] == [41] and done["compiled"] == [] and done["warnings"] == []


@pytest.mark.parametrize("home", [None, "~"], ids=["home", "no home"])
def test_nowhere_to_write(place, read_only, home):
    read_only()
    # What Python makes of "~" for a user without a home is "~".
    done = run_kernels(place, "add", "double", **({"HOME": home} if home else {}))
    assert done["values"] == [41, 80] and done["compiled"] == ["add", "double"]
    (warning,) = done["warnings"]
    assert "NUMBA_CACHE_DIR" in warning


def test_user_without_home_gets_no_folder_named_tilde(place, read_only):
    read_only("code")
    run_kernels(place, "add", HOME="~")
    assert folders_in(place) == ["code", "home", "temporary"]
    assert folders_in(place / "temporary")


def test_home_when_the_package_is_read_only(place, read_only):
    read_only("code")
    first = run_kernels(place, "add")
    assert Path(first["folders"][0]).is_relative_to(place / "home")
    assert run_kernels(place, "add") == {**first, "compiled": []}


def test_private_folder(place, read_only):
    """It takes what is not in a cache that can only be read."""
    run_kernels(place, "add")
    read_only("code", "home")
    first = run_kernels(place, "add", "double")
    assert first["compiled"] == ["double"] and not first["warnings"]
    folder = Path(first["folders"][1]).parent
    private = folder.parent
    assert private.parent == place / "temporary"
    assert (
        stat.S_IMODE(private.stat().st_mode) == 0o700
        and private.stat().st_uid == os.getuid()
    )
    assert run_kernels(place, "add", "double") == {**first, "compiled": []}


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


@pytest.mark.parametrize(
    "spoil",
    [
        _replace_by_link,
        *(pytest.param(each, marks=pytest.mark.slow) for each in (_loosen, _give_away)),
    ],
)
def test_private_folder_that_others_prepared_is_refused(place, read_only, spoil):
    read_only("code", "home")
    folder = Path(run_kernels(place, "add")["folders"][0]).parent.parent
    spoil(folder)
    done = run_kernels(place, "add")
    assert done["values"] == [41] and done["compiled"] == ["add"]
    assert ["NUMBA_CACHE_DIR" in w for w in done["warnings"]] == [True]


def test_numba_cache_dir_comes_first(place):
    run_kernels(place, "add")
    chosen = place / "chosen"
    first = run_kernels(place, "add", NUMBA_CACHE_DIR=str(chosen))
    assert first["compiled"] == [
        "add"
    ]  # so that the folder is complete, and can be copied
    assert Path(first["folders"][0]).parent == chosen
    # The code may have moved: its text is what counts.
    (place / "elsewhere").mkdir()
    copy_tree(place / "code/toy", place / "elsewhere/toy")
    moved = {"PYTHONPATH": str(place / "elsewhere"), "NUMBA_CACHE_DIR": str(chosen)}
    assert run_kernels(place, "add", **moved) == {**first, "compiled": []}


def test_numba_cache_dir_that_cannot_be_written_to(place, read_only):
    (place / "chosen").mkdir()
    read_only("chosen")
    done = run_kernels(place, "add", NUMBA_CACHE_DIR=str(place / "chosen"))
    assert Path(done["folders"][0]).is_relative_to(place / "code")


def test_portable_kernels_serve_another_processor(place, read_only):
    generic = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    assert run_kernels(place, "add", **generic)["compiled"] == ["add"]
    read_only()
    done = run_kernels(place, "add")  # this processor has a name and features
    assert done["values"] == [41] and done["compiled"] == [] and done["warnings"] == []


def test_kernels_of_a_processor_do_not_serve_another(place):
    run_kernels(place, "add")
    assert run_kernels(place, "add", NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")[
        "compiled"
    ] == ["add"]
    assert run_kernels(place, "add")["compiled"] == []


def test_other_packages_keep_their_settings(place):
    (place / "code/other.py").write_text(
        "import numba\n\n@numba.njit(cache=True)\ndef f(x):\n    return x\n"
    )
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
    assert run_python(place, script) == f"{place / 'code/__pycache__'}\n"


def test_without_compilation(place):
    done = run_kernels(place, "add", NUMBA_DISABLE_JIT="1")
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
    assert run_python(place, script) == f"{[41] * 8}\n"
    assert run_kernels(place, "add")["compiled"] == []


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_the_folder_of_the_package_is_named_after_its_sources():
    Trie(np.array([1], np.int32), np.array([0, 1]))
    expected = f"skstruct-{sources.HASH}-numba-{numba.__version__}"
    assert Path(plant.stats.cache_path).name.startswith(expected)


@pytest.mark.slow
def test_fit_in_a_read_only_container(place, read_only):
    copy_tree(Path(skstruct.__file__).parent, place / "code/skstruct")
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
    first, *warned = run_python(
        place, script, place / "temporary", HOME="~"
    ).splitlines()
    assert "'D', 'N'" in first and len(warned) == 1
