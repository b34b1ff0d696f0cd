"""The states of accessor varieties and lexicons.

The entries of lexicons are part of the templates; the tables that find strings and entries are built anew
on loading, so that a file cannot hold one in which a search never ends.
"""

import numpy as np

from ..saving.values import require, within
from .accessor import LONGEST, AccessorVariety


def contexts_state(contexts, writer, name):
    """The JSON of an encoder's :class:`Contexts`."""

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


def fill_contexts(contexts, node, reader, where, alphabet):
    """Set the state of a file; ``alphabet(node, reader, where)`` reads a list of distinct strings."""
    trained, adapted, characters = reader.members(node, where, "trained adapted characters")
    contexts.trained = _by_column(contexts, trained, reader, f"{where}.trained", alphabet)
    if adapted is not None:
        contexts.adapted = _by_column(contexts, adapted, reader, f"{where}.adapted", alphabet)
    where = f"{where}.characters"
    for part in reader.list(characters, where):
        require(isinstance(part, list) and len(part) == 2, f"{where} must hold pairs")
        column = reader.integer(part[0], where, 0)
        contexts.characters[column] = reader.flag(part[1], where)
    expected = contexts.lexicon_columns
    ok = set(contexts.characters) == expected
    require(ok, f"{where}: the lexicons read the columns {sorted(expected)}")


def _by_column(contexts, node, reader, where, alphabet):
    out = {}
    for part in reader.list(node, where):
        column, *rest = reader.members(part, where, "column minimum tokens pairs varieties")
        column = reader.integer(column, f"{where}.column", 0)
        require(column not in out, f"{where}: column {column} occurs twice")
        out[column] = _statistics_from_state(rest, reader, f"{where}[{column}]", alphabet)
    expected = set(contexts.longest)
    require(set(out) == expected, f"{where}: the templates read the columns {sorted(expected)}")
    return out


def _statistics_from_state(parts, reader, where, alphabet):
    minimum, tokens, pairs, varieties = parts
    statistics = AccessorVariety(reader.integer(minimum, f"{where}.minimum", 1))
    tokens = alphabet(tokens, reader, f"{where}.tokens")
    pairs, varieties = reader.list(pairs, f"{where}.pairs"), reader.list(varieties, f"{where}.varieties")
    ok = len(pairs) == LONGEST - 1 and len(varieties) == LONGEST
    require(ok, f"{where} must have {LONGEST - 1} arrays of pairs and {LONGEST} of varieties")
    pairs = [reader.array(p, f"{where}.pairs", np.int32, (None, 2)) for p in pairs]
    n_nodes = [len(tokens), *(p.shape[0] for p in pairs)]
    for p, n in zip(pairs, n_nodes):
        ok = within(p[:, 0], 0, n) and within(p[:, 1], 0, len(tokens))
        require(ok, f"{where}.pairs are out of range")
    varieties = [reader.array(v, f"{where}.varieties", np.int32, (n,)) for v, n in zip(varieties, n_nodes)]
    require(all(within(v, 0, 2**31) for v in varieties), f"{where}.varieties must not be negative")
    try:
        return statistics.set(tokens, pairs, varieties)
    except ValueError as error:
        require(False, f"{where}: {error}")
