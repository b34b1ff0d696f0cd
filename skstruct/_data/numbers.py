"""Recognition of ``X`` made of numbers, data frames or arrays with columns, and its
conversion to one corpus.

The first sequence that is not empty decides. Other input goes to
:mod:`.inputs`; malformed numbers raise an error that says how to write them.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from .corpus import (
    FRAME,
    STRINGS,
    TABLE,
    Block,
    BlockCorpus,
    ListCorpus,
    TokenCorpus,
)
from .elements import (
    TEXT_KINDS,
    are_columns,
    columns_in,
    elements,
    is_arrow_table,
    is_frame,
    opened,
    spelled,
)
from .matrix import SequenceFrame, assembled
from .places import (
    PLACE,
    PlaceError,
    by_sequence,
    counted,
    describe,
    is_sequence,
    offsets_of,
)
from .reads import FeatureNames
from .tables import as_rows, check_finite, parts_of, parts_of_columns, together

if TYPE_CHECKING:
    from .matrix import SequenceMatrix


_NUMBER = (int, float, np.number, np.bool_)


def tables_in(X: Any, name: str = "X", missing: bool = False) -> TokenCorpus | None:
    """Return a corpus of what users hand over that has columns; None if tokens are
    something else.

    It is a ``SequenceFrame`` of data frames, a ``SequenceMatrix`` of numbers, and any
    other of strings.

    With ``missing``, numbers may be NaN.

    Raises
    ------
    ValueError
        If they are rows of tables or numbers in a form that cannot be read; the message
        names the place.
    """
    if isinstance(X, TokenCorpus):
        shown = X.shown
        return (
            None
            if shown is None or shown.kind != FRAME
            else SequenceFrame(shown.rows, X.lengths)
        )
    if is_frame(X) or is_arrow_table(X):
        ways = "SequenceMatrix.from_frame(df, by), or a list of tables, [df]"
        n = counted(len(X), "row")
        raise ValueError(
            f"{name} is one table of {n}; say where its sequences end: {ways}"
        )
    sequences = _listed(X, name)
    i = _first_filled(sequences, name)
    if i is None:
        return None
    if is_frame(sequences[i]):
        return _grouped(list(sequences), i, name)
    first = opened(sequences[i], i, name)
    if are_columns(first):
        arrays = _arrays(sequences, i, name)
        if not all(_holds_numbers(array) for array in arrays):
            return _of_columns(arrays, name)
    if not _are_rows(first):
        return None
    return _stacked(list(sequences), i, name, missing)


def _listed(X: Any, name: str) -> Any:
    """Return what may be a list of tables or matrices, with the sequences of arrays and
    Series; else nothing.
    """
    X = X if sparse.issparse(X) else opened(X, name=name)
    if sparse.issparse(X) or getattr(X, "ndim", 1) > 1:
        of_numbers = sparse.issparse(X) or _holds_numbers(X)
        if X.ndim == 3 and X.shape[2] == 1 and X.size and not of_numbers:
            ways = (
                "X[:, :, 0] if tokens are strings, X.tolist() if they are lists or "
                "tuples"
            )
            raise ValueError(
                f"{name} has 3 dimensions with one column: write "
                f"{ways.replace('X', name)}"
            )
        if X.ndim == 3:
            return list(X)
        if not of_numbers and (X.ndim == 2 or X.dtype.kind not in TEXT_KINDS):
            return ()
        if X.ndim == 2:
            way = "SequenceMatrix(X, lengths)"
            n = counted(X.shape[0], "row")
            raise ValueError(
                f"{name} is one matrix of {n}; say where its sequences end: {way}"
            )
        wrong = (
            f"{X.ndim} dimensions; sequences, tokens and columns are three: flatten "
            "the last ones"
        )
        raise ValueError(f"{name} has {wrong}")
    return X if is_sequence(X) else ()


def _first_filled(sequences: list[Any], name: str) -> int | None:
    """Return the number of the first sequence that is not empty, or of a table; None if
    there is none.

    A table or sparse matrix tells what its rows are even if it has none.
    """
    table = None
    for i, sequence in enumerate(sequences):
        is_table = sparse.issparse(sequence) or is_frame(sequence)
        sequence = sequence if is_table else opened(sequence, i, name)
        if not (is_table or is_sequence(sequence)):
            return None
        if sequence.shape[0] if is_table else len(sequence):
            return i
        table = i if is_table and table is None else table
    return table


def _holds_numbers(array: np.ndarray) -> bool:
    """Tell whether an array has a type of numbers, or is of objects of which each is
    one, or missing.
    """
    if array.dtype.kind != "O":
        return array.dtype.kind in "biuf"
    kinds = set(map(type, array.ravel().tolist())) - {type(None)}
    return bool(kinds) and all(issubclass(kind, _NUMBER) for kind in kinds)


def _are_rows(sequence: Any) -> bool:
    """Tell whether the tokens of a sequence are rows of numbers."""
    if sparse.issparse(sequence):
        return True
    if isinstance(sequence, np.ndarray) and (
        sequence.ndim != 1 or sequence.dtype.kind != "O"
    ):
        return _holds_numbers(sequence)
    for token in elements(sequence):
        token = opened(token)
        if (
            isinstance(token, np.ndarray)
            and token.dtype.kind in "biuf"
            and token.ndim == 1
        ):
            return True
        if not isinstance(token, (list, tuple)):
            return False
        if len(token):
            return isinstance(token[0], _NUMBER)
    return False


def _stacked(
    sequences: list[Any], first: int, name: str, missing: bool
) -> SequenceMatrix:
    """Stack sequences of rows, all of the kind and width of sequence ``first``."""
    is_sparse = sparse.issparse(sequences[first])
    blocks = [
        _block(sequence, i, name, first, is_sparse)
        for i, sequence in enumerate(sequences)
    ]
    width = blocks[first].shape[1]
    for i, block in enumerate(blocks):
        if block is None:
            blocks[i] = blocks[first][:0]
        elif block.shape[1] != width:
            text = (
                f"{PLACE} has {counted(block.shape[1], 'column')}, expected {width} "
                f"like sequence {first}"
            )
            raise PlaceError(i, None, text, name)
    join = partial(sparse.vstack, format="csr") if is_sparse else np.concatenate
    matrix = blocks[0] if len(blocks) == 1 else join(blocks)
    X = assembled(matrix, np.array([block.shape[0] for block in blocks], np.int64))
    check_finite(X, name, missing)
    return X


def _block(sequence: Any, i: int, name: str, first: int, is_sparse: bool) -> Any:
    """Return the rows of sequence i as CSR, or as float32 or float64; None if it is an
    empty list.
    """
    mine = sparse.issparse(sequence)
    sequence = sequence if mine else opened(sequence, i, name)
    if not (mine or is_sequence(sequence)):
        wrong = f"must be rows of numbers, got {describe(sequence)}"
    elif not mine and not len(sequence):
        return None
    elif mine != is_sparse:
        kinds = ("sparse", "dense") if mine else ("dense", "sparse")
        wrong = f"is {kinds[0]}, sequence {first} is {kinds[1]}"
    else:
        rows = sequence if mine else _array_of(sequence, i, name)
        found = as_rows(rows) if rows.ndim == 2 else None
        if found is not None:
            return found
        if rows.ndim == 1:
            wrong = (
                "is one-dimensional; a series of numbers needs one row a token: "
                "x.reshape(-1, 1)"
            )
        elif rows.ndim != 2:
            wrong = f"must have two dimensions, tokens and columns, got {rows.ndim}"
        else:
            _refuse_entry(rows, i, name)
            wrong = f"must hold numbers, got values of type {rows.dtype}"
    raise PlaceError(i, None, f"{PLACE} {wrong}", name)


def _array_of(sequence: Any, i: int, name: str) -> np.ndarray:
    """Return an array of what stands in sequence i."""
    if isinstance(sequence, np.ndarray) and (
        sequence.ndim != 1 or sequence.dtype.kind in "biuf"
    ):
        return sequence
    rows = list(map(opened, elements(sequence)))
    for t, row in enumerate(rows):
        if isinstance(row, (str, bytes, dict)) or not hasattr(row, "__len__"):
            raise PlaceError(
                i, t, f"expected a row of numbers, got {describe(row)}", name
            )
        if len(row) != len(rows[0]):
            text = (
                f"{PLACE} has {counted(len(row), 'column')}, expected {len(rows[0])} "
                "like position 0"
            )
            raise PlaceError(i, t, text, name)
    with suppress(ValueError):  # entries of different shapes
        found = np.asarray(rows)
        if found.ndim == 2 and found.dtype.kind in "biuf":
            return found
    return np.array([[*row] for row in rows], dtype=object).reshape(len(rows), -1)


def _refuse_entry(rows: Any, i: int, name: str) -> None:
    """Raise for the first entry of an array that is no number, if one by itself is
    none.
    """
    for t, row in enumerate([] if sparse.issparse(rows) else rows.tolist()):
        for c, value in enumerate(row):
            if isinstance(value, (str, bytes)) or not _is_number(value):
                text = f"{PLACE}, column {c}: expected a number, got {describe(value)}"
                raise PlaceError(i, t, text, name)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


# --------------------------------------------------------------------------------------
# Arrays of strings and objects
# --------------------------------------------------------------------------------------
def _arrays(sequences: list[Any], first: int, name: str) -> list[np.ndarray]:
    """Return all sequences as arrays with as many columns as that of sequence
    ``first``.
    """
    width = opened(sequences[first]).shape[1]
    arrays = []
    for i, sequence in enumerate(sequences):
        array = sequence if sparse.issparse(sequence) else opened(sequence, i, name)
        wrong = None
        if is_sequence(array) and not len(array):
            array = np.empty((0, width), object)
        elif not isinstance(array, np.ndarray):
            array = _array_of_tuples(array)
        if not isinstance(array, np.ndarray) or array.ndim != 2:
            wrong = (
                f"is {describe(sequence)}, sequence {first} is an array with "
                f"{counted(width, 'column')}"
            )
        elif array.shape[1] != width:
            wrong = (
                f"has {counted(array.shape[1], 'column')}, expected {width} like "
                f"sequence {first}"
            )
        if wrong is not None:
            raise PlaceError(i, None, f"{PLACE} {wrong}", name)
        arrays.append(array)
    return arrays


def _array_of_tuples(tokens: Any) -> Any:
    """Return tokens that are tuples of one length as an array of objects; other tokens
    as they are.
    """
    if not isinstance(tokens, (list, tuple)) or set(map(type, tokens)) != {tuple}:
        return tokens
    if len(set(map(len, tokens))) > 1:
        return tokens
    array = np.empty((len(tokens), len(tokens[0])), object)
    for t, token in enumerate(tokens):
        array[t] = token
    return array


def _of_columns(arrays: list[np.ndarray], name: str) -> TokenCorpus:
    """Return the corpus of arrays with columns of strings: tuples of these, and rows of
    numbers beside them.
    """
    lengths = np.array([array.shape[0] for array in arrays], np.int64)
    table = np.concatenate([array.astype(object) for array in arrays])
    found = parts_of_columns(columns_in(table), len(table), offsets_of(lengths), name)
    block, names, strings, titles = found
    tokens = _tokens_of(strings)
    if strings and not names:
        sequences = by_sequence(tokens, offsets_of(lengths))
        return ListCorpus.of(sequences, next(filter(len, sequences)))
    numbers = assembled(block, lengths)
    check_finite(numbers, name)
    if not strings:
        return numbers
    words = Block(STRINGS, tokens, tuple(map(str, titles)), like=tokens[0])
    return BlockCorpus.of((*numbers.blocks, words), lengths, shown=Block(TABLE, table))


def _tokens_of(strings: list[list[str]]) -> list[Any]:
    """Return the tokens of columns of strings: str of one column, tuples of several."""
    return strings[0] if len(strings) == 1 else list(zip(*strings))


# --------------------------------------------------------------------------------------
# Data frames
# --------------------------------------------------------------------------------------
def read_frame(X: Any, name: str = "X") -> TokenCorpus:
    """Return the corpus of a :class:`SequenceFrame`: a ``SequenceMatrix``, or strings,
    with numbers beside them.

    Tokens with one column of strings are str, with several they are tuples.
    """
    if not X.offsets[-1]:  # no value tells what an empty column is of
        return BlockCorpus.of((), X.lengths, shown=X.blocks[0])
    block, names, strings, titles = parts_of(X.frame, X.offsets, name)
    numbers = assembled(block, X.lengths, FeatureNames(names))
    check_finite(numbers, name)
    if not strings:
        return numbers
    tokens = _tokens_of(strings)
    found = Block(STRINGS, tokens, tuple(titles), like=tokens[0])
    return BlockCorpus.of(
        (*numbers.blocks, found) if names else (found,), X.lengths, shown=X.blocks[0]
    )


def _grouped(sequences: list[Any], first: int, name: str) -> SequenceFrame:
    """Return sequences that are data frames, all with the columns of sequence
    ``first``.
    """
    columns = list(sequences[first].columns)
    for i, sequence in enumerate(sequences):
        wrong = None
        if is_sequence(sequence) and not len(sequence):
            sequences[i] = sequences[first][:0]
        elif not is_frame(sequence):
            wrong = f"is {describe(sequence)}, sequence {first} is a table"
        elif sorted(map(spelled, sequence.columns)) != sorted(map(spelled, columns)):
            found, expected = (
                ", ".join(map(spelled, c)) for c in (sequence.columns, columns)
            )
            wrong = f"has the columns {found}, that of sequence {first} {expected}"
        elif list(sequence.columns) != columns:
            sequences[i] = sequence[columns]
        if wrong is not None:
            raise PlaceError(i, None, f"{PLACE} {wrong}", name)
    lengths = np.array([len(sequence) for sequence in sequences], np.int64)
    return SequenceFrame(together(sequences, name), lengths)
