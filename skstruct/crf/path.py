"""The regularisation path: one corpus, many strengths of the penalty."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from ..data.types import Corpus
from ..training.held_out import both_or_neither
from .estimator import L1CRF
from .run import warn_unless_converged
from .solve import HeldOutLikelihood, solve


class PathPoint(NamedTuple):
    """One strength of the penalty; see :func:`regularization_path`."""

    c1: float
    objective: float
    n_active: int  # weights that are not zero
    n_iter: int  # passes
    score: float | None  # on the held-out sequences, if there are any
    log_proba: float | None  # their mean log-probability
    model: L1CRF


def regularization_path(
    estimator: L1CRF,
    X: Corpus,
    y: Corpus,
    c1s: Iterable[float],
    *,
    sample_weight: ArrayLike | None = None,
    X_val: Corpus | None = None,
    y_val: Corpus | None = None,
) -> list[PathPoint]:
    """Fit an :class:`L1CRF` for several values of ``c1``.

    Costs little more than one fit: the corpus is encoded once, and each model starts from the one
    before, from the strongest penalty, under which few weights are not zero, to the weakest.

    Parameters
    ----------
    estimator : L1CRF
        All other parameters; not changed. Its solver must not be ``"sgd"``, which converges to nothing.
        ``warm_start``, ``checkpoint`` and ``verbose`` are for single fits, and have no effect here.
    X, y, sample_weight
        As in :meth:`L1CRF.fit`.
    c1s : iterable of float >= 0
        In any order; repetitions count once.
    X_val, y_val : lists of sequences, optional
        Held-out sequences to score; labels that training lacks are wrong in ``score``, and in ``log_proba``
        as in :meth:`L1CRF.fit`.

    Returns
    -------
    list of PathPoint
        From the largest ``c1`` to the smallest: ``c1``, ``objective``, ``n_active``, ``n_iter``,
        ``score`` (what ``model.score`` gives for the held-out sequences) and ``log_proba`` (their mean
        log-probability), both None without such sequences, and ``model``, a fitted clone.

    Raises
    ------
    ValueError, TypeError
        As :meth:`L1CRF.fit`, or if ``c1s`` is empty, or holds a number that is negative or not finite.

    Examples
    --------
    >>> from skstruct import L1CRF, regularization_path
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]] * 5
    >>> y = [["D", "N", "V"]] * 15
    >>> path = regularization_path(L1CRF(random_state=0), X, y, [0.1, 1, 10], X_val=X, y_val=y)
    >>> [point.c1 for point in path]
    [10.0, 1.0, 0.1]
    >>> max(path, key=lambda point: point.score).score
    1.0
    """
    if not isinstance(estimator, L1CRF):
        raise TypeError(f"estimator must be an L1CRF, got {type(estimator).__name__}")
    strengths = np.unique(np.asarray(list(c1s), dtype=float))[::-1]
    if strengths.size == 0:
        raise ValueError("c1s is empty")
    if not np.isfinite(strengths).all() or strengths[-1] < 0.0:
        raise ValueError(f"c1s must be finite and not negative, got {strengths.tolist()}")
    if estimator.solver == "sgd":
        raise ValueError("a path needs a solver that converges, got solver='sgd'")
    first = clone(estimator)
    first._validate_params()
    run = first._prepare(X, y, sample_weight, both_or_neither(X_val, y_val))
    # What the weakest penalty keeps at zero, the stronger ones do too.
    points, weights, held_out = [], None, None
    with closing(run.objective(strengths[-1])) as objective:
        if run.validation is not None:
            held_out = HeldOutLikelihood(objective, run.validation)
        for c1 in strengths.tolist():
            objective.c1 = c1
            result = solve(objective, run.options(), weights=weights, seed=run.seed())
            warn_unless_converged(result, first)
            weights = result.weights
            model = clone(estimator).set_params(c1=c1)
            vars(model).update(run.fitted(result))
            score = log_proba = None
            if X_val is not None:
                score = model.score(X_val, y_val)
            if held_out is not None:
                log_proba = held_out.score(weights)
            points.append(
                PathPoint(c1, model.objective_, result.n_active, result.n_iter, score, log_proba, model)
            )
    return points
