"""Scores of structured predictions.

Those are scores of tokens, sequences, segments, spans, words, trees and probabilities.

Counts are summed over the corpus first and divided once. Where items are found on both
sides (segments, spans, words, tokens with a label) the scores are

    P = correct / predicted,   R = correct / true,   F1 = 2 correct / (true + predicted).

A zero denominator gives 0.0 and an ``UndefinedMetricWarning``, as in scikit-learn;
``zero_division`` gives another value. Scorers of segments and spans give 1.0 where
nothing is to be found and nothing was found.

Tokens whose true label is None do not count, nor do segments that hold or touch one,
nor sequences that hold no others. A true label that the model never saw is its error.
Where no token, word or text counts at all, there is no score but a ValueError, as
scikit-learn has it for empty input. Results do not depend on the order of the input.

`y_true` and `y_pred` are lists, tuples or arrays of sequences; errors name the
sequence. Every score has a scorer for ``GridSearchCV``; those of errors and losses are
negative, so that more is better.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .._names import lazy
from .confidence import (
    Reliability,
    expected_calibration_error,
    reliability,
    sequence_log_loss,
)
from .label_scores import (
    segment_f1_score,
    segment_report,
    sequence_accuracy_score,
    token_accuracy_score,
)
from .partial_scores import PartialSpanReport, partial_span_report
from .significance import PairedBootstrap, paired_bootstrap
from .text_scores import (
    SegmentationReport,
    segmentation_report,
    span_f1_score,
    span_report,
    word_f1_score,
)
from .token_scores import token_f1_score, token_report
from .tree_scores import (
    AttachmentScores,
    attachment_scores,
    labeled_attachment_score,
    unlabeled_attachment_score,
)

if TYPE_CHECKING:
    from .scorers import (
        SCORERS,
        attachment_scorer,
        attachment_scorer_for,
        expected_calibration_error_scorer,
        labeled_attachment_scorer,
        segment_f1_scorer,
        segment_f1_scorer_for,
        sequence_accuracy_scorer,
        sequence_log_loss_scorer,
        span_f1_scorer,
        token_accuracy_scorer,
        token_f1_scorer,
        token_f1_scorer_for,
        word_f1_scorer,
    )

# Labels, and the segments that they spell
__all__ = [
    "token_accuracy_score",
    "sequence_accuracy_score",
    "segment_f1_score",
    "segment_report",
    "token_f1_score",
    "token_report",
]
# Spans and words
__all__ += [
    "span_f1_score",
    "span_report",
    "partial_span_report",
    "PartialSpanReport",
    "word_f1_score",
    "segmentation_report",
    "SegmentationReport",
]
# Trees
__all__ += [
    "attachment_scores",
    "AttachmentScores",
    "labeled_attachment_score",
    "unlabeled_attachment_score",
]
# Probabilities, and luck
__all__ += [
    "reliability",
    "Reliability",
    "expected_calibration_error",
    "sequence_log_loss",
]
__all__ += ["paired_bootstrap", "PairedBootstrap"]
# Scorers
__all__ += ["SCORERS", "segment_f1_scorer_for", "attachment_scorer_for"]
__all__ += ["token_f1_scorer_for"]
__all__ += [
    "token_accuracy_scorer",
    "sequence_accuracy_scorer",
    "segment_f1_scorer",
    "token_f1_scorer",
    "word_f1_scorer",
]
__all__ += ["span_f1_scorer", "attachment_scorer", "labeled_attachment_scorer"]
__all__ += ["expected_calibration_error_scorer", "sequence_log_loss_scorer"]

SCORES: dict[str, Callable[..., float]] = {
    "token_accuracy": token_accuracy_score,
    "sequence_accuracy": sequence_accuracy_score,
    "segment_f1": segment_f1_score,
    "token_f1": token_f1_score,
}
"""Functions ``(y_true, y_pred) -> float`` of scorers of labels, by their names in
``SCORERS``.
"""

SCORING = [name.removesuffix("_scorer") for name in __all__ if name.endswith("_scorer")]
"""The names of ``SCORERS``, for those who need no more: scorers import much of
scikit-learn.
"""

__getattr__, _ = lazy(
    __name__, {n: "scorers" for n in __all__ if n == "SCORERS" or "_scorer" in n}
)


def __dir__() -> list[str]:
    """Return what completion offers: public names, and no modules of builders."""
    return sorted(__all__)
