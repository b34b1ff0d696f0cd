"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._data.types import Path


FULL = {
    getattr(errno, name)
    for name in ("ENOSPC", "EDQUOT", "EFBIG", "EIO")
    if hasattr(errno, name)
}
"""Errors of a disk that takes no more, or is broken."""


_STANDARD = {"stdin": 0, "stdout": 1, "stderr": 2}
_DESCRIPTOR = re.compile(
    r"/dev/(?:fd/([0-9]{1,6})|(stdin|stdout|stderr))|/proc/self/fd/([0-9]{1,6})"
)


def descriptor_of(path: Path) -> int | None:
    """Return the number of the open file that a path names; None if it names none.

    ``/dev/stdout`` and what shells make of ``>(gzip)`` do. Links are followed. Such a
    file is neither opened again, which would cut a file short that others append to,
    nor replaced.
    """
    name = os.path.abspath(os.fsdecode(path))
    for _ in range(40):
        found = _DESCRIPTOR.fullmatch(name) if os.name == "posix" else None
        if found is not None:
            number, standard, of_process = found.groups()
            return _STANDARD[standard] if standard else int(number or of_process)
        if not os.path.islink(name):
            return None
        name = os.path.abspath(os.path.join(os.path.dirname(name), os.readlink(name)))
    return None


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Return a context of reading whose errors name the file, where the system does
    not.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = os.fspath(path)
        raise


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Return a context whose errors of a disk name the file, which the system does
    not.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in FULL:
            error.filename = os.fspath(path)
        raise


def check_target(path: Path) -> None:
    """Raise the error of a system that :func:`atomic_write` would meet at once, before
    long work.

    Parameters
    ----------
    path : str, bytes or os.PathLike

    Raises
    ------
    OSError
        If the folder does not exist, or may not be written to, or the path is a folder.
    """
    folder = os.path.dirname(os.path.realpath(path))
    wrong = None
    if os.path.isdir(path):
        wrong = errno.EISDIR
    elif not os.path.exists(folder):
        wrong = errno.ENOENT
    elif not os.path.isdir(folder):
        wrong = errno.ENOTDIR
    elif not os.access(
        path if os.path.exists(path) and not os.path.isfile(path) else folder, os.W_OK
    ):
        wrong = errno.EACCES
    if wrong is not None:
        raise OSError(wrong, os.strerror(wrong), os.fsdecode(path))


def check_path(path: Path) -> None:
    """Raise for an empty path, which would be the folder that the program runs in."""
    if not os.fspath(path):
        raise ValueError(
            f"path is empty, got {path!r}; name a file, such as 'tagger.skstruct'"
        )


def write_whole(path: Path, data: str | bytes, encoding: str | None = None) -> None:
    """Write bytes, or text in an encoding, by :func:`atomic_write`."""
    with atomic_write(path, encoding) as file:
        file.write(data)


@contextlib.contextmanager
def atomic_write(
    path: Path, encoding: str | None = None, temporary: str | None = None
) -> Iterator[Any]:
    """Return a context with an open file that takes the place of ``path`` if the
    context ends without an error.

    What is written goes to a temporary file in the same folder, reaches the disk
    (``fsync``), and takes the place of ``path`` in one step (``os.replace``). After an
    error an existing file is as it was, and the temporary one is gone. An existing
    file's permissions are kept; until the temporary one has them, it is the user's
    alone. A symbolic link is followed. What is no regular file (``/dev/null``, a named
    pipe), and what is open already (``/dev/stdout``, ``/dev/fd/63``), is written to as
    it is.

    Parameters
    ----------
    path : str or os.PathLike
    encoding : str, optional
        Of a text file, whose lines end in line feeds; without, the file takes bytes.
    temporary : str, optional
        Name of the temporary file, on the same file system, which must not exist; drawn
        at random if not given.
    """
    check_path(path)
    if isinstance(path, str) and path.endswith(os.sep):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    number = descriptor_of(path)
    if number is not None:
        if number == 1 and sys.stdout is not None:
            sys.stdout.flush()  # what was printed comes first
        with _named(path):
            with naming(path):
                copy = os.dup(number)
            with open(copy, **_kind(encoding, "w")) as file:
                yield file
        return
    if _is_device(path):  # which must not become a file
        with _named(path), open(path, **_kind(encoding, "w")) as file:
            yield file
        return
    file, temporary, target = _begun(path, encoding, temporary)
    try:
        with _named(path), file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _put_in_place(temporary, target)
    except BaseException:
        _remove(temporary)
        raise


def write_files(contents: dict[Any, str], encoding: str | None) -> None:
    """Write many files of text: temporary ones, one sync for all, each in its place.

    If one cannot be written, existing files are as they were. Each file by itself, with
    :func:`atomic_write`, would wait for the disk.

    Parameters
    ----------
    contents : dict of path to str
    encoding : str
    """
    begun = []
    try:
        for path, text in contents.items():
            if _is_device(path):
                write_whole(path, text, encoding)
                continue
            file, *names = _begun(path, encoding)
            begun.append(names)
            with _named(path), file:
                file.write(text)
        if hasattr(os, "sync"):  # not on Windows
            os.sync()
        for temporary, target in begun:
            _put_in_place(temporary, target)
    except BaseException:
        for temporary, _ in begun:
            _remove(temporary)
        raise


def _is_device(path: Path) -> bool:
    """Tell whether there is something that is no regular file: a device, a named
    pipe.
    """
    return os.path.exists(path) and not os.path.isfile(path)


def _kind(encoding: str | None, mode: str) -> dict[str, Any]:
    """Tell how a file is opened, of text or of bytes."""
    if encoding is None:
        return {"mode": f"{mode}b"}
    return {"mode": mode, "encoding": encoding, "newline": "\n"}


def _begun(
    path: Path, encoding: str | None, temporary: str | None = None
) -> tuple[Any, str, str]:
    """Return (open temporary file, its name, the file whose place it is to take)."""
    # The link's target is replaced, not the link; the folder is the target's.
    target = os.path.realpath(path)
    if temporary is None:
        folder = os.path.dirname(target)
        temporary = os.path.join(folder, f".skstruct-{secrets.token_hex(8)}.tmp")
    # Less what the user's mask takes away.
    mode = 0o600 if os.path.exists(target) else 0o666

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, mode)

    try:
        file = open(temporary, **_kind(encoding, "x"), opener=opener)
    except OSError as error:  # name what the caller named
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    return file, temporary, target


def _put_in_place(temporary: str, target: str) -> None:
    # No such file yet, or a file system without permissions.
    with contextlib.suppress(OSError):
        shutil.copymode(target, temporary)
    os.replace(temporary, target)


def _remove(temporary: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(temporary)
