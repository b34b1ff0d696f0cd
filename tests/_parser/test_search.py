"""The parser's kernels against enumeration, and against features written down with strings."""

import math
from types import SimpleNamespace

import numpy as np
import parse_oracle as oracle
import pytest
from parser_search_cases import ALL, PLAIN, Problem

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
from skstruct._core.noise import QUIET, make_noise
from skstruct._core.store import weights
from skstruct._parser import parser_epoch as parse
from skstruct._parser.dependency_trees import actions_of
from skstruct._parser.parser_beam import new_work
from skstruct._parser.parser_fields import TABLES
from skstruct._parser.template_sets import reads_labels, template_lines
from skstruct._training.epochs import grow_tables

RICH = [line for line in template_lines("rich") if not reads_labels([line])]
"""Labels are chosen for the tree that was found, as with all sets that read no labels."""
SETS = ["hs28", RICH]


# -- search ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", SETS)
def test_with_all_states_the_search_is_exact(name):
    problem = Problem(name, lengths=(1, 2, 3, 4, 4)).train(2)
    by_feature, _ = problem.dictionaries()
    for i, sentence in enumerate(problem.X):
        best = max(
            oracle.score_of(problem.lines.states, by_feature, sentence, d)
            for d in oracle.derivations(len(sentence))
        )
        for merge in (True, False):
            path, score, _ = problem.with_beam(ALL, merge).decode(i)
            assert score == pytest.approx(best)
            assert oracle.score_of(
                problem.lines.states, by_feature, sentence, path
            ) == pytest.approx(best)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("merge", [True, False])
def test_a_score_is_that_of_the_actions(name, merge):
    problem = Problem(name).train(2)
    by_feature, _ = problem.dictionaries()
    for i, sentence in enumerate(problem.X):
        for beam in (1, 2, 8):
            path, score, _ = problem.with_beam(beam, merge).decode(i)
            assert oracle.score_of(
                problem.lines.states, by_feature, sentence, path
            ) == pytest.approx(score)


def test_a_beam_of_one_is_greedy():
    problem = Problem(beam=1).train(3)
    by_feature, _ = problem.dictionaries()
    for i, sentence in enumerate(problem.X):
        path, _, _ = problem.decode(i)
        expected = oracle.greedy(problem.lines.states, by_feature, sentence)
        scores = [
            oracle.score_of(problem.lines.states, by_feature, sentence, p)
            for p in (path, expected)
        ]
        assert scores[0] == pytest.approx(scores[1])


@pytest.mark.parametrize("n, n_trees", [(1, 1), (2, 2), (3, 7), (4, 30), (5, 143)])
def test_without_merging_every_derivation_is_a_state(n, n_trees):
    problem = Problem(lengths=(n,), beam=ALL, merge=False)
    catalan = math.comb(2 * n - 2, n - 1) // n
    assert problem.decode(0)[2] == catalan * 2 ** (n - 1) == len(oracle.derivations(n))
    assert len({tuple(oracle.heads_of(d)) for d in oracle.derivations(n)}) == n_trees
    assert problem.with_beam(ALL, True).decode(0)[2] <= catalan * 2 ** (n - 1)


def test_wide_beams_are_never_worse_than_all_states():
    problem = Problem(lengths=(5, 5, 5, 5)).train(3)
    for i in range(4):
        exact = problem.with_beam(ALL, True).decode(i)[1]
        for beam in (1, 2, 4):
            for merge in (True, False):
                assert problem.with_beam(beam, merge).decode(i)[1] <= exact + 1e-9


def test_merging_keeps_more_derivations_in_the_same_beam():
    problem = Problem("hs28", lengths=(7,) * 12, seed=3).train(2)
    merged = [problem.with_beam(2, True).decode(i)[1] for i in range(12)]
    plain = [problem.with_beam(2, False).decode(i)[1] for i in range(12)]
    assert np.mean(merged) >= np.mean(plain)


def test_long_sentences_take_a_number_of_states_that_is_linear_in_their_length():
    problem = Problem("hs28", lengths=(600,)).train()
    path, _, last = problem.decode(0)
    assert len(path) == 1199 and last <= 8
    assert oracle.heads_of(path).count(0) == 1


# -- learning --------------------------------------------------------------------------------------
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


# -- noise -----------------------------------------------------------------------------------------
def test_masked_forms_take_their_features_along():
    problem = Problem(RICH).train(noise=make_noise(1, dropout=1 - 1e-9))
    for features in map(problem.final().features, TABLES):
        assert features
        for line, values in features:
            for atom, value in zip(line.split(), values):
                form = atom.rpartition(".")[2] in ("w", "l", "x2", "x3", "f")
                assert not form or value in ("<s>", "NONE", "</s>")


def test_no_dropout_is_no_noise():
    a, b = (
        Problem(RICH).train(2),
        Problem(RICH).train(2, noise=make_noise(7, dropout=0.0)),
    )
    assert a.dictionaries() == b.dictionaries()


@pytest.mark.parametrize("kind", ["dropout", "zipf"])
def test_noise_on_features_spares_those_of_decisions_unless_asked(kind):
    quiet = make_noise(3, feature_noise=None, edge_noise=kind, rate=0.999999)
    features = Problem("hs28").train(noise=quiet).final().features("")
    if kind == "dropout":
        assert features and not any("c." in line for line, _ in features)
    assert (
        Problem("hs28").train(noise=quiet).dictionaries()
        != Problem("hs28").train().dictionaries()
    )


def test_rare_features_do_not_count():
    problem = Problem("hs28", min_count=3).train(3)
    by_feature, label_features = problem.dictionaries()
    seen = problem.model.state_features.seen[: len(by_feature)]
    for (_, row), times in zip(by_feature.items(), seen):
        assert times >= 3 or not any(row)
    assert any(any(row) for row in by_feature.values())
    for i, sentence in enumerate(problem.X):
        _, expected = problem.final().predict([sentence])
        assert problem.decode(i)[1] == pytest.approx(expected[0])
