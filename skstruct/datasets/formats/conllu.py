r"""CoNLL-U, and CoNLL-X of ten columns: one word per line, its fields between tabs.

References
----------
S. Buchholz and E. Marsi, "CoNLL-X shared task on multilingual dependency parsing",
CoNLL 2006.

CoNLL-U format, https://universaldependencies.org/format.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import IO, Any

from ..._data.source_layout import SourceLayout
from ..._data.types import Path
from .contents import Contents
from .entry import NO, Kept, Look, Row, Rows, TokenFormat, marked, near, no
from .head import Head, part_of_first
from .text_files import (
    CONLLU_FIELDS,
    TREE_FIELDS,
    SharedStrings,
    check_fields,
    filled_lines,
    keyed,
    numbered_lines,
    value_of,
    with_value,
)

SKIPPED_ID = re.compile(r"[0-9]+[-.][0-9]+")  # a multiword range or an empty node

SKIPPED = "ranges of words and empty nodes"
"""The name of the lines with such ids."""

_NEW_DOCUMENT = re.compile(r"#\s*newdoc(?:\s+id\s*=\s*(.*))?")


def read_conllu(
    path_or_file: Path | IO[str],
    *,
    fields: Iterable[str] = TREE_FIELDS,
    encoding: str = "utf-8",
) -> list[list[tuple[Any, ...]]]:
    r"""Read a CoNLL-U file, or a CoNLL-X file of ten columns.

    Comments, multiword ranges (``3-4``) and empty nodes (``8.1``) are skipped.

    Parameters
    ----------
    path_or_file : str, os.PathLike or text file
    fields : sequence of str, default=("form", "xpos", "head", "deprel")
        Which of `CONLLU_FIELDS` to return, in this order; ``id`` and ``head`` are
        integers. ``"misc:name"`` is the value of a key of a column, None without it.
    encoding : str, default="utf-8"
        Of a path; an open file has its own.

    Returns
    -------
    list of lists of tuples
        One list per sentence, one tuple per word.

    Raises
    ------
    ValueError
        If a line has not ten columns, or ids do not run 1, 2, 3, ...; where heads are
        asked for, also if a head is no integer, is the word itself, or lies beyond the
        sentence. The message names file and line.

    Examples
    --------
    >>> import io
    >>> text = "1\tIt\t_\t_\tPRP\t_\t2\tnsubj\t_\t_\n"
    >>> text += "2\tworks\t_\t_\tVBZ\t_\t0\troot\t_\t_\n"
    >>> read_conllu(io.StringIO(text))
    [[('It', 'PRP', 2, 'nsubj'), ('works', 'VBZ', 0, 'root')]]
    >>> read_conllu(io.StringIO(text), fields=["form", "xpos"])
    [[('It', 'PRP'), ('works', 'VBZ')]]
    """
    strings = SharedStrings()
    found = _conllu(path_or_file, check_fields(fields), encoding, strings, Contents())
    return [rows.cells for rows in found]


def iter_conllu(
    path_or_file: Any, *, fields: Any = TREE_FIELDS, encoding: str = "utf-8"
) -> Iterator[Any]:
    """Yield the sentences of a CoNLL-U file one by one; see `read_conllu`."""
    strings = SharedStrings(SharedStrings.MOST)
    found = _conllu(path_or_file, check_fields(fields), encoding, strings, Contents())
    return (rows.cells for rows in found)


def _conllu(
    path_or_file: Any,
    fields: Any,
    encoding: str,
    strings: SharedStrings,
    contents: Contents,
) -> Iterator[Rows]:
    tally = contents.lines
    share = strings.share
    document: str | None = None
    n_documents = 0
    where = [(CONLLU_FIELDS.index(c), key) for c, key in map(keyed, fields)]
    with numbered_lines(path_or_file, encoding, tally=tally) as (name, lines):
        for rows in filled_lines(lines, tally):
            sentence: list[tuple[str | int | None, ...]] = []
            numbers: list[int] = []
            heads: list[tuple[int, int]] = []
            for number, line in rows:
                cells = line.split("\t")
                token = cells[0]
                expected = len(sentence) + 1
                if line[0] == "#":
                    if new := _NEW_DOCUMENT.fullmatch(line):
                        document = new[1] or str(n_documents)
                        n_documents += 1
                    tally.structure += 1
                    continue
                if len(cells) != 10:
                    raise ValueError(
                        f"{name}, line {number}: expected 10 columns separated by "
                        f"tabs; found {len(cells)}"
                    )
                if SKIPPED_ID.fullmatch(token):
                    tally.leave(SKIPPED, f"{name}, line {number}")
                    continue
                if token != str(expected):
                    raise ValueError(
                        f"{name}, line {number}: expected the id {expected}; found "
                        f"{token!r}"
                    )
                cells[0] = expected
                if "head" in fields:
                    cells[6] = as_head(cells[6], name, number)
                    heads.append((number, cells[6]))
                values = [
                    cells[c] if key is None else value_of(cells[c], key)
                    for c, key in where
                ]
                values = [share(v, v) if isinstance(v, str) else v for v in values]
                sentence.append(tuple(values))
                numbers.append(number)
            strings.end_sentence()
            tally.data += len(numbers)
            if sentence:
                check_heads(name, heads, len(sentence))
                yield Rows(sentence, numbers, document)


def as_head(text: str, name: str, number: int) -> int:
    """The head in a cell, as an int."""
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise ValueError(
            f"{name}, line {number}: expected a head, 0 or the id of a word; found "
            f"{text!r:.80}"
        )
    return int(text)


def check_heads(name: str, heads: Any, n: int) -> None:
    """Check the (line, head) pairs of a sentence of `n` words."""
    for position, (number, head) in enumerate(heads, start=1):
        if head > n or head == position:
            found = "the word itself" if head == position else head
            raise ValueError(
                f"{name}, line {number}: expected a head between 0 and {n}; found "
                f"{found}"
            )


def _as_strings(row: tuple[Any, ...], n_tokens: int) -> tuple[Any, ...]:
    """The values of a word as str; a key that it lacks is ``_``, of its label None."""
    tokens = ("_" if value is None else str(value) for value in row[:n_tokens])
    rest = (None if value is None else str(value) for value in row[n_tokens:])
    return (*tokens, *rest)


def _with_field(line: str, field: Any, value: Any) -> str:
    """A line of a word with the value of a field; None takes a key away."""
    cells = line.split("\t")
    column, key = keyed(field)
    c = CONLLU_FIELDS.index(column)
    if key is None:
        cells[c] = str(value)
    elif value is None:
        parts = [p for p in cells[c].split("|") if p.partition("=")[0] != key]
        cells[c] = "|".join(parts) or "_"
    else:
        cells[c] = with_value(cells[c], key, str(value))
    return "\t".join(cells)


def is_conllu(line: str) -> bool:
    """Tell whether a line looks like a token of CoNLL-U."""
    cells = line.split("\t")
    return len(cells) == 10 and re.fullmatch(r"\d+([-.]\d+)?", cells[0]) is not None


_FIRST = 20
"""Lines that may stand before the names of columns."""

_COLUMNS = re.compile(r"#\s*global\.columns\s*=\s*(.*)")


def columns_of(line: str) -> tuple[str, ...] | None:
    """Return the names of columns that the first line gives, in lower case, or None."""
    found = _COLUMNS.match(line)
    return None if found is None else tuple(found[1].lower().split())


def columns_in(head: Head) -> tuple[str, ...] | None:
    """Return the names of columns that one of the first lines gives, or None."""
    named = map(columns_of, head.lines[:_FIRST])
    return next((columns for columns in named if columns is not None), None)


class Conllu(TokenFormat):
    """The entry of the table."""

    name = "conllu"
    description = (
        "CoNLL-U, and CoNLL-X: ten columns between tabs; --label misc:KEY is a key"
    )
    endings = (".conllu", ".conllx")
    comment_mark = "#"
    options = frozenset(("tokens", "label"))
    is_written = True
    names_fields = True
    label_fields = ("xpos", "upos", "feats", "deprel", "misc")

    def look(self, head: Head) -> Look:
        """Lines have ten columns, and the first is a number."""
        named = columns_in(head)
        if named not in (None, CONLLU_FIELDS):
            return no("the first line names other columns")
        found = [is_conllu(row) for row in head.rows]
        if found and (found[0] or 2 * sum(found) > len(found)):
            return marked(
                f"{part_of_first(sum(found), len(found), 'line', 'have')} ten columns"
            )
        if self.has_ending(head):
            return marked(f"the name ends in {head.ending}")
        return near("some lines have ten columns") if any(found) else NO

    def rows(
        self,
        file: Any,
        layout: SourceLayout,
        contents: Contents,
        with_labels: bool = True,
    ) -> Iterator[Rows]:
        """Yield the sentences, with the fields asked for."""
        label = layout.label
        if label is None and with_labels:
            label = "xpos"
        several = label if isinstance(label, tuple) else (label,)
        if not with_labels:
            several = ()
        fields = (
            *(layout.tokens or ("form",)),
            *(f for f in several if f is not None),
        )
        strings = SharedStrings(SharedStrings.MOST)
        of = check_fields(fields), layout.encoding, strings, contents
        for rows in _conllu(file, *of):
            n = len(layout.tokens or ("form",))
            yield rows._replace(cells=[_as_strings(row, n) for row in rows.cells])

    def with_fields(self, head: Head, layout: SourceLayout) -> SourceLayout:
        """Settle the fields: the form, and its part of speech."""
        return replace(
            layout,
            tokens=layout.tokens or ("form",),
            label="xpos" if layout.label is None else layout.label,
        )

    def check(self, layout: SourceLayout) -> None:
        """Raise a ValueError if a field is none of CoNLL-U."""
        several = layout.label if isinstance(layout.label, tuple) else (layout.label,)
        for field in (*(layout.tokens or ()), *several):
            if field is not None and keyed(field)[0] not in CONLLU_FIELDS:
                raise ValueError(
                    f"CoNLL-U has no field {field!r}; choose one of "
                    f"{', '.join(CONLLU_FIELDS)}, feats:KEY and misc:KEY"
                )

    def new_sentence(self, layout: SourceLayout, row: Row, rows: list[Row]) -> Kept:
        """Return lines with nothing but numbers and tokens."""
        fields = layout.tokens or ("form",)
        lines = []
        for k, token in enumerate(row.x, start=1):
            values = token if isinstance(token, tuple) else (token,)
            line = "\t".join([str(k), *["_"] * 9])
            for field, value in zip(fields, values):
                line = _with_field(line, field, value)
            lines.append((0, line, True))
        return Kept(row.x, row.document, row.weight, lines)

    def document_lines(self, document: str) -> list[str]:
        """Return the comment that begins a document."""
        return [f"# newdoc id = {document}\n"]

    def is_structure(self, line: str) -> bool:
        """Tell whether a line begins a document."""
        return _NEW_DOCUMENT.fullmatch(line) is not None

    def mark(
        self, layout: SourceLayout, line: str, cells: list[str], beside: Any
    ) -> str:
        """Write the label into its field, and what is beside it into misc."""
        for field, cell in zip(layout.labels or ("xpos",), cells):
            line = _with_field(line, field, cell)
        row = line.split("\t")
        said = [f"{name}={value}" for name, value in beside if value != "_"]
        if said:
            row[-1] = "|".join([*([] if row[-1] == "_" else [row[-1]]), *said])
        return "\t".join(row)
