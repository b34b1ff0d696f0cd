"""The names of ``python-crfsuite`` 0.9: ``Trainer``, ``Tagger``, ``ItemSequence``.

What trains and what reads models is imported at its first use: programs import this
module in any case.
"""

from ._pycrfsuite import (
    CRFSUITE_VERSION,
    BaseTrainer,
    CRFSuiteError,
    CRFsuiteError,
    ItemSequence,
    Tagger,
    Trainer,
)

__all__ = [
    "CRFSUITE_VERSION",
    "BaseTrainer",
    "CRFSuiteError",
    "CRFsuiteError",
    "ItemSequence",
    "Tagger",
    "Trainer",
]
