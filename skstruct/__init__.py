"""Structured prediction with the interface of scikit-learn and the speed of compiled
code.
"""

from typing import TYPE_CHECKING

from ._names import PUBLIC, lazy
from ._version import __version__ as __version__

if TYPE_CHECKING:
    from . import datasets as datasets
    from . import features as features
    from . import inspection as inspection
    from . import interchange as interchange
    from . import metrics as metrics
    from . import serving as serving
    from ._warming import warm_up as warm_up
    from .crf.l1crf import L1CRF as L1CRF
    from .crf.l1crf_cv import L1CRFCV as L1CRFCV
    from .crf.path import regularization_path as regularization_path
    from .data.matrix import SequenceMatrix as SequenceMatrix
    from .data.spans import PartialSpans as PartialSpans
    from .data.spans import Span as Span
    from .features.numeric import NumericFeatures as NumericFeatures
    from .features.templates import FeatureTemplates as FeatureTemplates
    from .mixing.averager import BaggingShuffleAverager as BaggingShuffleAverager
    from .mixing.mixer import ParameterMixer as ParameterMixer
    from .parser.shift_reduce import ShiftReduceParser as ShiftReduceParser
    from .reranker.kbest_reranker import KBestReranker as KBestReranker
    from .saving.pipelines import save as save
    from .saving.registry import load as load
    from .taggers.calibrated_tagger import CalibratedTagger as CalibratedTagger
    from .taggers.perceptron import PassiveAggressiveTagger as PassiveAggressiveTagger
    from .taggers.perceptron import StructuredPerceptron as StructuredPerceptron
    from .taggers.segmenter import Segmenter as Segmenter
    from .taggers.span_sets import SpanSets as SpanSets
    from .taggers.span_tagger import SpanTagger as SpanTagger
    from .words.word_segmenter import WordSegmenter as WordSegmenter

__all__ = list(PUBLIC)
__getattr__, __dir__ = lazy(__name__, PUBLIC)
