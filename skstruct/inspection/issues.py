"""Labels of a corpus, or spans of texts, that are probably wrong.

Those say so who did not see them: models that were trained on other sequences. How
probable an error is follows from how sure these models are elsewhere, see
`skstruct.inspection.chances`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .._data.inputs import renumbered
from .._data.spans import Span, as_spans
from .._data.text import as_texts
from .._data.types import Corpus
from .._sklearn import final_step
from .chances import Floats, Mixture, chances_of
from .error_lists import around
from .explain_taggers import seen_by_tagger, word_of
from .findings import Finding, Findings, Places, Where, as_places
from .out_of_fold import OutOfFold, by_fold, predicted_out_of_fold
from .span_evidence import (
    GIVEN,
    LEAST,
    MISSING,
    Evidence,
    Judged,
    Place,
    meets,
    other_boundaries,
    other_types,
    superfluous,
)

LISTED = 0.02
"""Chance of an error from which on something is a finding, whatever the model prefers."""


def label_issues(
    estimator: Any,
    X: Any,
    y: Corpus,
    *,
    cv: Any = 5,
    groups: Any = None,
    n_jobs: int | None = None,
    places: Places = None,
) -> Findings:
    """Find labels of a corpus that are probably wrong.

    Every label is compared with the probabilities that a model gives which was not
    trained on its sequence [1]_. Where another label is more probable, the label is a
    finding. Of each the list says how probable an error is: models are sure of much
    that they have not seen, so that errors which are planted on paper tell what the
    same certainty is worth [2]_. The sum over a list is the number of errors to expect
    in it.

    Parameters
    ----------
    estimator : estimator
        As of :func:`out_of_fold_marginals`.
    X, y
        As of its ``fit``. Tokens whose label is None or a set are no issues.
    cv, groups, n_jobs
        As of :func:`out_of_fold_marginals`.
    places : list of Where, or of dict, optional
        Where each sequence stands in a file, which findings then say: dicts with some
        of the keys file, record, id and line, as the metadata of ``read_spans`` have
        them.

    Returns
    -------
    Findings
        Most suspicious first: labels by how much less probable they are than what is
        suggested; whole spans of a ``SpanTagger``, those that are missing too, by
        `Finding.chance`.

    Raises
    ------
    ValueError, TypeError
        As :func:`out_of_fold_marginals`; or if ``places`` are not as many.

    References
    ----------
    .. [1] C. Northcutt, L. Jiang, I. Chuang (2021). Confident learning: estimating uncertainty in dataset
       labels. Journal of Artificial Intelligence Research 70.
    .. [2] M. Saerens, P. Latinne, C. Decaestecker (2002). Adjusting the outputs of a classifier to new a
       priori probabilities. Neural Computation 14.

    Examples
    --------
    >>> from skstruct import L1CRF
    >>> from skstruct.inspection import label_issues
    >>> X, y = [["the", "dog"], ["a", "cat"], ["the", "cat"]] * 10, [["D", "N"] for _ in range(30)]
    >>> y[4][1] = "D"
    >>> issues = label_issues(L1CRF(c1=0.1), X, y)
    >>> issues[0][:5]
    (4, 1, 2, 'D', 'N')
    """
    where = as_places(places, len(X))
    model = final_step(estimator).estimator
    if getattr(model, "explained_as", None) == "spans":
        parts, tests = by_fold(_judged, estimator, X, y, cv, groups, n_jobs)
        of_text = {
            i: row._replace(fold=k)
            for k, (part, test) in enumerate(zip(parts, tests))
            for i, row in zip(test.tolist(), part)
        }
        found = _of_spans([of_text[i] for i in range(len(X))], where)
    else:
        found = _of_labels(
            predicted_out_of_fold(estimator, X, y, cv, groups, n_jobs), where
        )
    return Findings(sorted(found, key=_by_suspicion))


def _by_suspicion(finding: Finding) -> tuple[Any, ...]:
    return -(finding.score or 0.0), finding[:3]


# --------------------------------------------------------------------------------------
# Labels of tokens
# --------------------------------------------------------------------------------------
def _of_labels(found: OutOfFold, where: list[Where]) -> Iterator[Finding]:
    """Yield the tokens of which another label is more probable."""
    values = found.classes.tolist()
    column = {label: k for k, label in enumerate(values)}
    rows = []
    places = []
    for i, (marginals, labels) in enumerate(zip(found.marginals, found.labels)):
        for t, label in enumerate(labels):
            if label is not None:
                rows.append(marginals[t])
                places.append((i, t, column[label]))
    if not rows:
        return
    marginals = np.asarray(rows)
    given = np.array([k for _, _, k in places])
    chance = _chances_of_labels(found, marginals, given, places)
    best = marginals.argmax(axis=1)
    for n in np.flatnonzero(best != given).tolist():
        i, t, k = places[n]
        p = float(marginals[n, best[n]])
        score = p - float(marginals[n, k])
        start = found.positions[i][t]
        shown = found.tokens[i]
        yield Finding(
            i,
            start,
            start + 1,
            values[k],
            values[best[n]],
            p,
            score,
            "other label",
            float(chance[n]),
            around(shown, t, t + 1),
            where[i],
        )


def _chances_of_labels(
    found: OutOfFold,
    marginals: Floats,
    given: np.ndarray,
    places: list[tuple[int, int, int]],
) -> Floats:
    """Compute how probable it is that a label is wrong, (n,)."""
    words = [word_of(found.tokens[i][t]) for i, t, _ in places]
    often: dict[Any, int] = {}
    for word in words:
        often[word] = often.get(word, 0) + 1
    seen = np.log([often[word] for word in words])
    draw = np.random.RandomState(0)
    # another label, as often as labels are
    other = given[draw.permutation(len(given))]
    differs = other != given
    planted = _features_of_labels(marginals[differs], other[differs], seen[differs])
    prior = np.zeros((5, 1))
    prior[:2, 0] = -1.0, 1.0
    observed = _features_of_labels(marginals, given, seen)
    return chances_of(Mixture(observed, [planted], prior))[:, 0]


def _features_of_labels(marginals: Floats, given: np.ndarray, seen: Floats) -> Floats:
    """Describe labels: log-probabilities of each and of the best other, and the word."""
    rest = marginals.copy()
    p = rest[np.arange(len(given)), given].copy()
    rest[np.arange(len(given)), given] = 0.0
    logs = np.log(np.maximum(np.column_stack([p, rest.max(axis=1)]), LEAST / 2))
    return np.column_stack([logs, seen, seen * (logs[:, 0] - logs[:, 1])])


# --------------------------------------------------------------------------------------
# Spans of texts
# --------------------------------------------------------------------------------------
def _judged(estimator: Any, X: Any, y: Corpus, test: np.ndarray) -> list[Judged]:
    """Ask a model about the texts of a test set."""
    with renumbered(test):
        model, texts = final_step(estimator, X)
        texts = as_texts(texts)
        given = as_spans(y, texts)
        found = model.predict_segment_proba(texts, min_proba=LEAST)
        seen = seen_by_tagger(model, texts)
        marginals = seen.grouped(seen.tagger.predict_marginals(seen.X))
        tokens = model.tokens(texts)
    outside = [k for k, label in enumerate(seen.classes.tolist()) if label == "O"]
    rows = []
    about = zip(texts, given.by_text(), given.types, tokens, marginals, found)
    for text, spans, types, pairs, of_tokens, probable in about:
        p = np.reshape(of_tokens, (len(pairs), len(seen.classes)))
        inside = np.clip(1.0 - p[:, outside].sum(axis=1), 0.0, 1.0)
        rows.append(Judged(0, text, spans, types, pairs, inside, probable))
    return rows


KINDS = "other type", "other boundary", "superfluous"


def _of_spans(judged: list[Judged], where: list[Where]) -> Iterator[Finding]:
    """Yield what is wrong in texts, and what is missing."""
    evidence = Evidence(judged)
    draw = random.Random(0)
    observed = list(evidence.places())
    planted = [
        _rows(evidence, plant(evidence, draw), len(GIVEN))
        for plant in (other_types, other_boundaries, superfluous)
    ]
    prior = np.zeros((len(GIVEN) + 1, len(KINDS)))
    prior[GIVEN.index("type"), 0] = 1.0
    prior[GIVEN.index("given"), 1] = -1.0
    prior[GIVEN.index("other boundary"), 1] = 1.0
    prior[GIVEN.index("most inside"), 2] = -1.0
    rows = _rows(evidence, observed, len(GIVEN))
    chances = chances_of(Mixture(rows, planted, prior))
    for (i, span), chance in zip(observed, chances):
        finding = _finding(evidence, i, span, chance)
        if finding is not None:
            yield finding._replace(where=where[i])
    for finding in _missing(evidence):
        yield finding._replace(where=where[finding.sequence])


def _rows(evidence: Evidence, places: Iterable[Place], width: int) -> Floats:
    rows = [evidence.described(i, span) for i, span in places]
    return np.reshape(rows, (len(rows), width))


def _finding(evidence: Evidence, i: int, span: Span, chance: Floats) -> Finding | None:
    """Make the finding of a span that is given; None if there is nothing to say."""
    p_given = evidence.probability(i, span)
    label, p_type = evidence.rival(i, span)
    other, p_other = evidence.crossing(i, span)
    nothing = 1.0 - float(max(evidence.judged[i].inside[evidence.inside(i, span)]))
    kind = KINDS[int(chance.argmax())]
    if kind == "other type" and label is None:
        kind = "other boundary" if p_other > nothing else "superfluous"
    if kind == "other boundary" and other is None:
        kind = "superfluous"
    total = float(chance.sum())
    prefers = p_given < max(p_type, p_other, nothing)
    if total < LISTED and not (prefers and total > LISTED / 4):
        return None
    text = _context(evidence.judged[i].text, span.start, span.end)
    found = Finding(i, *span, None, nothing, total, kind, total, text)
    if kind == "other type":
        return found._replace(suggested=label, probability=p_type)
    if kind == "other boundary":
        assert other is not None  # or the kind is another
        place = other.start, other.end
        return found._replace(suggested=other.label, probability=p_other, other=place)
    return found


def _missing(evidence: Evidence) -> Iterator[Finding]:
    """Yield spans that are probable, where no annotation says anything."""
    known = []
    candidates = []
    for i, each in enumerate(evidence.judged):
        types = each.types
        for span, p in evidence.likeliest(i):
            row = evidence.described_missing(i, span, p)
            if span in evidence.given[i]:
                known.append(row)
            elif not meets(span, each.spans) and (types is None or span.label in types):
                candidates.append((i, span, p, row))
    if not candidates:
        return
    n = len(candidates)
    observed = np.array([row for *_, row in candidates])
    planted = np.reshape(known, (len(known), len(MISSING)))
    share = (len(known) + 1.0) / n
    prior = np.zeros((len(MISSING) + 1, 1))
    prior[MISSING.index("found")] = 1.0
    prior[-1] = -np.log(share)
    usual = min(0.01 * share, 0.5)
    chances = chances_of(Mixture(observed, [planted], prior, usual))[:, 0]
    for (i, span, p, _), chance in zip(candidates, chances.tolist()):
        if chance >= LISTED or (p > 0.5 and chance > LISTED / 4):
            text = _context(evidence.judged[i].text, span.start, span.end)
            place = i, span.start, span.end
            yield Finding(*place, None, span.label, p, chance, "missing", chance, text)


_AROUND = 30
"""Characters shown on each side of a span."""


def _context(text: str, start: int, end: int) -> str:
    """Write a span in [ ], and a few characters around it."""
    before = text[max(0, start - _AROUND) : start]
    after = text[end:][:_AROUND]
    return " ".join(f"{before}[{text[start:end]}]{after}".split())


def corrected(
    spans: Iterable[Sequence[Any]], findings: Iterable[Finding]
) -> list[tuple[int, int, str]]:
    """Change the spans of a text as its findings suggest."""
    wrong = set()
    new = []
    for each in findings:
        wrong.add((each.start, each.end))
        if each.suggested is not None:
            new.append((*(each.other or (each.start, each.end)), each.suggested))
    stay = [
        tuple(span)
        for span in spans
        if (span[0], span[1]) not in wrong and span[2] is not None
    ]
    free = [
        span
        for k, span in enumerate(new)
        if not any(a < span[1] and span[0] < b for a, b, _ in [*stay, *new[:k]])
    ]
    return sorted([*stay, *free])
