"""Forward-backward, in both versions, against enumeration and at the edge of the number
range.
"""

from itertools import product

import numpy as np
import pytest

from skstruct._chain.forward_backward import exp_all
from skstruct._crf.solver.corpus_sums import (
    Corpus,
    ExpectedCounts,
    Occurrences,
    Potentials,
    Sequences,
    exp_transitions,
    form_groups,
    new_lanes,
)
from skstruct._crf.solver.expectations import expect
from skstruct._crf.solver.sequence_sums import new_alone
from skstruct._crf.solver.token_features import TokenLists


def corpus_of(lengths, L, gold=None, weight=None):
    """One weight for each token and label: the emissions themselves."""
    lengths = np.asarray(lengths)
    token = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    N = int(token[-1])
    label = np.arange(L, dtype=np.int32)
    weights = np.arange(N * L, dtype=np.int32)
    sequences = Sequences(
        np.arange(lengths.shape[0]), token, form_groups(lengths),
        np.full(N, -1, np.int32) if gold is None else gold,
        np.ones(lengths.shape[0]) if weight is None else weight, (),
    )  # fmt: skip
    return Corpus(
        sequences,
        TokenLists(np.arange(N + 1) * L, weights, np.zeros(0)),
        np.tile(label, N),
        TokenLists.new(0),
        np.zeros(0),
    )


def whole_of(corpus, L):
    N = corpus.sequences.gold.shape[0]
    lists = TokenLists(np.arange(N + 1), np.arange(N, dtype=np.int32), np.zeros(0))
    return Occurrences(lists, np.arange(0, N * L + 1, L, dtype=np.int32), corpus.label)


NO_EDGES = Occurrences(TokenLists.new(0), np.zeros(1, np.int32), np.zeros(0, np.int32))


def counts_of(gradient, step, corpus, of_pairs, L):
    nothing = np.zeros(0)
    return ExpectedCounts(
        gradient,
        step,
        nothing,
        whole_of(corpus, L),
        of_pairs,
        TokenLists.new(0),
        nothing,
        NO_EDGES,
        nothing,
        nothing,
    )


def fast(corpus, emission, potentials, clamped=False):
    """(total, marginals, pairs, sequences given up)."""
    L = potentials.cost.shape[0]
    lengths = corpus.sequences.lengths
    pair = np.array(list(product(range(L), range(L))))
    sparse, matrix = exp_transitions(potentials, pair)
    gradient, of_pairs, step = (
        np.zeros(emission.shape[0]),
        np.zeros(emission.shape[0]),
        np.zeros(L * L),
    )
    bad = np.zeros(lengths.shape[0], bool)
    with np.errstate(all="ignore"):
        total = expect(
            corpus, 0, corpus.sequences.group.shape[0] - 1, emission, sparse, (), clamped, False,
            new_lanes([corpus.sequences], L),
            counts_of(gradient, step, corpus, of_pairs, L), bad, (),
        )  # fmt: skip
    np.testing.assert_array_equal(of_pairs, gradient)
    return total, gradient.reshape(-1, L), step.reshape(L, L) * matrix, bad


def exact(corpus, emission, potentials, clamped=False):
    L = potentials.cost.shape[0]
    lengths = corpus.sequences.lengths
    sparse, _ = exp_transitions(potentials, np.zeros((0, 2), np.int64))
    gradient, of_pairs, step = (
        np.zeros(emission.shape[0]),
        np.zeros(emission.shape[0]),
        np.zeros(L * L),
    )
    group = np.arange(lengths.shape[0] + 1)
    each = corpus._replace(sequences=corpus.sequences._replace(group=group))
    with np.errstate(all="ignore"):
        total = expect(
            each, 0, lengths.shape[0], emission, sparse, (), clamped, False, new_lanes([corpus.sequences], L),
            counts_of(gradient, step, corpus, of_pairs, L),
            np.ones(lengths.shape[0], bool), new_alone(potentials, NO_EDGES, np.zeros(0), int(lengths.max())),
        )  # fmt: skip
    np.testing.assert_allclose(of_pairs, gradient, rtol=1e-12)
    return total, gradient.reshape(-1, L), step.reshape(L, L)


