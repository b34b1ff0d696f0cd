"""The states of patterns of other tools, and of their encoder."""

import numpy as np

from ..saving.values import name_of, require, savable_value, within
from .pattern_encoder import PatternEncoder
from .patterns import Patterns

_TOKENS = {None: None, "str": str, "tuple": tuple}
_MOST_ROWS = 2**31


def _patterns_state(patterns, writer, name):
    return {"lines": writer.value(list(patterns.lines), name), "syntax": patterns.syntax}


def _patterns_from_state(node, reader, where):
    lines, syntax = reader.members(node, where, "lines syntax")
    lines = reader.value(reader.list(lines, where), f"{where}.lines")
    ok = isinstance(lines, list) and all(type(line) is str for line in lines) and type(syntax) is str
    require(ok, f"{where} must hold strings")
    try:
        return Patterns(lines, syntax)
    except ValueError as error:
        require(False, f"{where}: {error}")


savable_value("$patterns", Patterns, _patterns_state, _patterns_from_state)


def patterns_encoder_state(encoder, writer, name):
    """The JSON of a :class:`PatternEncoder`."""
    state = {
        "tokens": name_of(encoder.first_type, _TOKENS),
        "patterns": writer.value(encoder.templates, f"{name}.patterns"),
        "min_count": int(encoder.min_count),
    }
    for side in ("nodes", "edges"):
        rows, at = getattr(encoder, side), f"{name}.{side}"
        state[side] = {
            "names": writer.strings(f"{at}.names", list(rows.ids)),
            "row": writer.array(f"{at}.row", rows.row_of[:-1]),
            "n_rows": int(rows.n_rows),
        }
        if encoder.min_count > 1:
            state[side]["count"] = writer.array(f"{at}.count", rows.counts)
    return state


def patterns_encoder_from_state(alphabet, node, reader, where):
    """The :class:`PatternEncoder` of a file; ``alphabet`` reads distinct strings."""
    tokens, patterns, min_count, *sides = reader.members(node, where, "tokens patterns min_count nodes edges")
    patterns = reader.value(patterns, f"{where}.patterns")
    require(isinstance(patterns, Patterns), f"{where}.patterns must be patterns")
    encoder = PatternEncoder(patterns, reader.integer(min_count, f"{where}.min_count", 1))
    encoder.first_type = reader.choice(tokens, f"{where}.tokens", _TOKENS)
    for rows, part, at in zip((encoder.nodes, encoder.edges), sides, (f"{where}.nodes", f"{where}.edges")):
        names, row, n_rows = reader.members(part, at, "names row n_rows")
        rows.ids = alphabet(names, reader, f"{at}.names").ids
        n = len(rows.ids)
        rows.n_rows = reader.integer(n_rows, f"{at}.n_rows", rows.first_row, _MOST_ROWS)
        row = reader.array(row, f"{at}.row", np.int32, (n,))
        ok = within(row, -1, rows.n_rows) and within(row[row >= 0], rows.first_row, rows.n_rows)
        require(ok, f"{at}.row is out of range")
        rows.row_of = np.append(row, np.int32(-1))
        if encoder.min_count > 1:
            (count,) = reader.members(part, at, "count")
            rows.counts = reader.array(count, f"{at}.count", np.int64, (n,))
            require(within(rows.counts, 0, 2**62), f"{at}.count is out of range")
    return encoder
