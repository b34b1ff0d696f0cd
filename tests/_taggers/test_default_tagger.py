"""``SpanTagger()`` and ``Segmenter()``: an average of perceptrons, with all that one
learner can do.
"""

import os
import pickle
import signal

import numpy as np
import pytest
import sklearn
from inside import model_of, put_model
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import skstruct
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    Segmenter,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct._taggers.online_tagger import ChainRun
from skstruct.datasets import load_segmentation
from skstruct.features import WordVectors

NAMES, PLACES = ["Ann", "Bob", "Eve", "Tom"], ["Rome", "Paris", "Oslo"]
X = [f"{name} lives in {place}." for name in NAMES for place in PLACES]
Y = [[(0, 3, "PER"), (13, len(text) - 1, "LOC")] for text in X]
TEXTS, WORDS = load_segmentation()
TEXTS, WORDS = TEXTS[:20], WORDS[:20]
BOTH = pytest.mark.parametrize(
    "make, X, y", [(SpanTagger, X, Y), (Segmenter, TEXTS, WORDS)]
)
AROUND = [
    (SpanTagger, "tagger"),
    (Segmenter, "tagger"),
    (BaggingShuffleAverager, "estimator"),
    (ParameterMixer, "estimator"),
    (CalibratedTagger, "estimator"),
    (KBestReranker, "base"),
]


def same(one, other):
    """Whether two models have the same weights."""
    stores = (model_of(each).stores() for each in (one, other))
    return all(
        np.array_equal(a.value, b.value)
        for a, b in zip(*(each.values() for each in stores), strict=True)
    )


@BOTH
def test_none_is_an_average_of_perceptrons_with_dropout(make, X, y):
    model = make().fit(X, y)
    features = {"features": "char-types"} if make is Segmenter else {}
    spelled = BaggingShuffleAverager(
        StructuredPerceptron(dropout=0.1, max_iter=20, **features),
        n_estimators="auto",
        random_state=0,
    )
    assert same(model, make(spelled).fit(X, y)) and same(model, make().fit(X, y))
    assert model.tagger is None
    assert (model.tagger_.n_estimators_, model.n_iter_) == (10, 20)
    assert repr(model) == f"{make.__name__}()" and clone(model).tagger is None


@BOTH
def test_epochs_that_are_written_down_are_made(make, X, y):
    model = make().set_params(tagger__estimator__max_iter=10).fit(X, y)
    assert model.n_iter_ == 10 and len(model.tagger_.history_) == 100
    assert make().get_params()["tagger__estimator__max_iter"] == "auto"


# -- parameters ------------------------------------------------------------------------
@pytest.mark.parametrize("make, role", AROUND)
def test_parameters_of_what_none_stands_for_can_be_read_and_set(make, role):
    model = make()
    inside = {n for n in model.get_params() if n.startswith(f"{role}__")}
    assert f"{role}__random_state" in inside or f"{role}__scheme" in inside
    assert getattr(model, role) is None and f"{role}__" not in str(
        model.get_params(False)
    )
    name = max(inside, key=lambda n: n.endswith("max_iter"))
    assert model.set_params(**{name: 3}) is model
    assert model.get_params()[name] == 3 and getattr(model, role) is not None
    assert make().get_params()[name] != 3  # a fresh one each time
    again = make().set_params(**{role: None, name: 3})
    assert repr(again) == repr(model)


@pytest.mark.parametrize("make, role", AROUND)
def test_a_wrong_name_changes_nothing(make, role):
    model = make()
    for wrong in (
        {f"{role}__nonsense": 1},
        {next(n for n in model.get_params() if "__" in n): 1, "nonsense": 1},
    ):
        with pytest.raises(ValueError, match="nonsense"):
            model.set_params(**wrong)
        assert getattr(model, role) is None


def test_a_search_over_taggers_and_their_parameters():
    grid = [
        {"tagger": [None, L1CRF(max_iter=5)]},
        {"tagger__n_estimators": [1, 2], "tagger__estimator__max_iter": [2]},
    ]
    search = GridSearchCV(SpanTagger(), grid, cv=2, error_score="raise").fit(
        X * 2, Y * 2
    )
    assert len(search.cv_results_["params"]) == 4
    made = [SpanTagger().set_params(**p) for p in search.cv_results_["params"]]
    assert [m.tagger if m.tagger is None else type(m.tagger) for m in made] == [
        None, L1CRF, BaggingShuffleAverager, BaggingShuffleAverager,
    ]  # fmt: skip


def test_a_parameter_of_the_tagger_says_where_to_write_it():
    with pytest.raises(
        TypeError, match=r"StructuredPerceptron\(dropout=0.1, max_iter=3\)"
    ):
        SpanTagger(max_iter=3)


