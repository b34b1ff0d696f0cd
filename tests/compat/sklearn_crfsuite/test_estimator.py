"""Programs of sklearn-crfsuite over our names."""

import os
import pickle

import pytest

from skstruct.compat import sklearn_crfsuite
from tests.crfsuite_cases import corpus, fitted_crf


def test_pickles_of_both_kinds(tmp_path):
    theirs, X = fitted_crf()
    (tmp_path / "old.pkl").write_bytes(pickle.dumps(theirs))
    read = sklearn_crfsuite.CRF(model_filename=str(tmp_path / "old.pkl"))
    assert list(read.predict(X)) == theirs.predict(X).tolist()
    assert read.size_ == os.path.getsize(theirs.modelfile.name)
    assert list(pickle.loads(pickle.dumps(read)).predict(X)) == list(read.predict(X))


def test_attributes_and_log():
    X, y = corpus(1)
    crf = sklearn_crfsuite.CRF(c1=0.1, max_iterations=20).fit(X, y, X, y)
    assert crf.classes_ == list(
        dict.fromkeys(label for labels in y for label in labels)
    )
    assert len(crf.attributes_) == crf.num_attributes_
    assert {name for name, _ in crf.state_features_} <= set(crf.attributes_)
    last = crf.training_log_.last_iteration
    assert last["item_accuracy_float"] == pytest.approx(crf.score(X, y))
    assert last["feature_norm"] > 0
    marginals = crf.predict_marginals_single(X[0])
    assert sum(marginals[0].values()) == pytest.approx(1.0)


def test_arow_is_another_learner_and_says_so():
    with pytest.warns(UserWarning, match="arow"):
        sklearn_crfsuite.CRF("arow").fit(*corpus(1))
