"""What all tests share: a safe place for compiled kernels, the corpora, and hypothesis profiles.

Compiled kernels. numba's on-disk cache notices an edited kernel but not the callers in other files
that have it built in. So the cache lives in a folder named after a hash of every file that holds
kernels: an edit means a new folder, and compiled code never meets code older than itself. A folder
chosen by the user in ``NUMBA_CACHE_DIR`` is left alone. This must happen before numba is imported.

Corpora. A few tests read corpora that are not part of the package, from the folder ``SKSTRUCT_DATA``
(default: ``../shared/data``, seen from the repository); where one is absent they skip.

Hypothesis. The default profile, ``ci``, draws the same examples in every run;
``--hypothesis-profile=explore`` draws many new ones.
"""

import hashlib
import importlib.util
import os
import pathlib
import signal
import sys
import tempfile
from importlib import metadata

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
KERNEL_SOURCES = ("core", "structures", "training", "data")


def _kernel_hash():
    """Return the SHA-256, in hexadecimal, of the kernels' sources and of numba's version."""
    # find_spec finds the package that the tests will import, and does not import it.
    package = pathlib.Path(importlib.util.find_spec("skstruct").submodule_search_locations[0])
    digest = hashlib.sha256(metadata.version("numba").encode())
    for source in KERNEL_SOURCES:
        path = package / source
        for file in [path] if path.suffix == ".py" else sorted(path.rglob("*.py")):
            content = file.read_bytes()
            # The length keeps text from moving between files unnoticed.
            digest.update(f"\n{file.relative_to(package).as_posix()} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()


def _choose_cache():
    if os.environ.get("NUMBA_CACHE_DIR"):
        return
    if "numba" in sys.modules:
        raise pytest.UsageError("numba was imported before its cache folder could be chosen")
    if os.access(REPOSITORY, os.W_OK):
        folder = REPOSITORY / ".cache" / f"numba-{_kernel_hash()[:16]}"
    else:
        # Fresh and private: a cache is code, and a guessable name in a shared folder is anybody's.
        folder = tempfile.mkdtemp(prefix="skstruct-numba-")
    os.environ["NUMBA_CACHE_DIR"] = str(folder)


_choose_cache()

settings.register_profile(
    "ci",
    deadline=None,  # a first call compiles
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "explore", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci")


# A job that a shell runs in the background ignores Ctrl-C, and the tests of Ctrl-C would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def find_corpora():
    """Return the folder of the corpora, which may not exist."""
    return pathlib.Path(os.environ.get("SKSTRUCT_DATA") or REPOSITORY.parent / "shared" / "data")


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
