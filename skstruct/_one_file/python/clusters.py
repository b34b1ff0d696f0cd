"""Clusters of words, which the model carries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unicodedata import normalize

from .reading import PARTS


def cluster_function(header: dict[str, Any]) -> Callable[[str], str]:
    """Return the cluster of a word, or of its lower-cased form, or of its normal form
    C.
    """
    of = {word: label for label, words in header["clusters"].items() for word in words}
    lower = PARTS["characters"]("lower", header["unicode"])

    def label(s: str) -> str:
        found = of.get(s) or of.get(lower(s))
        if found is None:
            normal = normalize("NFC", s)
            found = of.get(normal) or of.get(lower(normal), "_")
        return found

    return label


PARTS["clusters"] = cluster_function
