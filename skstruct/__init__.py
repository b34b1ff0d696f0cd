"""Structured prediction with the interface of scikit-learn and the speed of compiled code."""

from typing import TYPE_CHECKING

from ._names import PUBLIC, lazy
from ._version import __version__ as __version__

if TYPE_CHECKING:
    from . import datasets as datasets
    from . import features as features
    from . import inspection as inspection
    from . import interchange as interchange
    from . import metrics as metrics
    from ._warming import warm_up as warm_up
    from .calibration.tagger import CalibratedTagger as CalibratedTagger
    from .chain.passive_aggressive import PassiveAggressiveTagger as PassiveAggressiveTagger
    from .chain.perceptron import StructuredPerceptron as StructuredPerceptron
    from .chain.segmenter import Segmenter as Segmenter
    from .chain.span_tagger import SpanTagger as SpanTagger
    from .crf.estimator import L1CRF as L1CRF
    from .crf.path import regularization_path as regularization_path
    from .crf.search import L1CRFCV as L1CRFCV
    from .data.matrix import SequenceMatrix as SequenceMatrix
    from .data.spans import Span as Span
    from .features.numeric import NumericFeatures as NumericFeatures
    from .features.templates import FeatureTemplates as FeatureTemplates
    from .mixing.averager import BaggingShuffleAverager as BaggingShuffleAverager
    from .mixing.mixer import ParameterMixer as ParameterMixer
    from .parser.estimator import ShiftReduceParser as ShiftReduceParser
    from .reranker.estimator import KBestReranker as KBestReranker
    from .saving.registry import load as load
    from .words.estimator import WordSegmenter as WordSegmenter

__all__ = list(PUBLIC)
__getattr__, __dir__ = lazy(__name__, PUBLIC)
