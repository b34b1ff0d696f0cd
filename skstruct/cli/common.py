"""What all commands share: messages, exit codes, models, and files that are written
whole or not at all.

Results go to standard output, everything else to standard error; a command that cannot
do its job raises, and `skstruct.cli.main` turns that into one line and an exit code.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from .._saving.atomic import atomic_write, descriptor_of, naming

if TYPE_CHECKING:
    from .._data.source_layout import SourceLayout

STANDARD = (None, "-")
"""Names of standard input and output."""


class Arguments(argparse.Namespace):
    """What a parser hands to a command: the options as attributes, and what stands
    below.

    `new_parser` sets the first three. A command may complete the options by what a
    model's file says.
    """

    run: Callable[[Arguments], int | None]
    """The function ``run`` of the command's module."""

    usage_error: Callable[[str], NoReturn]
    """End with a message about wrong usage, and code 2."""

    default_of: Callable[[str], Any]
    """Return the default of an option, by the name of its field."""

    traceback: bool
    """Whether an error shows where in the program it arose."""

    given: set[str]
    """Of the options that a model's file may settle, those that the user has given; it
    is there if there are any.
    """

    why: str = "--format says so"
    """Why ``format`` is what it is, if it is given: by the option, or by the file of a
    model.
    """

    known: SourceLayout | None = None
    """Of the commands `tag` and `select`: the layout in the file of the model."""


class Model(Protocol):
    """What commands ask of a model; verbs that only some have are looked for."""

    def fit(self, X: Any, y: Any, **more: Any) -> Any:
        """Learn from labelled sequences or texts."""

    def partial_fit(self, X: Any, y: Any, **more: Any) -> Any:
        """Go on learning."""

    def predict(self, X: Any, **more: Any) -> Any:
        """Label sequences or texts."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's parameters."""

    def set_params(self, **parameters: Any) -> Any:
        """Change parameters."""

    def save(self, path: Any, **options: Any) -> None:
        """Write the model to a file."""

    def compress(self, **options: Any) -> Any:
        """Return a smaller model."""


class CommandError(Exception):
    """Input or data that a command cannot use; the text is the whole message."""


def tell(text: str) -> None:
    """Write a message to standard error."""
    with contextlib.suppress(OSError, ValueError):  # standard error is closed
        print(f"skstruct: {text}", file=sys.stderr, flush=True)


def warn(text: str) -> None:
    """Write a warning to standard error."""
    tell(f"warning: {text}")


def checked_type(
    parse: Callable[[str], Any], is_valid: Callable[[Any], bool], what: str
) -> Callable[[str], Any]:
    """Return a type of ``argparse``: a function of the text of an argument.

    Parameters
    ----------
    parse : callable
        Makes a value of the text.
    is_valid : callable
        Whether a value is allowed.
    what : str
        What errors say that the text must be.
    """

    def checked(text: str) -> Any:
        with contextlib.suppress(ValueError, LookupError):
            if is_valid(value := parse(text)):
                return value
        raise argparse.ArgumentTypeError(f"must be {what}, got {text!r}")

    return checked


positive = checked_type(int, lambda n: n >= 1, "an int of at least 1")
share = checked_type(float, lambda x: 0.0 <= x <= 1.0, "from 0 to 1")
n_jobs = checked_type(int, bool, "an int, and not 0")


def load_model(path: str, jobs: int | None = None, encoding: str = "utf-8") -> Any:
    """Return the model in a file, of this package or of another tool.

    Parameters
    ----------
    path : str
    jobs : int, optional
        Threads that the model is to use; by default as many as its file says.
    encoding : str, default="utf-8"
        That of the data, in which another tool has written the strings of the model,
        unless these are UTF-8.
    """
    # Here: whoever asks for help, or gets an option wrong, needs no model.
    from .._sklearn import layers
    from ..interchange import kinds

    model = kinds.load_model(path, encoding)
    for layer in layers(model) if jobs is not None else ():
        if "n_jobs" in layer.get_params(deep=False):
            layer.set_params(n_jobs=jobs)
            # The threads of a re-ranker call its base, which needs none of its own.
            if hasattr(layer, "base_"):
                break
    return model


