"""The files that commands write: one function decides whether a path may be written.

A command declares what it writes by `add_output`, and what it reads by the metavar of
an option, which ends in one of `READ`. `skstruct.cli.main` checks all of them before
the command runs.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .._saving.atomic import atomic_write, descriptor_of, naming, write_whole
from .common import STANDARD, CommandError, check_name

if TYPE_CHECKING:
    from .common import Arguments

READ = re.compile(r"(^|\W)(FILE|MODEL|DATA|POOL|IN|TRAIN|TEST)$")
"""A pattern of metavars of options whose values are files to read."""

FORCE = "replace OUT if it exists"

REPLACED = "would be replaced by its own output"
"""The message for a target that the command reads."""


class Target(NamedTuple):
    """A file that a command may write, as its parser declares it.

    Attributes
    ----------
    dest : str
        The attribute of the arguments.
    name : str
        What messages call the option.
    takes_standard : bool
        Whether "-" is standard output.
    is_regular : bool
        Whether it has to be a regular file, because it is read again.
    is_own : bool
        Whether the command goes on with a file that is there.
    is_folder : callable
        Whether the arguments ask for a folder of files.
    """

    dest: str
    name: str
    takes_standard: bool
    is_regular: bool = False
    is_own: bool = False
    is_folder: Callable[[Arguments], bool] = lambda _: False


def add_output(
    parser: argparse.ArgumentParser,
    *names: str,
    help: str,
    takes_standard: bool = True,
    is_regular: bool = False,
    is_own: bool = False,
    is_folder: Callable[[Arguments], bool] = lambda _: False,
    force: str = FORCE,
    metavar: str = "OUT",
    group: Any = None,
    **options: Any,
) -> None:
    """Add an option, or an argument, that names what a command writes, and ``--force``.

    Parameters
    ----------
    parser : argparse.ArgumentParser
    *names : str
        As of ``add_argument``.
    help : str
    takes_standard, is_regular, is_own, is_folder
        As of `Target`.
    force : str
        The help of ``--force``, which there is unless the target is the command's own.
    metavar : str
    group : argument group of ``argparse``, optional
        That the option belongs to.
    **options
        More of ``add_argument``.
    """
    action = (group or parser).add_argument(
        *names, metavar=metavar, help=help, **options
    )
    name = names[0] if names[0].startswith("-") else metavar
    target = Target(action.dest, name, takes_standard, is_regular, is_own, is_folder)
    known = parser.get_default("targets") or ()
    parser.set_defaults(targets=(*known, target))
    if not is_own:
        parser.add_argument("--force", action="store_true", help=force)


def takes_standard(action: argparse.Action) -> None:
    """Let "-" be standard input for an option that names a file."""
    action.takes_standard = True  # type: ignore[attr-defined]


def check_paths(arguments: Arguments, actions: Iterable[argparse.Action]) -> None:
    """Raise for what a command is to read or write, and cannot; asked before any work.

    Parameters
    ----------
    arguments : Arguments
    actions : iterable of argparse.Action
        All of the command's parser.
    """
    targets = arguments.targets
    written = {target.dest for target in targets}
    read = list(arguments.also_read)
    standard = []
    for action in actions:
        if action.dest in written or not READ.search(str(action.metavar)):
            continue
        name = max(action.option_strings, key=len, default=str(action.metavar))
        paths = list(_paths(getattr(arguments, action.dest)))
        for _ in range(paths.count("-")):
            standard.append(name)
            if not getattr(action, "takes_standard", False):
                arguments.usage_error(
                    f"{name}: - is standard input, which this option does not read; "
                    "for a file of that name, write ./-"
                )
        read += paths
    if len(standard) > 1:
        wrong = "only one file can be standard input"
        arguments.usage_error(f"{wrong}, and - is given for {' and '.join(standard)}")
    for target in targets if not getattr(arguments, "dry_run", False) else ():
        path = getattr(arguments, target.dest)
        if path is not None:
            check_target(
                path,
                read,
                force=target.is_own or arguments.force,
                takes_standard=target.takes_standard,
                is_regular=target.is_regular,
                is_folder=target.is_folder(arguments),
            )


def _paths(value: Any) -> Iterator[str]:
    """Yield the paths that the value of an option names; of NAME=FILE the last part."""
    if isinstance(value, str):
        yield value
        if "=" in value:
            yield value.partition("=")[2]
    elif isinstance(value, tuple):
        yield from _paths(value[-1])
    elif isinstance(value, list):
        for each in value:
            yield from _paths(each)


def check_target(
    path: str,
    read: Iterable[str] = (),
    *,
    force: bool = False,
    takes_standard: bool = False,
    is_regular: bool = False,
    is_folder: bool = False,
) -> None:
    """Raise unless a command may write to a path.

    A file that is there is replaced if ``force`` allows it, and one that the command
    reads never is, by whatever name, link or spelling. What is no regular file (a pipe,
    a device, an open file) is written to as it is.

    Parameters
    ----------
    path : str
    read : iterable of str
        Files and folders that the command reads.
    force : bool, default=False
        Whether a file that is there may be replaced. An empty one always may.
    takes_standard : bool, default=False
        Whether "-" is standard output.
    is_regular : bool, default=False
        Whether it has to be a regular file.
    is_folder : bool, default=False
        Whether a folder is meant, which is made if need be.

    Raises
    ------
    CommandError, OSError
        The message begins with the path.
    """
    check_name(path)
    if path == "-":
        if takes_standard:
            return
        raise CommandError(
            "-: this cannot be written to standard output; for a file of that name, "
            "write ./-"
        )
    if path.endswith(".gz"):
        raise CommandError(
            f"{path}: output is not compressed; name it without .gz, or pipe it (| "
            "gzip > FILE)"
        )
    number = descriptor_of(path)
    mode: int | None
    if number is not None:
        with naming(path):
            mode = os.fstat(number).st_mode
    else:
        mode = _mode_of(path)
    is_odd = number is not None or (mode is not None and not stat.S_ISREG(mode))
    if is_folder:
        _check_folder(path, None if force else read)
    elif mode is not None and stat.S_ISDIR(mode):
        raise CommandError(f"{path}: is not a regular file, but a folder")
    elif is_regular and is_odd:
        raise CommandError(f"{path}: is not a regular file; name one")
    if is_folder or number is not None:
        return
    if mode is None:
        _check_new(path)
        return
    if _is_read(path, read):
        raise CommandError(f"{path}: {REPLACED}; name another file")
    if not force and not is_odd and os.path.getsize(path) > 0:
        raise CommandError(f"{path}: exists already; to replace it, pass --force")
    if not os.access(path, os.W_OK):
        raise CommandError(f"{path}: no permission to write to it")
    if not is_odd:
        _check_writable(path, os.path.dirname(os.path.realpath(path)))


def check_within(path: str, read: Iterable[str], force: bool) -> None:
    """Call `check_target` for a file whose folders are made if need be."""
    check_name(path)
    folder = os.path.dirname(path) or os.curdir
    if not os.path.exists(path):
        _mode_of(path)  # a name that is too long, say
        _check_folder(folder)
    else:
        check_target(path, read, force=force)


def _mode_of(path: str) -> int | None:
    """Return the mode of what a path names; None if there is nothing."""
    try:
        return os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def _check_new(path: str) -> None:
    """Raise unless a file can be made."""
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise CommandError(f"{path}: the folder does not exist: {folder}")
    if path.endswith(os.sep):
        raise CommandError(f"{path}: is the name of a folder; name a file to write")
    _check_writable(path, folder)


def _check_writable(path: str, folder: str | Path) -> None:
    if not os.access(folder, os.W_OK):
        raise CommandError(f"{path}: no permission to write into the folder {folder}")


def _check_folder(path: str, read: Iterable[str] | None = None) -> None:
    """Raise unless files can be written into a folder, which is made if need be.

    Given what is ``read``, there may be no annotations of brat in it, since those that
    are written would stand among them.
    """
    target = Path(path).resolve()
    there = next(folder for folder in (target, *target.parents) if folder.exists())
    if not there.is_dir():
        raise CommandError(f"{path}: is not a folder: {there}")
    _check_writable(path, there)
    if read is None or not any(target.rglob("*.ann")):
        return
    for each in map(Path, read):
        if target in (each.resolve(), *each.resolve().parents):
            raise CommandError(f"{path}: {REPLACED} in it; name another folder")
    raise CommandError(f"{path}: has .ann files already; to add to them, pass --force")


def _is_read(path: str, read: Iterable[str]) -> bool:
    """Tell whether a file that is there is one of those read, or is within a folder that
    is; of brat, a text is read with its annotations.
    """
    file = _file_id(path)
    if file is None:
        return False
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if file == _id_of(os.fstat(0)):  # standard input
            return True
    for each in read:
        if os.path.isdir(each):
            inside = (str(part) for part in Path(each).rglob("*"))
            if Path(each).resolve() in Path(path).resolve().parents:
                return True
            if os.stat(path).st_nlink > 1 and file in map(_file_id, inside):
                return True
            continue
        beside = {".ann": ".txt", ".txt": ".ann"}.get(os.path.splitext(each)[1])
        pair = [each] if beside is None else [each, os.path.splitext(each)[0] + beside]
        if file in map(_file_id, pair):
            return True
    return False


def _file_id(path: str) -> tuple[int, int] | None:
    """Return what tells a file from others, by whatever path or link it was named; None
    if there is no such file, or it is a device.
    """
    try:
        return _id_of(os.stat(path))
    except (OSError, ValueError):
        return None


def _id_of(found: os.stat_result) -> tuple[int, int] | None:
    is_file = stat.S_ISREG(found.st_mode) or stat.S_ISFIFO(found.st_mode)
    return (found.st_dev, found.st_ino) if is_file else None


# --------------------------------------------------------------------------------------
# Writing
# --------------------------------------------------------------------------------------
@contextlib.contextmanager
def output(path: str | None, encoding: str = "utf-8") -> Iterator[Any]:
    """Open a text file for results: standard output, or a file that is written whole or
    not at all.

    Line feeds end lines. See :func:`atomic_write`.
    """
    if path is not None and path not in STANDARD:
        with atomic_write(path, encoding) as file:
            yield file
        return
    if sys.stdout is None:
        raise CommandError("there is no standard output")
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding=encoding, errors="strict", newline="\n")
    yield sys.stdout


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes to a file, whole or not at all."""
    write_whole(path, data)


@contextlib.contextmanager
def printed_beside(path: str | None) -> Iterator[None]:
    """Return a context in which ``print`` writes to standard error if a path is
    standard output, so that what is written there stands alone.
    """
    if path is None or (path != "-" and descriptor_of(path) != 1):
        yield
        return
    with contextlib.redirect_stdout(sys.stderr):
        yield