# -- what one learner can do -----------------------------------------------------------
@BOTH
def test_partial_fit_goes_on_from_the_average(make, X, y):
    model = make().fit(X[:10], y[:10])
    other = pickle.loads(pickle.dumps(model))
    for each in (model, other):
        each.partial_fit(X[10:], y[10:])
    assert same(model, other) and model.n_iter_ == 21
    begun = make().fit(X[:10], y[:10])
    one = clone(begun.tagger_.estimator_).set_params(random_state=0)
    put_model(one, model_of(begun))
    one.n_iter_ = 20
    around = make(one)
    around.__dict__.update(vars(begun), tagger_=one)
    assert same(model, around.partial_fit(X[10:], y[10:]))


@BOTH
def test_a_file_goes_on_as_what_was_saved(make, X, y, tmp_path):
    for training in (True, False):
        model = make().fit(X, y).partial_fit(X, y)
        model.save(tmp_path / "m", training=training)
        loaded = skstruct.load(tmp_path / "m")
        assert loaded.tagger is None and same(model, loaded)
        loaded.partial_fit(X, y)
        assert not training or same(model.partial_fit(X, y), loaded)


@BOTH
def test_held_out_texts_and_early_stopping(make, X, y):
    model = make().fit(X, y, X_val=X[:4], y_val=y[:4])
    assert len(model.history_) == 200
    assert all("validation_score" in record for record in model.history_)
    assert same(model, make().fit(X, y))
    stopping = {
        "tagger__estimator__early_stopping": True,
        "tagger__estimator__n_iter_no_change": 1,
    }
    assert (
        make().set_params(**stopping).fit(X, y, X_val=X[:4], y_val=y[:4]).n_iter_ < 20
    )


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
@pytest.mark.parametrize("at", [2, 90])
def test_ctrl_c_leaves_a_model_that_can_be_used(at, monkeypatch):
    epoch, calls = ChainRun.epoch, []

    def counted(*arguments):
        calls.append(1)
        if len(calls) == at:
            os.kill(os.getpid(), signal.SIGINT)
        return epoch(*arguments)

    monkeypatch.setattr(ChainRun, "epoch", staticmethod(counted))
    model = SpanTagger()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.tagger_.n_estimators_ == max(1, at // 20)
    assert len(model.predict(X)) == len(X)


def test_a_fit_that_was_killed_goes_on_from_its_checkpoint(tmp_path, monkeypatch):
    model = SpanTagger().set_params(tagger__checkpoint=tmp_path)
    epoch, calls = ChainRun.epoch, []

    def failing(*arguments):
        calls.append(1)
        if len(calls) == 66:
            raise RuntimeError("boom")
        return epoch(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(ChainRun, "epoch", staticmethod(failing))
        with pytest.raises(RuntimeError, match="boom"):
            model.fit(X, Y)
    assert os.listdir(tmp_path)
    epochs = []
    monkeypatch.setattr(
        ChainRun, "epoch", staticmethod(lambda *a: epochs.append(1) or epoch(*a))
    )
    assert same(model.fit(X, Y), SpanTagger().fit(X, Y)) and os.listdir(tmp_path) == []
    assert (
        len(epochs) < 200 + 200
    )  # those of the second fit, and what was left of the first


def test_costs_clusters_texts_annotated_by_half_and_calibration():
    costs = SpanTagger().set_params(tagger__estimator__class_weight={"O": 3.0})
    assert not same(costs.fit(X, Y), SpanTagger().fit(X, Y))
    words = WordVectors(2, n_clusters=3, min_count=1, random_state=0)
    assert "%cluster" in str(model_of(SpanTagger(words=words).fit(X, Y)).lines)
    half = [[*spans[:1], (3, len(text), None)] for text, spans in zip(X, Y)]
    assert len(SpanTagger().fit(X, half).predict(X)) == len(X)
    default = SpanTagger().set_params(tagger__n_estimators="auto").tagger
    known = SpanTagger(CalibratedTagger(default, cv=2)).fit(X, Y)
    assert all(0 < p <= 1 for spans in known.predict_segment_proba(X) for _, p in spans)


def test_n_jobs_changes_nothing():
    threads = SpanTagger().set_params(tagger__n_jobs=2)
    assert same(threads.fit(X, Y), SpanTagger().fit(X, Y))


def test_weights_of_texts_with_metadata_routing():
    weight = np.arange(len(X)) % 2
    plain = SpanTagger().fit(X, Y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        assert same(plain, SpanTagger().fit(X, Y, sample_weight=weight))
        SpanTagger().partial_fit(X, Y, sample_weight=weight)


@BOTH
def test_a_mixture_trains_the_member(make, X, y):
    mixed = ParameterMixer(make(), random_state=0).fit(X, y, X_val=X[:3], y_val=y[:3])
    inside = mixed.estimator_.tagger_
    assert type(inside) is StructuredPerceptron and inside.dropout == 0.1


def test_learners_keep_the_defaults_of_the_papers():
    assert StructuredPerceptron().dropout == 0.0
    assert BaggingShuffleAverager().n_estimators == 5
    assert BaggingShuffleAverager().get_params()["estimator__dropout"] == 0.0
    assert KBestReranker().get_params()["base__tagger__dropout"] == 0.0
