"""Random chains of label bigrams, and kernels that decode them."""

import math

import numpy as np

import oracles
from skstruct.chain.viterbi import viterbi, viterbi_wrong
from skstruct.core.compile import kernel

INF = math.inf


@kernel
def run_viterbi(emission, transition, stride, start, end, forced, score, path, T, L):
    return viterbi(emission, transition, stride, start, end, forced, score, path, T, L)


@kernel
def run_wrong(emission, transition, stride, start, end, gold, agree, left, path, T, L):
    return viterbi_wrong(emission, transition, stride, start, end, gold, agree, left, path, T, L)


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
        return self.emission.ravel(), self.transition.ravel(), self.stride, self.start, self.end

    def ranked(self, emission=None, options=None):
        emission = self.emission if emission is None else emission
        return oracles.chain_ranked(emission, self.every, self.start, self.end, options)

    def viterbi(self, forced=()):
        path = np.full(self.T, -9, np.int32)
        value = run_viterbi(
            *self.arrays, np.array(forced, np.int32), np.empty(self.T * self.L), path, self.T, self.L
        )
        return value, tuple(path.tolist())

    def wrong(self, gold, emission=None):
        path = np.full(self.T, -9, np.int32)
        scratch = np.empty((2, self.T * self.L))
        arrays = (self.emission if emission is None else emission).ravel(), *self.arrays[1:]
        value = run_wrong(*arrays, np.array(gold, np.int32), scratch[0], scratch[1], path, self.T, self.L)
        return value, tuple(path.tolist())
