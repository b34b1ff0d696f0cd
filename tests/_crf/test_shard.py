"""A shard's part of an objective: parts add up to the objective of the whole."""

import functools

import numpy as np
import pytest
from inside import run_of

from skstruct import L1CRF
from skstruct._crf.shard import CRFShard
from skstruct._crf.sharded import ShardedRun
from skstruct._shards.held import LocalShards
from skstruct._shards.loading import Job
from skstruct.datasets import make_hmm_sequences


def loads_of(X, y, n):
    return [functools.partial(lambda s: (X[s::n], y[s::n]), s) for s in range(n)]


@pytest.fixture
def objectives():
    """(the objective of shards, that of one machine) of one corpus."""
    X, y = make_hmm_sequences(30, random_state=0)
    crf = L1CRF(c1=0.2, c2=0.3)
    crew = LocalShards(1)
    sharded = ShardedRun(crf, crew, loads_of(X, y, 3)).new_objective(0.2)
    yield sharded, run_of(crf, X, y).new_objective(0.2)
    crew.close()


def test_values_gradients_and_curvatures_add_up(objectives):
    """At weights zero; the shards number their features in another order."""
    sharded, whole = objectives
    assert sharded.size == whole.size and sharded.n_features == whole.n_features
    assert sharded.n_tokens == whole.n_tokens and sharded.n_entries == whole.n_entries
    assert sharded.all_labelled and whole.all_labelled
    results = []
    for o in objectives:
        view = o.view_all()
        nothing = np.zeros(o.size)
        value, gradient = o.evaluate(view, nothing, keep=True)
        n = o.n_optional
        np.testing.assert_allclose(
            o.gradient_of_all(nothing[:n]), gradient[:n], atol=1e-9
        )
        assert o.value_at_zero() == pytest.approx(value)
        curvature = o.curvature(view, nothing)
        results.append((value, np.sort(gradient), np.sort(curvature)))
    for mine, theirs in zip(*results):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)


def test_a_working_set_is_a_part_of_all(objectives):
    """The gradient on some weights is that part of the gradient on all."""
    sharded, _ = objectives
    rng = np.random.RandomState(0)
    every = sharded.evaluate(sharded.view_all(), np.zeros(sharded.size))
    chosen = np.sort(rng.permutation(sharded.n_optional)[: sharded.n_optional // 2])
    view = sharded.view(chosen)
    value, gradient = sharded.evaluate(view, np.zeros(view.size))
    assert value == pytest.approx(every[0])
    np.testing.assert_allclose(gradient, every[1][view.where], atol=1e-9)


def test_an_empty_shard_says_why_it_has_nothing_to_learn_from():
    job = Job(4, lambda: ([], []), L1CRF(), 0)
    reason = CRFShard(job).vocabulary(None, 1)
    assert isinstance(reason, str) and reason


def test_errors_name_the_shard():
    X, y = make_hmm_sequences(3, random_state=0)
    job = Job(4, lambda: (X, y[:2]), L1CRF(), 0)
    with pytest.raises(ValueError, match="shard 4"):
        CRFShard(job)
