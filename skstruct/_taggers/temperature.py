"""The temperature under which the labels of held-out sequences are most likely.

Scores divided by a temperature are the log-probabilities of a conditional random field,
up to a constant (C. Guo et al. 2017, "On calibration of modern neural networks", ICML,
section 4.2, for one label at a time). With complete labels the log-likelihood, ``Σ β
score(y) - log Z_β``, is concave in β = 1 / temperature, so that it has one maximum:
where its slope, computed as a difference quotient, is zero.

Labels that the scores never miss would ask for the temperature 0. So one token more is
counted, whose label is drawn at random: of N tokens the labels given have the weight (N
+ 1) / (N + 2), which is the correction of J. Platt (1999), "Probabilistic outputs for
support vector machines and comparisons to regularized likelihood methods".
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from .._chain.chain_model import ChainModel, with_gold
from .._chain.sums import log_z
from .._core.user_warnings import warn
from .._data.labels import encode_known
from .._training.chunks import threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._chain.bigram import ChainTask
    from .._data.corpus import TokenCorpus
    from .._data.types import Corpus


STEP = 1e-4
"""Relative step of a difference: its error is the step squared."""

NOTHING = 1e-8
"""Differences below this share of the scores are rounding errors."""

PRECISION = 1e-3
"""Relative, of the temperature."""


class EncodedFold(NamedTuple):
    """Sequences that a model has not seen, n of them, with their labels."""

    model: ChainModel
    task: ChainTask  # with gold; labels that the model does not know are UNLABELLED
    weight: Any  # (n,) float64, or None


def encoded_fold(
    model: ChainModel,
    X: TokenCorpus,
    y: Corpus,
    weight: np.ndarray | None = None,
) -> EncodedFold:
    """Encode sequences and their labels for a model that was trained on others."""
    gold, _, _ = encode_known(y, X.offsets, model.labels)
    return EncodedFold(model, with_gold(model.encode(X), gold), weight)


def in_units_of(
    other: ChainModel, model: ChainModel, X: TokenCorpus, y: Corpus
) -> ChainModel:
    """Scale a model's scores to the unit of another one, both trained on X and y.

    A tagger that has learned from more examples has larger weights, and so may one that
    saw them in another order. By how much shows on text that both were trained on: the
    unit is by how much, on average, the labels given score higher than labels drawn at
    random.
    """
    here, there = (_gain(each, X, y) for each in (model, other))
    both = np.isfinite(here) & np.isfinite(there)
    here = here[both].sum()
    there = there[both].sum()
    return (
        replace(model, scale=model.scale * there / here)
        if here > 0.0 and there > 0.0
        else model
    )


def _gain(model: ChainModel, X: TokenCorpus, y: Corpus) -> np.ndarray:
    """(n,) by how much the labels given score higher than labels drawn at random.

    NaN where constraints leave no labelling.
    """
    part = encoded_fold(model, X, y)
    return _mean_score(part, True) - _mean_score(part, False)


def _log_z(part: EncodedFold, scale: float, given: bool) -> np.ndarray:
    """(n,) log Z of each sequence under scores times ``scale``, labels given or not."""
    return log_z(replace(part.model, scale=part.model.scale * scale), part.task, given)


def _mean_score(part: EncodedFold, given: bool) -> np.ndarray:
    """(n,) mean score of all labellings, or of those with the labels given.

    It is the slope of log Z_β at β = 0.
    """
    with np.errstate(invalid="ignore"):  # where no labelling is left it is NaN
        size = np.abs(_log_z(part, 1.0, given) - _log_z(part, 0.0, given))
        step = STEP / max(size[np.isfinite(size)].max(initial=0.0), 1e-300)
        return (_log_z(part, step, given) - _log_z(part, -step, given)) / (2.0 * step)


class _Likelihood:
    """Minus the log-likelihood of held-out labels, as a function of log β."""

    def __init__(
        self, parts: list[EncodedFold], pool: Callable[..., list[Any]]
    ) -> None:
        self.pool = pool
        self.parts = parts
        # What constraints, with labels that a part's model lacks, make impossible says
        # nothing of β.
        possible = zip(parts, self._each(_log_z, 0.0, True))
        self.parts = [
            p._replace(weight=np.where(z > -np.inf, p.weight, 0.0)) for p, z in possible
        ]
        known = [part.task.gold >= 0 for part in parts]
        if not any(each.any() for each in known):
            raise ValueError(
                "y holds no label that the tagger knows: there is nothing to find a "
                "temperature by"
            )
        self.complete = all(each.all() for each in known)
        counted = [np.repeat(p.weight > 0, np.diff(p.task.token)) for p in self.parts]
        self.n_tokens = sum(int((a & b).sum()) for a, b in zip(known, counted))
        self.blind = 1.0 / (self.n_tokens + 2.0)
        self.given = self._total(self._each(_mean_score, True))
        self.uniform = self._total(self._each(_mean_score, False))

    def _each(
        self, function: Callable[..., np.ndarray], *arguments: Any
    ) -> list[np.ndarray]:
        """Return what a function says of each part."""
        return self.pool(lambda part: function(part, *arguments), self.parts)

    def _total(self, values: list[np.ndarray]) -> float:
        counted = [
            (p.weight[p.weight > 0], v[p.weight > 0])
            for p, v in zip(self.parts, values)
        ]
        return sum(float((weight * value).sum()) for weight, value in counted)

    def log_z(self, beta: float, given: bool = False) -> float:
        """Compute Σ weight log Z_β over all sequences, labels given or not."""
        return self._total(self._each(_log_z, beta, given))

    def value(self, log_beta: float) -> float:
        """Compute Σ weight (log Z_β - log Z_β of the labels given).

        The token whose label is drawn at random is counted, too.
        """
        beta = np.exp(log_beta)
        given = beta * self.given if self.complete else self.log_z(beta, True)
        return (
            self.log_z(beta)
            - (1 - self.blind) * given
            - self.blind * beta * self.uniform
        )

    def slope(self, log_beta: float) -> float:
        """Compute the slope of :meth:`value`, which rises with β."""
        return (self.value(log_beta + STEP) - self.value(log_beta - STEP)) / (
            2.0 * STEP
        )


def fit_temperature(parts: list[EncodedFold], n_jobs: int | None = None) -> float:
    """Find the temperature under which the labels of held-out sequences are most
    likely.

    Parameters
    ----------
    parts : list of EncodedFold
    n_jobs : int, optional
        Threads, over parts.

    Returns
    -------
    float
        1 if no temperature makes a difference; inf if the scores speak against the
        labels.
    """
    with threads(n_jobs, len(parts)) as map_all:
        return _solve(
            _Likelihood(parts, lambda function, parts: list(map_all(function, parts)))
        )


def _solve(likelihood: _Likelihood) -> float:
    gain = likelihood.given - likelihood.uniform
    size = abs(likelihood.given) + abs(likelihood.uniform)
    if not gain > NOTHING * size:
        if (
            abs(likelihood.log_z(1.0) - likelihood.log_z(0.0) - likelihood.uniform)
            <= NOTHING * size
        ):
            return 1.0
        warn(
            "the labels of held-out sequences are no more likely under the scores than "
            "by chance: the "
            "temperature is infinite, and all labellings are equally probable"
        )
        return np.inf
    low = high = np.log(likelihood.n_tokens / gain)  # a margin of 1 for each token
    step = np.log(4.0)
    while likelihood.slope(low) > 0.0:
        low, high = low - step, low
    while low == high or likelihood.slope(high) <= 0.0:
        low = high
        high = high + step
    return float(np.exp(-brentq(likelihood.slope, low, high, xtol=PRECISION)))
