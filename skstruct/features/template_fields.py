"""The fields of template encoders in files, with their accessor varieties.

Whatever follows from the templates (plan, groups, spans) is compiled anew on loading and must agree with the
file. The hash table is stored as the list of its entries and filled anew, so that a file cannot hold one in
which a search never ends; the same holds of the tables that find strings of accessor varieties and entries of
lexicons.
"""

import numpy as np

from ..core.interning import pairs_of, table_of
from ..saving.container import require, within
from ..saving.fields import (
    Field,
    Kind,
    Table,
    array,
    choice,
    distinct,
    each,
    exactly,
    flag,
    integer,
    knowing,
    optional,
    pair,
    string,
    value,
    via,
    without_last,
)  # fmt: skip
from ..saving.values import savable_value
from .accessor import LONGEST, AccessorVariety
from .template_encoder import TemplateEncoder
from .templates import FeatureTemplates
from .tokens import Alphabet

MOST_ROWS = 2**31
"""Of weights."""

TOKENS = choice({None: None, "str": str, "tuple": tuple})._replace(null=True)  # of a model of another tool
MIN_COUNT = Field("min_count", integer(1))

TITLES = Field("titles", each(string), of=lambda encoder: encoder.reads.titles, default=None)

alphabet = via(distinct, Alphabet.strings, Alphabet)


def has_cutoff(f):
    """Whether features that are rare do not count."""
    return f["min_count"] > 1


def take_titles(encoder, f):
    """Let an encoder of strings read the columns of a data frame that it was trained on."""
    if f["titles"] is not None:
        encoder.reads = encoder.reads._replace(titles=tuple(f["titles"]))


# --------------------------------------------------------------------------------------------------
# Templates
# --------------------------------------------------------------------------------------------------
LINES = Table(
    "`$templates` with lexicons",
    Field("lines", each(string), of=lambda templates: list(templates.lines)),
    Field(
        "lexicons",
        each(pair(string, value), lambda f, k, item: item[0]),
        of=lambda templates: [(name, list(entries)) for name, entries in templates.lexicons.items()],
        stem="",
    ),
)


def _write_templates(templates, *how):
    node = LINES.write(templates, *how)
    return node if templates.lexicons else node["lines"]


def _read_templates(node, where, f):
    found = LINES.read(node if isinstance(node, dict) else {"lines": node, "lexicons": []}, where, f)
    lexicons = dict(found["lexicons"])
    require(len(lexicons) == len(found["lexicons"]), f"{where}: a lexicon occurs twice")
    return FeatureTemplates(found["lines"], lexicons)


_templates = savable_value(
    "$templates", FeatureTemplates, Kind("as `$templates`", _write_templates, _read_templates)
)


# --------------------------------------------------------------------------------------------------
# Accessor varieties and lexicons; the entries of lexicons are part of the templates
# --------------------------------------------------------------------------------------------------
def _statistics(f):
    """(column, its :class:`AccessorVariety`)."""
    statistics = AccessorVariety(f["minimum"])
    try:
        return f["column"], statistics.set(f["tokens"], f["pairs"], f["varieties"])
    except ValueError as error:
        require(False, f"{f.where}: {error}")


STATISTICS = Table(
    "Accessor varieties",
    Field("column", integer()),
    Field("minimum", integer(1)),
    Field("tokens", alphabet, of="alphabet"),
    Field(
        "pairs",
        each(
            array("int32", None, 2, low=0, high=("strings one shorter", "tokens")),
            length=LONGEST - 1,
            given=lambda f, done: {"strings one shorter": done[-1] if done else f["tokens"]},
        ),
    ),
    Field(
        "varieties",
        each(
            array("int32", "strings", low=0),
            length=LONGEST,
            given=lambda f, done: {"strings": [f["tokens"], *f["pairs"]][len(done)]},
        ),
    ),
    make=_statistics,
)


def _contexts(f):
    """The encoder's :class:`.contexts.Contexts`, filled."""
    contexts = f["encoder"].contexts
    for name in ("trained", "adapted", "characters"):
        if f[name] is None:
            continue
        found, expected = (
            dict(f[name]),
            contexts.lexicon_columns if name == "characters" else set(contexts.longest),
        )
        ok = set(found) == expected and len(found) == len(f[name])
        require(ok, f"{f.where}.{name}: the templates read the columns {sorted(expected)}")
        setattr(contexts, name, found)
    return contexts


def _by_column(statistics):
    return statistics and [{"column": column, **vars(item)} for column, item in statistics.items()]


_STATISTICS = each(STATISTICS, lambda f, k, item: item["column"])

CONTEXTS = Table(
    "`contexts` of templates",
    Field("trained", _STATISTICS, of=lambda contexts: _by_column(contexts.trained) or []),
    Field("adapted", optional(_STATISTICS), of=lambda contexts: _by_column(contexts.adapted)),
    Field("characters", each(pair(integer(), flag)), of=lambda contexts: list(contexts.characters.items())),
    make=_contexts,
)


# --------------------------------------------------------------------------------------------------
# Combinations and rows of one side
# --------------------------------------------------------------------------------------------------
def _compiled(encoder, side, c):
    """What follows from the templates: atoms of a combination, (its row, shift) by template, sizes."""
    compound = side.compounds[c]
    return {
        "atoms": [[*encoder.plan.channels[k], distance] for k, distance in compound.atoms],
        "uses": [list(use) for use in side.uses[c]],
        "several": compound.prefix >= 0,
        "slots": len(compound.slots),
    }


