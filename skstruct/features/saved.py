"""The states of encoders: what turns tokens into feature rows.

A state holds what was learned from data. Whatever follows from the templates (plan, groups, spans) is
compiled anew on loading and must agree with the file. The hash table is stored as the list of its entries
and filled anew, so that a file cannot hold one in which a search never ends; the same holds of the tables
that find strings of accessor varieties and entries of lexicons.
"""

import numpy as np

from ..core.interning import pairs_of, table_of
from ..saving.values import name_of, require, savable_value, within
from .accessor import LONGEST, AccessorVariety
from .bag_encoder import BagEncoder
from .choose import MixedEncoder
from .pattern_encoder import PatternEncoder
from .rows_encoder import RowsEncoder
from .saved_named import (
    MOST_ROWS,
    TOKENS,
    bag_from_state,
    bag_state,
    pattern_encoder_from_state,
    pattern_encoder_state,
    rows_from_state,
    rows_state,
)
from .template_encoder import TemplateEncoder
from .templates import FeatureTemplates
from .tokens import Alphabet


def encoder_state(encoder, writer, name):
    """The JSON of an encoder."""
    for kind, (cls, to_state, _) in KINDS.items():
        if type(encoder) is cls:
            named = encoder.reads.titles if cls in (TemplateEncoder, PatternEncoder) else None
            titles = {} if named is None else {"titles": list(named)}
            return {"kind": kind, **to_state(encoder, writer, name), **titles}
    raise TypeError(f"features made by a {type(encoder).__name__} cannot be saved")


def encoder_from_state(node, reader, where):
    """The encoder of a file."""
    readers = {kind: from_state for kind, (_, _, from_state) in KINDS.items()}
    encoder = reader.part(node, where)("kind", reader.choice, readers)(node, reader, where)
    if type(encoder) in (TemplateEncoder, PatternEncoder) and node.get("titles") is not None:
        titles = tuple(reader.list(node["titles"], f"{where}.titles"))
        require(all(type(title) is str for title in titles), f"{where}.titles must be names")
        encoder.reads = encoder.reads._replace(titles=titles)
    return encoder


# --------------------------------------------------------------------------------------------------
# Numbers with something else
# --------------------------------------------------------------------------------------------------
def _mixed_state(encoder, writer, name):
    return {
        "numbers": rows_state(encoder.numbers, writer, f"{name}.numbers"),
        "others": encoder_state(encoder.others, writer, f"{name}.others"),
        "mask": None if encoder.are_strings else writer.array(f"{name}.mask", encoder.columns),
        "columns": list(encoder.columns) if encoder.are_strings else [],
    }


def _mixed_from_state(node, reader, where):
    numbers, others, mask, columns = reader.members(node, where, "numbers others mask columns")
    numbers = rows_from_state(numbers, reader, f"{where}.numbers")
    others = encoder_from_state(others, reader, f"{where}.others")
    columns = tuple(reader.list(columns, f"{where}.columns"))
    require(not numbers.sparse, f"{where}.numbers must be dense")
    require(all(type(name) is str for name in columns), f"{where}.columns must be names")
    ok = isinstance(others, (TemplateEncoder, PatternEncoder) if mask is None else RowsEncoder)
    require(ok, f"{where}.others is of the wrong kind")
    if mask is not None:
        columns = reader.array(mask, f"{where}.mask", np.bool_, (None,))
        sizes = int(columns.sum()), int((~columns).sum())
        ok = others.sparse and sizes == (numbers.width, others.width)
        require(ok, f"{where}.mask must tell which columns are dense")
    require(numbers.has_bigram == others.has_bigram, f"{where}: the parts differ in bigrams")
    return MixedEncoder(numbers, others, columns)


# --------------------------------------------------------------------------------------------------
# Templates
# --------------------------------------------------------------------------------------------------
def templates_state(templates, writer, name):
    """The JSON of a :class:`FeatureTemplates`: its lines; with lexicons, an object that has both."""
    lines, lexicons = list(templates.lines), templates.lexicons.items()
    if not lexicons:
        return lines
    return {
        "lines": lines,
        "lexicons": [[key, writer.value(list(entries), f"{name}.{key}")] for key, entries in lexicons],
    }


def templates_from_state(node, reader, where):
    """The :class:`FeatureTemplates` of a file."""
    lexicons = None
    if isinstance(node, dict):
        node, parts = reader.members(node, where, "lines lexicons")
        ok = isinstance(parts, list) and all(isinstance(p, list) and len(p) == 2 for p in parts)
        require(ok and all(type(p[0]) is str for p in parts), f"{where}.lexicons must be pairs")
        require(len({p[0] for p in parts}) == len(parts), f"{where}: a lexicon occurs twice")
        lexicons = {key: reader.value(entries, f"{where}.{key}") for key, entries in parts}
    require(isinstance(node, list), f"{where} must be a list")
    require(all(isinstance(line, str) for line in node), f"{where} must hold strings")
    return FeatureTemplates(node, lexicons)


savable_value("$templates", FeatureTemplates, templates_state, templates_from_state)


