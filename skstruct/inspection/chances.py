"""The probability that an annotation is wrong, by a mixture model with planted errors.

What was observed is a mixture of right annotations and of wrong ones of several kinds.
What wrong ones look like is known from errors that are planted into the observed
annotations: each is given another type, say, and the same features are computed. A
logistic regression of right against each kind gives the ratios of their densities, and
how probable it is that one annotation is of a kind follows from its share [1]_. The
shares cannot be learned by maximum likelihood: errors among what is observed are taken
for right as far as they are not expected. They follow from where what is right hardly
is [2]_; what is right and looks wrong is drawn from the probabilities of the models,
and subtracted.

With little data the regression is what the odds of the model say (`prior`); it learns
from the data where these are wrong, as of words that the model has not seen.

References
----------
.. [1] M. Saerens, P. Latinne, C. Decaestecker (2002). Adjusting the outputs of a
   classifier to new a priori probabilities. Neural Computation 14.
.. [2] C. Scott (2015). A rate of convergence for mixture proportion estimation, with
   application to learning from noisy labels. AISTATS.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Floats = NDArray[np.float64]

USUAL = 0.003
"""Share of each kind of error before anything is seen."""

PARTS = 0.25, 0.5, 0.75
"""Parts of the errors of a kind by which their number is estimated."""

FEWEST = 2.0
"""Errors of each kind that are expected beside those counted, so that none is ruled out."""

MOST_SHARE = 0.25
"""Largest share of a kind."""

STEPS = 10
"""Rounds in which the regression and the shares are estimated in turn."""

ROUNDS = 20
"""Rounds in which chances are scaled to the number of errors."""

MOST = 4_000
"""Annotations from which the regression learns, and twice the planted errors of a kind."""

STRENGTH = 1.0
"""Weight of the squared distance between the regression and its prior."""

MOST_STEPS = 60
"""Steps of the optimiser in a round."""

LEAST_RIGHT = 0.1
"""Least share of what is right."""

LARGEST_LOG_RATIO = 50.0
"""Largest absolute log-ratio of two densities, whose exponential is finite."""

LEAST_DEVIATION = 1e-6
LEAST_SIZE = 1e-9
LEAST_TOTAL = 1e-12
"""What divisors are at least: the deviation of a feature, the number of annotations of a
kind, and the sum of shares.
"""


class Kind(NamedTuple):
    """Planted errors of a kind.

    Attributes
    ----------
    rows : ndarray of shape (m, d)
        Their features.
    is_systematic : bool
        Whether somebody made them who misunderstood something.
    """

    rows: Floats
    is_systematic: bool = False


class Ambiguous(NamedTuple):
    """Annotations that are right and may look wrong, drawn from models.

    Attributes
    ----------
    rows : ndarray of shape (m, d)
        Their features.
    weight : ndarray of shape (m,)
        How many of each there are probably.
    """

    rows: Floats
    weight: Floats


class Mixture(NamedTuple):
    """The facts about n annotations and K kinds of errors.

    Attributes
    ----------
    observed : ndarray of shape (n, d)
        Features of the annotations.
    planted : list of K Kind
    prior : ndarray of shape (d + 1, K)
        What a unit of each feature adds to the log-ratio of the densities of each kind
        and of what is right, before anything is learned; the last row is added always.
    ambiguous : Ambiguous, optional
    usual : float
        Share of each kind before anything is seen.
    """

    observed: Floats
    planted: list[Kind]
    prior: Floats
    ambiguous: Ambiguous | None = None
    usual: float = USUAL


def chances_of(mixture: Mixture) -> Floats:
    """Compute how probable each kind of error is, of each annotation.

    Returns
    -------
    ndarray of shape (n, K)
        Its columns sum to the expected number of errors of each kind.
    """
    from threadpoolctl import threadpool_limits  # which scikit-learn brings along

    if not len(mixture.observed) or not mixture.planted:
        return np.zeros((len(mixture.observed), len(mixture.planted)))
    with threadpool_limits(1):  # products of narrow matrices gain nothing by more
        return _chances(mixture)


def _chances(mixture: Mixture) -> Floats:
    """Estimate the regression and the shares in turn, for n > 0."""
    n = len(mixture.observed)
    kinds = len(mixture.planted)
    learned = _spread(mixture.observed, MOST)
    planted = [_spread(each.rows, MOST // 2) for each in mixture.planted]
    rows = np.vstack([learned, *planted])
    mean = rows.mean(axis=0)
    deviation = np.maximum(rows.std(axis=0), LEAST_DEVIATION)
    rows = (rows - mean) / deviation
    counts = _Counts(mixture, planted, mean, deviation)
    slopes, always = mixture.prior[:-1], mixture.prior[-1]
    centre = np.vstack([slopes * deviation[:, None], mean @ slopes + always])
    share = np.full(kinds, mixture.usual)
    unseen = FEWEST / n
    weights = centre
    target = np.zeros((len(rows), kinds + 1))
    known = np.repeat(np.arange(1, kinds + 1), [len(each) for each in planted])
    target[np.arange(len(learned), len(rows)), known] = 1.0
    for _ in range(STEPS):
        ratio = np.exp(_log_ratio(rows[: len(learned)], weights))
        wrong = _responsible(ratio, share)
        target[: len(learned), 0] = 1.0 - wrong.sum(axis=1)
        target[: len(learned), 1:] = wrong
        size = np.maximum(target.sum(axis=0), LEAST_SIZE)
        weights = _regression(rows, target, weights, centre, np.log(size[1:] / size[0]))
        counted = counts.shares(weights, share)
        share = np.minimum(counted + min(unseen, mixture.usual), MOST_SHARE)
    most = min(counted.sum() + kinds * unseen, 1.0)
    return _between(counts.observed, weights, share, counted.sum(), most)


class _Counts:
    """Counts the annotations that are as suspicious as planted errors.

    Parameters
    ----------
    mixture : Mixture
    planted : list of K ndarrays of shape (m, d)
        The planted errors that are used.
    mean, deviation : ndarray of shape (d,)
        Of the features, which are standardised.
    """

    def __init__(
        self, mixture: Mixture, planted: list[Floats], mean: Floats, deviation: Floats
    ) -> None:
        self.observed = (mixture.observed - mean) / deviation
        self._planted = [(each - mean) / deviation for each in planted]
        self._kinds = mixture.planted
        self._ambiguous = mixture.ambiguous
        if self._ambiguous is not None:
            rows = (self._ambiguous.rows - mean) / deviation
            self._ambiguous = self._ambiguous._replace(rows=rows)

    def shares(self, weights: Floats, share: Floats) -> Floats:
        """Estimate the share of each kind among the annotations, (K,).

        Of the errors of a kind a half are at least as suspicious as the median of those
        planted, a quarter as the upper quartile; what is right hardly is, but for what
        is ambiguous. So the number of annotations beyond each quantile, less those that
        are ambiguous, estimates the share [2]_. Of errors made at random, which look as
        planted, the least estimate counts; of systematic ones, which are learned to a
        degree that nobody knows, the mean. An annotation is suspicious of a kind by its
        density against that of all else.
        """
        parts = np.array(PARTS)
        beyond = [
            np.quantile(_against(rows, weights, share)[:, k], 1.0 - parts)
            if len(rows)
            else np.full(len(parts), np.inf)
            for k, rows in enumerate(self._planted)
        ]
        n = _beyond(self.observed, None, beyond, weights, share)
        if self._ambiguous is not None:
            n -= _beyond(*self._ambiguous, beyond, weights, share)
        estimates = n / parts / len(self.observed)
        found = [
            each.mean() if kind.is_systematic else each.min()
            for kind, each in zip(self._kinds, estimates)
        ]
        is_known = np.array([len(rows) > 0 for rows in self._planted])
        return np.where(is_known, np.maximum(found, 0.0), share)


def _beyond(
    rows: Floats,
    mass: Floats | None,
    limits: list[Floats],
    weights: Floats,
    share: Floats,
) -> Floats:
    """Count the rows that are at least as suspicious as the limits of each kind, each by
    its mass, (K, number of limits).
    """
    against = _against(rows, weights, share)
    count = np.ones(len(rows)) if mass is None else mass
    return np.array(
        [count @ (against[:, k, None] >= limit) for k, limit in enumerate(limits)]
    )


def _against(rows: Floats, weights: Floats, share: Floats) -> Floats:
    """Compute the log-ratio of the density of each kind to that of all else, (n, K)."""
    ratio = _log_ratio(rows, weights)
    odds = np.exp(ratio) * share
    right = max(1.0 - share.sum(), LEAST_RIGHT)
    others = np.maximum(odds.sum(axis=1, keepdims=True) - odds, 0.0)  # rounding
    return ratio - np.log(right + others)


def _log_ratio(rows: Floats, weights: Floats) -> Floats:
    """Compute the log-ratio of the density of each kind to that of what is right."""
    ratio = rows @ weights[:-1] + weights[-1]
    return np.clip(ratio, -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO)


def _between(
    rows: Floats, weights: Floats, share: Floats, least: float, most: float
) -> Floats:
    """Compute the probability of each kind, (n, K); shares of errors that are too small
    or too large by these probabilities are scaled, and their order stays.
    """
    ratio = np.exp(_log_ratio(rows, weights))
    used = share
    for _ in range(ROUNDS):
        total = max(_responsible(ratio, used).mean(axis=0).sum(), LEAST_TOTAL)
        used = used * min(max(total, least), most) / total
    return _responsible(ratio, used)


def _spread(rows: Floats, most: int) -> Floats:
    """Choose rows from everywhere, if there are too many."""
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]


def _responsible(ratio: Floats, share: Floats) -> Floats:
    """Compute the probability of each kind, (n, K), from ratios of densities."""
    odds = ratio * (share / max(1.0 - share.sum(), LEAST_RIGHT))
    return odds / (1.0 + odds.sum(axis=1, keepdims=True))


def _regression(
    rows: Floats, target: Floats, start: Floats, centre: Floats, size: Floats
) -> Floats:
    """Fit the log-ratios of the densities of each kind and of what is right.

    Parameters
    ----------
    rows : ndarray of shape (m, d)
    target : ndarray of shape (m, K + 1)
        How much each row belongs to what is right, and to each kind.
    start, centre : ndarray of shape (d + 1, K)
        Where to begin, and what the penalty draws to; the last row is the intercept.
    size : ndarray of shape (K,)
        Log-ratio of the number of rows of each kind to that of what is right.

    Returns
    -------
    ndarray of shape (d + 1, K)
    """
    features = np.ascontiguousarray(rows.T)  # sums over few kinds are fast by rows
    wrong = np.ascontiguousarray(target[:, 1:].T)
    mass = target.sum(axis=1)

    def objective(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(centre.shape)
        scores = weights[:-1].T @ features + (weights[-1] + size)[:, None]
        top = np.maximum(scores.max(axis=0), 0.0)  # what is right has the score 0
        odds = np.exp(scores - top)
        total = np.exp(-top) + odds.sum(axis=0)
        difference = odds * (mass / total) - wrong
        away = weights - centre
        value = (mass * (top + np.log(total))).sum() - (wrong * scores).sum()
        slope = np.vstack([features @ difference.T, difference.sum(axis=1)])
        value += 0.5 * STRENGTH * (away**2).sum()
        return float(value), (slope + STRENGTH * away).ravel()

    found = minimize(
        objective,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": MOST_STEPS},
    )
    return np.asarray(found.x).reshape(centre.shape)
