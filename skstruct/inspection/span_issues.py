"""Spans of a corpus that are probably wrong, and those that are missing.

`span_evidence` describes each span by what models say that were not trained on it;
`planted_errors` plants errors of each kind, and `chances` compares both. What a model
rejects is always a finding; its chance says where it stands in the list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .chances import MOST_SHARE, Ambiguous, Floats, Kind, Mixture, chances_of
from .findings import Finding
from .planted_errors import (
    MOST,
    Groups,
    chosen_places,
    cut_ends,
    left_out,
    other_ends,
    other_types,
    repeated_shapes,
    repeated_types,
    shortened,
    superfluous,
)
from .span_columns import Flags, Judged, Places
from .span_evidence import (
    FEATURES,
    MISSING,
    OFTEN,
    Evidence,
    Facts,
    features_of,
    missing_features_of,
)
from .type_votes import believed

LISTED = 0.02
"""Chance of an error from which on something is a finding, whatever the model prefers."""

CERTAIN = 0.5
"""Probability from which on a span that is missing is one, whatever its chance."""

RARE = 0.005
"""Probability from which on a span that is found counts as one that may be right."""

KINDS = "other type", "other boundary", "superfluous"
"""Kinds of errors in spans that are given."""


class Plant(NamedTuple):
    """A way to plant errors.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    plant : callable
        What plants them.
    feature : str
        The feature that speaks for such an error.
    is_systematic : bool
    """

    kind: str
    plant: Callable[..., Facts]
    feature: str
    is_systematic: bool = False


PLANTED = (
    Plant("other type", other_types, "type odds"),
    Plant("other type", repeated_types, "type odds", True),
    Plant("other boundary", other_ends, "other boundary"),
    Plant("other boundary", shortened, "other boundary", True),
    Plant("other boundary", cut_ends, "other boundary"),
    Plant("superfluous", superfluous, "nothing"),
    Plant("superfluous", repeated_shapes, "nothing", True),
)
"""The ways to plant errors in spans that are given."""

USUAL_MISSING = 0.01
"""How many spans are missing for each that is given, before anything is seen."""


def issues_of_spans(judged: Sequence[Judged]) -> list[Finding]:
    """List what is wrong in texts, and what is missing, in no order."""
    evidence = Evidence(judged)
    if not evidence.n_labels:
        return []
    draw = np.random.RandomState(0)
    return [*_wrong(evidence, draw), *_missing(evidence, draw)]


def _wrong(evidence: Evidence, draw: Any) -> Iterator[Finding]:
    """Yield the spans that are given and may be wrong."""
    facts = evidence.given
    if not len(facts.given):
        return
    chosen = chosen_places(evidence, draw)
    rows = [features_of(each.plant(evidence, chosen, draw)) for each in PLANTED]
    used = [k for k, each in enumerate(rows) if len(each)]
    prior = np.zeros((len(FEATURES) + 1, len(used)))
    prior[FEATURES.index("given")] = -1.0
    for column, k in enumerate(used):
        prior[FEATURES.index(PLANTED[k].feature), column] = 1.0
    kinds = [Kind(rows[k], PLANTED[k].is_systematic) for k in used]
    mixture = Mixture(features_of(facts), kinds, prior, _ambiguous(evidence))
    chances = np.zeros((len(facts.given), len(KINDS)))
    for k, chance in zip(used, chances_of(mixture).T):
        chances[:, KINDS.index(PLANTED[k].kind)] += chance
    total = np.minimum(chances.sum(axis=1), 1.0)
    listed = (total >= LISTED) | facts.are_rejected | facts.cuts
    for k in np.flatnonzero(listed).tolist():
        found = _finding(evidence, k, chances[k])
        yield found._replace(score=float(total[k]), chance=float(total[k]))


def _ambiguous(evidence: Evidence) -> Ambiguous:
    """Return the spans that models believe in, and prefer something else to."""
    p = evidence.corpus.probability
    facts = evidence.facts(evidence.corpus.found.take((p >= RARE) & (p < CERTAIN)))
    weight = believed(facts.given, facts.other_type, facts.type_odds)
    return Ambiguous(features_of(facts), weight)


def _finding(evidence: Evidence, k: int, chances: Floats) -> Finding:
    """Say what a given span should be: the kind of error that is the most probable by
    its chance and by the model.
    """
    corpus, known = evidence.corpus, evidence.given.take(k)
    i = int(corpus.given.text[k])
    span = corpus.span(corpus.given, k)
    nothing = float(known.nothing)
    other = float(known.other_boundary)
    ends = None
    ends_label = span.label
    if known.crossing >= 0:
        crossing = corpus.span(corpus.found, int(known.crossing))
        ends, ends_label = crossing[:2], crossing.label
    elif known.cuts:
        ends, other = _whole(evidence, k), nothing
    by_votes = max(0.0, 1.0 - nothing - float(known.other_boundary))
    by_votes /= 1.0 + np.exp(-float(known.type_odds))
    plausible = {
        "other type": max(float(known.other_type), by_votes)
        if known.rival >= 0
        else 0.0,
        "other boundary": 0.0 if ends is None else other,
        "superfluous": nothing,
    }
    kind = max(KINDS, key=lambda each: chances[KINDS.index(each)] * plausible[each])
    if known.cuts and ends is not None:
        kind = "other boundary"
    text = context(corpus.judged[i].text, span.start, span.end)
    found = Finding(i, *span, None, nothing, kind=kind, text=text)
    if kind == "other type":
        label = corpus.labels[known.rival]
        return found._replace(suggested=label, probability=float(known.rival_given))
    if kind == "other boundary":
        return found._replace(suggested=ends_label, probability=other, other=ends)
    return found


def _whole(evidence: Evidence, k: int) -> tuple[int, int]:
    """Return the begin and end of the tokens that a given span covers in part."""
    corpus = evidence.corpus
    place = corpus.given.take(slice(k, k + 1))
    first, stop = (int(each[0]) for each in corpus.tokens_of(place))
    before = int(corpus.offset[place.text[0]])
    if stop <= first:
        return int(place.start[0]) - before, int(place.end[0]) - before
    start, end = corpus.token_start[first], corpus.token_end[stop - 1]
    return int(start) - before, int(end) - before


def _missing(evidence: Evidence, draw: Any) -> Iterator[Finding]:
    """Yield spans that are probable, where no annotation says anything."""
    corpus = evidence.corpus
    places = evidence.candidates()
    facts = evidence.facts(places)
    known, free = _given_and_free(evidence, places)
    if not free.any():
        return
    observed = missing_features_of(facts.take(free))
    of_known = facts.take(known)
    strings = corpus.strings(places.start[known], places.end[known])
    planted = [missing_features_of(of_known)]
    repeated = np.flatnonzero(of_known.same >= OFTEN)
    if len(repeated):
        groups = Groups([strings[k] for k in repeated.tolist()], 1)
        drawn = repeated[groups.drawn(min(len(strings), MOST), draw)[0]]
        planted.append(missing_features_of(left_out(of_known.take(drawn), draw)))
    kinds = [Kind(rows) for rows in planted if len(rows)]
    if not kinds:
        return
    share = (known.sum() + 1.0) / free.sum()
    prior = np.zeros((len(MISSING) + 1, len(kinds)))
    prior[MISSING.index("found")] = 1.0
    prior[-1] = -np.log(share)
    usual = min(USUAL_MISSING * share, MOST_SHARE)
    chances = chances_of(Mixture(observed, kinds, prior, usual=usual)).sum(axis=1)
    p = facts.given[free]
    rows = np.flatnonzero(free)
    for k in np.flatnonzero((chances >= LISTED) | (p > CERTAIN)).tolist():
        i = int(places.text[rows[k]])
        span = corpus.span(places, int(rows[k]))
        text = context(corpus.judged[i].text, span.start, span.end)
        place = i, span.start, span.end
        chance = float(chances[k])
        yield Finding(
            *place, None, span.label, float(p[k]), chance, "missing", chance, text
        )


def _given_and_free(evidence: Evidence, places: Places) -> tuple[Flags, Flags]:
    """Tell which spans are given, and which may be missing: they meet no annotation, and
    their type is annotated in their text.
    """
    corpus = evidence.corpus
    free = corpus.annotated.count(places.start, places.end) == 0
    partial = np.array([each.types is not None for each in corpus.judged], bool)
    for k in np.flatnonzero(free & partial[places.text]).tolist():
        types = corpus.judged[places.text[k]].types
        free[k] = corpus.labels[places.label[k]] in types
    return evidence.are_given(places), free


_AROUND = 30
"""Characters shown on each side of a span."""


def context(text: str, start: int, end: int) -> str:
    """Write a span in [ ], and a few characters around it."""
    before = text[max(0, start - _AROUND) : start]
    after = text[end:][:_AROUND]
    return " ".join(f"{before}[{text[start:end]}]{after}".split())
