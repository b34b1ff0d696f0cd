"""Sequences of tokens, read from a file of any format that holds them."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Sequence
from typing import IO, Any, NamedTuple

from ..._data.inputs import check_choice, describe
from ..._data.types import Path
from .crfsuite import without_weights
from .entry import TEXTS, TokenFormat, TokenOptions, WordFormat
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
        Of columns: as of `read_columns`.
    comment : str, optional
        Of columns: what lines begin with that are no tokens. By default lines that begin
        with ``#`` are comments where they begin sentences and have labels that no other
        line has; an empty string says that none is.
    label_names : list or dict, optional
        What labels that are numbers stand for.
    encoding : str, default="utf-8"
        Of a path; an open file has its own.
    return_documents : bool, default=False
        Whether to return the document of each sentence, too.

    Returns
    -------
    X : list
        Of each sentence its tokens: str, or tuples where there are several columns;
        dicts of data of CRFsuite; of segmented text the raw text.
    y : list of lists
        Labels, None where a token has none; of segmented text the words.
    documents : list of str or None
        With ``return_documents=True``: which document each sentence belongs to, None
        where the file says nothing.

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
    several = (tokens,) if isinstance(tokens, int | str) else tokens
    chosen = None if several is None else tuple(several)
    options = TokenOptions(chosen, label, separator, comment, label_names, encoding)
    found = list(_iterated(source, format, options))
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
    tokens = options.pop("tokens", None)
    several = (tokens,) if isinstance(tokens, int | str) else tokens
    chosen = None if several is None else tuple(several)
    return _iterated(source, format, TokenOptions(chosen, **options))


def _iterated(
    source: Any, format: str, options: TokenOptions
) -> Iterator[LabelledSentence]:
    """Yield the sentences of a file."""
    known = [each.name for each in FORMATS if each.kind != TEXTS]
    check_choice("format", format, ("auto", *known))
    if isinstance(source, list | tuple) or hasattr(source, "column_names"):
        source = _as_file(source)
    with peeked(source, options.encoding) as file:
        if format == "auto":
            found = recognised(file.head())
            if found is None:
                raise unknown(file.head())
            entry = found.format
            if entry.kind == TEXTS:
                raise ValueError(
                    f"{file.name}: looks like {entry.name} ({found.look.seen}), which "
                    "read_spans reads"
                )
        else:
            entry = BY_NAME[format]
        refuse_options(entry, _given(options))
        if isinstance(entry, WordFormat):
            for _, words in entry.words(file, options):
                raw = "".join(
                    word if isinstance(word, str) else word[0] for word in words
                )
                if words:
                    yield LabelledSentence(raw, words, None)
            return
        assert isinstance(entry, TokenFormat)
        yield from _sentences(file, entry, options)


def _as_file(records: Any) -> IO[str]:
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


def _given(options: TokenOptions) -> list[str]:
    """The names of options that are given."""
    names = "tokens", "label", "separator", "comment", "label_names"
    return [name for name in names if getattr(options, name) is not None]


def _sentences(
    file: Any, entry: TokenFormat, options: TokenOptions
) -> Iterator[LabelledSentence]:
    """Yield the sentences of a format of tokens."""
    entry.check(options)
    if not entry.names_fields:
        options = entry.with_fields(file.head(), options)
    name = os.fspath(file.name)
    for rows in without_weights(entry.rows(file, options)):
        cells = rows.cells
        if entry.has_features:
            labels = [label for label, _ in cells]
            yield LabelledSentence([t for _, t in cells], labels, rows.document)
            continue
        width = len(cells[0])
        if entry.names_fields:
            places = list(range(width - 1))
            of_label = width - 1
        else:
            of_label, places = _places(options, width, name)
        X = [
            row[places[0]] if len(places) == 1 else tuple([row[c] for c in places])
            for row in cells
        ]
        yield LabelledSentence(X, [row[of_label] for row in cells], rows.document)


def _places(options: TokenOptions, width: int, name: str) -> tuple[int, list[int]]:
    """The column of the label, and those of the tokens."""
    label = -1 if options.label is None else options.label
    for c in (*(options.tokens or ()), label):
        if not isinstance(c, int) or not -width <= c < width:
            raise ValueError(f"{name}: expected a column {c}; found {width} columns")
    of_label = int(label) % width
    places = [int(c) % width for c in options.tokens or ()]
    places = places or [c for c in range(width) if c != of_label]
    if not places:
        raise ValueError(f"{name}: expected columns of a token and a label; found 1")
    return of_label, places
