"""Labels in the search of the parser."""

import numpy as np
import parse_oracle as oracle
import pytest
from parser_search_cases import ALL, Problem

from skstruct._core.codes import (
    EARLY,
    MAX_VIOLATION,
)
from skstruct._parser import parser_beam as search_module
from skstruct._parser.parser_fields import TABLES
from skstruct._parser.template_sets import ARC_LINES

# -- labels in the search --------------------------------------------------------------
JOINT = ["s0.t", "s1.t", "s0.t s1.t q0.t", "s0.w s1.t", "s1.w d", "s0.lc.r s0.t", "s1.rc.r s1.rc2.r q0.t",
         "s1.lc.r s1.lc2.r", "s0.rc.r s1.t", "s0.vl s1.vr"]  # fmt: skip


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("name", [JOINT, "rich"], ids=["few", "rich"])
def test_a_joint_score_is_that_of_actions_and_labels(name, merge):
    problem = Problem(name, lengths=(1, 2, 3, 4, 5, 5, 7), seed=2).train(3)
    weights, final = problem.dictionaries(), problem.with_beam(8, merge).final()
    trees, scores = final.predict(problem.X)
    for i, sentence in enumerate(problem.X):
        path, score, _ = problem.decode(i)
        assert score == pytest.approx(scores[i])
        expected, labels = oracle.joint_score(
            problem.lines, weights, problem.labels.values, sentence, path
        )
        assert score == pytest.approx(expected)
        assert oracle.heads_of(path) == [head for head, _ in trees[i]]
        assert all(a == b for a, (head, b) in zip(labels, trees[i]) if head > 0)


@pytest.mark.parametrize("name", [JOINT, "hs28"], ids=["joint", "after"])
def test_the_best_trees_are_those_of_the_beam(name):
    problem = Problem(name, lengths=(4, 5, 1, 5), seed=4).train(3).with_beam(ALL, True)
    weights, names = problem.dictionaries(), problem.labels.values
    final = problem.final()
    for sentence, found in zip(problem.X, final.predict_kbest(problem.X, 40)):
        scores = [score for _, score in found]
        assert scores == sorted(scores, reverse=True) and len(found) <= 40
        assert len({tuple(tree) for tree, _ in found}) == len(found)
        of_tree = {}
        for actions in oracle.derivations(len(sentence)):
            if name == "hs28":
                score = oracle.score_of(
                    problem.lines.states, weights[0], sentence, actions
                )
            else:
                score, _ = oracle.joint_score(
                    problem.lines, weights, names, sentence, actions
                )
            of_tree.setdefault(tuple(oracle.heads_of(actions)), []).append(score)
        for tree, score in found:  # a score is that of some way to build the tree
            assert any(
                score == pytest.approx(s)
                for s in of_tree[tuple(head for head, _ in tree)]
            )
        assert scores[0] == pytest.approx(max(max(each) for each in of_tree.values()))
        assert len(found) > 1 or len(sentence) == 1
    assert [
        found[0][0] for found in final.predict_kbest(problem.X, 1)
    ] == final.predict(problem.X)[0]


def test_with_all_states_the_joint_search_is_exact():
    problem = Problem(JOINT, lengths=(1, 2, 3, 4, 4), seed=1).train(2)
    weights, names = problem.dictionaries(), problem.labels.values
    for i, sentence in enumerate(problem.X):
        found = [
            oracle.joint_score(problem.lines, weights, names, sentence, d)[0]
            for d in oracle.derivations(len(sentence))
        ]
        for merge in (True, False):
            assert problem.with_beam(ALL, merge).decode(i)[1] == pytest.approx(
                max(found)
            )


@pytest.mark.parametrize("update", [EARLY, MAX_VIOLATION])
def test_every_joint_update_corrects_a_violation(update):
    """Where labels are given, those of right arcs are learned besides, by a margin;
    here they are not.
    """
    problem = Problem(JOINT, beam=2, update=update).train(2)
    problem.task = problem.task._replace(label=np.full_like(problem.task.label, -1))
    changed = 0
    for _ in range(3):
        for i in range(len(problem.X)):
            before = [
                getattr(problem.model, name).weights.value.copy()
                for name in TABLES.values()
            ]
            problem.train(order=[i])
            after = [
                getattr(problem.model, name).weights.value for name in TABLES.values()
            ]
            steps = [
                b - np.append(a, np.zeros(b.shape[0] - a.shape[0]))
                for a, b in zip(before, after)
            ]
            assert sum(a @ step[: a.shape[0]] for a, step in zip(before, steps)) <= 1e-9
            changed += any(step.any() for step in steps)
    assert changed > 3


def test_what_was_found_before_makes_no_difference(monkeypatch):
    several = Problem("rich").train(2)
    monkeypatch.setattr(search_module, "REMEMBERED", 1)
    one = Problem("rich").train(2)
    assert one.dictionaries() == several.dictionaries()
    assert [one.decode(i)[1] for i in range(8)] == [
        several.decode(i)[1] for i in range(8)
    ]


def test_labels_are_the_best_of_each_arc():
    problem = Problem("hs28", seed=5).train(2)
    _, by_feature = problem.dictionaries()
    trees, _ = problem.final().predict(problem.X)
    for sentence, tree in zip(problem.X, trees):
        heads = [head for head, _ in tree]
        for k, (_, label) in enumerate(tree):
            rows = [
                by_feature.get(f)
                for f in oracle.arc_features(ARC_LINES, sentence, heads, k)
            ]
            total = np.sum([row for row in rows if row] or [np.zeros(3)], axis=0)
            assert total[problem.labels.ids[label]] == pytest.approx(total.max())
