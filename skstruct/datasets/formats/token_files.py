"""Sequences of tokens, read from a file of any format that holds them."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterator, Sequence
from typing import IO, Any, NamedTuple

from ..._data.inputs import check_choice, describe
from ..._data.partial_words import text_of_words
from ..._data.places import Where
from ..._data.source_layout import SourceLayout, plain_names
from ..._data.types import Path
from .conllu import as_head, check_heads
from .contents import Contents, where_at
from .crfsuite import without_weights
from .entry import TEXTS, Rows, TokenFormat, WordFormat
from .source import peeked
from .table import BY_NAME, FORMATS, recognised, refuse_options, unknown


class LabelledSentence(NamedTuple):
    """A sentence of a file."""

    tokens: Any  # a list of str, of tuples or of dicts; of segmented text a str
    labels: list[Any]  # of segmented text its words
    document: str | None  # which it belongs to, if the file says it


def read_tokens(
    source: Path | IO[str] | Sequence[Any],
    format: str = "auto",
    *,
    tokens: Sequence[int | str] | int | str | None = None,
    label: int | str | None = None,
    separator: str | None = None,
    comment: str | None = None,
    label_names: Any = None,
    encoding: str = "utf-8",
    return_documents: bool = False,
) -> Any:
    r"""Read tokens and labels from a file of any format that holds them.

    Parameters
    ----------
    source : str, os.PathLike, text file, or list of records
        A file; or the records themselves, dicts of lists of tokens and labels, as a
        split of Hugging Face ``datasets`` has them.
    format : str, default="auto"
        A name of the table of formats, such as "columns", "conllu" or "segmented";
        "auto" goes by the content.
    tokens : int, str, or sequence of these, optional
        The columns, or fields, of a token. By default all columns but the label's, or
        the field of the word.
    label : int or str, optional
        The column or field of the label. By default the last column, or the usual
        field.
    separator : str, optional
        For columns, as in `read_columns`.
    comment : str, optional
        For columns: the beginning of lines that are no tokens. By default lines that
        begin with ``#`` are comments where they begin sentences and have labels that no
        other line has; an empty string says that none is.
    label_names : list or dict, optional
        The names of labels that are numbers.
    encoding : str, default="utf-8"
        Encoding of a file given by its path; an open file has its own.
    return_documents : bool, default=False
        Also return the document of each sentence.

    Returns
    -------
    X : list
        The tokens of each sentence: str, or tuples if there are several columns; dicts
        of data of CRFsuite; of segmented text the raw text.
    y : list of lists
        Labels, None where a token has none; of segmented text the words.
    documents : list of str or None
        With ``return_documents=True``: the document of each sentence, None if the file
        names none.

    Raises
    ------
    ValueError
        If the format is unknown, lacks an option that is given, or a line is none of
        it. The message names file and line, and what was seen.

    Examples
    --------
    >>> import io
    >>> from skstruct.datasets import read_tokens
    >>> read_tokens(io.StringIO("Ann B-PER\nleft O\n\nRome B-LOC\n"))
    ([['Ann', 'left'], ['Rome']], [['B-PER', 'O'], ['B-LOC']])
    """
    given = {
        "tokens": tokens,
        "label": label,
        "separator": separator,
        "comment": comment,
        "label_names": label_names,
    }
    found = list(_iterated(source, format, encoding, given))
    X = [sentence.tokens for sentence in found]
    y = [sentence.labels for sentence in found]
    if return_documents:
        return X, y, [sentence.document for sentence in found]
    return X, y


def iter_tokens(
    source: Any, format: str = "auto", **options: Any
) -> Iterator[LabelledSentence]:
    """Yield (tokens, labels, document) of the sentences of a file, one by one.

    Parameters
    ----------
    source, format, **options
        As of `read_tokens`.
    """
    unknown_names = sorted(set(options) - {*_OPTIONS, "encoding"})
    if unknown_names:
        raise TypeError(f"iter_tokens has no argument {unknown_names[0]!r}")
    encoding = options.pop("encoding", "utf-8")
    return _iterated(source, format, encoding, options)


_OPTIONS = ("tokens", "label", "separator", "comment", "label_names")
"""Options of `read_tokens` that say how a file is laid out."""


def _iterated(
    source: Any, format: str, encoding: str, given: dict[str, Any]
) -> Iterator[LabelledSentence]:
    """Yield the sentences of a file."""
    known = [each.name for each in FORMATS if each.kind != TEXTS]
    check_choice("format", format, ("auto", *known))
    if isinstance(source, list | tuple) or hasattr(source, "column_names"):
        source = as_file(source)
    with peeked(source, encoding) as file:
        if format == "auto":
            found = recognised(file.head())
            if found is None:
                raise unknown(file.head())
            entry = found.format
            if entry.kind == TEXTS:
                raise ValueError(
                    f"{file.name}: looks like {entry.name} ({found.look.seen}); read it "
                    "with read_spans"
                )
        else:
            entry = BY_NAME[format]
        options = {name: value for name, value in given.items() if value is not None}
        refuse_options(entry, list(options))
        names = plain_names(options.pop("label_names", None))
        layout = SourceLayout(
            entry.name,
            encoding=encoding,
            options={} if names is None else {"label_names": names},
            **options,
        )
        contents = Contents()
        if isinstance(entry, WordFormat):
            for _, words in entry.words(file, layout, contents):
                if words:
                    yield LabelledSentence(text_of_words(words), words, None)
            return
        assert isinstance(entry, TokenFormat)
        entry.check(layout)
        if not entry.names_fields:
            layout = entry.with_fields(file.head(), layout)
        sequences = Sequences(entry, layout, os.fspath(file.name))
        for rows in without_weights(entry.rows(file, layout, contents)):
            yield LabelledSentence(*sequences.of(rows), rows.document)


def as_file(records: Any) -> IO[str]:
    """Return records that are in memory as the file of JSON that they would be."""
    file = io.StringIO(
        "".join(
            json.dumps(record, ensure_ascii=False, default=_as_plain) + "\n"
            for record in records
        )
    )
    file.name = "records"  # type: ignore[misc]  # for messages
    return file


def _as_plain(value: Any) -> Any:
    """Return an array or a number of numpy as Python has it."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise ValueError(f"records: expected lists, str and numbers, got {describe(value)}")


