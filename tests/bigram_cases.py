"""Random chains of label bigrams, and kernels that decode them."""

import math

import numpy as np
from hypothesis import strategies as st

import oracles
from skstruct._chain.viterbi import decode, decode_wrong
from skstruct._core.compile import kernel

INF = math.inf


@kernel
def run_viterbi(
    emission, transition, stride, start, end, forced, sets, score, path, T, L
):
    return decode(
        emission, transition, stride, (), start, end, forced, sets, score, path, T, L
    )


@kernel
def run_wrong(emission, transition, stride, start, end, gold, sets, score, path, T, L):
    return decode_wrong(
        emission, transition, stride, (), start, end, gold, sets, score, path, T, L
    )


def tokens_of(L, n):
    """A strategy for what n tokens are given: -1, a label, or a set of labels."""
    labels = st.integers(-1, L - 1)
    some = st.frozensets(st.integers(0, L - 1), min_size=1)
    return st.lists(labels | some, min_size=n, max_size=n)


def none_for_open(given):
    """The same as the oracles have it."""
    return [None if g == -1 else g for g in given]


def coded(given, L):
    """The same as kernels have it: (ids, sets)."""
    sets = [g for g in given if isinstance(g, frozenset)]
    ids = [-2 - sets.index(g) if g in sets else g for g in given]
    return np.array(ids, np.int32), np.array(
        [[y in g for y in range(L + 1)] for g in sets]
    ) if sets else ()


class Case:
    """Scores of a chain; ``integers`` makes ties, ``barriers`` is the share of -inf."""

    def __init__(self, seed, T, L, integers, barriers, conditioned):
        generator = np.random.default_rng(seed)

        def scores(*shape):
            if integers:
                return generator.integers(-1, 2, shape).astype(float)
            return generator.normal(size=shape)

        def barrier(*shape):
            return np.where(generator.random(shape) < barriers, -INF, 0.0)

        self.T, self.L = T, L
        self.emission = scores(T, L)
        self.transition = scores(T if conditioned else 1, L, L) + barrier(1, L, L)
        self.start, self.end = barrier(L), barrier(L)
        self.stride = L * L if conditioned else 0
        self.every = np.broadcast_to(self.transition, (T, L, L))
        self.generator = generator

    @property
    def arrays(self):
        return (
            self.emission.ravel(),
            self.transition.ravel(),
            self.stride,
            self.start,
            self.end,
        )

    def ranked(self, emission=None, options=None):
        emission = self.emission if emission is None else emission
        return oracles.chain_ranked(emission, self.every, self.start, self.end, options)

    def viterbi(self, forced=()):
        path = np.full(self.T, -9, np.int32)
        value = run_viterbi(
            *self.arrays,
            *coded(forced, self.L),
            np.empty(self.T * self.L),
            path,
            self.T,
            self.L,
        )
        return value, tuple(path.tolist())

    def wrong(self, gold, emission=None):
        path = np.full(self.T, -9, np.int32)
        scratch = np.empty((2, self.T * self.L))
        arrays = (
            (self.emission if emission is None else emission).ravel(),
            *self.arrays[1:],
        )
        value = run_wrong(*arrays, *coded(gold, self.L), scratch, path, self.T, self.L)
        return value, tuple(path.tolist())
