"""Labels of a corpus, or spans of texts, that are probably wrong.

Those say so who did not see them: models that were trained on other sequences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from .._data.inputs import flatten, renumbered
from .._data.scheme_rules import LabelTable
from .._data.spans import as_spans
from .._data.text import as_texts
from .._data.types import Corpus
from .._sklearn import final_step
from .error_lists import around
from .html import box, cell, escaped, label_html, note, readable, table
from .out_of_fold import by_fold, predicted_out_of_fold
from .weight_tables import Records

if TYPE_CHECKING:
    from .._data.spans import Span


SHOWN = 100
"""Issues that a picture shows; ``print`` shows a fifth of them."""


class LabelIssue(NamedTuple):
    """A label that is probably wrong.

    Attributes
    ----------
    sequence : int
    position : int
        Of the token in its sequence; in a text its first character.
    given, suggested : object
        The label of the corpus, and the most probable one. Of texts labels of tokens,
        such as ``"B-PER"``.
    probability : float
        Of the suggested label.
    score : float
        How suspicious the label is: the probability of the suggested label minus that
        of the given one.
    """

    sequence: int
    position: int
    given: Any
    suggested: Any
    probability: float
    score: float


class LabelIssues(Records):
    """A list of `LabelIssue`, or of spans of `SpanIssue`, most suspicious first.

    Notebooks show the labels with the tokens around.
    """

    _record: ClassVar[Any] = LabelIssue

    def __init__(self, items: Any = (), contexts: Any = None) -> None:
        super().__init__(items)
        self._contexts = contexts or {}

    def context(self, issue: LabelIssue | SpanIssue) -> str:
        """Return the token or span of an issue in [ ], and what is around it.

        It is "" if that is not known.
        """
        return self._contexts.get(issue, "")

    def __str__(self) -> str:
        lines = [
            f"{issue.score:.3f}  sequence {issue.sequence}, position {issue.position}: "
            f"{_named(issue.given)} -> {_named(issue.suggested)}   {self.context(issue)}"
            for issue in self[: SHOWN // 5]
        ]
        if len(self) > len(lines):
            lines.append(f"{len(self) - len(lines):,} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = (
            "score",
            "sequence",
            "position",
            "given",
            "suggested",
            "probability",
            "where",
        )
        rows = []
        for issue in self[:SHOWN]:
            places = f"{issue.score:.3f}", f"{issue.sequence:,}", f"{issue.position:,}"
            labels = [
                cell(label_html(_named(label)))
                for label in (issue.given, issue.suggested)
            ]
            where = cell(escaped(self.context(issue), 200))
            p = cell(f"{issue.probability:.3f}", "number")
            rows.append(
                [*(cell(place, "number") for place in places), *labels, p, where]
            )
        rest = note(f"{len(self) - SHOWN:,} more") if len(self) > SHOWN else ""
        return box(table(rows, head, "long") + rest)


def _named(label: Any) -> str:
    """Write a label for display; of what is no span a dash."""
    return "-" if label is None else readable(label)


def label_issues(
    estimator: Any,
    X: Any,
    y: Corpus,
    *,
    cv: Any = 5,
    groups: Any = None,
    n_jobs: int | None = None,
) -> LabelIssues:
    """Find labels of a corpus that are probably wrong.

    Every label is compared with the probabilities that a model gives which was not
    trained on its sequence [1]_. Where another label is more probable, the label is an
    issue.

    Parameters
    ----------
    estimator : estimator
        As of :func:`out_of_fold_marginals`.
    X, y
        As of its ``fit``. Tokens whose label is None or a set are no issues.
    cv, groups, n_jobs
        As of :func:`out_of_fold_marginals`.

    Returns
    -------
    LabelIssues
        Most suspicious first: by `LabelIssue.score`. Of a ``SpanTagger`` whole spans,
        those that are missing too: each a `SpanIssue` (sequence, start, end, given,
        suggested, probability, score).

    Raises
    ------
    ValueError, TypeError
        As :func:`out_of_fold_marginals`.

    References
    ----------
    .. [1] C. Northcutt, L. Jiang, I. Chuang (2021). Confident learning: estimating uncertainty in dataset
       labels. Journal of Artificial Intelligence Research 70.

    Examples
    --------
    >>> from skstruct import L1CRF
    >>> from skstruct.inspection import label_issues
    >>> X, y = [["the", "dog"], ["a", "cat"], ["the", "cat"]] * 10, [["D", "N"] for _ in range(30)]
    >>> y[4][1] = "D"
    >>> issues = label_issues(L1CRF(c1=0.1), X, y)
    >>> issues[0][:4]
    (4, 1, 'D', 'N')
    """
    model = final_step(estimator)[0]
    if getattr(model, "explained_as", None) == "spans":
        parts, _ = by_fold(_in_fold, estimator, X, y, cv, groups, n_jobs)
        contexts = dict(flatten(parts))
        return SpanIssues(sorted(contexts, key=_by_suspicion), contexts)
    found = predicted_out_of_fold(estimator, X, y, cv, groups, n_jobs)
    values = found.classes.tolist()
    contexts = {}
    column = {label: k for k, label in enumerate(values)}
    for i, (rows, labels, shown, positions) in enumerate(zip(*found[:4])):
        best = rows.argmax(axis=1).tolist() if len(rows) else []
        for t, (given, k) in enumerate(zip(labels, best)):
            if given is not None and given != values[k]:
                p = float(rows[t, k])
                score = p - float(rows[t, column[given]])
                issue = LabelIssue(i, positions[t], given, values[k], p, score)
                contexts[issue] = around(shown, t, t + 1)
    return LabelIssues(sorted(contexts, key=_by_suspicion), contexts)


def _by_suspicion(issue: LabelIssue | SpanIssue) -> tuple[Any, ...]:
    return -issue.score, issue[:3]


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
        The label of the span in the corpus, None if it is not there; and the label that
        it should have, None if it should not be there. A span with wrong ends makes two
        issues.
    probability : float
        Of what is suggested: of the span with that label, or that the given span is
        none.
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


def _in_fold(
    estimator: Any, X: Any, y: Corpus, test: np.ndarray
) -> list[tuple[SpanIssue, str]]:
    """Find the issues of a test set, each with its context."""
    with renumbered(test):
        model, texts = final_step(estimator, X)
        texts = as_texts(texts)
        given = as_spans(y, texts).by_text()
        predicted = model.predict_segment_proba(texts)
    known = {
        kind
        for _, kind in LabelTable(model.scheme).parse(
            np.asarray(model.tagger_.classes_).tolist()
        )
    }
    asked = [[span for span in row if span.label in known] for row in given]
    answered = model.predict_segment_proba(texts, asked)
    found = []
    for i, text, row, pairs, new in zip(
        test.tolist(), texts, given, answered, predicted
    ):
        found += [
            (issue, _context(text, issue))
            for issue in _issues(i, row, dict(pairs), new)
        ]
    return found


def _issues(
    i: int,
    given: list[Span],
    proba: dict[Span, float],
    predicted: list[tuple[Span, float]],
) -> Iterator[SpanIssue]:
    """Yield the issues of a text.

    ``proba`` has the probability of each given span whose label the model knows.
    """
    best = {(span.start, span.end): (span.label, p) for span, p in predicted}
    # A probability of exactly 0 is that of a span which is no whole tokens: fit has
    # moved it.
    moved = [span for span in given if span.label is None or proba.get(span) == 0.0]
    for span in given:
        place = span.start, span.end
        if span in moved:
            best.pop(place, None)
            continue
        p_given = proba.get(span, 0.0)
        label, p = best.pop(place, (None, 1.0 - p_given))
        if label == span.label:
            continue
        if p > p_given:
            yield SpanIssue(i, *place, span.label, label, p, p - p_given)
    types = getattr(given, "types", {label for label, _ in best.values()})
    for (start, end), (label, p) in best.items():
        if (
            p > 0.5
            and label in types
            and not any(each.start < end and start < each.end for each in moved)
        ):
            yield SpanIssue(i, start, end, None, label, p, 2.0 * p - 1.0)


def _context(text: str, issue: SpanIssue) -> str:
    """Write the span of an issue in [ ], and a few characters around it."""
    before = text[max(0, issue.start - _AROUND) : issue.start]
    after = text[issue.end :][:_AROUND]
    return " ".join(f"{before}[{text[issue.start : issue.end]}]{after}".split())


def corrected(
    spans: Iterable[Sequence[Any]], issues: Iterable[SpanIssue]
) -> list[tuple[int, int, str]]:
    """Change the spans of a text as its issues suggest."""
    wrong = {(issue.start, issue.end) for issue in issues}
    stay = [
        span
        for span in spans
        if (span[0], span[1]) not in wrong and span[2] is not None
    ]
    new = [
        (issue.start, issue.end, issue.suggested)
        for issue in issues
        if issue.suggested is not None
    ]
    return sorted([*map(tuple, stay), *new])


class SpanIssues(LabelIssues):
    """A list of `SpanIssue`, most suspicious first."""

    _record: ClassVar[Any] = SpanIssue
