"""A package of a few kernels in a folder of its own, whose cache tests fill, move and
lock.
"""

import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from forked import run_script

from skstruct._core import compile as under_test

SOURCES = {
    "__init__.py": "",
    "core/__init__.py": "",
    "core/helper.py": """
from .compile import inline

@inline
def amount():
    return 1

@inline
def number_at(numbers, place):
    return numbers[place]
""",
    "errors.py": "MESSAGE = 'wrong'",
    "caller.py": """
from .core.compile import kernel
from .core.helper import amount, number_at

@kernel
def add(x):
    return x + amount()

@kernel
def double(x):
    return 2 * x

@kernel
def half(numbers):
    return numbers[0] / 2

@kernel
def pick(numbers, place):
    return number_at(numbers, place)
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


def _environment(place, **settings):
    """The environment of a user whose home is ``place / "home"``; of numba's settings
    only those given.
    """
    environment = {
        k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "XDG_"))
    }
    home = str(place / "home")
    return {
        **environment,
        "HOME": home,
        "LOCALAPPDATA": home,
        "PYTHONPATH": str(place / "code"),
        **settings,
    }


def run_python(place, script, *arguments, **settings):
    env = _environment(place, **settings)
    done = run_script(script, *map(str, arguments), env=env, cwd=place)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_kernels(place, *kernels, **settings):
    return json.loads(run_python(place, RUN, place / "temporary", *kernels, **settings))


def set_mode(place, mode):
    for folder, _, _ in os.walk(place, topdown=False):
        os.chmod(folder, mode)


def copy_tree(source, to):
    """Copy a tree as an image or an archive does: with new times."""
    shutil.copytree(source, to, copy_function=shutil.copyfile)


def folders_in(parent):
    return sorted(path.name for path in parent.iterdir() if path.is_dir())


@pytest.fixture
def place():
    """A folder with the package ``code/toy``, a home and a folder for temporary
    files.
    """
    place = Path(tempfile.mkdtemp(prefix="skstruct-test-")).resolve()
    for name in ("code/toy/core", "home", "temporary"):
        (place / name).mkdir(parents=True)
    for name, text in SOURCES.items():
        (place / "code/toy" / name).write_text(text)
    core = Path(under_test.__file__).parent
    for name in (
        "brought_kernels.py",
        "compile.py",
        "kernel_folders.py",
        "kernel_lock.py",
        "linking.py",
        "passes.py",
    ):
        shutil.copy(core / name, place / "code/toy/core" / name)
    text = (core / "sources.py").read_text().split('"""')
    text[3] = "caller.py core/compile.py core/helper.py core/linking.py core/passes.py"
    (place / "code/toy/core/sources.py").write_text('"""'.join(text))
    for path in (place / "code/toy").rglob("*.py"):
        os.utime(
            path, (1e9, 1e9)
        )  # an edit of the same length in the same second would not be noticed
    yield place
    set_mode(place, 0o755)
    shutil.rmtree(place)


@pytest.fixture
def read_only(place):
    """A function that takes the right to write from folders of ``place``, or from all
    of it.
    """

    def close(*names):
        for name in names or ("",):
            set_mode(place / name, 0o555)
        script = "import sys, tempfile; tempfile.TemporaryFile(dir=sys.argv[1])"
        with pytest.raises(AssertionError):
            run_python(place, script, place / (names or ("code",))[0])

    try:
        set_mode(place / "temporary", 0o555)
        run_python(
            place, "import sys; open(sys.argv[1] + '/x', 'w')", place / "temporary"
        )
    except AssertionError:
        return close
    finally:
        set_mode(place / "temporary", 0o755)
    pytest.skip("permissions do not bind this user")
