"""The votes of a corpus's spans on the type of one of them.

Of a string that is annotated elsewhere, other annotations are better evidence than a
model, which weighs it among much else; of a string that is not, its first and last word
are. Models and annotations are joined by back-off smoothing: where there are few votes,
what is more general counts.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

Numbers = list[float]
"""A number for each label."""

PSEUDO_VOTES_OF_STRING = 0.25
PSEUDO_VOTES_OF_ENDS = 1.0
"""The weight of more general evidence, in votes of a string or of its first and last
words.
"""

UNSURE = 1e-2
"""The number added to each probability of a model, since models are overconfident."""

_WORDS = re.compile(r"\w+")


class TypeVotes:
    """Votes of annotated spans about types.

    Parameters
    ----------
    labels : list of str
    spans : iterable of (str, str)
        Texts of spans, and their labels.
    """

    def __init__(self, labels: Sequence[Any], spans: Iterable[tuple[str, Any]]) -> None:
        self.labels = list(labels)
        self.numbers = {label: k for k, label in enumerate(labels)}
        n = len(labels)
        self._votes: dict[Any, Numbers] = defaultdict(lambda: [0.0] * n)
        for text, label in spans:
            for key in _keys(text):
                self._votes[key][self.numbers[label]] += 1.0

    def shares(self, text: str, own: Sequence[Any], model: Mapping[Any, float]) -> Any:
        """Return how probable each type is, as a dict.

        Parameters
        ----------
        text : str
            What the span covers.
        own : list of str
            Labels with which it voted itself; these votes do not count.
        model : dict
            Its probability with each label, by a model that has not seen it.
        """
        n = len(self.labels)
        votes = {"string": [0.0] * n, "ends": [0.0] * n}
        mine = [self.numbers[label] for label in own]
        for key in _keys(text):
            counts = votes[key[0]]
            for k, each in enumerate(self._votes.get(key, ())):
                counts[k] += each
            for k in mine:
                counts[k] -= 1.0
        by_model = [model.get(label, 0.0) + UNSURE for label in self.labels]
        total = sum(by_model)
        by_model = [p / total for p in by_model]
        by_ends = _backed_off(votes["ends"], by_model, PSEUDO_VOTES_OF_ENDS)
        both = _backed_off(votes["string"], by_ends, PSEUDO_VOTES_OF_STRING)
        return dict(zip(self.labels, both))


def rival_of(label: Any, shares: Mapping[Any, float]) -> tuple[Any, float]:
    """Return the most probable other type, and its log-odds against a label.

    They are None and 0 if there is no other type.
    """
    others = [each for each in shares if each != label]
    if not others:
        return None, 0.0
    rival = max(others, key=shares.__getitem__)
    return rival, math.log(shares[rival] / shares[label])


@lru_cache(maxsize=2**16)
def _keys(text: str) -> tuple[tuple[str, str, str], ...]:
    """Return what a span votes about: its string, its first and its last word."""
    words = _WORDS.findall(text.casefold()) or [text]
    string = "string", "", " ".join(words)
    if len(words) == 1:
        return string, ("ends", "alone", words[0])
    return string, ("ends", "first", words[0]), ("ends", "last", words[-1])


def _backed_off(votes: Numbers, general: Numbers, weight: float) -> Numbers:
    """Compute shares of votes, to which what is more general adds some."""
    total = sum(votes) + weight
    return [(n + weight * p) / total for n, p in zip(votes, general)]
