"""The names of ``sklearn-crfsuite`` 0.5."""

from . import compat, estimator, metrics, scorers, trainer, utils
from .estimator import CRF

__all__ = ["CRF", "compat", "estimator", "metrics", "scorers", "trainer", "utils"]
