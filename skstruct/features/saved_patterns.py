"""The states of patterns of other tools, and of their encoder."""

from ..saving.values import name_of, require, savable_value
from .pattern_encoder import PatternEncoder
from .patterns import Patterns
from .saved_index import fill_index, index_state

_TOKENS = {None: None, "str": str, "tuple": tuple}


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
        index = getattr(encoder, side)
        state[side] = index_state(index, writer, f"{name}.{side}", encoder.min_count > 1)
    return state


def patterns_encoder_from_state(node, reader, where):
    """The :class:`PatternEncoder` of a file."""
    tokens, patterns, min_count, *sides = reader.members(node, where, "tokens patterns min_count nodes edges")
    patterns = reader.value(patterns, f"{where}.patterns")
    require(isinstance(patterns, Patterns), f"{where}.patterns must be patterns")
    encoder = PatternEncoder(patterns, reader.integer(min_count, f"{where}.min_count", 1))
    encoder.first_type = reader.choice(tokens, f"{where}.tokens", _TOKENS)
    for side, part in zip(("nodes", "edges"), sides):
        fill_index(getattr(encoder, side), part, reader, f"{where}.{side}", encoder.min_count > 1)
    return encoder
