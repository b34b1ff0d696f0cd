"""The states of encoders whose features have names: ready-made ones, columns of numbers, patterns."""

from collections import defaultdict
from fractions import Fraction
from itertools import chain
from operator import getitem

import numpy as np

from ..data.reads import FeatureNames
from ..saving.values import name_of, require, savable_value, within
from .bag_encoder import BagEncoder
from .numeric import NumericFeatures
from .pattern_encoder import PatternEncoder
from .patterns import Patterns
from .rows_encoder import RowsEncoder

TOKENS = {None: None, "str": str, "tuple": tuple}
"""What tokens are: names in files."""

MOST_ROWS = 2**31
"""Of weights."""

_MOST_COLUMNS = 2**31 - 1


# --------------------------------------------------------------------------------------------------
# Indices of features
# --------------------------------------------------------------------------------------------------
def _rows_of_index(index, writer, name, cut):
    """The JSON of a :class:`.feature_index.RowIndex`; ``cut``: whether there is a count cut-off."""
    state = {"row": writer.array(f"{name}.row", index.row_of[:-1]), "n_rows": int(index.n_rows)}
    if cut:
        state["count"] = writer.array(f"{name}.count", index.counts)
    return state


def _index_state(index, writer, name, cut):
    """The same of a :class:`.feature_index.FeatureIndex`, with its names."""
    names = writer.strings(f"{name}.names", list(index.ids))
    return {"names": names, **_rows_of_index(index, writer, name, cut)}


def _fill_rows(index, n, node, reader, where, cut):
    """Let an empty index be the one of n features in a file."""
    read = reader.part(node, where)
    index.n_rows = read("n_rows", reader.integer, index.first_row, MOST_ROWS)
    row = read("row", reader.array, np.int32, (n,), -1, index.n_rows)
    require(within(row[row >= 0], index.first_row, index.n_rows), f"{where}.row is out of range")
    index.row_of = np.append(row, np.int32(-1))
    if cut:
        index.counts = read("count", reader.array, np.int64, (n,), 0, 2**62)


def _fill_index(index, node, reader, where, cut):
    """The same of an index with names."""
    names = reader.part(node, where)("names", reader.distinct)
    index.ids = {name: k for k, name in enumerate(names)}
    _fill_rows(index, len(names), node, reader, where, cut)


# --------------------------------------------------------------------------------------------------
# Ready-made features. The remembered (key, value) pairs are stored too, by key: without them, prediction
# would resolve every occurrence of a pair in Python. Values that are strings are not written, as the
# feature is named ``key:value``; True and False are written as the numbers to which they are equal.
# --------------------------------------------------------------------------------------------------
def bag_state(encoder, writer, name):
    """The JSON of a :class:`BagEncoder`."""
    by_key = defaultdict(list)
    for k, (key, value) in enumerate(encoder.pairs.items()):
        by_key[key].append((k, value))
    ids, values = zip(*chain.from_iterable(by_key.values())) if by_key else ((), ())
    arrays = {
        "size": np.array([len(pairs) for pairs in by_key.values()], np.int64),
        "text": np.fromiter((isinstance(v, str) for v in values), np.bool_, len(values)),
        "number": np.array([float(v) for v in values if not isinstance(v, str)], np.float64),
        "feature": np.array(encoder._pair_feature, np.int32)[list(ids)],
    }
    return {
        "min_count": int(encoder.min_count),
        **_index_state(encoder.nodes, writer, name, encoder.min_count > 1),
        "n_numbers": int(encoder._n_numbers),
        "pairs": {
            "keys": writer.strings(f"{name}.pairs.keys", list(by_key)),
            **{part: writer.array(f"{name}.pairs.{part}", array) for part, array in arrays.items()},
        },
    }


def bag_from_state(node, reader, where):
    """The :class:`BagEncoder` of a file."""
    read = reader.part(node, where)
    encoder = BagEncoder(read("min_count", reader.integer, 1))
    _fill_index(encoder.nodes, node, reader, where, encoder.min_count > 1)
    encoder._n_numbers = read("n_numbers", reader.integer, 0)
    names = list(encoder.nodes.ids)
    n = len(names)

    read, where = read("pairs", reader.part), f"{where}.pairs"
    keys, text = read("keys", reader.strings), read("text", reader.array, np.bool_, (None,))
    n_pairs, n_text = text.shape[0], int(np.count_nonzero(text))
    size = read("size", reader.array, np.int64, (len(keys),))
    ok = within(size, 0, n_pairs + 1) and int(size.sum()) == n_pairs
    require(ok, f"{where}.size must add up to {n_pairs}")
    number = read("number", reader.array, np.float64, (n_pairs - n_text,))
    require(np.isfinite(number).all(), f"{where}.number must be finite")
    feature = read("feature", reader.array, np.int32, (n_pairs,), -1, n)
    require(within(feature[text], 0, n), f"{where}.feature is out of range")
    number_of_pair = np.ones(n_pairs)
    number_of_pair[~text] = number
    key_of_pair = np.repeat(np.arange(len(keys)), size)
    rests = [slice(len(k) + 1, None) for k in keys]  # of "key:value", the value
    rest_of = map(rests.__getitem__, key_of_pair[text].tolist())
    values = np.empty(n_pairs, object)
    values[text] = list(map(getitem, map(names.__getitem__, feature[text].tolist()), rest_of))
    values[~text] = number.tolist()
    keys = map(keys.__getitem__, key_of_pair.tolist())
    encoder.remember(list(zip(keys, values.tolist(), feature.tolist(), number_of_pair.tolist())))
    return encoder


