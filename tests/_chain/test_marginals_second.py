"""Log Z of second-order chains, and sums over prefixes and suffixes, against
enumeration.
"""

from itertools import product

import numpy as np
import pytest

from skstruct._chain.marginals_second import backward, forward
from skstruct._chain.second_order import new_trigrams
from skstruct._chain.sums import LogSums
from skstruct._core.compile import ZERO, kernel


@kernel
def run(emission, transition, trigrams, start, end, alpha, sums, T, L):
    z = forward(emission, transition, ZERO, trigrams, start, end, alpha, sums, T, L)
    backward(emission, transition, ZERO, trigrams, end, sums, T, L)
    return z


def scores_of(rng, T, L, spread):
    trigrams = new_trigrams(L * (L + 1), L)
    trigrams.score[:] = spread * rng.normal(size=trigrams.score.shape)
    by_row = trigrams.score.reshape(-1, L)
    trigrams.high[:] = by_row.max(axis=1)
    trigrams.low[:] = by_row.min(axis=1)
    start = np.zeros(L)
    start[0] = -np.inf if L > 1 else 0.0
    return (
        spread * rng.normal(size=T * L),
        spread * rng.normal(size=L * L),
        trigrams,
        start,
        np.zeros(L),
    )


def score(labels, L, emission, transition, trigrams, start, end):
    total = start[labels[0]] + end[labels[-1]] + emission[labels[0]]
    for t in range(1, len(labels)):
        p, y = labels[t - 1], labels[t]
        a = labels[t - 2] if t > 1 else -1
        total += emission[t * L + y] + transition[p * L + y]
        total += trigrams.score[(p * (L + 1) + a + 1) * L + y]
    return total


@pytest.mark.parametrize("spread", [0.0, 1.0, 50.0])
@pytest.mark.parametrize("L", [1, 2, 3])
@pytest.mark.parametrize("T", [1, 2, 4])
def test_sums_equal_enumeration(T, L, spread):
    rng = np.random.default_rng(T + L)
    given = scores_of(rng, T, L, spread)
    C = L * L
    alpha = np.full(T * C, np.nan)
    sums = LogSums(
        np.full(T * C, np.nan), np.empty(L), np.empty(L), np.empty(L, np.int64)
    )
    log_z = run(*given, alpha, sums, T, L)
    every = {labels: score(labels, L, *given) for labels in product(range(L), repeat=T)}
    want = np.logaddexp.reduce(list(every.values()))
    assert log_z == pytest.approx(want, rel=1e-12, abs=1e-12)
    for t in range(T):  # α + β of a pair of labels is the sum over all that have it
        for p, y in product(range(L if t else 1), range(L)):
            found = alpha[t * C + p * L + y] + sums.beta[t * C + p * L + y]
            some = [
                total
                for labels, total in every.items()
                if labels[t] == y and (t == 0 or labels[t - 1] == p)
            ]
            want = np.logaddexp.reduce(some)
            assert found == pytest.approx(want, rel=1e-12, abs=1e-12)