def check_target(
    path: str, read: Iterable[str | None] = (), regular: bool = False
) -> None:
    """Raise unless a file can be written to a path; asked before any work.

    That is a regular file, which is replaced as a whole and is none of those read, or,
    unless it has to be ``regular``, a device, a pipe or an open file, which is written
    to.
    """
    _check_name(path)
    if path.endswith(".gz") and not regular:
        raise CommandError(
            f"{path}: results are not compressed: leave out -o and the name, and let "
            "gzip write it (| gzip > FILE)"
        )
    number = descriptor_of(path)
    is_odd = number is not None or (os.path.exists(path) and not os.path.isfile(path))
    if regular and is_odd:
        raise CommandError(f"{path}: is not a regular file, and this needs one")
    if number is not None:
        with naming(path):
            os.fstat(number)
        return
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        mode = None
    if mode is not None and stat.S_ISDIR(mode):
        raise CommandError(f"{path}: is not a regular file, but a folder")
    if mode is not None and not os.access(path, os.W_OK):
        raise CommandError(f"{path}: no permission to write to it")
    if mode is not None and not stat.S_ISREG(mode):
        return
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise CommandError(f"{path}: folder does not exist: {folder}")
    if path.endswith(os.sep):
        raise CommandError(f"{path}: is the name of a folder; a file is to be written")
    _check_writable(path, folder)
    check_replaced([path], read)


def _check_name(path: str) -> None:
    """Raise if nothing can have a name."""
    if not path or "\0" in path:
        wrong = "has a NUL character, as no name can" if path else "is empty"
        raise CommandError(f"{path!r}: the name of a file {wrong}")


def _check_writable(path: str, folder: str | Path) -> None:
    if not os.access(folder, os.W_OK):
        raise CommandError(f"{path}: no permission to write into the folder {folder}")


def check_output(path: str | None, is_folder: bool = False) -> None:
    """`check_target` of a path for `output`, which may be standard output, too.

    Or of a folder, which is made if need be.
    """
    if path is None or path in STANDARD:
        return
    if not is_folder:
        check_target(path)
        return
    _check_name(path)
    target = Path(path).resolve()
    there = next(folder for folder in (target, *target.parents) if folder.exists())
    if not there.is_dir():
        raise CommandError(f"{path}: is not a folder: {there}")
    _check_writable(path, there)


def check_within(path: str) -> None:
    """Raise unless a file can be written to a path, with folders made if need be."""
    _check_name(path)
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        check_output(os.path.dirname(path) or os.curdir, is_folder=True)
    else:
        check_target(path)


def check_inputs(paths: Iterable[str | None], folders: bool = False) -> None:
    """Raise unless files, or folders if they are taken, can be read: before any is."""
    for path in paths:
        if path is None or path in STANDARD:
            continue
        _check_name(path)
        if os.path.isdir(path) and not folders:
            raise CommandError(f"{path}: is a folder; a file is to be read")
        os.stat(path)
        if not os.access(path, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def check_replaced(
    written: Iterable[str | None],
    read: Iterable[str | None],
    force: bool | None = None,
) -> None:
    """Raise if a command would write over a file that it reads.

    Parameters
    ----------
    written, read : list of paths
        None and ``-`` are no files.
    force : bool, optional
        Of commands with the option ``--force``, which allows it.
    """
    of_read, of_written = (
        {_file_id(path): path for path in paths if path} for paths in (read, written)
    )
    for file in () if force else of_written.keys() & of_read.keys() - {None}:
        instead = "" if force is None else "; --force lets it be replaced"
        raise CommandError(
            f"{of_written[file]}: would be replaced by what is made of it{instead}"
        )


def _file_id(path: str) -> tuple[int, int] | None:
    """What tells a file from others, by whatever path or link it was named; None if
    there is no such file.
    """
    if os.path.isfile(path):
        found = os.stat(path)
        return found.st_dev, found.st_ino
    return None


@contextlib.contextmanager
def output(path: str | None, encoding: str = "utf-8") -> Iterator[Any]:
    """A text file to write results to: standard output, or a file that is written whole
    or not at all.

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
