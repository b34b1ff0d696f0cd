"""Models of other tools, in and out: CRFsuite, CRF++ and Wapiti; and models as one file
that runs by itself.

``load_*`` give fitted :class:`skstruct.L1CRF` estimators, ``save_*`` write any chain
tagger that the format has a place for. Files come from outside: whatever is wrong with
one is a ``ModelFileError`` that names the place.
"""

from .._one_file.writing import export
from .crfpp import load_crfpp, save_crfpp
from .crfsuite import load_crfsuite, save_crfsuite
from .wapiti import load_wapiti, save_wapiti

__all__ = [
    "export", "load_crfpp", "load_crfsuite", "load_wapiti", "save_crfpp", "save_crfsuite", "save_wapiti",
]  # fmt: skip


def __dir__() -> list[str]:
    """Return what completion offers: public names, and no modules of builders."""
    return sorted(__all__)
