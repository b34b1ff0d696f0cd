"""From tokens to rows of weights.

- What an encoder is: ``base``, with ``indexed_encoder``; which weight row a feature
  has: ``row_index``; what encoders make: ``encoded``; which one a corpus gets:
  ``encoder_choice``; two of them side by side: ``mixed_encoder``. The fields of each in
  files stand at the end of its module; those that several have in ``encoder_fields``.
- Templates over strings: ``templates``, ``presets``, ``tokens`` (columns, ids,
  functions of a token), ``contexts`` (functions of a position: ``accessor`` variety,
  lexicons); ``template_encoder``, with the rows, and their names, in ``template_rows``.
- Ready-made features, dicts and lists: ``bag_encoder``, over ``pairs`` of key and
  value.
- Rows of numbers: ``numeric``, ``rows_encoder``.
- Patterns of CRF++ and Wapiti: ``patterns``, ``byte_matching``, ``pattern_encoder``.
- Transformers of sequences, for scikit-learn's pipelines, over
  ``sequence_transformer``, their base: ``transformer`` with ``target_encoding``,
  ``predictions``, ``vectorizer``, ``window``; ``union``, which puts columns side by
  side (``joining``, ``remembered``).
- Words of raw text: ``word_vectors`` and ``word_clusters``, from ``raw_text`` and
  ``neighbour_counts``.
"""

from typing import TYPE_CHECKING

from .._names import lazy

if TYPE_CHECKING:
    from .._data.inputs import Inputs as Inputs
    from .._data.text import TextToken as TextToken
    from . import patterns as patterns
    from . import presets as presets
    from .predictions import TokenPredictions as TokenPredictions
    from .transformer import TokenTransformer as TokenTransformer
    from .union import SequenceUnion as SequenceUnion
    from .vectorizer import TokenVectorizer as TokenVectorizer
    from .window import Window as Window
    from .word_clusters import WordClusters as WordClusters
    from .word_vectors import WordVectors as WordVectors

# Taggers import modules of this package, and need no transformer.
_NAMES = {
    "Inputs": ".._data.inputs",
    "SequenceUnion": "union",
    "TextToken": ".._data.text",
    "TokenPredictions": "predictions",
    "TokenTransformer": "transformer",
    "TokenVectorizer": "vectorizer",
    "Window": "window",
    "WordClusters": "word_clusters",
    "WordVectors": "word_vectors",
    "patterns": "patterns",
    "presets": "presets",
}

__all__ = list(_NAMES)
__getattr__, __dir__ = lazy(__name__, _NAMES)
