"""The arithmetic of mixing against complete weight vectors, kept step by step and added
up.
"""

import numpy as np
import pytest
from inside import model_of, rule_of, run_of
from training_cases import corpus

from skstruct import ParameterMixer, PassiveAggressiveTagger, StructuredPerceptron
from skstruct._core.codes import EACH_EPOCH, NO_AVERAGE
from skstruct._core.noise import QUIET
from skstruct._core.store import copy_store, new_store, settle, weights
from skstruct._shards.pieces import Piece, scaled
from skstruct._shards.shards import shard_key
from skstruct._shards.weights import (
    Coefficients,
    Steps,
    Weights,
    differences,
    mixed_steps,
    mixture,
    take_over,
)
from skstruct._training.epochs import epoch_order, run_epoch, stores_of

LINES = ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "B", "B1:%x[0,0]"]
ROUNDS = 4


def naive(estimator, X, y, n_shards, mixing):
    """Final weights by store: every shard trains step by step, without any lazy sum."""
    run = run_of(estimator, X, y)
    rule, key = run.state.rule, run.state.key
    plain, lengths, work = (
        rule._replace(average=NO_AVERAGE),
        np.diff(run.task.token),
        run.scratch(),
    )
    names = list(stores_of(run.state.model))
    now = {name: np.zeros_like(getattr(run.state.model, name).value) for name in names}
    received = {name: np.zeros_like(value) for name, value in now.items()}
    total, count, visited = {name: 0.0 for name in names}, 0, 0
    for epoch in range(ROUNDS):
        ends, means, owed, updates, steps, touched = [], [], [], [], [], []
        for s in range(n_shards):
            mine = run.visited[s::n_shards]
            order = mine[
                epoch_order(shard_key(key, s), epoch, mine.shape[0], estimator.shuffle)
            ]
            model = run.fresh(0).model
            model.clock.step[0] = visited
            for name in names:
                getattr(model, name).value[:] = now[name]
                getattr(model, name).last[:] = visited
                if getattr(model, name).received.shape[0]:
                    getattr(model, name).received[:] = received[name]
            sums, changed = {name: 0.0 for name in names}, 0
            moved = {
                name: np.zeros(value.shape[0], bool) for name, value in now.items()
            }
            for k in range(order.shape[0]):
                run.state.model, run.state.rule = model, plain
                stats, _ = run_epoch(run, order[k : k + 1], lengths, QUIET, work)
                model, run.state.rule = run.state.model, rule
                changed += stats.updates
                for name in names:
                    w = weights(getattr(model, name), model.clock, plain)
                    moved[name] |= getattr(model, name).value != now[name]
                    if rule.average != EACH_EPOCH or k == order.shape[0] - 1:
                        sums[name] = sums[name] + w
            n = 1 if rule.average == EACH_EPOCH else order.shape[0]
            ends.append(
                {
                    name: weights(getattr(model, name), model.clock, plain)
                    for name in names
                }
            )
            owed.append(
                {
                    name: _received(getattr(model, name), model.clock, plain)
                    for name in names
                }
            )
            means.append({name: sums[name] / n for name in names})
            updates.append(changed)
            steps.append((n, order.shape[0]))
            if (
                rule.average == NO_AVERAGE
            ):  # what came back to where it was left no trace
                moved = {
                    name: getattr(model, name).value != now[name] for name in names
                }
            touched.append(moved)
        share = mixture(mixing, updates)
        n, seen = (round(float(share @ column)) for column in np.array(steps).T)
        for name in names:
            shares = share
            if mixing == "nonzero":
                by_shard = np.array([moved[name] for moved in touched], float)
                by_shard[:, ~by_shard.any(axis=0)] = 1.0
                shares = by_shard / by_shard.sum(axis=0)
            now[name] = sum(m * end[name] for m, end in zip(shares, ends))
            received[name] = sum(
                m * end[name] for m, end in zip(share, owed)
            )  # not with "nonzero"
            total[name] = total[name] + n * sum(
                m * mean[name] for m, mean in zip(shares, means)
            )
        count += n
        visited += seen
    return (
        now
        if rule.average == NO_AVERAGE
        else {name: total[name] / count for name in names}
    )


def _received(store, clock, rule):
    store = copy_store(store)
    settle(store, clock, rule)
    return store.received


PENALTIES = [(None, 1e-6), ("l2", 0.02), ("l1", 2**-6), ("l1-cumulative", 2**-7)]


