"""Sentences of corpus files on the command line, and the lines that they were made of.

Formats of the table do the reading; an `input_files.Source` between them and the file
keeps the lines of the sentence at hand, so that a command can give back what it read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from .._data.inputs import TREES
from .._data.partial_words import text_of_words
from .._data.places import counted
from ..datasets.formats.conllu import as_head, check_heads
from ..datasets.formats.contents import Contents
from ..datasets.formats.entry import Rows, TokenFormat, WordFormat
from ..datasets.formats.source import Source
from .common import CommandError
from .input_files import warning_of_header

if TYPE_CHECKING:
    from .._data.inputs import Inputs
    from .corpus import Layout


_KEYS = ("id", "sent_id", "doc_key", "doc_id")
"""Keys of JSON that say what a record is called."""

_SENT_ID = re.compile(r"#\s*sent_id\s*=\s*(\S.*?)\s*$")


class Sentence(NamedTuple):
    """One sentence of a file.

    Attributes
    ----------
    tokens : list of str, tuple or dict, or str
        Its tokens; of segmented text the raw text.
    labels : list or None
        Of each token its label, str, or of trees (head, label); of segmented text the
        words. None if they are not read.
    lines : list of (int, str, bool)
        The number of each line, its text without the end, and whether a token stands
        on it.
    document : str or None
        The document that it is a part of, if the file says it.
    weight : float
        Of the sentence, as data of CRFsuite may say it.
    place : str or None
        For errors, where the numbers of lines say little.
    source : object
        What `TokenFormat.labelled` needs to write the sentence again; see `Rows`.
    """

    tokens: list[Any] | str
    labels: list[Any] | None
    lines: list[tuple[int, str, bool]]
    document: str | None = None
    weight: float = 1.0
    place: str | None = None
    source: Any = None

    @property
    def numbers(self) -> list[int]:
        """The numbers of the lines that hold tokens."""
        return [number for number, _, is_token in self.lines if is_token]

    @property
    def id(self) -> Any:
        """Return what it is called: the ``sent_id`` of CoNLL-U, or the ``id`` of the
        record that it is; None if it is not said.
        """
        for _, line, is_token in self.lines:
            if is_token:
                break
            found = _SENT_ID.match(line)
            if found is not None:
                return found[1]
        record = self.source if isinstance(self.source, dict) else {}
        return next((record[key] for key in _KEYS if record.get(key) is not None), None)


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
    entry = layout.entry
    if isinstance(entry, WordFormat):
        return _of_words(source, layout, entry)
    assert isinstance(entry, TokenFormat)
    if entry.has_features:
        return _of_features(source, layout, entry)
    read = _of_fields if entry.names_fields else _of_columns
    return read(source, layout, entry, inputs, labels)


def _taken(source: Source, rows: Rows) -> list[tuple[int, str, bool]]:
    """Return the lines read since the last call, as `Sentence` has them."""
    numbers = set(rows.numbers)
    return [(n, line, n in numbers) for n, line in source.take()]


def _of_features(
    source: Source, layout: Layout, entry: TokenFormat
) -> Iterator[Sentence]:
    """Yield sentences whose tokens are dicts of ready-made features."""
    for rows in entry.rows(source, layout.how, Contents()):
        lines = _taken(source, rows)
        labels = [label for label, _ in rows.cells]
        tokens = [token for _, token in rows.cells]
        yield Sentence(tokens, labels, lines, rows.document, rows.weight)


def _of_words(source: Source, layout: Layout, entry: WordFormat) -> Iterator[Sentence]:
    """Yield lines of segmented text."""
    for _, words in entry.words(source, layout.how, Contents()):
        (number, text), *_ = source.take()
        raw = text_of_words(words)
        if not entry.lines_are_text or layout.how.separator is not None:
            text = raw  # the line has more in it than what is to be segmented
        yield Sentence(raw, words, [(number, text, bool(words))])


def _of_columns(
    source: Source,
    layout: Layout,
    entry: TokenFormat,
    inputs: Inputs | None,
    labels: bool,
) -> Iterator[Sentence]:
    """Yield sentences of a format whose columns have numbers, and are chosen here."""
    read = entry.rows(source, layout.how, Contents(), labels)
    found = ((rows, _taken(source, rows)) for rows in read)
    first = next(found, None)
    if first is None:
        return
    number, text = next((n, line) for n, line, of_token in first[1] if of_token)
    width = len(first[0].cells[0])
    where = f"{source.name}, line {number}"
    tokens, label = _chosen_columns(width, layout, inputs, labels, where)
    column = label[0] if len(label) == 1 else None
    pairs = chain([first], found)
    for rows, lines in warning_of_header(source, pairs, number, text, column):
        yield _sentence(rows, tokens, label, source.name, lines)


def _of_fields(
    source: Source,
    layout: Layout,
    entry: TokenFormat,
    inputs: Inputs | None,
    labels: bool,
) -> Iterator[Sentence]:
    """Yield sentences of a format whose fields have names: its rows hold those chosen,
    the token's first.
    """
    n = len(layout.tokens or ("",))
    label = as_columns(layout.label) if labels else ()
    tokens = _token_cells(list(range(n)), inputs, source.name)
    both = next((field for field in label if field in (layout.tokens or ())), None)
    if both is not None:
        raise CommandError(
            f"{source.name}: the field {both} is the label's, and a token's too"
        )
    read = entry.rows(source, layout.how, Contents(), labels)
    for rows in read:
        lines = _taken(source, rows)
        # What is written is then made of `Rows.source`, not of lines.
        if not entry.has_comments:
            lines = [(number, "", True) for number in rows.numbers]
        width = len(rows.cells[0])
        yield _sentence(rows, tokens, range(n, width), source.name, lines)


def _chosen_columns(
    n: int, layout: Layout, inputs: Inputs | None, labels: bool, where: str
) -> tuple[int | list[int], list[int]]:
    """Return which of the `n` cells of a row are the token's, as `_token_cells` has them,
    and which are the label's, if that is read.

    ``where`` begins errors: the file, and the line of the first token.
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
    return _token_cells(tokens, inputs, where), labelled


