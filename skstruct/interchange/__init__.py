"""Models of other tools, in and out."""

from .crfsuite import load_crfsuite
from .crfsuite_writing import save_crfsuite

__all__ = ["load_crfsuite", "save_crfsuite"]
