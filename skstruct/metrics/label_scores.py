"""Scores of label sequences: tokens, sequences, and the segments that labels encode.

Counts are summed over the corpus and divided once; segments are compared as sets of
``(start, stop, type)``. Segments are read as by `skstruct._data.schemes`. Tokens whose
true label is None do not count, nor do segments that hold or touch one
(:mod:`.counting`).

References
----------
E. F. Tjong Kim Sang and S. Buchholz, "Introduction to the CoNLL-2000 shared task:
chunking", 2000: segments as conlleval counts them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np

from .._data.inputs import check_choice
from .._data.places import in_sequence
from .._data.scheme_rules import LabelTable, check_scheme, read_spans
from .._data.types import Corpus, Weights
from .checks import f1, in_order, label_pairs, ratio
from .counting import (
    annotated_segments,
    count_right,
    has_label,
    segments_that_count,
    weights_of,
    with_label,
    with_none,
    with_one_label,
)

if TYPE_CHECKING:
    from .._taggers.probability_tagger import Segment


AVERAGES = ("micro", "macro", "weighted", None)
MODES = ("conlleval", "strict")
Average: TypeAlias = Literal["micro", "macro", "weighted"]
Mode: TypeAlias = Literal["conlleval", "strict"]
Labels: TypeAlias = "list[Any] | tuple[Any, ...]"
Row: TypeAlias = dict[str, float]
"""Precision, recall, f1 and support of a type, or on average."""

Counts: TypeAlias = "tuple[Counter[Any], Counter[Any], Counter[Any]]"
"""By type or label: how many segments, spans or tokens are right, true and
predicted.
"""


PLAIN = "labels that encode no segments are scored by token_report"
"""What the error for a label without prefix advises."""


def _accuracy(correct: list[Any], total: list[Any], sample_weight: Weights) -> float:
    weight = np.array(weights_of(sample_weight, total), float)
    return ratio(weight @ np.array(correct, float), weight @ np.array(total, float))


def token_accuracy_score(
    y_true: Corpus, y_pred: Corpus, sample_weight: Weights = None
) -> float:
    """Compute the share of tokens with the right label.

    Parameters
    ----------
    y_true, y_pred : sequences of label sequences
        Tokens whose true label is None do not count, as in ``score`` of taggers; of a
        set of labels any is right.
    sample_weight : array-like of shape (n_sequences,), optional
        Weight of each sequence's tokens.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If lengths differ (the message names the sequence), a weight is negative or not
        finite, or no token has a true label and a weight.

    Examples
    --------
    >>> token_accuracy_score([["A", "B"], ["A", "A"]], [["A", "A"], ["A", "A"]])
    0.75
    """
    pairs = [with_label(*pair) for pair in label_pairs(y_true, y_pred)]
    correct = [count_right(true, pred) for true, pred in pairs]
    return _accuracy(correct, [len(true) for true, _ in pairs], sample_weight)


def sequence_accuracy_score(
    y_true: Corpus, y_pred: Corpus, sample_weight: Weights = None
) -> float:
    """Compute the share of sequences with all labels right.

    Parameters
    ----------
    y_true, y_pred : sequences of label sequences
        Tokens whose true label is None do not count, nor do sequences that hold no
        others, such as empty ones; of a set of labels any is right.
    sample_weight : array-like of shape (n_sequences,), optional

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If lengths differ (the message names the sequence), a weight is negative or not
        finite, or no token has a true label and a weight.

    Examples
    --------
    >>> sequence_accuracy_score([["A", "B"], ["A", "A"]], [["A", "A"], ["A", "A"]])
    0.5
    """
    given = [with_label(*pair) for pair in label_pairs(y_true, y_pred)]
    total = [len(true) > 0 for true, _ in given]
    correct = [
        counts and count_right(*pair) == len(pair[0])
        for counts, pair in zip(total, given)
    ]
    return _accuracy(correct, total, sample_weight)


def segment_spans(
    pairs: Iterable[tuple[Labels, Labels]], table: LabelTable
) -> Iterator[tuple[list[Segment], list[Segment]]]:
    """Yield for each sequence its true and its predicted segments that count.

    They are (start, stop, type).

    Parameters
    ----------
    pairs : list of (true labels, predicted labels)
    table : LabelTable
    """
    of_gold = with_none(table)
    for i, (gold, pred) in enumerate(pairs):
        true = with_one_label(gold)
        with in_sequence(i, "y_true"):
            spans = read_spans(true, of_gold)
        with in_sequence(i, "y_pred"):
            # Most sequences of a good model are right as a whole.
            found = spans if pred == true else read_spans(pred, table)
        if true is not gold:
            found = annotated_segments(found, gold, pred)
        yield segments_that_count(spans, true), segments_that_count(found, true)


def _count_segments(
    y_true: Corpus, y_pred: Corpus, scheme: str, mode: str, sample_weight: Weights
) -> Counts:
    """Count segments by type: correct, true and predicted ones."""
    check_choice("mode", mode, MODES)
    table = LabelTable(check_scheme(scheme), mode == "strict", PLAIN)
    pairs = label_pairs(y_true, y_pred)
    counted = [has_label(with_one_label(true)) for true, _ in pairs]
    weight = weights_of(sample_weight, counted)
    correct: Counter[str] = Counter()
    n_true: Counter[str] = Counter()
    n_pred: Counter[str] = Counter()
    for w, (true, pred) in zip(weight, segment_spans(pairs, table)):
        for counter, spans in (
            (correct, set(true).intersection(pred)),
            (n_true, true),
            (n_pred, pred),
        ):
            for _, _, kind in spans if w else ():
                counter[kind] += w
    return correct, n_true, n_pred


def _row(correct: float, n_true: float, n_pred: float) -> Row:
    """Compute the scores of one type from its counts."""
    return {
        "precision": ratio(correct, n_pred),
        "recall": ratio(correct, n_true),
        "f1": f1(correct, n_true, n_pred),
        "support": n_true,
    }


def segment_rows(counts: Counts) -> tuple[dict[str, Row], dict[str, Row]]:
    """Compute precision, recall, F1 and support, per type and per average.

    Parameters
    ----------
    counts : tuple of Counter
        Segments by type: correct, true, predicted.
    """
    correct, n_true, n_pred = counts
    types = {
        kind: _row(correct[kind], n_true[kind], n_pred[kind])
        for kind in in_order([*n_true, *n_pred])
    }
    total = _row(sum(correct.values()), sum(n_true.values()), sum(n_pred.values()))
    macro = dict(total)
    weighted = dict(total)
    for column in ("precision", "recall", "f1") if types else ():
        macro[column] = ratio(sum(row[column] for row in types.values()), len(types))
        weighted[column] = ratio(
            sum(r[column] * r["support"] for r in types.values()), total["support"]
        )
    return types, {"micro": total, "macro": macro, "weighted": weighted}


@overload
def segment_f1_score(
    y_true: Corpus,
    y_pred: Corpus,
    *,
    scheme: str = ...,
    average: Average = ...,
    mode: Mode = ...,
    sample_weight: Weights = ...,
) -> float: ...


@overload
def segment_f1_score(
    y_true: Corpus,
    y_pred: Corpus,
    *,
    scheme: str = ...,
    average: None,
    mode: Mode = ...,
    sample_weight: Weights = ...,
) -> dict[str, float]: ...


def segment_f1_score(
    y_true: Corpus,
    y_pred: Corpus,
    *,
    scheme: str = "BIO",
    average: Average | None = "micro",
    mode: Mode = "conlleval",
    sample_weight: Weights = None,
) -> float | dict[str, float]:
    """Compute the F1 of the segments (chunks, entities) that label sequences encode.

    A predicted segment is right if start, stop and type are. Labels are prefixes with a
    type (``B-PER``) or without (``B``), or in the scheme IO types (``PER``).

    Parameters
    ----------
    y_true, y_pred : sequences of label sequences
        Where a true label is None, or a set of labels, segments of either side do not
        count that hold this token or stand right beside it: they might go on there.
    scheme : str, default="BIO"
        One of `skstruct.schemes.SCHEMES`: what strict mode holds the labels to. The
        default mode reads every prefix in the same way, whatever the scheme; labels
        without prefix (``PER``) it reads in the scheme ``"IO"`` only.
    average : {"micro", "macro", "weighted"} or None, default="micro"
        Over all segments, over types, over types weighted by true segments, or none:
        one F1 per type.
    mode : {"conlleval", "strict"}, default="conlleval"
        "conlleval" reads segments off any sequence as that script does, so that
        ``"micro"`` is its overall F1: an I after O or after another type opens a
        segment. "strict" counts only segments that are spelled as the scheme spells
        them.
    sample_weight : array-like of shape (n_sequences,), optional
        Multiplies the counts of a sequence's segments.

    Returns
    -------
    float, or dict of float by type if `average` is None
        1.0 if no segment is true and none is predicted.

    Raises
    ------
    ValueError
        If lengths differ, a label has an unknown prefix (strict: is not of the scheme),
        a weight is negative or not finite, no token has a true label and a weight, or a
        parameter has a value not named here. The message names the sequence.

    Examples
    --------
    >>> y_true = [["B-PER", "I-PER", "O", "B-LOC"]]
    >>> y_pred = [["I-PER", "I-PER", "O", "O"]]
    >>> round(segment_f1_score(y_true, y_pred), 3)
    0.667
    >>> segment_f1_score(y_true, y_pred, mode="strict")
    0.0
    >>> segment_f1_score(y_true, y_pred, average=None)
    {'LOC': 0.0, 'PER': 1.0}
    """
    check_choice("average", average, AVERAGES)
    return f1_of(_count_segments(y_true, y_pred, scheme, mode, sample_weight), average)


@overload
def f1_of(counts: Counts, average: Average) -> float: ...


@overload
def f1_of(counts: Counts, average: None) -> dict[str, float]: ...


def f1_of(counts: Counts, average: Average | None) -> float | dict[str, float]:
    """Compute F1 on average, or, if ``average`` is None, by type."""
    types, averages = segment_rows(counts)
    if average is None:
        return {kind: row["f1"] for kind, row in types.items()}
    return averages[average]["f1"]


@overload
def segment_report(
    y_true: Corpus,
    y_pred: Corpus,
    *,
    scheme: str = ...,
    mode: Mode = ...,
    output_dict: Literal[False] = ...,
    digits: int = ...,
    sample_weight: Weights = ...,
) -> str: ...


@overload
def segment_report(
    y_true: Corpus,
    y_pred: Corpus,
    *,
    scheme: str = ...,
    mode: Mode = ...,
    output_dict: Literal[True],
    sample_weight: Weights = ...,
) -> dict[str, dict[str, float]]: ...


def segment_report(
    y_true: Corpus,
    y_pred: Corpus,
    *,
    scheme: str = "BIO",
    mode: Mode = "conlleval",
    output_dict: bool = False,
    digits: int = 4,
    sample_weight: Weights = None,
) -> str | dict[str, dict[str, float]]:
    """Tabulate precision, recall, F1 and number of segments, by type and on average.

    Parameters
    ----------
    y_true, y_pred, scheme, mode
        As for `segment_f1_score`.
    output_dict : bool, default=False
    digits : int, default=4
        Decimals in the text.
    sample_weight : array-like of shape (n_sequences,), optional
        As for `segment_f1_score`; it multiplies "support", too.

    Returns
    -------
    str, or dict of dict if `output_dict`
        The dict maps each type, and "micro avg", "macro avg" and "weighted avg", to
        "precision", "recall", "f1" and "support".

    Raises
    ------
    ValueError
        As `segment_f1_score`.

    Examples
    --------
    >>> print(segment_report([["B-PER", "I-PER", "O", "B-LOC"]], [["I-PER", "I-PER", "O", "O"]]))
                  precision  recall      f1  support
             LOC     0.0000  0.0000  0.0000        1
             PER     1.0000  1.0000  1.0000        1
       micro avg     1.0000  0.5000  0.6667        2
       macro avg     0.5000  0.5000  0.5000        2
    weighted avg     0.5000  0.5000  0.5000        2
    """
    report = report_of(_count_segments(y_true, y_pred, scheme, mode, sample_weight))
    return report if output_dict else report_text(report, digits)


def report_of(counts: Counts) -> dict[str, Row]:
    """Name the rows of types and averages."""
    types, averages = segment_rows(counts)
    return {**types, **{f"{name} avg": row for name, row in averages.items()}}


def report_text(report: dict[str, Row], digits: int) -> str:
    """Write a report, which has a row for each type and each average, as a table."""
    width = max(map(len, report))
    cell = max(digits + 2, 6)
    lines = [f"{'':{width}}  precision  {'recall':>{cell}}  {'f1':>{cell}}  support"]
    for name, row in report.items():
        precision, recall, score, support = row.values()
        shown = f"{support:7.0f}" if support == round(support) else f"{support:7g}"
        figures = f"{precision:9.{digits}f}  {recall:{cell}.{digits}f}  {score:{cell}.{digits}f}"
        lines.append(f"{name:>{width}}  {figures}  {shown}")
    return "\n".join(lines)
