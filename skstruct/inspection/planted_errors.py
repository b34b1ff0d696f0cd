"""Errors that are planted into annotations, to learn what errors look like.

Each kind is planted in two ways: at random, as a slip of the hand makes them, and
systematically, as somebody makes them who misunderstood the guidelines: a share of the
mentions of one string gets a wrong type, ends lose one to three characters, strings of
one shape are annotated, a share of the mentions of one string is left out. Of the
systematic ones the model has learned; :meth:`Facts.among` says what it then believes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr

from .span_columns import Flags, Floats, Ints, Places
from .span_evidence import OFTEN, Evidence, Facts, shape_of
from .type_votes import PSEUDO_VOTES_OF_STRING

MOST = 1_500
"""Spans into which errors of each kind are planted."""

SHARES = 0.1, 0.45
"""Least and largest share of mentions that a systematic error spoils: below a half, or
it is the rule.
"""

MINORITY = 0.1, 0.4
"""Least and largest share of mentions that a systematic error gives a wrong type or
label: other mentions say what is right.
"""

MOST_LEARNED = 0.95
"""Largest probability that a model gives to what it has learned of an error."""

UNLEARNED = 0.2
"""Share of systematic errors of which a model has learned nothing."""

TAUGHT = 0.5
"""Share of spans with other ends of which a model has learned some."""

TINY = 1e-9
"""What is taken for a number that is not positive, where its logarithm is needed."""

LONGER = 0.05
"""Share of spans of several tokens from which on these may be shortened."""

CUT = 1, 2, 3
"""Characters that a span may lose at its end."""


def chosen_places(evidence: Evidence, draw: Any) -> Places:
    """Choose the spans into which errors are planted."""
    places = evidence.corpus.given
    n = len(places.start)
    return places if n <= MOST else places.take(draw.permutation(n)[:MOST])


class Groups:
    """Things that have a key in common, from which some are drawn: a key, then one of
    its things.

    Parameters
    ----------
    keys : sequence
    least : int
        Number of things of a key that may be drawn.
    """

    def __init__(self, keys: Sequence[Any], least: int) -> None:
        ids: dict[Any, int] = {}
        key = np.array([ids.setdefault(each, len(ids)) for each in keys], np.int64)
        self._order = np.argsort(key, kind="stable")
        sizes = np.bincount(key, minlength=len(ids))
        often = sizes >= least
        self._sizes = sizes[often]
        self._first = (np.cumsum(sizes) - sizes)[often]

    def __len__(self) -> int:
        return len(self._sizes)

    def drawn(self, n: int, draw: Any) -> tuple[Ints, Ints]:
        """Draw n things; return them, and the sizes of their groups."""
        group = draw.randint(len(self), size=n)
        size = self._sizes[group]
        return self._order[self._first[group] + _below(size, draw)], size


def other_types(evidence: Evidence, places: Places, draw: Any) -> Facts:
    """Describe spans as if they had another type."""
    n = len(places.start) if evidence.n_labels > 1 else 0
    places = places.take(slice(n))
    label = draw.randint(max(evidence.n_labels - 1, 1), size=n)
    label += label >= places.label
    return evidence.facts(places._replace(label=label))


def repeated_types(evidence: Evidence, places: Places, draw: Any) -> Facts:
    """Describe spans as if a share of the mentions of their strings had another type.

    Whoever misunderstands something decides about a string: each counts once, however
    often it is mentioned.
    """
    mentions = Groups(evidence.strings, OFTEN + 1)
    n = len(places.start) if len(mentions) else 0
    chosen = mentions.drawn(n, draw)[0] if n else np.zeros(0, np.int64)
    facts = other_types(evidence, evidence.corpus.given.take(chosen), draw)
    total = facts.same + facts.differently
    share = draw.uniform(*MINORITY, size=len(total))
    wrong = np.round(share * total).astype(np.int64)
    taught, rejected = learned(facts, share, wrong, draw)
    return taught._replace(
        same=wrong,
        differently=total - wrong,
        type_odds=np.log((1.0 - share) / share),
        strings=wrong,
        strings_rejected=rejected,
    ).take(wrong > 0)


def learned(
    facts: Facts, share: Any, wrong: Ints | int, draw: Any
) -> tuple[Facts, Ints]:
    """Return what is known of errors where a share is like this, and how many of the
    other ones the models reject.

    Models learn such errors less often than they are, as the context speaks for what is
    right, and not of each mention as well.
    """
    level, here = learned_shares(share, len(facts.given), draw)
    best = np.maximum(facts.other_type, facts.other_boundary)
    lead = np.maximum(best, facts.nothing) - facts.given
    return facts.among(here), number_rejected(wrong, lead, level, draw)


def learned_shares(share: Any, n: int, draw: Any) -> tuple[Floats, Floats]:
    """Draw how much of n errors a model has learned.

    Parameters
    ----------
    share : float or ndarray of shape (n,)
        The share of such things that are spoiled.
    n : int
    draw : RandomState

    Returns
    -------
    level : ndarray of shape (n,)
        The usual share that it has learned of errors like each.
    here : ndarray of shape (n,)
        The share that it has learned of each itself.
    """
    level = share * draw.uniform(size=n) ** 2
    level *= draw.uniform(size=n) >= UNLEARNED
    return level, np.minimum(level * np.exp(draw.normal(size=n)), MOST_LEARNED)


def number_rejected(wrong: Ints | int, lead: Floats, level: Floats, draw: Any) -> Ints:
    """Draw how many errors models reject.

    A model that has learned a share h gives an error h + (1 - h) p and the best other
    reading (1 - h) q, and rejects the error if h < (q - p) / (1 + q - p).

    Parameters
    ----------
    wrong : int or ndarray of shape (n,)
        The number of errors.
    lead : ndarray of shape (n,)
        What is q - p above.
    level : ndarray of shape (n,)
        As :func:`learned_shares` returns it: the median of h.
    draw : RandomState
    """
    lead = np.maximum(lead, TINY)
    usual = ndtr(np.log(lead / (1.0 + lead) / np.maximum(level, TINY)))
    return draw.binomial(wrong, usual)


def other_ends(evidence: Evidence, places: Places, draw: Any) -> Facts:
    """Describe spans with one token more or less at one of their ends; of half of them
    the model has learned some.
    """
    ways, fits = _ways(evidence, places)
    some = fits.any(axis=1)
    places = places.take(some)
    ways = ways[some]
    fits = fits[some]
    rank = _below(fits.sum(axis=1), draw)
    way = (np.cumsum(fits, axis=1) > rank[:, None]).argmax(axis=1)
    start, end = ways[np.arange(len(way)), way].T
    facts = evidence.facts(places._replace(start=start, end=end))
    taught = learned(facts, SHARES[0], 0, draw)[0]
    return _either(draw.uniform(size=len(way)) < TAUGHT, taught, facts)


def shortened(evidence: Evidence, places: Places, draw: Any) -> Facts:
    """Describe spans of several tokens that lost the last one, as a share of them does,
    unless such spans are rare.
    """
    ways, fits = _ways(evidence, places)
    longer = fits[:, 1] & (fits[:, 1].mean() >= LONGER)
    facts = evidence.facts(places._replace(end=ways[:, 1, 1]).take(longer))
    share = draw.uniform(*SHARES, size=len(facts.given))
    return learned(facts, share, 0, draw)[0]


def _ways(evidence: Evidence, places: Places) -> tuple[Ints, Flags]:
    """Return the spans with one token more or less, (n, 4, 2), and whether there are
    such, and they meet no other given span, (n, 4).
    """
    corpus = evidence.corpus
    first, stop = corpus.tokens_of(places)
    n_tokens = len(corpus.token_start)
    text = np.concatenate([corpus.token_text, [-1]])  # of what is before and behind
    # a token beyond an end is never used
    starts = np.concatenate([corpus.token_start, [0]])
    ends = np.concatenate([corpus.token_end, [0]])
    behind = np.minimum(stop, n_tokens)
    ways = np.stack(
        [
            np.stack([starts[np.minimum(first + 1, n_tokens)], places.end], 1),
            np.stack([places.start, ends[stop - 2]], 1),
            np.stack([starts[first - 1], places.end], 1),
            np.stack([places.start, ends[behind]], 1),
        ],
        axis=1,
    )
    longer = stop - first > 1
    some = stop > first
    before = some & (text[first - 1] == places.text)
    fits = np.stack([longer, longer, before, some & (text[behind] == places.text)], 1)
    for k in range(4):
        fits[:, k] &= corpus.number_met(ways[:, k, 0], ways[:, k, 1]) <= 1
    return ways, fits


def cut_ends(evidence: Evidence, places: Places, draw: Any) -> Facts:
    """Describe spans that lost some characters at their ends, if there are spans that
    end within tokens.
    """
    if not evidence.given.cuts.any():
        return evidence.facts(places.take(slice(0)))
    end = places.end - draw.choice(CUT, size=len(places.end))
    facts = evidence.facts(places._replace(end=end).take(end > places.start))
    taught = learned(facts, SHARES[1], 0, draw)[0]
    return _either(facts.cuts, facts, taught)


def superfluous(evidence: Evidence, places: Places, draw: Any) -> Facts:
    """Describe spans where there are none, as long as others are."""
    corpus = evidence.corpus
    free = np.flatnonzero(_are_unmarked(evidence) & _have_words(evidence))
    if not len(free):
        return evidence.facts(places.take(slice(0)))
    first, stop = corpus.tokens_of(places)
    length = np.maximum(stop - first, 1)
    n = len(length)
    t = free[draw.randint(len(free), size=n)]
    starts = np.append(np.sort(corpus.given.start), len(corpus.text) + 1)
    limit = starts[np.searchsorted(starts, corpus.token_start[t], "left")]
    last = np.searchsorted(corpus.token_end, limit, "right") - 1
    of_text = np.searchsorted(corpus.token_text, corpus.token_text[t], "right") - 1
    last = np.maximum(np.minimum(np.minimum(last, of_text), t + length - 1), t)
    label = draw.randint(max(evidence.n_labels, 1), size=n)
    start, end = corpus.token_start[t], corpus.token_end[last]
    return evidence.facts(Places(corpus.token_text[t], start, end, label))


def repeated_shapes(evidence: Evidence, places: Places, draw: Any) -> Facts:
    """Describe words of one shape of which a share is annotated."""
    words = _words_between_spaces(evidence)
    shapes = map(shape_of, evidence.corpus.strings(words.start, words.end))
    by_shape = Groups(list(shapes), 2 * OFTEN + 1)
    n = len(places.start) if len(by_shape) else 0
    nothing = np.zeros(0, np.int64)
    chosen, size = by_shape.drawn(n, draw) if n else (nothing, nothing)
    label = draw.randint(evidence.n_labels, size=n)
    facts = evidence.facts(words.take(chosen)._replace(label=label))
    share = draw.uniform(*SHARES, size=n)
    wrong = np.round(share * facts.unmarked).astype(np.int64)
    alike = np.round(share * size).astype(np.int64)
    taught, rejected = learned(facts, share, alike, draw)
    mine = np.round(wrong * rejected / np.maximum(alike, 1)).astype(np.int64)
    right = 1.0 / (1.0 + np.exp(facts.type_odds))
    votes = PSEUDO_VOTES_OF_STRING + facts.same + facts.differently
    return taught._replace(
        same=facts.same + wrong,
        unmarked=facts.unmarked - wrong,
        type_odds=np.log((1.0 - right) * votes / (right * votes + wrong)),
        strings=facts.strings + wrong,
        strings_rejected=facts.strings_rejected + mine,
        shapes=facts.shapes + alike,
        shapes_rejected=facts.shapes_rejected + rejected,
    )


def left_out(facts: Facts, draw: Any) -> Facts:
    """Return what is known of spans if a share of the mentions of each were left out."""
    n = len(facts.given)
    share = draw.uniform(*SHARES, size=n)
    lost = np.round(share * facts.same).astype(np.int64)
    rest = 1.0 - share * draw.uniform(size=n) ** 2
    return facts._replace(
        given=rest * facts.given,
        nothing=1.0 - rest * (1.0 - facts.nothing),
        same=facts.same - lost,
        unmarked=facts.unmarked + lost,
    )


def _below(n: Ints, draw: Any) -> Ints:
    """Draw a number from 0 to before each of some, which are positive."""
    return (draw.uniform(size=len(n)) * n).astype(np.int64)


def _either(chosen: Flags, one: Facts, other: Facts) -> Facts:
    """Return the facts of one where they are chosen, and else of the other."""
    return Facts(*(np.where(chosen, a, b) for a, b in zip(one, other)))


def _are_unmarked(evidence: Evidence) -> Flags:
    """Tell which tokens are in no span."""
    corpus = evidence.corpus
    return corpus.annotated.count(corpus.token_start, corpus.token_end) == 0


def _have_words(evidence: Evidence) -> Flags:
    """Tell which tokens have a letter or a digit."""
    known = {word: any(map(str.isalnum, word)) for word in {*evidence.words}}
    return np.array([known[word] for word in evidence.words], bool)


def _words_between_spaces(evidence: Evidence) -> Places:
    """List what stands between spaces, in no span and without signs at its ends."""
    corpus = evidence.corpus
    free = np.flatnonzero(_are_unmarked(evidence))
    start, end = corpus.token_start[free], corpus.token_end[free]
    apart = np.ones(len(free), bool)
    apart[1:] = (free[1:] != free[:-1] + 1) | (start[1:] != end[:-1])
    inner = _have_words(evidence)[free]
    word = np.cumsum(apart)[inner]
    begin = np.append(True, word[1:] != word[:-1])[: len(word)]
    last = np.append(word[1:] != word[:-1], True)[: len(word)]
    text = corpus.token_text[free][inner][begin]
    return Places(text, start[inner][begin], end[inner][last], np.zeros_like(text))
