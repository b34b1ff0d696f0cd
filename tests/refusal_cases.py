"""Models and corpora of the tests of damaged files."""

import pytest

import skstruct
from skstruct import PassiveAggressiveTagger, StructuredPerceptron
from skstruct._core import store as store_module
from skstruct._saving.container import ModelFileError

X = [
    [("The", "D"), ("dog", "N"), ("barks", "V")],
    [("a", "D"), ("cat", "N"), ("sleeps", "V")],
    [("the", "D"), ("cat", "N"), ("barks", "V")],
] * 2
Y = [["D", "N", "V"]] * 6
TEMPLATES = [
    "U0:%x[0,0]",
    "U1:%suffix1[0,0]/%x[-1,1]",
    "U2:%x[0,0]/%x[1,0]/%x[2,1]",
    "B",
    "B0:%x[0,1]",
]


def templates_model():
    return StructuredPerceptron(
        TEMPLATES, max_iter=2, min_count=2, penalty="l1-cumulative", random_state=0
    ).fit(X, Y)


def bag_model():
    bags = [
        [{"w": w, "p": p, "n": len(w), "x": 0.5} for w, p in tokens] for tokens in X
    ]
    return PassiveAggressiveTagger(max_iter=2, min_count=2, random_state=0).fit(
        bags, Y
    ), bags


def sparse_model():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_module, "DENSE_WEIGHTS", 0)
        patch.setattr(store_module, "FEW_LABELS", 0)
        return StructuredPerceptron(TEMPLATES, max_iter=2, random_state=0).fit(X, Y)


# --------------------------------------------------------------------------------------
# Files that are no models, or damaged ones
# --------------------------------------------------------------------------------------
def refuse(path, match):
    with pytest.raises(ModelFileError, match=match) as caught:
        skstruct.load(path)
    assert str(path) in str(caught.value)
    assert isinstance(caught.value, ValueError)
