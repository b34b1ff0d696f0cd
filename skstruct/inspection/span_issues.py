"""Spans of a corpus that are probably wrong, and those that are missing.

`span_evidence` describes each span by what models say that were not trained on it;
`planted_errors` plants errors of each kind, and `chances` compares both. What a model
rejects is always a finding; its chance says where it stands in the list.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator

import numpy as np

from .._data.spans import Span
from .chances import Floats, Mixture, chances_of
from .findings import Finding
from .planted_errors import (
    MOST,
    chosen_places,
    cut_ends,
    left_out,
    other_ends,
    other_types,
    repeated_shapes,
    repeated_types,
    superfluous,
)
from .span_evidence import (
    FEATURES,
    MISSING,
    OFTEN,
    Evidence,
    Facts,
    Judged,
    Place,
    features_of,
    meets,
    missing_features_of,
)

LISTED = 0.02
"""Chance of an error from which on something is a finding, whatever the model prefers."""

CERTAIN = 0.5
"""Probability from which on a span that is missing is one, whatever its chance."""

KINDS = "other type", "other boundary", "superfluous"
"""Kinds of errors in spans that are given."""

PLANTED: tuple[tuple[str, Callable[..., Iterator[Facts]], str], ...] = (
    ("other type", other_types, "type odds"),
    ("other type", repeated_types, "type odds"),
    ("other boundary", other_ends, "other boundary"),
    ("other boundary", cut_ends, "other boundary"),
    ("superfluous", superfluous, "nothing"),
    ("superfluous", repeated_shapes, "nothing"),
)
"""Kind of error, what plants it, and the feature that speaks for it."""

USUAL_MISSING = 0.01
"""The same of spans that are missing, among those that are given."""


def issues_of_spans(judged: list[Judged]) -> list[Finding]:
    """List what is wrong in texts, and what is missing, in no order."""
    evidence = Evidence(judged)
    draw = random.Random(0)
    return [*_wrong(evidence, draw), *_missing(evidence, draw)]


def _wrong(evidence: Evidence, draw: random.Random) -> Iterator[Finding]:
    """Yield the spans that are given and may be wrong."""
    places = list(evidence.places())
    facts = [evidence.facts(*place) for place in places]
    if not facts:
        return
    chosen = chosen_places(evidence, draw)
    planted = [plant(evidence, chosen, draw) for _, plant, _ in PLANTED]
    rows = [list(map(features_of, each)) for each in planted]
    used = [k for k, each in enumerate(rows) if each]
    prior = np.zeros((len(FEATURES) + 1, len(used)))
    prior[FEATURES.index("given")] = -1.0
    for column, k in enumerate(used):
        prior[FEATURES.index(PLANTED[k][2]), column] = 1.0
    observed = np.array(list(map(features_of, facts)))
    mixture = Mixture(observed, [np.array(rows[k]) for k in used], prior)
    chances = np.zeros((len(facts), len(KINDS)))
    for k, chance in zip(used, chances_of(mixture).T):
        chances[:, KINDS.index(PLANTED[k][0])] += chance
    for place, known, of_kinds in zip(places, facts, chances):
        total = min(float(of_kinds.sum()), 1.0)
        rejected = known.given < max(
            known.other_type, known.other_boundary, known.nothing
        )
        if total >= LISTED or rejected or known.cuts:
            found = _finding(evidence, place, known, of_kinds)
            yield found._replace(score=total, chance=total)


def _finding(
    evidence: Evidence, place: Place, known: Facts, chances: Floats
) -> Finding:
    """Say what a span should be: the kind of error that is the most probable by its
    chance and by the model.
    """
    i, span = place
    label, odds = evidence.rival_type(i, span)
    _, types, crossing = evidence.rivals(i, span)
    if known.cuts and crossing is None:
        crossing = known.nothing, _whole(evidence, i, span)
    here = max(0.0, 1.0 - known.nothing - known.other_boundary)
    by_votes = here / (1.0 + math.exp(-odds))
    believed = {
        "other type": 0.0 if label is None else max(known.other_type, by_votes),
        "other boundary": 0.0 if crossing is None else crossing[0],
        "superfluous": known.nothing,
    }
    kind = max(
        KINDS,
        key=lambda each: float(chances[KINDS.index(each)]) * believed[each],
    )
    if known.cuts and crossing is not None:
        kind = "other boundary"
    text = context(evidence.judged[i].text, span.start, span.end)
    found = Finding(i, *span, None, known.nothing, kind=kind, text=text)
    if kind == "other type":
        return found._replace(suggested=label, probability=types.get(label, 0.0))
    if kind == "other boundary" and crossing is not None:
        p, other = crossing
        ends = other.start, other.end
        return found._replace(suggested=other.label, probability=p, other=ends)
    return found


def _whole(evidence: Evidence, i: int, span: Span) -> Span:
    """Return the whole tokens that a span covers in part."""
    inside = evidence.tokens_of(i, span)
    tokens = evidence.judged[i].tokens[inside.start : inside.stop] or [span[:2]]
    return span._replace(start=tokens[0][0], end=tokens[-1][1])


def _missing(evidence: Evidence, draw: random.Random) -> Iterator[Finding]:
    """Yield spans that are probable, where no annotation says anything."""
    known = []
    candidates = []
    mentions: dict[str, list[Facts]] = {}
    for i, each in enumerate(evidence.judged):
        for span, p in evidence.candidates(i):
            facts = evidence.facts(i, span)
            if span in evidence.given[i]:
                known.append(facts)
                mentions.setdefault(evidence.text_of(i, span), []).append(facts)
            elif not meets(span, each.spans) and (
                each.types is None or span.label in each.types
            ):
                candidates.append((i, span, p, facts))
    if not candidates:
        return
    observed = np.array([missing_features_of(facts) for *_, facts in candidates])
    often = [row for row in mentions.values() if row[0].same >= OFTEN]
    repeated = [
        left_out(draw.choice(draw.choice(often)), draw) for _ in known[:MOST] if often
    ]
    planted = [
        np.reshape(list(map(missing_features_of, each)), (len(each), len(MISSING)))
        for each in (known, repeated)
        if each
    ]
    if not planted:
        return
    share = (len(known) + 1.0) / len(candidates)
    prior = np.zeros((len(MISSING) + 1, len(planted)))
    prior[MISSING.index("found")] = 1.0
    prior[-1] = -np.log(share)
    usual = min(USUAL_MISSING * share, 0.25)
    chances = chances_of(Mixture(observed, planted, prior, usual)).sum(axis=1)
    for (i, span, p, _), chance in zip(candidates, chances.tolist()):
        if chance >= LISTED or p > CERTAIN:
            text = context(evidence.judged[i].text, span.start, span.end)
            place = i, span.start, span.end
            yield Finding(*place, None, span.label, p, chance, "missing", chance, text)


_AROUND = 30
"""Characters shown on each side of a span."""


def context(text: str, start: int, end: int) -> str:
    """Write a span in [ ], and a few characters around it."""
    before = text[max(0, start - _AROUND) : start]
    after = text[end:][:_AROUND]
    return " ".join(f"{before}[{text[start:end]}]{after}".split())