def _stored(encoder, side):
    """What a file has of one side."""
    compounds = []
    for c in range(len(side.compounds)):
        known = _compiled(encoder, side, c)
        pairs = pairs_of(encoder.table, side.offset + c) if known["several"] else None
        if pairs is not None and pairs.shape[0] != side.n_nodes[c]:
            raise ValueError("the encoder is inconsistent: its hash table and its counts disagree")
        compounds.append({**known, "pairs": pairs, "row": side.row_of[c], "count": side.counts[c]})
    return {"n_rows": side.n_rows, "compounds": compounds, "alive": side.alive}


def _known(f, done):
    """What the members of the next combination are compared with."""
    encoder, side, c = f["encoder"], f["side"], len(done)
    known, compound = _compiled(encoder, side, c), side.compounds[c]
    return {
        "compiled atoms": known.pop("atoms"),
        "compiled uses": known.pop("uses"),
        "combinations of the rest": done[compound.prefix]["n"] if compound.prefix >= 0 else 0,
        "values": encoder._n_values(compound.channel),
        **known,
    }


def _compound(f):
    row = f["row"]
    ok = within(row[row >= 0], f["side"].first_row, f["n_rows"] - f["slots"] + 1)
    require(ok, f"{f.where}.row is out of range")
    return {"n": f["n"], **f}


def _none(n):
    return np.full(n, -1, np.int32)


_WHY = "this version compiles the templates in another way"

COMPOUND = Table(
    "Combinations of `nodes` and `edges`",
    Field("atoms", exactly("compiled atoms", _WHY)),
    Field("uses", exactly("compiled uses", _WHY)),
    Field(
        "pairs",
        array("int32", None, 2, low=0, high=("combinations of the rest", "values")),
        when="several",
        default=lambda _: np.zeros((0, 2), np.int32),
    ),
    Field(
        "row", without_last(array("int32", "n", low=-1)), when="slots", default=lambda f: _none(f["n"] + 1)
    ),
    Field(
        "count",
        array("int32", "n", "slots", low=0),
        when="counted",
        default=lambda f: np.zeros((0, f["slots"]), np.int32),
    ),
    make=_compound,
    n=lambda f: len(f["pairs"]) if f["several"] else f["values"],
    counted=lambda f: f["slots"] and f["cut"],
)


def _side(f):
    """The pairs of each combination; the side of the encoder is filled."""
    side, compounds = f["side"], f["compounds"]
    side.n_rows, side.alive = f["n_rows"], f["alive"]
    side.n_nodes, side.row_of, side.counts = ([c[name] for c in compounds] for name in ("n", "row", "count"))
    return [c["pairs"] for c in compounds]


SIDE = Table(
    "`nodes` and `edges` of templates",
    Field("n_rows", integer("first row", MOST_ROWS)),
    Field("compounds", each(COMPOUND, lambda f, k, item: k, "compounds of the templates", _known), stem=""),
    Field("alive", array("uint8", "n_rows", low=0, high=2), when="cut", default=lambda f: f["side"].alive),
    make=_side,
    **{
        "first row": lambda f: f["side"].first_row,
        "compounds of the templates": lambda f: f["side"].compounds,
    },
)


# --------------------------------------------------------------------------------------------------
# The whole encoder
# --------------------------------------------------------------------------------------------------
def _new_encoder(f):
    """The encoder without its combinations."""
    columns = f["columns"]  # before the encoder is built: it makes an alphabet for every column
    encoder = TemplateEncoder(f["templates"], f["min_count"])
    encoder.token_type, encoder.alphabets = f["tokens"], columns
    found = {(item["function"], item["column"]): item for item in f["derived"]}
    missing, unknown = encoder.derived.keys() - found, found.keys() - encoder.derived.keys()
    require(not missing, f"{f.where}.derived lacks {missing}")
    require(not unknown, f"{f.where}.derived: {unknown} is in no template")
    for channel, item in found.items():
        encoder.derived[channel] = item["values"], item["of_string"]
    return encoder


def _encoder(f):
    encoder, pairs = f["encoder"], [*f["nodes"], *f["edges"]]
    require(f["contexts"] or not encoder.contexts.in_use, f"{f.where} lacks contexts")
    encoder.table, is_distinct = table_of(pairs)
    require(is_distinct, f"{f.where}: a combination occurs twice")
    encoder.entries = np.array([sum(map(len, pairs))], np.int64)
    take_titles(encoder, f)
    return encoder


def _derived(encoder):
    return [
        {"function": function, "column": column, "values": values, "of_string": of_string}
        for (function, column), (values, of_string) in encoder.derived.items()
    ]


DERIVED = Table(
    "`derived` of templates",
    Field("function", string),
    Field("column", integer(0, "columns")),
    Field("values", alphabet),
    Field("of_string", array("int32", "strings of the column", low=0, high="values")),
    **{"strings of the column": lambda f: f["columns"][f["column"]]},
)

TEMPLATE_ENCODER = Table(
    "Encoder `templates`",
    Field("tokens", TOKENS, of="token_type"),
    Field("templates", _templates),
    MIN_COUNT,
    Field("columns", each(alphabet, lambda f, k, item: k, "columns of the templates"), of="alphabets"),
    Field(
        "derived",
        each(DERIVED, lambda f, k, item: f"{item['function']}.{item['column']}"),
        of=_derived,
        stem="",
    ),
    Field("nodes", knowing(SIDE, lambda f: {"side": f["encoder"].nodes}), of=lambda e: _stored(e, e.nodes)),
    Field("edges", knowing(SIDE, lambda f: {"side": f["encoder"].edges}), of=lambda e: _stored(e, e.edges)),
    Field("contexts", CONTEXTS, of=lambda e: e.contexts if e.contexts.in_use else None, default=None),
    TITLES,
    make=_encoder,
    cut=has_cutoff,
    encoder=_new_encoder,
    **{"columns of the templates": lambda f: f["templates"].n_columns},
)
