r"""Data of CRFsuite: ready-made features.

A line is a token: its label, then its attributes, between tabs. ``name:2.5`` gives an
attribute a value, 1 if it has none; ``\:`` and ``\\`` are a colon and a backslash
within a name or a label. Blank lines end sentences. A line ``@weight:5`` says what a
sentence counts. ``label:0.93`` is a label and its probability, as ``crfsuite tag -i``
writes it.

References
----------
N. Okazaki, "CRFsuite: a fast implementation of Conditional Random Fields (CRFs)", 2007:
the format.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from ..._core.user_warnings import warn
from ..._data.places import agreeing, counted
from ..._data.source_layout import SourceLayout
from .contents import Contents
from .entry import NO, Kept, Look, Row, Rows, TokenFormat, marked, near, no
from .head import Head
from .text_files import filled_lines, numbered_lines

_PARTS = re.compile(r"((?:[^:\\]|\\.)*)(?::(.*))?", re.DOTALL)
_ESCAPED = re.compile(r"\\([:\\])")


_WEIGHT = "@weight:"
_PROBABILITY = re.compile(r"[01]\.\d+(?:[eE]-\d+)?")


def iter_attributes(
    path_or_file: Any, *, encoding: str = "utf-8", return_weight: bool = False
) -> Iterator[Any]:
    r"""Yield the sentences of a data file of CRFsuite.

    Parameters
    ----------
    path_or_file : str, os.PathLike or text file
    encoding : str, default="utf-8"
        Of a path; an open file has its own.
    return_weight : bool, default=False
        Whether to yield the weight of each sentence, too: of a line ``@weight:5`` in
        it, 1.0 without.

    Yields
    ------
    list of (label, dict), or (list, float) with ``return_weight=True``
        The tokens; values by name, those of a name that a line has several times added,
        as CRFsuite does. A probability behind a label is left out.

    Raises
    ------
    ValueError
        If a value is not a finite number, a label has a colon without ``\``, a weight
        is negative, or bytes are not in the encoding. The message names file and line.

    Warns
    -----
    UserWarning
        If sentences have weights and nobody asks for them.

    Examples
    --------
    >>> import io
    >>> list(iter_attributes(io.StringIO("D\tw=the\tfirst\nN\tw=dog\tlength:0.5\n")))
    [[('D', {'w=the': 1.0, 'first': 1.0}), ('N', {'w=dog': 1.0, 'length': 0.5})]]
    """
    read = _attributes(path_or_file, encoding, Contents())
    if return_weight:
        return ((rows.cells, rows.weight) for rows in read)
    return (rows.cells for rows in without_weights(read))


def without_weights(read: Iterator[Rows]) -> Iterator[Rows]:
    """Yield sentences, and warn in the end if weights of theirs were left out."""
    weighted = 0
    for rows in read:
        weighted += rows.weight != 1.0
        yield rows
    if weighted:
        warn(
            f"{counted(weighted, 'sentence')} had a weight (@weight), which is "
            "left out; to get it, call iter_attributes(..., return_weight=True)"
        )


def _attributes(path_or_file: Any, encoding: str, contents: Contents) -> Iterator[Rows]:
    """The sentences, with the numbers of their lines."""
    n_marked = 0
    tally = contents.lines
    with numbered_lines(path_or_file, encoding, tally=tally) as (name, lines):
        for rows in filled_lines(lines, tally, ""):
            sentence = []
            numbers = []
            weight = 1.0
            for number, line in rows:
                where = f"{name}, line {number}"
                if line.startswith(_WEIGHT):
                    weight = _weight(line.removeprefix(_WEIGHT), where)
                    tally.structure += 1
                    continue
                label, *fields = line.split("\t")
                n_marked += label == "#"
                token: dict[str, float] = {}
                for field in filter(None, fields):
                    attribute, value = _attribute(field, where)
                    token[attribute] = token.get(attribute, 0.0) + value
                sentence.append((_label(label, where), token))
                numbers.append(number)
            tally.data += len(numbers)
            if sentence:
                yield Rows(sentence, numbers, weight=weight)
        if n_marked:
            warn(
                f"{name}: {counted(n_marked, 'token')} with the label '#'; this "
                "format has no comments, so delete these lines if they are comments"
            )


def _weight(text: str, where: str) -> float:
    """The weight of a sentence."""
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 0.0 <= weight < math.inf:
        raise ValueError(
            f"{where}: expected @weight: and a number of at least 0, got {text!r:.40}"
        )
    return weight


def _label(text: str, where: str) -> str:
    """The label that a line begins with."""
    found = _PARTS.fullmatch(text)
    if found is None or not (found[2] is None or _PROBABILITY.fullmatch(found[2])):
        raise ValueError(
            rf"{where}: expected a label, with \: for a colon in it, got {text!r:.60}"
        )
    return _ESCAPED.sub(r"\1", found[1])


def _escaped(label: str) -> str:
    """A label as the format spells it."""
    return label.replace("\\", "\\\\").replace(":", "\\:")


_NAMED = re.compile(r"[^\s=]+=\S.*|[^\s:]+:[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def is_attribute(cell: str) -> bool:
    """Tell whether a cell looks like a feature with its value: ``w=dog``, ``len:3``.

    Fields of CoNLL-U, such as ``Case=Nom|Number=Sing``, do not count.
    """
    return _NAMED.fullmatch(cell) is not None and "|" not in cell


def _attribute(field: Any, where: str) -> Any:
    """(name, value) of a field."""
    found = _PARTS.fullmatch(field)
    name, text = found.groups() if found else (None, None)
    try:
        value = 1.0 if text is None else float(text)
    except ValueError:
        value = math.nan
    if name is None or not math.isfinite(value):
        expected = r"name or name:value, with \: for a colon in the name"
        raise ValueError(f"{where}: expected {expected}, got {field!r:.60}")
    return _ESCAPED.sub(r"\1", name), value


class Crfsuite(TokenFormat):
    """The entry of the table."""

    name = "crfsuite"
    description = "data of CRFsuite: a label and ready-made features, separated by tabs"
    is_written = True
    has_features = True

    def look(self, head: Head) -> Look:
        """Behind a label there are NAME=VALUE, or NAME:NUMBER, between tabs."""
        lines = [line for line in head.lines if not line.startswith(_WEIGHT)]
        rows = [row for row in (line.split("\t") for line in lines) if len(row) > 1]
        if head.is_json or 10 * len(rows) < 9 * len(lines) or not rows:
            return NO
        fields = [field for row in rows for field in row[1:]]
        named = sum(map(is_attribute, fields))
        firsts = sum(is_attribute(row[1]) for row in rows)
        seen = (
            f"{named} of {len(fields)} cells behind the first {agreeing(named, 'are')} "
            "NAME=VALUE or NAME:NUMBER"
        )
        if any("=" in row[0] for row in rows) or 4 * firsts < 3 * len(rows):
            return no(seen)
        return marked(seen) if 2 * named > len(fields) else near(seen)

    def rows(
        self,
        file: Any,
        layout: SourceLayout,
        contents: Contents,
        with_labels: bool = True,
    ) -> Iterator[Rows]:
        """Yield the sentences: (label, dict) of each token."""
        return _attributes(file, layout.encoding, contents)

    def new_sentence(self, layout: SourceLayout, row: Row, rows: list[Row]) -> Kept:
        """Return lines of features, with values where these are not 1."""
        lines = []
        for token in row.x:
            fields = [
                _escaped(name) if value == 1 else f"{_escaped(name)}:{value!r}"
                for name, value in token.items()
            ]
            lines.append((0, "\t".join(["_", *fields]), True))
        if row.weight != 1.0:
            lines.insert(0, (0, f"{_WEIGHT}{row.weight!r}", False))
        return Kept(row.x, row.document, row.weight, lines)

    def mark(
        self, layout: SourceLayout, line: str, cells: list[str], beside: Any
    ) -> str:
        """Write the label in its place, with its probability as CRFsuite does."""
        label = _escaped(cells[0])
        said = [value for name, value in beside if name == "Prob"]
        return "\t".join([":".join([label, *said]), *line.split("\t")[1:]])
