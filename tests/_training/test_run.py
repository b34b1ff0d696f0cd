"""One training run: its order, its members, its record, and what it leaves alone."""

import numpy as np
import pytest
from inside import run_of, training_of

from skstruct import StructuredPerceptron
from skstruct._training.run import new_key

X = [["a", "b", "c"], ["b", "a"], ["c"], []]
Y = [["D", "N", "V"], ["N", "D"], ["V"], []]


def new_run(**options):
    return run_of(StructuredPerceptron(random_state=0, **options), X, Y)


def test_a_key_is_drawn_from_the_random_state():
    assert new_key(0) == new_key(0) != new_key(1)
    state = np.random.RandomState(0)
    assert new_key(state) == new_key(0) != new_key(state)


def test_orders_visit_each_sequence_with_tokens_once():
    run = new_run()
    orders = [run.order(epoch).tolist() for epoch in range(8)]
    assert all(sorted(order) == [0, 1, 2] for order in orders)
    assert len(set(map(tuple, orders))) > 1
    assert orders[3] == run.order(3).tolist()
    assert new_run(shuffle=False).order(5).tolist() == [0, 1, 2]


def test_a_member_has_weights_and_orders_of_its_own():
    run = new_run()
    member = run.member(run.estimator, 1, np.array([0, 0, 2]))
    assert member.task is run.task
    assert member.state.key == new_key(1)
    assert sorted(member.order(0).tolist()) == [0, 0, 2]
    member.state.model.nodes.value[:] = 1.0
    assert not run.state.model.nodes.value.any()


def test_the_record_of_an_epoch():
    tagger = StructuredPerceptron(max_iter=2, random_state=0).fit(X, Y)
    first, second = tagger.history_
    assert (first["epoch"], second["epoch"]) == (1, 2)
    assert first["sequence_error"] == first["updates"] / 3
    assert 0 < first["token_error"] <= 1
    assert first["complete"] and first["seconds"] > 0
    assert training_of(tagger).epoch == 2


def test_runs_over_one_corpus_cannot_be_those_of_shards_by_default():
    from skstruct._training.run import Run

    with pytest.raises(ValueError, match="cannot learn from shards"):
        Run.vocabulary(new_run(), 1)
    with pytest.raises(ValueError, match="cannot adopt"):
        Run.adopt(new_run(), {})
