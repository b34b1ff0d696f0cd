"""One step of each learner, as its paper writes it."""

import numpy as np
import pytest
from inside import model_of

from skstruct import PassiveAggressiveTagger, StructuredPerceptron

X = [["a"]]
Y = [["B"]]
BEFORE = {"features": ["U:%x[0,0]"], "max_iter": 1, "average": False}


def weights(learner):
    """By label, the weight of the only word; "A" comes first and wins ties."""
    tagger = learner.partial_fit(X, Y, classes=["A", "B"])
    return dict(zip("AB", model_of(tagger).nodes.value[-2:].tolist()))


def test_the_perceptron_adds_the_right_features_and_takes_the_wrong_ones_away():
    learner = StructuredPerceptron(**BEFORE)
    assert weights(learner) == {"A": -1.0, "B": 1.0}
    assert weights(learner) == {"A": -1.0, "B": 1.0}  # it is right now
    assert [record["updates"] for record in learner.history_] == [1, 0]


@pytest.mark.parametrize(
    "options, step",
    [
        ({"variant": "PA"}, 0.5),  # loss / |difference|^2
        ({"variant": "PA-I", "C": 0.2}, 0.2),
        ({"variant": "PA-II", "C": 0.25}, 1.0 / (2.0 + 2.0)),
    ],
)
def test_a_passive_aggressive_step_is_as_long_as_the_margin_asks(options, step):
    learner = PassiveAggressiveTagger(**{**BEFORE, "average": None}, **options)
    found = weights(learner)
    np.testing.assert_allclose([found["A"], found["B"]], [-step, step])


def test_a_margin_that_is_there_moves_nothing():
    learner = PassiveAggressiveTagger(**{**BEFORE, "average": None}, variant="PA")
    first = weights(learner)
    assert weights(learner) == first
