"""Differences are coalesced; step sizes follow the formulas."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracle_training
import oracles
from skstruct._core.codes import AVERAGES, NO_PENALTY, PERCEPTRON, VARIANTS
from skstruct._core.compile import ZERO, kernel
from skstruct._core.rules import (
    apply,
    clear,
    emit,
    new_difference,
    room_for,
    step_size,
    sum_of_squares,
)
from skstruct._core.store import Rule, grow_pool, new_clock, new_store, weights

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")


def rule_of(update, C=1.0, penalty=NO_PENALTY, alpha=0.0, average=None):
    return Rule(update, C, False, penalty, alpha, AVERAGES[average])


@kernel
def emit_all(difference, row, column, amount):
    for i in range(row.shape[0]):
        emit(difference, row[i], column[i], amount[i])
    return sum_of_squares(difference.amount, ZERO, difference.size[0])


@kernel
def clear_it(difference):
    clear(difference)


@kernel
def step(rule, loss, norm2, weight):
    return step_size(rule, loss, norm2, weight)


@kernel
def apply_it(difference, store, clock, rule, tau):
    n = difference.size[0]
    if not room_for(difference, ZERO, n, ZERO, store):
        return False
    apply(difference, ZERO, n, ZERO, store, clock, rule, tau)
    return True


TRIPLES = st.lists(
    st.tuples(
        st.one_of(st.integers(0, 3), st.integers(0, 2**40)),
        st.integers(0, 3),
        st.sampled_from([-2.0, -1.0, -0.5, 0.5, 1.0]),
    ),
    min_size=1,
    max_size=40,
)


def arrays(triples):
    row, column, amount = zip(*triples)
    return np.array(row, np.int64), np.array(column, np.int64), np.array(amount)


def as_dict(difference):
    n = difference.size[0]
    entries = list(zip(difference.row[:n].tolist(), difference.column[:n].tolist()))
    assert len(set(entries)) == n
    return dict(zip(entries, difference.amount[:n].tolist()))


@given(TRIPLES, TRIPLES)
def test_difference_adds_up_and_clears(first, second):
    difference = new_difference(40)
    for triples in (first, second):
        norm = emit_all(difference, *arrays(triples))
        expected = defaultdict(float)
        for row, column, amount in triples:
            expected[row, column] += amount
        assert as_dict(difference) == dict(expected)
        assert norm == oracles.squared_norm(expected)  # dyadic numbers: exact
        clear_it(difference)
        assert difference.size[0] == 0
        assert (difference.slot == -1).all()


def test_full_capacity():
    difference = new_difference(1000)
    rows = np.arange(1000)
    emit_all(difference, rows, rows % 7, np.ones(1000))
    assert as_dict(difference) == {(r, r % 7): 1.0 for r in range(1000)}
    clear_it(difference)
    assert (difference.slot == -1).all()


@given(
    st.sampled_from(["PA", "PA-I", "PA-II"]),
    st.floats(1e-3, 1e3),
    st.floats(-5, 50),
    st.floats(0.1, 1e4),
    st.sampled_from([1.0, 1e-4, 3.0, 100.0]),
)
def test_step_sizes(variant, C, loss, norm2, weight):
    """An example of weight v is learned as one of weight 1, in units that are v times
    as large.
    """
    found = step(rule_of(VARIANTS[variant], C), weight * loss, norm2, weight)
    expected = weight * oracle_training.step_size(variant, C, loss, norm2)
    assert found == pytest.approx(expected, rel=1e-14, abs=0)


@pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
def test_no_step_without_loss_or_direction(variant):
    rule = rule_of(VARIANTS[variant], 2.0)
    assert step(rule, 0.0, 1.0, 1.0) == 0.0
    assert step(rule, -1.0, 1.0, 1.0) == 0.0
    assert step(rule, 1.0, 0.0, 1.0) == 0.0


def test_perceptron_steps_by_one():
    assert [
        step(rule_of(PERCEPTRON, 0.3), 17.0, 5.0, weight) for weight in (1.0, 0.25)
    ] == [1.0, 0.25]


@given(st.floats(0.01, 10), st.floats(0.5, 20), st.floats(-3, 0.99))
def test_pa_solves_its_optimisation_problem(C, norm2, gap):
    """[G] eq. 5 in one dimension along Δφ: τ minimises ½ τ² ‖Δφ‖² + C max(0, 1 - gap -
    τ ‖Δφ‖²).
    """
    assume(norm2 > 0)

    def objective(tau):
        return 0.5 * tau * tau * norm2 + C * max(0.0, 1 - gap - tau * norm2)

    tau = step(rule_of(VARIANTS["PA-I"], C), 1 - gap, norm2, 1.0)
    best = min(objective(t) for t in np.linspace(0, 2 * tau, 401))
    assert objective(tau) <= best + 1e-12 * max(1, best)
    tau = step(rule_of(VARIANTS["PA"], C), 1 - gap, norm2, 1.0)
    assert gap + tau * norm2 == pytest.approx(1.0)

    def soft(tau):  # PA-II: squared slack
        return 0.5 * tau * tau * norm2 + C * max(0.0, 1 - gap - tau * norm2) ** 2

    tau = step(rule_of(VARIANTS["PA-II"], C), 1 - gap, norm2, 1.0)
    assert soft(tau) <= min(soft(t) for t in np.linspace(0, 2 * tau, 401)) * (1 + 1e-12)


@pytest.mark.parametrize("sparse", [False, True])
@given(triples=TRIPLES, tau=st.sampled_from([0.5, 1.0, 3.0]))
def test_apply_adds_the_difference(sparse, triples, tau):
    triples = [(row % 9, column, amount) for row, column, amount in triples]
    rule = rule_of(PERCEPTRON)
    store, clock, difference = (
        new_store(9, 4, rule, sparse),
        new_clock(),
        new_difference(40),
    )
    emit_all(difference, *arrays(triples))
    while not apply_it(difference, store, clock, rule, tau):
        store = grow_pool(store, rule, 1)
    expected = np.zeros((9, 4))
    for row, column, amount in triples:
        expected[row, column] += tau * amount
    found = np.zeros((9, 4))
    values = weights(store, clock, rule)
    if sparse:
        for row in range(9):
            place = slice(store.first[row], store.first[row] + store.count[row])
            found[row, store.column[place]] = values[place]
    else:
        found = values.reshape(9, 4)
    np.testing.assert_array_equal(found, expected)
