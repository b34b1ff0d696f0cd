"""Lazy equals naive: averages, decay and truncation of the weight store against
complete vectors.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

import oracle_training
from skstruct._core.codes import (
    AVERAGES,
    DONE,
    EACH_STEP,
    NO_PENALTY,
    PENALTIES,
    PERCEPTRON,
    POOL_FULL,
    RESCALE,
)
from skstruct._core.compile import kernel
from skstruct._core.penalties import decay, read_weight
from skstruct._core.rules import apply, clear, emit, new_difference
from skstruct._core.store import (
    SMALLEST_SCALE,
    Rule,
    close_epoch,
    copy_store,
    grow_pool,
    grow_rows,
    new_clock,
    new_store,
    nudge,
    place_of,
    places_needed,
    rebase,
    remap_columns,
    tick,
    weights,
)

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")

R, C = 4, 5


@kernel
def visit(
    store,
    clock,
    rule,
    start,
    row,
    column,
    amount,
    through_difference,
    difference,
    begin,
    end,
):
    """Examples ``begin`` to ``end``; their nudges stand at start[k] to start[k + 1]."""
    for k in range(begin, end):
        if clock.scale[0] < SMALLEST_SCALE:
            return RESCALE, k
        if store.sparse:
            needed = np.int64(0)
            for j in range(start[k], start[k + 1]):
                needed += places_needed(store, row[j])
            if store.used[0] + needed > store.value.shape[0]:
                return POOL_FULL, k
        decay(clock, rule)
        if through_difference:
            for j in range(start[k], start[k + 1]):
                emit(difference, row[j], column[j], amount[j])
            apply(difference, 0, difference.size[0], 0, store, clock, rule, 1.0)
            clear(difference)
        else:
            for j in range(start[k], start[k + 1]):
                nudge(store, clock, rule, row[j], column[j], amount[j])
        tick(clock, rule)
    return DONE, end


@kernel
def current(store, clock, rule, row, column):
    """The weight as decoding reads it now."""
    place = place_of(store, row, column)
    if place < 0:
        return 0.0
    return read_weight(store, rule, row, place, clock.step[0]) * clock.scale[0]


def make_rule(penalty, alpha, average):
    return Rule(PERCEPTRON, 1.0, False, PENALTIES[penalty], alpha, AVERAGES[average])


class Lazy:
    """Drives the store as training does."""

    def __init__(
        self,
        penalty,
        alpha,
        average,
        sparse=False,
        rows=R,
        columns=C,
        through_difference=False,
    ):
        self.rule = make_rule(penalty, alpha, average)
        self.store, self.clock = (
            new_store(rows, columns, self.rule, sparse),
            new_clock(),
        )
        self.difference, self.through_difference = (
            new_difference(64),
            through_difference,
        )
        self.n_rebased = self.n_grown = 0

    def run(self, steps):
        """``steps``: for each example a list of (row, column, amount)."""
        start = np.cumsum([0, *map(len, steps)])
        flat = [entry for step in steps for entry in step] or [(0, 0, 0.0)]
        row, column, amount = (np.array(part) for part in zip(*flat))
        k, n = 0, len(steps)
        while k < n:
            code, k = visit(
                self.store, self.clock, self.rule, start, row, column, amount.astype(float),
                self.through_difference, self.difference, k, n,
            )  # fmt: skip
            if code == RESCALE:
                rebase([self.store], self.clock)
                self.n_rebased += 1
            elif code == POOL_FULL:
                self.store = grow_pool(self.store, self.rule, 1)
                self.n_grown += 1

    def end_epoch(self):
        close_epoch([self.store], self.clock, self.rule)

    def now(self, row, column):
        return current(self.store, self.clock, self.rule, row, column)

    def final(self):
        store = copy_store(self.store)
        return as_table(store, weights(store, self.clock, self.rule))


def as_table(store, values):
    if not store.sparse:
        return values.reshape(-1, store.columns)
    out = np.zeros((store.first.shape[0], store.columns))
    for row in range(out.shape[0]):
        place = slice(store.first[row], store.first[row] + store.count[row])
        columns = store.column[place]
        assert np.unique(columns).shape[0] == columns.shape[0]
        out[row, columns] = values[place]
    return out


def naive_table(weights, rows=R, columns=C):
    out = np.zeros((rows, columns))
    for (row, column), value in weights.items():
        out[row, column] = value
    return out


def step_naive(learner, nudges):
    delta = {}
    for row, column, amount in nudges:
        delta[row, column] = delta.get((row, column), 0.0) + amount
    learner.step(delta)


# Quiet stretches of several steps, so that laziness has something to catch up with.
NUDGE = st.tuples(
    st.integers(0, R - 1),
    st.integers(0, C - 1),
    st.sampled_from([-2.0, -1.0, -0.4, 0.3, 1.0, 1.7]),
)
STEP = st.lists(NUDGE, max_size=4, unique_by=lambda entry: entry[:2])
SCHEDULE = st.lists(
    st.lists(st.one_of(STEP, st.just([])), min_size=1, max_size=12),
    min_size=1,
    max_size=4,
)

PENALTY = [
    (None, 0.0),
    ("l2", 0.1),
    ("l2", 0.9),
    ("l2", 0.999),
    ("l1", 0.05),
    ("l1", 0.7),
    ("l1-cumulative", 0.05),
    ("l1-cumulative", 0.3),
]


def test_every_penalty_is_tried():
    lacking = PENALTIES.keys() - {name for name, _ in PENALTY}
    assert not lacking, f"add to PENALTY, with a weak and a strong alpha: {lacking}"


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("average", [None, "step", "epoch"])
@pytest.mark.parametrize("penalty, alpha", PENALTY)
@given(epochs=SCHEDULE, through_difference=st.booleans())
@settings(max_examples=15)
def test_lazy_equals_naive(penalty, alpha, average, sparse, epochs, through_difference):
    lazy = Lazy(penalty, alpha, average, sparse, through_difference=through_difference)
    learner = oracle_training.Learner(penalty, alpha, average)
    for epoch in epochs:
        lazy.run(epoch)
        for step in epoch:
            step_naive(learner, step)
        for row in range(R):
            for column in range(C):
                expected = learner.weights.get((row, column), 0.0)
                assert lazy.now(row, column) == pytest.approx(
                    expected, rel=1e-9, abs=1e-12
                )
        lazy.end_epoch()
        learner.end_epoch()
        # A look at the final weights must not disturb the training. The documented
        # error of an average under decay is about 1e-10 / alpha.
        atol = 1e-10 if penalty == "l2" else 1e-12
        np.testing.assert_allclose(
            lazy.final(), naive_table(learner.final()), rtol=1e-9, atol=atol
        )


def test_no_average_yet_is_the_current_weights():
    lazy = Lazy(None, 0.0, "epoch")
    lazy.run([[(0, 0, 2.0)]])
    assert lazy.final()[0, 0] == 2.0


@pytest.mark.parametrize("alpha", [0.5, 0.9, 0.99, 0.9999])
@pytest.mark.parametrize("average", [None, "step", "epoch"])
@pytest.mark.parametrize("sparse", [False, True])
def test_rebasing_under_strong_decay(alpha, average, sparse):
    generator = np.random.default_rng(int(alpha * 100))
    lazy, learner = (
        Lazy("l2", alpha, average, sparse),
        oracle_training.Learner("l2", alpha, average),
    )
    for _ in range(5):
        steps = [
            [
                (
                    int(generator.integers(R)),
                    int(generator.integers(C)),
                    float(generator.normal()),
                )
            ]
            if generator.random() < 0.6
            else []
            for _ in range(30)
        ]
        lazy.run(steps)
        for step in steps:
            step_naive(learner, step)
        lazy.end_epoch()
        learner.end_epoch()
    assert lazy.n_rebased > 2
    np.testing.assert_allclose(
        lazy.final(), naive_table(learner.final()), rtol=1e-9, atol=1e-10
    )


def test_sparse_rows_grow_and_move():
    lazy, learner = (
        Lazy(None, 0.0, "step", True, 3, 40),
        oracle_training.Learner(None, 0.0, "step"),
    )
    generator = np.random.default_rng(0)
    for _ in range(60):
        step = [
            (int(generator.integers(3)), int(c), float(generator.integers(-3, 4)))
            for c in generator.permutation(40)[:6]
        ]
        lazy.run([step])
        step_naive(learner, step)
    assert (lazy.store.count > 32).all() and lazy.n_grown > 0
    np.testing.assert_allclose(
        lazy.final(), naive_table(learner.final(), 3, 40), rtol=1e-12
    )


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "penalty, alpha", [(None, 0.0), ("l2", 0.3), ("l1", 0.2), ("l1-cumulative", 0.2)]
)
def test_new_rows_and_columns_are_as_if_they_had_always_existed(penalty, alpha, sparse):
    generator = np.random.default_rng(1)

    def steps(rows, columns, n):
        return [
            [
                (
                    int(generator.integers(rows)),
                    int(generator.integers(columns)),
                    float(generator.normal()),
                )
            ]
            for _ in range(n)
        ]

    lazy, learner = (
        Lazy(penalty, alpha, "step", sparse, 2, 3),
        oracle_training.Learner(penalty, alpha, "step"),
    )
    first = steps(2, 3, 15)
    lazy.run(first)
    place = np.array([0, 2, 4])  # where the old columns go
    lazy.store = grow_rows(remap_columns(lazy.store, place, 5), 4, lazy.rule)
    second = steps(4, 5, 25)
    lazy.run(second)
    for row, column, amount in (entry for step in first for entry in step):
        learner.step({(row, int(place[column])): amount})
    for row, column, amount in (entry for step in second for entry in step):
        learner.step({(row, column): amount})
    np.testing.assert_allclose(
        lazy.final(), naive_table(learner.final(), 4, 5), rtol=1e-10, atol=1e-13
    )


# ---------------------------------------------------------------------- a million steps

N_STEPS = 4_000 if config.DISABLE_JIT else 1_000_000
DECAY = 0.02 if config.DISABLE_JIT else 1e-4


def sparse_schedule(n_steps, n_nudges, seed):
    """{step: amount} for one weight, half of it in the first thousandth."""
    generator = np.random.default_rng(seed)
    early = generator.integers(0, n_steps // 1000 + 2, n_nudges // 2)
    late = generator.integers(0, n_steps, n_nudges - n_nudges // 2)
    return {
        int(t): float(a)
        for t, a in zip([*early, *late], generator.normal(size=n_nudges))
    }


def run_long(lazy, schedules, n_steps):
    start = np.zeros(n_steps + 1, np.int64)
    nudges = sorted(
        (t, row, amount) for row, s in enumerate(schedules) for t, amount in s.items()
    )
    np.add.at(start, [t + 1 for t, _, _ in nudges], 1)
    start = np.cumsum(start)
    row = np.array([r for _, r, _ in nudges])
    amount = np.array([a for _, _, a in nudges])
    column = np.zeros_like(row)
    k = 0
    while k < n_steps:
        code, k = visit(
            lazy.store,
            lazy.clock,
            lazy.rule,
            start,
            row,
            column,
            amount,
            False,
            lazy.difference,
            k,
            n_steps,
        )
        if code == RESCALE:
            rebase([lazy.store], lazy.clock)
            lazy.n_rebased += 1


@pytest.mark.parametrize("average", [None, "step"])
@pytest.mark.parametrize("share", [0.43, 1.0])
def test_decay_over_a_million_steps(average, share):
    """``Σ_t w(t)`` of a geometric decay has a closed form; fsum adds up the nudges
    exactly.
    """
    n = int(N_STEPS * share)
    schedules = [sparse_schedule(n, 40, seed) for seed in range(5)] + [
        {0: 1.0},
        {n - 1: 1.0},
        {n // 2: -3.0},
    ]
    lazy = Lazy("l2", DECAY, average, rows=len(schedules), columns=1)
    run_long(lazy, schedules, n)
    assert lazy.n_rebased >= (1 if config.DISABLE_JIT else 2)
    log_keep = math.log1p(-DECAY)
    for row, schedule in enumerate(schedules):
        if average is None:
            expected = math.fsum(
                a * math.exp(log_keep * (n - 1 - t)) for t, a in schedule.items()
            )
        else:
            # Added at step t, a weight counts a (1 + k + k² + ...) over the n - t steps
            # that remain.
            expected = (
                math.fsum(
                    a * -math.expm1(log_keep * (n - t)) / DECAY
                    for t, a in schedule.items()
                )
                / n
            )
        scale = max(map(abs, schedule.values()))
        found = float(lazy.final()[row, 0])
        if average is None:
            assert found == pytest.approx(expected, rel=1e-8, abs=1e-14 * scale)
        else:
            assert found * n == pytest.approx(expected * n, rel=1e-8, abs=1e-5 * scale)


def shrink(penalty, alpha, schedule, n):
    """Naive truncation of one weight: (last value, exact sum of all values)."""
    w, due, values = 0.0, 0.0, []
    for t in range(n):
        if penalty == "l1":
            w = math.copysign(max(0.0, abs(w) - alpha), w)
            w += schedule.get(t, 0.0)
        else:
            w += schedule.get(t, 0.0)
            due += alpha
            m = min(abs(w), due)
            w = math.copysign(abs(w) - m, w)
            due -= m
        values.append(w)
    return w, math.fsum(values)


@pytest.mark.parametrize("average", [None, "step"])
@pytest.mark.parametrize("penalty", ["l1", "l1-cumulative"])
def test_truncation_over_many_steps(penalty, average):
    n = 4_000 if config.DISABLE_JIT else 400_000
    alpha = 3.0 / n  # a weight of 1 lives for a third of the run
    schedules = [sparse_schedule(n, 60, seed) for seed in range(2)]
    lazy = Lazy(penalty, alpha, average, rows=2, columns=1)
    run_long(lazy, schedules, n)
    for row, schedule in enumerate(schedules):
        last, total = shrink(penalty, alpha, schedule, n)
        expected = last if average is None else total / n
        # The naive sum of the penalties due itself errs by about n ulps.
        assert float(lazy.final()[row, 0]) == pytest.approx(
            expected, rel=1e-8, abs=1e-9
        )


def test_rule_codes():
    assert make_rule(None, 0.0, True).average == EACH_STEP
    assert make_rule(None, 0.0, "step").penalty == NO_PENALTY