# --------------------------------------------------------------------------------------------------
# Rows of numbers
# --------------------------------------------------------------------------------------------------
def _numeric_state(features, writer, name):
    return {
        "bias": bool(features.bias),
        "scale": writer.value(features.scale, f"{name}.scale"),
        "window": [int(d) for d in features.window],
    }


def _numeric_from_state(node, reader, where):
    read = reader.part(node, where)
    bias, window = read("bias", reader.flag), tuple(read("window", reader.list))
    return NumericFeatures(bias, read("scale", reader.value), window)


savable_value("$numeric", NumericFeatures, _numeric_state, _numeric_from_state)


def rows_state(encoder, writer, name):
    """The JSON of a :class:`RowsEncoder`."""
    names = None if encoder.names is None else writer.strings(f"{name}.names", encoder.names.all())
    return {
        "features": _numeric_state(encoder.features, writer, f"{name}.features"),
        "min_count": int(encoder.min_count),
        "bigram": bool(encoder.has_bigram),
        "scaled": bool(encoder.scaled),
        "width": int(encoder.width),
        "names": names,
        "sparse": bool(encoder.sparse),
        "scale": float(encoder.scale),
        "squares": [str(encoder.squares.numerator), str(encoder.squares.denominator)],
        "n_tokens": int(encoder.n_tokens),
        "column": writer.array(f"{name}.column", encoder.order),
        **_rows_of_index(encoder.nodes, writer, name, encoder.min_count > 1),
    }


def rows_from_state(node, reader, where):
    """The :class:`RowsEncoder` of a file."""
    read = reader.part(node, where)
    features = reader.value({"$numeric": read("features", lambda node, _: node)}, f"{where}.features")
    min_count, bigram = read("min_count", reader.integer, 1), read("bigram", reader.flag)
    encoder = RowsEncoder(features, min_count, bigram, read("scaled", reader.flag))
    encoder.width = width = read("width", reader.integer, 0, _MOST_COLUMNS)
    require(encoder.size <= _MOST_COLUMNS, f"{where}: the window has too many columns")
    encoder.sparse = read("sparse", reader.flag)
    encoder.scale = read("scale", reader.number, 0.0, np.inf)
    require(0.0 < encoder.scale < np.inf, f"{where}.scale must be positive and finite")
    squares = read("squares", reader.list)
    ok = len(squares) == 2 and all(isinstance(part, str) and len(part) < 4000 for part in squares)
    ok = ok and all(part.isascii() and part.isdigit() for part in squares) and int(squares[1]) > 0
    require(ok, f"{where}.squares must be a fraction")
    encoder.squares = Fraction(int(squares[0]), int(squares[1]))
    encoder.n_tokens = read("n_tokens", reader.integer, 1)
    if node.get("names") is not None:
        names = read("names", reader.strings)
        require(len(names) == width, f"{where}.names must be {width}")
        encoder.names = FeatureNames(names)
    column = read("column", reader.array, np.int32, (None,), 0, encoder.size)
    n, index = column.shape[0], encoder.nodes
    require(np.unique(column).shape[0] == n, f"{where}.column holds a column twice")
    require(encoder.sparse or n == encoder.size, f"{where}.column must hold all columns")
    _fill_rows(index, n, node, reader, where, encoder.min_count > 1)
    row = index.row_of[:-1]
    used = np.sort(row[row >= 0])
    ok = used.shape[0] == index.n_rows and np.array_equal(used, np.arange(index.n_rows))
    require(ok, f"{where}.row must hold each row once")
    require(encoder.sparse or np.array_equal(row, column), f"{where}.row must be those of the columns")
    encoder.place(column)
    return encoder


# --------------------------------------------------------------------------------------------------
# Patterns of other tools
# --------------------------------------------------------------------------------------------------
def _patterns_state(patterns, writer, name):
    return {"lines": writer.value(list(patterns.lines), name), "syntax": patterns.syntax}


def _patterns_from_state(node, reader, where):
    lines, syntax = reader.members(node, where, "lines syntax")
    lines = reader.value(reader.list(lines, where), f"{where}.lines")
    ok = isinstance(lines, list) and all(type(line) is str for line in lines) and type(syntax) is str
    require(ok, f"{where} must hold strings")
    return Patterns(lines, syntax)


savable_value("$patterns", Patterns, _patterns_state, _patterns_from_state)


def pattern_encoder_state(encoder, writer, name):
    """The JSON of a :class:`PatternEncoder`."""
    cut = encoder.min_count > 1
    return {
        "tokens": name_of(encoder.first_type, TOKENS),
        "patterns": writer.value(encoder.templates, f"{name}.patterns"),
        "min_count": int(encoder.min_count),
        "nodes": _index_state(encoder.nodes, writer, f"{name}.nodes", cut),
        "edges": _index_state(encoder.edges, writer, f"{name}.edges", cut),
    }


def pattern_encoder_from_state(node, reader, where):
    """The :class:`PatternEncoder` of a file."""
    read = reader.part(node, where)
    patterns = read("patterns", reader.value)
    require(isinstance(patterns, Patterns), f"{where}.patterns must be patterns")
    encoder = PatternEncoder(patterns, read("min_count", reader.integer, 1))
    encoder.first_type = read("tokens", reader.choice, TOKENS)
    for side in ("nodes", "edges"):
        (part,) = reader.members(node, where, side)
        _fill_index(getattr(encoder, side), part, reader, f"{where}.{side}", encoder.min_count > 1)
    return encoder
