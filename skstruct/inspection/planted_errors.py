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

MOST = 1_500
"""Spans into which errors of each kind are planted."""

SHARES = 0.1, 0.45
"""Least and largest share of mentions that a systematic error spoils: below a half, or
it is the rule.
"""

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
    """Yield the same where a share of the mentions of a string has the wrong type."""
    for facts in other_types(evidence, places, draw):
        n = facts.same + facts.differently
        if n >= OFTEN:
            share = draw.uniform(*SHARES)
            wrong = round(share * n)
            odds = math.log((1.0 - share) / share)
            yield facts.among(share)._replace(
                same=wrong,
                differently=n - wrong,
                type_odds=odds,
                rejected_string=Group(wrong, wrong),
            )


def other_ends(
    evidence: Evidence, places: list[Place], draw: random.Random
) -> Iterator[Facts]:
    """Yield what is known of spans with one token more or less at one of their ends."""
    for i, span in places:
        tokens = evidence.judged[i].tokens
        inside = evidence.inside(i, span)
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
            yield evidence.facts(i, draw.choice(ways))


def cut_ends(
    evidence: Evidence, places: list[Place], draw: random.Random
) -> Iterator[Facts]:
    """Yield what is known of spans that lost some characters at their ends."""
    for i, span in places:
        end = span.end - draw.choice(CUT)
        if end > span.start:
            facts = evidence.facts(i, span._replace(end=end))
            yield facts if facts.cuts else facts.among(draw.uniform(0.0, SHARES[1]))


def superfluous(
    evidence: Evidence, places: list[Place], draw: random.Random
) -> Iterator[Facts]:
    """Yield what is known of spans where there are none, as long as others are."""
    free = [place for row in _unmarked(evidence).values() for place in row]
    lengths = [len(evidence.inside(i, span)) for i, span in places]
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
    by_shape = _unmarked(evidence)
    shapes = sorted(by_shape)
    for _ in places if shapes else ():
        of_shape = by_shape[draw.choice(shapes)]
        i, t = draw.choice(of_shape)
        span = Span(*evidence.judged[i].tokens[t], draw.choice(evidence.labels))
        facts = evidence.facts(i, span)
        share = draw.uniform(*SHARES)
        wrong = round(share * facts.unmarked)
        alike = round(share * len(of_shape))
        yield facts.among(share)._replace(
            same=facts.same + wrong,
            unmarked=facts.unmarked - wrong,
            rejected_string=facts.rejected_string.more(wrong, wrong),
            rejected_shape=facts.rejected_shape.more(alike, alike),
        )


def left_out(facts: Facts, draw: random.Random) -> Facts:
    """Return what is known of a span if a share of its mentions were left out."""
    share = draw.uniform(*SHARES)
    lost = round(share * facts.same)
    rest = 1.0 - share
    return facts._replace(
        given=rest * facts.given,
        nothing=1.0 - rest * (1.0 - facts.nothing),
        same=facts.same - lost,
        unmarked=facts.unmarked + lost,
    )


def _unmarked(evidence: Evidence) -> dict[str, list[tuple[int, int]]]:
    """List the words in no span by their shape, as (text, token)."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for i, each in enumerate(evidence.judged):
        taken = {t for span in each.spans for t in evidence.inside(i, span)}
        for t, (start, end) in enumerate(each.tokens):
            word = each.text[start:end]
            if t not in taken and any(map(str.isalnum, word)):
                found[shape_of(word)].append((i, t))
    return found
