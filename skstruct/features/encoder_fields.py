"""The fields of encoders in files; those of templates stand in :mod:`.template_fields`."""

from collections import defaultdict
from fractions import Fraction
from itertools import chain
from operator import getitem

import numpy as np

from ..data.matrix import FeatureNames
from ..saving.checks import require, within
from ..saving.fields import (
    Field,
    Kind,
    Table,
    array,
    choice,
    distinct,
    each,
    flag,
    inline,
    integer,
    knowing,
    number,
    optional,
    pair,
    string,
    strings,
    value,
)
from ..saving.values import savable_value
from .bag_encoder import BagEncoder
from .feature_index import FeatureIndex, RowIndex
from .mixed_encoder import MixedEncoder
from .numeric import NumericFeatures
from .pattern_encoder import PatternEncoder
from .patterns import Patterns
from .rows_encoder import RowsEncoder
from .template_encoder import TemplateEncoder
from .template_fields import MIN_COUNT, MOST_ROWS, TEMPLATE_ENCODER, TOKENS, has_cutoff

MOST_COLUMNS = 2**31 - 1
"""Of rows of numbers."""


# --------------------------------------------------------------------------------------------------
# Parameters
# --------------------------------------------------------------------------------------------------
def _patterns(f):
    ok = isinstance(f["lines"], list) and all(type(line) is str for line in f["lines"])
    require(ok, f"{f.where}.lines must hold strings")
    return Patterns(f["lines"], f["syntax"])


PATTERNS = Table(
    "`$patterns`",
    Field("lines", value, of=lambda patterns: list(patterns.lines), stem=""),
    Field("syntax", string),
    make=_patterns,
)

NUMERIC = Table(
    "`$numeric`",
    Field("bias", flag),
    Field("scale", value),
    Field("window", each(integer(-MOST_ROWS, MOST_ROWS))),
    make=lambda f: NumericFeatures(f["bias"], f["scale"], tuple(f["window"])),
)

numeric = savable_value("$numeric", NumericFeatures, NUMERIC)
savable_value("$patterns", Patterns, PATTERNS)


# --------------------------------------------------------------------------------------------------
# Indices of features
# --------------------------------------------------------------------------------------------------
def _filled(index, f):
    row = f["row"]
    ok = within(row[row >= 0], index.first_row, f["n_rows"])
    require(ok, f"{f.where}.row is out of range")
    index.n_rows, index.row_of, index.counts = f["n_rows"], np.append(row, np.int32(-1)), f["count"]
    return index


def _named(f):
    index = _filled(FeatureIndex(f["first_row"]), f)
    index.ids = {name: k for k, name in enumerate(f["names"])}
    return index


_ROWS = (
    Field("row", array("int32", "n", low=-1, high="n_rows"), of=lambda index: index.row_of[:-1]),
    Field("n_rows", integer("first_row", MOST_ROWS)),
    Field(
        "count", array("int64", "n", low=0), of="counts", when="cut", default=lambda _: np.zeros(0, np.int64)
    ),
)

ROWS = Table("Rows of features", *_ROWS, make=lambda f: _filled(RowIndex(f["first_row"]), f))

INDEX = Table(
    "Features by name",
    Field("names", distinct, of=lambda index: list(index.ids)),
    *_ROWS,
    make=_named,
    n=lambda f: len(f["names"]),
)


# --------------------------------------------------------------------------------------------------
# Ready-made features. The remembered (key, value) pairs are stored too, by key: without them, prediction
# would resolve every occurrence of a pair in Python. Values that are strings are not written, as the
# feature is named ``key:value``; True and False are written as the numbers to which they are equal.
# --------------------------------------------------------------------------------------------------
def _remembered(encoder):
    by_key = defaultdict(list)
    for k, (key, found) in enumerate(encoder.pairs.items()):
        by_key[key].append((k, found))
    ids, values = zip(*chain.from_iterable(by_key.values())) if by_key else ((), ())
    return {
        "keys": list(by_key),
        "size": np.array([len(pairs) for pairs in by_key.values()], np.int64),
        "text": np.fromiter((isinstance(v, str) for v in values), np.bool_, len(values)),
        "number": np.array([float(v) for v in values if not isinstance(v, str)], np.float64),
        "feature": np.array(encoder._pair_feature, np.int32)[list(ids)],
    }


