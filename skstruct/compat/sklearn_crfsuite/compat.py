"""The name of ``sklearn_crfsuite.compat``."""

from sklearn.base import BaseEstimator

__all__ = ["BaseEstimator"]
