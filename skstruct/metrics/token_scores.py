"""Scores of tokens by label: precision, recall, F1 and support of each.

They are what labels that encode no segments are scored by, such as parts of speech, yes
and no, helix and sheet. A token whose true label is A and whose predicted one is B is
missing from A and one too many in B. Tokens whose true label is None do not count
(:mod:`.counting`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal, TypeAlias, overload

from .._data.elements import exact, label_text, plain_value
from .._data.inputs import check_choice, describe
from .._data.labels import NOT_SEVERAL, SEVERAL
from .._data.places import PlaceError
from .._data.types import Corpus, Weights
from .checks import ZeroDivision, as_list, label_pairs, value_of_nothing
from .counting import weights_of, with_one_label
from .label_scores import (
    AVERAGES,
    Average,
    Counts,
    check_digits,
    f1_of,
    report_of,
    report_text,
)

ChosenLabels: TypeAlias = "Sequence[Any] | None"
"""The labels that a score is about; None stands for all."""


@overload
def token_f1_score(
    y_true: Corpus,
    y_pred: Corpus,
    *,
    labels: ChosenLabels = ...,
    average: Average = ...,
    sample_weight: Weights = ...,
    zero_division: ZeroDivision = ...,
) -> float: ...


@overload
def token_f1_score(
    y_true: Corpus,
    y_pred: Corpus,
    *,
    labels: ChosenLabels = ...,
    average: None,
    sample_weight: Weights = ...,
    zero_division: ZeroDivision = ...,
) -> dict[Any, float]: ...


def token_f1_score(
    y_true: Corpus,
    y_pred: Corpus,
    *,
    labels: ChosenLabels = None,
    average: Average | None = "macro",
    sample_weight: Weights = None,
    zero_division: ZeroDivision = "warn",
) -> float | dict[Any, float]:
    """Compute the F1 of tokens by their labels.

    It is ``f1_score`` of scikit-learn over the tokens of all sequences. Labels that
    encode segments, as in the scheme BIO, are for `segment_f1_score`: of a name of two
    tokens this score counts both.

    Parameters
    ----------
    y_true, y_pred : sequences of label sequences
        Tokens whose true label is None, or a set of labels, do not count. A prediction
        of None is wrong, and is no label's.
    labels : list of labels, optional
        The labels that count, such as all but ``"O"``; by default all of either side.
        The F1 of one that stands on neither side is what ``zero_division`` says, in
        averages, too.
    average : {"macro", "micro", "weighted"} or None, default="macro"
        Over labels, over all tokens, over labels weighted by true tokens, or none: one
        F1 per label. Over all labels "micro" is the accuracy.
    sample_weight : array-like of shape (n_sequences,), optional
        Multiplies the counts of a sequence's tokens.
    zero_division : {"warn", 0.0, 1.0, np.nan}, default="warn"
        The F1 of a label that stands on neither side, and of no labels; "warn" is 0.0
        with a warning, and NaN leaves such a label out of averages.

    Returns
    -------
    float, or dict of float by label if `average` is None

    Raises
    ------
    ValueError
        If lengths differ, a token is predicted a set of labels (the message names
        sequence and position), a weight is negative or not finite, no token has a true
        label and a weight, or a parameter has a value not named here.

    Examples
    --------
    >>> y_true = [["yes", "no", "no"], ["no"]]
    >>> y_pred = [["yes", "yes", "no"], ["no"]]
    >>> token_f1_score(y_true, y_pred, average=None)
    {'no': 0.8, 'yes': 0.6666666666666666}
    >>> token_f1_score(y_true, y_pred, labels=["no"])
    0.8
    """
    check_choice("average", average, AVERAGES)
    value_of_nothing(zero_division)
    chosen = _chosen(labels)
    counts = _count_tokens(y_true, y_pred, chosen, sample_weight)
    return f1_of(counts, average, zero_division, chosen or ())


@overload
def token_report(
    y_true: Corpus,
    y_pred: Corpus,
    *,
    labels: ChosenLabels = ...,
    output_dict: Literal[False] = ...,
    digits: int = ...,
    sample_weight: Weights = ...,
    zero_division: ZeroDivision = ...,
) -> str: ...


@overload
def token_report(
    y_true: Corpus,
    y_pred: Corpus,
    *,
    labels: ChosenLabels = ...,
    output_dict: Literal[True],
    sample_weight: Weights = ...,
    zero_division: ZeroDivision = ...,
) -> dict[Any, dict[str, float]]: ...


def token_report(
    y_true: Corpus,
    y_pred: Corpus,
    *,
    labels: ChosenLabels = None,
    output_dict: bool = False,
    digits: int = 4,
    sample_weight: Weights = None,
    zero_division: ZeroDivision = "warn",
) -> str | dict[Any, dict[str, float]]:
    """Tabulate precision, recall, F1 and number of tokens, by label and on average.

    Parameters
    ----------
    y_true, y_pred, labels
        As for `token_f1_score`.
    output_dict : bool, default=False
    digits : int, default=4
        Decimals in the text.
    sample_weight : array-like of shape (n_sequences,), optional
        As for `token_f1_score`; it multiplies "support", too.
    zero_division : {"warn", 0.0, 1.0, np.nan}, default="warn"
        What stands where there is nothing to count, such as the precision of a label
        that is never predicted; "warn" is 0.0 with a warning.

    Returns
    -------
    str, or dict of dict if `output_dict`
        The dict maps each label, and "micro avg", "macro avg" and "weighted avg", to
        "precision", "recall", "f1" and "support".

    Raises
    ------
    ValueError
        As `token_f1_score`.

    Examples
    --------
    >>> print(token_report([["H", "H", "H", "C", "H"]], [["H", "H", "C", "C", "H"]]))
                  precision  recall      f1  support
               C     0.5000  1.0000  0.6667        1
               H     1.0000  0.7500  0.8571        4
       micro avg     0.8000  0.8000  0.8000        5
       macro avg     0.7500  0.8750  0.7619        5
    weighted avg     0.9000  0.8000  0.8190        5
    """
    value_of_nothing(zero_division)
    check_digits(digits)
    chosen = _chosen(labels)
    counts = _count_tokens(y_true, y_pred, chosen, sample_weight)
    report = report_of(counts, zero_division, chosen or ())
    if output_dict:
        return report
    return report_text(
        {label_text(label): row for label, row in report.items()}, digits
    )


def _chosen(labels: ChosenLabels) -> list[Any] | None:
    """Return the labels that count as Python values; None for all."""
    return None if labels is None else _plain(as_list(labels, "labels"))


def _count_tokens(
    y_true: Corpus, y_pred: Corpus, chosen: list[Any] | None, sample_weight: Weights
) -> Counts:
    """Count tokens by label: right, true and predicted ones."""
    pairs = label_pairs(y_true, y_pred)
    given = [known_labels(i, true, pred) for i, (true, pred) in enumerate(pairs)]
    # As integers where there are no weights: support is a number of tokens.
    weight = weights_of(sample_weight, [len(true) for true, _ in given])
    counts: Counts = Counter(), Counter(), Counter()
    for w, (true, pred) in zip(weight, given):
        right = [a for a, b in zip(true, pred) if a == b]
        for counter, found in zip(counts, (right, true, pred)):
            for label, n in Counter(found).items() if w else ():
                counter[label] += n * w
    for counter in counts:
        del counter[None]  # a prediction that is no label
        for label in [] if chosen is None else counter.keys() - set(chosen):
            del counter[label]
    return counts


def known_labels(i: int, true: Any, pred: Any) -> tuple[list[Any], list[Any]]:
    """Return true and predicted labels of sequence `i` where there is one true one."""
    true = with_one_label(true)
    for side, name in ((true, "y_true"), (pred, "y_pred")):
        for t, label in enumerate(side):
            if isinstance(label, SEVERAL):
                raise PlaceError(i, t, NOT_SEVERAL, name)
            if not isinstance(label, Hashable):
                raise PlaceError(i, t, f"expected a label, got {describe(label)}", name)
    at = [t for t, label in enumerate(true) if label is not None]
    return _plain(true[t] for t in at), _plain(pred[t] for t in at)


def _plain(labels: Iterable[Any]) -> list[Any]:
    """Return labels as Python values; of subclasses of str the strings that they
    hold.
    """
    return [
        exact(label) if isinstance(label, str) else plain_value(label)
        for label in labels
    ]
