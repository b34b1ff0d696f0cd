"""Tests of whether the difference between two systems is chance.

Scores such as accuracy and F1 are quotients of sums over sentences, so each sentence is
reduced to its counts once, and a resample of the test set is a matrix product with how
often each sentence was drawn.

References
----------
B. Efron and R. Tibshirani, "An introduction to the bootstrap", 1993. T.
Berg-Kirkpatrick, D. Burkett and D. Klein, "An empirical investigation of statistical
significance in NLP", EMNLP 2012: the paired bootstrap test.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from .._data.inputs import check_choice, check_positive, is_int
from .._data.scheme_rules import LabelTable, check_scheme
from .._data.types import Corpus, Texts
from .checks import check_pairs, label_pairs, warn_undefined
from .counting import (
    count_right,
    has_label,
    refuse_nothing,
    with_label,
    with_one_label,
)
from .label_scores import segment_spans
from .text_scores import both_sides, is_tagged, judged, word_spans

_AT_ONCE = 2**22
"""Entries of the matrix of draws held at a time."""


class PairedBootstrap(NamedTuple):
    """The result of `paired_bootstrap`."""

    score_a: float
    score_b: float
    difference: float
    low: float
    high: float
    p_value: float


def paired_bootstrap(
    y_true: Corpus,
    y_pred_a: Corpus,
    y_pred_b: Corpus,
    *,
    score: Literal["auto", "accuracy", "segments", "words", "spans"] = "auto",
    scheme: str = "BIO",
    texts: Texts | None = None,
    n_resamples: int = 10_000,
    random_state: int | np.random.RandomState | None = None,
) -> PairedBootstrap:
    """Test whether system B is better than system A on sentences like these.

    Parameters
    ----------
    y_true, y_pred_a, y_pred_b : sequences of sequences
        Labels; spans of texts; of words, or (word, tag) pairs, with ``score="words"``,
        where tags count if all three have them. Of labels, tokens whose true label is
        None do not count, nor do sequences that hold no others: these are not drawn.
    score : {"auto", "accuracy", "segments", "words", "spans"}, default="auto"
        Token accuracy, `segment_f1_score` in its default mode, `word_f1_score`, or
        `span_f1_score`. "auto" means "spans" of lists of (start, end, label), and
        "accuracy" of all else.
    scheme : str, default="BIO"
        Of segments, as for `segment_f1_score`.
    texts : list of str, optional
        Of spans, as for `span_f1_score`.
    n_resamples : int, default=10_000
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    PairedBootstrap
        `score_a`, `score_b`; `difference`, the second minus the first, with `low` and
        `high`, its 95 % interval; `p_value`, two-sided: twice the share of resamples,
        centred on no difference, in which the difference reaches the one observed in
        its direction.

    Raises
    ------
    ValueError
        If lengths differ (the message names the sequence), or no sentence counts.

    Notes
    -----
    The test is over sentences: it says nothing about other seeds of the training, or
    other domains. Interval and p-value look at opposite tails of the same resamples: in
    close cases 0 may lie outside of the one while the other is above 0.05, or the other
    way round.

    Examples
    --------
    >>> y_true = [["A", "B"]] * 40
    >>> y_pred_a = [["A", "A"]] * 30 + [["A", "B"]] * 10
    >>> result = paired_bootstrap(y_true, y_pred_a, y_true, random_state=0)
    >>> result.difference, result.p_value < 0.01
    (0.375, True)
    """
    return paired_difference(
        y_true,
        y_pred_a,
        y_pred_b,
        score=score,
        scheme=scheme,
        texts=texts,
        n_resamples=n_resamples,
        random_state=random_state,
    )


def paired_difference(
    y_true: Corpus,
    y_pred_a: Corpus,
    y_pred_b: Corpus,
    *,
    score: str = "auto",
    scheme: str = "BIO",
    texts: Texts | None = None,
    groups: np.ndarray | None = None,
    n_resamples: int = 10_000,
    random_state: int | np.random.RandomState | None = None,
) -> PairedBootstrap:
    """Compute what :func:`paired_bootstrap` returns, for draws of groups of sequences.

    Parameters
    ----------
    groups : ndarray of shape (n,), optional
        The number of each sequence's group, of its document, say: all of a group are
        drawn together.
    """
    check_choice("score", score, ("auto", "accuracy", "segments", "words", "spans"))
    check_positive("n_resamples", n_resamples)
    both = [
        check_pairs(y_true, y_pred, same_length=False)
        for y_pred in (y_pred_a, y_pred_b)
    ]
    if score == "auto":
        score = "spans" if _are_spans(both) else "accuracy"
    if texts is not None and score != "spans":
        raise ValueError(f"texts is for spans, got score={score!r}")
    table = LabelTable(check_scheme(scheme), strict=False)
    # Both systems are scored alike: with tags if all three have them.
    tagged = score == "words" and all(
        any(map(is_tagged, side)) for pairs in both for side in zip(*pairs)
    )
    count = {
        "accuracy": lambda y_pred: _tokens(y_true, y_pred),
        "segments": lambda y_pred: _items(
            segment_spans(label_pairs(y_true, y_pred), table)
        ),
        "words": lambda y_pred: _items(
            sides for _, *sides in word_spans(y_true, y_pred, tagged)
        ),
        "spans": lambda y_pred: _items(map(judged, *both_sides(y_true, y_pred, texts))),
    }[score]
    # (n, 4): what is right, and what counts, of A and of B, by sentence
    pairs = zip(count(y_pred_a), count(y_pred_b), strict=True)
    counts = np.array([[*a, *b] for a, b in pairs], np.int64).reshape(-1, 4)
    if counts.shape[0] == 0:
        raise ValueError("y_true is empty: at least one sequence is needed")
    if score != "spans":  # of which every text counts
        counts_of = with_one_label if score == "segments" else list
        drawn = [has_label(counts_of(true)) for true, _ in both[0]]
        refuse_nothing(drawn)
        counts = counts[drawn]
        groups = None if groups is None else groups[drawn]
    if groups is not None:
        numbers = np.unique(groups, return_inverse=True)[1]
        of_groups = np.zeros((numbers.max() + 1, counts.shape[1]), np.int64)
        np.add.at(of_groups, numbers, counts)
        counts = of_groups
    for of, system in (1, "A"), (3, "B"):
        if not counts[:, of].any():
            why = "nothing is true, and nothing is predicted"
            warn_undefined("warn", f"The score of {system}", why, can_be_set=False)
    observed = _quotients(counts.sum(axis=0)[None, :])[0]
    difference = observed[1] - observed[0]
    parts = map(_quotients, resampled(counts, n_resamples, random_state))
    found = np.concatenate([scores[:, 1] - scores[:, 0] for scores in parts])
    low, high = np.percentile(found, [2.5, 97.5])
    beyond = np.count_nonzero(
        np.sign(difference) * (found - difference) >= abs(difference)
    )
    p_value = min(1.0, 2.0 * (beyond + 1) / (n_resamples + 1))
    return PairedBootstrap(*map(float, (*observed, difference, low, high, p_value)))


def resampled(
    counts: np.ndarray,
    n_resamples: int,
    random_state: int | np.random.RandomState | None,
) -> Iterator[np.ndarray]:
    """Yield sums of counts over as many sequences, drawn with replacement.

    A part of the resamples comes at a time.

    Parameters
    ----------
    counts : ndarray of shape (n, C)
        Of each sequence; n at least 1.

    Yields
    ------
    ndarray of shape (R, C)
    """
    random = check_random_state(random_state)
    n = counts.shape[0]
    step = max(1, _AT_ONCE // n)
    for begin in range(0, n_resamples, step):
        size = min(step, n_resamples - begin)
        yield random.multinomial(n, np.full(n, 1.0 / n), size=size) @ counts


def _quotients(sums: np.ndarray) -> np.ndarray:
    """Compute both scores from (correct, total) of A and of B, (R, 4).

    A score is 0 where there is nothing to find, as with ``zero_division=0``.
    """
    correct = sums[:, [0, 2]].astype(float)
    total = sums[:, [1, 3]]
    return correct / np.maximum(total, 1)


def _tokens(y_true: Corpus, y_pred: Corpus) -> Iterator[tuple[int, int]]:
    """Yield for each sequence how many labels are right, and how many there are."""
    for pair in label_pairs(y_true, y_pred, '; of words, write score="words"'):
        true, pred = with_label(*pair)
        yield count_right(true, pred), len(true)


def _items(sides: Iterable[Sequence[Any]]) -> Iterator[tuple[int, int]]:
    """Yield for each sequence two numbers whose quotient is the F1 of its items."""
    for true, pred in sides:
        yield 2 * len(set(true).intersection(pred)), len(set(true)) + len(set(pred))


def _are_spans(both: list[list[tuple[Any, Any]]]) -> bool:
    """Tell whether the first element, of y_true or else of a prediction, is a span."""
    sides = [side for pairs in both for side in zip(*pairs)]
    first = next(
        (each for side in sides for sequence in side for each in sequence), None
    )
    if isinstance(first, (tuple, list)):
        return len(first) == 3 and all(map(is_int, first[:2]))
    return isinstance(first, Mapping)
