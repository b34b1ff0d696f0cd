"""Training of `WordSegmenter`: parameters, seeds, streams, files."""

import pickle

import numpy as np
import pandas as pd
import pytest
from inside import after_each_report, has_model, model_of
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.utils import get_tags
from word_segmenter_cases import X, Y, new, same

import skstruct
from skstruct import (
    Segmenter,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct._saving.container import ModelFileError, read_container, write_container


@pytest.fixture(scope="module")
def fitted():
    return new().fit(X[:120], Y[:120])


# -- training --------------------------------------------------------------------------
def test_no_dropout_is_the_default():
    same(new(dropout=0.0).fit(X[:60], Y[:60]), new().fit(X[:60], Y[:60]))


@pytest.mark.parametrize(
    "parameters",
    [
        {"dropout": 0.1},
        {"penalty": "l2", "alpha": 1e-3},
        {"penalty": "l1", "alpha": 1e-3},
        {"penalty": "l1-cumulative", "alpha": 1e-4},
        {"feature_noise": "dropout", "edge_noise": "same"},
        {"feature_noise": "zipf"},
        {"edge_noise": "dropout"},
        {"average": False},
        {"min_count": 2},
        {"shuffle": False},
    ],
)
def test_parameters_matter(parameters):
    plain, other, again = (
        new(**p).fit(X[:120], Y[:120]) for p in ({}, parameters, parameters)
    )
    assert not np.array_equal(plain.decision_function(X), other.decision_function(X))
    same(other, again)
    assert other.score(X[120:], Y[120:]) > 0.65


def test_seeds_matter():
    one, two = (new(random_state=seed).fit(X[:60], Y[:60]) for seed in (1, 2))
    assert not np.array_equal(one.decision_function(X), two.decision_function(X))


@pytest.mark.parametrize(
    "parameters",
    [{}, {"penalty": "l2", "alpha": 1e-3}, {"min_count": 2, "dropout": 0.1}],
)
def test_warm_start_goes_on(parameters):
    whole = new(max_iter=6, **parameters).fit(X[:80], Y[:80])
    halves = (
        new(max_iter=3, warm_start=True, **parameters)
        .fit(X[:80], Y[:80])
        .fit(X[:80], Y[:80])
    )
    same(whole, halves)
    assert [h["epoch"] for h in halves.history_] == [4, 5, 6]
    with pytest.raises(ValueError, match="templates='zc14' differs"):
        halves.set_params(templates="zc14").fit(X, Y)


def test_partial_fit():
    segmenter = new()
    for _ in range(6):
        assert segmenter.partial_fit(X[:60], Y[:60]) is segmenter
    before = segmenter.predict(X)
    copy = pickle.loads(pickle.dumps(segmenter))
    for _ in range(6):
        segmenter.partial_fit(X[60:], Y[60:])
    assert copy.predict(X) == before
    assert segmenter.score(X, Y) > 0.85 and segmenter.n_iter_ == 12


def test_sample_weight():
    weight = np.ones(60)
    weight[:20] = 0.0
    left_out = new().fit(X[:60], Y[:60], sample_weight=weight)
    same(left_out, new().fit(X[20:60], Y[20:60]))
    twice = new().fit(
        X[:60], Y[:60], sample_weight=np.full(60, 2.0)
    )  # the perceptron knows no scale
    np.testing.assert_allclose(
        twice.decision_function(X),
        2 * new().fit(X[:60], Y[:60]).decision_function(X),
        rtol=1e-9,
    )
    weight[20:40] = 3.0
    other = new().fit(X[:60], Y[:60], sample_weight=weight)
    assert not np.array_equal(other.decision_function(X), left_out.decision_function(X))
    assert left_out.score(X[:2], Y[:2], [1, 0]) == left_out.score(X[:1], Y[:1])


def test_early_stopping(capsys):
    segmenter = new(
        early_stopping=True, max_iter=30, n_iter_no_change=2, verbose=1
    ).fit(X, Y)
    assert segmenter.n_iter_ < 30
    assert all(0 < h["validation_score"] <= 1 for h in segmenter.history_)
    assert "held-out word F1" in capsys.readouterr().out
    flags = [[True] + [None] * (len(t) - 1) for t in X[:5]]
    assert new(early_stopping=True).fit(X[:10], flags + Y[5:10]).n_iter_ > 0


def test_interrupted_fit_resumes(tmp_path, monkeypatch):
    class Stop(Exception):
        pass

    whole = new(penalty="l1", alpha=1e-3, min_count=2).fit(X[:60], Y[:60])

    def stop(run):
        if run.done == 2:
            raise Stop

    segmenter = clone(whole).set_params(checkpoint=str(tmp_path))
    with monkeypatch.context() as patch:
        after_each_report(patch, stop)
        with pytest.raises(Stop):
            segmenter.fit(X[:60], Y[:60])
    assert not has_model(segmenter)
    segmenter.fit(X[:60], Y[:60])
    assert segmenter.resumed_from_ == 2
    same(whole, segmenter)


# -- files, copies, scikit-learn -------------------------------------------------------
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"templates": "zc14", "beam_size": None},
        {"min_count": 2},
        {"penalty": "l1", "alpha": 1e-3},
    ],
)
def test_save_and_load(tmp_path, parameters):
    path = tmp_path / "model"
    segmenter = new(**parameters).fit(X[:60], Y[:60])
    segmenter.save(path)
    loaded = skstruct.load(path)
    assert repr(loaded) == repr(segmenter) and loaded.history_ == segmenter.history_
    same(segmenter, loaded)
    going_on = [
        s.set_params(warm_start=True).fit(X[60:], Y[60:])
        for s in (loaded, skstruct.load(path))
    ]
    same(*going_on)
    same(going_on[0], segmenter.set_params(warm_start=True).fit(X[60:], Y[60:]))
    segmenter.save(path, training=False)
    same(segmenter, skstruct.load(path))
    if segmenter.min_count == 1:  # a file without training does not know what is rare
        same(
            skstruct.load(path).partial_fit(X[:60], Y[:60]),
            segmenter.partial_fit(X[:60], Y[:60]),
        )


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "model"
    new().fit(X[:20], Y[:20]).save(path)
    for spoil, message in [
        (lambda keys: keys[::-1].copy(), "keys are no features"),
        (lambda keys: np.concatenate([keys[:-1], keys[:1]]), "occurs twice"),
        (lambda keys: keys[:-1].copy(), "weights"),
        (lambda keys: -keys - 1, "keys are no features"),
    ]:
        header, arrays = read_container(path, kind="model")
        name = next(n for n in arrays if n.endswith("keys"))
        write_container(tmp_path / "bad", header, {**arrays, name: spoil(arrays[name])})
        with pytest.raises(ModelFileError, match=message):
            skstruct.load(tmp_path / "bad")


