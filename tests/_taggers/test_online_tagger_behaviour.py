"""What the docstrings of the online taggers promise, promise by promise."""

import os
import pickle
import re
import warnings

import numpy as np
import pytest
from inside import model_of
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.utils.validation import check_is_fitted
from tagger_cases import TAGGERS, TEMPLATES, corpus, same_weights, weights

from skstruct import FeatureTemplates, PassiveAggressiveTagger, StructuredPerceptron
from skstruct._core import store as store_module
from skstruct._core.codes import PENALTIES


@pytest.fixture(params=TAGGERS, ids=["perceptron", "pa"])
def Tagger(request):
    return request.param


# -- weights of classes and of sequences -----------------------------------------------
def recall(tagger, X, y, label):
    pairs = [p for s in zip(y, tagger.predict(X)) for p in zip(*s) if p[0] == label]
    return np.mean([a == b for a, b in pairs])


def test_class_weight_shifts_recall(Tagger):
    X, y = corpus(150, n_words=300, max_length=20)

    def fitted(class_weight):
        tagger = Tagger(["U00:%x[0,0]", "B"], class_weight=class_weight, random_state=0)
        return tagger.fit(X[:100], y[:100])

    plain, costly = fitted(None), fitted({"L1": 8.0})
    assert (
        recall(costly, X[100:], y[100:], "L1")
        > recall(plain, X[100:], y[100:], "L1") + 0.08
    )
    assert recall(costly, X[100:], y[100:], "L2") < recall(
        plain, X[100:], y[100:], "L2"
    )
    assert same_weights(fitted({"L1": 0}), plain)
    assert same_weights(fitted({"L1": 8}), costly)
    labels = [label for s in y[:100] for label in s]
    inverse = {label: len(labels) / (4 * labels.count(label)) for label in set(labels)}
    assert same_weights(fitted("balanced"), fitted(inverse))
    assert not same_weights(fitted("balanced"), plain)


@pytest.mark.parametrize(
    ("weight", "parameters", "warned"),
    [
        (
            {"L1": 0.1},
            {},
            "makes it more frequent, not less: it is a margin.* named cost 0",
        ),
        ({"L1": 0.1, "L2": 0.4}, {}, "class_weight={'L2': 0.4}"),
        ({"L1": 0}, {}, "changes nothing"),
        ({"L1": 0.1, "L2": 2.0}, {}, None),  # less than other labels
        ({"L1": 1.0}, {}, None),
        ({}, {}, None),
        ("balanced", {}, None),
        ({"L1": 0.1}, {"cost": "hamming"}, None),  # where a wrong token costs 1
    ],
)
def test_costs_that_are_meant_as_weights(weight, parameters, warned, Tagger):
    """A cost below 1 makes a label more frequent, where a weight would make it less
    so.
    """
    if parameters and Tagger is not PassiveAggressiveTagger:
        pytest.skip("it has no such cost")
    X, y = corpus(20)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        Tagger(TEMPLATES, class_weight=weight, random_state=0, **parameters).fit(X, y)
    said = [str(each.message) for each in given if "class_weight" in str(each.message)]
    assert len(said) == (warned is not None) and all(
        re.search(warned, each) for each in said
    )


@pytest.mark.parametrize("cost", [-1, float("nan"), float("inf"), "2", None])
def test_bad_class_weight(cost):
    X, y = corpus(4)
    with pytest.raises(ValueError, match=r"class_weight\['L1'\]"):
        StructuredPerceptron(TEMPLATES, class_weight={"L1": cost}).fit(X, y)
    with pytest.raises(ValueError, match="class_weight"):
        StructuredPerceptron(TEMPLATES, class_weight="unbalanced").fit(X, y)


@pytest.mark.parametrize("min_count", [1, 2])
def test_sequences_of_weight_0_do_not_exist(Tagger, min_count):
    X, y = corpus()
    weight = np.ones(len(X))
    weight[::3] = 0.0
    odd = [["strange", *s] if w == 0 else s for s, w in zip(X, weight)]
    odd_y = [["new label", *s] if w == 0 else s for s, w in zip(y, weight)]
    tagger = Tagger(TEMPLATES, min_count=min_count, random_state=0).fit(
        odd, odd_y, weight
    )
    keep = np.flatnonzero(weight)
    without = clone(tagger).fit([X[i] for i in keep], [y[i] for i in keep])
    assert same_weights(tagger, without)
    assert tagger.classes_.tolist() == without.classes_.tolist()
    assert tagger.history_[-1]["updates"] == without.history_[-1]["updates"]


