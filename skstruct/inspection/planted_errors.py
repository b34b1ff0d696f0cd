"""Errors that are planted into annotations, to learn what errors look like.

Each kind is planted in two ways: at random, as a slip of the hand makes them, and
systematically, as somebody makes them who misunderstood the guidelines: a share of the
mentions of one string gets a wrong type, ends lose one to three characters, strings of
one shape are annotated, a share of the mentions of one string is left out. Of the
systematic ones the model has learned; :meth:`Facts.among` says what it then believes.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterator

from .._data.spans import Span
from .span_evidence import OFTEN, Evidence, Facts, Group, Place, meets, shape_of
from .type_votes import PSEUDO_VOTES_OF_STRING

MOST = 1_500
"""Spans into which errors of each kind are planted."""

SHARES = 0.1, 0.45
"""Least and largest share of mentions that a systematic error spoils: below a half, or
it is the rule.
"""

MINORITY = 0.1, 0.4
"""The same of mentions with a wrong type or label: other mentions say what is right."""

MOST_LEARNED = 0.95
"""Largest probability that a model gives to what it has learned of an error."""

CUT = 1, 2, 3
"""Characters that a span may lose at its end."""


def chosen_places(evidence: Evidence, draw: random.Random) -> list[Place]:
    """Choose the spans into which errors are planted."""
    places = list(evidence.places())
    return places if len(places) <= MOST else draw.sample(places, MOST)


def other_types(
    evidence: Evidence, places: list[Place], draw: random.Random
) -> Iterator[Facts]:
    """Yield what is known of spans if they had another type."""
    for i, span in places:
        others = [label for label in evidence.labels if label != span.label]
        if others:
            yield evidence.facts(i, span._replace(label=draw.choice(others)))


def repeated_types(
    evidence: Evidence, places: list[Place], draw: random.Random
) -> Iterator[Facts]:
    """Yield the same where a share of the mentions of a string has the wrong type.

    Whoever misunderstands something decides about a string: each counts once, however
    often it is mentioned.
    """
    mentions: dict[str, list[Place]] = defaultdict(list)
    for place in evidence.places():
        mentions[evidence.text_of(*place)].append(place)
    often = [row for row in mentions.values() if len(row) > OFTEN]
    chosen = [draw.choice(draw.choice(often)) for _ in places if often]
    for facts in other_types(evidence, chosen, draw):
        n = facts.same + facts.differently
        share = draw.uniform(*MINORITY)
        wrong = round(share * n)
        if wrong > 0:
            odds = math.log((1.0 - share) / share)
            taught, rejected = learned(facts, share, wrong, draw)
            yield taught._replace(
                same=wrong,
                differently=n - wrong,
                type_odds=odds,
                rejected_string=Group(wrong, rejected),
            )


def learned(
    facts: Facts, share: float, wrong: int, draw: random.Random
) -> tuple[Facts, int]:
    """Return what is known of an error where a share is like this, and how many of the
    other ones the models reject.

    Models learn such errors less often than they are, as the context speaks for what is
    right, and not of each mention as well.
    """
    level = share * draw.random() ** 2
    here = min(level * math.exp(draw.gauss(0.0, 1.0)), MOST_LEARNED)
    best = max(facts.other_type, facts.other_boundary, facts.nothing)
    lead = max(best - facts.given, 1e-9)
    limit = lead / (1.0 + lead)
    usual = 0.5 + 0.5 * math.erf(math.log(limit / max(level, 1e-9)) / math.sqrt(2.0))
    spread = math.sqrt(wrong * usual * (1.0 - usual))
    rejected = round(draw.gauss(wrong * usual, spread))
    return facts.among(here), min(max(rejected, 0), wrong)


def other_ends(
    evidence: Evidence, places: list[Place], draw: random.Random
) -> Iterator[Facts]:
    """Yield what is known of spans with one token more or less at one of their ends; of
    half of them the model has learned some.
    """
    for i, span in places:
        tokens = evidence.judged[i].tokens
        inside = evidence.tokens_of(i, span)
        ways = []
        if len(inside) > 1:
            ways.append(span._replace(start=tokens[inside[1]][0]))
            ways.append(span._replace(end=tokens[inside[-2]][1]))
        if inside and inside[0] > 0:
            ways.append(span._replace(start=tokens[inside[0] - 1][0]))
        if inside and inside[-1] + 1 < len(tokens):
            ways.append(span._replace(end=tokens[inside[-1] + 1][1]))
        rest = [each for each in evidence.given[i] if each != span]
        ways = [way for way in ways if not meets(way, rest)]
        if ways:
            facts = evidence.facts(i, draw.choice(ways))
            is_known = draw.random() < 0.5
            yield learned(facts, SHARES[0], 0, draw)[0] if is_known else facts


def cut_ends(
    evidence: Evidence, places: list[Place], draw: random.Random
) -> Iterator[Facts]:
    """Yield what is known of spans that lost some characters at their ends, if there are
    spans that end within tokens.
    """
    if all(evidence.is_whole(*place) for place in evidence.places()):
        return
    for i, span in places:
        end = span.end - draw.choice(CUT)
        if end > span.start:
            facts = evidence.facts(i, span._replace(end=end))
            yield facts if facts.cuts else learned(facts, SHARES[1], 0, draw)[0]


def superfluous(
    evidence: Evidence, places: list[Place], draw: random.Random
) -> Iterator[Facts]:
    """Yield what is known of spans where there are none, as long as others are."""
    free = [
        (i, t)
        for i, row in enumerate(_unmarked(evidence))
        for t in row
        if _has_word(evidence, i, t)
    ]
    lengths = [len(evidence.tokens_of(i, span)) for i, span in places]
    for length in lengths if free else ():
        i, t = draw.choice(free)
        tokens = evidence.judged[i].tokens
        start = tokens[t][0]
        last = t
        while last + 1 < min(t + length, len(tokens)):
            if meets(Span(start, tokens[last + 1][1], ""), evidence.given[i]):
                break
            last += 1
        label = draw.choice(evidence.labels)
        yield evidence.facts(i, Span(start, tokens[last][1], label))


def repeated_shapes(
    evidence: Evidence, places: list[Place], draw: random.Random
) -> Iterator[Facts]:
    """Yield what is known of words of one shape of which a share is annotated."""
    by_shape = [row for row in _shapes(evidence).values() if len(row) > 2 * OFTEN]
    for _ in places if by_shape else ():
        of_shape = draw.choice(by_shape)
        i, span = draw.choice(of_shape)
        label = draw.choice(evidence.labels)
        facts = evidence.facts(i, span._replace(label=label))
        share = draw.uniform(*SHARES)
        wrong = round(share * facts.unmarked)
        alike = round(share * len(of_shape))
        taught, rejected = learned(facts, share, alike, draw)
        mine = round(wrong * rejected / max(alike, 1))
        right = 1.0 / (1.0 + math.exp(facts.type_odds))
        votes = PSEUDO_VOTES_OF_STRING + facts.same + facts.differently
        odds = math.log((1.0 - right) * votes / (right * votes + wrong))
        yield taught._replace(
            same=facts.same + wrong,
            unmarked=facts.unmarked - wrong,
            type_odds=odds,
            rejected_string=facts.rejected_string.more(wrong, mine),
            rejected_shape=facts.rejected_shape.more(alike, rejected),
        )


def left_out(facts: Facts, draw: random.Random) -> Facts:
    """Return what is known of a span if a share of its mentions were left out."""
    share = draw.uniform(*SHARES)
    lost = round(share * facts.same)
    rest = 1.0 - share * draw.random() ** 2
    return facts._replace(
        given=rest * facts.given,
        nothing=1.0 - rest * (1.0 - facts.nothing),
        same=facts.same - lost,
        unmarked=facts.unmarked + lost,
    )


def _unmarked(evidence: Evidence) -> Iterator[list[int]]:
    """Yield the tokens in no span, of each text."""
    for i, each in enumerate(evidence.judged):
        taken = {t for span in each.spans for t in evidence.tokens_of(i, span)}
        yield [t for t in range(len(each.tokens)) if t not in taken]


def _has_word(evidence: Evidence, i: int, t: int) -> bool:
    """Tell whether a token has a letter or a digit."""
    start, end = evidence.judged[i].tokens[t]
    return any(map(str.isalnum, evidence.judged[i].text[start:end]))


def _shapes(evidence: Evidence) -> dict[str, list[Place]]:
    """List what stands between spaces, in no span and without signs at its ends, by its
    shape.
    """
    found: dict[str, list[Place]] = defaultdict(list)
    for i, row in enumerate(_unmarked(evidence)):
        tokens = evidence.judged[i].tokens
        words: list[list[int]] = []
        for t in row:
            joined = (
                words and words[-1][-1] == t - 1 and tokens[t - 1][1] == tokens[t][0]
            )
            if joined:
                words[-1].append(t)
            else:
                words.append([t])
        for word in words:
            inner = [t for t in word if _has_word(evidence, i, t)]
            if inner:
                span = Span(tokens[inner[0]][0], tokens[inner[-1]][1], "")
                found[shape_of(evidence.text_of(i, span))].append(Place(i, span))
    return found