@pytest.mark.parametrize("mixing", ["uniform", "errors"])
@pytest.mark.parametrize("penalty, alpha", PENALTIES)
@pytest.mark.parametrize("n", [8, 11])  # shards of one size, and of three
def test_weights_and_averages(penalty, alpha, n, mixing):
    X, y = corpus(n, "str", n=n)
    for learner in (
        StructuredPerceptron(LINES, max_iter=ROUNDS, penalty=penalty, alpha=alpha),
        StructuredPerceptron(
            LINES, max_iter=ROUNDS, penalty=penalty, alpha=alpha, average=False
        ),
        PassiveAggressiveTagger(
            LINES, C=0.5, max_iter=ROUNDS, penalty=penalty, alpha=alpha, average="epoch"
        ),
    ):
        mixer = ParameterMixer(learner, n_shards=4, mixing=mixing, random_state=1).fit(
            X, y
        )
        learner.set_params(random_state=1)
        for name, value in naive(learner, X, y, 4, mixing).items():
            np.testing.assert_allclose(
                getattr(model_of(mixer), name).value, value, rtol=1e-9, atol=1e-9
            )


@pytest.mark.parametrize("penalty, alpha", PENALTIES[:2])
def test_a_weight_is_the_mean_over_the_shards_that_changed_it(penalty, alpha):
    X, y = corpus(8, "str", n=8)
    for average in (True, False):
        learner = StructuredPerceptron(
            LINES,
            max_iter=ROUNDS,
            penalty=penalty,
            alpha=alpha,
            average=average,
            random_state=1,
        )
        mixer = ParameterMixer(
            learner, n_shards=4, mixing="nonzero", random_state=1
        ).fit(X, y)
        plain = ParameterMixer(learner, n_shards=4, random_state=1).fit(X, y)
        for name, value in naive(learner, X, y, 4, "nonzero").items():
            np.testing.assert_allclose(
                getattr(model_of(mixer), name).value, value, rtol=1e-9, atol=1e-9
            )
        assert (model_of(mixer).nodes.value != model_of(plain).nodes.value).any()


def test_long_decay_is_rebased_and_stays_exact():
    X, y = corpus(3, "str", n=9)
    learner = StructuredPerceptron(LINES, max_iter=ROUNDS, penalty="l2", alpha=0.99)
    mixer = ParameterMixer(learner, n_shards=2, random_state=1).fit(X, y)
    for name, value in naive(
        learner.set_params(random_state=1), X, y, 2, "uniform"
    ).items():
        np.testing.assert_allclose(
            getattr(model_of(mixer), name).value, value, rtol=1e-6, atol=1e-9
        )


def test_mixtures_sum_to_one():
    assert mixture("uniform", [5, 0, 3]).tolist() == [1 / 3] * 3
    assert mixture("errors", [3, 0, 1]).tolist() == [0.75, 0.0, 0.25]
    assert mixture("errors", [0, 0]).tolist() == [0.5, 0.5]


def test_a_mixture_of_equals_is_each_of_them():
    start, end = Steps(10, 10, 0.5, 7.0), Steps(14, 14, 0.25, 8.5)
    after, coefficients = mixed_steps(start, [end] * 4, np.full(4, 0.25), lazy=False)
    assert after == end
    assert all(
        c.value == c.moment == c.share == 0.25 and c.shift == 0.0 for c in coefficients
    )


@pytest.mark.parametrize("sparse", [False, True])
def test_what_travels_arrives(sparse):
    """Changes of a store, mixed with share 1 and sent on, are the store again."""
    generator = np.random.default_rng(0)
    rule = rule_of(StructuredPerceptron())
    rows, columns = 50, 20

    def fresh():
        return new_store(rows, columns, rule, sparse)

    there, here = fresh(), Weights(fresh(), rule, moments=True)
    base, one = Weights(fresh(), rule, moments=False), (1.0, 1.0, 0.0, 1.0)
    dense = np.zeros((rows, columns))
    for n_changed in (5, 300, 1, 0):
        keys = np.sort(generator.choice(rows * columns, n_changed, replace=False))
        values = generator.normal(size=n_changed)
        dense.ravel()[keys] = values
        nothing = np.zeros(0)
        there = take_over(there, base, Piece(keys, values, nothing, nothing), rule, 0)
        elsewhere = Weights(
            fresh(), rule, moments=False
        )  # knows nothing: everything is a difference
        piece = differences(there, elsewhere, rows)
        here = Weights(fresh(), rule, moments=True)
        here.add(scaled(piece, Coefficients(*one), False), 1)
        everything = here.news(everything=True)
        copy = take_over(
            fresh(), Weights(fresh(), rule, moments=False), everything, rule, 0
        )
        for store in (there, copy):
            found = np.zeros(rows * columns)
            all_of_it = differences(store, Weights(fresh(), rule, moments=False), rows)
            found[slice(None) if all_of_it.keys is None else all_of_it.keys] = (
                all_of_it.value
            )
            np.testing.assert_array_equal(found, dense.ravel())