def _template_state(encoder, writer, name):
    contexts = {}
    if encoder.contexts.in_use:
        contexts["contexts"] = _contexts_state(encoder.contexts, writer, f"{name}.contexts")
    return {
        "tokens": name_of(encoder.token_type, TOKENS),
        "templates": templates_state(encoder.templates, writer, f"{name}.templates"),
        "min_count": int(encoder.min_count),
        "columns": [
            writer.strings(f"{name}.columns.{c}", alphabet.strings())
            for c, alphabet in enumerate(encoder.alphabets)
        ],
        "derived": [
            {
                "function": function,
                "column": column,
                "values": writer.strings(f"{name}.{function}.{column}.values", values.strings()),
                "of_string": writer.array(f"{name}.{function}.{column}.of_string", of_string),
            }
            for (function, column), (values, of_string) in encoder.derived.items()
        ],
        "nodes": _side_state(encoder, encoder.nodes, writer, f"{name}.nodes"),
        "edges": _side_state(encoder, encoder.edges, writer, f"{name}.edges"),
        **contexts,
    }


def _compiled(encoder, side, c):
    """What follows from the templates: atoms of a combination, and (its row, shift) by template."""
    atoms = [[*encoder.plan.channels[k], distance] for k, distance in side.compounds[c].atoms]
    return {"atoms": atoms, "uses": [list(use) for use in side.uses[c]]}


def _side_state(encoder, side, writer, name):
    cut, compounds = encoder.min_count > 1, []
    for c, compound in enumerate(side.compounds):
        arrays = {}
        if compound.prefix >= 0:
            arrays["pairs"] = pairs_of(encoder.table, side.offset + c)
            if arrays["pairs"].shape[0] != side.n_nodes[c]:
                raise ValueError("the encoder is inconsistent: its hash table and its counts disagree")
        if compound.slots:
            arrays["row"] = side.row_of[c][:-1]
            if cut:
                arrays["count"] = side.counts[c]
        arrays = {part: writer.array(f"{name}.{c}.{part}", array) for part, array in arrays.items()}
        compounds.append({**_compiled(encoder, side, c), **arrays})
    state = {"n_rows": int(side.n_rows), "compounds": compounds}
    if cut:
        state["alive"] = writer.array(f"{name}.alive", side.alive)
    return state


def _template_from_state(node, reader, where):
    read = reader.part(node, where)
    (lines,) = reader.members(node, where, "templates")
    templates = reader.value({"$templates": lines}, f"{where}.templates")
    min_count, columns = read("min_count", reader.integer, 1), read("columns", reader.list)
    # Before the encoder is built: it makes an alphabet for every column that a template names.
    ok = len(columns) == templates.n_columns
    require(ok, f"{where}: the templates read {templates.n_columns} columns, not {len(columns)}")
    encoder = TemplateEncoder(templates, min_count)
    encoder.token_type = read("tokens", reader.choice, TOKENS)
    encoder.alphabets = [Alphabet(reader.distinct(column, f"{where}.columns")) for column in columns]
    for part in read("derived", reader.list):
        function, column = reader.members(part, f"{where}.derived", "function column")
        channel = f"{where}: {function!r:.20} of column {column!r:.20}"
        ok = type(function) is str and type(column) is int and (function, column) in encoder.derived
        require(ok, f"{channel} is in no template")
        of, n_strings = reader.part(part, channel), len(encoder.alphabets[column])
        values = Alphabet(of("values", reader.distinct))
        ids = of("of_string", reader.array, np.int32, (n_strings,), 0, len(values))
        encoder.derived[function, column] = values, ids
    for channel, (_, of_string) in encoder.derived.items():
        n_strings = len(encoder.alphabets[channel[1]])
        require(of_string.shape[0] == n_strings, f"{where}.derived lacks {channel}")
    if encoder.contexts.in_use:
        (contexts,) = reader.members(node, where, "contexts")
        _fill_contexts(encoder.contexts, contexts, reader, f"{where}.contexts")

    pairs = []
    for name, side in (("nodes", encoder.nodes), ("edges", encoder.edges)):
        (part,) = reader.members(node, where, name)
        pairs += _fill_side(encoder, side, part, reader, f"{where}.{name}")
    encoder.table, distinct = table_of(pairs)
    require(distinct, f"{where}: a combination occurs twice")
    encoder.entries = np.array([sum(map(len, pairs))], np.int64)
    return encoder


