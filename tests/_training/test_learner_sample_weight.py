"""The weight of a sequence multiplies its loss: margins and costs that are asked for,
and the steps.

So weights that are all the same are as none: a model in other units. Powers of two
change no digit. Here is all that has a margin: costs of labels, passive-aggressive
learning with either cost, labels of arcs. What has none, words, actions of parsers and
paths of lattices, is tried, too (lattices know how large the margins of their base
are). Penalties are no losses: weights act against them.
"""

import numpy as np
import pytest
from model_cases import ALL_CASES

from skstruct import (
    BaggingShuffleAverager,
    PassiveAggressiveTagger,
    Segmenter,
    ShiftReduceParser,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct.inspection import feature_weights

COSTS = {"L00": 0.75, "L01": 3.0}


def _pa(**given):
    return PassiveAggressiveTagger(
        ["U0:%x[0,0]", "B"], max_iter=3, random_state=0, **given
    )


def _perceptron(**given):
    return StructuredPerceptron(
        ["U0:%x[0,0]", "B"], max_iter=3, random_state=0, **given
    )


LEARNERS = {
    "perceptron": ("perceptron", _perceptron),
    "costs": ("perceptron", lambda: _perceptron(class_weight=COSTS)),
    "balanced costs of order 2": (
        "perceptron",
        lambda: _perceptron(class_weight="balanced", order=2),
    ),
    "costs under noise": (
        "perceptron",
        lambda: _perceptron(class_weight=COSTS, dropout=0.2, average=False),
    ),
    "PA-I": ("perceptron", _pa),
    "PA-I with a bound that acts": ("perceptron", lambda: _pa(C=0.0625)),
    "PA of wrong tokens": ("perceptron", lambda: _pa(variant="PA", cost="hamming")),
    "PA-II with costs": (
        "perceptron",
        lambda: _pa(variant="PA-II", class_weight=COSTS),
    ),
    "PA-I under noise": (
        "perceptron",
        lambda: _pa(feature_noise="zipf", dropout=0.1, average="epoch"),
    ),
    "PA-I, averaged": (
        "perceptron",
        lambda: BaggingShuffleAverager(_pa(), n_estimators=2, random_state=0),
    ),
    "PA-I in shards": (
        "perceptron",
        lambda: ALL_CASES["mixer"][1]().set_params(estimator=_pa()),
    ),
    "parser": (
        "parser",
        lambda: ShiftReduceParser(max_iter=3, random_state=0, beam_size=2),
    ),
    "parser whose search labels": (
        "parser",
        lambda: ShiftReduceParser("rich", max_iter=3, random_state=0),
    ),
    "spans": ("spans", lambda: SpanTagger(_pa())),
    "segmenter": (
        "segmenter",
        lambda: Segmenter(_perceptron(class_weight={"B-T00": 2.0}), scheme="BI"),
    ),
    "words": ("word-segmenter", lambda: ALL_CASES["word-segmenter"][1]()),
    "lattices": ("reranker", lambda: ALL_CASES["reranker"][1]()),
}


def _weights(name, weight):
    data, make = LEARNERS[name]
    X, y = ALL_CASES[data][0](5)
    estimator = make().fit(X, y, sample_weight=weight(len(X)))
    return {
        (feature, label): w for feature, label, w in feature_weights(estimator)
    }, estimator.predict(X)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("scale", [2.0**-12, 2.0**7])
def test_equal_weights_are_other_units(name, scale):
    one, labels = _weights(name, np.ones)
    none, _ = _weights(name, lambda n: None)
    found, again = _weights(name, lambda n: np.full(n, scale))
    assert one and one == none and again == labels
    assert found == {key: scale * weight for key, weight in one.items()}


@pytest.mark.parametrize("name", LEARNERS)
def test_weights_in_proportion_are_the_same_model(name):
    """Some sequences count more than others: what the unit of their weights is says
    nothing.
    """

    def weight(n):
        return np.where(np.arange(n) % 3, 1.0, 4.0)

    one, labels = _weights(name, weight)
    found, again = _weights(name, lambda n: weight(n) / 1024)
    assert again == labels and found == {
        key: weight / 1024 for key, weight in one.items()
    }


def test_a_sequence_of_more_weight_moves_the_model_more():
    X, y = [["a"], ["a"]], [["X"], ["Y"]]
    for weight, label in (([1.0, 8.0], "Y"), ([8.0, 1.0], "X")):
        for make in (_pa, _perceptron):
            tagger = make().set_params(shuffle=False).fit(X, y, sample_weight=weight)
            assert tagger.predict([["a"]]) == [[label]]
