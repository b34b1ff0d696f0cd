"""From tokens to weight rows: templates, encoders and their names."""

from .transformer import TokenTransformer as TokenTransformer
from .vectorizer import TokenVectorizer as TokenVectorizer
from .word_vectors import WordVectors as WordVectors

__all__ = ["TokenTransformer", "TokenVectorizer", "WordVectors"]
