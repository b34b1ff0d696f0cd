"""Structured prediction with the interface of scikit-learn and the speed of compiled code."""

import importlib
from typing import TYPE_CHECKING

from . import metrics
from .data.templates import FeatureTemplates
from .estimators.averager import BaggingShuffleAverager
from .estimators.l1crf import L1CRF
from .estimators.mixer import ParameterMixer
from .estimators.passive_aggressive import PassiveAggressiveTagger
from .estimators.path import regularization_path
from .estimators.perceptron import StructuredPerceptron
from .estimators.reranker import KBestReranker
from .estimators.segmenter import Segmenter
from .estimators.shift_reduce_parser import ShiftReduceParser
from .estimators.word_segmenter import WordSegmenter
from .persistence import load

if TYPE_CHECKING:
    from . import datasets, inspection

__version__ = "0.1.0"

__all__ = [
    "BaggingShuffleAverager",
    "FeatureTemplates",
    "KBestReranker",
    "L1CRF",
    "ParameterMixer",
    "PassiveAggressiveTagger",
    "Segmenter",
    "ShiftReduceParser",
    "StructuredPerceptron",
    "WordSegmenter",
    "datasets",
    "inspection",
    "load",
    "metrics",
    "regularization_path",
]

_LATER = ("datasets", "inspection")  # imported at their first use: programs that only predict need neither


def __getattr__(name):
    if name in _LATER:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LATER})
