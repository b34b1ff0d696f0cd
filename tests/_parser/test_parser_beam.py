"""The parser's kernels against enumeration, and against features written down with
strings.
"""

import math

import numpy as np
import parse_oracle as oracle
import pytest
from parser_search_cases import ALL, Problem

from skstruct._parser.template_sets import reads_labels, template_lines

RICH = [line for line in template_lines("rich") if not reads_labels([line])]
"""Labels are chosen for the tree that was found, as with all sets that read no
labels.
"""


SETS = ["hs28", RICH]


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
