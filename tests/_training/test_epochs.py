"""The loop over epochs, with kernels that stand for the real ones."""

import types
from typing import NamedTuple

import numpy as np
import pytest

from skstruct._core.codes import AVERAGES, DONE, NO_PENALTY, PERCEPTRON, POOL_FULL
from skstruct._core.store import Clock, Rule, Store, grow_pool, new_clock, new_store
from skstruct._training.epochs import epochs_for, run_epoch
from skstruct._training.run import Run, TrainingState

RULE = Rule(PERCEPTRON, 0.0, False, NO_PENALTY, 0.0, AVERAGES[None])


@pytest.mark.parametrize(
    ("asked", "n", "epochs"),
    [("auto", 0, 20), ("auto", 199, 20), ("auto", 200, 10), (7, 50, 7), (7, 500, 7)],
)
def test_epochs_follow_the_number_of_sequences(asked, n, epochs):
    assert epochs_for(asked, n) == epochs


class Model(NamedTuple):
    nodes: Store
    edges: Store
    dense: Store
    clock: Clock


class Work(NamedTuple):
    stats: np.ndarray


class PlainRun(Run):
    """Of no structure: all that is called is the kernel."""

    fresh = scratch = finished = held_out_part = held_out_score = None


def kernel_that_needs(needed):
    """Each example takes ``needed[name]`` places of a store, all of which must be
    free.
    """

    def epoch(task, order, begin, end, model, rule, noise, work):
        for k in range(begin, end):
            for name, places in needed.items():
                store = getattr(model, name)
                if store.used[0] + places > store.value.shape[0]:
                    return POOL_FULL, k
            for name, places in needed.items():
                getattr(model, name).used[0] += places
        return DONE, end

    return epoch


def run(needed, n=50, edges=0):
    sparse = new_store(9, 9, RULE, sparse=True)
    model = Model(
        sparse, new_store(9, 9, RULE, True), new_store(9, 9, RULE, False), new_clock()
    )
    if edges:
        model = model._replace(edges=grow_pool(model.edges, RULE, edges))
    order = np.arange(n)
    task = types.SimpleNamespace(token=np.arange(n + 1))
    run = PlainRun(None, TrainingState(model, RULE, 0), task)
    run.epoch = kernel_that_needs(needed)
    run_epoch(run, order, np.ones(n, np.int64), None, Work(np.zeros(3)))
    model = run.state.model
    for name in ("nodes", "edges", "dense"):
        assert getattr(model, name).used[0] == n * needed.get(name, 0)
    return model


@pytest.mark.parametrize("places", [10, 1000, 10_000])
def test_only_the_store_that_is_full_grows(places):
    model = run({"nodes": places}, edges=20_000)
    assert model.edges.value.shape[0] == model.edges.column.shape[0] == 20_000
    assert (
        50 * places <= model.nodes.value.shape[0] <= max(4096, 100 * places + 2 * 4096)
    )
    assert model.dense.value.shape[0] == 81


def test_a_store_with_less_room_than_the_one_that_is_full_grows_little():
    """Which one was full is not known: that with the least room is the first to
    grow.
    """
    model = run({"nodes": 10_000, "edges": 1})
    assert model.nodes.value.shape[0] >= 500_000
    assert model.edges.value.shape[0] <= 2 * 10_000
