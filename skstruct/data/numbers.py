"""Which ``X`` is made of numbers or of data frames, and all of it as one corpus.

The first sequence that is not empty decides. Input without numbers goes to
:mod:`.inputs`; malformed numbers raise an error that says how to write them.
"""

from contextlib import suppress

import numpy as np
from scipy import sparse

from .corpus import FRAME, STRINGS, Block, TokenCorpus
from .matrix import SequenceFrame, assembled
from .places import PLACE, PlaceError, describe, elements
from .reads import FeatureNames
from .tables import as_float, as_rows, check_finite, is_frame, parts_of, together

_NUMBER = (int, float, np.number, np.bool_)


def tables_in(X, name="X"):
    """A ``SequenceFrame`` or ``SequenceMatrix`` of what users hand over; None if tokens are something else.

    Raises
    ------
    ValueError
        If they are rows of tables or numbers in a form that cannot be read; the message names the place.
    """
    if isinstance(X, TokenCorpus):
        if X.is_frame or X.shown is None or X.shown.kind != FRAME:
            return X if X.is_frame else None
        return SequenceFrame(X.shown.rows, X.lengths)
    if is_frame(X):
        raise ValueError(
            f"{name} is one table of {len(X)} rows; say where its sequences end: "
            f"SequenceMatrix.from_frame(df, by), or a list of tables, [df]"
        )
    sequences = _listed(X, name)
    i = None if sequences is None else _first_filled(sequences)
    if i is None:
        return None
    first = sequences[i]
    if is_frame(first):
        return _grouped(list(sequences), i, name)
    if isinstance(first, np.ndarray) and first.ndim == 1 and first.dtype.kind in "biuf":
        raise PlaceError(i, None, _ONE_DIMENSION, name)
    return _stacked(list(sequences), i, name) if _are_rows(first) else None


def _listed(X, name):
    """What may be a list of tables or matrices, with the sequences of arrays and Series; else None."""
    if sparse.issparse(X) or getattr(X, "ndim", 1) > 1:
        if not (sparse.issparse(X) or _holds_numbers(X)):
            return None
        if X.ndim == 3:
            return list(X)
        wrong = f"has {X.ndim} dimensions; sequences, tokens and columns are three: flatten the last ones"
        if X.ndim == 2:
            wrong = (
                f"is one matrix of {X.shape[0]} rows; say where its sequences end: SequenceMatrix(X, lengths)"
            )
        raise ValueError(f"{name} {wrong}")
    if type(X) in (list, tuple) or hasattr(X, "__len__") and not isinstance(X, (str, bytes, dict)):
        return X.to_list() if hasattr(X, "to_list") else X
    return None


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


def _holds_numbers(array):
    """Whether an array has a type of numbers, or is of objects of which the first is one."""
    array = np.asarray(array)
    if array.dtype.kind != "O":
        return array.dtype.kind in "biuf"
    return array.size > 0 and isinstance(array.flat[0], _NUMBER)


def _are_rows(sequence):
    """Whether the tokens of a sequence are rows of numbers."""
    if sparse.issparse(sequence):
        return True
    if isinstance(sequence, np.ndarray) and (sequence.ndim != 1 or sequence.dtype.kind != "O"):
        return sequence.ndim != 1 and _holds_numbers(sequence)
    if isinstance(sequence, (str, bytes, dict)) or not hasattr(sequence, "__getitem__"):
        return False
    for token in elements(sequence):
        if isinstance(token, np.ndarray) and token.dtype.kind in "biuf" and token.ndim == 1:
            return True
        if not isinstance(token, (list, tuple)):
            return False
        if len(token):
            return isinstance(token[0], _NUMBER)
    return False


def _stacked(sequences, first, name):
    """Sequences of rows as one matrix, all of the kind and width of sequence ``first``."""
    blocks, is_sparse = [], sparse.issparse(sequences[first])
    for i, sequence in enumerate(sequences):
        mine = sparse.issparse(sequence)
        listed = hasattr(sequence, "__len__") and hasattr(sequence, "__getitem__")
        if isinstance(sequence, (str, bytes, dict)) or not (listed or mine):
            raise PlaceError(i, None, f"{PLACE} must be rows of numbers, got {describe(sequence)}", name)
        if not mine and not len(sequence):
            blocks.append(None)
            continue
        if mine != is_sparse:
            kinds = ("sparse", "dense") if mine else ("dense", "sparse")
            text = f"{PLACE} is {kinds[0]}, sequence {first} is {kinds[1]}"
            raise PlaceError(i, None, text, name)
        try:
            blocks.append(as_rows(sequence) if mine else _dense(sequence, i, name))
        except PlaceError:
            raise
        except ValueError as error:
            raise PlaceError(i, None, str(error), name) from None
    given = [block for block in blocks if block is not None]
    width = blocks[first].shape[1]
    for i, block in enumerate(blocks):
        if block is not None and block.shape[1] != width:
            text = f"{PLACE} has {block.shape[1]} columns, expected {width} like sequence {first}"
            raise PlaceError(i, None, text, name)
    if len(given) == 1:
        matrix = given[0]
    elif is_sparse:
        matrix = sparse.vstack(given, format="csr")
    else:
        matrix = np.concatenate(given)
    lengths = np.array([0 if block is None else block.shape[0] for block in blocks], np.int64)
    X = assembled(matrix, lengths)
    check_finite(X, name)
    return X


