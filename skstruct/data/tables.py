"""Matrices, padded arrays and data frames: the rows of numbers and the strings in them, after a check."""

from __future__ import annotations

import datetime
from numbers import Number

import numpy as np
from scipy import sparse

from .places import PLACE, PlaceError, describe, elements, place

SMALL = {np.dtype(name) for name in ("bool", "int8", "uint8", "int16", "uint16", "float16", "float32")}
"""Types whose values float32 holds exactly."""


def is_frame(value):
    """Whether it is a pandas or polars DataFrame."""
    return hasattr(value, "columns") and hasattr(value, "to_numpy") and getattr(value, "ndim", 2) == 2


def as_float(array):
    """An array of numbers as float32, where that holds its values, or float64; None if there are others.

    What is masked becomes NaN.
    """
    if array.dtype.kind == "O":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            return None
    if array.dtype.kind not in "biuf":
        return None
    if isinstance(array, np.ma.MaskedArray):
        array = array.astype(np.result_type(array.dtype, np.float32)).filled(np.nan)
    return np.ascontiguousarray(array, np.float32 if array.dtype in SMALL else np.float64)


def as_rows(matrix):
    """CSR with sorted columns and without duplicates; the matrix itself if it is that.

    Raises
    ------
    ValueError
        If values are no numbers.
    """
    rows = matrix.tocsr()
    if rows.dtype.kind not in "biuf":
        raise ValueError(f"numbers are expected, got values of type {rows.dtype}")
    if not rows.has_canonical_format:
        rows = rows.copy() if rows is matrix else rows
        rows.sum_duplicates()
    return rows


def checked_names(names, n_columns):
    """Names of columns as a list of str."""
    found = [str(name) for name in names]
    if len(found) != n_columns:
        raise ValueError(f"feature_names must be {n_columns} names, one a column, got {len(found)}")
    return found


def check_finite(X, name="X"):
    """Raise for a value that is not finite; the message names sequence, position and column.

    Parameters
    ----------
    X : SequenceMatrix
    """
    matrix, is_sparse = X.matrix, sparse.issparse(X.matrix)
    values = matrix.data if is_sparse else matrix.ravel()
    with np.errstate(all="ignore"):
        if values.dtype.kind != "f" or np.isfinite(values.sum()):
            return
    for first in range(0, values.shape[0], 2**20):
        wrong = np.flatnonzero(~np.isfinite(values[first : first + 2**20]))
        if wrong.shape[0]:
            break
    else:
        return  # the sum alone was too large
    k = first + int(wrong[0])
    if is_sparse:
        row, column = int(np.searchsorted(matrix.indptr, k, side="right")) - 1, int(matrix.indices[k])
    else:
        row, column = divmod(k, matrix.shape[1])
    value = float(values[k])
    called = "" if X.names is None else f" ({X.names.all()[column]!r})"
    hint = "; if it is padding: SequenceMatrix.from_padded" if np.isnan(value) else ""
    text = f"{PLACE}, column {column}{called}: {value} is not finite{hint}"
    raise PlaceError(*place(X.offsets, row), text, name)


def unpadded(X, mask):
    """(rows, lengths) of a padded array; see ``SequenceMatrix.from_padded``."""
    array = np.asanyarray(X)
    array = as_float(array) if array.ndim == 3 else None
    if array is None:
        raise ValueError(
            f"a padded array has three dimensions (sequences, positions, columns) of numbers, got "
            f"{np.ndim(X)} dimensions of type {np.asarray(X).dtype}"
        )
    n, T = array.shape[:2]
    if mask is None:
        padding = np.isnan(array).all(axis=2) if array.shape[2] else np.zeros((n, T), np.bool_)
        lengths = T - np.cumprod(padding[:, ::-1], axis=1).sum(axis=1)
        used = np.arange(T) < lengths[:, None]
    else:
        used = np.asarray(mask)
        if used.shape != (n, T) or used.dtype.kind not in "biu":
            raise ValueError(f"mask must be bool of shape ({n}, {T}), got {used.dtype} {used.shape}")
        used = used.astype(np.bool_)
        lengths = used.sum(axis=1)
        gaps = np.flatnonzero((np.diff(used.astype(np.int8), axis=1, prepend=0) == 1).sum(axis=1) > 1)
        if gaps.shape[0]:
            raise PlaceError(gaps[0], None, "the mask has padding between tokens", "X")
    return array[used], lengths.astype(np.int64)


# --------------------------------------------------------------------------------------------------
# Data frames
# --------------------------------------------------------------------------------------------------
def together(frames):
    """One frame of several."""
    first = frames[0]
    if len(frames) == 1:
        return first
    if hasattr(first, "iloc"):
        import pandas

        return pandas.concat(frames, ignore_index=True)
    import polars

    return polars.concat(frames, how="vertical_relaxed")


def columns_of(frame):
    """(name, column) of a frame, in which pandas allows a name twice."""
    by_place = getattr(frame, "iloc", None)
    if by_place is None:
        return [(str(title), frame[title]) for title in frame.columns]
    return [(str(title), by_place[:, c]) for c, title in enumerate(frame.columns)]


def as_matrix(matrix):
    """(matrix, names or None) of what users call a matrix: CSR, or float32 or float64 in C order."""
    if sparse.issparse(matrix):
        return as_rows(matrix), None
    if is_frame(matrix):
        frame = check_frame(matrix)
        block, names, strings, titles = parts_of(frame, np.array([0, len(frame)]))
        if strings:
            raise ValueError(f"column {titles[0]!r} holds no numbers, got {describe(strings[0][:1])}")
        return block, names
    array = np.asanyarray(matrix)
    found = as_float(array) if array.ndim == 2 else None
    if found is None:
        raise ValueError(
            f"matrix must have two dimensions, tokens and columns, and hold numbers; got "
            f"{array.ndim} dimensions of type {array.dtype}"
        )
    return found, None


