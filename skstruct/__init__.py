"""Structured prediction with the interface of scikit-learn and the speed of compiled code."""

import importlib
from typing import TYPE_CHECKING

from . import metrics
from ._version import __version__ as __version__
from .chain.passive_aggressive import PassiveAggressiveTagger
from .chain.perceptron import StructuredPerceptron
from .chain.segmenter import Segmenter
from .crf.estimator import L1CRF
from .crf.path import regularization_path
from .features.templates import FeatureTemplates
from .mixing.averager import BaggingShuffleAverager
from .mixing.mixer import ParameterMixer
from .parser.estimator import ShiftReduceParser
from .reranker.estimator import KBestReranker
from .saving.registry import load
from .words.estimator import WordSegmenter

if TYPE_CHECKING:
    from . import datasets, inspection

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
