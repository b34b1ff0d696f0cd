"""Scores of structured predictions: of tokens, sequences, segments, spans, words, trees and probabilities.

Counts are summed over the corpus first and divided once. Where items are found on both sides
(segments, spans, words) the scores are

    P = correct / predicted,   R = correct / true,   F1 = 2 correct / (true + predicted).

A zero denominator gives 0.0 and no warning, with one exception: F1 is 1.0, whatever its average, if
there is nothing to find and nothing was found, as for any other identical inputs.

`y_true` and `y_pred` are lists, tuples or arrays of sequences; errors name the sequence. Every score has a
scorer for ``GridSearchCV``; those of errors and losses are negative, so that more is better.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Literal, TypeAlias

from sklearn.metrics import make_scorer

from .._sklearn import TextScorer
from ..data.scheme_rules import check_scheme
from .checks import check_choice
from .confidence import (
    Reliability,
    expected_calibration_error,
    reliability,
    score_calibration,
    score_log_loss,
    sequence_log_loss,
)
from .label_scores import (
    AVERAGES,
    MODES,
    Average,
    Mode,
    segment_f1_score,
    segment_report,
    sequence_accuracy_score,
    token_accuracy_score,
)
from .significance import PairedBootstrap, paired_bootstrap
from .text_scores import SegmentationReport, segmentation_report, span_f1_score, span_report, word_f1_score
from .tree_scores import (
    AttachmentScores,
    attachment_scores,
    labeled_attachment_score,
    score_trees,
    unlabeled_attachment_score,
)

__all__ = [
    "AttachmentScores",
    "PairedBootstrap",
    "Reliability",
    "SCORERS",
    "SegmentationReport",
    "attachment_scorer",
    "attachment_scorer_for",
    "attachment_scores",
    "expected_calibration_error",
    "expected_calibration_error_scorer",
    "labeled_attachment_score",
    "labeled_attachment_scorer",
    "paired_bootstrap",
    "reliability",
    "segment_f1_score",
    "segment_f1_scorer",
    "segment_f1_scorer_for",
    "segment_report",
    "segmentation_report",
    "sequence_accuracy_score",
    "sequence_accuracy_scorer",
    "sequence_log_loss",
    "sequence_log_loss_scorer",
    "span_f1_score",
    "span_f1_scorer",
    "span_report",
    "token_accuracy_score",
    "token_accuracy_scorer",
    "unlabeled_attachment_score",
    "unlabeled_attachment_scorer",
    "word_f1_score",
    "word_f1_scorer",
    "word_report",
]

word_report = segmentation_report
"""Another name, as `segment_report` is called after what it counts."""

Scorer: TypeAlias = Callable[..., float]
"""``scorer(estimator, X, y) -> float``"""


def segment_f1_scorer_for(scheme: str, average: Average = "micro", mode: Mode = "conlleval") -> Scorer:
    """Make a scorer of `segment_f1_score` for a scheme, for ``GridSearchCV`` and its kin.

    Parameters
    ----------
    scheme, mode
        As for `segment_f1_score`.
    average : {"micro", "macro", "weighted"}, default="micro"

    Returns
    -------
    callable
        ``scorer(estimator, X, y) -> float``

    Raises
    ------
    ValueError
        If a parameter has a value not named here.

    Examples
    --------
    >>> scorer = segment_f1_scorer_for("BIOES", average="macro", mode="strict")
    """
    scheme = check_scheme(scheme)
    check_choice("average", average, AVERAGES[:-1])
    check_choice("mode", mode, MODES)
    return make_scorer(segment_f1_score, scheme=scheme, average=average, mode=mode)


def attachment_scorer_for(
    score: Literal["uas", "las", "complete"] = "uas",
    punctuation: Collection[str] | None = None,
    subtypes: bool = False,
) -> Scorer:
    """Make a scorer of `attachment_scores` for parsers, for ``GridSearchCV`` and its kin.

    Parameters
    ----------
    score : {"uas", "las", "complete"}, default="uas"
        Unlabeled or labeled attachment score, or the share of sentences with all heads right.
    punctuation : collection of str, optional
        Tags whose tokens are left out. A token of X is then a (form, tag) pair; its tag counts, not a
        predicted one.
    subtypes : bool, default=False
        As for `attachment_scores`.

    Returns
    -------
    callable
        ``scorer(estimator, X, y) -> float``

    Raises
    ------
    ValueError
        If a parameter has a value not named here.

    Examples
    --------
    >>> scorer = attachment_scorer_for("las", punctuation={",", ".", ":", "``", "''", "-LRB-", "-RRB-"})
    """
    check_choice("score", score, ("uas", "las", "complete"))
    if punctuation is not None:
        if isinstance(punctuation, str) or not all(isinstance(tag, str) for tag in punctuation):
            raise ValueError(f"punctuation must be a collection of tags; got {punctuation!r}")
        punctuation = frozenset(punctuation)
    return partial(score_trees, score=score, punctuation=punctuation, subtypes=bool(subtypes))


token_accuracy_scorer: Scorer = make_scorer(token_accuracy_score)
sequence_accuracy_scorer: Scorer = make_scorer(sequence_accuracy_score)
segment_f1_scorer: Scorer = make_scorer(segment_f1_score)
word_f1_scorer: Scorer = make_scorer(word_f1_score)
span_f1_scorer: Scorer = TextScorer(span_f1_score, 1, {}, "predict")
attachment_scorer: Scorer = make_scorer(unlabeled_attachment_score)
unlabeled_attachment_scorer: Scorer = attachment_scorer  # another name
labeled_attachment_scorer: Scorer = make_scorer(labeled_attachment_score)
expected_calibration_error_scorer: Scorer = score_calibration
sequence_log_loss_scorer: Scorer = score_log_loss

SCORES: dict[str, Callable[..., float]] = {
    "token_accuracy": token_accuracy_score,
    "sequence_accuracy": sequence_accuracy_score,
    "segment_f1": segment_f1_score,
}
"""What scorers of labels ask of predictions, by their names in ``SCORERS``: ``(y_true, y_pred) -> float``."""

SCORERS: dict[str, Scorer] = {
    "token_accuracy": token_accuracy_scorer,
    "sequence_accuracy": sequence_accuracy_scorer,
    "segment_f1": segment_f1_scorer,
    "word_f1": word_f1_scorer,
    "span_f1": span_f1_scorer,
    "attachment": attachment_scorer,
    "labeled_attachment": labeled_attachment_scorer,
    "expected_calibration_error": expected_calibration_error_scorer,
    "sequence_log_loss": sequence_log_loss_scorer,
}
"""Name -> scorer, as the parameter ``scoring`` of the estimators takes it."""
