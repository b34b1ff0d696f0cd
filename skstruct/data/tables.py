"""Matrices, tables and padded arrays: rows of numbers, after a check."""

import numpy as np
from scipy import sparse

from .places import PLACE, PlaceError, place

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
    i, t = place(X.offsets, row)
    raise PlaceError(i, t, f"{PLACE}, column {column}{called}: {value} is not finite{hint}", name)


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
