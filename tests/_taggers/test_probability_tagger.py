"""Probabilities of labels, labellings and segments, against enumeration of all
labellings.
"""

import itertools

import numpy as np
import pytest

from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    CalibratedTagger,
    StructuredPerceptron,
)
from skstruct._data.schemes import labels_to_spans

TEMPLATES = ["U0:%x[0,0]", "U1:%x[-1,0]", "B"]


def perceptron(features=TEMPLATES, **parameters):
    return StructuredPerceptron(features, max_iter=3, random_state=0, **parameters)


def corpus(n):
    """Words that are mostly labelled as their number says."""
    random = np.random.RandomState(0)
    X = []
    y = []
    for _ in range(n):
        words = random.randint(0, 6, random.randint(2, 6))
        noisy = words + (random.uniform(size=len(words)) < 0.3)
        labels = [["O", "B-X", "I-X", "B-Y", "I-Y"][k % 5] for k in noisy]
        for t, label in enumerate(labels):
            begun = t > 0 and labels[t - 1] in ("B" + label[1:], label)
            if label[0] == "I" and not begun:
                labels[t] = "B" + label[1:]
        X.append([f"w{k}" for k in words])
        y.append(labels)
    return X, y


@pytest.fixture(scope="module")
def crf():
    return L1CRF(TEMPLATES, constraints="BIO", random_state=0).fit(*corpus(20))


def test_marginals_and_segments_are_sums_over_labellings(crf):
    x = ["w1", "w2", "w3"]
    every = [list(y) for y in itertools.product(crf.classes_.tolist(), repeat=len(x))]
    p = np.exp(crf.sequence_log_proba([x] * len(every), every))
    assert p.sum() == pytest.approx(1.0)
    (rows,) = crf.predict_marginals([x])
    for t in range(len(x)):
        for k, label in enumerate(crf.classes_):
            mine = sum(q for y, q in zip(every, p) if y[t] == label)
            assert rows[t, k] == pytest.approx(mine, abs=1e-12)
    assert crf.predict_posterior([x]) == [crf.classes_[rows.argmax(axis=1)].tolist()]
    stands = {}
    for y, q in zip(every, p):
        if q > 0.0:
            for segment in labels_to_spans(y, "BIO"):
                stands[segment] = stands.get(segment, 0.0) + q
    (found,) = crf.predict_segment_proba([x], [list(stands)])
    np.testing.assert_allclose([q for _, q in found], list(stands.values()), atol=1e-12)


def test_a_label_that_is_not_given_is_summed_over(crf):
    x = ["w1", "w2"]
    given = [["B-X", label] for label in crf.classes_.tolist()]
    each = np.exp(crf.sequence_log_proba([x] * len(given), given)).sum()
    (free,) = np.exp(crf.sequence_log_proba([x], [["B-X", None]]))
    assert free == pytest.approx(each)


@pytest.mark.parametrize(
    "tagger",
    [
        pytest.param(perceptron(constraints="BIO"), id="constraints"),
        pytest.param(perceptron([*TEMPLATES, "B1:%x[0,0]"]), id="conditioned"),
        pytest.param(perceptron(order=2, constraints="BIO"), id="order 2"),
        pytest.param(
            BaggingShuffleAverager(perceptron(), 2, random_state=0), id="average"
        ),
    ],
)
def test_all_segments_above_a_probability(tagger):
    """The same numbers, to the bit, as those of all segments there are."""
    X, y = corpus(20)
    model = CalibratedTagger(tagger, cv=2, random_state=0).fit(X, y)
    X = [*X, [], X[0] * 12]
    segments = [
        [(a, b, k) for a in range(n) for b in range(a + 1, n + 1) for k in "XY"]
        for n in map(len, X)
    ]
    expected = model.predict_segment_proba(X, segments, scheme="BIO")
    for least in (1e-12, 1e-3, 0.2, 1.0, expected[0][0][1]):
        found = model.predict_segment_proba(X, min_proba=least, scheme="BIO")
        for some, every in zip(found, expected):
            assert some == sorted(
                ((s, p) for s, p in every if p >= least),
                key=lambda each: (-each[1], each[0]),
            )


@pytest.mark.parametrize(
    "segments, message",
    [
        (
            [[(0, 1, "X")]],
            "X and segments must hold the same number of sequences, got 2 and 1",
        ),
        (
            [[], [(1, 1, "X")]],
            r"sequence 1, position 0: \(1, 1, 'X'\) is empty or leaves the 3 tokens",
        ),
        (
            [[], [(0, 1, "X"), (2, 4, "X")]],
            r"sequence 1, position 1: \(2, 4, 'X'\) is empty or leaves",
        ),
        (
            [[(0, 1, "Z")], []],
            "sequence 0, position 0: no label has the type 'Z'; choose from 'X', 'Y'",
        ),
        (
            [[(0, 1)], []],
            r"sequence 0, position 0: expected \(start, stop, type\), got tuple \(0, 1\)",
        ),
        (
            [[(0.5, 1, "X")], []],
            r"sequence 0, position 0: expected \(start, stop, type\)",
        ),
        ([0, 1], "segments: sequence 0 must be a list of segments"),
    ],
)
def test_segments_that_are_none(crf, segments, message):
    with pytest.raises(ValueError, match=message):
        crf.predict_segment_proba([["w1"], ["w1", "w2", "w3"]], segments)
