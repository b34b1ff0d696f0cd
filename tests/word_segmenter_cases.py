"""What the tests of `WordSegmenter` share."""

import numpy as np

from skstruct import (
    WordSegmenter,
)
from skstruct.datasets import load_segmentation

X, Y = load_segmentation()


def new(**parameters):
    return WordSegmenter(**{"random_state": 0, "max_iter": 5, **parameters})


def same(a, b):
    assert a.predict(X) == b.predict(X)
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))
