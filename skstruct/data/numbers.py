"""Which ``X`` is made of numbers, and all of it as one :class:`.matrix.SequenceMatrix`.

The first sequence that is not empty decides. Input without numbers goes to
:mod:`.inputs`; malformed numbers raise an error that says how to write them.
"""

import numpy as np
from scipy import sparse

from .frames import SequenceFrame, has_strings, numbers_of, together
from .matrix import FeatureNames, SequenceMatrix, assembled
from .mixed import MixedSequences, read_frame
from .places import PLACE, PlaceError, describe
from .tables import as_float, as_rows, check_finite, is_frame

_NUMBER = (int, float, np.number, np.bool_)


def numbers_in(X, name="X"):
    """A :class:`SequenceMatrix` of what users hand over, or None if its tokens are no rows of numbers.

    Data frames with columns of strings become :class:`.mixed.MixedSequences`, or lists of strings if there
    are no others.

    Raises
    ------
    ValueError
        If they are, but not in a form that can be read; the message names the place.
    """
    if isinstance(X, (SequenceMatrix, MixedSequences)):
        return X
    if isinstance(X, SequenceFrame):
        return read_frame(X.frame, X.lengths, name)
    if is_frame(X):
        raise ValueError(
            f"{name} is one table of {len(X)} rows; say where its sequences end: "
            f"SequenceMatrix.from_frame(df, by), or a list of tables, [df]"
        )
    if sparse.issparse(X) or getattr(X, "ndim", 1) > 1:
        sequences = _parts(X, name)
    elif type(X) in (list, tuple) or hasattr(X, "__len__") and not isinstance(X, (str, bytes, dict)):
        sequences = X.to_list() if hasattr(X, "to_list") else X
    else:
        return None
    if sequences is None:
        return None
    i = _first_filled(sequences)
    if i is None:
        return None
    first = sequences[i]
    read = _reader_of(first)
    if read is None:
        if isinstance(first, np.ndarray) and first.ndim == 1 and first.dtype.kind in "biuf":
            raise PlaceError(i, None, _ONE_DIMENSION, name)
        return None
    return read(list(sequences), i, name)


_ONE_DIMENSION = f"{PLACE} is one-dimensional; a series of numbers needs one row a token: x.reshape(-1, 1)"


def _first_filled(sequences):
    """The number of the first sequence that is not empty, or of a table; None if there is none.

    A table or sparse matrix tells what its rows are even if it has none.
    """
    table = None
    for i, sequence in enumerate(sequences):
        is_table = sparse.issparse(sequence) or is_frame(sequence)
        if not is_table and not hasattr(sequence, "__len__"):
            return None
        if sequence.shape[0] if is_table else len(sequence):
            return i
        table = i if is_table and table is None else table
    return table


def _parts(X, name):
    """The sequences of an array of three dimensions; None if it holds no numbers."""
    if not sparse.issparse(X) and not _holds_numbers(X):
        return None
    if X.ndim == 3:
        return list(X)
    if X.ndim > 3:
        raise ValueError(
            f"{name} has {X.ndim} dimensions; sequences, tokens and columns are three: flatten the last ones"
        )
    raise ValueError(
        f"{name} is one matrix of {X.shape[0]} rows; say where its sequences end: SequenceMatrix(X, lengths)"
    )


def _holds_numbers(array):
    """Whether an array has a type of numbers, or is of objects of which the first is one."""
    array = np.asarray(array)
    if array.dtype.kind != "O":
        return array.dtype.kind in "biuf"
    return array.size > 0 and isinstance(array.flat[0], _NUMBER)


def _reader_of(first):
    """What stacks sequences like ``first``; None if these are no rows of numbers."""
    if sparse.issparse(first):
        return _stacked_sparse
    if is_frame(first):
        return _stacked_frames
    if isinstance(first, np.ndarray) and first.ndim != 1:
        return _stacked_arrays if _holds_numbers(first) else None
    if isinstance(first, np.ndarray) and first.dtype.kind != "O":
        return None
    if isinstance(first, (str, bytes, dict)) or not hasattr(first, "__getitem__"):
        return None
    rows = first.to_list() if hasattr(first, "to_list") else first
    for token in rows:
        if isinstance(token, np.ndarray) and token.dtype.kind in "biuf" and token.ndim == 1:
            return _stacked_lists
        if not isinstance(token, (list, tuple)):
            return None
        if len(token):
            return _stacked_lists if isinstance(token[0], _NUMBER) else None
    return None


def _kind(sequence):
    return "sparse" if sparse.issparse(sequence) else "dense"


def _assembled(parts, widths, first, name, names=None):
    """The sequences as one matrix, after a check of their columns."""
    wrong = np.flatnonzero(np.asarray(widths) != widths[first])
    if wrong.shape[0]:
        i = int(wrong[0])
        raise PlaceError(
            i, None, f"{PLACE} has {widths[i]} columns, expected {widths[first]} like sequence {first}", name
        )
    lengths = np.array([part.shape[0] for part in parts], np.int64)
    if _kind(parts[first]) == "sparse":
        matrix = parts[0] if len(parts) == 1 else sparse.vstack(parts, format="csr")
    else:
        dtype = np.float32 if all(part.dtype == np.float32 for part in parts) else np.float64
        matrix = parts[0] if len(parts) == 1 else np.concatenate(parts, dtype=dtype)
    X = assembled(matrix, lengths, names)
    check_finite(X, name)
    return X


