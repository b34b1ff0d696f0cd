"""From tokens to weight rows: templates, encoders and their names."""

from .vectorizer import TokenVectorizer as TokenVectorizer

__all__ = ["TokenVectorizer"]