def _pairs(f):
    """(key, value, feature, number) of each pair."""
    keys, size, text, feature, names = (f[name] for name in "keys size text feature names".split())
    n = text.shape[0]
    ok = within(size, 0, n + 1) and int(size.sum()) == n
    require(ok, f"{f.where}.size must add up to {n}")
    require(within(feature[text], 0, len(names)), f"{f.where}.feature is out of range")
    numbers = np.ones(n)
    numbers[~text] = f["number"]
    key_of_pair = np.repeat(np.arange(len(keys)), size)
    rests = [slice(len(k) + 1, None) for k in keys]  # of "key:value", the value
    rest_of = map(rests.__getitem__, key_of_pair[text].tolist())
    values = np.empty(n, object)
    values[text] = list(map(getitem, map(names.__getitem__, feature[text].tolist()), rest_of))
    values[~text] = f["number"].tolist()
    keys = map(keys.__getitem__, key_of_pair.tolist())
    return list(zip(keys, values.tolist(), feature.tolist(), numbers.tolist()))


PAIRS = Table(
    "`pairs` of ready-made features",
    Field("keys", strings),
    Field("size", array("int64", "keys")),
    Field("text", array("bool", None)),
    Field("number", array("float64", "numbers", finite=True)),
    Field("feature", array("int32", "text", low=-1, high="names")),
    make=_pairs,
    numbers=lambda f: int(np.count_nonzero(~f["text"])),
    names=lambda f: list(f["nodes"].ids),
)


def _bag(f):
    encoder = BagEncoder(f["min_count"])
    encoder.nodes, encoder._n_numbers = f["nodes"], f["n_numbers"]
    encoder.remember(f["pairs"])
    return encoder


BAG = Table(
    "Encoder `bag`",
    MIN_COUNT,
    Field("nodes", inline(INDEX), of="nodes"),
    Field("n_numbers", integer(), of="_n_numbers"),
    Field("pairs", PAIRS, of=_remembered),
    make=_bag,
    cut=has_cutoff,
    first_row=lambda _: 0,
)


# --------------------------------------------------------------------------------------------------
# Rows of numbers, alone or with something else
# --------------------------------------------------------------------------------------------------
def _read_digits(node, where, _):
    ok = type(node) is str and node.isascii() and node.isdigit() and len(node) < 4000
    require(ok, f"{where} must be digits")
    return int(node)


_DIGITS = Kind("digits", lambda value, *_: str(value), _read_digits)


def _rows_encoder(f):
    """The encoder without its columns."""
    encoder = RowsEncoder(f["features"], f["min_count"], f["bigram"], f["scaled"])
    encoder.width, encoder.sparse, encoder.scale, encoder.n_tokens = (
        f[name] for name in ("width", "sparse", "scale", "n_tokens")
    )
    require(encoder.size <= MOST_COLUMNS, f"{f.where}: the window has too many columns")
    require(0.0 < encoder.scale, f"{f.where}.scale must be positive and finite")
    require(f["squares"][1] > 0, f"{f.where}.squares must be a fraction")
    encoder.squares = Fraction(*f["squares"])
    encoder.names = None if f["names"] is None else FeatureNames(f["names"])
    return encoder


def _rows(f):
    encoder, column = f["encoder"], f["column"]
    n, encoder.nodes = column.shape[0], f["nodes"]
    require(encoder.names is None or len(f["names"]) == f["width"], f"{f.where}.names must be {f['width']}")
    require(np.unique(column).shape[0] == n, f"{f.where}.column holds a column twice")
    require(encoder.sparse or n == encoder.size, f"{f.where}.column must hold all columns")
    row = f["nodes"].row_of[:-1]
    used = np.sort(row[row >= 0])
    ok = np.array_equal(used, np.arange(f["nodes"].n_rows))
    require(ok, f"{f.where}.row must hold each row once")
    require(encoder.sparse or np.array_equal(row, column), f"{f.where}.row must be those of the columns")
    encoder.place(column)
    return encoder


