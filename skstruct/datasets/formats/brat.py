"""Standoff files of brat.

brat has two files for a text, ``NAME.txt`` with the text, ``NAME.ann`` with its
annotations. A line ``T1<tab>LABEL START END<tab>TEXT`` is a span; ``START END;START
END`` is a discontinuous one. Lines of other kinds (relations, events, attributes,
notes) are skipped. Offsets count characters, those of line ends too.

References
----------
P. Stenetorp and others, "brat: a Web-based Tool for NLP-Assisted Text Annotation",
EACL 2012.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..._saving.atomic import naming
from .contents import FAULTY
from .entry import NO, Look, TextFormat, marked
from .head import Head
from .span_records import Annotation, Record
from .text_files import numbered_lines

_SPAN = re.compile(
    r"T\S*\t(\S+) ([0-9]{1,18} [0-9]{1,18}(?:;[0-9]{1,18} [0-9]{1,18})*)(?:\t(.*))?",
    re.DOTALL,
)

_OTHER = re.compile(r"[REAMN]\S*\t|#|\*\t")
"""The beginnings of lines of relations, events, attributes, notes and the like."""


def is_brat(source: Any) -> bool:
    """Tell whether a path is a folder, or a file of brat's."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    path = Path(source)
    has_annotations = path.suffix == ".txt" and path.with_suffix(".ann").is_file()
    return has_annotations or path.suffix == ".ann" or path.is_dir()


def brat_records(
    source: Any, encoding: str, texts_alone: bool = False, reading: Any = None
) -> Any:
    """Yield the `Record` of each text of a folder, with the folders in it, in order of
    their names.
    """
    path = Path(source)
    files = sorted(path.rglob("*.ann")) if path.is_dir() else [path.with_suffix(".ann")]
    if not files:
        raise ValueError(_not_of_brat(path))
    bare = _without_annotations(path, files)
    if texts_alone:
        files = sorted([*files, *bare])
    elif bare and reading is not None:
        reading.contents.records.seen += len(bare)
        reading.contents.records.leave(
            "a file NAME.txt without NAME.ann", str(bare[0]), len(bare)
        )
    for k, file in enumerate(files):
        name = file.relative_to(path if path.is_dir() else path.parent)
        try:
            text = _text(file.with_suffix(".txt"), encoding)
            spans = None if texts_alone else _annotations(file, encoding)
        except ValueError as error:
            if reading is None:
                raise
            reading.contents.records.seen += 1
            reading.contents.records.leave(FAULTY, str(file))
            reading.keep_fault(error, k, name.with_suffix("").as_posix(), str(file))
            continue
        yield Record(str(file), text, spans, {"name": name.with_suffix("").as_posix()})


_SHOWN = 4
"""Names of files in an error."""


def _not_of_brat(folder: Path) -> str:
    """The error about a folder without annotations: which files are there."""
    names = sorted(file.name for file in folder.iterdir())
    if "state.json" in names or "dataset_dict.json" in names:
        data = sorted(folder.rglob("*.arrow"))
        first = data[0] if data else "data-00000-of-00001.arrow"
        return (
            f"{folder}: this is a folder of save_to_disk of Hugging Face datasets: name "
            f"its file, {first}"
        )
    shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    has = f"it has {shown}: name one of these" if names else "it is empty"
    return f"{folder}: there is no file NAME.ann in the folder; {has}"


def _without_annotations(path: Path, files: list[Path]) -> list[Path]:
    """The files of annotations that texts of a folder lack."""
    texts = path.rglob("*.txt") if path.is_dir() else iter(())
    return sorted({text.with_suffix(".ann") for text in texts} - set(files))


def _text(path: Any, encoding: str) -> Any:
    try:
        # As it is: every character counts, carriage returns and a byte order mark, too.
        with naming(path), open(path, encoding=encoding, newline="") as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}: not valid {error.encoding}: {error.reason}"
        ) from None


def _annotations(file: Any, encoding: str) -> Any:
    found = []
    with numbered_lines(file, encoding, watch=False) as (name, lines):
        for number, line in lines:
            if not line.startswith("T"):
                if line.strip() and not _OTHER.match(line):
                    raise ValueError(
                        f"{name}, line {number}: expected a span, or another "
                        f"annotation of brat, got {line!r:.60}"
                    )
                continue
            match = _SPAN.fullmatch(line)
            if match is None:
                expected = "T1<tab>LABEL START END<tab>TEXT"
                raise ValueError(
                    f"{name}, line {number}: expected {expected}, got {line!r:.60}"
                )
            label, offsets, text = match.groups()
            parts: tuple[Any, ...] = tuple(
                tuple(map(int, part.split(" "))) for part in offsets.split(";")
            )
            found.append(Annotation(parts, label, text, f"{name}, line {number}"))
    return found


def lines_of(text: str, spans: Any, place: Any) -> Any:
    """The content of a file ``.ann``."""
    lines = []
    for k, (start, end, label) in enumerate(spans):
        if label is None or label.split() != [label]:
            wrong = (
                f"brat cannot store the label {label!r}, since its labels have no "
                "white space"
            )
            words = (label or "").split()
            remedy = f"; write {'_'.join(words)!r} instead" if words else ""
            raise ValueError(f"{place}, span {k}: {wrong}{remedy}")
        covered = re.sub(r"[\r\n]", " ", text[start:end])
        lines.append(f"T{k + 1}\t{label} {start} {end}\t{covered}\n")
    return "".join(lines)


class Brat(TextFormat):
    """The entry of the table."""

    name = "brat"
    description = "a folder of brat: NAME.txt with a text, NAME.ann with its spans"
    endings = (".ann",)
    options = frozenset(("discontinuous",))
    is_written = True
    is_json = False

    def look(self, head: Head) -> Look:
        """The path is a folder, or one of the two files of a text."""
        if head.name and is_brat(head.name):
            return marked("it is a folder, or has a file .ann beside it")
        return NO

    def records(self, source: Any, reading: Any) -> Iterator[Record]:
        """Yield the `Record` of each text of a folder."""
        if not is_brat(source):
            name = getattr(source, "name", source)
            raise ValueError(
                f"{name}: brat is a folder, or two files NAME.txt and NAME.ann; "
                "give the folder or one of the files"
            )
        reading.n_listed += 1
        return brat_records(
            source, reading.options.encoding, reading.texts_alone, reading
        )
