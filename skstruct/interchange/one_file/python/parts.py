"""All parts that a model may need; a written file has some of them."""

from . import chain, characters, contexts, names, pairs, patterns, sums, templates  # noqa: F401