def enumerated(corpus, emission, potentials, clamped=False):
    """The same, by listing all labellings."""
    L = potentials.cost.shape[0]
    marginal, pairs, total = (
        np.zeros((emission.shape[0] // L, L)),
        np.zeros((L, L)),
        0.0,
    )
    for i, weight in enumerate(corpus.sequences.weight):
        a, b = corpus.sequences.token[i], corpus.sequences.token[i + 1]
        gold = corpus.sequences.gold[a:b]
        scores = {}
        for y in product(range(L), repeat=int(b - a)):
            s = potentials.start[y[0]] + potentials.end[y[-1]]
            for t, label in enumerate(y):
                s += emission[(a + t) * L + label]
                s += potentials.transition[y[t - 1], label] if t else 0.0
                if gold[t] >= 0 and label != gold[t]:
                    s += -np.inf if clamped else potentials.cost[gold[t]]
            scores[y] = s
        top = max(scores.values())
        z = top + np.log(sum(np.exp(s - top) for s in scores.values()))
        total += weight * z
        for y, s in scores.items():
            for t, label in enumerate(y):
                marginal[a + t, label] += weight * np.exp(s - z)
                if t:
                    pairs[y[t - 1], label] += weight * np.exp(s - z)
    return total, marginal, pairs


def random_case(seed, L, constrained=False, spread=1.0):
    rng = np.random.RandomState(seed)
    lengths = np.sort(rng.randint(1, 6, 7))[::-1]
    N = int(lengths.sum())
    gold = rng.randint(-1, L, N).astype(np.int32)
    transition = spread * rng.randn(L, L) * (rng.rand(L, L) < 0.6)
    start, end = np.zeros(L), np.zeros(L)
    if constrained:
        gold[:] = np.where(rng.rand(N) < 0.2, 0, -1)  # label 0 is always possible
        transition[1, 2 % L] = start[L - 1] = end[1] = -np.inf
    potentials = Potentials(transition, start, end, rng.rand(L))
    return (
        corpus_of(lengths, L, gold, rng.rand(7) + 0.5),
        spread * rng.randn(N * L),
        potentials,
    )


@pytest.mark.parametrize("clamped", [False, True])
@pytest.mark.parametrize("L", [2, 3])
@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("spread", [0.0, 1.0, 20.0])
def test_both_versions_equal_enumeration(clamped, L, constrained, spread):
    for seed in range(3):
        case = random_case(seed, L, constrained, spread)
        want = enumerated(*case, clamped=clamped)
        for got in (exact(*case, clamped=clamped), fast(*case, clamped=clamped)):
            for g, w in zip(got, want):
                np.testing.assert_allclose(g, w, rtol=1e-9, atol=1e-9)


def test_many_sequences_of_different_length():
    rng = np.random.RandomState(0)
    L, lengths = 5, np.sort(rng.randint(1, 40, 100))[::-1]
    corpus = corpus_of(lengths, L)
    potentials = Potentials(rng.randn(L, L), np.zeros(L), np.zeros(L), np.zeros(L))
    emission = 3 * rng.randn(int(lengths.sum()) * L)
    total, marginal, pairs, bad = fast(corpus, emission, potentials)
    assert not bad.any()
    for g, w in zip((total, marginal, pairs), exact(corpus, emission, potentials)):
        np.testing.assert_allclose(g, w, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(marginal.sum(axis=1), 1.0)


def test_empty_sequences_count_nothing():
    corpus = corpus_of([2, 0, 0], 2)
    potentials = Potentials(np.zeros((2, 2)), np.zeros(2), np.zeros(2), np.zeros(2))
    total, marginal, _, bad = fast(corpus, np.zeros(4), potentials)
    assert total == pytest.approx(2 * np.log(2)) and not bad.any()
    np.testing.assert_allclose(marginal, 0.5)


def test_a_long_sequence():
    T, L = 20_000, 3
    rng = np.random.RandomState(1)
    corpus = corpus_of([T], L)
    potentials = Potentials(rng.randn(L, L), np.zeros(L), np.zeros(L), np.zeros(L))
    emission = 5 * rng.randn(T * L)
    total, marginal, pairs, bad = fast(corpus, emission, potentials)
    assert not bad.any()
    want = exact(corpus, emission, potentials)
    assert total == pytest.approx(want[0], rel=1e-12)
    np.testing.assert_allclose(marginal, want[1], atol=1e-8)


@pytest.mark.parametrize("where", ["emission", "transition", "both"])
def test_huge_weights_are_exact_or_given_up(where):
    """The fast version must be right or say that it is not; the other one must be
    right.
    """
    L = 3
    for seed in range(10):
        rng = np.random.RandomState(seed)
        lengths = np.array([5, 4, 3])
        corpus = corpus_of(lengths, L)
        emission, transition = rng.randn(36), rng.randn(L, L)
        if where != "transition":
            emission *= 1e4
        if where != "emission":
            transition *= 1e4
        potentials = Potentials(transition, np.zeros(L), np.zeros(L), np.zeros(L))
        want = enumerated(corpus, emission, potentials)
        for g, w in zip(exact(corpus, emission, potentials), want):
            np.testing.assert_allclose(g, w, rtol=1e-9, atol=1e-9)
        for i in range(3):
            one = corpus_of(lengths[i : i + 1], L)
            part = emission[
                corpus.sequences.token[i] * L : corpus.sequences.token[i + 1] * L
            ]
            total, marginal, _, bad = fast(one, part, potentials)
            if not bad[0]:
                right = enumerated(one, part, potentials)
                assert total == pytest.approx(right[0], rel=1e-9)
                np.testing.assert_allclose(marginal, right[1], atol=1e-7)


@pytest.mark.parametrize(
    "gaps",
    [
        [(t, 1, -50.0) for t in range(20)] + [(t, 0, -51.0) for t in range(20, 40)],
        [(0, 1, -710.0)]
        + [
            (t, 0, -10.0) for t in range(1, 101)
        ],  # too small at once, and what wins later
        [
            (0, 1, -1e9),
            (1, 0, -220.0),
            (2, 0, -500.0),
        ],  # scales whose product is no number
    ],
)
def test_two_paths_that_never_meet(gaps):
    """A path that underflows but wins at the end must not be lost."""
    L, T = 2, gaps[-1][0] + 1
    transition = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    emission = np.zeros((T, L))
    for t, y, score in gaps:
        emission[t, y] = score
    potentials = Potentials(transition, np.zeros(L), np.zeros(L), np.zeros(L))
    corpus = corpus_of([T], L)
    want = np.logaddexp(*emission.sum(axis=0))
    assert exact(corpus, emission.ravel(), potentials)[0] == pytest.approx(want)
    total, _, _, bad = fast(corpus, emission.ravel(), potentials)
    assert bad[0] or total == pytest.approx(want)


def test_exp_all():
    x = np.concatenate([-np.logspace(-12, np.log10(700), 500), [0.0, -709.0, -np.inf]])
    want = np.exp(x)
    want[-2] = 0.0
    scratch = np.zeros(x.shape[0])

    got = x.copy()
    _call_exp(got, scratch)
    np.testing.assert_allclose(got, want, rtol=2e-14)


def _call_exp(x, scratch):
    python = getattr(exp_all, "py_func", exp_all)
    with np.errstate(all="ignore"):
        python(x, x.shape[0], scratch, scratch.view(np.int64))
