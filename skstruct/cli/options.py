"""Options that say how corpus files are read."""

from __future__ import annotations

import argparse
import ast
import codecs
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..datasets.formats.span_units import ENDS, UNITS
from ..datasets.formats.table import BY_NAME, described
from .common import checked_type, n_jobs
from .targets import takes_standard

THREADS = "threads (default: 1; -1: all cores)"

FORMATS = (*BY_NAME, "spans", "text")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how files are read."""
    add = parser.add_argument_group("input").add_argument
    what = "one of the formats below (default: detected from FILE)"
    add("--format", choices=FORMATS, metavar="FORMAT", help=what)
    parser.epilog = (
        f"formats:\n{described()}\n  spans: annotated texts of any tool\n"
        "  text: to be tagged by models of spans"
    )
    what = (
        "an option of skstruct.datasets.read_spans, such as text=KEY or "
        "annotator=NAME; may be repeated"
    )
    add("--read", **repeated("NAME=VALUE", setting), help=what)
    what = (
        "units of offsets; with -lf, a CRLF counts as one; with -from-1, the first "
        "character has the offset 1; with -nfc or -nfd, a letter with marks counts as "
        "in this normal form of Unicode (default: detected from the spans)"
    )
    add("--offsets", choices=UNITS, help=what)
    what = (
        "inclusive if the end of a span is its last character (default: "
        "detected from the spans)"
    )
    add("--ends", choices=ENDS, help=what)
    what = (
        "columns of tokens, such as 0,1 (default: all but the label), or "
        "CoNLL-U fields (default: form)"
    )
    add("--tokens", type=_fields, metavar="LIST", help=what)
    what = (
        "column of the label (default: -1, the last), or CoNLL-U field (default: xpos)"
    )
    add("--label", type=_field, metavar="COLUMN", help=what)
    what = (
        "names for numeric labels: one a line, or JSON (a list, or an "
        "object from number to name)"
    )
    add("--label-names", action=_StoreNames, metavar="FILE", help=what)
    what = "separator of columns, such as tab (default: any run of spaces and tabs)"
    add("--separator", type=_separator, metavar="SEP", help=what)
    add(
        "--comment",
        metavar="PREFIX",
        help="skip lines of columns that start with PREFIX",
    )
    what = "encoding of all text files, and of another tool's model that is not UTF-8"
    add("--encoding", type=_encoding, default="utf-8", action=_StoreGiven, help=what)


_OF_INPUT = (
    "format",
    "read",
    "offsets",
    "ends",
    "tokens",
    "label",
    "label_names",
    "separator",
    "comment",
    "annotated",
)


def same_options(arguments: Any) -> str:
    """Return what follows a command that reads the same files, where options say how:
    another column would be a wrong answer that looks like a right one.
    """
    given = [getattr(arguments, name, None) not in (None, []) for name in _OF_INPUT]
    if any(given) or "encoding" in getattr(arguments, "given", ()):
        return ", with the options that say how files are read, as here"
    return ""


def add_encoding(parser: argparse.ArgumentParser) -> None:
    """Add the encoding of a model where no other file is read."""
    what = "encoding of strings in another tool's model that are not UTF-8"
    parser.add_argument("--encoding", type=_encoding, default="utf-8", help=what)


def label_names(path: str) -> Any:
    """Read names of labels from a file, a list or a dict: a type of ``argparse``."""
    try:
        text = Path(path).read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"{path}: {error}") from None
    try:
        found = json.loads(text)
    except ValueError:
        return [line.strip() for line in text.splitlines() if line.strip()]
    if isinstance(found, dict) and all(type(n) is int for n in found.values()):
        return {number: name for name, number in found.items()}
    if isinstance(found, dict) and all(map(str.isdecimal, found)):
        return {int(number): str(name) for number, name in found.items()}
    if isinstance(found, list) and found:
        return list(map(str, found))
    raise argparse.ArgumentTypeError(f"{path}: expected a list, or names by number")


class _StoreNames(argparse.Action):
    """Store the names of labels in a file, and its path in ``also_read``."""

    def __call__(
        self, parser: Any, namespace: Any, values: Any, option_string: Any = None
    ) -> None:
        """Store both."""
        try:
            setattr(namespace, self.dest, label_names(values))
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentError(self, str(error)) from None
        namespace.also_read = [*getattr(namespace, "also_read", []), values]


class _StoreGiven(argparse.Action):
    """Store a value, and in ``given`` that it does not stand there by default: a model
    may know a better default.
    """

    def __call__(
        self, parser: Any, namespace: Any, values: Any, option_string: Any = None
    ) -> None:
        """Store both."""
        setattr(namespace, self.dest, values)
        namespace.given = {*getattr(namespace, "given", ()), self.dest}


def repeated(metavar: str, type: Callable[[str], Any]) -> dict[str, Any]:
    """Return what ``add_argument`` takes for an option that may be given several times."""
    return {"action": "append", "default": [], "metavar": metavar, "type": type}


def add_model(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Add a model and its threads."""
    parser.add_argument(
        "--model", "-m", required=required, metavar="MODEL", help="a model file"
    )
    parser.add_argument("--n-jobs", type=n_jobs, metavar="N", help=THREADS)


def add_corpus(parser: argparse.ArgumentParser) -> None:
    """Add the files that are learned, and what one of several annotates."""
    what = (
        "the corpus; - is standard input; several files of annotated texts are combined"
    )
    takes_standard(parser.add_argument("files", metavar="FILE", nargs="+", help=what))
    what = (
        "the only types of spans, such as PER,LOC, that this file "
        "annotates; may be repeated"
    )
    parser.add_argument("--annotated", **repeated("FILE=TYPES", _annotated), help=what)
    what = (
        "key or column that names the document of a text or sentence, such as "
        "patient_id, or meta.source for a key within another; documents are kept whole "
        "(default: doc_id, document or the like)"
    )
    parser.add_argument("--document", metavar="KEY", help=what)


def _types(text: str) -> Any:
    path, _, types = text.rpartition("=")
    return path, types.split(",")


_annotated = checked_type(
    _types, lambda given: all([given[0], *given[1]]), "FILE=TYPES"
)
lexicon = checked_type(
    lambda text: tuple(text.partition("=")[::2]),
    lambda pair: pair[0].isidentifier() and pair[1],
    "NAME=FILE",
)
"""Types of ``argparse``."""


def _setting(text: str) -> Any:
    name, equals, value = text.partition("=")
    with contextlib.suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        value = ast.literal_eval(value)
    return (name, value) if equals else ("", value)


setting = checked_type(_setting, lambda pair: pair[0].isidentifier(), "NAME=VALUE")


def _field(text: str) -> Any:
    return int(text) if text.lstrip("-").isdecimal() else text


def _fields(text: str) -> Any:
    return tuple(_field(part) for part in text.split(","))


_encoding = checked_type(
    lambda text: codecs.lookup(text).name, bool, "an encoding that Python knows"
)


def _separator(text: str) -> str | None:
    return {"tab": "\t", "\\t": "\t", "space": " ", "": None}.get(text, text)
