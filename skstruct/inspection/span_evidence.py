"""What speaks for and against the spans of a corpus, by models that did not see them.

A span is described by what a model says that was not trained on its text, and by how
much that model has seen of its words: of a name that is nowhere else, a model is as
sure and wrong as it is sure and right of a word that it has met a hundred times.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._data.spans import Span
from .type_votes import ODDS, TypeEvidence, TypeVotes

LEAST = 1e-3
"""Probability of the spans that a model is asked for."""

CANDIDATE = 0.02
"""Probability from which on a span may be one that is missing."""

SURE = 1e-5
"""Smallest probability that a feature tells from 0."""


class Judged(NamedTuple):
    """What a model says of a text that it was not trained on."""

    fold: int
    text: str
    spans: list[Span]  # that are given
    types: Any  # that are annotated, a frozenset; None: all
    tokens: list[tuple[int, int]]  # (start, end)
    inside: NDArray[np.float64]  # that a token is in a span, (n_tokens,)
    found: list[tuple[Span, float]]  # spans of at least the probability `LEAST`

    def holds(self, span: Span) -> bool:
        """Tell whether a span has a label, and is whole tokens."""
        tokens = self.tokens
        first = bisect_left(tokens, span.start, key=lambda token: token[0])
        last = bisect_left(tokens, span.end, key=lambda token: token[1])
        return (
            span.label is not None
            and first <= last < len(tokens)
            and tokens[first][0] == span.start
            and tokens[last][1] == span.end
        )


class Place(NamedTuple):
    """A span of a text."""

    text: int
    span: Span


GIVEN = (
    "given",
    "other type",
    "other boundary",
    "most inside",
    "least inside",
    "unseen",
    "least seen",
    "most seen",
    "upper case",
    "seen as nothing",
    "tokens",
    "unseen, given",
    "unseen, type",
    "unseen, inside",
    "usual confusion",
    *ODDS,
)
"""What describes a span that is given."""

MISSING = (
    "found",
    "most inside",
    "least inside",
    "unseen",
    "least seen",
    "seen as suggested",
    "seen as another",
    "seen as nothing",
    "tokens",
    "unseen, found",
    "upper case",
)
"""What describes a span that may be missing."""


class Evidence:
    """The spans of a corpus, and what models of its folds say of them.

    Parameters
    ----------
    judged : list of Judged

    Attributes
    ----------
    given : list of lists of Span
        Those that count: they have labels, and are whole tokens.
    """

    def __init__(self, judged: list[Judged]) -> None:
        self.judged = judged
        self.given = [list(filter(each.holds, each.spans)) for each in judged]
        self.labels = sorted({str(span.label) for row in self.given for span in row})
        self._found = [self._by_token(i) for i in range(len(judged))]
        self._longest = max(
            (len(self.inside(i, span)) for i, span in self.places()), default=1
        )
        words: Any = [Counter(), defaultdict(Counter)]
        strings: Any = [Counter(), defaultdict(Counter)]
        named: Any = [Counter(), defaultdict(Counter)]
        for i, each in enumerate(judged):
            rows = [
                (words, (self._word(i, t) for t in range(len(each.tokens)))),
                (strings, self._strings(i)),
                (
                    named,
                    ((self.text_of(i, span), span.label) for span in self.given[i]),
                ),
            ]
            for (every, by_fold), items in rows:
                here = Counter(items)
                every.update(here)
                by_fold[each.fold].update(here)
        self._words = words
        self._occurrences = strings
        self._named = named
        self._votes = TypeVotes(
            self.labels,
            ((self.text_of(i, span), span.label) for i, span in self.places()),
        )
        self._own: list[Any] = [defaultdict(list) for _ in judged]
        for i, span in self.places():
            self._own[i][span[:2]].append(span.label)
        self._confused = self._confusions()

    def places(self) -> Iterator[Place]:
        """Yield the spans that are given."""
        for i, row in enumerate(self.given):
            for span in row:
                yield Place(i, span)

    def text_of(self, i: int, span: Span) -> str:
        """Return what a span covers."""
        return self.judged[i].text[span.start : span.end]

    def _word(self, i: int, t: int) -> str:
        start, end = self.judged[i].tokens[t]
        return self.judged[i].text[start:end]

    def _strings(self, i: int) -> Iterator[str]:
        """Yield all runs of tokens that are as long as spans may be, at most four."""
        tokens = self.judged[i].tokens
        for a, (start, _) in enumerate(tokens):
            for _, end in tokens[a : a + min(self._longest, 4)]:
                yield self.judged[i].text[start:end]

    def inside(self, i: int, span: Span) -> range:
        """Return the tokens of a span."""
        tokens = self.judged[i].tokens
        first = bisect_right(tokens, span.start, key=lambda token: token[1])
        return range(first, bisect_left(tokens, span.end, key=lambda token: token[0]))

    def _by_token(self, i: int) -> dict[int, list[tuple[float, Span]]]:
        """List the spans found that a token is in."""
        found = defaultdict(list)
        for span, p in self.judged[i].found:
            for t in self.inside(i, span):
                found[t].append((p, span))
        return found

    def _met(self, i: int, span: Span) -> list[tuple[float, Span]]:
        """List the spans found that share a token with a span, some several times."""
        of_token = self._found[i]
        return [each for t in self.inside(i, span) for each in of_token.get(t, ())]

    def _elsewhere(self, counts: Any, key: Any, i: int) -> int:
        """Count something in the texts that the judge of a text has seen."""
        every, by_fold = counts
        return int(every[key] - by_fold[self.judged[i].fold][key])

    def _confusions(self) -> dict[tuple[Any, Any], float]:
        """Find how often one type is taken for another: smoothed log-shares."""
        taken: Counter[tuple[Any, Any]] = Counter()
        total: Counter[Any] = Counter()
        for i, span in self.places():
            types = self._types(i, span)
            given = self._votes.numbers[span.label]
            rival = types.rival(given)
            total[span.label] += 1
            if rival is not None:
                label = self._votes.labels[rival]
                taken[span.label, label] += types.all[rival] > types.all[given]
        return {
            (a, b): math.log((taken[a, b] + 0.5) / (total[a] + 2.0))
            for a in self.labels
            for b in self.labels
        }

    def _types(self, i: int, span: Span) -> TypeEvidence:
        """Collect what speaks for each type of a span, but the span itself."""
        model = [0.0] * len(self.labels)
        for p, other in self._met(i, span):
            k = self._votes.numbers.get(other.label)
            if k is not None and other[:2] == span[:2]:
                model[k] = p
        own = self._own[i].get(span[:2], ())
        return self._votes.about(self.text_of(i, span), own, model)

    def rival(self, i: int, span: Span) -> tuple[Any, float]:
        """Return the best other type of a span, and its probability by the model.

        The type follows from the model and from other spans; None if there is none.
        """
        rival = self._types(i, span).rival(self._votes.numbers[span.label])
        if rival is None:
            return None, 0.0
        label = self._votes.labels[rival]
        return label, self.probability(i, span._replace(label=label))

    def probability(self, i: int, span: Span) -> float:
        """Return the probability of a span; 0 if it is less than `LEAST`."""
        return next((p for p, other in self._met(i, span) if other == span), 0.0)

    def crossing(self, i: int, span: Span) -> tuple[Span | None, float]:
        """Return the most probable span with other boundaries that meets a span."""
        met = [(p, other) for p, other in self._met(i, span) if other[:2] != span[:2]]
        p, other = max(met, default=(0.0, None))
        return other, p

    def described(self, i: int, span: Span) -> list[float]:
        """Describe a span as if it were given: numbers in the order of `GIVEN`."""
        inside = self.inside(i, span)
        p_inside = self.judged[i].inside[inside]
        seen = [self._elsewhere(self._words, self._word(i, t), i) for t in inside]
        text = self.text_of(i, span)
        types = self._types(i, span)
        number = self._votes.numbers[span.label]
        rival = types.rival(number)
        label = None if rival is None else self._votes.labels[rival]
        p_type = (
            0.0 if label is None else self.probability(i, span._replace(label=label))
        )
        odds = types.odds(number, rival)
        given = math.log(max(self.probability(i, span), LEAST / 2))
        other = math.log(max(p_type, LEAST / 2))
        most = math.log(max(p_inside.max(initial=0.0), SURE))
        unseen = float(min(seen, default=0) == 0)
        usual = math.log(0.5 / 50.0)
        return [
            given,
            other,
            math.log(max(self.crossing(i, span)[1], LEAST / 2)),
            most,
            math.log(max(p_inside.min(initial=1.0), SURE)),
            unseen,
            math.log1p(min(seen, default=0)),
            math.log1p(max(seen, default=0)),
            float(text[:1].isupper()),
            math.log1p(self._unnamed(i, text)),
            float(len(inside)),
            unseen * given,
            unseen * odds[1],
            unseen * most,
            self._confused.get((span.label, label), usual),
            *odds,
        ]

    def _named_as(self, i: int, text: str) -> int:
        """Count spans of a string, of any type, elsewhere."""
        return sum(
            self._elsewhere(self._named, (text, label), i) for label in self.labels
        )

    def _unnamed(self, i: int, text: str) -> int:
        """Count a string that is no span elsewhere."""
        n = self._elsewhere(self._occurrences, text, i) - self._named_as(i, text)
        return max(n, 0)

    def described_missing(self, i: int, span: Span, p: float) -> list[float]:
        """Describe a span that was found: numbers in the order of `MISSING`."""
        inside = self.inside(i, span)
        p_inside = self.judged[i].inside[inside]
        seen = [self._elsewhere(self._words, self._word(i, t), i) for t in inside]
        text = self.text_of(i, span)
        same = self._elsewhere(self._named, (text, span.label), i)
        unseen = float(min(seen, default=0) == 0)
        return [
            logit(p),
            logit(float(p_inside.max(initial=0.0))),
            logit(float(p_inside.min(initial=1.0))),
            unseen,
            math.log1p(min(seen, default=0)),
            math.log1p(same),
            math.log1p(self._named_as(i, text) - same),
            math.log1p(self._unnamed(i, text)),
            float(len(inside)),
            unseen * logit(p),
            float(text[:1].isupper()),
        ]

    def likeliest(self, i: int) -> list[tuple[Span, float]]:
        """List the spans found that no more probable one meets."""
        chosen: list[tuple[Span, float]] = []
        for span, p in sorted(self.judged[i].found, key=lambda each: -each[1]):
            if p < CANDIDATE:
                break
            if not meets(span, [other for other, _ in chosen]):
                chosen.append((span, p))
        return chosen


def logit(p: float) -> float:
    """Compute the log-odds of a probability, which is kept away from 0 and 1."""
    p = min(max(p, LEAST / 2), 1.0 - LEAST / 2)
    return math.log(p / (1.0 - p))


def meets(span: Span, others: Sequence[Span]) -> bool:
    """Tell whether a span shares a character with one of some others."""
    return any(other.start < span.end and span.start < other.end for other in others)


# --------------------------------------------------------------------------------------
# Errors that are planted
# --------------------------------------------------------------------------------------
def other_types(evidence: Evidence, draw: random.Random) -> Iterator[Place]:
    """Yield each span with another type."""
    for i, span in evidence.places():
        others = [label for label in evidence.labels if label != span.label]
        if others:
            yield Place(i, span._replace(label=draw.choice(others)))


def other_boundaries(evidence: Evidence, draw: random.Random) -> Iterator[Place]:
    """Yield each span with one token more or less at one of its ends, where it can."""
    for i, span in evidence.places():
        tokens = evidence.judged[i].tokens
        inside = evidence.inside(i, span)
        rest = [each for each in evidence.given[i] if each != span]
        ways = []
        if len(inside) > 1:
            ways.append(span._replace(start=tokens[inside[1]][0]))
            ways.append(span._replace(end=tokens[inside[-2]][1]))
        if inside and inside[0] > 0:
            ways.append(span._replace(start=tokens[inside[0] - 1][0]))
        if inside and inside[-1] + 1 < len(tokens):
            ways.append(span._replace(end=tokens[inside[-1] + 1][1]))
        ways = [way for way in ways if not meets(way, rest)]
        if ways:
            yield Place(i, draw.choice(ways))


def superfluous(evidence: Evidence, draw: random.Random) -> Iterator[Place]:
    """Yield spans where there are none: of words, one in three of upper case."""
    free = []
    lengths = []
    for i, each in enumerate(evidence.judged):
        inside = [evidence.inside(i, span) for span in evidence.given[i]]
        lengths += list(map(len, inside))
        taken = set(chain.from_iterable(inside))
        free += [
            (i, t)
            for t, (start, end) in enumerate(each.tokens)
            if t not in taken and any(map(str.isalpha, each.text[start:end]))
        ]
    upper = [
        (i, t)
        for i, t in free
        if evidence.judged[i].text[evidence.judged[i].tokens[t][0]].isupper()
    ]
    alone = set(free)
    for k in range(len(lengths) if free else 0):
        i, t = draw.choice(upper if upper and k % 3 == 0 else free)
        length = 1 if k % 2 else min(draw.choice(lengths), 3)
        last = t
        while last + 1 < t + length and (i, last + 1) in alone:
            last += 1
        tokens = evidence.judged[i].tokens
        label = draw.choice(evidence.labels)
        yield Place(i, Span(tokens[t][0], tokens[last][1], label))
