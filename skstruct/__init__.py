"""Structured prediction with the interface of scikit-learn and the speed of compiled code."""

from . import metrics
from .data.templates import FeatureTemplates
from .estimators.passive_aggressive import PassiveAggressiveTagger
from .estimators.perceptron import StructuredPerceptron

__version__ = "0.1.0"

__all__ = [
    "FeatureTemplates",
    "PassiveAggressiveTagger",
    "StructuredPerceptron",
    "metrics",
]
