"""Shuffle-and-average over taggers: equations 7 and 8, its members, and what is refused."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    KBestReranker,
    ParameterMixer,
    PassiveAggressiveTagger,
    Segmenter,
    StructuredPerceptron,
)
from skstruct.datasets import make_hmm_sequences
from skstruct.estimators import online_state
from skstruct.training.averaging import entries

TEMPLATES = ["U00:%x[0,0]", "U01:%x[-1,0]/%x[0,0]", "B", "B01:%x[0,0]"]
X, Y = make_hmm_sequences(40, n_labels=4, n_words=60, noise=0.1, max_length=10, random_state=0)
X_NEW, Y_NEW = X[30:], Y[30:]
X, Y = X[:30], Y[:30]


def perceptron(**parameters):
    return StructuredPerceptron(TEMPLATES, max_iter=2, **parameters)


def averager(base=None, n=3, **parameters):
    return BaggingShuffleAverager(base or perceptron(), n, **{"random_state": 0, **parameters})


def weights(fitted):
    """{(part, key): weight}, without zeros."""
    found = {}
    for part in ("nodes", "edges"):
        store = getattr(fitted._model, part)
        keys, values = entries(store) if store.sparse else enumerate_values(store.value)
        found.update({(part, k): v for k, v in zip(keys.tolist(), values.tolist()) if v != 0.0})
    return found


def enumerate_values(value):
    return np.arange(value.size), value.ravel()


# -- the average ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("average", ["all", "nonzero"])
@pytest.mark.parametrize("bootstrap, many_labels", [(False, False), (True, False), (False, True)])
def test_is_equation_7_or_8(average, bootstrap, many_labels, monkeypatch):
    y = Y
    if many_labels:
        monkeypatch.setattr(online_state, "DENSE_WEIGHTS", 0)
        y = [[f"{label}-{word}" for label, word in zip(*pair)] for pair in zip(Y, X)]
    fitted = averager(average=average, bootstrap=bootstrap, keep_members=True).fit(X, y)
    assert bool(fitted._model.nodes.sparse) == many_labels
    members = [weights(member) for member in fitted.estimators_]
    expected = {}
    for key in set().union(*members):
        values = [member.get(key, 0.0) for member in members]
        used = sum(value != 0.0 for value in values)
        expected[key] = sum(values) / (used if average == "nonzero" else len(values))
    assert any(len({key in member for member in members}) == 2 for key in expected)
    found = weights(fitted)
    for key in set(expected) | set(found):
        assert found.get(key, 0.0) == pytest.approx(expected.get(key, 0.0), abs=1e-12), key


def test_members_are_fits_with_their_seeds():
    fitted = averager(keep_members=True).fit(X, Y)
    assert len({member.random_state for member in fitted.estimators_}) == 3
    for member in fitted.estimators_:
        assert weights(clone(member).fit(X, Y)) == weights(member)
    scores = fitted.member_scores(X_NEW, Y_NEW)
    assert scores.tolist() == [member.score(X_NEW, Y_NEW) for member in fitted.estimators_]
    assert fitted.n_iter_ == 2 and fitted.classes_.tolist() == fitted.estimators_[0].classes_.tolist()


@pytest.mark.parametrize("parameters", [{}, {"bootstrap": True, "max_samples": 0.5}, {"max_samples": 0.3}])
@pytest.mark.parametrize(
    "base",
    [
        perceptron(feature_noise="zipf", dropout=0.1, penalty="l1-cumulative"),
        PassiveAggressiveTagger(TEMPLATES, max_iter=2),
        L1CRF(TEMPLATES[:3], solver="sgd", sgd_iter=2),
    ],
    ids=lambda base: type(base).__name__,
)
def test_n_jobs_changes_nothing(base, parameters):
    one, two, other = (
        weights(averager(base, n_jobs=n_jobs, random_state=seed, **parameters).fit(X, Y))
        for n_jobs, seed in ((1, 0), (2, 0), (2, 1))
    )
    assert one == two
    assert one != other


def test_few_samples_leave_labels_known():
    """A member that saw one sequence still has all the labels, and all the features, of the others."""
    fitted = averager(max_samples=1e-9, keep_members=True).fit(X, Y)
    assert fitted.classes_.tolist() == sorted({label for y in Y for label in y})
    assert len({member.n_features() for member in fitted.estimators_}) == 1


# -- inside scikit-learn -------------------------------------------------------------------------------
def test_parameters_inside_a_pipeline_can_be_searched():
    pipeline = Pipeline([("tag", averager())])
    grid = {"tag__estimator__penalty": ["l2"], "tag__n_estimators": [1, 2], "tag__average": ["all"]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X, Y)
    assert search.best_estimator_[-1].estimator_.penalty == "l2"


def test_sample_weight_is_routed():
    weight = np.arange(len(X)) % 2
    expected = weights(averager().fit(X, Y, sample_weight=weight))
    assert expected != weights(averager().fit(X, Y))
    with sklearn.config_context(enable_metadata_routing=True):
        routed = Pipeline([("tag", averager().set_fit_request(sample_weight=True))])
        assert weights(routed.fit(X, Y, sample_weight=weight)[-1]) == expected


# -- what is refused -----------------------------------------------------------------------------------
class Unaware(BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return X


@pytest.mark.parametrize(
    "base, message",
    [
        (Unaware(), "Unaware cannot be used by BaggingShuffleAverager: it has no linear weights"),
        (Segmenter(), r"Segmenter cannot be .* put it inside: Segmenter\(BaggingShuffleAverager\(tagger\)\)"),
        (Segmenter(Unaware()), "Segmenter cannot be used .* could share$"),
        (averager(), "BaggingShuffleAverager cannot be .*; give it the estimator that is inside"),
        (ParameterMixer(), "ParameterMixer cannot be .*; give it the estimator that is inside"),
        (Pipeline([("tag", perceptron())]), "Pipeline cannot be used by"),
        (KBestReranker(), "KBestReranker cannot be used by .* inside of its base$"),
        (StructuredPerceptron, "estimator must be an instance, got the class StructuredPerceptron"),
    ],
)
def test_what_cannot_be_averaged(base, message):
    with pytest.raises(ValueError, match=message):
        BaggingShuffleAverager(base).fit(X, Y)


@pytest.mark.parametrize(
    "parameters",
    [{"n_estimators": 0}, {"max_samples": 0.0}, {"max_samples": 1.1}, {"max_samples": float("nan")}],
)
def test_wrong_parameters_leave_a_fit_as_it_was(parameters):
    fitted = averager().fit(X, Y)
    before = weights(fitted)
    with pytest.raises(ValueError, match=f"'{next(iter(parameters))}' parameter of BaggingShuffleAverager"):
        fitted.set_params(**parameters).fit(X, Y)
    assert weights(fitted) == before


def test_members_that_are_not_there():
    with pytest.raises(NotFittedError):
        averager(keep_members=True).member_scores(X, Y)
    kept = averager(keep_members=True).fit(X, Y)
    with pytest.raises(ValueError, match="member_scores needs a fit with keep_members=True"):
        kept.set_params(keep_members=False).fit(X, Y).member_scores(X, Y)
