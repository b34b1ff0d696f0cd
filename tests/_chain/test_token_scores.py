"""Features of a sequence: listed as runs or added up at once, they give the same
scores.
"""

import numpy as np
import pytest

from skstruct._chain.token_scores import (
    add_costs,
    count_mistakes,
    list_runs,
    new_runs,
    set_target,
    sum_features,
    sum_rows,
)
from skstruct._core.codes import NO_NOISE
from skstruct._core.compile import ONE, ZERO, kernel
from skstruct._core.noise import NODE_STREAM, QUIET
from skstruct._core.store import READ_ONLY, new_store
from skstruct.features.encoded import Bag, Grid

L = 3
T = 4


@kernel
def at_once(grid, bag, left, n_anchors, weight, out):
    sum_features(
        grid.row, grid.lo, grid.width, left, ZERO, n_anchors, bag.start, bag.row,
        bag.value, ZERO, np.int64(T), weight, np.int64(L), out,
    )  # fmt: skip


@kernel
def listed(grid, bag, left, n_anchors, store, rule, noise, masked, runs, out):
    n = list_runs(
        grid, bag, left, ZERO, n_anchors, ZERO, np.int64(T), ZERO, noise,
        np.int64(NO_NOISE), NODE_STREAM, masked, runs,
    )  # fmt: skip
    sum_rows(store, rule, ZERO, runs, n, ONE, np.int64(L), 1.0, out)
    return n


def corpus(rng, valued):
    """One sequence; a group of templates of width 2 that begins at each anchor, and a
    bag.
    """
    left = 1
    n_anchors = T + 2
    row = rng.integers(-1, 8, (1, n_anchors)).astype(np.int32)
    grid = Grid(
        row,
        np.array([0], np.int32),
        np.array([2], np.int32),
        np.array([0, 1], np.int32),
        np.zeros(1, np.int32),
        np.zeros(1, np.int32),
    )
    start = np.array([0, 2, 2, 5, 6])
    bag_row = rng.integers(-1, 10, 6).astype(np.int32)
    value = rng.normal(size=6) if valued else np.zeros(0)
    return grid, Bag(start, bag_row, value), left, n_anchors


@pytest.mark.parametrize("valued", [False, True])
def test_listed_features_score_as_those_added_at_once(valued):
    rng = np.random.default_rng(0)
    for _ in range(5):
        grid, bag, left, n_anchors = corpus(rng, valued)
        store = new_store(10, L, READ_ONLY, sparse=False)
        store.value[:] = rng.normal(size=store.value.shape)
        out = np.full(T * L, np.nan)
        at_once(grid, bag, left, n_anchors, store.value, out)
        found = np.zeros(T * L)
        listed(
            grid, bag, left, n_anchors, store, READ_ONLY, QUIET,
            np.zeros((T, 1), np.bool_), new_runs(50), found,
        )  # fmt: skip
        np.testing.assert_allclose(found, out, rtol=1e-13, atol=1e-13)
        want = np.zeros((T, L))
        table = store.value.reshape(-1, L)
        for a, row in enumerate(grid.row[0]):
            for s in range(2):
                if row >= 0 and 0 <= a - left + s < T:
                    want[a - left + s] += table[row + s]
        for t in range(T):
            for k in range(bag.start[t], bag.start[t + 1]):
                if bag.row[k] >= 0:
                    x = bag.value[k] if valued else 1.0
                    want[t] += x * table[bag.row[k]]
        np.testing.assert_allclose(out.reshape(T, L), want, rtol=1e-13, atol=1e-13)


@kernel
def judge(gold, path, target, cost, emission):
    complete = set_target(gold, target)
    add_costs(gold, (), cost, 2.0, L, emission)
    return complete, count_mistakes(gold, (), path)


def test_missing_labels_cost_nothing_and_are_no_mistakes():
    gold = np.array([0, -1, 2, 1], np.int32)
    target = np.zeros(4, np.int32)
    emission = np.zeros(T * L)
    path = np.array([1, 1, 2, 0], np.int32)
    cost = np.array([1.0, 2.0, 3.0])
    assert judge(gold, path, target, cost, emission) == (False, 2)
    assert target.tolist() == gold.tolist()
    want = [[0, 2, 2], [0, 0, 0], [6, 6, 0], [4, 0, 4]]
    assert emission.reshape(T, L).tolist() == want
