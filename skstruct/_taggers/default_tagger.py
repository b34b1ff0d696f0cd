"""The tagger that ``Segmenter`` and ``SpanTagger`` train where their ``tagger`` is
None: an average of perceptrons with input dropout, the regularisers of Zhang, Su and
Zhou (2014).

The perceptron alone is what papers compare with; this is what wins in our study
(docs/decisions.md). Averages stand on a higher floor, so that their class is looked up
by its public name, as model files do it.
"""

from __future__ import annotations

from typing import Any

from .._saving.registry import class_named
from .metadata import asking_for_weights
from .perceptron import StructuredPerceptron

DROPOUT = 0.1

OF_CHARACTERS = "char-types"
"""The preset of features for a default tagger whose tokens are characters."""


def default_learner(**parameters: Any) -> StructuredPerceptron:
    """Return the member of the default average, not fitted.

    Parameters
    ----------
    **parameters
        Of the perceptron.
    """
    return asking_for_weights(StructuredPerceptron(dropout=DROPOUT, **parameters))


def default_tagger(**parameters: Any) -> Any:
    """Return the default average, not fitted.

    Parameters
    ----------
    **parameters
        Of the perceptrons in it.
    """
    average: Any = class_named("BaggingShuffleAverager")
    learner = default_learner(max_iter="auto", **parameters)
    return asking_for_weights(average(learner, n_estimators="auto", random_state=0))
