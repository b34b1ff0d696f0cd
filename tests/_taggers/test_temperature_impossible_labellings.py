"""Labellings that constraints forbid have the log-probability -inf, as is meant:
numpy's warnings stay away.

A held-out part may hold a label that its training part lacks, beside which constraints
leave nothing.
"""

import warnings

import numpy as np
import pytest

from skstruct import CalibratedTagger, SpanTagger, StructuredPerceptron

TEXTS = [f"Ruth Okafor saw item {k}." for k in range(40)]
NAMES = [[(0, 11, "PER")]] * 40
LONGER = "Ruth Anne Okafor saw item 40.", [(0, 16, "PER")]
"""Its I-PER in the middle is in no other text."""


@pytest.mark.parametrize("weighted", [False, True])
def test_no_warning_of_numpy_reaches_who_calibrates(weighted):
    X, y = [*TEXTS, LONGER[0]], [*NAMES, LONGER[1]]
    options = {"sample_weight": np.arange(41.0)} if weighted else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SpanTagger(CalibratedTagger(StructuredPerceptron(random_state=0))).fit(
            X, y, **options
        )
        assert model.predict(X[:1]) == y[:1]
        assert model.tagger_.temperature_ > 0.0
