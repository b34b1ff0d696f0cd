"""Templates as integers, and their keys."""

import numpy as np
import pytest

from skstruct._parser.state_templates import (
    attributes_of,
    compile_templates,
    decode_keys,
    templates_of,
)
from skstruct._parser.states import ARC_PLACES, STATE_PLACES
from skstruct._parser.template_sets import (
    TEMPLATE_SETS,
    lines_of,
    template_lines,
)


@pytest.mark.parametrize("name", sorted(TEMPLATE_SETS))
def test_keys_hold_every_atom_apart(name):
    lines = template_lines(name)
    templates = compile_templates(
        lines, STATE_PLACES, attributes_of(lines, STATE_PLACES)
    )
    A = templates.field.shape[0]
    for line, slot in zip(lines, templates.slot.tolist()):
        assert sorted(a for a in slot if a < A) == sorted({a for a in slot if a < A})
        assert len([a for a in slot if a < A]) == len(line.split())


@pytest.mark.parametrize(
    "line, message",
    [
        ("s0.q", "'s0.q' is no atom"),
        ("s9.w", "'s9.w' is no atom"),
        ("s0", "'s0' is no atom"),
        ("s0.w s1.w s2.w", "room for two forms"),
        ("s0.w s1.w s0.t s1.t q0.t", "room for two forms"),
    ],
)
def test_wrong_templates_are_refused(line, message):
    with pytest.raises(ValueError, match=message):
        compile_templates([line], STATE_PLACES, attributes_of([line], STATE_PLACES))


def test_many_templates_have_keys_of_their_own():
    lines = lines_of("auto", True, 12, {2, 4, 8, 11})
    assert len(lines.states) > 128 < len(lines.arcs)
    for some, places in ((lines.states, STATE_PLACES), (lines.arcs, ARC_PLACES)):
        attributes = attributes_of(some, places)
        codes = compile_templates(some, places, attributes).code
        assert len(set(codes.tolist())) == len(some)
        compounds = codes.astype(np.int64)
        assert templates_of(compounds, some, places).tolist() == list(range(len(some)))
        assert (templates_of(np.array([2**30 + 127, -1]), some, places) == -1).all()
        symbols = dict.fromkeys(
            attributes, ["<s>", "NONE", "</s>", *map(str, range(2**15))]
        )
        keys = np.stack([compounds, *np.full((2, len(some)), 2**15 + 1)], axis=1)
        found = decode_keys(keys, some, places, {**symbols, "r": ["NONE"] * 2**15})
        assert [line for line, _ in found] == some
