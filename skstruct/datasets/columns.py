"""Corpora of dataset libraries: one row a sentence, whose columns hold lists of one entry a token."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ..data.inputs import describe

__all__ = ["from_columns"]


def from_columns(
    data: Any,
    tokens: str | Collection[str] = "tokens",
    label: str | None = None,
    *,
    label_names: Collection[str] | None = None,
) -> Any:
    """Sequences from a table with one row a sentence, as the usual dataset libraries hold them.

    Parameters
    ----------
    data : dict of columns, list of dicts, Dataset, pyarrow Table or DataFrame
        A column holds one list for each sentence. A Dataset is one split of what Hugging Face ``datasets``
        loads.
    tokens : str or list of str, default="tokens"
        The column of the tokens; with several, tokens are tuples, whose entries become str.
    label : str, optional
        The column of the labels.
    label_names : list of str, optional
        What integer labels stand for; by default what a Dataset says of the column. Negative numbers are then
        missing labels.

    Returns
    -------
    list of lists
        Or, with ``label``, the pair ``(X, y)``.

    Raises
    ------
    ValueError
        If a column is missing, or the lists of a row differ in length; the message names row and column.

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
    columns = {name: _column(data, name) for name in [*wanted, *([] if label is None else [label])]}
    first = columns[wanted[0]]
    for name, column in columns.items():
        if len(column) != len(first):
            raise ValueError(f"column {name!r} has {len(column)} rows, {wanted[0]!r} has {len(first)}")
        for k, (entries, others) in enumerate(zip(column, first)):
            if len(entries) != len(others):
                raise ValueError(
                    f"row {k}: {name!r} has {len(entries)} entries, {wanted[0]!r} has {len(others)}"
                )
    if len(wanted) == 1:
        X = first
    else:
        parts = [[list(map(str, entries)) for entries in columns[name]] for name in wanted]
        X = [list(zip(*rows)) for rows in zip(*parts)]
    if label is None:
        return X
    names = _names_of(data, label) if label_names is None else list(label_names)
    return X, [_named(k, entries, names, label) for k, entries in enumerate(columns[label])]


def _column(data, name):
    """A column as a list of lists."""
    if isinstance(data, Mapping) or hasattr(data, "column_names") or hasattr(data, "columns"):
        known = data if isinstance(data, Mapping) else getattr(data, "column_names", None)
        known = list(data.columns if known is None else known)
        if name not in known:
            raise ValueError(f"data has no column {name!r}; it has {', '.join(map(str, known))}")
        column = data[name]
    elif isinstance(data, (list, tuple)):
        missing = next(
            (k for k, row in enumerate(data) if not isinstance(row, Mapping) or name not in row), None
        )
        if missing is not None:
            raise ValueError(f"row {missing} of data has no {name!r}, got {describe(data[missing])}")
        column = [row[name] for row in data]
    else:
        raise ValueError(
            f"data must be a dict of columns, a list of dicts, a Dataset or a table, got {describe(data)}"
        )
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            column = getattr(column, method)()
            break
    rows = []
    for k, entries in enumerate(column):
        if isinstance(entries, (str, bytes, dict)) or not hasattr(entries, "__len__"):
            raise ValueError(
                f"row {k}: {name!r} must be a list of one entry a token, got {describe(entries)}"
            )
        rows.append(entries.tolist() if isinstance(entries, np.ndarray) else list(entries))
    return rows


def _names_of(data, label):
    """The names that a Dataset gives to the integers of a column; None if it has none."""
    features = getattr(data, "features", None)
    feature = features.get(label) if hasattr(features, "get") else None
    inner = getattr(feature, "feature", None)
    names = getattr(inner, "names", None)
    return None if names is None else list(names)


def _named(k, entries, names, label):
    """The labels of a row."""
    if names is None:
        return entries
    for entry in entries:
        if not isinstance(entry, (int, np.integer)) or isinstance(entry, bool) or entry >= len(names):
            raise ValueError(f"row {k}: {label!r} must be numbers below {len(names)}, got {describe(entry)}")
    return [names[entry] if entry >= 0 else None for entry in entries]
