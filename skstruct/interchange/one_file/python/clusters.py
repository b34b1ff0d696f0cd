"""Clusters of words, which the model carries."""

from .reading import PARTS


def cluster_function(header):
    """The cluster of a word, or else of its lower-cased form."""
    of = {word: label for label, words in header["clusters"].items() for word in words}
    lower = PARTS["characters"]("lower", header["unicode"])

    def label(s):
        return of.get(s) or of.get(lower(s), "_")

    def shown(s):
        """The cluster and its first words, as `explain` names it."""
        found = label(s)
        words = ", ".join(header["clusters"].get(found, [])[:3])
        return f"{found} ({words}, ...)" if words else found

    label.shown = shown
    return label


PARTS["clusters"] = cluster_function
