"""The states of encoders: what turns tokens into feature rows.

A state holds what was learned from data. Whatever follows from the templates (plan, groups, spans) is
compiled anew on loading and must agree with the file. The hash table is stored as the list of its entries
and filled anew, so that a file cannot hold one in which a search never ends.
"""

from collections import defaultdict
from itertools import chain
from operator import getitem

import numpy as np

from ..core.interning import pairs_by_compound, table_of
from ..saving.values import name_of, require, savable_value, within
from .bags import BagEncoder
from .encoder import NO_PAIRS, TemplateEncoder
from .mixed import MixedEncoder
from .pattern_encoder import PatternEncoder
from .rows import RowsEncoder
from .saved_contexts import contexts_state, fill_contexts
from .saved_index import MOST_ROWS, alphabet_from_state, fill_index, index_state
from .saved_patterns import patterns_encoder_from_state, patterns_encoder_state
from .saved_rows import rows_from_state, rows_state
from .templates import FeatureTemplates

_TOKENS = {None: None, "str": str, "tuple": tuple}


# --------------------------------------------------------------------------------------------------
# Encoders of any kind
# --------------------------------------------------------------------------------------------------
_KINDS = {}
"""Kind -> (class, ``to_state``, ``from_state``)."""


def savable_encoder(kind, cls, to_state, from_state):
    """Let encoders of a class be saved.

    Parameters
    ----------
    kind : str
        What a file calls them.
    cls : type
    to_state : callable
        ``(encoder, writer, name) -> dict``
    from_state : callable
        ``(node, reader, where) -> encoder``; has to check everything.
    """
    _KINDS[kind] = cls, to_state, from_state


def encoder_state(encoder, writer, name):
    """The JSON of an encoder."""
    for kind, (cls, to_state, _) in _KINDS.items():
        if type(encoder) is cls:
            return {"kind": kind, **to_state(encoder, writer, name)}
    raise TypeError(f"features made by a {type(encoder).__name__} cannot be saved")


def encoder_from_state(node, reader, where):
    """The encoder of a file."""
    (kind,) = reader.members(node, where, "kind")
    readers = {kind: from_state for kind, (_, _, from_state) in _KINDS.items()}
    return reader.choice(kind, f"{where}.kind", readers)(node, reader, where)