def _fill_side(encoder, side, node, reader, where):
    """Set nodes, rows and counts of one side; returns the pairs of each compound."""
    cut, read, out = encoder.min_count > 1, reader.part(node, where), []
    side.n_rows = read("n_rows", reader.integer, side.first_row, MOST_ROWS)
    parts = read("compounds", reader.list)
    require(len(parts) == len(side.compounds), f"{where}: {len(side.compounds)} compounds expected")
    for c, (compound, part) in enumerate(zip(side.compounds, parts)):
        at, width = f"{where}.compounds[{c}]", len(compound.slots)
        of = reader.part(part, at)
        ok = all(part.get(key) == value for key, value in _compiled(encoder, side, c).items())
        require(ok, f"{at}: this version compiles the templates in another way")
        n, pairs = encoder._n_values(compound.channel), np.zeros((0, 2), np.int32)
        if compound.prefix >= 0:
            pairs = of("pairs", reader.array, np.int32, (None, 2))
            ok = within(pairs[:, 0], 0, side.n_nodes[compound.prefix]) and within(pairs[:, 1], 0, n)
            require(ok, f"{at}.pairs are out of range")
            n = pairs.shape[0]
        out.append(pairs)
        side.n_nodes[c] = n
        side.row_of[c] = np.full(n + 1, -1, np.int32)
        if width:
            row = of("row", reader.array, np.int32, (n,), -1, MOST_ROWS)
            ok = within(row[row >= 0], side.first_row, side.n_rows - width + 1)
            require(ok, f"{at}.row is out of range")
            side.row_of[c][:-1] = row
        if width and cut:
            side.counts[c] = of("count", reader.array, np.int32, (n, width), 0, MOST_ROWS)
    if cut:
        side.alive = read("alive", reader.array, np.uint8, (side.n_rows,), 0, 2)
    return out


# --------------------------------------------------------------------------------------------------
# Accessor varieties and lexicons; the entries of lexicons are part of the templates
# --------------------------------------------------------------------------------------------------
def _contexts_state(contexts, writer, name):
    def statistics(by_column, name):
        return [_statistics_state(column, s, writer, name) for column, s in by_column.items()]

    adapted = contexts.adapted
    return {
        "trained": statistics(contexts.trained, f"{name}.trained"),
        "adapted": None if adapted is None else statistics(adapted, f"{name}.adapted"),
        "characters": [[column, bool(flag)] for column, flag in contexts.characters.items()],
    }


def _statistics_state(column, statistics, writer, name):
    name = f"{name}.{column}"
    return {
        "column": column,
        "minimum": statistics.minimum,
        "tokens": writer.strings(f"{name}.tokens", statistics.alphabet.strings()),
        "pairs": [writer.array(f"{name}.pairs", pairs) for pairs in statistics.pairs],
        "varieties": [writer.array(f"{name}.varieties", v) for v in statistics.varieties],
    }


def _fill_contexts(contexts, node, reader, where):
    read = reader.part(node, where)
    contexts.trained = read("trained", _by_column, contexts, reader)
    if node.get("adapted") is not None:
        contexts.adapted = read("adapted", _by_column, contexts, reader)
    where = f"{where}.characters"
    for part in read("characters", reader.list):
        require(isinstance(part, list) and len(part) == 2, f"{where} must hold pairs")
        contexts.characters[reader.integer(part[0], where, 0)] = reader.flag(part[1], where)
    expected = contexts.lexicon_columns
    ok = set(contexts.characters) == expected
    require(ok, f"{where}: the lexicons read the columns {sorted(expected)}")


def _by_column(node, where, contexts, reader):
    out = {}
    for part in reader.list(node, where):
        column = reader.part(part, where)("column", reader.integer, 0)
        require(column not in out, f"{where}: column {column} occurs twice")
        out[column] = _statistics_from_state(part, reader, f"{where}[{column}]")
    expected = set(contexts.longest)
    require(set(out) == expected, f"{where}: the templates read the columns {sorted(expected)}")
    return out


def _statistics_from_state(node, reader, where):
    read = reader.part(node, where)
    statistics = AccessorVariety(read("minimum", reader.integer, 1))
    tokens = Alphabet(read("tokens", reader.distinct))
    pairs, varieties = read("pairs", reader.list), read("varieties", reader.list)
    ok = len(pairs) == LONGEST - 1 and len(varieties) == LONGEST
    require(ok, f"{where} must have {LONGEST - 1} arrays of pairs and {LONGEST} of varieties")
    pairs = [reader.array(p, f"{where}.pairs", np.int32, (None, 2)) for p in pairs]
    n_nodes = [len(tokens), *(p.shape[0] for p in pairs)]
    for p, n in zip(pairs, n_nodes):
        ok = within(p[:, 0], 0, n) and within(p[:, 1], 0, len(tokens))
        require(ok, f"{where}.pairs are out of range")
    varieties = [
        reader.array(v, f"{where}.varieties", np.int32, (n,), 0, 2**31) for v, n in zip(varieties, n_nodes)
    ]
    try:
        return statistics.set(tokens, pairs, varieties)
    except ValueError as error:
        require(False, f"{where}: {error}")


KINDS = {
    "bag": (BagEncoder, bag_state, bag_from_state),
    "joint": (MixedEncoder, _mixed_state, _mixed_from_state),
    "rows": (RowsEncoder, rows_state, rows_from_state),
    "patterns": (PatternEncoder, pattern_encoder_state, pattern_encoder_from_state),
    "templates": (TemplateEncoder, _template_state, _template_from_state),
}
"""What files call the encoders: (class, ``to_state``, ``from_state``).

``to_state(encoder, writer, name)`` returns a dict; ``from_state(node, reader, where)`` checks everything.
"""