def test_sample_weight_multiplies_updates(Tagger):
    X, y = corpus()
    options = {"variant": "PA"} if Tagger is PassiveAggressiveTagger else {}
    plain = Tagger(TEMPLATES, random_state=0, **options).fit(X, y)
    assert same_weights(
        plain, Tagger(TEMPLATES, random_state=0, **options).fit(X, y, np.ones(len(X)))
    )
    if Tagger is StructuredPerceptron:  # one scale for everything changes no decision
        double = Tagger(TEMPLATES, random_state=0).fit(X, y, np.full(len(X), 2.0))
        assert all(
            np.array_equal(2 * a, b) for a, b in zip(weights(plain), weights(double))
        )
    # Contradictory sequences: the heavier one wins.
    for heavy, label in ((0, "A"), (1, "B")):
        weight = [0.1, 0.1]
        weight[heavy] = 1.0
        tagger = Tagger(["U00:%x[0,0]"], random_state=0).fit(
            [["a"], ["a"]], [["A"], ["B"]], weight
        )
        assert tagger.predict([["a"]]) == [[label]]


@pytest.mark.parametrize(
    "weight, message",
    [
        ([1.0], "sample_weight"),
        ([[1.0]] * 4, "sample_weight|Sample weights"),
        ([1, 1, -1, 1], "negative.*sequence 2"),
        ([0, 0, 0, 0], "zero"),
        ([1, 1, float("nan"), 1], "must be finite, got nan for sequence 2"),
        ([1, 1, float("inf"), 1], "must be finite, got inf for sequence 2"),
        (["a"] * 4, "one number for each sequence, got list"),
    ],
)
def test_bad_sample_weight(weight, message):
    X, y = corpus(4)
    tagger = StructuredPerceptron(TEMPLATES)
    with pytest.raises(ValueError, match=message):
        tagger.fit(X, y, sample_weight=weight)
    assert not hasattr(tagger, "classes_")
    with pytest.raises(ValueError, match=message):
        tagger.partial_fit(X, y, sample_weight=weight)
    tagger.fit(X, y)
    with pytest.raises(ValueError, match=message):
        tagger.score(X, y, sample_weight=weight)


# -- unlabelled tokens -----------------------------------------------------------------
def test_partly_labelled_data_helps(Tagger):
    X, y = corpus(150, n_words=200, noise=0.0)
    test = X[100:], y[100:]
    partly = [
        [None if t % 2 else label for t, label in enumerate(labels)]
        for labels in y[8:100]
    ]
    few = Tagger(TEMPLATES, random_state=0).fit(X[:8], y[:8])
    more = Tagger(TEMPLATES, random_state=0).fit(X[:100], y[:8] + partly)
    assert more.score(*test) > few.score(*test) + 0.05


def test_unlabelled_sequences_never_update(Tagger):
    X, y = corpus()
    unlabelled = [[None] * len(s) for s in X]
    last = False if Tagger is StructuredPerceptron else None
    tagger = Tagger(TEMPLATES, random_state=0, average=last)
    tagger.fit(X[:10], y[:10])
    before = tagger.predict(X)
    tagger.partial_fit(X, unlabelled)
    assert tagger.history_[-1]["updates"] == 0
    assert tagger.predict(X) == before
    with pytest.raises(ValueError, match="no label"):
        clone(tagger).fit(X, unlabelled)


# -- epochs ----------------------------------------------------------------------------
def test_history(Tagger):
    X, y = corpus()
    tagger = Tagger(TEMPLATES, max_iter=4, random_state=0).fit(X, y)
    assert tagger.n_iter_ == len(tagger.history_) == 4
    n_tokens = sum(map(len, X))
    for e, record in enumerate(tagger.history_):
        assert record["epoch"] == e + 1 and record["complete"] is True
        assert type(record["updates"]) is int and 0 <= record["updates"] <= len(X)
        assert record["sequence_error"] == record["updates"] / len(X)
        assert 0 <= record["token_error"] <= 1 and record["seconds"] >= 0
        wrong = record["token_error"] * n_tokens
        assert wrong == pytest.approx(round(wrong))
        assert "validation_score" not in record
    assert tagger.history_[-1]["token_error"] < tagger.history_[0]["token_error"]
    if Tagger is PassiveAggressiveTagger:
        assert tagger.history_[0]["loss"] > 0


def test_verbose_prints_a_line_for_each_epoch(Tagger, capsys):
    X, y = corpus()
    Tagger(TEMPLATES, max_iter=3).fit(X, y)
    assert capsys.readouterr().out == ""
    Tagger(TEMPLATES, max_iter=3, verbose=1, early_stopping=True).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["epoch 1", "epoch 2", "epoch 3"]
    assert all("updates" in line and "held-out accuracy" in line for line in lines)


