"""States of the search: their fields, and what actions make of them."""

import numpy as np

from skstruct._parser.state_templates import attributes_of, compile_templates
from skstruct._parser.states import STATE_PLACES, tracked_fields
from skstruct._parser.template_sets import (
    template_lines,
)


def test_states_differ_only_in_what_is_read():
    lines = template_lines("hs28")
    tracked = tracked_fields(
        compile_templates(lines, STATE_PLACES, attributes_of(lines, STATE_PLACES))
    )
    assert np.flatnonzero(tracked).tolist() == [0, 1, 2, 3, 4, 13, 14, 15, 24]
    tracked = tracked_fields(
        compile_templates(["s1.lc2.t", "s0.t"], STATE_PLACES, ["t"])
    )
    # What s1 will have as second child, s0 has before; the second was the first once.
    assert np.flatnonzero(tracked).tolist() == [0, 1, 2, 3, 5, 14, 16]
