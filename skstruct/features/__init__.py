"""From tokens to weight rows: templates, encoders and their names."""

from .predictions import TokenPredictions as TokenPredictions
from .sequence_union import SequenceUnion as SequenceUnion
from .transformer import TokenTransformer as TokenTransformer
from .vectorizer import TokenVectorizer as TokenVectorizer
from .window import Window as Window
from .word_vectors import WordVectors as WordVectors

__all__ = [
    "SequenceUnion",
    "TokenPredictions",
    "TokenTransformer",
    "TokenVectorizer",
    "Window",
    "WordVectors",
]