def _token_cells(
    cells: list[int], inputs: Inputs | None, where: str
) -> int | list[int]:
    """Return the one cell of tokens that are str, or the cells of tokens that are tuples,
    as the model reads them, if there is one.

    Raises
    ------
    CommandError
        If the model reads other numbers of cells; ``where`` begins the message.
    """
    if inputs is None:
        return cells[0] if len(cells) == 1 else cells
    wrong = f"{where}: the model reads {counted(inputs.width, 'column')} of a token; "
    if len(cells) < inputs.width:
        raise CommandError(
            f"{wrong}found {len(cells)}; choose which to read with --tokens"
        )
    if len(cells) > inputs.width and (inputs.token is str or inputs.task == TREES):
        raise CommandError(f"{wrong}--tokens names {len(cells)}")
    return cells[0] if inputs.token is str else cells


def _sentence(rows: Rows, tokens: Any, label: Any, name: str, lines: Any) -> Sentence:
    """Make a `Sentence` of rows of cells.

    Parameters
    ----------
    rows : Rows
    tokens : int or list of int
        The cells of a token, as `_token_cells` has them.
    label : sequence of int
        The cells of its label: of trees two, none if it is not read.
    name : str
        Of the file, for errors.
    lines : list of (int, str, bool)
        As of `Sentence`.
    """
    cells = rows.cells
    if isinstance(tokens, int):
        found = [row[tokens] for row in cells]
    else:
        found = [tuple([row[c] for c in tokens]) for row in cells]
    labels = [row[label[0]] for row in cells] if label else None
    sentence = Sentence(
        tokens=found,
        labels=labels,
        lines=lines,
        document=rows.document,
        weight=rows.weight,
        place=rows.place,
        source=rows.source,
    )
    if len(label) < 2:
        return sentence
    assert sentence.labels is not None
    heads = [
        as_head(head, name, number)
        for head, number in zip(sentence.labels, rows.numbers)
    ]
    check_heads(name, list(zip(rows.numbers, heads)), len(cells))
    return sentence._replace(labels=list(zip(heads, [row[label[1]] for row in cells])))