def test_scikit_learn(fitted):
    same(fitted, pickle.loads(pickle.dumps(fitted)))
    copy = clone(fitted)
    assert not has_model(copy) and repr(copy) == repr(fitted)
    tags = get_tags(fitted)
    assert tags.estimator_type is None and tags.input_tags.string and tags.requires_fit
    assert "WordSegmenter" in fitted._repr_html_()
    predicted = cross_val_predict(new(), X[:60], Y[:60], cv=3)
    assert predicted.shape == (60,) and predicted.dtype == object
    search = GridSearchCV(new(), {"max_iter": [1, 5]}, cv=2, error_score="raise").fit(
        X, Y
    )
    assert search.best_params_["max_iter"] == 5
    assert (
        fitted.n_features()
        == len(set(map(tuple, model_of(fitted).keys().tolist())))
        > 0
    )
    for container in (tuple, np.array, pd.Series):
        assert fitted.predict(container(X)) == fitted.predict(X)


def test_threads_change_nothing(fitted):
    copy = pickle.loads(pickle.dumps(fitted)).set_params(n_jobs=3)
    same(fitted, copy)


# -- a corpus --------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.corpus
def test_gsd(corpus_path):
    from skstruct.datasets import read_conllu

    parts = [
        [
            [word for (word,) in s]
            for s in read_conllu(corpus_path(f"gsd-zh/{p}.conllu"), fields=("form",))
        ]
        for p in ("train", "test")
    ]
    (train, y), (test, y_test) = [
        (["".join(words) for words in part], part) for part in parts
    ]
    score = WordSegmenter(random_state=0).fit(train, y).score(test, y_test)
    characters = Segmenter(StructuredPerceptron("char", random_state=0)).fit(train, y)
    assert score > 0.927 and score > characters.score(test, y_test)
