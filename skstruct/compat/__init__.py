"""The names of ``python-crfsuite`` and ``sklearn-crfsuite``, for programs that were
written for them.

``from skstruct.compat import pycrfsuite, sklearn_crfsuite`` stands in place of the two
imports. Model files and their meaning are those of CRFsuite; training and prediction
are ours.
"""

import sys
from importlib import import_module

MODULES = (
    "pycrfsuite",
    "pycrfsuite._dumpparser",
    "pycrfsuite._logparser",
    "pycrfsuite._pycrfsuite",
    "sklearn_crfsuite",
    "sklearn_crfsuite._fileresource",
    "sklearn_crfsuite.compat",
    "sklearn_crfsuite.estimator",
    "sklearn_crfsuite.metrics",
    "sklearn_crfsuite.scorers",
    "sklearn_crfsuite.trainer",
    "sklearn_crfsuite.utils",
)
"""Modules of the originals; those below this package have the same names."""


def install() -> None:
    """Answer ``import pycrfsuite`` and ``import sklearn_crfsuite`` with the modules of
    this package.

    For programs that cannot be changed; to be called before they are imported. Pickles
    that ``sklearn-crfsuite`` has written are then read by ``pickle.load`` too.

    Raises
    ------
    ImportError
        If one of the originals has been imported already.
    """
    ours = {name: import_module(f"{__name__}.{name}") for name in MODULES}
    for name, module in ours.items():
        if sys.modules.get(name, module) is not module:
            raise ImportError(
                f"{name} has been imported already: "
                "call skstruct.compat.install() before"
            )
    sys.modules.update(ours)
