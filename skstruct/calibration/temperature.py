"""The temperature under which the labels of held-out sequences are most likely.

Scores divided by a temperature are the log-probabilities of a conditional random field, up to a constant
(C. Guo et al. 2017, "On calibration of modern neural networks", ICML, section 4.2, for one label at a time).
The likelihood is concave in β = 1 / temperature, and its maximum is where the expected scores are, in sum,
those of the labels given; see :mod:`skstruct.chain.expected_score`.

Labels that the scores never miss would ask for the temperature 0. So one token more is counted, whose label
is drawn at random: of N tokens the labels given have the weight (N + 1) / (N + 2), which is the correction of
J. Platt (1999), "Probabilistic outputs for support vector machines and comparisons to regularized likelihood
methods".
"""

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from scipy.optimize import brentq

from ..chain.expected_score import expected_scores, expected_scores_of_pairs, new_prefixes
from ..chain.lean import plainly
from ..chain.model import ChainModel
from ..core.store import READ_ONLY
from ..data.inputs import PlaceError, lengths_of, offsets_of
from ..data.labels import UNLABELLED, encode_known

NEARLY_ZERO = 2.0**-60
"""An inverse temperature at which all labellings are equally likely."""

PRECISION = 1e-3
"""Relative, of the temperature."""


class HeldOut(NamedTuple):
    """Sequences that a model has not seen, n of them, with their labels."""

    model: ChainModel
    task: object  # ChainTask with gold; labels that the model does not know are UNLABELLED
    weight: np.ndarray  # (n,) float64
    place: np.ndarray  # (n,) int64: where the sequences are in the corpus, for errors


def held_out(model, X, y, weight, place):
    """Encode sequences and their labels for a model that was trained on others."""
    token = offsets_of(lengths_of(X))
    gold, _, _ = encode_known(y, token, model.labels)
    task, _ = model.encode(X)
    return HeldOut(model, task._replace(gold=gold), weight, place)


def in_units_of(other, model, X, y):
    """A model with its scores in the unit of another one, both trained on sequences X with labels y.

    A tagger that has learned from more examples has larger weights, and so may one that saw them in another
    order. By how much shows on text that both were trained on: the unit is by how much, on average, the
    labels given score higher than labels drawn at random.
    """
    here, there = (_gain(each, X, y) for each in (model, other))
    both = np.isfinite(here) & np.isfinite(there)
    here, there = here[both].sum(), there[both].sum()
    return replace(model, scale=model.scale * there / here) if here > 0.0 and there > 0.0 else model


def _gain(model, X, y):
    """(n,) by how much the labels given score higher than labels drawn at random; NaN if that is unknown."""
    part = held_out(model, X, y, None, None)
    given, log_z = _expected(part, NEARLY_ZERO, True)
    drawn, _ = _expected(part, NEARLY_ZERO, False)
    return np.where(log_z > -np.inf, given - drawn, np.nan) / NEARLY_ZERO


def _expected(part, scale, given):
    """(expected scores, log Z) of each sequence under scores times ``scale``, labels given or not."""
    model, task = replace(part.model, scale=part.model.scale * scale), part.task
    if not given:
        task = task._replace(gold=np.full_like(task.gold, UNLABELLED))
    kernel = expected_scores_of_pairs if model.order == 2 else expected_scores
    n, L = task.token.shape[0] - 1, len(model.labels)
    scores, log_z = np.empty(n), np.empty(n)
    work, prefixes = model.structure.new_work(task, L, training=False), new_prefixes(L, model.order)
    task, chain, noise, work = plainly(task, model.chain(), work)
    kernel(task, 0, n, chain, READ_ONLY, noise, work, prefixes, scores, log_z)
    return scores, log_z


class _Likelihood:
    """The slope of the log-likelihood of held-out labels, as a function of log β."""

    def __init__(self, parts, pool):
        self.pool = pool
        n = len(parts)
        # What constraints, with labels that a part's model lacks, make impossible says nothing of β.
        given = pool(_expected, parts, [NEARLY_ZERO] * n, [True] * n)
        for part, (_, log_z) in zip(parts, given):
            bad = np.flatnonzero(~(log_z < np.inf))
            if bad.size:
                raise PlaceError(part.place[bad[0]], None, "the scores of its labellings overflow", "X")
        self.parts = [
            p._replace(weight=np.where(z > -np.inf, p.weight, 0.0)) for p, (_, z) in zip(parts, given)
        ]
        known = [part.task.gold != UNLABELLED for part in parts]
        self.complete = all(each.all() for each in known)
        counted = [np.repeat(p.weight > 0, np.diff(p.task.token)) for p in self.parts]
        self.n_tokens = sum(int((a & b).sum()) for a, b in zip(known, counted))
        self.blind = 1.0 / (self.n_tokens + 2.0)
        self.given = sum(float(p.weight @ s) for p, (s, _) in zip(self.parts, given)) / NEARLY_ZERO
        self.uniform = self.expected(NEARLY_ZERO) / NEARLY_ZERO

    def expected(self, beta, given=False):
        """Σ weight E[β score] over all sequences, labels given or not."""
        n = len(self.parts)
        found = self.pool(_expected, self.parts, [beta] * n, [given] * n)
        return sum(float(part.weight @ scores) for part, (scores, _) in zip(self.parts, found))

    def slope(self, log_beta):
        """Σ weight (E[β score] - β score of the labels given); rises with β."""
        beta = np.exp(log_beta)
        given = beta * self.given if self.complete else self.expected(beta, True)
        return self.expected(beta) - (1 - self.blind) * given - self.blind * beta * self.uniform


def fit_temperature(parts, n_jobs=None):
    """The temperature under which the labels of held-out sequences are most likely.

    Parameters
    ----------
    parts : list of HeldOut
    n_jobs : int, optional
        Threads, over parts.

    Returns
    -------
    float
        1 if no temperature makes a difference; inf if the scores speak against the labels.
    """
    threads = min(effective_n_jobs(n_jobs), len(parts))
    if threads == 1:
        return _solve(_Likelihood(parts, lambda *given: list(map(*given))))
    with ThreadPoolExecutor(threads) as pool:
        return _solve(_Likelihood(parts, lambda *given: list(pool.map(*given))))


def _solve(likelihood):
    gain = likelihood.given - likelihood.uniform
    size = abs(likelihood.given) + abs(likelihood.uniform)
    if not gain > 1e-12 * size:
        if abs(likelihood.expected(1.0) - likelihood.uniform) <= 1e-12 * size:
            return 1.0
        warnings.warn(
            "the labels of held-out sequences are no more likely under the scores than by chance: the "
            "temperature is infinite, and all labellings are equally probable",
            UserWarning,
        )
        return np.inf
    low = high = np.log(likelihood.n_tokens / gain)  # a margin of 1 for each token
    step = np.log(4.0)
    if likelihood.slope(low) > 0.0:
        while likelihood.slope(low) > 0.0:
            low, high = low - step, low
    else:
        while likelihood.slope(high) <= 0.0:
            low, high = high, high + step
    return float(np.exp(-brentq(likelihood.slope, low, high, xtol=PRECISION)))
