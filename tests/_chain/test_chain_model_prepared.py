"""What prediction prepares once for a model shows in no copy and no file, and never
outlives the model.
"""

import copy
import pickle
import threading

import joblib
import pytest
from sklearn.base import clone

from skstruct import L1CRF, StructuredPerceptron
from skstruct.datasets import make_hmm_sequences

TEMPLATES = ["U00:%x[0,0]", "U01:%x[-1,0]/%x[0,0]", "B"]


def corpus(kind, seed=0):
    X, y = make_hmm_sequences(
        40, n_labels=4, n_words=60, noise=0.1, max_length=10, random_state=seed
    )
    if kind == "dict":
        X = [
            [
                {"w": w, "one": 1.0, "first": t == 0, "-1:w": x[t - 1]}
                for t, w in enumerate(x)
            ]
            for x in X
        ]
    return X, y


CASES = [
    ("str", StructuredPerceptron(TEMPLATES, max_iter=3, random_state=0)),
    (
        "str",
        StructuredPerceptron([*TEMPLATES, "B01:%x[0,0]"], max_iter=3, random_state=0),
    ),
    ("str", StructuredPerceptron(TEMPLATES, order=2, max_iter=3, random_state=0)),
    ("dict", StructuredPerceptron(max_iter=3, random_state=0)),
    ("dict", StructuredPerceptron(max_iter=3, min_count=2, random_state=0)),
    ("dict", L1CRF(max_iter=20, random_state=0, tol=1e-2)),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind, model", CASES)
def test_prediction_leaves_the_model_as_it_was(kind, model):
    X, y = corpus(kind)
    model = clone(model).fit(X, y)
    pickled, hashed = pickle.dumps(model), joblib.hash(model)
    labels, scores = model.predict(X), model.decision_function(X).tolist()
    model.predict_kbest(X, 2)
    assert joblib.hash(model) == hashed
    assert len(pickle.dumps(model)) == len(pickled)
    for same in (
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
        clone(model).fit(X, y),
    ):
        assert same.predict(X) == labels
        assert same.decision_function(X).tolist() == scores


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind, model", CASES)
def test_one_at_a_time_in_a_batch_and_in_threads(kind, model):
    X, y = corpus(kind)
    model = clone(model).fit(X[:20], y[:20])  # the rest has unknown words
    labels, scores = model.predict(X), model.decision_function(X).tolist()
    assert [model.predict([x])[0] for x in X] == labels
    assert [model.decision_function([x])[0] for x in X] == scores
    every = [
        [model.classes_.tolist()] * len(x) for x in X
    ]  # another kernel: labels are restricted, to all
    assert model.predict(X, allowed=every) == labels
    fresh, found = pickle.loads(pickle.dumps(model)), [None] * 4

    def work(k):
        found[k] = [fresh.predict([x])[0] for x in X]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [labels] * 4
    assert fresh.set_params(n_jobs=2).predict(X) == labels


@pytest.mark.parametrize("kind", ["str", "dict"])
def test_a_changed_model_is_prepared_anew(kind):
    X, y = corpus(kind)
    features = TEMPLATES if kind == "str" else "auto"
    used, unused = (
        StructuredPerceptron(features, max_iter=1, random_state=0) for _ in range(2)
    )
    for a in range(0, 40, 10):
        for model in (used, unused):
            model.partial_fit(X[a : a + 10], y[a : a + 10])
        used.predict(X)
    assert used.decision_function(X).tolist() == unused.decision_function(X).tolist()
    used.set_params(warm_start=True).fit(X, y)
    unused.set_params(warm_start=True).fit(X, y)
    assert used.predict(X) == unused.predict(X)
