"""Sentences of corpus files on the command line, and the lines that they were made of.

Formats of the table do the reading; an `input_files.Source` between them and the file
keeps the lines of the sentence at hand, so that a command can give back what it read.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from .._data.inputs import TREES
from .._data.places import counted
from ..datasets.formats.conllu import as_head, check_heads
from ..datasets.formats.entry import Rows, TokenFormat, WordFormat
from ..datasets.formats.table import BY_NAME
from .common import CommandError
from .input_files import Source, noticed

if TYPE_CHECKING:
    from .._data.inputs import Inputs
    from .corpus import Layout


class Sentence(NamedTuple):
    """One sentence of a file."""

    tokens: list | str  # str or tuples of str; of segmented text the raw text
    labels: list | None  # str; of trees (head, label); of segmented text the words
    lines: list  # (number, text without line end, whether it is a token's)
    document: str | None = None  # which it belongs to, if the file says it
    weight: float = 1.0  # as data of CRFsuite may say it
    place: str | None = None  # for errors, where the lines say little
    source: Any = None  # of its `Rows`

    @property
    def numbers(self) -> list[int]:
        """Numbers of the lines that hold tokens."""
        return [number for number, _, is_token in self.lines if is_token]


def as_columns(label: Any) -> tuple[Any, ...]:
    """Return the columns or fields of a `Layout.label` as a tuple; of trees there are
    two.
    """
    return label if isinstance(label, tuple) else (label,)


# --------------------------------------------------------------------------------------
# Sentences
# --------------------------------------------------------------------------------------
def sentences(
    source: Source, layout: Layout, inputs: Inputs | None = None, labels: bool = True
) -> Iterator[Sentence]:
    """Yield the sentences of a source, one by one.

    Parameters
    ----------
    source : Source
    layout : Layout
    inputs : Inputs, optional
        Of the model that the tokens are for.
    labels : bool, default=True
        Whether to read labels.

    Raises
    ------
    ValueError, CommandError
        Naming file and line, if a line is not as the layout says.
    """
    entry = layout.entry or BY_NAME[layout.format]
    if isinstance(entry, WordFormat):
        return _segmented(source, layout, entry)
    assert isinstance(entry, TokenFormat)
    if entry.has_features:
        return _attributes(source, layout, entry)
    read = _named if entry.names_fields else _columns
    return read(source, layout, entry, inputs, labels)


def _taken(source: Source, rows: Rows) -> list[tuple[int, str, bool]]:
    """(number, line, whether it is a token's) of what was read since the last call."""
    numbers = set(rows.numbers)
    return [(n, line, n in numbers) for n, line in source.take()]


def _attributes(
    source: Source, layout: Layout, entry: TokenFormat
) -> Iterator[Sentence]:
    for rows in entry.rows(source, layout.options(source.encoding)):
        lines = _taken(source, rows)
        labels = [label for label, _ in rows.cells]
        tokens = [token for _, token in rows.cells]
        yield Sentence(tokens, labels, lines, rows.document, rows.weight)


def _segmented(source: Source, layout: Layout, entry: WordFormat) -> Iterator[Sentence]:
    for _, words in entry.words(source, layout.options(source.encoding)):
        (number, text), *_ = source.take()
        raw = "".join(word if isinstance(word, str) else word[0] for word in words)
        if not entry.lines_are_text or layout.separator is not None:
            text = raw  # what is to be segmented
        yield Sentence(raw, words, [(number, text, bool(words))])


def _columns(
    source: Source,
    layout: Layout,
    entry: TokenFormat,
    inputs: Inputs | None,
    labels: bool,
) -> Iterator[Sentence]:
    read = entry.rows(source, layout.options(source.encoding, labels))
    found = ((rows, _taken(source, rows)) for rows in read)
    first = next(found, None)
    if first is None:
        return
    number, text = next((n, line) for n, line, of_token in first[1] if of_token)
    width = len(first[0].cells[0])
    where = f"{source.name}, line {number}"
    tokens, label = _choose(width, layout, inputs, labels, where)
    column = label[0] if len(label) == 1 else None
    pairs = chain([first], found)
    for rows, lines in noticed(source, pairs, number, text, column):
        yield _sentence(rows, tokens, label, source.name, lines)


def _named(
    source: Source,
    layout: Layout,
    entry: TokenFormat,
    inputs: Inputs | None,
    labels: bool,
) -> Iterator[Sentence]:
    n = len(layout.tokens or ("",))
    label = as_columns(layout.label) if labels else ()
    tokens = _as_kind(list(range(n)), inputs, source.name)
    both = next((field for field in label if field in (layout.tokens or ())), None)
    if both is not None:
        raise CommandError(
            f"{source.name}: the field {both} is the label's, and a token's too"
        )
    for rows in entry.rows(source, layout.options(source.encoding, labels)):
        lines = _taken(source, rows)
        if not entry.has_comments:  # what is written is made of the source of the rows
            lines = [(number, "", True) for number in rows.numbers]
        width = len(rows.cells[0])
        yield _sentence(rows, tokens, range(n, width), source.name, lines)


def _choose(
    n: int, layout: Layout, inputs: Inputs | None, labels: bool, where: str
) -> Any:
    """(column or columns of the tokens, columns of the label if read) for rows of `n`
    cells.
    """
    label = as_columns(layout.label) if labels else ()
    for c in (*(layout.tokens or ()), *label):
        if not -n <= c < n:
            raise CommandError(
                f"{where}: expected a column {c}; found {counted(n, 'column')}"
            )
    labelled = [c % n for c in label]
    tokens = [c % n for c in layout.tokens or ()]
    if layout.tokens is None:
        tokens = [c for c in range(n) if c not in labelled][
            : None if inputs is None else inputs.width
        ]
    if not tokens:
        raise CommandError(
            f"{where}: expected tokens and a label; found {counted(n, 'column')}"
        )
    both = next((c for c in labelled if c in tokens), None)
    if both is not None:
        raise CommandError(
            f"{where}: column {both} is the label's, and cannot be one of the tokens'"
        )
    return _as_kind(tokens, inputs, where), labelled


def _as_kind(places: list[int], inputs: Inputs | None, where: str) -> Any:
    """One place for tokens that are str, a list for tuples; checked against what a
    model reads.
    """
    if inputs is None:
        return places[0] if len(places) == 1 else places
    wrong = f"{where}: the model reads {counted(inputs.width, 'column')} of a token; "
    if len(places) < inputs.width:
        raise CommandError(f"{wrong}found {len(places)}; --tokens says which to read")
    if len(places) > inputs.width and (inputs.token is str or inputs.task == TREES):
        raise CommandError(f"{wrong}--tokens names {len(places)}")
    return places[0] if inputs.token is str else places


def _sentence(rows: Rows, tokens: Any, label: Any, name: str, lines: Any) -> Sentence:
    """The `Sentence` of rows of cells; ``tokens``: a place or places, ``label``:
    places, none if not read.
    """
    cells = rows.cells
    if isinstance(tokens, int):
        found = [row[tokens] for row in cells]
    else:
        found = [tuple([row[c] for c in tokens]) for row in cells]
    labels = [row[label[0]] for row in cells] if label else None
    of_file = rows.document, rows.weight, rows.place, rows.source
    sentence = Sentence(found, labels, lines, *of_file)
    if len(label) < 2:
        return sentence
    assert sentence.labels is not None
    heads = [
        as_head(head, name, number)
        for head, number in zip(sentence.labels, rows.numbers)
    ]
    check_heads(name, list(zip(rows.numbers, heads)), len(cells))
    return sentence._replace(labels=list(zip(heads, [row[label[1]] for row in cells])))
