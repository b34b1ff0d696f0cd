"""What the spans of a corpus say about the type of one of them.

Of a string that is annotated elsewhere, other annotations are better evidence than a
model, which weighs it among much else; of a string that is not, its first and last word
are. Models and annotations are joined as a back-off: where there are no votes, what is
more general counts.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

Numbers = list[float]
"""A number for each label."""

STRING = 0.25
ENDS = 1.0
"""How many votes of a string, or of first and last words, what is more general is
worth.
"""

SMALL = 1e-3
LOOSE = 1e-2
"""What is added to each probability of a model, which is surer than it is right."""

LONG = 4
"""Letters from which on words vote, wherever they stand in a span."""

_WORDS = re.compile(r"\w+")

ODDS = (
    "type",
    "type by model",
    "type by model, smoothed",
    "type by ends",
    "type by words",
    "type by string",
    "votes as given",
    "votes as suggested",
    "votes of string",
    "votes of ends",
    "usual as given",
    "usual as suggested",
)
"""What :meth:`TypeEvidence.odds` says: log-odds of the suggested against the given type,
and how much there is to say so.
"""


class TypeEvidence(NamedTuple):
    """What speaks for each type of a span."""

    all: Numbers  # log-probabilities, of a model and of votes
    model: Numbers
    smoothed: Numbers
    by_ends: Numbers
    by_words: Numbers
    by_string: Numbers
    string: Numbers  # votes
    ends: Numbers
    usual: Numbers

    def rival(self, given: int | None) -> int | None:
        """Return the number of the best label that is not given; None if all are."""
        others = [k for k in range(len(self.all)) if k != given]
        return max(others, key=self.all.__getitem__, default=None)

    def odds(self, given: int, rival: int | None) -> list[float]:
        """Compare two labels: numbers in the order of `ODDS`."""
        if rival is None:
            return [0.0] * len(ODDS)
        logs = self[:6]
        return [
            *(each[rival] - each[given] for each in logs),
            math.log1p(self.string[given]),
            math.log1p(self.string[rival]),
            math.log1p(sum(self.string)),
            math.log1p(sum(self.ends)),
            self.usual[given],
            self.usual[rival],
        ]


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
        total = [0.5] * n
        for text, label in spans:
            k = self.numbers[label]
            total[k] += 1.0
            for key in _keys(text):
                self._votes[key][k] += 1.0
        self.usual = [each / sum(total) for each in total]

    def about(self, text: str, own: Sequence[Any], model: Numbers) -> TypeEvidence:
        """Collect what speaks for each type of a span.

        Parameters
        ----------
        text : str
            What it covers.
        own : list of str
            Labels with which it voted itself; these votes do not count.
        model : list of float
            Its probability with each label, by a model that has not seen it.
        """
        votes = {"string": self._none(), "ends": self._none(), "words": self._none()}
        mine = [self.numbers[label] for label in own]
        for key in _keys(text):
            counts = votes[key[0]]
            for k, each in enumerate(self._votes.get(key, ())):
                counts[k] += each
            for k in mine:
                counts[k] -= 1.0
        string, ends, words = votes.values()
        small = _shares([p + SMALL for p in model])
        loose = _shares([p + LOOSE for p in model])
        joined = _backed(string, _backed(ends, loose, ENDS), STRING)
        return TypeEvidence(
            all=_logs(joined),
            model=_logs(small),
            smoothed=_logs(loose),
            by_ends=_logs(_backed(ends, self.usual, ENDS)),
            by_words=_logs(_backed(words, self.usual, ENDS)),
            by_string=_logs(_backed(string, self.usual, 2 * STRING)),
            string=string,
            ends=ends,
            usual=_logs(self.usual),
        )

    def _none(self) -> Numbers:
        return [0.0] * len(self.labels)


def _keys(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield what a span votes about: its string, first and last word, long words."""
    words = _WORDS.findall(text.casefold()) or [text]
    yield "string", "", " ".join(words)
    if len(words) == 1:
        yield "ends", "alone", words[0]
    else:
        yield "ends", "first", words[0]
        yield "ends", "last", words[-1]
    for word in words:
        if len(word) >= LONG:
            yield "words", "", word


def _shares(numbers: Numbers) -> Numbers:
    total = sum(numbers)
    return [each / total for each in numbers]


def _logs(numbers: Numbers) -> Numbers:
    return [math.log(each) for each in numbers]


def _backed(votes: Numbers, general: Numbers, weight: float) -> Numbers:
    """Compute shares of votes, to which what is more general adds some."""
    total = sum(votes) + weight
    return [(n + weight * p) / total for n, p in zip(votes, general)]