def _dense(sequence, i, name):
    """The rows of sequence i as float32 or float64."""
    if isinstance(sequence, np.ndarray) and (sequence.ndim != 1 or sequence.dtype.kind in "biuf"):
        if sequence.ndim == 1:
            raise PlaceError(i, None, _ONE_DIMENSION, name)
        if sequence.ndim != 2:
            text = f"{PLACE} must have two dimensions, tokens and columns, got {sequence.ndim}"
            raise PlaceError(i, None, text, name)
        return _as_numbers(sequence, i, name)
    rows = elements(sequence)
    for t, row in enumerate(rows):
        if isinstance(row, (str, bytes, dict)) or not hasattr(row, "__len__"):
            raise PlaceError(i, t, f"expected a row of numbers, got {describe(row)}", name)
        if len(row) != len(rows[0]):
            text = f"{PLACE} has {len(row)} columns, expected {len(rows[0])} like position 0"
            raise PlaceError(i, t, text, name)
    with suppress(ValueError):  # entries of different shapes
        found = np.asarray(rows)
        found = as_float(found) if found.ndim == 2 else None
        if found is not None:
            return found
    return _as_numbers(np.array([[*row] for row in rows], dtype=object).reshape(len(rows), -1), i, name)


def _as_numbers(array, i, name):
    """An array as float32 or float64; the error names the entry that is no number."""
    found = as_float(array)
    if found is not None:
        return found
    for t, row in enumerate(array.tolist()):
        for c, value in enumerate(row):
            try:
                float(value)
            except (TypeError, ValueError, OverflowError):
                text = f"{PLACE}, column {c}: expected a number, got {describe(value)}"
                raise PlaceError(i, t, text, name) from None
    raise PlaceError(i, None, f"{PLACE} must hold numbers, got an array of type {array.dtype}", name)


# --------------------------------------------------------------------------------------------------
# Data frames
# --------------------------------------------------------------------------------------------------
def read_frame(X, name="X"):
    """The corpus of a :class:`SequenceFrame`: a ``SequenceMatrix``, or strings, with numbers beside them.

    Tokens with one column of strings are str, with several they are tuples.
    """
    if not X.offsets[-1]:  # no value tells what an empty column is of
        return TokenCorpus.of((), X.lengths, shown=X.blocks[0])
    block, names, strings, titles = parts_of(X.frame, X.offsets, name)
    numbers = assembled(block, X.lengths, FeatureNames(names))
    check_finite(numbers, name)
    if not strings:
        return numbers
    tokens = strings[0] if len(strings) == 1 else list(zip(*strings))
    found = Block(STRINGS, tokens, tuple(titles), like=tokens[0])
    return TokenCorpus.of((*numbers.blocks, found) if names else (found,), X.lengths, shown=X.blocks[0])


def _grouped(sequences, first, name):
    """Sequences that are data frames, all with the columns of sequence ``first``."""
    columns = list(sequences[first].columns)
    for i, sequence in enumerate(sequences):
        if not is_frame(sequence):
            if not hasattr(sequence, "__len__") or len(sequence):
                text = f"{PLACE} is {describe(sequence)}, sequence {first} is a table"
                raise PlaceError(i, None, text, name)
            sequences[i] = sequences[first][:0]
        elif sorted(map(str, sequence.columns)) == sorted(map(str, columns)):
            sequences[i] = sequence if list(sequence.columns) == columns else sequence[columns]
        elif len(sequence):
            found, expected = (", ".join(map(str, c)) for c in (sequence.columns, columns))
            text = f"{PLACE} has the columns {found}, that of sequence {first} {expected}"
            raise PlaceError(i, None, text, name)
    return SequenceFrame(together(sequences), np.array([len(sequence) for sequence in sequences], np.int64))
