"""Columns of tokens and labels, from tables of dataset libraries and texts with spans.

They become texts with spans, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import accumulate, groupby
from typing import Any, Literal

import numpy as np

from .._data.alignment_report import labels_of
from .._data.inputs import PlaceError, check_X_y, describe, is_int
from .._data.places import by_sequence, in_sequence, refuse_str
from .._data.schemes import labels_to_spans
from .._data.spans import Span
from .._data.types import Corpus, Texts
from .._taggers.span_tagger import SpanTagger


def from_columns(
    data: Any,
    tokens: str | Collection[str] = "tokens",
    label: str | None = None,
    *,
    label_names: Collection[str] | None = None,
) -> list[Any] | tuple[list[Any], list[list[Any]]]:
    """Read sequences from a table with one row a sentence.

    The usual dataset libraries hold them so.

    Parameters
    ----------
    data : dict of columns, list of dicts, Dataset, pyarrow Table or DataFrame
        A column holds one list for each sentence. A Dataset is one split of what
        Hugging Face ``datasets`` loads.
    tokens : str or list of str, default="tokens"
        The column of the tokens; with several, tokens are tuples, whose entries become
        str.
    label : str, optional
        The column of the labels.
    label_names : list of str, optional
        The names of integer labels; by default those that a Dataset has for the column.
        Negative numbers, and entries without a value, are then missing labels.

    Returns
    -------
    list of lists
        Or, with ``label``, the pair ``(X, y)``.

    Raises
    ------
    ValueError
        If a column is missing, the lists of a row differ in length, or one of several
        columns of tokens lacks a value; the message names row and column.

    Examples
    --------
    >>> from skstruct.datasets import from_columns
    >>> data = {"tokens": [["Ada", "sleeps"], ["Hi"]], "pos": [[1, 2], [3]], "ner_tags": [[1, 0], [0]]}
    >>> X, y = from_columns(data, ["tokens", "pos"], "ner_tags", label_names=["O", "B-PER"])
    >>> X[0], y
    ([('Ada', '1'), ('sleeps', '2')], [['B-PER', 'O'], ['O']])
    """
    wanted = [tokens] if isinstance(tokens, str) else list(tokens)
    if not wanted:
        raise ValueError("tokens must name at least one column")
    columns = {
        name: _column(data, name)
        for name in [*wanted, *([] if label is None else [label])]
    }
    first = columns[wanted[0]]
    for name, column in columns.items():
        if len(column) != len(first):
            raise ValueError(
                f"column {name!r} has {len(column)} rows, {wanted[0]!r} has {len(first)}"
            )
        for k, (row, other) in enumerate(zip(column, first)):
            if len(row) != len(other):
                raise ValueError(
                    f"row {k}: {name!r} has {len(row)} entries, {wanted[0]!r} has {len(other)}"
                )
    X = first
    if len(wanted) > 1:
        parts = [
            [_strings(k, entries, name) for k, entries in enumerate(columns[name])]
            for name in wanted
        ]
        X = [list(zip(*rows)) for rows in zip(*parts)]
    if label is None:
        return X
    refuse_str("label_names", label_names, "names of labels")
    names = _names_of(data, label) if label_names is None else list(label_names)
    return X, [
        _named(k, entries, names, label) for k, entries in enumerate(columns[label])
    ]


def _column(data: Any, name: str) -> list[list[Any]]:
    """Return a column as a list of lists."""
    if (
        isinstance(data, Mapping)
        or hasattr(data, "column_names")
        or hasattr(data, "columns")
    ):
        known = (
            data if isinstance(data, Mapping) else getattr(data, "column_names", None)
        )
        known = list(data.columns if known is None else known)
        if name not in known:
            raise ValueError(
                f"data has no column {name!r}; it has {', '.join(map(str, known))}"
            )
        column = data[name]
    elif isinstance(data, (list, tuple)):
        for k, row in enumerate(data):
            if not isinstance(row, Mapping) or name not in row:
                raise ValueError(
                    f"row {k} of data has no {name!r}, got {describe(row)}"
                )
        column = [row[name] for row in data]
    else:
        kinds = "a dict of columns, a list of dicts, a Dataset or a table"
        raise ValueError(f"data must be {kinds}, got {describe(data)}")
    method = next(
        (name for name in ("to_pylist", "to_list", "tolist") if hasattr(column, name)),
        None,
    )
    rows = []
    for k, row in enumerate(column if method is None else getattr(column, method)()):
        if isinstance(row, (str, bytes, dict)) or not hasattr(row, "__len__"):
            raise ValueError(
                f"row {k}: {name!r} must be a list of one entry a token, got {describe(row)}"
            )
        rows.append(row.tolist() if isinstance(row, np.ndarray) else list(row))
    return rows


def _strings(k: int, entries: list[Any], name: str) -> list[str]:
    """Return the entries of a row as str; one that is missing is no word."""
    if set(map(type, entries)) <= {str}:
        return entries
    for t, entry in enumerate(entries):
        if _is_missing(entry):
            text = f"row {k}, entry {t}: {name!r} has no value, got {describe(entry)}"
            raise ValueError(f"{text}; fill it first, for example with an empty string")
    return list(map(str, entries))


def _is_missing(entry: Any) -> bool:
    """Tell whether an entry is None, NaN, or what pandas has for these."""
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(entry, (float, np.floating)) and bool(np.isnan(entry))


def _names_of(data: Any, label: str) -> list[str] | None:
    """Return the names that a Dataset gives to the integers of a column, or None."""
    features = getattr(data, "features", None)
    get = getattr(features, "get", None)
    feature = None if get is None else get(label)
    names = getattr(getattr(feature, "feature", None), "names", None)
    return None if names is None else list(names)


def _named(
    k: int, entries: list[Any], names: list[str] | None, label: str
) -> list[Any]:
    """Return the labels of a row; None where there is none."""
    entries = [None if _is_missing(entry) else entry for entry in entries]
    if names is None:
        return entries
    entries = [-1 if entry is None else entry for entry in entries]
    for entry in entries:
        if not is_int(entry) or entry >= len(names):
            raise ValueError(
                f"row {k}: {label!r} must be numbers below {len(names)}, got {describe(entry)}"
            )
    return [names[entry] if entry >= 0 else None for entry in entries]


def spans_to_columns(
    X: Texts,
    y: Corpus,
    *,
    tokenizer: str | Callable[[str], Any] = "words",
    scheme: Literal["BIOES", "BILOU", "BIO", "IOB1", "BMES"] = "BIO",
    align: Literal["nearest", "expand", "contract", "unknown", "error"] = "nearest",
    overlap: Literal["error", "longest"] = "error",
) -> tuple[list[list[str]], list[list[str | None]]]:
    """Make tokens and labels of texts with spans, for a tagger or a file of columns.

    Parameters
    ----------
    X : list of str
        Texts.
    y : list of lists of (start, end, label)
        Their spans.
    tokenizer, scheme, align, overlap
        As of `skstruct.SpanTagger`, which also says what becomes of spans that do not
        end where tokens do.

    Returns
    -------
    tokens : list of lists of str
        In Unicode's normal form C; one list a text.
    labels : list of lists of str
        None where a span with the label None is, and outside of spans where a
        `PartialSpans` has them.

    Examples
    --------
    >>> from skstruct.datasets import spans_to_columns
    >>> spans_to_columns(["Ann, in Rome"], [[(0, 3, "PER"), (8, 12, "LOC")]])
    ([['Ann', ',', 'in', 'Rome']], [['B-PER', 'O', 'O', 'B-LOC']])
    """
    tagger = SpanTagger(
        tokenizer=tokenizer, scheme=scheme, align=align, overlap=overlap
    )
    tagger._validate_params()
    tokens, given, aligned = tagger._aligned(X, y)
    labels: list[list[Any]] = labels_of(aligned, given, tokens.first, scheme)
    for i, types in enumerate(given.types):
        if types is not None:  # elsewhere there may be spans of other types
            labels[i] = [None if label == "O" else label for label in labels[i]]
    return by_sequence(tokens.words(layout=False), tokens.first), labels


def columns_to_spans(
    X: Corpus, y: Corpus, scheme: str = "BIO", joint: str = " "
) -> tuple[list[str], list[list[Span]]]:
    """Make texts with spans of tokens and labels.

    Parameters
    ----------
    X : list of lists of str or tuple
        Tokens; of tuples the first entry is the word.
    y : list of lists of str
        Their labels; None becomes a span with the label None.
    scheme : str, default="BIO"
        The scheme of the labels, which are read as in conlleval; see
        `skstruct.schemes.labels_to_spans`.
    joint : str, default=" "
        The text between two tokens.

    Returns
    -------
    texts : list of str
    spans : list of lists of Span

    Examples
    --------
    >>> from skstruct.datasets import columns_to_spans
    >>> columns_to_spans([["Ann", "Lee", "smiles"]], [["B-PER", "I-PER", "O"]])
    (['Ann Lee smiles'], [[Span(start=0, end=7, label='PER')]])
    """
    X, y, _ = check_X_y(X, y)
    texts = []
    spans = []
    for i, (tokens, labels) in enumerate(zip(X, y)):
        words = [
            token[0] if isinstance(token, (tuple, list)) and token else token
            for token in tokens
        ]
        for t, word in enumerate(words):
            if not isinstance(word, str):
                wrong = (
                    f"expected a str, or a tuple whose first entry is one, got {word!r}"
                )
                raise PlaceError(i, t, wrong, "X")
        with in_sequence(i, "y"):
            spans.append(_spans_of(words, list(labels), scheme, len(joint)))
        texts.append(joint.join(words))
    return texts, spans


def _spans_of(
    words: list[str], labels: Sequence[Any], scheme: str, gap: int
) -> list[Span]:
    """Return the spans of a text in order."""
    # each behind the joint
    ends = list(accumulate((len(word) + gap for word in words), initial=0))
    found: list[tuple[int, int, str | None]]
    found = labels_to_spans(  # type: ignore[assignment]  # None is appended
        ["O" if label is None else label for label in labels], scheme
    )
    for start, _, label in found:
        if not label:
            raise PlaceError(
                None,
                start,
                f"the label {labels[start]!r} has no type, which a span needs",
                "y",
            )
    for unknown, run in groupby(range(len(labels)), lambda t: labels[t] is None):
        if unknown:
            places = list(run)
            found.append((places[0], places[-1] + 1, None))
    return [
        Span(ends[a], ends[b] - gap, label)
        for a, b, label in sorted(found, key=lambda f: f[:2])
    ]