def _same_kind(sequences, i, first, name):
    """Whether sequence i has rows; raises if it is not of the kind of sequence ``first``."""
    sequence = sequences[i]
    listed = hasattr(sequence, "__len__") and hasattr(sequence, "__getitem__")
    if isinstance(sequence, (str, bytes, dict)) or not (listed or sparse.issparse(sequence)):
        raise PlaceError(i, None, f"{PLACE} must be rows of numbers, got {describe(sequence)}", name)
    if not sparse.issparse(sequence) and not len(sequence):
        return False
    if _kind(sequence) != _kind(sequences[first]):
        raise PlaceError(
            i, None, f"{PLACE} is {_kind(sequence)}, sequence {first} is {_kind(sequences[first])}", name
        )
    return True


def _stacked_sparse(sequences, first, name):
    F, kind = sequences[first].shape[1], type(sequences[first].tocsr())
    for i in range(len(sequences)):
        try:
            filled = _same_kind(sequences, i, first, name)
            sequences[i] = as_rows(sequences[i]) if filled else kind((0, F))
        except PlaceError:
            raise
        except ValueError as error:
            raise PlaceError(i, None, str(error), name) from None
    return _assembled(sequences, [part.shape[1] for part in sequences], first, name)


def _stacked_arrays(sequences, first, name):
    F = sequences[first].shape[1] if sequences[first].ndim == 2 else 0
    for i in range(len(sequences)):
        if not _same_kind(sequences, i, first, name):
            sequences[i] = np.zeros((0, F), np.float32)
            continue
        try:
            array = np.asarray(sequences[i])
        except ValueError:  # parts of different shapes
            text = f"{PLACE} must be rows of numbers, got {describe(sequences[i])}"
            raise PlaceError(i, None, text, name) from None
        if array.ndim == 1 and array.dtype.kind in "biuf":
            raise PlaceError(i, None, _ONE_DIMENSION, name)
        if array.ndim != 2:
            raise PlaceError(
                i, None, f"{PLACE} must have two dimensions, tokens and columns, got {array.ndim}", name
            )
        sequences[i] = _as_numbers(array, i, name)
    return _assembled(sequences, [part.shape[1] for part in sequences], first, name)


def _as_numbers(array, i, name):
    """An array as float32 or float64; the error names the entry that is no number."""
    found = as_float(array)
    if found is not None:
        return found
    for t, row in enumerate(array.tolist()):
        for c, value in enumerate(row):
            try:
                float(value)
            except (TypeError, ValueError):
                text = f"{PLACE}, column {c}: expected a number, got {describe(value)}"
                raise PlaceError(i, t, text, name) from None
    raise PlaceError(i, None, f"{PLACE} must hold numbers, got an array of type {array.dtype}", name)


def _stacked_frames(sequences, first, name):
    if has_strings(sequences[first]):
        return _read_frames(sequences, first, name)
    names = None
    for i, sequence in enumerate(sequences):
        if not is_frame(sequence):
            raise PlaceError(i, None, f"{PLACE} is {describe(sequence)}, sequence {first} is a table", name)
        try:
            sequences[i], mine = numbers_of(sequence)
        except ValueError as error:
            raise PlaceError(i, None, str(error), name) from None
        names = names or mine
        if mine != names and len(mine) == len(names):
            c = next(c for c, pair in enumerate(zip(mine, names)) if pair[0] != pair[1])
            raise PlaceError(
                i, None, f"{PLACE}: column {c} is {mine[c]!r}, that of sequence 0 is {names[c]!r}", name
            )
    widths = [part.shape[1] for part in sequences]
    return _assembled(sequences, widths, first, name, FeatureNames(names))


def _read_frames(sequences, first, name):
    """Sequences of data frames with columns of strings."""
    columns = list(sequences[first].columns)
    for i, sequence in enumerate(sequences):
        if not is_frame(sequence):
            if not hasattr(sequence, "__len__") or len(sequence):
                raise PlaceError(
                    i, None, f"{PLACE} is {describe(sequence)}, sequence {first} is a table", name
                )
            sequences[i] = sequences[first][:0]
        elif list(sequence.columns) != columns:
            found, expected = (", ".join(map(str, c)) for c in (sequence.columns, columns))
            text = f"{PLACE} has the columns {found}, that of sequence {first} {expected}"
            raise PlaceError(i, None, text, name)
    lengths = np.array([len(sequence) for sequence in sequences], np.int64)
    return read_frame(together(sequences), lengths, name)


def _stacked_lists(sequences, first, name):
    F = len(next(token for token in _listed(sequences[first]) if len(token)))
    for i in range(len(sequences)):
        if not _same_kind(sequences, i, first, name):
            sequences[i] = np.zeros((0, F))
            continue
        rows = _listed(sequences[i])
        for t, row in enumerate(rows):
            if isinstance(row, (str, bytes, dict)) or not hasattr(row, "__len__"):
                raise PlaceError(i, t, f"expected a row of numbers, got {describe(row)}", name)
            if len(row) != F:
                raise PlaceError(
                    i, t, f"{PLACE} has {len(row)} columns, expected {F} like sequence {first}", name
                )
        try:
            array = np.asarray(rows)
        except ValueError:
            array = np.empty((0, 0, 0))
        if array.ndim != 2 or as_float(array) is None or array.dtype.kind in "US":
            array = np.array([[*row] for row in rows], dtype=object).reshape(len(rows), -1)
        sequences[i] = _as_numbers(array, i, name)
    return _assembled(sequences, [part.shape[1] for part in sequences], first, name)


def _listed(sequence):
    return sequence.to_list() if hasattr(sequence, "to_list") else list(sequence)
