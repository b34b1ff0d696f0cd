"""Spans of texts that are known before prediction, as the labels that tokens may have.

A known span is one that must stand, of one type, of one of several, or of any; or a
part of the text that no span may touch. Under a label scheme whose labels say by
themselves where spans begin, that is the same as a set of labels for each token, and
the chain's constraints do the rest: a decoder searches exactly the labellings in which
all that is known stands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from .inputs import as_sequences
from .labels import some_of
from .places import PlaceError, counted, place
from .scheme_rules import SPELLINGS, LabelTable
from .spans import Given, as_spans, refuse_dicts, trimmed

if TYPE_CHECKING:
    from .text import Tokens


OUTSIDE = "O"
"""Label of a part of a text that no span may touch."""

Kinds = frozenset[str] | None
"""Types that a span may have; None: any; none at all: no span may touch the part."""


class TokenRanges(NamedTuple):
    """Tokens that must stay in one piece."""

    start: np.ndarray  # (R,) int64: first token
    stop: np.ndarray  # (R,) int64: behind the last


class KnownSpans(NamedTuple):
    """The known spans of n texts, checked."""

    given: Given
    kinds: list[Kinds]  # (S,)

    def of_texts(self, first: int, stop: int) -> KnownSpans:
        """Return those of some texts in a row."""
        a, b = self.given.first[[first, stop]].tolist()
        given = Given(
            self.given.spans[a:b],
            self.given.first[first : stop + 1] - a,
            self.given.types[first:stop],
        )
        return KnownSpans(given, self.kinds[a:b])


def as_known(known: Any, texts: list[str]) -> KnownSpans:
    """Check the known spans of texts.

    Parameters
    ----------
    known : list of lists of (start, end, label)
        As of `as_spans`, but labels may be collections of str.
    texts : list of str

    Raises
    ------
    ValueError
        If a span is not as described; the message names the place.
    """
    refuse_dicts(known, "known")
    rows = as_sequences(known, "known", "span")
    kinds: list[Kinds] = []
    plain: list[list[Any]] = []
    for i, row in enumerate(rows):
        plain.append([])
        for k, span in enumerate(row):
            try:
                label = _label_of(span)
            except (TypeError, ValueError, KeyError):
                label = None  # `as_spans` says what is wrong
            if _is_collection(label):
                _check_types(label, i, k)
                kinds.append(frozenset(label))
                span = (*_ends_of(span), None)
            else:
                kinds.append(frozenset([label]) if isinstance(label, str) else None)
            plain[-1].append(span)
    nothing: Kinds = frozenset()
    kinds = [nothing if each == {OUTSIDE} else each for each in kinds]
    return KnownSpans(as_spans(plain, texts, "known"), kinds)


def _label_of(span: Any) -> Any:
    if isinstance(span, Mapping):
        return span["label"]
    _, _, label = span
    return label


def _ends_of(span: Any) -> tuple[Any, Any]:
    if isinstance(span, Mapping):
        return span["start"], span["end"]
    return span[0], span[1]


def _is_collection(label: Any) -> bool:
    return isinstance(label, Collection) and not isinstance(label, (str, Mapping))


def _check_types(label: Collection[Any], i: int, k: int) -> None:
    if label and all(isinstance(kind, str) and kind for kind in label):
        if OUTSIDE not in label or len(label) == 1:
            return
    wrong = (
        f"several types must be str that are not empty, and none of them {OUTSIDE!r}, "
        f"got {label!r}"
    )
    raise PlaceError(i, k, wrong, "known")


class KnownLabels:
    """The spans that the labels of a fitted tagger can spell.

    Parameters
    ----------
    classes : list of str
        The labels.
    scheme : str
        Canonical name; not ``"IOB1"``, in which the first label of a span depends on
        what is before it.
    """

    def __init__(self, classes: list[str], scheme: str) -> None:
        self.spelling = SPELLINGS[scheme]
        parsed = LabelTable(scheme).parse(classes)
        self.labels = dict(zip(parsed, classes))
        self.types = sorted({kind for prefix, kind in parsed if prefix != "O"})
        spelled = [self.spelling.spell(n) for n in range(1, 8)]
        self._inside = {pair for prefixes in spelled for pair in pairwise(prefixes)}
        self.outside = frozenset(
            label for (prefix, _), label in self.labels.items() if prefix == "O"
        )
        self.of_span = cache(self._of_span)
        self.behind = cache(self._behind)

    def _of_span(self, n: int, kinds: Kinds) -> tuple[frozenset[str], ...] | str:
        """Return the labels of each of the n tokens of a span of one of some types; or
        what is wrong.
        """
        asked = self.types if kinds is None else sorted(kinds)
        unknown = [kind for kind in asked if kind not in self.types]
        if unknown:
            return f"no label has the type {unknown[0]!r}; choose from {some_of(self.types)}"
        prefixes = self.spelling.spell(n)
        whole = [
            kind
            for kind in asked
            if all((prefix, kind) in self.labels for prefix in prefixes)
        ]
        if not whole:
            missing = [
                self.spelling.label(prefix, kind)
                for kind in asked
                for prefix in prefixes
                if (prefix, kind) not in self.labels
            ]
            return (
                f"has {counted(n, 'token')}, and the model has learned no label "
                f"{some_of(sorted(set(missing)))} to spell it"
            )
        return tuple(
            frozenset(self.labels[prefix, kind] for kind in whole)
            for prefix in prefixes
        )

    def _behind(self, n: int) -> frozenset[str] | None:
        """Return the labels that may stand behind a span of n tokens, without those
        that would make it longer; None if no label would.
        """
        last = self.spelling.spell(n)[-1]
        longer = {q for p, q in self._inside if p == last}
        rest = [
            label for (prefix, _), label in self.labels.items() if prefix not in longer
        ]
        return frozenset(rest) if longer else None


def known_in_tokens(
    known: KnownSpans, tokens: Tokens, labels: KnownLabels, first: int = 0
) -> tuple[TokenRanges, list[frozenset[str] | None]]:
    """Return what known spans are in tokens.

    Parameters
    ----------
    known : KnownSpans
        Of the texts of the tokens.
    tokens : Tokens
    labels : KnownLabels
    first : int
        The number of the first text, for errors.

    Returns
    -------
    ranges : TokenRanges
        Of the spans that must stand.
    allowed : list of frozenset of str or None
        For each token the labels that it may have; None: any.

    Raises
    ------
    PlaceError
        If a span holds no whole tokens, overlaps or contradicts another, or cannot be
        spelled.
    """
    placed = _Placed(known, tokens, first)
    n = len(tokens.start)
    allowed: list[frozenset[str] | None] = [None] * n
    for s, (lo, hi) in placed.parts():
        if not labels.outside:
            placed.refuse(s, "the model has no label for tokens outside of spans")
        if OUTSIDE in labels.types:
            wrong = f"has the label {OUTSIDE!r}, which is a type of the model"
            placed.refuse(s, f"{wrong}: it does not say that no span is there")
        allowed[lo:hi] = [labels.outside] * (hi - lo)
    spans = placed.spans()
    for (lo, hi), (s, kinds) in spans.items():
        choices = labels.of_span(hi - lo, kinds)
        if isinstance(choices, str):
            placed.refuse(s, choices)
        allowed[lo:hi] = choices
    for lo, hi in spans:
        behind = labels.behind(hi - lo)
        if behind is not None and hi < n:
            there = allowed[hi]
            allowed[hi] = behind if there is None else there & behind
    starts, stops = np.array([*spans], np.int64).reshape(-1, 2).T
    return TokenRanges(starts, stops), allowed


class _Placed:
    """Known spans by the tokens that they touch; S spans."""

    def __init__(self, known: KnownSpans, tokens: Tokens, first: int) -> None:
        self.known = known
        self.tokens = tokens
        self.first = first
        start, end, _ = known.given.places(tokens.offset)
        inner, outer = trimmed(tokens.text, start, end)
        # a token may begin or end with white space, as a predicted span then does
        self.start = np.where(np.isin(start, tokens.start), start, inner)
        self.end = np.where(np.isin(end, tokens.end), end, outer)
        self.lo = np.searchsorted(tokens.end, self.start, side="right")
        self.hi = np.maximum(np.searchsorted(tokens.start, self.end), self.lo)
        empty = self.start == self.end
        self.hi[empty] = self.lo[empty]
        self.owner = np.full(len(tokens.start), -1, np.int64)

    def refuse(self, s: int, wrong: str) -> NoReturn:
        """Raise for the span s."""
        i, k = place(self.known.given.first, s)
        span = self.known.given.spans[s]
        raise PlaceError(i + self.first, k, f"{tuple(span)!r} {wrong}", "known")

    def parts(self) -> list[tuple[int, tuple[int, int]]]:
        """List the parts that no span may touch, by their numbers."""
        found = []
        for s, kinds in enumerate(self.known.kinds):
            if kinds == frozenset() and self.hi[s] > self.lo[s]:
                lo, hi = int(self.lo[s]), int(self.hi[s])
                self.owner[lo:hi] = s
                found.append((s, (lo, hi)))
        return found

    def spans(self) -> dict[tuple[int, int], tuple[int, Kinds]]:
        """Return the first span of each place, and the types it may have; in order."""
        found: dict[tuple[int, int], tuple[int, Kinds]] = {}
        for s, kinds in enumerate(self.known.kinds):
            if kinds == frozenset():
                continue
            where = self._whole_tokens(s)
            if where not in found:
                self._claim(s, where)
                found[where] = s, kinds
                continue
            other, before = found[where]
            both = _common(kinds, before)
            if both == frozenset():
                span = tuple(self.known.given.spans[other])
                self.refuse(s, f"cannot stand where {span!r} does")
            found[where] = other, both
        return dict(sorted(found.items()))

    def _whole_tokens(self, s: int) -> tuple[int, int]:
        lo, hi = int(self.lo[s]), int(self.hi[s])
        if lo == hi:
            self.refuse(s, "holds no token")
        begin, stop = int(self.tokens.start[lo]), int(self.tokens.end[hi - 1])
        if begin < self.start[s] or stop > self.end[s]:
            shift = int(self.known.given.places(self.tokens.offset)[2][s])
            whole = f"the tokens it touches are those of {begin - shift, stop - shift}"
            self.refuse(s, f"begins or ends inside of a token; {whole}")
        return lo, hi

    def _claim(self, s: int, where: tuple[int, int]) -> None:
        lo, hi = where
        others = self.owner[lo:hi][self.owner[lo:hi] >= 0]
        if others.size:
            span = tuple(self.known.given.spans[others[0]])
            self.refuse(s, f"overlaps {span!r}")
        self.owner[lo:hi] = s


def _common(kinds: Kinds, others: Kinds) -> Kinds:
    if kinds is None or others is None:
        return others if kinds is None else kinds
    return kinds & others
