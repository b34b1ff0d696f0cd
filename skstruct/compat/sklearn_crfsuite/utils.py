"""The names of ``sklearn_crfsuite.utils``."""

from itertools import chain


def flatten(y):
    """A list of lists as one list."""
    return list(chain.from_iterable(y))
