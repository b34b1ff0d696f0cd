"""States of the search: their fields, and what actions make of them."""

import numpy as np
import parse_oracle as oracle

from skstruct._core.compile import kernel
from skstruct._parser.dependency_trees import SHIFT
from skstruct._parser.state_templates import attributes_of, compile_templates
from skstruct._parser.states import (
    DISTANCE,
    FIRST_WORD,
    LC,
    LCL,
    N_FIELDS,
    NO_CHILD,
    S0,
    S1,
    STACK_END,
    STATE_PLACES,
    VL,
    VR,
    H,
    J,
    attach,
    start_state,
    successor,
    tracked_fields,
)
from skstruct._parser.template_sets import template_lines


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


@kernel
def follow(path, label, rows, stack, tracked):
    """Write the state before each action, and the last one; all fields count."""
    start_state(rows[0])
    depth = 0
    for k in range(path.shape[0]):
        below = k
        if path[k] == SHIFT:
            stack[depth] = k
            depth += 1
        else:
            depth -= 1
            below = stack[depth]
        successor(path[k], label[k], rows[below], rows[k], tracked, rows[k + 1])


@kernel
def give_heads(path, label, stack, head, out):
    return attach(path, label, path.shape[0], stack, head, out)


def states_along(actions, labels):
    m = len(actions)
    rows = np.zeros((m + 1, N_FIELDS + 1), np.int32)
    label = np.array(labels, np.int32)
    tracked = np.ones(N_FIELDS, np.bool_)
    stack = np.zeros(m, np.int64)
    follow(np.array(actions, np.int8), label, rows, stack, tracked)
    return rows


def test_fields_are_those_of_the_trees_on_the_stack():
    """Against stacks of trees, for all ways to build trees of four words."""
    n, names = 4, ("lc", "rc", "lc2", "rc2")
    for actions in oracle.derivations(n):
        labels = [k + 1 for k in range(len(actions))]
        rows, stack, j = states_along(actions, labels), [], 0
        for k, action in enumerate([*actions, None]):
            row = rows[k].tolist()
            assert row[J] == FIRST_WORD + j
            for depth, first in ((1, S0), (2, S1)):
                tree = stack[-depth] if len(stack) >= depth else None
                place = FIRST_WORD + tree.word if tree else STACK_END
                assert row[first + H] == place
                for field, name in enumerate(names):
                    child = oracle.child_of(tree, name)
                    expected = FIRST_WORD + child.word if child else NO_CHILD
                    assert row[first + LC + field] == expected
                    assert row[first + LCL + field] == (child.label if child else 0)
                assert row[first + VL] == (len(tree.left) if tree else 0)
                assert row[first + VR] == (len(tree.right) if tree else 0)
            gap = stack[-1].word - stack[-2].word if len(stack) > 1 else 0
            assert row[DISTANCE] == oracle.distance(gap)
            if action is not None:
                stack, j = oracle.act(action, stack, j, labels[k])


def test_heads_of_actions():
    for actions in oracle.derivations(4):
        path = np.array(actions, np.int8)
        head, out = np.full(4, -1, np.int32), np.full(4, -1, np.int32)
        label = np.arange(7, dtype=np.int32)
        n = give_heads(path, label, np.zeros(8, np.int32), head, out)
        assert n == 4 and head.tolist() == oracle.heads_of(actions)
        reductions = [k for k, action in enumerate(actions) if action != SHIFT]
        assert sorted(k for k in out.tolist() if k >= 0) == reductions
        assert [k for k in range(4) if out[k] < 0] == [head.tolist().index(0)]
