"""The kinds of elements, columns and arrays: one table for tokens, labels, spans and
texts.

=============================  ======================================================
what is handed over            what is read
=============================  ======================================================
a subclass of str              the string that it holds, also where ``str(x)`` is
                               another: a member of an enumeration, ``numpy.str_``
a label of a subclass of str   the same; predictions give back the object that came
                               first in training
a scalar of numpy,             the Python number, str or bool
a tensor without dimensions
Series, Index                  their ``to_list()``
arrays of pyarrow              their ``to_pylist()``
what has ``__array__``         the array: tensors, ``h5py.Dataset``, tables of pyarrow
an array of one dimension      its elements
an array of numbers with two   rows of numbers, one a token
an array of strings or         columns, as those of a data frame: tokens are tuples,
objects with two, or a slice   str of one column; columns of numbers are rows beside
of one with three              them. Strings stay strings: "007" is no number
a column of categories         strings, also where the categories are numbers
=============================  ======================================================

A *list* of str is a list of ready-made features, an array of str never is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .places import PLACE, PlaceError

exact = str.__str__
"""The string that an object of a subclass of str holds, whatever ``str(x)`` is."""

TEXT_KINDS = "OUT"
"""Kinds of dtypes whose arrays may hold strings: objects, and those of numpy."""


def spelled(value: Any) -> str:
    """Return the text of a value: of a str, and of any subclass, the string that it
    holds.
    """
    return exact(value) if isinstance(value, str) else str(value)


def label_text(label: Any) -> str:
    """Return the text of a label for a message or a table, where the empty label is
    written as two quotes.
    """
    return spelled(label) or "''"


def exact_strings(items: Any) -> Any:
    """Return the items, with plain str for subclasses of str; themselves if none is."""
    kinds = set(map(type, items))
    if kinds <= {str} or not any(issubclass(kind, str) for kind in kinds):
        return items
    return [exact(item) if isinstance(item, str) else item for item in items]


def is_tensor(kind: type) -> bool:
    """Tell whether a type is that of arrays, and not of scalars of numpy."""
    return hasattr(kind, "__array__") and not issubclass(kind, np.generic)


def plain_value(value: Any) -> Any:
    """Return a label as a Python value: scalars of numpy and tensors are unpacked."""
    if isinstance(value, np.generic):
        return value.item()
    if is_tensor(type(value)) and np.ndim(value) == 0:
        return np.asarray(value).item()
    return value


_KINDS = (bool, int, float, str)


def kind_of(label: Any) -> type:
    """Return the type of a label in label sets and files: str of a subclass of str."""
    return next((kind for kind in _KINDS if isinstance(label, kind)), type(label))


def stored(label: Any) -> Any:
    """Return a label as files have it: what an object of a subclass of str, int or
    float holds.
    """
    kind = kind_of(label)
    if type(label) is kind:
        return label
    return exact(label) if kind is str else kind.__new__(kind, label)


def is_frame(value: Any) -> bool:
    """Tell whether it is a pandas or polars DataFrame."""
    return (
        hasattr(value, "columns")
        and hasattr(value, "to_numpy")
        and getattr(value, "ndim", 2) == 2
    )


def cells_of(value: Any, kinds: tuple[type, ...]) -> list[Any] | None:
    """Return the cells of a data frame of one column that are all of some kinds: texts,
    or lists of tokens, as other programs hand them over. None of anything else.
    """
    if not is_frame(value) or value.shape[1] != 1:
        return None
    if hasattr(value, "iloc"):
        cells = value.iloc[:, 0].tolist()
    else:  # of polars
        cells = value.to_series(0).to_list()
    return cells if all(isinstance(cell, kinds) for cell in cells) else None


def is_arrow_table(value: Any) -> bool:
    """Tell whether it is a Table or RecordBatch of pyarrow, whose array has its
    columns.
    """
    return hasattr(value, "column_names") and hasattr(value, "__array__")


def opened(value: Any, sequence: int | None = None, name: str | None = None) -> Any:
    """Return a container as a list, a tuple or an array; data frames, and anything
    else, as is.

    Parameters
    ----------
    value : object
    sequence : int, optional
        Which sequence it is, for the error.
    name : str, optional
        What the error calls the argument.

    Raises
    ------
    PlaceError
        If something has ``__array__`` and that fails, as of a tensor on another device.
    """
    if isinstance(value, (list, tuple, np.ndarray, str, bytes, dict, np.generic)):
        return value
    if type(value).__name__.endswith("GroupBy"):
        called = "X" if name is None else name
        raise ValueError(
            f"{called} is a {type(value).__name__}, which pairs keys with rows; write "
            f"{called} = [rows for _, rows in {called}]"
        )
    if is_frame(value):
        return value
    if hasattr(value, "to_pylist") and not is_arrow_table(value):
        return value.to_pylist()
    if hasattr(value, "to_list"):
        return value.to_list()
    if not hasattr(value, "__array__"):
        return value
    try:
        return np.asarray(value)
    except (RuntimeError, TypeError, ValueError) as error:
        wrong = f"the {type(value).__name__} cannot be read as an array: {error}"
        wrong = wrong if sequence is None else f"{PLACE}: {wrong}"
    if sequence is None:
        raise ValueError(wrong if name is None else f"{name}: {wrong}")
    raise PlaceError(sequence, None, wrong, name)


def elements(container: Any) -> Any:
    """Return the elements of a sequence-like object, by position."""
    found = opened(container)
    if isinstance(found, np.ndarray) and found.ndim == 1:
        return found.tolist()  # what is masked is None
    return found if type(found) in (list, tuple) else list(found)


def are_columns(array: np.ndarray) -> bool:
    """Tell whether an array holds columns of tokens, some of which may be strings."""
    return (
        isinstance(array, np.ndarray)
        and array.ndim == 2
        and array.dtype.kind in TEXT_KINDS
    )


def columns_in(array: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Return (number, column) of each column of an array of two dimensions."""
    return [(c, array[:, c]) for c in range(array.shape[1])]


def word_of(token: Any) -> str:
    """Return what of a token is compared with others: its first column, or all."""
    if isinstance(token, str):
        return token
    return token[0] if isinstance(token, tuple) else repr(token)
