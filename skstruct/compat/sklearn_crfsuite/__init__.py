"""The names of ``sklearn-crfsuite`` 0.5."""

from . import metrics, scorers, utils
from .estimator import CRF

__all__ = ["CRF", "metrics", "scorers", "utils"]
