"""What all tests share: the corpora, and hypothesis profiles.

Corpora. A few tests read corpora that are not part of the package, from the folder ``SKSTRUCT_DATA``
(default: ``../shared/data``, seen from the repository); where one is absent they skip.

Kernels. They are kept in the user's folder for caches, by the sources of all kernels, so that
another clone does not compile them again; ``NUMBA_CACHE_DIR`` is another folder.

Bytecode. It is kept beside the sources, whatever the environment says.

Hypothesis. The default profile, ``ci``, draws the same few examples in every run;
``--hypothesis-profile=weekly`` draws many new ones.
"""

import gc
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest
from hypothesis import HealthCheck, settings
from kept_bytecode import keep_bytecode, rewrite_tests

pytest.register_assert_rewrite("verbs", "inside", "model_cases", "one_file_cases")

collect_ignore = [
    "fuzz",
    "verbs",
]  # they are imported by tests, and have none of their own

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(
    str(REPOSITORY)
)  # for `benchmarks`; last, so that an installed skstruct is the one tested

settings.register_profile(
    "ci",
    deadline=None,  # a first call compiles
    derandomize=True,
    max_examples=20,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "weekly",
    deadline=None,
    max_examples=200,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci")


# A job that a shell runs in the background ignores Ctrl-C, and the tests of Ctrl-C would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


UNUSED = 30 * 24 * 3600
"""Seconds after which kernels of other sources are removed."""


def keep_kernels():
    """Choose the folder of compiled kernels, for this process and those it starts."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA") or home
    folder = pathlib.Path(home, "skstruct-tests")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for kept in folder.iterdir():
            if time.time() - kept.stat().st_mtime > UNUSED:
                shutil.rmtree(kept, ignore_errors=True)
    except OSError:  # kernels are kept where the package is
        return
    os.environ["NUMBA_CACHE_DIR"] = str(folder)


keep_kernels()
keep_bytecode()
FILL_THE_CACHE = """
import pathlib
from skstruct._core.kernel_folders import cache_folder

done = pathlib.Path(cache_folder() or "none", "filled")
if not done.exists():
    import skstruct
    if skstruct.warm_up(all=True):
        done.touch()
"""
"""Compiles what most tests need, once for each folder of kernels."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config, specs):
    """Do once what several workers that start together would each do: compile the kernels, and rewrite the
    assertions of tests.
    """
    given = config.invocation_params.args
    whole = config.args_source is config.ArgsSource.TESTPATHS or "tests" in given
    compiled = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"
    if not whole or len(specs) == 1:
        return
    fill = FILL_THE_CACHE if compiled else ""
    with subprocess.Popen([sys.executable, "-c", fill]) as filling:
        rewrite_tests()
    assert filling.returncode == 0, "the kernels cannot be compiled"


def pytest_collection_finish():
    """Let the garbage collector look less often, and never at thousands of tests and what they import."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


def pytest_unconfigure():
    """Stop the processes that tests keep: one that scripts are forked from, and Node."""
    for name in ("forked", "one_file_cases"):
        if name in sys.modules:
            sys.modules[name].stop()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """With ``-n`` the tests of a file share a worker and what it compiles, if they have no group."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(str(item.path)))


def find_corpora():
    """Return the folder of the corpora, which may not exist."""
    return pathlib.Path(
        os.environ.get("SKSTRUCT_DATA") or REPOSITORY.parent / "shared" / "data"
    )


@pytest.fixture(scope="session")
def corpora():
    """Return the folder of the corpora; skip the test where there is none."""
    folder = find_corpora()
    if not folder.is_dir():
        pytest.skip("no folder of corpora: set SKSTRUCT_DATA to one")
    return folder


@pytest.fixture(scope="session")
def corpus_path(corpora):
    """Return a function from ``"sxu/train.txt"`` to that file's path; it skips where there is none."""

    def path(name):
        if not (corpora / name).exists():
            pytest.skip(f"corpus {name} is absent from the folder SKSTRUCT_DATA names")
        return corpora / name

    return path
