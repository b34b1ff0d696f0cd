"""Structured prediction with the interface of scikit-learn and the speed of compiled
code.
"""

from typing import TYPE_CHECKING

from ._names import PUBLIC, lazy
from ._version import __version__ as __version__

if TYPE_CHECKING:
    from . import compat as compat
    from . import datasets as datasets
    from . import features as features
    from . import inspection as inspection
    from . import interchange as interchange
    from . import metrics as metrics
    from . import schemes as schemes
    from . import serving as serving
    from ._crf.l1crf import L1CRF as L1CRF
    from ._crf.l1crf_cv import L1CRFCV as L1CRFCV
    from ._crf.path import regularization_path as regularization_path
    from ._data.lexicon import Lexicon as Lexicon
    from ._data.matrix import SequenceMatrix as SequenceMatrix
    from ._data.partial_words import PartialWords as PartialWords
    from ._data.spans import PartialSpans as PartialSpans
    from ._data.spans import Span as Span
    from ._parser.shift_reduce import ShiftReduceParser as ShiftReduceParser
    from ._saving.container import ModelFileError as ModelFileError
    from ._saving.pipelines import save as save
    from ._saving.registry import load as load
    from ._shards.mixing.averager import (
        BaggingShuffleAverager as BaggingShuffleAverager,
    )
    from ._shards.mixing.mixer import ParameterMixer as ParameterMixer
    from ._taggers.calibrated_tagger import CalibratedTagger as CalibratedTagger
    from ._taggers.perceptron import PassiveAggressiveTagger as PassiveAggressiveTagger
    from ._taggers.perceptron import StructuredPerceptron as StructuredPerceptron
    from ._taggers.segmenter import Segmenter as Segmenter
    from ._taggers.span_sets import SpanSets as SpanSets
    from ._taggers.span_tagger import SpanTagger as SpanTagger
    from ._warming import warm_up as warm_up
    from ._words.kbest_reranker import KBestReranker as KBestReranker
    from ._words.word_segmenter import WordSegmenter as WordSegmenter
    from .features.numeric import NumericFeatures as NumericFeatures
    from .features.templates import FeatureTemplates as FeatureTemplates

__all__ = list(PUBLIC)
__getattr__, __dir__ = lazy(__name__, PUBLIC)
