"""`Segmenter` inside scikit-learn, and on a corpus."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from segmenter_cases import PAIRS, TEXTS, WORDS, X, Y, new_tagger
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags

from skstruct import StructuredPerceptron, load
from skstruct._data.inputs import Sequences
from skstruct._taggers.segmenter import Segmenter
from skstruct.metrics import word_f1_score, word_f1_scorer


@pytest.fixture(scope="module")
def plain():
    return Segmenter(new_tagger()).fit(X[:120], Y[:120])


@pytest.fixture(scope="module")
def joint():
    return Segmenter(new_tagger()).fit(X[:120], PAIRS[:120])


# -- inside scikit-learn ---------------------------------------------------------------
def test_clone_parameters_tags_repr(plain):
    copy = clone(plain.set_params(tagger__max_iter=4))
    plain.set_params(tagger__max_iter=5)
    assert copy.tagger.max_iter == 4 and not hasattr(copy, "tagger_")
    assert copy.get_params()["tagger__features"] == "char"
    tags = get_tags(plain)
    assert (
        tags.estimator_type is None and tags.target_tags.required and tags.requires_fit
    )
    assert (
        tags.input_tags.string
        and tags.input_tags.one_d_array
        and not tags.input_tags.two_d_array
    )
    assert repr(Segmenter()) == "Segmenter()"
    assert "Segmenter" in plain._repr_html_()


def test_fit_leaves_parameters_alone():
    tagger = new_tagger()
    segmenter = Segmenter(tagger).fit(X, Y)
    assert segmenter.tagger is tagger and segmenter.tagger_ is not tagger
    assert not hasattr(tagger, "classes_")


def test_pickle(plain, joint):
    for segmenter in (plain, joint):
        copy = pickle.loads(pickle.dumps(segmenter))
        assert copy.predict(X) == segmenter.predict(X)


def test_save_and_load(tmp_path, plain, joint):
    for segmenter in (plain, joint):
        segmenter.save(tmp_path / "model")
        copy = load(tmp_path / "model")
        assert (
            copy.predict(X) == segmenter.predict(X)
            and copy.tagged_ == segmenter.tagged_
        )
        assert repr(copy) == repr(segmenter)


@pytest.mark.parametrize("y", [Y, PAIRS], ids=["words", "pairs"])
def test_cross_val_predict(y):
    predicted = cross_val_predict(Segmenter(new_tagger()), X[:60], y[:60], cv=3)
    assert predicted.shape == (60,) and predicted.dtype == object
    assert word_f1_score(y[:60], predicted) > 0.3
    # Folds whose texts have equally many words do not turn into a matrix.
    assert cross_val_predict(
        Segmenter(new_tagger()), ["好"] * 4, [["好"]] * 4, cv=2
    ).shape == (4,)


@pytest.mark.parametrize("scoring", [None, word_f1_scorer])
def test_grid_search_in_a_pipeline(scoring):
    strip = FunctionTransformer(lambda X: [text.strip() for text in X])
    model = make_pipeline(strip, Segmenter(new_tagger()))
    grid = {"segmenter__scheme": ["BMES", "BI"], "segmenter__tagger__max_iter": [1, 5]}
    search = GridSearchCV(model, grid, cv=3, scoring=scoring, error_score="raise")
    search.fit([f" {text} " for text in X], Y)
    assert 0.5 < search.best_score_ < 1.0
    assert search.best_params_["segmenter__tagger__max_iter"] == 5
    assert ["".join(words) for words in search.predict(X)] == X


def test_tagger_may_be_a_search():
    search = GridSearchCV(new_tagger(), {"average": [True, False]}, cv=2)
    segmenter = Segmenter(search).fit(X, Y)
    assert "".join(segmenter.predict(["我 喜欢"])[0]) == "我喜欢"
    assert segmenter.score(X, Y) > 0.95


CONTAINERS = {
    "tuple": tuple,
    "object array": lambda texts: np.array(texts, dtype=object),
    "str array": np.array,
    "pandas": lambda texts: pd.Series(texts, index=range(5, 5 + len(texts))),
    "polars": pl.Series,
}


@pytest.mark.parametrize("container", list(CONTAINERS.values()), ids=list(CONTAINERS))
def test_containers(plain, container):
    assert plain.predict(container(X)) == plain.predict(X)
    assert plain.predict(container(X))[0][0].__class__ is str
    assert plain.score(container(X), tuple(map(tuple, Y))) == plain.score(X, Y)
    refitted = clone(plain).fit(container(X[:120]), Sequences(Y[:120]).__array__())
    assert refitted.predict(X) == plain.predict(X)


def test_words_may_be_numpy_strings():
    segmenter = Segmenter().fit(
        np.array(TEXTS), [[np.str_(w) for w in words] for words in WORDS]
    )
    assert all(type(w) is str for words in segmenter.predict(TEXTS) for w in words)


def test_callbacks_reach_the_tagger():
    callback = pytest.importorskip("sklearn.callback")
    if not hasattr(callback, "ScoringMonitor"):
        pytest.skip("this scikit-learn has no ScoringMonitor")
    calls = []

    class Watch:
        """Counts what it is told of."""

        max_propagation_depth = None

        def setup(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            calls.append((type(estimator).__name__, context.task_name))

        def on_fit_task_end(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            calls.append("teardown")

    segmenter = Segmenter(new_tagger(max_iter=3)).set_callbacks(Watch())
    segmenter.fit(TEXTS, WORDS)
    assert calls[0] == ("Segmenter", "fit")
    assert calls.count(("StructuredPerceptron", "epoch")) == 3
    assert calls[-1] == "teardown"
    assert not hasattr(segmenter.tagger_, "_parent_callback_ctx")


# -- a corpus --------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.corpus
def test_sxu(corpus_path):
    from skstruct.datasets import read_segmented

    train, test = (
        read_segmented(corpus_path(f"sxu/{part}.txt")) for part in ("train", "test")
    )
    segmenter = Segmenter(new_tagger(max_iter=10)).fit(
        ["".join(words) for words in train], train
    )
    assert segmenter.score(["".join(words) for words in test], test) > 0.946


def test_errors_of_the_tagger_name_the_text_empty_ones_counted():
    tagger = StructuredPerceptron("char", constraints="BMES", max_iter=1)
    segmenter = Segmenter(tagger).fit(
        ["", "看书"], [[], ["看书"]]
    )  # no word of one character is known
    with pytest.raises(ValueError, match="^sequence 2: the constraints"):
        segmenter.predict(["", "看书", "看"])
    picky = Segmenter(clone(tagger).set_params(constraints=[("B", "E")]))
    with pytest.raises(ValueError, match="sequence 2"):
        picky.fit(["", "看书", "看书看"], [[], ["看书"], ["看书", "看"]])
