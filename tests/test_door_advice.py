"""What the door says of weights of tokens, of texts where lists belong, and of one
label too few.
"""

import numpy as np
import pytest
from kind_cases import Tensor

import skstruct
from skstruct import (
    L1CRF,
    Segmenter,
    ShiftReduceParser,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct.features import TokenPredictions


def tagger(features="auto"):
    return StructuredPerceptron(features, max_iter=3, random_state=0)


WEIGHTS = [
    [[1.0, 0.2], [1.0]],
    [[1.0, 0.2], [1.0, 1.0]],
    np.ones((2, 1)),
    [np.ones(2), Tensor(np.ones(1))],
]


def weighted():
    """Verbs that take weights, by name."""
    from sklearn.tree import DecisionTreeClassifier

    X, y = [["a", "b"], ["c"]], [["A", "B"], ["A"]]
    texts, spans = ["Ann sleeps", "a dog"], [[(0, 3, "PER")], []]
    rows = [np.eye(2), np.eye(2)[:1]]
    model, crf, metrics = tagger().fit(X, y), L1CRF(max_iter=2), skstruct.metrics
    spanned = SpanTagger(tagger("text")).fit(texts, spans)
    trees = [("a", "DT"), ("dog", "NN")], [(2, "x"), (0, "y")]
    mixer = skstruct.ParameterMixer(tagger(), 2)
    return {
        "fit": lambda w: tagger().fit(X, y, sample_weight=w),
        "partial_fit": lambda w: tagger().partial_fit(X, y, sample_weight=w),
        "score": lambda w: model.score(X, y, sample_weight=w),
        "L1CRF": lambda w: crf.fit(X, y, sample_weight=w),
        "shards of a CRF": lambda w: crf.fit_shards([lambda: (X, y, w)]),
        "averager": lambda w: skstruct.BaggingShuffleAverager(tagger(), 2).fit(
            X, y, sample_weight=w
        ),
        "mixer": lambda w: mixer.fit(X, y, sample_weight=w),
        "calibrated": lambda w: skstruct.CalibratedTagger(tagger(), cv=2).fit(
            X, y, sample_weight=w
        ),
        "spans": lambda w: SpanTagger(tagger("text")).fit(
            texts, spans, sample_weight=w
        ),
        "score of spans": lambda w: spanned.score(texts, spans, sample_weight=w),
        "words": lambda w: Segmenter(tagger("char")).fit(
            ["ab", "c"], [["ab"], ["c"]], sample_weight=w
        ),
        "trees": lambda w: ShiftReduceParser().fit(
            [trees[0]] * 2, [trees[1]] * 2, sample_weight=w
        ),
        "metric": lambda w: metrics.token_accuracy_score(y, y, sample_weight=w),
        "transformer": lambda w: TokenPredictions(DecisionTreeClassifier(), cv=2).fit(
            rows, y, sample_weight=w
        ),
    }


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("verb", weighted())
def test_weights_of_tokens(verb, weight):
    message = "sample_weight: sequence 0 has .*give one number a sequence; a token with the label None"
    with pytest.raises(ValueError, match=message):
        weighted()[verb](weight)


# --------------------------------------------------------------------------------------
# What people write instead
# --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "X, y, message",
    [
        (
            [["a"]],
            '[["A"]]',
            r"y must be .*; it looks like JSON, write y = json.loads\(y\)",
        ),
        (
            [["a"]],
            ['["A", "B"]'],
            "y: sequence 0 is .*; it looks like JSON, write y = .json.loads",
        ),
        (
            '[["a", "b"]]',
            [["A"]],
            r"X must be .*; it looks like JSON, write X = json.loads\(X\)",
        ),
        ([["a"]], "A B", r"got str 'A B'; write y = \[text.split\(\)\]$"),
        ([["a", "b"]], [["A"]], "got 2 tokens and 1 label$"),
        ([["a"]], [["A", "B"]], "got 1 token and 2 labels$"),
        ([np.eye(2)], [["A"]], "1 label but 2 rows; "),
        ([np.eye(2)[:1]], [["A", "B"]], "2 labels but 1 row; "),
    ],
)
def test_advice_fits_what_was_given(X, y, message):
    with pytest.raises(ValueError, match=message):
        tagger().fit(X, y)
