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
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np

from .._data.inputs import check_choice, is_int
from .._data.places import in_sequence
from .._data.scheme_rules import LabelTable, check_scheme, read_spans
from .._data.types import Corpus, Weights
from .checks import (
    ZeroDivision,
    f1,
    in_order,
    label_pairs,
    ratio,
    value_of_nothing,
    warn_undefined,
)
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
"""The advice in the error for a label without prefix."""


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


COLUMNS = ("precision", "recall", "f1")
"""The scores of a type, or an average."""


def row_of(correct: float, n_true: float, n_pred: float, nothing: float = 0.0) -> Row:
    """Compute the scores of one type from its counts."""
    return {
        "precision": ratio(correct, n_pred, nothing),
        "recall": ratio(correct, n_true, nothing),
        "f1": f1(correct, n_true, n_pred, nothing),
        "support": n_true,
    }


def segment_rows(
    counts: Counts, nothing: float = 0.0, kinds: Iterable[Any] = ()
) -> tuple[dict[Any, Row], dict[str, Row]]:
    """Compute precision, recall, F1 and support, per type and per average.

    Parameters
    ----------
    counts : tuple of Counter
        Segments by type: correct, true, predicted.
    nothing : float, default=0.0
        What stands where there is nothing to count; NaN is left out of averages.
    kinds : iterable of types
        That have a row though they may be on neither side.
    """
    correct, n_true, n_pred = counts
    types = {
        kind: row_of(correct[kind], n_true[kind], n_pred[kind], nothing)
        for kind in in_order([*n_true, *n_pred, *kinds])
    }
    sums = [sum(counter.values()) for counter in counts]
    total = row_of(sums[0], sums[1], sums[2], nothing)
    macro = dict(total)
    weighted = dict(total)
    for column in COLUMNS if types else ():
        known = [row for row in types.values() if row[column] == row[column]]
        support = sum(row["support"] for row in known)
        macro[column] = ratio(sum(row[column] for row in known), len(known), nothing)
        weighted[column] = ratio(
            sum(row[column] * row["support"] for row in known), support, nothing
        )
    return types, {"micro": total, "macro": macro, "weighted": weighted}


_BELOW = {
    "precision": ((2,), "predicted"),
    "recall": ((1,), "true"),
    "f1": ((1, 2), "true, and none is predicted"),
}
"""The count that each score is divided by, and the message if it is 0."""


def _warn_of_nothing(
    counts: Counts, zero_division: ZeroDivision, columns: Iterable[str], kinds: Any
) -> None:
    """Warn of what `segment_rows` divides by nothing, in some columns."""
    types = in_order([*counts[1], *counts[2], *kinds])
    for column in columns if isinstance(zero_division, str) else ():
        below, side = _BELOW[column]
        none = [kind for kind in types if not any(counts[side][kind] for side in below)]
        if types and not none:
            continue
        listed = ", ".join(map(repr, none[:_LISTED]))
        more = f" and {len(none) - _LISTED} more" if len(none) > _LISTED else ""
        what = f"nothing of {listed}{more}" if types else "nothing"
        warn_undefined(zero_division, column.capitalize(), f"{what} is {side}")


_LISTED = 5
"""Types that a warning names."""


@overload
def segment_f1_score(
    y_true: Corpus,
    y_pred: Corpus,
    *,
    scheme: str = ...,
    average: Average = ...,
    mode: Mode = ...,
    sample_weight: Weights = ...,
    zero_division: ZeroDivision = ...,
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
    zero_division: ZeroDivision = ...,
) -> dict[str, float]: ...


def segment_f1_score(
    y_true: Corpus,
    y_pred: Corpus,
    *,
    scheme: str = "BIO",
    average: Average | None = "micro",
    mode: Mode = "conlleval",
    sample_weight: Weights = None,
    zero_division: ZeroDivision = "warn",
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
    zero_division : {"warn", 0.0, 1.0, np.nan}, default="warn"
        The score if no segment is true and none is predicted; "warn" is 0.0 with a
        warning.

    Returns
    -------
    float, or dict of float by type if `average` is None

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
    value_of_nothing(zero_division)
    counts = _count_segments(y_true, y_pred, scheme, mode, sample_weight)
    return f1_of(counts, average, zero_division)


@overload
def f1_of(
    counts: Counts, average: Average, zero_division: ZeroDivision, kinds: Any = ...
) -> float: ...


@overload
def f1_of(
    counts: Counts,
    average: Average | None,
    zero_division: ZeroDivision,
    kinds: Any = ...,
) -> float | dict[Any, float]: ...


def f1_of(
    counts: Counts,
    average: Average | None,
    zero_division: ZeroDivision,
    kinds: Sequence[Any] = (),
) -> float | dict[Any, float]:
    """Compute F1 on average, or, if ``average`` is None, by type; ``kinds`` as of
    `segment_rows`.
    """
    nothing = value_of_nothing(zero_division)
    if average is not None or kinds:
        _warn_of_nothing(counts, zero_division, ["f1"], kinds)
    types, averages = segment_rows(counts, nothing, kinds)
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
    zero_division: ZeroDivision = ...,
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
    zero_division: ZeroDivision = ...,
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
    zero_division: ZeroDivision = "warn",
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
    zero_division : {"warn", 0.0, 1.0, np.nan}, default="warn"
        What stands where there is nothing to count, such as the precision of a type
        that is never predicted; "warn" is 0.0 with a warning.

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
    value_of_nothing(zero_division)
    check_digits(digits)
    counts = _count_segments(y_true, y_pred, scheme, mode, sample_weight)
    report = report_of(counts, zero_division)
    return report if output_dict else report_text(report, digits)


def report_of(
    counts: Counts, zero_division: ZeroDivision, kinds: Sequence[Any] = ()
) -> dict[Any, Row]:
    """Name the rows of types and averages; ``kinds`` as of `segment_rows`."""
    nothing = value_of_nothing(zero_division)
    _warn_of_nothing(counts, zero_division, COLUMNS, kinds)
    types, averages = segment_rows(counts, nothing, kinds)
    named = {f"{name} avg": row for name, row in averages.items()}
    for name in types.keys() & named.keys():
        raise ValueError(
            f"{name!r} is a label and the name of an average of the report; rename the "
            "label"
        )
    return {**types, **named}


def check_digits(digits: Any) -> None:
    """Raise unless a number of decimals is an int of at least 0."""
    if not is_int(digits) or digits < 0:
        raise ValueError(f"digits must be an int of at least 0, got {digits!r}")


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
