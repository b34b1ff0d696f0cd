"""The common part of all commands: messages, exit codes and models.

Results go to standard output, everything else to standard error; a command that cannot
do its job raises, and `skstruct.cli.main` turns that into one line and an exit code.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

if TYPE_CHECKING:
    from .._data.source_layout import SourceLayout
    from .targets import Target

STANDARD = (None, "-")
"""Names of standard input and output."""


class Arguments(argparse.Namespace):
    """The arguments of a command: the options as attributes, and what stands below.

    `new_parser` sets the first three. A command may complete the options by what a
    model's file says.
    """

    run: Callable[[Arguments], int | None]
    """The function ``run`` of the command's module."""

    usage_error: Callable[[str], NoReturn]
    """End with a message about wrong usage, and code 2."""

    default_of: Callable[[str], Any]
    """Return the default of an option, by the name of its field."""

    actions: list[argparse.Action]
    """The options of the command's parser."""

    targets: tuple[Target, ...] = ()
    """The files that the command writes."""

    also_read: Sequence[str] = ()
    """Files that were read while the arguments were parsed."""

    force: bool = False
    """True if existing files may be replaced."""

    traceback: bool
    """True if errors show a traceback."""

    given: set[str]
    """The options, among those that a model's file may settle, that the user has given;
    it is there if there are any.
    """

    why: str = "it was set with --format"
    """The reason for ``format``, if it is given: the option, or the file of a model."""

    known: SourceLayout | None = None
    """The layout, for `tag` and `select`, in the file of the model."""


class Model(Protocol):
    """The protocol of a model for commands; verbs that only some have are looked for."""

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


def as_json(value: Any) -> str:
    """Return a value as one line of JSON, in which NaN and infinities are null."""
    return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, default=str)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value


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
    from .._saving.container import is_container
    from .._saving.registry import load
    from .._sklearn import layers

    if is_container(path):
        model = load(path)
        if not hasattr(model, "predict"):
            raise CommandError(
                f"{path}: a {type(model).__name__} predicts nothing; save a pipeline "
                "that ends in a tagger"
            )
    else:
        from ..interchange import kinds

        model = kinds.load_model(path, encoding)
    for layer in layers(model) if jobs is not None else ():
        if "n_jobs" in layer.get_params(deep=False):
            layer.set_params(n_jobs=jobs)
            # The threads of a re-ranker call its base, which needs none of its own.
            if hasattr(layer, "base_"):
                break
    return model


def check_name(path: str) -> None:
    """Raise if nothing can have a name."""
    if not path or "\0" in path:
        wrong = "has a NUL character, as no name can" if path else "is empty"
        raise CommandError(f"{path!r}: the name of a file {wrong}")


def check_inputs(paths: Iterable[str | None], folders: bool = False) -> None:
    """Raise unless files, or folders if they are taken, can be read: before any is."""
    for path in paths:
        if path is None or path in STANDARD:
            continue
        check_name(path)
        if os.path.isdir(path) and not folders:
            raise CommandError(f"{path}: is a folder; name a file to read")
        os.stat(path)
        if not os.access(path, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
