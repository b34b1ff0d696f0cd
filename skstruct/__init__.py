"""Structured prediction with the interface of scikit-learn and the speed of compiled code."""

import importlib
import sys
from typing import TYPE_CHECKING

from . import data, features, metrics
from ._version import __version__ as __version__
from .calibration.tagger import CalibratedTagger
from .chain.passive_aggressive import PassiveAggressiveTagger
from .chain.perceptron import StructuredPerceptron
from .chain.segmenter import Segmenter
from .chain.span_tagger import SpanTagger
from .crf.estimator import L1CRF
from .crf.path import regularization_path
from .crf.search import L1CRFCV
from .data.matrix import SequenceMatrix
from .data.spans import Span
from .features import accessor as _accessor
from .features import presets as _presets
from .features.numeric import NumericFeatures
from .features.templates import FeatureTemplates
from .mixing.averager import BaggingShuffleAverager
from .mixing.mixer import ParameterMixer
from .parser import lines as _parser_templates
from .parser.estimator import ShiftReduceParser
from .reranker.estimator import KBestReranker
from .saving.registry import load
from .words.estimator import WordSegmenter

if TYPE_CHECKING:
    from . import datasets, inspection, interchange
    from ._warming import warm_up

__all__ = [
    "BaggingShuffleAverager",
    "CalibratedTagger",
    "FeatureTemplates",
    "KBestReranker",
    "L1CRF",
    "L1CRFCV",
    "NumericFeatures",
    "ParameterMixer",
    "PassiveAggressiveTagger",
    "Segmenter",
    "SequenceMatrix",
    "ShiftReduceParser",
    "Span",
    "SpanTagger",
    "StructuredPerceptron",
    "WordSegmenter",
    "datasets",
    "features",
    "inspection",
    "interchange",
    "load",
    "metrics",
    "regularization_path",
    "warm_up",
]

# Where these modules were up to 0.1.0, and where scripts import them from.
_MOVED = {"accessor": _accessor, "presets": _presets, "parser_templates": _parser_templates}
for _name, _module in _MOVED.items():
    sys.modules[f"{__name__}.data.{_name}"] = _module
    setattr(data, _name, _module)

_LATER = ("datasets", "inspection", "interchange")  # at their first use: who only predicts needs none


def __getattr__(name):
    if name in _LATER:
        return importlib.import_module(f"{__name__}.{name}")
    if name == "warm_up":
        return importlib.import_module(f"{__name__}._warming").warm_up
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LATER, "warm_up"})
