"""Confidence intervals of scores that are quotients of sums, by the bootstrap.

References
----------
T. Hesterberg, "What teachers should know about the bootstrap", 2015, section 5.3:
percentiles for small samples. B. Efron and R. Tibshirani, "An introduction to the
bootstrap", 1993.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .significance import resampled

RESAMPLES = 1_000

FEW = 30
"""Groups of which resamples have too few values to show how a score varies."""

FEWEST = 5
"""Groups that an interval needs: of fewer it is too short, whatever is done."""


class Score(NamedTuple):
    """A score and its 95 % confidence interval; NaN where there is none."""

    value: float
    low: float = np.nan
    high: float = np.nan


class Interval(NamedTuple):
    """The construction of an interval from resamples: the percentiles at its ends.

    ``quantile`` is that of Student's t, of groups so few that resamples have few
    values.
    """

    percentiles: tuple[float, float]
    quantile: float | None = None


_USUAL = Interval((2.5, 97.5))


def interval_of(groups: np.ndarray | None) -> Interval | None:
    """Return how the interval of groups is made; None of too few groups for one.

    Resamples of n groups vary less than samples do, by (n - 1) / n, and their tails are
    those of the normal distribution instead of Student's t. The percentiles of n groups
    make up for both; of fewer than `FEW` intervals are also as wide as Student's t has
    it.

    Parameters
    ----------
    groups : ndarray of shape (n,), or None
        The group of each sequence; without, each is drawn by itself.
    """
    if groups is None:
        return _USUAL
    n = len(np.unique(groups))
    if n < FEWEST:
        return None
    from scipy.stats import norm, t  # slow to import, and not needed for a report

    quantile = float(t.ppf(0.025, n - 1))
    beyond = 100 * float(norm.cdf(np.sqrt(n / (n - 1)) * quantile))
    return Interval((beyond, 100 - beyond), -quantile if n < FEW else None)


def resamples_of(
    counts: np.ndarray, groups: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts of groups (G, M, 2), and those of resamples (R, M, 2).

    Parameters
    ----------
    counts : ndarray of shape (n, M, 2)
        Of each sequence and measure what is right, and what it is divided by.
    groups : ndarray of shape (n,), or None
    """
    if groups is not None:
        _, number = np.unique(groups, return_inverse=True)
        sums = np.zeros((int(number.max()) + 1, *counts.shape[1:]))
        np.add.at(sums, number, counts)
        counts = sums
    n, M, _ = counts.shape
    parts = resampled(counts.reshape(n, -1), RESAMPLES, 0)
    draws = [part.reshape(len(part), M, 2) for part in parts]
    return counts, np.concatenate(draws)


def score_of(counts: np.ndarray, draws: np.ndarray, interval: Interval | None) -> Score:
    """Compute a `Score` of counts (n, 2), and of those of resamples (R, 2)."""
    value = float(quotients(counts.sum(0)))
    values = quotients(draws)
    values = values[~np.isnan(values)]
    if interval is None or not len(values):
        return Score(value)
    low, high = np.percentile(values, interval.percentiles)
    if interval.quantile is not None:  # the wider of both
        lower, upper = _jackknifed(value, counts, interval.quantile)
        low, high = np.fmin(low, lower), np.fmax(high, upper)
    return Score(value, float(low), float(high))


def _jackknifed(
    value: float, counts: np.ndarray, quantile: float
) -> tuple[float, float]:
    """Compute the interval of a ratio over n groups, each of which is left out once.

    The variance is (n - 1) / n times the sum of the squares of what leaving out one
    changes (Efron and Tibshirani, 1993, equation 11.5); a large group weighs as it
    does.
    """
    n = counts.shape[0]
    without = quotients(counts.sum(0) - counts)
    without = without[~np.isnan(without)]
    if np.isnan(value) or not len(without):
        return np.nan, np.nan
    error = np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2))
    return max(0.0, value - quantile * error), min(1.0, value + quantile * error)


def quotients(counts: np.ndarray) -> np.ndarray:
    """Divide what is right by what it is divided by, (..., 2); NaN where that is 0."""
    below = counts[..., 1]
    none = np.full(np.shape(below), np.nan)
    return np.divide(counts[..., 0], below, out=none, where=below > 0)
