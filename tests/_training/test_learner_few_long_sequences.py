"""Few sequences that are very long are too few updates: ``fit`` says so, and what to
do.

All that learn one example at a time say it, also inside of others; a stream of such
sequences goes on, and what learns from every token says nothing.
"""

import warnings

import numpy as np
import pytest

from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    ParameterMixer,
    PassiveAggressiveTagger,
    Segmenter,
    StructuredPerceptron,
    WordSegmenter,
)

WORDS = np.random.default_rng(0).integers(0, 50, 24_000).tolist()
T = ["U:%x[0,0]", "B"]


def _cut(length, n=None):
    """Sequences of words, in which the word says the label, cut out of one text."""
    parts = [WORDS[i : i + length] for i in range(0, len(WORDS), length)][:n]
    return [[f"w{k}" for k in part] for part in parts], [
        [f"t{k % 5}" for k in part] for part in parts
    ]


def _texts(length, n):
    words = [["ab"[k % 2] * (k % 3 + 1) for k in WORDS[:length]]] * n
    return ["".join(part) for part in words], words


ONE = {"max_iter": 1, "random_state": 0}
LEARNERS = {
    "perceptron": (StructuredPerceptron(T, **ONE), _cut),
    "passive-aggressive": (PassiveAggressiveTagger(T, **ONE), _cut),
    "average": (
        BaggingShuffleAverager(StructuredPerceptron(T, **ONE), n_estimators=2),
        _cut,
    ),
    "mixture": (ParameterMixer(StructuredPerceptron(T, **ONE), 2), _cut),
    "segmenter": (Segmenter(StructuredPerceptron("char", **ONE)), _texts),
    "words": (WordSegmenter(beam_size=2, **ONE), _texts),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_few_long_sequences_are_warned_of(name):
    estimator, data = LEARNERS[name]
    message = "X has 2 sequences of .* tokens each: an online learner makes one update a sequence and epoch"
    with pytest.warns(UserWarning, match=message):
        estimator.fit(*data(2000, 2))


@pytest.mark.parametrize(
    ("length", "n", "warned"),
    [
        (1000, 19, False),
        (1001, 19, True),
        (1200, 20, False),
        (24_000, 1, True),
        (1000, 1, False),
    ],
)
def test_when(length, n, warned):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        StructuredPerceptron(T, **ONE).fit(*_cut(length, n))
    assert [str(each.message)[:5] for each in given] == ["X has"] * warned


@pytest.mark.filterwarnings("error")
def test_who_says_nothing():
    X, y = _cut(5000, 1)
    L1CRF(T, c1=0.1, random_state=0, tol=1e-2).fit(X, y)
    StructuredPerceptron(T, random_state=0).partial_fit(X, y)
    short, labels = _cut(20, 10)
    StructuredPerceptron(T, **ONE).fit(
        [*X, *short], [*y, *labels], sample_weight=[0.0] + [1.0] * 10
    )


@pytest.mark.parametrize("make", [StructuredPerceptron, PassiveAggressiveTagger])
def test_the_advice_is_right(make):
    """Both ways give what the long sequence does not."""
    X, y = _cut(24_000)
    with pytest.warns(
        UserWarning,
        match="X has one sequence of 24000 tokens: .* cut long sequences.*L1CRF",
    ):
        whole = make(T, random_state=0).fit(X, y).score(X, y)
    cut = make(T, random_state=0).fit(*_cut(100)).score(X, y)
    crf = L1CRF(T, c1=0.1, random_state=0).fit(X, y).score(X, y)
    assert whole < 0.95 < 0.99 < min(cut, crf)
