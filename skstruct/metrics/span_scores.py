"""Scores of spans of characters: a predicted span is right if start, end and label are.

Spans whose label is None in the true annotation say that nobody looked there: what is predicted there counts
neither as right nor as wrong; nor do predictions of types that a `PartialSpans` does not name. Predicted
spans whose label is None do not count.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from itertools import accumulate
from typing import overload

from numpy.typing import ArrayLike

from ..data.spans import as_spans, refuse_dicts, trimmed_spans
from ..data.text import as_texts
from ..data.types import Corpus, Texts
from .checks import check_choice, check_pairs, check_weight
from .label_scores import AVERAGES, Average, f1_of, report_of, report_text


@overload
def span_f1_score(
    y_true: Corpus,
    y_pred: Corpus,
    average: Average = ...,
    sample_weight: ArrayLike | None = ...,
    *,
    texts: Texts | None = ...,
) -> float: ...


@overload
def span_f1_score(
    y_true: Corpus,
    y_pred: Corpus,
    average: None,
    sample_weight: ArrayLike | None = ...,
    *,
    texts: Texts | None = ...,
) -> dict[str, float]: ...


def span_f1_score(
    y_true: Corpus,
    y_pred: Corpus,
    average: Average | None = "micro",
    sample_weight: ArrayLike | None = None,
    *,
    texts: Texts | None = None,
) -> float | dict[str, float]:
    """F1 of spans of texts.

    Parameters
    ----------
    y_true, y_pred : list of lists of (start, end, label)
        For each text its spans, in any order; those that occur twice count once. Where ``y_true`` has spans
        with the label None, predictions that touch them do not count, unless they are right. Spans of
        ``y_pred`` with the label None say nothing, and do not count.
    average : {"micro", "macro", "weighted"} or None, default="micro"
        Over all spans, over labels, over labels weighted by true spans, or none: one F1 per label.
    sample_weight : array-like of shape (n_texts,), optional
        Multiplies the counts of a text's spans.
    texts : list of str, optional
        The texts. With them white space at the ends of spans does not count, as in ``score`` of
        :class:`skstruct.SpanTagger` and in ``span_f1_scorer``.

    Returns
    -------
    float, or dict of float by label if `average` is None
        1.0 if no span is true and none is predicted.

    Raises
    ------
    ValueError
        If there are not as many lists on both sides, an element is no span (the message names the place),
        or a parameter has a value not named here.

    Examples
    --------
    >>> y_true = [[(0, 3, "PER"), (8, 13, "LOC")], []]
    >>> y_pred = [[(0, 3, "PER"), (8, 12, "LOC")], []]
    >>> span_f1_score(y_true, y_pred)
    0.5
    >>> span_f1_score(y_true, y_pred, average=None)
    {'LOC': 0.0, 'PER': 1.0}
    >>> span_f1_score(y_true, y_pred, texts=["Ann saw Rome once.", ""])
    1.0
    """
    check_choice("average", average, AVERAGES)
    return f1_of(_counts(y_true, y_pred, sample_weight, texts), average)


def span_report(
    y_true: Corpus,
    y_pred: Corpus,
    sample_weight: ArrayLike | None = None,
    *,
    texts: Texts | None = None,
) -> str:
    """Precision, recall, F1 and number of true spans, by label and on average.

    Parameters
    ----------
    y_true, y_pred, sample_weight, texts
        As for `span_f1_score`.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        As `span_f1_score`.

    Examples
    --------
    >>> print(span_report([[(0, 3, "PER"), (8, 13, "LOC")]], [[(0, 3, "PER")]]))
                  precision  recall      f1  support
             LOC     0.0000  0.0000  0.0000        1
             PER     1.0000  1.0000  1.0000        1
       micro avg     1.0000  0.5000  0.6667        2
       macro avg     0.5000  0.5000  0.5000        2
    weighted avg     0.5000  0.5000  0.5000        2
    """
    return report_text(report_of(_counts(y_true, y_pred, sample_weight, texts)), digits=4)


def _counts(y_true, y_pred, sample_weight, texts):
    """Spans by label: three Counters (correct, true, predicted)."""
    true, found = both_sides(y_true, y_pred, texts)
    weight = [1] * len(true) if sample_weight is None else check_weight(sample_weight, len(true)).tolist()
    return count_spans(true, found, weight)


def both_sides(y_true, y_pred, texts):
    """True and predicted spans, checked, as lists of lists of `Span`."""
    refuse_dicts(y_true, "y_true")
    refuse_dicts(y_pred, "y_pred")
    pairs = check_pairs(y_true, y_pred, same_length=False)
    sides = {"y_true": [true for true, _ in pairs], "y_pred": [found for _, found in pairs]}
    if texts is None:
        return [as_spans(spans, name=name).by_text() for name, spans in sides.items()]
    texts = as_texts(texts, "texts")
    return [trimmed_spans(texts, spans, name) for name, spans in sides.items()]


def count_spans(y_true, y_pred, weight):
    """The same for lists of lists of `Span`, and a number for each text."""
    correct, n_true, n_pred = Counter(), Counter(), Counter()
    for true, found, w in zip(y_true, y_pred, weight):
        true, found = judged(true, found)
        for counter, spans in ((correct, true.intersection(found)), (n_true, true), (n_pred, set(found))):
            for span in spans:
                counter[span.label] += w
    return correct, n_true, n_pred


def judged(true, found):
    """The spans of a text that count: a set of the true ones, and a list of those that were found."""
    blank = sorted(span for span in true if span.label is None)
    right = {span for span in true if span.label is not None}
    starts, furthest = [span.start for span in blank], list(accumulate([span.end for span in blank], max))

    def is_blank(span):
        """Whether the span shares a character with one of those that begin before its end."""
        k = bisect_left(starts, span.end)
        return k > 0 and furthest[k - 1] > span.start

    types = getattr(true, "types", None)
    told = (span for span in found if span.label is not None and (types is None or span.label in types))
    return right, [span for span in told if span in right or not is_blank(span)]
