"""How many members an average has, and how it goes on from itself."""

import pytest
from inside import model_of, put_model
from sklearn.base import clone

from skstruct import L1CRF, BaggingShuffleAverager, StructuredPerceptron
from skstruct._shards.mixing.averager import members_for
from skstruct.datasets import make_hmm_sequences
from skstruct.inspection import feature_weights as weights

TEMPLATES = ["U00:%x[0,0]", "U01:%x[-1,0]/%x[0,0]", "B"]
X, Y = make_hmm_sequences(
    30, n_labels=4, n_words=60, noise=0.1, max_length=10, random_state=0
)
X_NEW, X, Y = X[20:], X[:20], Y[:20]


def perceptron(**parameters):
    return StructuredPerceptron(TEMPLATES, max_iter=2, **parameters)


def averager(base, n, **parameters):
    return BaggingShuffleAverager(base, n, **{"random_state": 0, **parameters})


# -- how many members ------------------------------------------------------------------
@pytest.mark.parametrize(
    ("n", "members"), [(0, 10), (499, 10), (500, 5), (9999, 5), (10_000, 3)]
)
def test_auto_follows_the_number_of_sequences(n, members):
    assert members_for(n) == members


def test_auto_is_that_many_members():
    auto, ten = (
        averager(perceptron(), "auto").fit(X, Y),
        averager(perceptron(), 10).fit(X, Y),
    )
    assert auto.n_estimators == "auto" and auto.n_estimators_ == 10 == ten.n_estimators_
    assert weights(auto) == weights(ten)
    with pytest.raises(ValueError, match="n_estimators"):
        averager(perceptron(), "many").fit(X, Y)


# -- further training ------------------------------------------------------------------
def test_partial_fit_goes_on_from_the_average():
    fitted = averager(perceptron(), 3).fit(X, Y)
    one = clone(perceptron()).set_params(random_state=0)
    put_model(one, model_of(fitted))
    one.n_iter_ = fitted.n_iter_
    before = fitted.history_
    shown = fitted.estimator_
    kept = weights(fitted)
    fitted.partial_fit(X[::-1], Y[::-1])
    one.partial_fit(X[::-1], Y[::-1])
    assert fitted.predict(X_NEW) == one.predict(X_NEW)
    assert fitted.n_iter_ == one.n_iter_
    assert fitted.history_[:-1] == before and "member" not in fitted.history_[-1]
    assert shown is not fitted.estimator_  # who has the average keeps it
    with pytest.raises(ValueError, match="sequence 1"):
        fitted.partial_fit(X[:2], [Y[0], Y[1] + Y[1]])
    assert kept != weights(fitted)


def test_the_first_partial_fit_decides_how_many_members_there_are():
    classes = [*sorted({label for y in Y for label in y}), "Z"]
    model = averager(perceptron(), "auto").partial_fit(X, Y, classes=classes)
    assert model.n_estimators_ == 10 and model.n_iter_ == 1
    assert [record["member"] for record in model.history_] == [*range(1, 11)]
    model.set_params(n_estimators=2).partial_fit(X, Y)
    assert model.n_estimators_ == 10 and model.n_iter_ == 2
    assert model.classes_.tolist() == classes
    with pytest.raises(ValueError, match="Q"):
        model.partial_fit([["x"]], [["Q"]])


def test_an_average_of_crfs_has_no_partial_fit():
    assert not hasattr(averager(L1CRF(), 2), "partial_fit")
