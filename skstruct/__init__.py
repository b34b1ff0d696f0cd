"""Structured prediction with the interface of scikit-learn and the speed of compiled code."""

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
    "load",
    "metrics",
    "regularization_path",
]
