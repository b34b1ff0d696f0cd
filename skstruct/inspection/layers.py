"""What is inside of a pipeline, a search, an average, a mixture or a calibrated tagger."""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from ..metrics.confidence import final_step


def innermost(estimator, X=None):
    """The estimator that has weights of its own or a tagger inside, and its input.

    Averages, mixtures and calibrated taggers predict as the estimator that they have fitted does.

    Parameters
    ----------
    estimator : fitted estimator
    X : list of sequences, optional
        What ``predict`` of ``estimator`` takes.

    Returns
    -------
    estimator, X

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If it is not fitted.
    """
    steps = () if X is None else X
    while True:
        check_is_fitted(estimator)
        inner, steps = _final(estimator, steps, X is not None)
        inner = getattr(inner, "estimator_", inner)
        if inner is estimator:
            return inner, (steps if X is not None else None)
        estimator = inner


def _final(estimator, X, transform):
    if transform:
        return final_step(estimator, X)
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            return estimator, X
