"""The chain's decoders against enumeration of all labellings, and what an example
teaches.
"""

import numpy as np
import pytest
from bigram_cases import INF, Case, none_for_open, tokens_of
from hypothesis import given
from hypothesis import strategies as st

import oracles
from skstruct._chain.viterbi import path_score
from skstruct._core.compile import kernel

pytestmark = pytest.mark.filterwarnings(
    "ignore:overflow encountered", "ignore:invalid value encountered"
)


@kernel
def run_score(emission, transition, stride, start, end, path, T, L):
    return path_score(emission, transition, stride, start, end, path, T, L)


CASES = st.builds(
    Case,
    seed=st.integers(0, 10**6),
    T=st.integers(1, 5),
    L=st.integers(1, 3),
    integers=st.booleans(),
    barriers=st.sampled_from([0.0, 0.2, 0.5]),
    conditioned=st.booleans(),
)


@given(CASES)
def test_viterbi_is_the_best_of_all(case):
    value, path = case.viterbi()
    expected = case.ranked()
    if not expected:
        assert value == -INF
        return
    assert value == pytest.approx(expected[0][0], abs=1e-12)
    assert (
        path == expected[0][1]
    )  # ties: the last label decides first, the smaller one wins
    again = run_score(*case.arrays, np.array(path, np.int32), case.T, case.L)
    assert again == pytest.approx(value, abs=1e-12)


@given(CASES, st.data())
def test_forced_labels_are_kept(case, data):
    forced = data.draw(tokens_of(case.L, case.T), label="forced")
    given_labels = oracles.options_of(none_for_open(forced))
    options = [
        [each is None or y in each for y in range(case.L)] for each in given_labels
    ]
    expected = case.ranked(options=options)
    value, path = case.viterbi(forced)
    if expected:
        assert value == pytest.approx(expected[0][0], abs=1e-12)
        assert path == expected[0][1]
    else:
        assert value == -INF


@given(CASES, st.data())
def test_best_wrong_labelling(case, data):
    gold = data.draw(tokens_of(case.L, case.T), label="gold")
    given_labels = none_for_open(gold)
    wrong = [(v, z) for v, z in case.ranked() if not oracles.agrees(z, given_labels)]
    value, path = case.wrong(gold)
    if not wrong:
        assert value == -INF
        return
    best = wrong[0][0]
    assert value == pytest.approx(best, abs=1e-12)
    tie = oracles.wrong_tie(given_labels)
    tied = [z for v, z in wrong if abs(v - best) < 1e-9]
    assert path == min(tied, key=lambda z: tie(z, list(range(case.L))))


@given(CASES, st.data())
def test_best_wrong_is_the_first_or_second_best(case, data):
    ranked = case.ranked()
    if len(ranked) < 2:
        return
    gold = data.draw(st.sampled_from([z for _, z in ranked[:4]]))
    value, path = case.wrong(gold)
    assert path != gold
    assert value == pytest.approx(ranked[ranked[0][1] == gold][0], abs=1e-12)