NUMBERS = Table(
    "Encoder `rows`",
    Field("features", numeric),
    MIN_COUNT,
    Field("bigram", flag, of="has_bigram"),
    Field("scaled", flag),
    Field("width", integer(0, MOST_COLUMNS)),
    Field("names", optional(strings), of=lambda e: e.names and e.names.all()),
    Field("sparse", flag),
    Field("scale", number(0.0)),
    Field("squares", pair(_DIGITS, _DIGITS), of=lambda e: (e.squares.numerator, e.squares.denominator)),
    Field("n_tokens", integer(1)),
    Field("column", array("int32", None, low=0, high="features there may be"), of="order"),
    Field("nodes", inline(ROWS), of="nodes"),
    make=_rows,
    cut=has_cutoff,
    first_row=lambda _: 0,
    n=lambda f: len(f["column"]),
    encoder=_rows_encoder,
    **{"features there may be": lambda f: f["encoder"].size},
)


def _joint(f):
    numbers, others, mask, columns = (f[name] for name in ("numbers", "others", "mask", "columns"))
    require(not numbers.sparse, f"{f.where}.numbers must be dense")
    ok = isinstance(others, (TemplateEncoder, PatternEncoder) if mask is None else RowsEncoder)
    require(ok, f"{f.where}.others is of the wrong kind")
    if mask is not None:
        sizes = int(mask.sum()), int((~mask).sum())
        ok = others.sparse and sizes == (numbers.width, others.width)
        require(ok, f"{f.where}.mask must tell which columns are dense")
    require(numbers.has_bigram == others.has_bigram, f"{f.where}: the parts differ in bigrams")
    return MixedEncoder(numbers, others, tuple(columns) if mask is None else mask)


# --------------------------------------------------------------------------------------------------
# Patterns of other tools
# --------------------------------------------------------------------------------------------------
def _pattern_encoder(f):
    require(isinstance(f["patterns"], Patterns), f"{f.where}.patterns must be patterns")
    encoder = PatternEncoder(f["patterns"], f["min_count"])
    encoder.first_type, encoder.nodes, encoder.edges = f["tokens"], f["nodes"], f["edges"]
    return encoder


PATTERN_ENCODER = Table(
    "Encoder `patterns`",
    Field("tokens", TOKENS, of="first_type"),
    Field("patterns", value, of="templates"),
    MIN_COUNT,
    Field("nodes", knowing(INDEX, lambda _: {"first_row": 0})),
    Field("edges", knowing(INDEX, lambda _: {"first_row": 1})),
    make=_pattern_encoder,
    cut=has_cutoff,
)


# --------------------------------------------------------------------------------------------------
# Any of them
# --------------------------------------------------------------------------------------------------
def _write_encoder(value, writer, name, f):
    for kind, (cls, table) in ENCODERS.items():
        if type(value) is cls:
            return {"kind": kind, **table.write(value, writer, name, f)}
    raise TypeError(f"features made by a {type(value).__name__} cannot be saved")


def _read_encoder(node, where, f):
    require(isinstance(node, dict) and "kind" in node, f"{where} lacks kind")
    _, table = choice(ENCODERS).read(node["kind"], f"{where}.kind", f)
    return table.read(node, where, f)


encoder = Kind("encoder", _write_encoder, _read_encoder)

JOINT = Table(
    "Encoder `joint`",
    Field("numbers", NUMBERS),
    Field("others", encoder),
    Field(
        "mask",
        optional(array("bool", None)),
        of=lambda e: None if e.are_strings else e.columns,
    ),
    Field("columns", each(string), of=lambda e: list(e.columns) if e.are_strings else []),
    make=_joint,
)

ENCODERS = {
    "bag": (BagEncoder, BAG),
    "joint": (MixedEncoder, JOINT),
    "rows": (RowsEncoder, NUMBERS),
    "patterns": (PatternEncoder, PATTERN_ENCODER),
    "templates": (TemplateEncoder, TEMPLATE_ENCODER),
}
"""What files call the encoders: their class, and their fields."""
