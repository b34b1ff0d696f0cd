"""Files that are written whole or not at all."""

import contextlib
import errno
import os
import re
import secrets
import shutil
import sys

FULL = {getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG", "EIO") if hasattr(errno, name)}
"""Errors of a disk that takes no more, or is broken."""


_STANDARD = {"stdin": 0, "stdout": 1, "stderr": 2}
_DESCRIPTOR = re.compile(
    r"/dev/(?:fd/([0-9]{1,6})|(stdin|stdout|stderr))|/proc/self/fd/([0-9]{1,6})"
)


def descriptor_of(path):
    """The number of the open file that a path names; None if it names none.

    ``/dev/stdout`` and what shells make of ``>(gzip)`` do. Links are followed. Such a file
    is neither opened again, which would cut a file short that others append to, nor
    replaced.
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
def naming(path):
    """A context of reading whose errors name the file, where the system does not."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = os.fspath(path)
        raise


@contextlib.contextmanager
def _named(path):
    """A context whose errors of a disk name the file, which the system does not."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in FULL:
            error.filename = os.fspath(path)
        raise


def write_whole(path, data, encoding=None):
    """Write bytes, or text in an encoding, by :func:`atomic_write`."""
    with atomic_write(path, encoding) as file:
        file.write(data)


@contextlib.contextmanager
def atomic_write(path, encoding=None, temporary=None):
    """A context with an open file that takes the place of ``path`` if the context ends without an error.

    What is written goes to a temporary file in the same folder, reaches the disk (``fsync``), and takes the
    place of ``path`` in one step (``os.replace``). After an error an existing file is as it was, and the
    temporary one is gone. An existing file's permissions are kept; until the temporary one has them, it is
    the user's alone. A symbolic link is followed. What is no regular file (``/dev/null``,
    a named pipe), and what is open already (``/dev/stdout``, ``/dev/fd/63``), is written
    to as it is.

    Parameters
    ----------
    path : str or os.PathLike
    encoding : str, optional
        Of a text file, whose lines end in line feeds; without, the file takes bytes.
    temporary : str, optional
        Name of the temporary file, on the same file system, which must not exist; drawn at random if not
        given.
    """
    # The link's target is replaced, not the link; the folder is the target's.
    target = os.path.realpath(path)
    kind = {"mode": "wb"} if encoding is None else {"mode": "w", "encoding": encoding, "newline": "\n"}
    number = descriptor_of(path)
    if number is not None:
        if number == 1 and sys.stdout is not None:
            sys.stdout.flush()  # what was printed comes first
        with _named(path):
            with naming(path):
                copy = os.dup(number)
            with open(copy, **kind) as file:
                yield file
        return
    if os.path.exists(path) and not os.path.isfile(path):  # a device or pipe must not become a file
        with _named(path), open(path, **kind) as file:
            yield file
        return
    if temporary is None:
        temporary = os.path.join(os.path.dirname(target), f".skstruct-{secrets.token_hex(8)}.tmp")
    kind["mode"] = kind["mode"].replace("w", "x")
    mode = 0o600 if os.path.exists(target) else 0o666  # less what the user's mask takes away
    try:
        file = open(temporary, **kind, opener=lambda name, flags: os.open(name, flags, mode))
    except OSError as error:  # name what the caller named
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    try:
        with _named(path), file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(OSError):  # no such file yet, or a file system without permissions
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
