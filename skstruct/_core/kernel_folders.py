"""The folders that keep compiled kernels.

A folder is named after a hash of the sources of all kernels, after numba's version and
after those settings of numba that change machine code: numba itself would notice a
change in the file of a kernel, but not in that of a helper. So no process finds kernels
of other sources, and one with bounds checks has a folder of its own.

There are several places, since a package may lie where its user cannot write. All but
``NUMBA_CACHE_DIR`` belong to one installation: those for the user and for temporary
files hold a folder by the path of the package.

A cache is code. It is read from and written to a folder only if nobody else can write
there, but root and those who can write to the package itself.
"""

from __future__ import annotations

import functools
import glob
import hashlib
import os
import shutil
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress

import numba
from numba import config

from .sources import HASH, PACKAGE, are_edited

_SETTINGS = {
    "BOUNDSCHECK": 0,
    "DEBUGINFO_DEFAULT": 0,
    "OPT": 3,
    "LOOP_VECTORIZE": 1,
    "SLP_VECTORIZE": 0,
    "USING_SVML": 0,
}
"""The settings of numba that change machine code, and their defaults; the processor is
part of a key.
"""

_PREFIX = os.path.basename(PACKAGE)

_UNUSED = 30 * 24 * 3600
"""Seconds after which kernels of other sources are removed from a place that other
machines may share.
"""


def folder_name() -> str:
    """Return the name of a folder of kernels of these sources, version and settings."""
    values = {name: getattr(config, name, None) or 0 for name in _SETTINGS}
    changed = [
        f"-{name.lower()}-{int(value)}"
        for name, value in values.items()
        if value != _SETTINGS[name]
    ]
    return f"{_PREFIX}-{HASH}-numba-{numba.__version__}{''.join(changed)}"


def _own() -> str:
    """Return the name of the folder of this installation, in places that others use,
    too.
    """
    return f"{_PREFIX}-of-{hashlib.sha256(PACKAGE.encode()).hexdigest()[:16]}"


def user_cache() -> str:
    """Return the folder for caches of this user, as the system has it."""
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA", "")
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches")
    return os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")


def _make_private_folder() -> str:
    """Return a folder for temporary files that nobody else can write to.

    A cache is code, and the name can be guessed: a folder prepared by somebody else is
    refused.
    """
    user = (
        os.geteuid() if hasattr(os, "geteuid") else None
    )  # None on Windows: temporary files are private
    path = os.path.join(tempfile.gettempdir(), f"{_PREFIX}-kernels-{user}")
    with suppress(FileExistsError):
        os.mkdir(path, 0o700)
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(path)
    if user is not None and (
        status.st_uid != user or stat.S_IMODE(status.st_mode) != 0o700
    ):
        raise PermissionError(path)
    return path


def _check_writers(path: str, status: os.stat_result) -> None:
    """Raise PermissionError if others than this user, root and writers of the package
    can write there.
    """
    if not hasattr(
        os, "geteuid"
    ):  # Windows: folders are closed to others unless they are opened
        return
    package = os.stat(PACKAGE)
    writers = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if status.st_gid == package.st_gid:
        writers &= ~package.st_mode
    if status.st_uid not in (0, os.geteuid(), package.st_uid) or writers:
        raise PermissionError(path)


def _check_folder(folder: str) -> None:
    """Raise OSError unless this is a folder, no link to one, that nobody else can write
    to.
    """
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(folder)
    try:
        _check_writers(folder, status)
    except PermissionError:
        if config.CACHE_DIR and folder == os.path.join(config.CACHE_DIR, folder_name()):
            remedy = (
                "since others can write to it: chown and chmod go-w it, or set "
                "NUMBA_CACHE_DIR to another"
            )
            warn_once(f"neither reads nor keeps compiled kernels in {folder}", remedy)
        raise


def read_file(path: str) -> bytes:
    """Return the content of a file in a folder; raise OSError if there is none, or
    others can write to either.
    """
    with open(path, "rb") as file:
        _check_folder(os.path.dirname(path))
        _check_writers(path, os.fstat(file.fileno()))
        return file.read()


def _own_places() -> Iterator[str]:
    """Yield the places that hold kernels of this installation only, the preferred one
    first.
    """
    yield os.path.join(PACKAGE, "__pycache__")
    home = user_cache()
    if os.path.isabs(home):  # "~/.cache" where the user has no home
        yield os.path.join(home, _PREFIX, _own())
    with suppress(OSError):
        yield os.path.join(_make_private_folder(), _own())


def folders() -> Iterator[str]:
    """Yield the folders that may hold compiled kernels, the preferred ones first."""
    name = folder_name()
    if config.CACHE_DIR:
        yield os.path.join(config.CACHE_DIR, name)
    for place in _own_places():
        yield os.path.join(place, name)


def make_folder(folder: str) -> None:
    """Make a folder; raise OSError if that fails, it cannot be written to, or others
    can write to it.

    A new one in a place of this installation replaces those of other sources. Beside
    the package nothing can use these. A home may be shared by machines that have other
    versions at this path, so that there only old ones go.
    """
    new = not os.path.isdir(folder)
    os.makedirs(folder, 0o755, exist_ok=True)
    _check_folder(folder)
    tempfile.TemporaryFile(dir=folder).close()
    place = os.path.dirname(folder)
    # A process older than an edit removes nothing.
    if new and place in _own_places() and not are_edited():
        beside = os.path.dirname(place) == PACKAGE
        for other in _folders_in(place):
            if not os.path.basename(other).startswith(f"{_PREFIX}-{HASH}-") and (
                beside or _is_old(other)
            ):
                shutil.rmtree(other, ignore_errors=True)


def _folders_in(place: str) -> list[str]:
    return glob.glob(os.path.join(glob.escape(place), f"{_PREFIX}-*-numba-*"))


def _is_old(folder: str) -> bool:
    """Tell whether nothing has been written to a folder for long."""
    with suppress(OSError):
        return time.time() - os.stat(folder).st_mtime > _UNUSED
    return False


@functools.cache
def warn_once(
    what: str,
    more: str = "so each process compiles its kernels again, for ten seconds and more",
) -> None:
    """Say that compiled kernels are not kept."""
    warnings.warn(f"{_PREFIX} {what}, {more}", RuntimeWarning)


def cache_folder() -> str | None:
    """Return the folder that a kernel would be saved in now; None if there is none."""
    for folder in folders() if HASH else ():
        with suppress(OSError):
            make_folder(folder)
            return folder
    return None


def clear_cache() -> list[str]:
    """Remove the compiled kernels of this installation, whatever numba, settings and
    sources they are of.

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
