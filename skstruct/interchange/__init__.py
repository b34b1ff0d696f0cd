"""Models of other tools, in and out."""

from .crfpp import load_crfpp
from .crfpp_writing import save_crfpp
from .crfsuite import load_crfsuite
from .crfsuite_writing import save_crfsuite
from .wapiti import load_wapiti
from .wapiti_writing import save_wapiti

__all__ = ["load_crfpp", "load_crfsuite", "load_wapiti", "save_crfpp", "save_crfsuite", "save_wapiti"]
