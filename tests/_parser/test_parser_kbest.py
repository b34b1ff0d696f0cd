"""The k best trees, against enumeration of all ways to build all trees."""

import parse_oracle as oracle
import pytest
from inside import model_of
from parser_cases import X, Y, parser
from parser_search_cases import ALL, Problem

from skstruct import ShiftReduceParser

JOINT = ["s0.t", "s1.t", "s0.t s1.t q0.t", "s0.w s1.t", "s1.w d", "s0.lc.r s0.t", "s1.rc.r s1.rc2.r q0.t",
         "s1.lc.r s1.lc2.r", "s0.rc.r s1.t", "s0.vl s1.vr"]  # fmt: skip


def best_by_tree(problem, sentence):
    """{tree: the score of the best way to build it}; labels of the search, None for the
    others.
    """
    weights, names = problem.dictionaries(), problem.labels.values
    joint = problem.final().is_joint
    best = {}
    for actions in oracle.derivations(len(sentence)):
        if joint:
            score, labels = oracle.joint_score(
                problem.lines, weights, names, sentence, actions
            )
        else:
            score = oracle.score_of(problem.lines.states, weights[0], sentence, actions)
            labels = [None] * len(sentence)
        tree = tuple(zip(oracle.heads_of(actions), labels))
        best[tree] = max(score, best.get(tree, score))
    return best


@pytest.mark.parametrize("name", [JOINT, "hs28", "rich"], ids=["joint", "hs28", "rich"])
def test_with_all_states_they_are_the_best_of_all_trees(name):
    problem = (
        Problem(name, lengths=(1, 2, 3, 4, 4, 5), seed=4).train(3).with_beam(ALL, True)
    )
    final = problem.final()
    for sentence, tree, score in zip(problem.X, *final.predict(problem.X)):
        best = best_by_tree(problem, sentence)
        expected = sorted(best.values(), reverse=True)
        for k in (1, 5, 1000):
            ((found),) = final.predict_kbest([sentence], k)
            assert len(found) == min(k, len(best)) and found[0] == (tree, score)
            assert [s for _, s in found] == pytest.approx(expected[:k])
            assert len({tuple(tree) for tree, _ in found}) == len(found)
            for tree_found, s in found:
                read = tuple(
                    (h, label if final.is_joint and h else None)
                    for h, label in tree_found
                )
                assert best[read] == pytest.approx(s)


def test_there_are_as_many_as_projective_trees():
    problem = (
        Problem("hs28", lengths=(1, 2, 3, 4, 5, 6), seed=1)
        .train(1)
        .with_beam(1400, True)
    )
    found = problem.final().predict_kbest(problem.X, 10_000)
    assert [len(each) for each in found] == [1, 2, 7, 30, 143, 728]


@pytest.mark.parametrize("beam", [1, 4, 8])
@pytest.mark.parametrize("name", [JOINT, "hs28"], ids=["joint", "hs28"])
def test_a_beam_holds_more_trees_than_states(name, beam):
    problem = Problem(name, lengths=(5, 5, 7, 9), seed=2).train(2).with_beam(beam, True)
    final = problem.final()
    for sentence, tree, score in zip(problem.X, *final.predict(problem.X)):
        (found,) = final.predict_kbest([sentence], 50)
        assert found[0] == (tree, score)
        scores = [s for _, s in found]
        assert scores == sorted(scores, reverse=True)
        assert len({tuple(tree) for tree, _ in found}) == len(found)
        assert len(found) > beam or beam == 1
        assert [found[:k] for k in (1, 2, 7)] == [
            final.predict_kbest([sentence], k)[0] for k in (1, 2, 7)
        ]
        if len(sentence) < 6:  # no score is better than the best way to build the tree
            best = best_by_tree(problem, sentence)
            for tree_found, s in found:
                read = tuple(
                    (h, label if final.is_joint and h else None)
                    for h, label in tree_found
                )
                assert s <= best.get(read, s) + 1e-9


def test_without_merging_they_are_those_of_the_last_states():
    problem = Problem("hs28", lengths=(4, 5), seed=2).train(2).with_beam(4, False)
    final = problem.final()
    for sentence, tree, score in zip(problem.X, *final.predict(problem.X)):
        (found,) = final.predict_kbest([sentence], 50)
        assert found[0] == (tree, score) and 1 <= len(found) <= 4
    exact = problem.with_beam(ALL, False).final().predict_kbest(problem.X, 50)
    merged = problem.with_beam(ALL, True).final().predict_kbest(problem.X, 50)
    for a, b in zip(exact, merged):
        assert [s for _, s in a] == pytest.approx([s for _, s in b][: len(a)])


@pytest.mark.parametrize("parameters", [{}, {"templates": "hs28"}, {"labeled": False}])
def test_of_a_fitted_parser(parameters):
    model = ShiftReduceParser(
        max_iter=2, beam_size=16, random_state=0, **parameters
    ).fit(X, Y)
    found = model.predict_kbest(X, 12)
    assert [len(each) for each in found][:4] == [7, 12, 1, 1] and len(found[4]) == 12
    assert [each[0][0] for each in found] == model.predict(X)
    assert [each[0][1] for each in found] == model.decision_function(X).tolist()
    assert model.set_params(n_jobs=2).predict_kbest(X * 300, 12) == found * 300
    for each in found:
        for tree, _ in each:
            heads = [arc if isinstance(arc, int) else arc[0] for arc in tree]
            assert not heads or (heads.count(0) == 1 and oracle.is_projective(heads))


def test_trees_that_become_one_when_they_are_restored_are_one():
    crossing = [[("a", "D"), ("b", "N"), ("c", "V"), ("d", "N"), ("e", "X")]]
    tree = [[(4, "x"), (4, "x"), (5, "y"), (0, "root"), (4, "x")]]
    model = parser(projectivize="pseudo", max_iter=8, beam_size=64).fit(
        X + crossing, Y + tree
    )
    (found,) = model.predict_kbest(crossing, 60)
    assert found[0][0] == model.predict(crossing)[0] and len(found) == 60
    assert len({tuple(tree) for tree, _ in found}) == 60
    assert not any("↑" in label for tree, _ in found for _, label in tree)


def test_long_sentences_and_many_trees():
    model = parser(max_iter=3).fit(X, Y)
    sentence = [(f"w{k}", "NVD."[k % 4]) for k in range(600)]
    (found,) = model.predict_kbest([sentence], 20)
    assert len({tuple(tree) for tree, _ in found}) == 20
    assert model_of(model).arrays.beam == 8
