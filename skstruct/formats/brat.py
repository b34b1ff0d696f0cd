"""Standoff files of brat: ``NAME.txt`` with a text, ``NAME.ann`` with its annotations.

A line ``T1<tab>LABEL START END<tab>TEXT`` is a span; ``START END;START END`` is a discontinuous one. Lines of
other kinds (relations, events, attributes, notes) are skipped. Offsets count characters, those of line ends
too.

References
----------
P. Stenetorp and others, "brat: a Web-based Tool for NLP-Assisted Text Annotation", EACL 2012.
"""

import os
import re
from itertools import pairwise
from pathlib import Path

from ..data.spans import Span
from .span_records import Annotation, Record
from .text_files import numbered_lines

_SPAN = re.compile(
    r"T\S*\t(\S+) ([0-9]{1,18} [0-9]{1,18}(?:;[0-9]{1,18} [0-9]{1,18})*)(?:\t(.*))?", re.DOTALL
)


def is_brat(source):
    """Whether a path is a folder, or a file of brat's."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    path = Path(source)
    return (
        path.is_dir()
        or path.suffix == ".ann"
        or (path.suffix == ".txt" and path.with_suffix(".ann").is_file())
    )


def brat_records(source, encoding, texts_alone=False):
    """Yield the `Record` of each text of a folder, with the folders in it, in order of their names."""
    path = Path(source)
    if path.is_dir():
        files = sorted(path.rglob("*.ann"))
        if not files:
            raise ValueError(f"{path}: there is no file NAME.ann in the folder")
    else:
        files = [path.with_suffix(".ann")]
    for file in files:
        name = file.relative_to(path) if path.is_dir() else Path(file.name)
        text = _text(file.with_suffix(".txt"), encoding)
        spans = None if texts_alone else _annotations(file, encoding)
        yield Record(str(file), text, spans, {"name": name.with_suffix("").as_posix()})


def _text(path, encoding):
    try:
        # As it is: every character counts, carriage returns and a byte order mark, too.
        with open(path, encoding=encoding, newline="") as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not valid {error.encoding}: {error.reason}") from None


def _annotations(file, encoding):
    found = []
    with numbered_lines(file, encoding, watch=False) as (name, lines):
        for number, line in lines:
            if not line.startswith("T"):
                continue
            match = _SPAN.fullmatch(line)
            if match is None:
                raise ValueError(
                    f"{name}, line {number}: expected T1<tab>LABEL START END<tab>TEXT, got {line!r:.60}"
                )
            label, offsets, text = match.groups()
            parts = tuple(tuple(map(int, part.split(" "))) for part in offsets.split(";"))
            found.append(Annotation(parts, label, text, f"{name}, line {number}"))
    return found


def joined(text, parts, place, discontinuous):
    """One `Span` of the parts of a discontinuous one; None if it is to be left out.

    Parts with nothing but white space between them are one.
    """
    parts = sorted(parts)
    start, end, label = parts[0][0], max(part.end for part in parts), parts[0].label
    if any(text[a.end : b.start].strip() for a, b in pairwise(parts)):
        if discontinuous == "skip":
            return None
        if discontinuous == "error":
            shown = " ... ".join(text[a:b] for a, b, _ in parts)
            raise ValueError(
                f"{place}: the span {label!r} is discontinuous: {shown!r:.80}; "
                f"discontinuous='cover' takes all between its ends, 'skip' leaves it out"
            )
    return Span(start, end, label)


def lines_of(text, spans, place):
    """The content of a file ``.ann``."""
    lines = []
    for k, (start, end, label) in enumerate(spans):
        if label is None or label.split() != [label]:
            raise ValueError(
                f"{place}, span {k}: brat has no label {label!r}: it takes text without white space"
            )
        covered = re.sub(r"[\r\n]", " ", text[start:end])
        lines.append(f"T{k + 1}\t{label} {start} {end}\t{covered}\n")
    return "".join(lines)
