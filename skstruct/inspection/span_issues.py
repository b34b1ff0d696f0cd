"""Which spans of texts are probably wrong, or missing: by models that did not see the text."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from .._sklearn import final_step, safe_indexing
from ..core.user_warnings import warning_once
from ..data.inputs import renumbered
from ..data.scheme_rules import LabelTable
from ..data.spans import as_spans
from ..data.text import as_texts
from .out_of_fold import folds_for, with_marginals

_AROUND = 30
"""Characters shown on each side of a span."""


class SpanIssue(NamedTuple):
    """A span that is probably wrong, or missing.

    Attributes
    ----------
    sequence : int
        The text.
    start, end : int
        Of the span; characters, the end exclusive.
    given, suggested : str or None
        The label of the span in the corpus, None if it is not there; and the label that it should have, None
        if it should not be there. A span with wrong ends makes two issues.
    probability : float
        Of what is suggested: of the span with that label, or that the given span is none.
    score : float
        The probability minus that of what is given.
    """

    sequence: int
    start: int
    end: int
    given: Any
    suggested: Any
    probability: float
    score: float

    @property
    def position(self) -> int:
        """Where the span begins."""
        return self.start


def issues_of_spans(estimator, X, y, cv, groups, n_jobs):
    """(list of `SpanIssue`, the most suspicious first; texts); parameters as of `label_issues`."""
    folds = folds_for(cv, groups, X, y)
    estimator = with_marginals(estimator)
    with warning_once():
        parts = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(_one_fold)(clone(estimator), X, y, train, test) for train, test in folds
        )
    found = [issue for issues, _ in parts for issue in issues]
    texts = {i: text for _, texts in parts for i, text in texts.items()}
    return sorted(found, key=lambda issue: (-issue.score, issue[:3])), texts


def _one_fold(estimator, X, y, train, test):
    with renumbered(train):
        estimator.fit(safe_indexing(X, train), safe_indexing(y, train))
    with renumbered(test):
        model, texts = final_step(estimator, safe_indexing(X, test))
        texts = as_texts(texts)
        given = as_spans(safe_indexing(y, test), texts).by_text()
        predicted = model.predict_segment_proba(texts)
    known = {kind for _, kind in LabelTable(model.scheme).parse(np.asarray(model.tagger_.classes_).tolist())}
    asked = [[span for span in row if span.label in known] for row in given]
    answered = model.predict_segment_proba(texts, asked)
    issues = []
    for i, row, pairs, new in zip(test.tolist(), given, answered, predicted):
        issues += _issues(i, row, dict(pairs), new)
    return issues, dict(zip(test.tolist(), texts))


def _issues(i, given, proba, predicted):
    """Yield the issues of a text; ``proba`` has that of each given span whose label the model knows."""
    best = {(span.start, span.end): (span.label, p) for span, p in predicted}
    # A probability of exactly 0 is that of a span which is no whole tokens: fit has moved it.
    moved = [span for span in given if span.label is None or proba.get(span) == 0.0]
    for span in given:
        place = span.start, span.end
        if span in moved:
            best.pop(place, None)
            continue
        p_given, (label, p) = proba.get(span, 0.0), best.pop(place, (None, None))
        if label == span.label:
            continue
        p = 1.0 - p_given if label is None else p
        if p > p_given:
            yield SpanIssue(i, *place, span.label, label, p, p - p_given)
    types = getattr(given, "types", {label for label, _ in best.values()})
    for (start, end), (label, p) in best.items():
        if p > 0.5 and label in types and not any(each.start < end and start < each.end for each in moved):
            yield SpanIssue(i, start, end, None, label, p, 2.0 * p - 1.0)


def context_of(text, issue):
    """The span of an issue in [ ], and a few characters around it."""
    before, after = text[max(0, issue.start - _AROUND) : issue.start], text[issue.end :][:_AROUND]
    return " ".join(f"{before}[{text[issue.start : issue.end]}]{after}".split())


def corrected(spans, issues):
    """Spans of a text with what its issues suggest."""
    wrong = {(issue.start, issue.end) for issue in issues}
    stay = [span for span in spans if (span[0], span[1]) not in wrong and span[2] is not None]
    new = [(issue.start, issue.end, issue.suggested) for issue in issues if issue.suggested is not None]
    return sorted([*map(tuple, stay), *new])
