"""The parts of a written ``.py`` file: ordinary modules, standard library only, for
Python 3.8 and later.
"""

from . import (
    chain,
    characters,
    clusters,
    contexts,
    names,
    pairs,
    patterns,
    spans,
    sums,
    templates,
    words,
)
from .calls import open_model
from .reading import PARTS
