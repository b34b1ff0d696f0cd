"""CoNLL-U Plus: the columns that the first line names; and ``.cupt``, of PARSEME.

``# global.columns = ID FORM UPOS CORP:NER`` names columns in any order. Underscores in
columns that CoNLL-U does not have say that nobody has annotated the word. The column
``PARSEME:MWE`` numbers multiword expressions: ``1:VID`` is the first word of one, ``1``
a further one, ``*`` a word of none.

References
----------
CoNLL-U Plus format, https://universaldependencies.org/ext-format.html.

C. Ramisch and others, "Edition 1.1 of the PARSEME shared task on automatic
identification of verbal multiword expressions", LAW-MWE-CxG 2018.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..._core.user_warnings import warn
from ..._data.places import counted
from ..._data.source_layout import SourceLayout
from .conllu import SKIPPED, SKIPPED_ID, columns_in, columns_of
from .contents import Contents
from .entry import NO, Kept, Look, Row, Rows, TokenFormat, marked, near
from .head import Head
from .text_files import CONLLU_FIELDS, filled_lines, numbered_lines

_MWE = ":mwe"
_CODES = re.compile(r"\d+(?::[^;]+)?(?:;\d+(?::[^;]+)?)*")


class ConlluPlus(TokenFormat):
    """The entry of the table for columns of any names."""

    name = "conllu-plus"
    description = "CoNLL-U Plus: the columns that # global.columns names"
    endings = (".conllup",)
    comment_mark = "#"
    options = frozenset(("tokens", "label"))
    is_written = True
    names_fields = True
    of_mwe = False

    def look(self, head: Head) -> Look:
        """The first line names columns, and not those of CoNLL-U."""
        columns = columns_in(head)
        if columns is None or columns == CONLLU_FIELDS:
            return NO
        mwe = any(name.endswith(_MWE) for name in columns)
        seen = f"a line names the columns {', '.join(columns)}"
        return marked(seen) if mwe == self.of_mwe else near(seen)

    def rows(
        self,
        file: Any,
        layout: SourceLayout,
        contents: Contents,
        with_labels: bool = True,
    ) -> Iterator[Rows]:
        """Yield the sentences, with the fields asked for."""
        document: str | None = None
        several = 0
        columns: tuple[str, ...] | None = None
        tally = contents.lines
        with numbered_lines(file, layout.encoding, tally=tally) as (name, lines):
            for rows in filled_lines(lines, tally):
                found: list[list[str]] = []
                numbers: list[int] = []
                for number, line in rows:
                    if line.startswith("#") and not _is_token(line, columns):
                        columns = columns or columns_of(line)
                        document = _document_of(line, number) or document
                        tally.structure += 1
                        continue
                    where = f"{name}, line {number}"
                    if columns is None:
                        raise ValueError(
                            f"{where}: expected # global.columns = ..., which names "
                            "the columns, before the first word"
                        )
                    cells = line.split("\t")
                    if len(cells) != len(columns):
                        raise ValueError(
                            f"{where}: expected {len(columns)} columns separated by "
                            f"tabs, as # global.columns names; found {len(cells)}"
                        )
                    if "id" in columns:
                        token = cells[columns.index("id")]
                        if SKIPPED_ID.fullmatch(token):
                            tally.leave(SKIPPED, where)
                            continue
                        if token != str(len(found) + 1):
                            raise ValueError(
                                f"{where}: expected the id {len(found) + 1}; found "
                                f"{token!r:.40}"
                            )
                    found.append(cells)
                    numbers.append(number)
                tally.data += len(numbers)
                if not found or columns is None:
                    continue
                chosen = _chosen(layout, columns, name, with_labels)
                of = [[row[columns.index(c)] for row in found] for c in chosen]
                if with_labels and chosen[-1] not in CONLLU_FIELDS:
                    several += sum(";" in cell for cell in of[-1])
                    of[-1] = _labels(of[-1], chosen[-1], name, numbers)
                yield Rows(list(zip(*of)), numbers, document, source=columns)
            if several and self.of_mwe:
                warn(
                    f"{name}: {counted(several, 'word')} of several expressions; only "
                    "the first expression of each is read"
                )

    def with_fields(self, head: Head, layout: SourceLayout) -> SourceLayout:
        """Settle the columns by the names in the first line."""
        columns = columns_in(head)
        if columns is None or layout.label is not None:
            return layout
        *_, label = _chosen(layout, columns, head.name)
        return replace(layout, label=label)

    def new_sentence(self, layout: SourceLayout, row: Row, rows: list[Row]) -> Kept:
        """Return lines of the columns of other rows, or of those that are chosen."""
        kept = (each.more for each in rows if isinstance(each.more, Kept))
        tokens = [str(c).lower() for c in layout.tokens or ("form",)]
        label = str(layout.label).lower()
        columns = next((each.source for each in kept), ("id", *tokens, label))
        lines = []
        for k, token in enumerate(row.x, start=1):
            values = token if isinstance(token, tuple) else (token,)
            cells = dict(zip(tokens, values), id=str(k))
            line = "\t".join(cells.get(column, "_") for column in columns)
            lines.append((0, line, True))
        return Kept(row.x, row.document, row.weight, lines, columns)

    def header(self, source: Any) -> list[str]:
        """Return the line that names columns."""
        return [f"# global.columns = {' '.join(source).upper()}\n"]

    def document_lines(self, document: str) -> list[str]:
        """Return the comment that begins a document."""
        return [f"# newdoc id = {document}\n"]

    def is_structure(self, line: str) -> bool:
        """Tell whether a line names columns or begins a document."""
        begins = line.startswith("#") and line[1:].lstrip().startswith("newdoc")
        return begins or columns_of(line) is not None

    def put(
        self,
        layout: SourceLayout,
        lines: list[tuple[int, str, bool]],
        marks: Any,
        source: Any,
    ) -> Iterator[str]:
        """Yield the lines of a sentence; what nobody has annotated is an underscore."""
        filled = [(["_" if c is None else c for c in cells], ()) for cells, _ in marks]
        return self.labelled(layout, lines, [], filled, source)

    def selected(
        self, sentences: list[tuple[list[tuple[int, str, bool]], Any]]
    ) -> Iterator[str]:
        """Yield the names of columns, and the lines of some sentences."""
        if sentences:
            yield f"# global.columns = {' '.join(sentences[0][1]).upper()}\n"
        others = [
            ([line for line in lines if columns_of(line[1]) is None], source)
            for lines, source in sentences
        ]
        yield from super().selected(others)

    def labelled(
        self,
        layout: SourceLayout,
        lines: list[tuple[int, str, bool]],
        header: list[str],
        marks: Any,
        source: Any,
    ) -> Iterator[str]:
        """Yield the lines of a sentence, with labels in their column."""
        label = source.index(_chosen(layout, source, self.name)[-1])
        if source[label].endswith(_MWE):
            raise ValueError(
                f"labels cannot be written as {self.name}; write columns of its tokens "
                "first: skstruct.datasets.read_tokens gives them"
            )
        yield from header
        marks = iter(marks)
        for _, line, is_token in lines:
            if is_token:
                row = line.split("\t")
                (row[label], *_), beside = next(marks)
                said = [f"{key}={value}" for key, value in beside if value != "_"]
                if said and "misc" not in source:
                    raise ValueError(
                        "probabilities are written to the column MISC, which the file "
                        "lacks; add it to # global.columns"
                    )
                for part in said:
                    c = source.index("misc")
                    row[c] = part if row[c] == "_" else f"{row[c]}|{part}"
                line = "\t".join(row)
            yield line + "\n"


def _chosen(
    layout: SourceLayout, columns: tuple[str, ...], name: str, with_labels: bool = True
) -> tuple[str, ...]:
    """The columns of a token, and that of the label: the last that CoNLL-U lacks."""
    own = [c for c in columns if c not in CONLLU_FIELDS]
    usual = (*reversed(own), "xpos", "upos", *reversed(columns))
    label = next(c for c in usual if c in columns)
    if layout.label is not None:
        label = str(layout.label).lower()
    tokens = tuple(str(c).lower() for c in layout.tokens or ("form",))
    for column in (*tokens, *([label] if with_labels else [])):
        if column not in columns:
            raise ValueError(
                f"{name}: there is no column {column!r}; choose one of "
                f"{', '.join(columns)}, which # global.columns names"
            )
    return (*tokens, label) if with_labels else tokens


def _labels(cells: list[str], column: str, name: str, numbers: list[int]) -> list[Any]:
    """Labels of a column that CoNLL-U does not have; of expressions in the scheme
    BIO.
    """
    if not column.endswith(_MWE):
        return [None if cell == "_" else cell for cell in cells]
    kinds: dict[str, str] = {}
    labels: list[str | None] = []
    for cell, number in zip(cells, numbers):
        if cell in ("*", "_"):
            labels.append("O" if cell == "*" else None)
            continue
        if not _CODES.fullmatch(cell):
            raise ValueError(
                f"{name}, line {number}: expected *, _, 1:CATEGORY or 1, got {cell!r}"
            )
        first, *_ = codes = [code.partition(":") for code in cell.split(";")]
        prefix = "I" if first[0] in kinds else "B"
        kinds.update({key: kind for key, colon, kind in codes if colon})
        labels.append("-".join(filter(None, (prefix, kinds.get(first[0], "")))))
    return labels


def _document_of(line: str, number: int) -> str | None:
    """The document that a comment begins, or None."""
    if not line[1:].lstrip().startswith("newdoc"):
        return None
    return line.partition("=")[2].strip() or str(number)


def _is_token(line: str, columns: tuple[str, ...] | None) -> bool:
    """Tell whether a line that begins with # is a token: without numbers of tokens the
    form can stand first.
    """
    if columns is None or columns[0] == "id":
        return False
    return line.count("\t") == len(columns) - 1


class Cupt(ConlluPlus):
    """The entry of the table for the columns of PARSEME."""

    name = "cupt"
    description = "CoNLL-U with the multiword expressions of PARSEME"
    endings = (".cupt",)
    is_written = False
    of_mwe = True
