"""The fields of encoders in files; those of templates stand in :mod:`.template_fields`."""

from collections import defaultdict
from fractions import Fraction
from itertools import chain
from operator import getitem

import numpy as np

from ..data.reads import FeatureNames
from ..saving.container import require, within
from ..saving.fields import (
    Field,
    Kind,
    Table,
    array,
    built,
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
    via,
    without_last,
)  # fmt: skip
from ..saving.values import savable_value
from .bag_encoder import BagEncoder
from .choose import MixedEncoder
from .feature_index import FeatureIndex, RowIndex
from .numeric import NumericFeatures
from .pattern_encoder import PatternEncoder
from .patterns import Patterns
from .rows_encoder import RowsEncoder
from .template_encoder import TemplateEncoder
from .template_fields import (
    MIN_COUNT,
    MOST_ROWS,
    TEMPLATE_ENCODER,
    TITLES,
    TOKENS,
    has_cutoff,
    take_titles,
)  # fmt: skip

MOST_COLUMNS = 2**31 - 1
"""Of rows of numbers."""


# --------------------------------------------------------------------------------------------------
# Parameters
# --------------------------------------------------------------------------------------------------
def _lines(found):
    if not (isinstance(found, list) and all(type(line) is str for line in found)):
        raise ValueError("a list of strings expected")
    return found


PATTERNS = Table(
    "`$patterns`",
    Field("lines", via(value, list, _lines), stem=""),
    Field("syntax", string),
    make=built(Patterns, "lines syntax"),
)

NUMERIC = Table(
    "`$numeric`",
    Field("bias", flag),
    Field("scale", value),
    Field("window", each(integer(-MOST_ROWS, MOST_ROWS))),
    make=built(NumericFeatures, "bias scale window"),
)

numeric = savable_value("$numeric", NumericFeatures, NUMERIC)
savable_value("$patterns", Patterns, PATTERNS)


# --------------------------------------------------------------------------------------------------
# Indices of features
# --------------------------------------------------------------------------------------------------
def _check_rows(index, f):
    row = f["row"]
    require(within(row[row >= 0], index.first_row, index.n_rows), f"{f.where}.row is out of range")


_ROWS = (
    Field("row", without_last(array("int32", "n", low=-1, high="n_rows")), of="row_of"),
    Field("n_rows", integer("first_row", MOST_ROWS)),
    Field("count", array("int64", "n", low=0), "counts", "cut", default=lambda _: np.zeros(0, np.int64)),
)

ROWS = Table("Rows of features", *_ROWS, make=built(RowIndex, "first_row", _check_rows))

INDEX = Table(
    "Features by name",
    Field("names", via(distinct, list, lambda names: {name: k for k, name in enumerate(names)}), of="ids"),
    *_ROWS,
    make=built(FeatureIndex, "first_row", _check_rows),
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


BAG = Table(
    "Encoder `bag`",
    MIN_COUNT,
    Field("nodes", inline(INDEX), of="nodes"),
    Field("n_numbers", integer(), of="_n_numbers"),
    Field("pairs", PAIRS, of=_remembered),
    make=built(BagEncoder, "min_count", lambda encoder, f: encoder.remember(f["pairs"])),
    cut=has_cutoff,
    first_row=lambda _: 0,
)


# --------------------------------------------------------------------------------------------------
# Rows of numbers, alone or with something else
# --------------------------------------------------------------------------------------------------
def _fraction(parts):
    ok = all(part.isascii() and part.isdigit() and len(part) < 4000 for part in parts) and int(parts[1]) > 0
    if not ok:
        raise ValueError("a fraction in digits expected")
    return Fraction(*map(int, parts))


def _check_numbers(encoder, f):
    n, row, size = len(f["column"]), f["nodes"].row_of[:-1], f["size"]
    require(size <= MOST_COLUMNS, f"{f.where}: the window has too many columns")
    ok = encoder.names is None or len(encoder.names.all()) == encoder.width
    require(ok, f"{f.where}.names must be {encoder.width}")
    require(np.unique(f["column"]).shape[0] == n, f"{f.where}.column holds a column twice")
    require(encoder.sparse or n == size, f"{f.where}.column must hold all columns")
    ok = np.array_equal(np.sort(row[row >= 0]), np.arange(f["nodes"].n_rows))
    require(ok, f"{f.where}.row must hold each row once")
    require(encoder.sparse or np.array_equal(row, f["column"]), f"{f.where}.row must be those of the columns")
    encoder.place(f["column"])


def _size(f):
    """Features that there may be."""
    low, high = f["features"].window
    return f["width"] * (high - low + 1) + f["features"].bias


NUMBERS = Table(
    "Encoder `rows`",
    Field("features", numeric),
    MIN_COUNT,
    Field("bigram", flag, of="has_bigram"),
    Field("scaled", flag),
    Field("width", integer(0, MOST_COLUMNS)),
    Field("names", optional(via(strings, FeatureNames.all, FeatureNames))),
    Field("sparse", flag),
    Field("scale", number(np.finfo(float).smallest_subnormal)),
    Field("squares", via(pair(string, string), lambda q: (q.numerator, q.denominator), _fraction)),
    Field("n_tokens", integer(1)),
    Field("column", array("int32", None, low=0, high="size"), of="order"),
    Field("nodes", inline(ROWS), of="nodes"),
    make=built(RowsEncoder, "features min_count bigram scaled", _check_numbers),
    cut=has_cutoff,
    first_row=lambda _: 0,
    n=lambda f: len(f["column"]),
    size=_size,
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
def _are_patterns(found):
    if not isinstance(found, Patterns):
        raise ValueError("patterns expected")
    return found


PATTERN_ENCODER = Table(
    "Encoder `patterns`",
    Field("tokens", TOKENS, of="first_type"),
    Field("patterns", via(value, lambda patterns: patterns, _are_patterns), of="templates"),
    MIN_COUNT,
    Field("nodes", knowing(INDEX, lambda _: {"first_row": 0})),
    Field("edges", knowing(INDEX, lambda _: {"first_row": 1})),
    TITLES,
    make=built(PatternEncoder, "patterns min_count", take_titles),
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
    Field("mask", optional(array("bool", None)), of=lambda e: None if e.are_strings else e.columns),
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
