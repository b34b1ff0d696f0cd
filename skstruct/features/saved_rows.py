"""The state of encoders of rows of numbers, and of the parameter that says how these count."""

from fractions import Fraction

import numpy as np

from ..data.matrix import FeatureNames
from ..saving.values import require, savable_value, within
from .numeric import NumericFeatures
from .rows import RowsEncoder

_MOST_COLUMNS = 2**31 - 1


def _features_state(features, writer, name):
    return {
        "bias": bool(features.bias),
        "scale": writer.value(features.scale, f"{name}.scale"),
        "window": [int(d) for d in features.window],
    }


def _features_from_state(node, reader, where):
    bias, scale, window = reader.members(node, where, "bias scale window")
    window = tuple(reader.list(window, f"{where}.window"))
    scale = reader.value(scale, f"{where}.scale")
    try:
        return NumericFeatures(reader.flag(bias, f"{where}.bias"), scale, window)
    except ValueError as error:
        require(False, f"{where}: {error}")


savable_value("$numeric", NumericFeatures, _features_state, _features_from_state)


def rows_state(encoder, writer, name):
    """The JSON of a :class:`RowsEncoder`."""
    names = None if encoder.names is None else writer.strings(f"{name}.names", encoder.names.all())
    state = {
        "features": _features_state(encoder.features, writer, f"{name}.features"),
        "min_count": int(encoder.min_count),
        "bigram": bool(encoder.has_bigram),
        "scaled": bool(encoder.scaled),
        "width": int(encoder.width),
        "names": names,
        "sparse": bool(encoder.sparse),
        "scale": float(encoder.scale),
        "squares": [str(encoder.squares.numerator), str(encoder.squares.denominator)],
        "n_tokens": int(encoder.n_tokens),
        "n_rows": int(encoder.n_rows),
        "column": writer.array(f"{name}.column", encoder.order),
        "row": writer.array(f"{name}.row", encoder.row_of[encoder.order]),
    }
    if encoder.min_count > 1:
        state["count"] = writer.array(f"{name}.count", encoder.counts[encoder.order])
    return state


def rows_from_state(node, reader, where):
    """The :class:`RowsEncoder` of a file."""
    features, min_count, bigram, scaled, width, names, is_sparse, scale, n_rows, column, row = reader.members(
        node, where, "features min_count bigram scaled width names sparse scale n_rows column row"
    )
    encoder = RowsEncoder(
        _features_from_state(features, reader, f"{where}.features"),
        reader.integer(min_count, f"{where}.min_count", 1),
        reader.flag(bigram, f"{where}.bigram"),
        reader.flag(scaled, f"{where}.scaled"),
    )
    encoder.width = width = reader.integer(width, f"{where}.width", 0, _MOST_COLUMNS)
    encoder.sparse = reader.flag(is_sparse, f"{where}.sparse")
    encoder.scale = reader.number(scale, f"{where}.scale", 0.0, np.inf)
    require(0.0 < encoder.scale < np.inf, f"{where}.scale must be positive and finite")
    squares, n_tokens = reader.members(node, where, "squares n_tokens")
    squares = reader.list(squares, f"{where}.squares")
    ok = len(squares) == 2 and all(
        isinstance(part, str) and part.isascii() and part.isdigit() for part in squares
    )
    require(
        ok and all(len(part) < 4000 for part in squares) and int(squares[1]) > 0,
        f"{where}.squares must be a fraction",
    )
    encoder.squares = Fraction(int(squares[0]), int(squares[1]))
    encoder.n_tokens = reader.integer(n_tokens, f"{where}.n_tokens", 1)
    if names is not None:
        names = reader.strings(names, f"{where}.names")
        require(len(names) == width, f"{where}.names must be {width}")
        encoder.names = FeatureNames(names)
    column = reader.array(column, f"{where}.column", np.int32, (None,))
    low, high = encoder.features.window
    n, size = column.shape[0], width * (high - low + 1) + bool(encoder.features.bias)
    require(within(column, 0, size), f"{where}.column is out of range")
    require(np.unique(column).shape[0] == n, f"{where}.column holds a column twice")
    require(encoder.sparse or n == size, f"{where}.column must hold all columns")
    encoder.n_rows = reader.integer(n_rows, f"{where}.n_rows", 0, size + 1)
    row = reader.array(row, f"{where}.row", np.int32, (n,))
    used = np.sort(row[row >= 0])
    ok = within(row, -1, encoder.n_rows) and np.array_equal(used, np.arange(encoder.n_rows))
    require(ok, f"{where}.row must hold each row once")
    require(encoder.sparse or np.array_equal(row, column), f"{where}.row must be those of the columns")
    encoder.order, encoder.row_of = column, np.full(size, -1, np.int32)
    encoder.row_of[column] = row
    if encoder.min_count > 1:
        (count,) = reader.members(node, where, "count")
        count = reader.array(count, f"{where}.count", np.int64, (n,))
        require(within(count, 0, 2**62), f"{where}.count is out of range")
        encoder.counts = np.zeros(size, np.int64)
        encoder.counts[column] = count
    return encoder