def parts_of(frame, offsets, name="X"):
    """(numbers, their names, strings by column, their names) of a frame.

    Parameters
    ----------
    frame : pandas or polars DataFrame
    offsets : ndarray of shape (n + 1,)
        Where each sequence starts, for error messages.
    name : str
        What errors call the corpus.

    Returns
    -------
    numbers : ndarray of shape (n_tokens, n_columns), float32 or float64
    names : list of str
    strings : list of lists of str
    titles : list of str

    Raises
    ------
    ValueError
        If a column holds neither, or a string is missing; the message names the place.
    """
    numbers, names, strings, titles = [], [], [], []
    for title, column in columns_of(frame):
        found = numbers_of(column)
        if found is not None:
            numbers.append(found)
            names.append(title)
            continue
        titles.append(title)
        strings.append(_strings_of(column, title, offsets, name))
    block = np.stack(numbers, axis=1) if numbers else np.empty((len(frame), 0), np.float32)
    return block, names, strings, titles


def _is_category(column):
    return str(column.dtype).lower().startswith(("category", "categorical", "enum"))


def numbers_of(column):
    """A column as float32 or float64, NaN where a value is missing; None if it holds no numbers."""
    if _is_category(column):
        return None
    if hasattr(column, "iloc") and not isinstance(column.dtype, np.dtype):
        kind = getattr(column.dtype, "kind", "O")  # pandas' own types, whose missing values are NA
        return column.to_numpy(dtype=np.float64, na_value=np.nan) if kind in "biuf" else None
    array = np.asarray(column)
    if array.ndim != 1 or array.dtype.kind not in "biufO":
        return None
    if array.dtype.kind == "O":
        first = next((v for v in array if not _is_missing(v)), None)
        if first is None or isinstance(first, str) or not isinstance(first, Number):
            return None
        array = np.array([np.nan if _is_missing(v) else v for v in array], dtype=object)
    return as_float(array)


def _is_missing(value):
    """Whether it is None, NaN, NaT or NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and value != value


def _strings_of(column, title, offsets, name):
    """A column as a list of str, categories spelled out."""
    values = list(elements(column))
    spelled = _is_category(column)
    for k, value in enumerate(values):
        if type(value) is str:
            continue
        first = None if spelled else next((v for v in values if not _is_missing(v)), None)
        if isinstance(first, Number):  # and something else besides, or the column would be one of numbers
            wrong = (k for k, v in enumerate(values) if not (isinstance(v, Number) or _is_missing(v)))
            k = next(wrong, k)  # or numbers that no float holds
            text = f"column {title!r}: expected a number, got {describe(values[k])}"
            raise PlaceError(*place(offsets, k), text, name)
        if _is_missing(value):
            text = f"column {title!r} has no value; fill it first, with an empty string for one"
            raise PlaceError(*place(offsets, k), text, name)
        if not (isinstance(value, str) or spelled):
            raise PlaceError(*place(offsets, k), _neither(value, title), name)
        values[k] = str(value)
    return values


def _neither(value, title):
    """The error for a value that is neither a string nor a number."""
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)):
        return (
            f"column {title!r} holds dates or times, got {value}; make strings or numbers of them "
            f"first, such as the day of the week"
        )
    if isinstance(value, (list, tuple, np.ndarray)) or hasattr(value, "to_list"):
        return f"column {title!r} holds lists; give each of their numbers a column"
    return f"column {title!r}: expected a str, got {describe(value)}"


def labels_of(column):
    """A column of labels as a list; what is missing is None."""
    return [None if _is_missing(value) else value for value in column.to_list()]


def check_frame(df):
    """A data frame, collected if it is lazy."""
    df = df.collect() if hasattr(df, "collect") else df
    if not is_frame(df):
        raise ValueError(f"df must be a pandas or polars DataFrame, got {describe(df)}")
    return df


def grouped(df, by, columns, label):
    """(frame of the chosen columns, lengths, labels or None); see ``SequenceMatrix.from_frame``."""
    df = check_frame(df)
    known = list(df.columns)
    columns = [columns] if isinstance(columns, str) else columns
    chosen = [c for c in known if c not in (by, label)] if columns is None else list(columns)
    for name in [by, *chosen, *([] if label is None else [label])]:
        if name not in known:
            raise ValueError(f"the table has no column {name!r}; it has {', '.join(map(str, known))}")
        if known.count(name) > 1:
            raise ValueError(f"the table has {known.count(name)} columns {name!r}; rename all but one")
    keys = df[by].to_list()
    missing = next((k for k, key in enumerate(keys) if _is_missing(key)), None)
    if missing is not None:
        raise ValueError(f"the column {by!r}, which tells sequences apart, has no value in row {missing}")
    new = [k for k, key in enumerate(keys) if not k or key != keys[k - 1]]
    seen = set()
    for k in new:
        if keys[k] in seen:
            raise ValueError(
                f"the rows of {by!r} = {keys[k]!r} are not neighbours: row {k} begins anew; sort the table "
                f"first"
            )
        seen.add(keys[k])
    labels = None if label is None else labels_of(df[label])
    return df[chosen], np.diff(np.array([*new, len(keys)], np.int64)), labels