def test_early_stopping_keeps_the_best_epoch(Tagger):
    X, y = corpus(80, noise=0.3)
    options = {"features": TEMPLATES, "early_stopping": True, "random_state": 0}
    options["validation_fraction"] = 0.25
    tagger = Tagger(max_iter=50, n_iter_no_change=2, **options).fit(X, y)
    scores = [record["validation_score"] for record in tagger.history_]
    assert tagger.n_iter_ == len(scores) < 50
    best = int(np.argmax(scores)) + 1
    shorter = Tagger(max_iter=best, n_iter_no_change=50, **options).fit(X, y)
    assert same_weights(tagger, shorter)
    # The held-out part is the permutation's head.
    order = np.random.RandomState(0).permutation(80)[:20]
    held_out = [X[i] for i in order], [y[i] for i in order]
    assert tagger.score(*held_out) == pytest.approx(max(scores))


def test_early_stopping_leaves_something_to_learn():
    for X, y in ([["a"]], [["A"]]), ([["a"], []], [["A"], []]):
        with pytest.raises(
            ValueError, match="early_stopping.*leaves none of the 1 sequences"
        ):
            StructuredPerceptron(early_stopping=True).fit(X, y)


def test_random_state(Tagger):
    X, y = corpus()
    options = {
        "features": TEMPLATES,
        "max_iter": 3,
        "dropout": 0.2,
        "feature_noise": "zipf",
    }
    state = np.random.get_state()[1].copy()
    a = Tagger(random_state=3, **options).fit(X, y)
    assert same_weights(a, Tagger(random_state=3, **options).fit(X, y))
    assert same_weights(a, clone(a).fit(X, y)) and same_weights(a, a.fit(X, y))
    assert not same_weights(a, Tagger(random_state=4, **options).fit(X, y))
    assert (np.random.get_state()[1] == state).all()
    rng = np.random.RandomState(3)
    b = Tagger(random_state=rng, **options).fit(X, y)
    assert same_weights(a, b)
    assert not same_weights(
        a, Tagger(random_state=rng, **options).fit(X, y)
    )  # drawn from again
    unseeded = Tagger(**options).fit(X, y)
    assert not same_weights(unseeded, Tagger(**options).fit(X, y))
    plain = {"features": TEMPLATES, "shuffle": False, "max_iter": 2}
    assert same_weights(
        Tagger(random_state=1, **plain).fit(X, y),
        Tagger(random_state=2, **plain).fit(X, y),
    )