class Sequences:
    """Tokens and labels of what a format of tokens has read.

    Parameters
    ----------
    entry : TokenFormat
    layout : SourceLayout
    name : str
        Of the file, for messages.
    """

    def __init__(self, entry: TokenFormat, layout: SourceLayout, name: str) -> None:
        self._entry = entry
        self._layout = layout
        self._name = name
        self._width = 0  # of the rows that the columns were found for
        self._tokens: list[int] = []
        self._labels: list[int] = []

    def of(self, rows: Rows) -> tuple[list[Any], list[Any]]:
        """Return the tokens and the labels of a sentence."""
        cells = rows.cells
        if self._entry.has_features:
            return [token for _, token in cells], [label for label, _ in cells]
        if len(cells[0]) != self._width:
            self._choose(len(cells[0]))
        places = self._tokens
        if len(places) == 1:
            c = places[0]
            X = [row[c] for row in cells]
        else:
            X = [tuple([row[c] for c in places]) for row in cells]
        if len(self._labels) == 1:
            c = self._labels[0]
            return X, [row[c] for row in cells]
        return X, self._arcs(rows)

    def _choose(self, width: int) -> None:
        """Find the columns of rows of so many cells."""
        n = max(1, len(self._layout.labels))
        if self._entry.names_fields:
            self._tokens = list(range(width - n))
            self._labels = list(range(width - n, width))
        else:
            found = chosen_columns(self._layout, width, self._name)
            self._labels, self._tokens = found
        self._width = width

    def _arcs(self, rows: Rows) -> list[tuple[int, Any]]:
        """The heads of a sentence, and their labels."""
        head, label = self._labels
        name = self._name
        numbers = rows.numbers
        heads = [as_head(row[head], name, n) for row, n in zip(rows.cells, numbers)]
        check_heads(name, list(zip(numbers, heads)), len(heads))
        return [(of, row[label]) for of, row in zip(heads, rows.cells)]


def chosen_columns(
    layout: SourceLayout, width: int, name: str
) -> tuple[list[int], list[int]]:
    """Return the columns of the label, and those of the tokens."""
    labels = layout.labels or (-1,)
    for c in (*(layout.tokens or ()), *labels):
        if not isinstance(c, int) or not -width <= c < width:
            raise ValueError(f"{name}: expected a column {c}; found {width} columns")
    of_label = [int(c) % width for c in labels]
    places = [int(c) % width for c in layout.tokens or ()]
    places = places or [c for c in range(width) if c not in of_label]
    if not places:
        raise ValueError(f"{name}: expected columns of a token and a label; found 1")
    return of_label, places


_SENT_ID = re.compile(r"#\s*sent_id\s*=\s*(\S.*?)\s*$")

_IDS = ("id", "sent_id", "doc_key", "doc_id")
"""Keys of JSON that say what a record is called."""


def place_of(rows: Rows, lines: list[tuple[int, str, bool]], name: str) -> Where:
    """Return where a sentence stands, with the ``sent_id`` of CoNLL-U or the ``id`` of
    the record that it is.
    """
    if rows.place is not None:
        where = where_at(rows.place)
    else:
        where = Where(name, line=next(iter(rows.numbers), None))
    for _, line, is_token in lines:
        if is_token:
            break
        if (found := _SENT_ID.match(line)) is not None:
            return where._replace(id=found[1])
    record = rows.source if isinstance(rows.source, dict) else {}
    id = next((record[key] for key in _IDS if record.get(key) is not None), None)
    return where._replace(id=id)