# --------------------------------------------------------------------------------------------------
# Templates
# --------------------------------------------------------------------------------------------------
def templates_state(templates, writer, name):
    """The JSON of a :class:`FeatureTemplates`: its lines; with lexicons, an object that has both."""
    if not templates.lexicons:
        return list(templates.lines)
    lexicons = {key: list(entries) for key, entries in templates.lexicons.items()}
    return {
        "lines": list(templates.lines),
        "lexicons": [[key, writer.value(entries, f"{name}.{key}")] for key, entries in lexicons.items()],
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
    pairs, contexts = pairs_by_compound(encoder.table), {}
    if encoder.contexts.in_use:
        contexts["contexts"] = contexts_state(encoder.contexts, writer, f"{name}.contexts")
    return {
        "tokens": name_of(encoder.token_type, _TOKENS),
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
        "nodes": _side_state(encoder, encoder.nodes, pairs, writer, f"{name}.nodes"),
        "edges": _side_state(encoder, encoder.edges, pairs, writer, f"{name}.edges"),
        **contexts,
    }


def _atoms(encoder, compound):
    return [[*encoder.plan.channels[channel], distance] for channel, distance in compound.atoms]


def _uses(side, c):
    """The (row of a combination, shift) of the templates that read a compound."""
    return [list(use) for use in side.uses[c]]


def _side_state(encoder, side, pairs, writer, name):
    cut = encoder.min_count > 1
    compounds = []
    for c, compound in enumerate(side.compounds):
        state = {"atoms": _atoms(encoder, compound), "uses": _uses(side, c)}
        if compound.prefix >= 0:
            own = pairs.get(side.offset + c, NO_PAIRS)
            if own.shape[0] != side.n_nodes[c]:
                raise ValueError("the encoder is inconsistent: its hash table and its counts disagree")
            state["pairs"] = writer.array(f"{name}.{c}.pairs", own)
        if compound.slots:
            state["row"] = writer.array(f"{name}.{c}.row", side.row_of[c][:-1])
            if cut:
                state["count"] = writer.array(f"{name}.{c}.count", side.counts[c])
        compounds.append(state)
    state = {"n_rows": int(side.n_rows), "compounds": compounds}
    if cut:
        state["alive"] = writer.array(f"{name}.alive", side.alive)
    return state


def _template_from_state(node, reader, where):
    tokens, lines, min_count, columns, derived, *sides = reader.members(
        node, where, "tokens templates min_count columns derived nodes edges"
    )
    templates = reader.value({"$templates": lines}, f"{where}.templates")
    min_count = reader.integer(min_count, f"{where}.min_count", 1)
    columns = reader.list(columns, f"{where}.columns")
    # Before the encoder is built: it makes an alphabet for every column that a template names.
    ok = len(columns) == templates.n_columns
    require(ok, f"{where}: the templates read {templates.n_columns} columns, not {len(columns)}")
    encoder = TemplateEncoder(templates, min_count)
    encoder.token_type = reader.choice(tokens, f"{where}.tokens", _TOKENS)
    encoder.alphabets = [alphabet_from_state(c, reader, f"{where}.columns") for c in columns]
    for part in reader.list(derived, f"{where}.derived"):
        function, column, values, of_string = reader.members(
            part, f"{where}.derived", "function column values of_string"
        )
        channel = f"{where}: {function!r:.20} of column {column!r:.20}"
        ok = type(function) is str and type(column) is int and (function, column) in encoder.derived
        require(ok, f"{channel} is in no template")
        n_strings = len(encoder.alphabets[column])
        values = alphabet_from_state(values, reader, channel)
        of_string = reader.array(of_string, channel, np.int32, (n_strings,))
        require(within(of_string, 0, len(values)), f"{channel}: ids are out of range")
        encoder.derived[function, column] = values, of_string
    for channel, (_, of_string) in encoder.derived.items():
        n_strings = len(encoder.alphabets[channel[1]])
        require(of_string.shape[0] == n_strings, f"{where}.derived lacks {channel}")
    if encoder.contexts.in_use:
        (contexts,) = reader.members(node, where, "contexts")
        fill_contexts(encoder.contexts, contexts, reader, f"{where}.contexts", alphabet_from_state)

    pairs = []
    for name, side, part in zip(("nodes", "edges"), (encoder.nodes, encoder.edges), sides):
        pairs += _fill_side(encoder, side, part, reader, f"{where}.{name}")
    encoder.table, distinct = table_of(pairs)
    require(distinct, f"{where}: a combination occurs twice")
    encoder.entries = np.array([sum(map(len, pairs))], np.int64)
    return encoder


def _fill_side(encoder, side, node, reader, where):
    """Set nodes, rows and counts of one side; returns the pairs of each compound."""
    cut = encoder.min_count > 1
    n_rows, parts = reader.members(node, where, "n_rows compounds")
    side.n_rows = reader.integer(n_rows, f"{where}.n_rows", side.first_row, MOST_ROWS)
    parts = reader.list(parts, f"{where}.compounds")
    require(len(parts) == len(side.compounds), f"{where}: {len(side.compounds)} compounds expected")
    out = []
    for c, (compound, part) in enumerate(zip(side.compounds, parts)):
        at, width = f"{where}.compounds[{c}]", len(compound.slots)
        atoms, uses = reader.members(part, at, "atoms uses")
        ok = atoms == _atoms(encoder, compound) and uses == _uses(side, c)
        require(ok, f"{at}: this version compiles the templates in another way")
        n_right = encoder._n_values(compound.channel)
        if compound.prefix < 0:
            n = n_right
            out.append(np.zeros((0, 2), np.int32))
        else:
            pairs = reader.array(*reader.members(part, at, "pairs"), at, np.int32, (None, 2))
            ok = within(pairs[:, 0], 0, side.n_nodes[compound.prefix])
            require(ok and within(pairs[:, 1], 0, n_right), f"{at}.pairs are out of range")
            n = pairs.shape[0]
            out.append(pairs)
        side.n_nodes[c] = n
        side.row_of[c] = np.full(n + 1, -1, np.int32)
        if width:
            row = reader.array(*reader.members(part, at, "row"), f"{at}.row", np.int32, (n,))
            ok = within(row[row >= 0], 0, side.n_rows - width + 1) and within(row, -1, MOST_ROWS)
            ok &= not side.first_row or not (row == 0).any()
            require(ok, f"{at}.row is out of range")
            side.row_of[c][:-1] = row
        if width and cut:
            (count,) = reader.members(part, at, "count")
            count = reader.array(count, f"{at}.count", np.int32, (n, width))
            require(within(count, 0, MOST_ROWS), f"{at}.count is out of range")
            side.counts[c] = count
    if cut:
        (alive,) = reader.members(node, where, "alive")
        side.alive = reader.array(alive, f"{where}.alive", np.uint8, (side.n_rows,))
        require(within(side.alive, 0, 2), f"{where}.alive must be 0 or 1")
    return out


# --------------------------------------------------------------------------------------------------
# Ready-made features. The remembered (key, value) pairs are stored too, by key: without them, prediction
# would resolve every occurrence of a pair in Python. Values that are strings are not written, as the
# feature is named ``key:value``; True and False are written as the numbers to which they are equal.
# --------------------------------------------------------------------------------------------------
def _bag_state(encoder, writer, name):
    state = {
        "min_count": int(encoder.min_count),
        **index_state(encoder.index, writer, name, encoder.min_count > 1),
        "n_numbers": int(encoder._n_numbers),
    }
    by_key = defaultdict(list)
    for k, (key, value) in enumerate(encoder.pairs.items()):
        by_key[key].append((k, value))
    keys, n = list(by_key), [len(pairs) for pairs in by_key.values()]
    ids, values = zip(*chain.from_iterable(by_key.values())) if by_key else ((), ())
    text = np.fromiter((isinstance(v, str) for v in values), np.bool_, len(values))
    numbers = np.array([float(v) for v in values if not isinstance(v, str)], np.float64)
    feature = np.array(encoder._pair_feature, np.int32)[list(ids)]
    state["pairs"] = {
        "keys": writer.strings(f"{name}.pairs.keys", keys),
        "size": writer.array(f"{name}.pairs.size", np.array(n, np.int64)),
        "text": writer.array(f"{name}.pairs.text", text),
        "number": writer.array(f"{name}.pairs.number", numbers),
        "feature": writer.array(f"{name}.pairs.feature", feature),
    }
    return state


def _bag_from_state(node, reader, where):
    min_count, n_numbers, pairs = reader.members(node, where, "min_count n_numbers pairs")
    encoder = BagEncoder(reader.integer(min_count, f"{where}.min_count", 1))
    fill_index(encoder.index, node, reader, where, encoder.min_count > 1)
    encoder._n_numbers = reader.integer(n_numbers, f"{where}.n_numbers", 0)
    names = list(encoder.index.ids)
    n = len(names)

    where = f"{where}.pairs"
    keys, size, text, number, feature = reader.members(pairs, where, "keys size text number feature")
    keys = reader.strings(keys, f"{where}.keys")
    text = reader.array(text, f"{where}.text", np.bool_, (None,))
    n_pairs, n_text = text.shape[0], int(np.count_nonzero(text))
    size = reader.array(size, f"{where}.size", np.int64, (len(keys),))
    ok = within(size, 0, n_pairs + 1) and int(size.sum()) == n_pairs
    require(ok, f"{where}.size must add up to {n_pairs}")
    number = reader.array(number, f"{where}.number", np.float64, (n_pairs - n_text,))
    require(np.isfinite(number).all(), f"{where}.number must be finite")
    feature = reader.array(feature, f"{where}.feature", np.int32, (n_pairs,))
    ok = within(feature, -1, n) and within(feature[text], 0, n)
    require(ok, f"{where}.feature is out of range")
    number_of_pair = np.ones(n_pairs)
    number_of_pair[~text] = number
    rests = [slice(len(k) + 1, None) for k in keys]  # of "key:value", the value
    rest_of = map(rests.__getitem__, np.repeat(np.arange(len(keys)), size)[text].tolist())
    values = np.empty(n_pairs, object)
    values[text] = list(map(getitem, map(names.__getitem__, feature[text].tolist()), rest_of))
    values[~text] = number.tolist()
    keys = map(keys.__getitem__, np.repeat(np.arange(len(keys)), size).tolist())
    kept = encoder.pairs.fill(keys, values.tolist())
    encoder._pair_feature, encoder._pair_value = feature[kept].tolist(), number_of_pair[kept].tolist()
    encoder._tables()
    return encoder


savable_encoder("bag", BagEncoder, _bag_state, _bag_from_state)


# --------------------------------------------------------------------------------------------------
# Numbers with something else
# --------------------------------------------------------------------------------------------------
def _joint_state(encoder, writer, name):
    return {
        "numbers": rows_state(encoder.numbers, writer, f"{name}.numbers"),
        "others": encoder_state(encoder.others, writer, f"{name}.others"),
        "mask": None if encoder.mask is None else writer.array(f"{name}.mask", encoder.mask),
        "columns": list(encoder.columns),
    }


def _joint_from_state(node, reader, where):
    numbers, others, mask, columns = reader.members(node, where, "numbers others mask columns")
    numbers = rows_from_state(numbers, reader, f"{where}.numbers")
    others = encoder_from_state(others, reader, f"{where}.others")
    columns = tuple(reader.list(columns, f"{where}.columns"))
    require(not numbers.sparse, f"{where}.numbers must be dense")
    require(all(type(name) is str for name in columns), f"{where}.columns must be names")
    ok = isinstance(others, (TemplateEncoder, PatternEncoder) if mask is None else RowsEncoder)
    require(ok, f"{where}.others is of the wrong kind")
    if mask is not None:
        mask = reader.array(mask, f"{where}.mask", np.bool_, (None,))
        ok = others.sparse and (int(mask.sum()), int((~mask).sum())) == (numbers.width, others.width)
        require(ok, f"{where}.mask must tell which columns are dense")
    require(numbers.has_bigram == others.has_bigram, f"{where}: the parts differ in bigrams")
    return MixedEncoder(numbers, others, mask, columns)


savable_encoder("joint", MixedEncoder, _joint_state, _joint_from_state)
savable_encoder("rows", RowsEncoder, rows_state, rows_from_state)
savable_encoder("patterns", PatternEncoder, patterns_encoder_state, patterns_encoder_from_state)
savable_encoder("templates", TemplateEncoder, _template_state, _template_from_state)
