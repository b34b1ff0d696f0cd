"""Evidence for and against the spans of a corpus, by models that did not see them.

A span is described by the probabilities that a model gives it and its rivals which was
not trained on its text, and by what the rest of the corpus says of its string: how
often it is annotated in the same way, with another type, and not at all. How often the
model has met its words says what these probabilities are worth: of a name that is
nowhere else, a model is as sure and wrong as it is sure and right of a word that it has
met a hundred times.

All is computed for many spans at a time, in columns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .span_columns import (
    Counts,
    Flags,
    Floats,
    Ints,
    Judged,
    Places,
    SpanCorpus,
    by_row,
    spread,
)
from .type_votes import TypeVotes, rivals_of

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

USUALLY_REJECTED = 0.05
"""Share of the spans that models reject, as far as nothing is known of a group."""

MARGIN = 0.01
"""Added to a share and to its rest, so that the log-odds are finite."""

AT_ONCE = 2**13
"""Spans that are described at a time, which bounds memory."""


class Facts(NamedTuple):
    """The evidence about n spans that are given, or might be; each column has the shape
    (n,).

    Attributes
    ----------
    given, other_type, other_boundary, nothing : ndarray
        Probabilities by the model: of the span; of the best one with another type at
        its place; of the best one that meets it and has other ends; of no span there.
    least_inside : ndarray
        The least probability that a token of it is in a span.
    beside : ndarray
        The largest such probability of the tokens before and behind it, as far as these
        are in no other span.
    type_odds : ndarray
        Log-odds of the best other type against the given one, by `TypeVotes`.
    confused : ndarray
        Share of the spans of the given type of which that other type is more probable.
    seen : ndarray
        How often the judge has seen the rarest of its words.
    same, differently, unmarked : ndarray
        How often its string is elsewhere annotated with its type, annotated with
        another, and not annotated.
    tokens : ndarray
    upper : ndarray
        Whether it begins with an upper-case letter.
    cuts : ndarray
        Whether it begins or ends within a token.
    strings, strings_rejected, shapes, shapes_rejected : ndarray
        The other spans with its type that have its string, or its shape, and those of
        them that models reject.
    rival : ndarray
        The number of the best other type; -1 if there is none.
    rival_given : ndarray
        Its probability by the model.
    crossing : ndarray
        The number of the found span with other ends; -1 if there is none.
    """

    given: Floats
    other_type: Floats
    other_boundary: Floats
    nothing: Floats
    least_inside: Floats
    beside: Floats
    type_odds: Floats
    confused: Floats
    seen: Ints
    same: Ints
    differently: Ints
    unmarked: Ints
    tokens: Ints
    upper: Flags
    cuts: Flags
    strings: Ints
    strings_rejected: Ints
    shapes: Ints
    shapes_rejected: Ints
    rival: Ints
    rival_given: Floats
    crossing: Ints

    @property
    def are_rejected(self) -> Flags:
        """Tell of which spans a model thinks something else more probable."""
        others = np.maximum(self.other_type, self.other_boundary)
        return self.given < np.maximum(others, self.nothing)

    def take(self, rows: Any) -> Facts:
        """Return the facts about some of the spans."""
        return Facts(*(column[rows] for column in self))

    def among(self, share: Floats) -> Facts:
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
    "beside",
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


def features_of(facts: Facts) -> Floats:
    """Return numbers in the order of `FEATURES`, (n, n_features): logarithms of
    probabilities and of counts, and some of them again for spans with a word that the
    model has not seen.
    """
    unseen = (facts.seen == 0).astype(np.float64)
    given = log(facts.given)
    nothing = log(facts.nothing)
    return np.column_stack(
        [
            given,
            log(facts.other_type),
            log(facts.other_boundary),
            nothing,
            log(facts.least_inside),
            log(facts.beside),
            facts.type_odds,
            np.log(facts.confused),
            np.log1p(facts.seen),
            np.log1p(facts.same),
            np.log1p(facts.differently),
            np.log1p(facts.unmarked),
            facts.tokens,
            facts.upper,
            facts.cuts,
            rejection_odds(facts.strings, facts.strings_rejected),
            rejection_odds(facts.shapes, facts.shapes_rejected),
            unseen,
            unseen * given,
            unseen * nothing,
            unseen * facts.type_odds,
        ]
    ).astype(np.float64)


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


def missing_features_of(facts: Facts) -> Floats:
    """Return numbers in the order of `MISSING`, (n, n_features)."""
    unseen = (facts.seen == 0).astype(np.float64)
    found = logit(facts.given)
    return np.column_stack(
        [
            found,
            logit(1.0 - facts.nothing),
            unseen,
            np.log1p(facts.seen),
            np.log1p(facts.same),
            np.log1p(facts.differently),
            np.log1p(facts.unmarked),
            unseen * found,
        ]
    )


class About(NamedTuple):
    """What is known of strings; each column has the shape (n,).

    Attributes
    ----------
    string, shape : ndarray
        Their numbers; -1 if no given span has them.
    marked, everywhere : ndarray
        How often a string is annotated, and how often it stands in the corpus.
    upper : ndarray
    voters : ndarray of shape (n, 4)
        As `TypeVotes.voters` returns them.
    """

    string: Ints
    shape: Ints
    marked: Ints
    everywhere: Ints
    upper: Flags
    voters: Ints


class Evidence:
    """The spans of a corpus, and what models of its folds say of them.

    Parameters
    ----------
    judged : list of Judged

    Attributes
    ----------
    corpus : SpanCorpus
    given : Facts
        About the spans that are given.
    strings : list of str
        What these cover.
    words : list of str
        The tokens.
    """

    def __init__(self, judged: Sequence[Judged]) -> None:
        self.corpus = corpus = SpanCorpus(judged)
        self.n_labels = len(corpus.labels)
        given = corpus.given
        self.strings = corpus.strings(given.start, given.end)
        self._votes = TypeVotes(self.n_labels, zip(self.strings, given.label.tolist()))
        self._marked = Counter(self.strings)
        self._numbers = {text: k for k, text in enumerate(self._marked)}
        shapes = dict.fromkeys(map(shape_of, self._marked))
        self._shapes = {shape: k for k, shape in enumerate(shapes)}
        self.words = corpus.strings(corpus.token_start, corpus.token_end)
        self._seen = self._count_words()
        self._everywhere, self._repeated = self._count_occurrences()
        self._known: dict[str, tuple[Any, ...]] = {}
        self._given_at = _Given(corpus.key(given), given.label, self.n_labels)
        self._confused = np.ones((self.n_labels, self.n_labels))
        self._groups: tuple[Counts, ...] = (Counts(np.zeros(0, np.int64)),) * 4
        given_facts = self.facts(given)  # all but what is counted from them
        self._confused = self._confusions(given_facts)
        self._groups = self._rejections(given_facts)
        self.given = self.facts(given)

    def _count_words(self) -> Ints:
        """Count how often the judge of each token has seen its word, (n_tokens,)."""
        corpus = self.corpus
        ids: dict[str, int] = {}
        word = np.array([ids.setdefault(w, len(ids)) for w in self.words], np.int64)
        of_fold = corpus.fold * len(ids) + word
        return np.bincount(word)[word] - Counts(of_fold).of(of_fold)

    def _count_occurrences(self) -> tuple[Counter[str], Ints]:
        """Count words, and strings of spans that are given or found, wherever they are.

        Returns
        -------
        counts : Counter
        repeated : ndarray of shape (n, 4)
            Where strings stand that are often annotated: the first token, begin, end,
            and the number of the string.
        """
        corpus = self.corpus
        found = corpus.found.take(corpus.probability >= CANDIDATE)
        asked = {*self._marked, *corpus.strings(found.start, found.end)}
        first, stop = corpus.tokens_of(corpus.given)
        longest = min(int((stop - first).max(initial=1)), LONGEST)
        counts = Counter(self.words)
        text = corpus.text
        starts, ends = corpus.token_start.tolist(), corpus.token_end.tolist()
        last = np.searchsorted(corpus.token_text, corpus.token_text, "right").tolist()
        often = {text for text, n in self._marked.items() if n > OFTEN}
        repeated = []
        for t, start in enumerate(starts):
            for u in range(t, min(t + longest, last[t])):
                string = text[start : ends[u]]
                if string in asked:
                    counts[string] += u > t
                    if string in often:
                        repeated.append((t, start, ends[u], self._numbers[string]))
        return counts, np.array(repeated, np.int64).reshape(-1, 4)

    def _confusions(self, given: Facts) -> Floats:
        """Compute the share of the spans of a type of which another one is more probable,
        (L, L), smoothed as if there had been one such span.
        """
        labels = self.corpus.given.label
        taken = np.zeros((self.n_labels, self.n_labels))
        is_taken = given.type_odds > 0.0
        np.add.at(taken, (labels[is_taken], given.rival[is_taken]), 1.0)
        total = np.bincount(labels, minlength=self.n_labels)
        return (taken + 0.5) / (total + 1.0)

    def _rejections(self, given: Facts) -> tuple[Counts, ...]:
        """Count the spans of each type with one string, and with one shape, and those
        that models reject.
        """
        about = self._about(self.strings)
        rejected = given.are_rejected
        keys = [each * self.n_labels + self.corpus.given.label for each in about[:2]]
        return tuple(Counts(key, by) for key in keys for by in (None, rejected))

    def facts(self, places: Places) -> Facts:
        """Collect what is known of spans, as if they were given."""
        n = len(places.start)
        parts = [
            self._some_facts(places.take(slice(k, k + AT_ONCE)))
            for k in range(0, max(n, 1), AT_ONCE)
        ]
        return Facts(*map(np.concatenate, zip(*parts)))

    def _some_facts(self, places: Places) -> Facts:
        corpus = self.corpus
        n = len(places.start)
        rows = np.arange(n)
        about = self._about(corpus.strings(places.start, places.end))
        types, other, crossing = self._rivals(places)
        given = types[rows, places.label]
        own = self._given_at.labels(corpus.key(places))
        rival, odds = rivals_of(
            places.label, self._votes.shares(about.voters, own, types)
        )
        types[rows, places.label] = 0.0
        first, stop = corpus.tokens_of(places)
        t, row = spread(first, stop)
        inside = corpus.inside[t]
        mine = own[rows, places.label].astype(np.int64)
        here = own.sum(axis=1).astype(np.int64)
        nothing = 1.0 - by_row(np.maximum, inside, row, n, 0.0)
        groups = self._groups_of(places.label, about)
        same = groups[0] - mine
        facts = Facts(
            given=given,
            other_type=types.max(axis=1, initial=0.0),
            other_boundary=other,
            nothing=np.maximum(nothing, 0.0),
            least_inside=by_row(np.minimum, inside, row, n, 1.0),
            beside=self._beside(places, first, stop),
            type_odds=odds,
            confused=np.where(rival < 0, 1.0, self._confused[places.label, rival]),
            seen=by_row(np.minimum, self._seen[t], row, n, 0),
            same=same,
            differently=about.marked - here - same,
            unmarked=np.maximum(about.everywhere - about.marked - (here == 0), 0),
            tokens=stop - first,
            upper=about.upper,
            cuts=~corpus.are_whole(places, first, stop),
            strings=groups[0],
            strings_rejected=groups[1],
            shapes=groups[2],
            shapes_rejected=groups[3],
            rival=rival,
            rival_given=types[rows, rival],
            crossing=crossing,
        )
        is_given = mine > 0  # what is counted are the others
        rejected = is_given & facts.are_rejected
        return facts._replace(
            strings=facts.strings - is_given,
            strings_rejected=facts.strings_rejected - rejected,
            shapes=facts.shapes - is_given,
            shapes_rejected=facts.shapes_rejected - rejected,
        )

    def _beside(self, places: Places, first: Ints, stop: Ints) -> Floats:
        """Compute the largest probability of the tokens before and behind spans that
        they are in a span, (n,), as far as no other given span has them.
        """
        corpus = self.corpus
        met = corpus.number_met(places.start, places.end)
        found = np.zeros(len(first))
        for t in first - 1, stop:
            row = np.flatnonzero((t >= 0) & (t < len(corpus.token_text)))
            row = row[corpus.token_text[t[row]] == places.text[row]]
            near = t[row]
            start = np.minimum(places.start[row], corpus.token_start[near])
            end = np.maximum(places.end[row], corpus.token_end[near])
            free = corpus.number_met(start, end) == met[row]
            row = row[free]
            found[row] = np.maximum(found[row], corpus.inside[near[free]])
        return found

    def are_given(self, places: Places) -> Flags:
        """Tell which spans are given with their labels."""
        own = self._given_at.labels(self.corpus.key(places))
        return own[np.arange(len(own)), places.label] > 0

    def _groups_of(self, label: Ints, about: About) -> list[Ints]:
        """Return the number of given spans with the strings and shapes of some spans,
        and of those that are rejected.
        """
        keys = [
            np.where(each < 0, -1, each * self.n_labels + label) for each in about[:2]
        ]
        return [
            counts.of(key) for counts, key in zip(self._groups, np.repeat(keys, 2, 0))
        ]

    def _about(self, strings: list[str]) -> About:
        """Look up what is known of strings."""
        known = self._known
        for text in {*strings} - known.keys():
            known[text] = (
                self._numbers.get(text, -1),
                self._shapes.get(shape_of(text), -1),
                self._marked.get(text, 0),
                self._everywhere.get(text, 0),
                text[:1].isupper(),
                *self._votes.voters(text),
            )
        rows = np.array([known[text] for text in strings], np.int64).reshape(-1, 9)
        string, shape, marked, everywhere, upper, *voters = rows.T
        votes = np.stack(voters, axis=1)
        return About(string, shape, marked, everywhere, upper > 0, votes)

    def _rivals(self, places: Places) -> tuple[Floats, Floats, Ints]:
        """Collect what models say of places.

        Returns
        -------
        types : ndarray of shape (n, L)
            The probability of each type at exactly this place.
        other : ndarray of shape (n,)
            That of the best span with other ends which meets it; 0 if there is none.
        crossing : ndarray of shape (n,)
            The number of that span; -1 if there is none.
        """
        corpus = self.corpus
        n = len(places.start)
        k, row = corpus.meeting(places)
        exact = corpus.found.start[k] == places.start[row]
        exact &= corpus.found.end[k] == places.end[row]
        types = np.zeros((n, self.n_labels))
        at = k[exact]
        types[row[exact], corpus.found.label[at]] = corpus.probability[at]
        k, row = k[~exact], row[~exact]
        p = corpus.probability[k]
        other = by_row(np.maximum, p, row, n, 0.0)
        best = np.flatnonzero(p == other[row])[::-1]  # of equal ones the first
        crossing = np.full(n, -1)
        crossing[row[best]] = k[best]
        return types, other, crossing

    def candidates(self) -> Places:
        """List the spans that may be missing: those found that no more probable one
        meets, and strings that are often annotated.
        """
        corpus = self.corpus
        likely = np.flatnonzero(corpus.probability >= CANDIDATE)
        likely = likely[np.argsort(-corpus.probability[likely], kind="stable")]
        found = corpus.found.take(likely)
        taken = bytearray(len(corpus.text))
        chosen = _free_ones(found.start, found.end, taken)
        t, start, end, string = self._repeated.T
        texts = list(self._marked)
        often = [
            self._marked[texts[s]] >= MARKED * self._everywhere[texts[s]]
            for s in string.tolist()
        ]
        order = np.argsort(start - end, kind="stable")
        order = order[np.array(often, bool)[order]]
        more = order[_free_ones(start[order], end[order], taken)]
        label = self._usual_labels()[string[more]]
        again = Places(corpus.token_text[t[more]], start[more], end[more], label)
        both = zip(found.take(chosen), again)
        return Places(*(np.concatenate(pair) for pair in both))

    def _usual_labels(self) -> Ints:
        """Return the label that each annotated string has the most often."""
        string = np.array([self._numbers[text] for text in self.strings], np.int64)
        votes = np.zeros((len(self._numbers), self.n_labels))
        np.add.at(votes, (string, self.corpus.given.label), 1.0)
        return votes.argmax(axis=1)


class _Given:
    """The labels of the given spans, by their begin and end."""

    def __init__(self, keys: Ints, labels: Ints, n_labels: int) -> None:
        order = np.argsort(keys, kind="stable")
        self.keys = keys[order]
        self._labels = labels[order]
        self._n_labels = n_labels

    def labels(self, keys: Ints) -> Floats:
        """Count the given spans with each label at some places, (n, L)."""
        first = np.searchsorted(self.keys, keys, "left")
        k, row = spread(first, np.searchsorted(self.keys, keys, "right"))
        found = np.zeros((len(keys), self._n_labels))
        np.add.at(found, (row, self._labels[k]), 1.0)
        return found


def _free_ones(start: Ints, end: Ints, taken: bytearray) -> list[int]:
    """Choose, one after the other, the parts of a text that meet none before; those
    are marked.
    """
    chosen = []
    for k, (a, b) in enumerate(zip(start.tolist(), end.tolist())):
        if taken.find(1, a, b) < 0:
            taken[a:b] = b"\1" * (b - a)
            chosen.append(k)
    return chosen


def rejection_odds(spans: Ints, rejected: Ints) -> Floats:
    """Compute the log-odds of a rejection, as if there were one span more of which a
    usual share is rejected.
    """
    p = (rejected + USUALLY_REJECTED) / (spans + 1.0)
    return np.log((p + MARGIN) / (1.0 + MARGIN - p))


def log(p: Floats) -> Floats:
    """Compute logarithms of probabilities, which are kept away from 0."""
    return np.log(np.maximum(p, LEAST / 2))


def logit(p: Floats) -> Floats:
    """Compute log-odds of probabilities, which are kept away from 0 and 1."""
    p = np.clip(p, LEAST / 2, 1.0 - LEAST / 2)
    return np.log(p / (1.0 - p))


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
