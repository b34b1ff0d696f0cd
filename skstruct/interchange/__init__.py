"""Models of other tools, in and out."""

from .crfsuite import load_crfsuite

__all__ = ["load_crfsuite"]
