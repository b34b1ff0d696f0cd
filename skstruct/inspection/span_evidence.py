"""Evidence for and against the spans of a corpus, by models that did not see them.

A span is described by the probabilities that a model gives it and its rivals which was
not trained on its text, and by what the rest of the corpus says of its string: how
often it is annotated in the same way, with another type, and not at all. How often the
model has met its words says what these probabilities are worth: of a name that is
nowhere else, a model is as sure and wrong as it is sure and right of a word that it has
met a hundred times.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._data.spans import Span
from .type_votes import TypeVotes, rival_of

LEAST = 1e-3
"""Probability of the spans that a model is asked for."""

CANDIDATE = 0.02
"""Probability from which on a span may be one that is missing."""

LONGEST = 5
"""Tokens of the longest strings that are counted where they are not annotated."""


OFTEN = 3
"""Mentions elsewhere from which on a string that is annotated may be wrong, or missing,
systematically.
"""

MARKED = 0.3
"""Share of the mentions of a string that are annotated, from which on the others may be
missing.
"""


class Judged(NamedTuple):
    """The predictions of a model for a text that it was not trained on."""

    fold: int
    text: str
    spans: list[Span]  # that are given
    types: Any  # that are annotated, a frozenset; None: all
    tokens: list[tuple[int, int]]  # (start, end)
    inside: NDArray[np.float64]  # that a token is in a span, (n_tokens,)
    found: list[tuple[Span, float]]  # spans of at least the probability `LEAST`


class Place(NamedTuple):
    """A span of a text."""

    text: int
    span: Span


class Rivals(NamedTuple):
    """The probabilities that a model gives to a span, and to spans in its place.

    Attributes
    ----------
    given : float
        The probability of the span.
    types : dict
        Of each type at exactly this place, the given one too.
    crossing : (float, Span) or None
        The most probable span with other ends that meets it, and its probability.
    """

    given: float
    types: dict[Any, float]
    crossing: tuple[float, Span] | None


class Group(NamedTuple):
    """Spans with one type and something in common: how many, and how many the models
    reject.
    """

    spans: int = 0
    rejected: int = 0

    def more(self, spans: int, rejected: int) -> Group:
        """Return the group with some more spans."""
        return Group(self.spans + spans, self.rejected + rejected)

    def log_odds(self, usual: float) -> float:
        """Compute the log-odds of a rejection, as if there were one span more of which
        a usual share is rejected.
        """
        p = (self.rejected + usual) / (self.spans + 1.0)
        return math.log((p + 0.01) / (1.01 - p))


USUALLY_REJECTED = 0.05
"""Share of the spans that models reject, as far as nothing is known of a group."""


class Facts(NamedTuple):
    """The evidence about a span that is given, or might be.

    Attributes
    ----------
    given, other_type, other_boundary, nothing : float
        Probabilities by the model: of the span; of the best one with another type at
        its place; of the best one that meets it and has other ends; of no span there.
    least_inside : float
        The least probability that a token of it is in a span.
    type_odds : float
        Log-odds of the best other type against the given one, by `TypeVotes`.
    confused : float
        Share of the spans of the given type of which that other type is more probable.
    seen : int
        How often the judge has seen the rarest of its words.
    same, differently, unmarked : int
        How often its string is elsewhere annotated with its type, annotated with
        another, and not annotated.
    tokens : int
    upper : bool
        Whether it begins with an upper-case letter.
    cuts : bool
        Whether it begins or ends within a token.
    rejected_string, rejected_shape : Group
        The other spans with its type that have its string, or its shape.
    """

    given: float
    other_type: float
    other_boundary: float
    nothing: float
    least_inside: float
    type_odds: float
    confused: float
    seen: int
    same: int
    differently: int
    unmarked: int
    tokens: int
    upper: bool
    cuts: bool
    rejected_string: Group
    rejected_shape: Group

    def among(self, share: float) -> Facts:
        """Return what would be known if a share of all such spans were given like this.

        The model has then learned to give the span about that probability.
        """
        rest = 1.0 - share
        return self._replace(
            given=share + rest * self.given,
            other_type=rest * self.other_type,
            other_boundary=rest * self.other_boundary,
            nothing=rest * self.nothing,
        )


FEATURES = (
    "given",
    "other type",
    "other boundary",
    "nothing",
    "least inside",
    "type odds",
    "confused",
    "seen",
    "same",
    "differently",
    "unmarked",
    "tokens",
    "upper case",
    "cuts a token",
    "string rejected",
    "shape rejected",
    "unseen",
    "unseen, given",
    "unseen, nothing",
    "unseen, type odds",
)
"""The numbers that describe a span for a regression."""


def features_of(facts: Facts) -> list[float]:
    """Return numbers in the order of `FEATURES`: logarithms of probabilities and of
    counts, and some of them again for spans with a word that the model has not seen.
    """
    unseen = float(facts.seen == 0)
    given = _log(facts.given)
    nothing = _log(facts.nothing)
    return [
        given,
        _log(facts.other_type),
        _log(facts.other_boundary),
        nothing,
        _log(facts.least_inside),
        facts.type_odds,
        math.log(facts.confused),
        math.log1p(facts.seen),
        math.log1p(facts.same),
        math.log1p(facts.differently),
        math.log1p(facts.unmarked),
        float(facts.tokens),
        float(facts.upper),
        float(facts.cuts),
        facts.rejected_string.log_odds(USUALLY_REJECTED),
        facts.rejected_shape.log_odds(USUALLY_REJECTED),
        unseen,
        unseen * given,
        unseen * nothing,
        unseen * facts.type_odds,
    ]


MISSING = (
    "found",
    "inside",
    "unseen",
    "seen",
    "same",
    "differently",
    "unmarked",
    "unseen, found",
)
"""The numbers that describe a span which may be missing."""


def missing_features_of(facts: Facts) -> list[float]:
    """Return numbers in the order of `MISSING`."""
    unseen = float(facts.seen == 0)
    found = logit(facts.given)
    return [
        found,
        logit(1.0 - facts.nothing),
        unseen,
        math.log1p(facts.seen),
        math.log1p(facts.same),
        math.log1p(facts.differently),
        math.log1p(facts.unmarked),
        unseen * found,
    ]


class Evidence:
    """The spans of a corpus, and what models of its folds say of them.

    Parameters
    ----------
    judged : list of Judged

    Attributes
    ----------
    given : list of lists of Span
        Those that count: they have labels.
    labels : list of str
    """

    def __init__(self, judged: list[Judged]) -> None:
        self.judged = judged
        self.given = [
            [span for span in each.spans if span.label is not None] for each in judged
        ]
        named: set[Any] = {span.label for row in self.given for span in row}
        named.update(span.label for each in judged for span, _ in each.found)
        self.labels = sorted(named)
        self._starts = [[start for start, _ in each.tokens] for each in judged]
        self._ends = [[end for _, end in each.tokens] for each in judged]
        self._inside: list[list[float]] = [each.inside.tolist() for each in judged]
        strings = [(self.text_of(*place), place.span.label) for place in self.places()]
        self._named = Counter(strings)
        self._marked = Counter(text for text, _ in strings)
        self._votes = TypeVotes(self.labels, strings)
        self._words: Counter[str] = Counter()
        self._of_fold: dict[int, Counter[str]] = defaultdict(Counter)
        for each in judged:
            here = Counter(each.text[start:end] for start, end in each.tokens)
            self._words.update(here)
            self._of_fold[each.fold].update(here)
        self._repeated: list[list[Span]] = []
        # what was computed is asked for again, by planted errors among others
        self._rivals_at: dict[Any, Rivals] = {}
        self._shares_at: dict[Any, dict[Any, float]] = {}
        self._rejected: dict[Any, bool] = {}
        self._facts: dict[Any, Facts] = {}
        self._occurrences = self._count_occurrences()
        self._confused = self._confusions()
        self._groups = self._rejections()

    def _count_occurrences(self) -> Counter[str]:
        """Count words, and strings of spans that are given or found, wherever they are."""
        asked = set(self._marked)
        longest = 1
        for i, span in self.places():
            longest = max(longest, len(self.tokens_of(i, span)))
        for each in self.judged:
            asked.update(
                each.text[span.start : span.end]
                for span, p in each.found
                if p >= CANDIDATE
            )
        longest = min(longest, LONGEST)
        found = Counter(self._words)
        usual = {
            text: label for (text, label), _ in reversed(self._named.most_common())
        }
        for each in self.judged:
            repeated = []
            for t, (start, _) in enumerate(each.tokens):
                for k, (_, end) in enumerate(each.tokens[t:][:longest]):
                    text = each.text[start:end]
                    if text not in asked:
                        continue
                    if k > 0:
                        found[text] += 1
                    if self._marked[text] > OFTEN:
                        repeated.append(Span(start, end, usual[text]))
            repeated.sort(key=lambda span: span.start - span.end)
            self._repeated.append(repeated)
        return found

    def _rejections(self) -> dict[Any, Group]:
        """Count the spans of each type with one string, and with one shape."""
        found: dict[Any, Group] = defaultdict(Group)
        for i, span in self.places():
            rejected = self._is_rejected(i, span)
            for key in self._keys(i, span):
                found[key] = found[key].more(1, rejected)
        return found

    def _keys(self, i: int, span: Span) -> tuple[Any, Any]:
        """Return the names of the groups of a span."""
        text = self.text_of(i, span)
        return (span.label, text), (span.label, "shape", shape_of(text))

    def _is_rejected(self, i: int, span: Span) -> bool:
        """Tell whether a model thinks something else more probable than a span."""
        if (i, span) not in self._rejected:
            self._rejected[i, span] = self._judge(i, span)
        return self._rejected[i, span]

    def _judge(self, i: int, span: Span) -> bool:
        given, types, crossing = self.rivals(i, span)
        inside = self.tokens_of(i, span)
        p = max(self._inside[i][inside.start : inside.stop], default=0.0)
        other = 0.0 if crossing is None else crossing[0]
        return given < max(1.0 - p, other, *types.values(), 0.0)

    def _elsewhere(self, key: Any, i: int, span: Span) -> Group:
        """Return a group without a span itself."""
        group = self._groups.get(key, Group())
        if span in self.given[i]:
            return group.more(-1, -self._is_rejected(i, span))
        return group

    def _confusions(self) -> dict[tuple[Any, Any], float]:
        """Compute the share of the spans of a type of which another one is more probable,
        smoothed as if there had been one such span.
        """
        taken: Counter[tuple[Any, Any]] = Counter()
        total: Counter[Any] = Counter()
        for place in self.places():
            label = place.span.label
            total[label] += 1
            rival, odds = self.rival_type(*place)
            taken[label, rival] += odds > 0.0
        return {
            (a, b): (taken[a, b] + 0.5) / (total[b] + 1.0)
            for a in self.labels
            for b in self.labels
        }

    def places(self) -> Iterator[Place]:
        """Yield the spans that are given."""
        for i, row in enumerate(self.given):
            for span in row:
                yield Place(i, span)

    def text_of(self, i: int, span: Span) -> str:
        """Return what a span covers."""
        return self.judged[i].text[span.start : span.end]

    def tokens_of(self, i: int, span: Span) -> range:
        """Return the numbers of the tokens of a span, also those that it covers in part."""
        first = bisect_right(self._ends[i], span.start)
        return range(first, bisect_left(self._starts[i], span.end))

    def candidates(self, i: int) -> list[tuple[Span, float]]:
        """List the spans that may be missing, with their probabilities: those of
        `likeliest`, and strings that are often annotated.
        """
        chosen = self.likeliest(i)
        spans = [span for span, _ in chosen]
        for span in self._repeated[i]:
            text = self.text_of(i, span)
            marked = self._marked[text]
            often = marked > OFTEN and marked >= MARKED * self._occurrences[text]
            if often and not meets(span, spans):
                spans.append(span)
                chosen.append((span, self.rivals(i, span).given))
        return chosen

    def likeliest(self, i: int) -> list[tuple[Span, float]]:
        """List the spans found that no more probable one meets."""
        chosen: list[tuple[Span, float]] = []
        for span, p in sorted(self.judged[i].found, key=lambda each: -each[1]):
            if p < CANDIDATE:
                break
            if not meets(span, [other for other, _ in chosen]):
                chosen.append((span, p))
        return chosen

    def rivals(self, i: int, span: Span) -> Rivals:
        """Collect what the model says of the place of a span."""
        place = i, span.start, span.end
        found = self._rivals_at.get(place)
        if found is None:
            found = self._rivals_at[place] = self._collect_rivals(i, span)
        return found._replace(given=found.types.get(span.label, 0.0))

    def _collect_rivals(self, i: int, span: Span) -> Rivals:
        types: dict[Any, float] = {}
        crossing: tuple[float, Span] | None = None
        for other, p in self.judged[i].found:
            if other[0] < span[1] and span[0] < other[1]:
                if other[:2] == span[:2]:
                    types[other[2]] = p
                elif crossing is None or p > crossing[0]:
                    crossing = p, other
        return Rivals(0.0, types, crossing)

    def _shares(self, i: int, span: Span) -> dict[Any, float]:
        """Return how probable each type is of the place of a span."""
        place = i, span.start, span.end
        if place not in self._shares_at:
            types = self.rivals(i, span).types
            own = [other.label for other in self.given[i] if other[:2] == span[:2]]
            self._shares_at[place] = self._votes.shares(
                self.text_of(i, span), own, types
            )
        return self._shares_at[place]

    def rival_type(self, i: int, span: Span) -> tuple[Any, float]:
        """Return the best other type of a span, and its log-odds against the given one;
        None and 0 if there is no other.
        """
        return rival_of(span.label, self._shares(i, span))

    def facts(self, i: int, span: Span) -> Facts:
        """Collect what is known of a span, as if it were given."""
        found = self._facts.get((i, span))
        if found is None:
            found = self._facts[i, span] = self._collect_facts(i, span)
        return found

    def _collect_facts(self, i: int, span: Span) -> Facts:
        each = self.judged[i]
        inside = self.tokens_of(i, span)
        given, types, crossing = self.rivals(i, span)
        of_tokens = self._inside[i][inside.start : inside.stop]
        text = self.text_of(i, span)
        own = [other.label for other in self.given[i] if other[:2] == span[:2]]
        same = self._named[text, span.label] - own.count(span.label)
        differently = self._marked[text] - len(own) - same
        unmarked = self._occurrences[text] - self._marked[text] - (not own)
        fold = self._of_fold[each.fold]
        words = [
            each.text[start:end]
            for start, end in each.tokens[inside.start : inside.stop]
        ]
        string, shape = self._keys(i, span)
        rival, odds = rival_of(span.label, self._shares(i, span))
        return Facts(
            given=given,
            other_type=max(
                (p for label, p in types.items() if label != span.label), default=0.0
            ),
            other_boundary=0.0 if crossing is None else crossing[0],
            nothing=max(0.0, 1.0 - max(of_tokens, default=0.0)),
            least_inside=min(of_tokens, default=1.0),
            type_odds=odds,
            confused=self._confused.get((span.label, rival), 1.0),
            seen=min((self._words[word] - fold[word] for word in words), default=0),
            same=same,
            differently=differently,
            unmarked=max(unmarked, 0),
            tokens=len(inside),
            upper=text[:1].isupper(),
            cuts=not self.is_whole(i, span),
            rejected_string=self._elsewhere(string, i, span),
            rejected_shape=self._elsewhere(shape, i, span),
        )

    def is_whole(self, i: int, span: Span) -> bool:
        """Tell whether a span begins and ends where tokens do."""
        inside = self.tokens_of(i, span)
        return (
            len(inside) > 0
            and self._starts[i][inside[0]] == span.start
            and self._ends[i][inside[-1]] == span.end
        )


def _log(p: float) -> float:
    """Compute the logarithm of a probability, which is kept away from 0."""
    return math.log(max(p, LEAST / 2))


def logit(p: float) -> float:
    """Compute the log-odds of a probability, which is kept away from 0 and 1."""
    p = min(max(p, LEAST / 2), 1.0 - LEAST / 2)
    return math.log(p / (1.0 - p))


def meets(span: Span, others: Sequence[Span]) -> bool:
    """Tell whether a span shares a character with one of some others."""
    return any(other[0] < span[1] and span[0] < other[1] for other in others)


_DIGITS = re.compile(r"\d+")
_LETTERS = re.compile(r"[^\W\d_]+")


@lru_cache(maxsize=2**16)
def shape_of(word: str) -> str:
    """Write runs of digits as 9, and runs of letters as a, A or Aa.

    Examples
    --------
    >>> shape_of("INV-2024"), shape_of("Rome"), shape_of("1,200.50")
    ('A-9', 'Aa', '9,9.9')
    """
    return _LETTERS.sub(_letters, _DIGITS.sub("9", word))


def _letters(run: re.Match[str]) -> str:
    text = run[0]
    if not text[0].isupper():
        return "a"
    return "A" if len(text) > 1 and text.isupper() else "Aa"