# -- features --------------------------------------------------------------------------
def test_features_parameter(tmp_path):
    X, y = corpus()
    lines = ["U00:%x[-1,0]", "U01:%x[0,0]", "B"]
    path = tmp_path / "template"
    path.write_text("# comment\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    reference = StructuredPerceptron(lines, random_state=0).fit(X, y)
    for features in (tuple(lines), str(path), path, FeatureTemplates(lines)):
        tagger = StructuredPerceptron(features, random_state=0)
        assert same_weights(clone(tagger).fit(X, y), reference)
        assert tagger.features is features
    preset = StructuredPerceptron("word", random_state=0).fit(X, y)
    assert same_weights(preset, StructuredPerceptron(random_state=0).fit(X, y))
    assert not same_weights(preset, reference)
    assert model_of(preset).encoder.templates == FeatureTemplates.preset("word")


@pytest.mark.parametrize(
    "tokens, preset",
    [
        (list("字典"), "char"),
        (["words", "here"], "word"),
        ([("a", "DT"), ("b", "NN")], "word-tag"),
    ],
)
def test_auto_looks_at_the_tokens(tokens, preset):
    tagger = StructuredPerceptron().fit([tokens], [["A", "B"]])
    assert model_of(tagger).encoder.templates == FeatureTemplates.preset(preset)


def test_ways_to_write_one_feature():
    """sklearn-crfsuite's conventions: each token below has the feature ``w:x``, and
    nothing else.
    """
    ways = [{"w": "x"}, ["w:x"], {"w:x": True}, {"w:x": 1}, {"w:x": 1.0}, {"w": ["x"]}, {"w": {"x": 1}},
            {"w": {"x": True}}, {"w": {"x"}}, {"w": "x", "no": False, "zero": 0, "0": 0.0}]  # fmt: skip
    fitted = [
        StructuredPerceptron(random_state=0).fit([[w, type(w)()]], [["B", "A"]])
        for w in ways
    ]
    for tagger in fitted:
        assert same_weights(tagger, fitted[0])
        assert [n for n in model_of(tagger).encoder.nodes.ids] == ["w:x"]
        scores = [tagger.decision_function([[way]])[0] for way in ways]
        assert (
            len(set(scores)) == 1 and scores[0] != tagger.decision_function([[{}]])[0]
        )
    numeric = StructuredPerceptron(random_state=0).fit(
        [[{"v": 2.0}, {"v": -1}]], [["A", "B"]]
    )
    one, three = numeric.decision_function([[{"v": 1}], [{"v": 3.0}]])
    assert three == pytest.approx(3 * one) and one != 0


def test_features_with_newlines_and_odd_strings(Tagger):
    X = [["a\nb", "", "\ud800", "字"], ["", "\t", "a\nb"]]
    y = [["A\n", "B", "\t", "B"], ["B", "\t", "A\n"]]
    tagger = Tagger(
        ["U00:%x[0,0]", "U01:%x[-1,0]/%x[1,0]", "U02:%suffix2[0,0]", "B"],
        random_state=0,
    )
    assert tagger.fit(X, y).predict(X) == y
    bags = [[{f"f\n{w!r}": 1} for w in s] for s in X]
    assert Tagger(random_state=0).fit(bags, y).predict(bags) == y


# -- storage ---------------------------------------------------------------------------
@pytest.mark.parametrize("penalty", PENALTIES)
def test_sparse_storage_predicts_the_same(Tagger, penalty, monkeypatch):
    X, y = corpus(60, n_labels=6)
    options = {"features": TEMPLATES, "max_iter": 5, "penalty": penalty, "alpha": 1e-3}
    options["random_state"] = 0
    dense = Tagger(**options).fit(X[:40], y[:40])
    monkeypatch.setattr(store_module, "DENSE_WEIGHTS", 0)
    monkeypatch.setattr(store_module, "FEW_LABELS", 0)
    sparse = Tagger(**options).fit(X[:40], y[:40])
    assert model_of(sparse).nodes.sparse and not model_of(dense).nodes.sparse
    assert sparse.predict(X) == dense.predict(X)
    assert (
        sparse.predict_kbest(X[:5], 3) == dense.predict_kbest(X[:5], 3)
        or penalty == "l2"
    )
    a, b = sparse.decision_function(X), dense.decision_function(X)
    if (
        penalty != "l2"
    ):  # dense rows multiply by the scale after summing, sparse ones before
        assert np.array_equal(a, b)
    assert np.allclose(a, b, rtol=1e-12)
    # The same after growth, with a label that sorts before the others.
    more = X[40:], [["A" if label == "L1" else label for label in s] for s in y[40:]]
    sparse.partial_fit(*more)
    monkeypatch.undo()
    dense.partial_fit(*more)
    assert model_of(sparse).nodes.sparse and sparse.predict(X) == dense.predict(X)


# -- inside scikit-learn ---------------------------------------------------------------
def test_unfitted():
    tagger = StructuredPerceptron()
    for call in (tagger.predict, tagger.decision_function, tagger.predict_kbest):
        with pytest.raises(NotFittedError):
            call(None)
    with pytest.raises(NotFittedError):
        tagger.score(None, None)
    with pytest.raises(NotFittedError):
        check_is_fitted(tagger)


def test_model_selection(Tagger):
    X, y = corpus(30)
    X, y = [s[:5] for s in X], [s[:5] for s in y]  # equal lengths
    search = GridSearchCV(
        Tagger(TEMPLATES, max_iter=2, random_state=0), {"max_iter": [1, 2]}, cv=3
    )
    search.fit(X, y)
    assert 0 < search.best_score_ <= 1
    for cut in (X, [s[: 1 + i % 5] for i, s in enumerate(X)]):
        gold = [s[: len(t)] for s, t in zip(y, cut)]
        part = (
            StructuredPerceptron(TEMPLATES, max_iter=1, random_state=0)
            .fit(cut, gold)
            .predict(cut)[2:5]
        )
        assert (
            np.array(part).shape == (3,) and np.array(part)[0] == part[0]
        )  # though all are equally long
        out = cross_val_predict(
            Tagger(TEMPLATES, max_iter=1, random_state=0), cut, gold, cv=3
        )
        assert out.shape == (30,) and [len(s) for s in out] == [len(s) for s in cut]


def test_pickle_and_open_files(Tagger):
    X, y = corpus()
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    taggers = [
        Tagger(TEMPLATES, max_iter=1, random_state=0).fit(X, y) for _ in range(5)
    ]
    if before:
        assert len(os.listdir("/proc/self/fd")) <= before + 1
    again = pickle.loads(pickle.dumps(taggers[0]))
    assert again.predict(X) == taggers[0].predict(X)
    assert same_weights(again.partial_fit(X, y), taggers[1].partial_fit(X, y))
