"""The second-order decoders against enumeration of all labellings."""

import math

import numpy as np
import pytest
from bigram_cases import coded, none_for_open, tokens_of
from hypothesis import given
from hypothesis import strategies as st

import oracles
from skstruct._chain.second_order import Trigrams
from skstruct._chain.viterbi import decode, decode_wrong, score_path
from skstruct._core.compile import kernel

INF = math.inf


@kernel
def run_viterbi(
    emission, transition, stride, trigrams, start, end, forced, sets, score, path, T, L
):
    return decode(
        emission,
        transition,
        stride,
        trigrams,
        start,
        end,
        forced,
        sets,
        score,
        path,
        T,
        L,
    )


@kernel
def run_wrong(
    emission, transition, stride, trigrams, start, end, gold, sets, score, path, T, L
):
    return decode_wrong(
        emission,
        transition,
        stride,
        trigrams,
        start,
        end,
        gold,
        sets,
        score,
        path,
        T,
        L,
    )


@kernel
def run_score(emission, transition, stride, trigrams, start, end, path, T, L):
    return score_path(emission, transition, stride, trigrams, start, end, path, T, L)


class Case:
    """Scores of a chain; ``integers`` makes ties, ``barriers`` is the share of -inf,
    ``spread`` scales.
    """

    def __init__(self, seed, T, L, integers, barriers, conditioned, spread):
        generator = np.random.default_rng(seed)

        def scores(*shape):
            if integers:
                return generator.integers(-1, 2, shape).astype(float)
            return generator.normal(size=shape)

        def barrier(*shape):
            return np.where(generator.random(shape) < barriers, -INF, 0.0)

        self.T, self.L = T, L
        self.emission = spread * scores(T, L)
        self.transition = scores(T if conditioned else 1, L, L) + barrier(1, L, L)
        self.start, self.end = barrier(L), barrier(L)
        self.stride = L * L if conditioned else 0
        self.every = np.broadcast_to(self.transition, (T, L, L))
        self.table = scores(L, L + 1, L)  # [p, a + 1, y]
        rows = self.table.reshape(-1, L)
        self.trigrams = Trigrams(rows.ravel(), rows.max(axis=1), rows.min(axis=1))

    @property
    def arrays(self):
        arrays = (
            self.emission.ravel(),
            self.transition.ravel(),
            self.stride,
            self.trigrams,
        )
        return *arrays, self.start, self.end

    def value(self, z, emission=None):
        emission = self.emission if emission is None else emission
        terms = [emission[t, y] for t, y in enumerate(z)] + [
            self.start[z[0]],
            self.end[z[-1]],
        ]
        for t in range(1, len(z)):
            a = z[t - 2] if t > 1 else -1
            terms += [self.every[t, z[t - 1], z[t]], self.table[z[t - 1], a + 1, z[t]]]
        return -INF if -INF in terms else math.fsum(terms)

    def ranked(self, emission=None, options=None, tie=oracles.reversed_ids):
        ids = range(self.L)
        pairs = oracles.ranked(
            oracles.labellings(self.T, ids, options=options),
            lambda z: self.value(z, emission),
            ids,
            tie,
        )
        return [pair for pair in pairs if pair[0] > -INF]

    def viterbi_pairs(self, forced=()):
        path = np.full(self.T, -9, np.int32)
        score = np.empty(self.T * self.L**2)
        value = run_viterbi(
            *self.arrays, *coded(forced, self.L), score, path, self.T, self.L
        )
        return value, tuple(path.tolist())

    def wrong(self, gold, emission):
        path = np.full(self.T, -9, np.int32)
        scratch = np.empty((2, self.T * self.L**2))
        arrays = emission.ravel(), *self.arrays[1:]
        value = run_wrong(*arrays, *coded(gold, self.L), scratch, path, self.T, self.L)
        return value, tuple(path.tolist())


CASES = st.builds(
    Case,
    seed=st.integers(0, 10**6),
    T=st.integers(1, 5),
    L=st.integers(1, 3),
    integers=st.booleans(),
    barriers=st.sampled_from([0.0, 0.2, 0.5]),
    conditioned=st.booleans(),
    spread=st.sampled_from([1, 8]),
)


@given(CASES)
def test_viterbi_is_the_best_of_all(case):
    value, path = case.viterbi_pairs()
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
    value, path = case.viterbi_pairs(forced)
    expected = case.ranked(options=oracles.options_of(none_for_open(forced)))
    if expected:
        assert (pytest.approx(value, abs=1e-12), path) == expected[0]
    else:
        assert value == -INF


@given(CASES, st.data())
def test_best_wrong_labelling(case, data):
    gold = data.draw(tokens_of(case.L, case.T), label="gold")
    cost = data.draw(st.sampled_from([0.0, 1.0]), label="cost")
    given_labels = none_for_open(gold)
    emission = case.emission.copy()
    for t, options in enumerate(oracles.options_of(given_labels)):
        if options is not None:
            emission[t] += cost * ~np.isin(np.arange(case.L), options)
    value, path = case.wrong(gold, emission)
    ranked = case.ranked(emission, tie=oracles.wrong_tie(given_labels, 2))
    expected = [pair for pair in ranked if not oracles.agrees(pair[1], given_labels)]
    if not expected:
        assert value == -INF
        return
    assert value == pytest.approx(expected[0][0], abs=1e-12)
    assert path == expected[0][1]


def test_dropping_predecessors_changes_nothing():
    """With many labels most candidates are dropped unseen; the result is that of the
    full recursion.
    """
    generator = np.random.default_rng(0)
    T, L = 12, 9
    for scale in (0.0, 1.0, 20.0):
        case = Case(
            int(generator.integers(10**6)),
            T,
            L,
            scale == 0.0,
            0.1,
            False,
            max(scale, 1.0),
        )
        value, path = case.viterbi_pairs()
        delta = case.start + case.emission[0]
        delta = delta[:, None] + case.table[:, 0] + case.every[1] + case.emission[1]
        for t in range(2, T):
            steps = delta[:, :, None] + case.table[:, 1:].transpose(1, 0, 2)
            delta = steps.max(axis=0) + case.every[t] + case.emission[t]
        assert value == pytest.approx((delta + case.end).max(), abs=1e-9)
        assert case.value(path) == pytest.approx(value, abs=1e-9)
