"""Intervals of scores, over sentences and over documents."""

import numpy as np
import pytest

from skstruct.metrics.task_scores import scores_of


def test_the_interval_of_few_documents_is_wider():
    """Counts of one document are drawn together, and percentiles are those of Student's
    t.
    """
    rng = np.random.RandomState(0)
    y = [["A", "B"][k] for k in rng.randint(2, size=400)]
    y_pred = [label if rng.rand() < 0.8 else "C" for label in y]
    y, y_pred = ([[label] for label in labels] for labels in (y, y_pred))

    def width(groups):
        score = scores_of(
            "labels", [["x"]] * 400, y, y_pred, groups=groups, intervals=True
        ).overall
        _, low, high = score["token_accuracy"]
        return high - low

    each = width(np.arange(400))
    assert width(None) == pytest.approx(each, rel=0.1)
    # Documents that are right or wrong as a whole say less than as many sentences do.
    alike = np.empty(400, np.int64)
    alike[np.argsort([a != b for a, b in zip(y, y_pred)])] = np.arange(400) // 20
    assert width(alike) > 2 * each
    assert np.isnan(width(np.zeros(400, np.int64)))
