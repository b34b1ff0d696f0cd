"""Which labels of a corpus are probably wrong: by models that did not see the sequence."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, NamedTuple

from .._sklearn import final_step
from ..data.types import Corpus
from .differences import Difference
from .html import box, cell, escaped, label_html, note, readable, table
from .out_of_fold import predicted_out_of_fold
from .span_issues import SpanIssue, context_of, issues_of_spans
from .weight_tables import Records

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
        The label of the corpus, and the most probable one. Of texts labels of tokens, such as ``"B-PER"``.
    probability : float
        Of the suggested label.
    score : float
        How suspicious the label is: the probability of the suggested label minus that of the given one.
    """

    sequence: int
    position: int
    given: Any
    suggested: Any
    probability: float
    score: float


class LabelIssues(Records):
    """A list of `LabelIssue`, of texts with spans of `SpanIssue`, most suspicious first.

    Notebooks show the labels with the tokens around.
    """

    _record = LabelIssue

    def __init__(self, items: Any = (), tokens: Any = None) -> None:
        super().__init__(items)
        self._tokens = tokens or {}  # sequence -> (its tokens, their positions), or its text

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return type(self)(found, self._tokens) if isinstance(index, slice) else found

    def context(self, issue: LabelIssue | SpanIssue) -> str:
        """The token or span of an issue in [ ], and what is around it; "" if that is not known."""
        if issue.sequence not in self._tokens:
            return ""
        if isinstance(issue, SpanIssue):
            return context_of(self._tokens[issue.sequence], issue)
        tokens, positions = self._tokens[issue.sequence]
        t = bisect_left(positions, issue.position)
        return Difference("", "", False, issue.sequence, t, t + 1, tokens).text()

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
        head = "score", "sequence", "position", "given", "suggested", "probability", "where"
        rows = [
            [
                cell(f"{issue.score:.3f}", "number"),
                cell(f"{issue.sequence:,}", "number"),
                cell(f"{issue.position:,}", "number"),
                cell(label_html(_named(issue.given))),
                cell(label_html(_named(issue.suggested))),
                cell(f"{issue.probability:.3f}", "number"),
                cell(escaped(self.context(issue), 200)),
            ]
            for issue in self[:SHOWN]
        ]
        rest = note(f"{len(self) - SHOWN:,} more") if len(self) > SHOWN else ""
        return box(table(rows, head, "long") + rest)


class SpanIssues(LabelIssues):
    """The same of spans."""

    _record = SpanIssue


def _named(label):
    """A label for display; of what is no span a dash."""
    return "-" if label is None else readable(label)


def label_issues(
    estimator: Any, X: Any, y: Corpus, *, cv: Any = 5, groups: Any = None, n_jobs: int | None = None
) -> LabelIssues:
    """Labels of a corpus that are probably wrong.

    Every label is compared with the probabilities that a model gives which was not trained on its sequence
    [1]_. Where another label is more probable, the label is an issue.

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
        Most suspicious first: by `LabelIssue.score`. Of a ``SpanTagger`` whole spans, those that are missing
        too: each a `SpanIssue` (sequence, start, end, given, suggested, probability, score).

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
        return SpanIssues(*issues_of_spans(estimator, X, y, cv, groups, n_jobs))
    found = predicted_out_of_fold(estimator, X, y, cv, groups, n_jobs)
    values = found.classes.tolist()
    column = {label: k for k, label in enumerate(values)}
    issues, tokens = [], {}
    for i, (rows, labels, shown, positions) in enumerate(zip(*found[:4])):
        best = rows.argmax(axis=1).tolist() if len(rows) else []
        for t, (given, k) in enumerate(zip(labels, best)):
            if given is None or given == values[k]:
                continue
            p = float(rows[t, k])
            issues.append(LabelIssue(i, positions[t], given, values[k], p, p - float(rows[t, column[given]])))
            tokens[i] = shown, positions
    return LabelIssues(sorted(issues, key=lambda issue: -issue.score), tokens)
