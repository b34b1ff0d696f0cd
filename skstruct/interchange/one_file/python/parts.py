"""All parts that a model may need; a written file has some of them."""

from . import chain, characters, contexts, names, pairs, patterns, spans, sums, templates, words  # noqa: F401
from .calls import open_model  # noqa: F401
from .reading import PARTS  # noqa: F401
