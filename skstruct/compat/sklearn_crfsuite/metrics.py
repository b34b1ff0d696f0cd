"""The names of ``sklearn_crfsuite.metrics``: scores of scikit-learn, over the labels of
all sequences.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from sklearn import metrics

from .utils import flatten


def _flat(score: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(score)
    def flat(y_true: Any, y_pred: Any, *args: Any, **kwargs: Any) -> Any:
        return score(flatten(y_true), flatten(y_pred), *args, **kwargs)

    flat.__name__ = flat.__qualname__ = f"flat_{score.__name__}"
    flat.__module__ = __name__  # pickles of scorers name it
    flat.__doc__ = (
        f"scikit-learn's ``{score.__name__}`` over the labels of all sequences."
    )
    return flat


flat_accuracy_score = _flat(metrics.accuracy_score)
flat_precision_score = _flat(metrics.precision_score)
flat_recall_score = _flat(metrics.recall_score)
flat_f1_score = _flat(metrics.f1_score)
flat_fbeta_score = _flat(metrics.fbeta_score)


def flat_classification_report(
    y_true: Any, y_pred: Any, labels: Any = None, **kwargs: Any
) -> Any:
    """scikit-learn's report over the labels of all sequences; ``labels`` may be given
    by position.
    """
    return metrics.classification_report(
        flatten(y_true), flatten(y_pred), labels=labels, **kwargs
    )


def sequence_accuracy_score(y_true: Any, y_pred: Any) -> float:
    """Return the share of the sequences whose labels are all right."""
    if not len(y_true):
        return 0
    return sum(list(a) == list(b) for a, b in zip(y_true, y_pred)) / len(y_true)
