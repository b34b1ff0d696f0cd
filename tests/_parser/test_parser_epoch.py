"""Learning of the parser against differences of features written down with strings."""

from types import SimpleNamespace

import numpy as np
import parse_oracle as oracle
import pytest
from parser_search_cases import PLAIN, Problem

from skstruct._core import feature_table
from skstruct._core.codes import (
    DONE,
    EACH_STEP,
    EARLY,
    L2,
    MAX_VIOLATION,
    TABLE_FULL,
    UPDATES,
)
from skstruct._core.noise import QUIET
from skstruct._core.store import weights
from skstruct._parser import parser_epoch as parse
from skstruct._parser.dependency_trees import actions_of
from skstruct._parser.parser_beam import new_work
from skstruct._parser.template_sets import reads_labels, template_lines
from skstruct._training.epochs import grow_tables

RICH = [line for line in template_lines("rich") if not reads_labels([line])]
"""Labels are chosen for the tree that was found, as with all sets that read no
labels.
"""


@pytest.mark.parametrize("update", [EARLY, MAX_VIOLATION])
@pytest.mark.parametrize("merge", [True, False])
def test_every_update_corrects_a_violation(update, merge):
    problem = Problem(RICH, beam=2, merge=merge, update=update)
    changed = 0
    for _ in range(3):
        for i in range(len(problem.X)):
            before = problem.model.state_features.weights.value.copy()
            problem.train(order=[i])
            after = problem.model.state_features.weights.value
            step = after - np.append(before, np.zeros(after.shape[0] - before.shape[0]))
            assert before @ step[: before.shape[0]] <= 1e-9
            changed += bool(step.any())
    assert changed > 5


@pytest.mark.parametrize("update", sorted(UPDATES))
def test_one_sentence_is_learned(update):
    problem = Problem("hs28", lengths=(5,), update=UPDATES[update]).train(60)
    assert problem.stats.updates == 0
    assert oracle.heads_of(problem.decode(0)[0]) == problem.heads[0]
    trees, _ = problem.final().predict(problem.X)
    assert [head for head, _ in trees[0]] == problem.heads[0]


def test_max_violation_learns_from_the_prefix_that_falls_back_most():
    problem = Problem("hs28", lengths=(5, 4, 5), beam=1, update=MAX_VIOLATION).train(
        1, order=[0, 1]
    )
    by_feature, _ = problem.dictionaries()
    sentence, gold = problem.X[2], actions_of(problem.heads[2])
    path = oracle.greedy(
        problem.lines.states, by_feature, sentence
    )  # in a beam of one, all best states

    def gap(m):
        right = oracle.score_of(problem.lines.states, by_feature, sentence, gold[:m])
        return (
            oracle.score_of(problem.lines.states, by_feature, sentence, path[:m])
            - right
        )

    m = max(
        (m for m in range(1, 10) if path[:m] != gold[:m]), key=lambda m: (gap(m), m)
    )
    expected = {}
    for actions, sign in ((gold[:m], 1.0), (path[:m], -1.0)):
        stack, j = [], 0
        for action in actions:
            for feature in oracle.state_features(
                problem.lines.states, sentence, stack, j
            ):
                key = feature, action
                expected[key] = expected.get(key, 0.0) + sign
            stack, j = oracle.act(action, stack, j)
    after, _ = problem.train(order=[2]).dictionaries()
    change = {
        (feature, a): w - by_feature.get(feature, (0.0,) * 3)[a]
        for feature, row in after.items()
        for a, w in enumerate(row)
    }
    assert {k: v for k, v in change.items() if v} == {
        k: v for k, v in expected.items() if v
    }


def test_the_average_is_that_of_the_weights_after_each_sentence():
    problem = Problem(
        "hs28", rule=PLAIN._replace(average=EACH_STEP, penalty=L2, alpha=1e-3)
    )
    total, label_total = np.zeros(0), np.zeros(0)
    for i in [*range(len(problem.X))] * 2:
        problem.train(order=[i])
        model = problem.model
        value, label_value = (
            model.state_features.weights.value,
            model.arc_features.weights.value,
        )
        for_sum = value * model.clock.scale[0], label_value * model.clock.scale[0]
        total = for_sum[0] + np.append(
            total, np.zeros(for_sum[0].shape[0] - total.shape[0])
        )
        label_total = for_sum[1] + np.append(
            label_total, np.zeros(for_sum[1].shape[0] - label_total.shape[0])
        )
    T = 2 * len(problem.X)
    for features, expected in (
        (model.state_features, total),
        (model.arc_features, label_total),
    ):
        averaged = weights(features.weights, model.clock, problem.rule)
        np.testing.assert_allclose(averaged, expected / T, atol=1e-9)


def test_room_for_features_does_not_show(monkeypatch):
    large = Problem(RICH).train(2).dictionaries()
    monkeypatch.setattr(feature_table, "FIRST_CAPACITY", 8)
    problem = Problem(RICH)
    order = np.arange(len(problem.X))
    work = new_work(problem.task, problem.model)
    code, k = parse.epoch(
        problem.task, order, 0, 2, problem.model, problem.rule, QUIET, work
    )
    assert (code, k) == (TABLE_FULL, 0)
    features = problem.model.state_features
    assert not features.weights.value.any() and features.entries[0] == 0
    small = problem.train(2).dictionaries()
    assert small == large


def test_order_and_weights_of_sentences_matter_as_they_should():
    problem = Problem("hs28")
    nothing = problem.task._replace(weight=np.zeros(len(problem.X)))
    work = new_work(nothing, problem.model)
    state = SimpleNamespace(
        model=problem.model._replace(wanted=np.full(2, 10_000)), rule=problem.rule
    )
    grow_tables(state)
    model = state.model
    code, _ = parse.epoch(
        nothing, np.arange(len(problem.X)), 0, 8, model, problem.rule, QUIET, work
    )
    assert code == DONE and not model.state_features.weights.value.any()
