"""The least probability, type by type, from which spans have a precision."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._core.user_warnings import warn
from .._data.inputs import renumbered
from .._data.spans import Span, trimmed_spans
from .._data.text import as_texts
from .._data.types import Corpus
from .._sklearn import final_step
from ..metrics.text_scores import judged
from .curve_panels import panels
from .html import Shown, box, cell, label_html, note, table
from .out_of_fold import by_fold
from .span_evidence import LEAST


class TypeThreshold(NamedTuple):
    """The threshold and figures of the spans of one type.

    Attributes
    ----------
    threshold : float
        The least probability; 1.0 if no lower one has the precision.
    precision, recall : float
        Scores of the spans with at least this probability, out of fold.
    n_spans : int
        True spans.
    """

    threshold: float
    precision: float
    recall: float
    n_spans: int


class SpanThresholds(dict[str, float], Shown):
    """Types and their least probabilities, as ``min_proba`` takes them; prints as a
    table, and notebooks draw the curves.

    Attributes
    ----------
    rows : dict of str to TypeThreshold
    curves : dict of str to (precision, recall, thresholds)
        Three arrays for each type, by falling threshold.
    """

    def __init__(
        self, rows: dict[str, TypeThreshold], curves: dict[str, tuple[Any, Any, Any]]
    ) -> None:
        super().__init__((kind, row.threshold) for kind, row in rows.items())
        self.rows = rows
        self.curves = curves

    def __reduce__(self) -> tuple[Any, ...]:
        return SpanThresholds, (self.rows, self.curves)

    def __str__(self) -> str:
        width = max([len(kind) for kind in self.rows] + [4])
        columns = "threshold", "precision", "recall", "spans"
        lines = [" " * width + "".join(f"{name:>11}" for name in columns)]
        for kind, row in self.rows.items():
            cells = "".join(f"{value:>11.4f}" for value in row[:3])
            lines.append(f"{kind:<{width}}{cells}{row.n_spans:>11}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            (
                cell(label_html(kind or "(no type)")),
                *(cell(f"{value:.4f}", "number") for value in row[:3]),
                cell(f"{row.n_spans:,}", "number"),
            )
            for kind, row in self.rows.items()
        ]
        head = "", "threshold", "precision", "recall", "spans"
        counts = {kind: row.n_spans for kind, row in self.rows.items()}
        drawn = panels(self.curves, counts, {kind: [p] for kind, p in self.items()})
        said = note("A dot marks the threshold; probabilities fall along the curve.")
        return box(f'<div class="report">{table(rows, head)}{said}{drawn}</div>')


def check_span_tagger(estimator: Any, who: str) -> None:
    """Raise a TypeError if an estimator is no ``SpanTagger``, which ``who`` needs."""
    inner = final_step(estimator).estimator
    if getattr(inner, "explained_as", None) != "spans" or hasattr(
        inner, "predict_sets"
    ):
        raise TypeError(f"{who} needs a SpanTagger, got a {type(inner).__name__}")


def thresholds_for(
    estimator: Any,
    X: Any,
    y: Corpus,
    *,
    precision: float = 0.95,
    cv: Any = 5,
    groups: Any = None,
    n_jobs: int | None = None,
) -> SpanThresholds:
    """Find the least probability of spans of each type from which they have a
    precision.

    The probabilities are those by models that were not trained on the text. Of all
    thresholds at which spans had the precision the lowest is taken: it is an estimate,
    where ``SpanSets(precision=...)`` makes a promise.

    Parameters
    ----------
    estimator : SpanTagger
        It is cloned. A tagger without probabilities is calibrated.
    X, y
        As of its ``fit``.
    precision : float, default=0.95
        Above 0, up to 1.
    cv : int, splitter or iterable of (train, test), default=5
        Each text must be in one test set. A number makes folds of consecutive texts.
    groups : array-like of shape (n_texts,), optional
        Texts of one group stay in one fold.
    n_jobs : int, optional
        Folds at the same time, in threads.

    Returns
    -------
    SpanThresholds
        ``predict(X, min_proba=...)`` takes it.

    Raises
    ------
    ValueError
        If the input is not as the estimator takes it, or ``precision`` is no such
        number.
    TypeError
        If the estimator is no ``SpanTagger``.

    Warns
    -----
    UserWarning
        If a type has the precision at no threshold.

    Examples
    --------
    >>> from skstruct import L1CRF, SpanTagger
    >>> from skstruct.inspection import thresholds_for
    >>> X = ["Ann is here.", "Is Bob here?", "Oslo is far.", "Rome, too."] * 5
    >>> y = [[(0, 3, "PER")], [(3, 6, "PER")], [(0, 4, "LOC")], [(0, 4, "LOC")]] * 5
    >>> tagger = SpanTagger(L1CRF(c1=0.1, random_state=0))
    >>> found = thresholds_for(tagger, X, y, precision=0.9)
    >>> sorted(found), all(row.precision >= 0.9 for row in found.rows.values())
    (['LOC', 'PER'], True)
    """
    if isinstance(precision, bool) or not 0.0 < precision <= 1.0:
        raise ValueError(
            f"precision must be a number above 0, up to 1, got {precision!r}"
        )
    check_span_tagger(estimator, "thresholds_for")
    parts, _ = by_fold(_out_of_fold, estimator, X, y, cv, groups, n_jobs)
    n_true, curves = curves_of(pair for part in parts for pair in part)
    rows = {}
    for kind, curve in curves.items():
        rows[kind] = _lowest(*curve, precision, n_true[kind])
        if rows[kind].precision < precision:
            warn(
                f"no threshold gives spans of the type {kind!r} the precision "
                f"{precision}; theirs is set to 1.0"
            )
    return SpanThresholds(rows, curves)


Candidate: TypeAlias = tuple[str, float, bool]
"""Type and probability of a span, and whether it is right."""


def _out_of_fold(
    estimator: Any, X: Any, y: Corpus, test: np.ndarray
) -> list[tuple[list[str], list[Candidate]]]:
    with renumbered(test):
        return candidates_of(estimator, X, y)


def candidates_of(
    estimator: Any, X: Any, y: Corpus
) -> list[tuple[list[str], list[Candidate]]]:
    """Return for each text the types of its true spans, and its candidates, which are
    the spans that a fitted model of texts holds for possible.
    """
    model, texts = final_step(estimator, X)
    texts = as_texts(texts)
    gold = trimmed_spans(texts, y)
    rows = []
    for true, found in zip(gold, model.predict_segment_proba(texts, min_proba=LEAST)):
        p = {Span(*span): value for span, value in found}
        right, told = judged(true, p)
        candidates = [(str(span.label), p[span], span in right) for span in told]
        rows.append(([str(span.label) for span in right], candidates))
    return rows


def curves_of(
    rows: Iterable[tuple[list[str], list[Candidate]]],
) -> tuple[dict[str, int], dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]]:
    """Return the number of true spans of each type, and its `precision_recall_curve`.

    ``rows`` are those of :func:`candidates_of`.
    """
    n_true: dict[str, int] = {}
    found: dict[str, list[tuple[float, bool]]] = {}
    for true, candidates in rows:
        for kind in true:
            n_true[kind] = n_true.get(kind, 0) + 1
        for kind, p, is_right in candidates:
            found.setdefault(kind, []).append((p, is_right))
    kinds = sorted({*n_true, *found})
    counts = {kind: n_true.get(kind, 0) for kind in kinds}
    curves = {
        kind: precision_recall_curve(found.get(kind, []), counts[kind])
        for kind in kinds
    }
    return counts, curves


def precision_recall_curve(
    found: list[tuple[float, bool]], n_true: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return precision, recall and thresholds, these from high to low."""
    p, right = np.array(found, float).reshape(-1, 2).T
    order = np.argsort(-p, kind="stable")
    p = p[order]
    n_right = np.cumsum(right[order])
    last = np.flatnonzero(np.append(p[1:] < p[:-1], np.ones(min(len(p), 1), bool)))
    share = n_right[last] / (last + 1)
    return share, n_right[last] / max(n_true, 1), p[last]


def _lowest(
    share: np.ndarray, recall: np.ndarray, p: np.ndarray, precision: float, n_true: int
) -> TypeThreshold:
    enough = np.flatnonzero(share >= precision)
    if not enough.size:
        return TypeThreshold(1.0, 0.0, 0.0, n_true)
    k = int(enough[-1])
    return TypeThreshold(float(p[k]), float(share[k]), float(recall[k]), n_true)
