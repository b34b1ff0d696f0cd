"""Clusters of words, which the model carries."""

from .reading import PARTS


def cluster_function(header):
    """The cluster of a word, or else of its lower-cased form."""
    of = {word: label for label, words in header["clusters"].items() for word in words}
    lower = PARTS["characters"]("lower", header["unicode"])

    return lambda s: of.get(s) or of.get(lower(s), "_")


PARTS["clusters"] = cluster_function
