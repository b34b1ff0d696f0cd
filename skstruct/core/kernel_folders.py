"""The folders that keep compiled kernels.

A folder is named after a hash of the sources of all kernels, after numba's version and after those
settings of numba that change machine code: numba itself would notice a change in the file of a kernel,
but not in that of a helper. So no process finds kernels of other sources, and one with bounds checks has
a folder of its own.

There are several places, since a package may lie where its user cannot write. All but ``NUMBA_CACHE_DIR``
belong to one installation: those for the user and for temporary files hold a folder by the path of the
package.
"""

import functools
import glob
import hashlib
import os
import shutil
import stat
import sys
import tempfile
import warnings
from contextlib import suppress

import numba
from numba import config

from .sources import HASH, PACKAGE, are_edited

_SETTINGS = {
    "BOUNDSCHECK": 0, "DEBUGINFO_DEFAULT": 0, "OPT": 3, "LOOP_VECTORIZE": 1, "SLP_VECTORIZE": 0,
    "USING_SVML": 0,
}  # fmt: skip
"""The settings of numba that change machine code, and their defaults; the processor is part of a key."""

_PREFIX = os.path.basename(PACKAGE)


def _folder_name():
    values = {name: getattr(config, name, None) or 0 for name in _SETTINGS}
    changed = [f"-{name.lower()}-{int(value)}" for name, value in values.items() if value != _SETTINGS[name]]
    return f"{_PREFIX}-{HASH}-numba-{numba.__version__}{''.join(changed)}"


def _own():
    """The name of the folder of this installation, in places that others use, too."""
    return f"{_PREFIX}-of-{hashlib.sha256(PACKAGE.encode()).hexdigest()[:16]}"


def _user_cache():
    """The folder for caches of this user, as the system has it."""
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA", "")
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches")
    return os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")


def _make_private_folder():
    """Return a folder for temporary files that nobody else can write to.

    A cache is code, and the name can be guessed: a folder prepared by somebody else is refused.
    """
    user = os.geteuid() if hasattr(os, "geteuid") else None  # None on Windows: temporary files are private
    path = os.path.join(tempfile.gettempdir(), f"{_PREFIX}-kernels-{user}")
    with suppress(FileExistsError):
        os.mkdir(path, 0o700)
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(path)
    if user is not None and (status.st_uid != user or stat.S_IMODE(status.st_mode) != 0o700):
        raise PermissionError(path)
    return path


def _own_places():
    """Yield the places that hold kernels of this installation only, the preferred one first."""
    yield os.path.join(PACKAGE, "__pycache__")
    home = _user_cache()
    if os.path.isabs(home):  # "~/.cache" where the user has no home
        yield os.path.join(home, _PREFIX, _own())
    with suppress(OSError):
        yield os.path.join(_make_private_folder(), _own())


def folders():
    """Yield the folders that may hold compiled kernels, the preferred ones first."""
    name = _folder_name()
    if config.CACHE_DIR:
        yield os.path.join(config.CACHE_DIR, name)
    for place in _own_places():
        yield os.path.join(place, name)


def make_folder(folder):
    """Make a folder; raise OSError if that fails or it cannot be written to.

    A new one in a place of this installation replaces those of other sources, which nothing can use.
    """
    new = not os.path.isdir(folder)
    os.makedirs(folder, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()
    place = os.path.dirname(folder)
    # A process older than an edit removes nothing.
    if new and place in _own_places() and not are_edited():
        for other in _folders_in(place):
            if not os.path.basename(other).startswith(f"{_PREFIX}-{HASH}-"):
                shutil.rmtree(other, ignore_errors=True)


def _folders_in(place):
    return glob.glob(os.path.join(glob.escape(place), f"{_PREFIX}-*-numba-*"))


@functools.cache
def warn_once(reason):
    """Say that compiled kernels are not kept."""
    warnings.warn(
        f"{_PREFIX} {reason}, so each process compiles its kernels again, for ten seconds and more",
        RuntimeWarning,
    )


def cache_folder():
    """The folder that a kernel would be saved in now; None if there is none."""
    for folder in folders() if HASH else ():
        with suppress(OSError):
            make_folder(folder)
            return folder
    return None


def clear_cache():
    """Remove the compiled kernels of this installation, whatever numba, settings and sources they are of.

    ``NUMBA_CACHE_DIR`` is left alone: other installations may use it.

    Returns
    -------
    list of str
        The folders that were removed.
    """
    found = [folder for place in _own_places() for folder in _folders_in(place)]
    for folder in found:
        shutil.rmtree(folder, ignore_errors=True)
    return [folder for folder in found if not os.path.isdir(folder)]
