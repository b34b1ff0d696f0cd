"""What the tests of `ParameterMixer` share."""

import numpy as np
from inside import model_of
from training_cases import corpus

from skstruct import (
    PassiveAggressiveTagger,
    Segmenter,
    ShiftReduceParser,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct.datasets import load_segmentation

X, Y = corpus(0, "str", n=14)
TEXTS, WORDS = (part[:40] for part in load_segmentation())
TREES = (
    2
    * [
        [("the", "D"), ("dog", "N"), ("ran", "V")],
        [("a", "D"), ("cat", "N")],
        [("it", "N"), ("ate", "V")],
    ],
    2
    * [
        [(2, "det"), (3, "subj"), (0, "root")],
        [(2, "det"), (0, "root")],
        [(2, "subj"), (0, "root")],
    ],
)
LEARNERS = [
    (StructuredPerceptron(max_iter=4), X, Y),
    (StructuredPerceptron(max_iter=4, min_count=2, class_weight="balanced"), X, Y),
    (StructuredPerceptron(max_iter=3, order=2, penalty="l2", alpha=1e-2), X, Y),
    (
        PassiveAggressiveTagger(
            max_iter=4, C=0.3, cost="hamming", penalty="l1", alpha=2**-7
        ),
        X,
        Y,
    ),
    (StructuredPerceptron(max_iter=3), *corpus(1, "dict", n=9)),
    (Segmenter(PassiveAggressiveTagger("char", max_iter=3)), TEXTS, WORDS),
    (WordSegmenter(max_iter=3), TEXTS, WORDS),
    (WordSegmenter(max_iter=3, templates="zc14", min_count=2), TEXTS, WORDS),
    (ShiftReduceParser(max_iter=3), *TREES),
    (
        ShiftReduceParser(max_iter=3, labeled=False),
        TREES[0],
        [[h for h, _ in t] for t in TREES[1]],
    ),
]
NOISY = {"feature_noise": "dropout", "noise_rate": 0.2, "dropout": 0.1}


def stores(estimator):
    model = model_of(getattr(estimator, "tagger_", estimator))
    return {n: v.value for n, v in vars(model).items() if hasattr(v, "columns")}


def assert_same(a, b):
    a, b = stores(a), stores(b)
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name])
