"""The parser as an estimator: its data, its parameters, its errors, its files."""

import pickle

import numpy as np
import pytest
from parser_cases import X, Y, parser
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.utils.validation import check_is_fitted

import skstruct
from skstruct import ShiftReduceParser
from skstruct._saving.container import ModelFileError, read_container, write_container
from skstruct.datasets import read_conllu
from skstruct.metrics import attachment_scores

HEADS = [[head for head, _ in tree] for tree in Y]


@pytest.fixture(scope="module")
def fitted():
    return parser().fit(X, Y)


def test_it_learns_and_gives_back_what_it_was_given(fitted):
    assert fitted.predict(X) == Y
    assert fitted.score(X, Y) == fitted.score(X, HEADS) == 1.0
    assert fitted.classes_.tolist() == ["det", "nsubj", "obj", "punct", "root"]
    assert (
        type(fitted.predict(X)[0][0]) is tuple
        and type(fitted.predict(X)[0][0][0]) is int
    )
    scores = fitted.decision_function(X)
    assert scores.shape == (5,) and scores[2] == 0.0 and (scores[[0, 1, 4]] > 0).all()


def test_heads_alone():
    model = parser(labeled=False).fit(X, HEADS)
    assert model.predict(X) == HEADS and not hasattr(model, "classes_")
    same = parser(labeled=False).fit(X, Y)
    assert same.predict(X) == HEADS
    assert (same.decision_function(X) == model.decision_function(X)).all()


def test_a_fit_to_heads_alone_forgets_the_labels():
    model = parser(max_iter=2).fit(X, Y).set_params(labeled=False)
    with pytest.raises(ValueError):
        model.fit(X, Y[:1])
    assert model.classes_.shape == (5,)
    assert not hasattr(model.fit(X, HEADS), "classes_") and model.predict(X)[3] == [0]


def test_labels_that_are_not_known_teach_nothing():
    partly = [
        [(head, None if label == "det" else label) for head, label in tree]
        for tree in Y
    ]
    model = parser().fit(X, partly)
    assert model.classes_.tolist() == ["nsubj", "obj", "punct", "root"]
    assert [[h for h, _ in tree] for tree in model.predict(X)] == HEADS
    unknown = [[(head, None) for head, _ in tree] for tree in Y]
    assert model.partial_fit(X, unknown).classes_.tolist() == [
        "nsubj",
        "obj",
        "punct",
        "root",
    ]
    with pytest.raises(ValueError, match="y holds no label: all are None"):
        parser().fit(X, unknown)


def test_unknown_words_and_tags_are_parsed(fitted):
    trees = fitted.predict([[("zebras", "N"), ("dream", "V")], [("?", "?")] * 7])
    for tree in trees:
        heads = [head for head, _ in tree]
        assert heads.count(0) == 1 and all(0 <= head <= len(tree) for head in heads)


def test_every_tree_has_one_root_and_no_crossing_arcs():
    rng = np.random.default_rng(0)
    tags = "DNV."
    sentences = [
        [(t, t) for t in rng.choice(list(tags), rng.integers(1, 30))] for _ in range(40)
    ]
    for tree in parser(max_iter=1).fit(X, Y).predict(sentences):
        heads = [head for head, _ in tree]
        arcs = [tuple(sorted((h, k))) for k, h in enumerate(heads, 1)]
        assert heads.count(0) == 1
        assert not any(a < c < b < d for a, b in arcs for c, d in arcs)


@pytest.mark.parametrize(
    "parameters",
    [
        {"penalty": "l1", "alpha": 1e-4},
        {"penalty": "l1-cumulative", "alpha": 1e-4},
        {"penalty": "l2", "alpha": 1e-3},
        {"dropout": 0.3},
        {"feature_noise": "zipf", "edge_noise": "dropout"},
        {"feature_noise": "dropout", "edge_noise": "same"},
        {"min_count": 2},
        {"average": False},
        {"shuffle": False},
        {"beam_size": 1},
        {"beam_size": 64},
        {"merge_states": False},
        {"update": "early"},
        {"update": "standard"},
        {"templates": "rich"},
        {"templates": ["s0.t s1.t", "s0.w s1.t", "s0.t q0.t", "d", "s0.t s1.t q0.t"]},
    ],
)
def test_every_parameter_trains(parameters):
    model = parser(max_iter=30, **parameters).fit(X, Y)
    assert model.score(X, Y) >= 0.9
    again = parser(max_iter=30, **parameters).fit(X, Y)
    assert (again.decision_function(X) == model.decision_function(X)).all()


def test_no_dropout_is_the_same_as_none_given():
    a, b = parser(dropout=0.0).fit(X, Y), parser(noise_rate=0.5).fit(X, Y)
    assert (a.decision_function(X) == b.decision_function(X)).all()


def test_trees_that_are_not_projective():
    crossing = [[("a", "D"), ("b", "N"), ("c", "V"), ("d", "N"), ("e", "X")]]
    tree = [[(4, "x"), (4, "x"), (5, "y"), (0, "root"), (4, "x")]]
    lifted = parser(max_iter=20).fit(crossing, tree).predict(crossing)[0]
    assert lifted == [(4, "x"), (4, "x"), (4, "y"), (0, "root"), (4, "x")]
    with pytest.raises(ValueError, match="no sentence is left to train on"):
        parser(projectivize="skip").fit(crossing, tree)
    assert parser(projectivize="skip").fit(X + crossing, Y + tree).predict(X) == Y


def test_threads_change_nothing(fitted):
    many = X * 30
    expected, scores = fitted.predict(many), fitted.decision_function(many)
    other = clone(fitted).set_params(n_jobs=2).fit(X, Y)
    assert (
        other.predict(many) == expected
        and (other.decision_function(many) == scores).all()
    )


def test_sample_weights():
    crossed = [tree[::-1] if i == 0 else tree for i, tree in enumerate(Y)]
    crossed[0] = [(0, "root"), (1, "nsubj"), (2, "det")]
    model = parser().fit(X, crossed, sample_weight=[0, 1, 1, 1, 1])
    assert model.predict(X)[1:] == Y[1:]
    assert model.score(X, crossed, sample_weight=[0, 1, 1, 1, 1]) == 1.0
    with pytest.raises(ValueError, match="no sentence is left"):
        parser().fit(X, Y, sample_weight=[0, 0, 1, 0, 0])


def test_two_fits_of_three_epochs_are_one_of_six():
    model = parser(max_iter=3, warm_start=True).fit(X, Y).fit(X, Y)
    whole = parser(max_iter=6).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X))
    assert model.n_iter_ == 3 and model.predict(X) == whole.predict(X)


def test_a_stream_learns_new_words_tags_and_labels():
    model = parser()
    for _ in range(12):
        model.partial_fit(X[:2], Y[:2])
    assert model.classes_.tolist() == ["det", "nsubj", "obj", "punct", "root"]
    new = [[("ach", "I"), ("run", "V")]], [[(2, "discourse"), (0, "root")]]
    for _ in range(12):
        model.partial_fit(*new)
    assert model.predict(new[0]) == new[1] and model.predict(X[:2]) == Y[:2]
    assert "discourse" in model.classes_
    with pytest.raises(ValueError, match="templates='rich' differs"):
        model.set_params(templates="rich").partial_fit(X, Y)


def test_early_stopping_keeps_the_best_epoch():
    model = parser(
        early_stopping=True, validation_fraction=0.3, max_iter=20, n_iter_no_change=2
    ).fit(X, Y)
    scores = [record["validation_score"] for record in model.history_]
    assert model.n_iter_ == len(scores) < 20


def test_a_checkpoint_is_gone_after_the_fit(tmp_path):
    model = parser(checkpoint=str(tmp_path), max_iter=3).fit(X, Y)
    assert model.resumed_from_ == 0 and list(tmp_path.iterdir()) == []
    assert (
        model.decision_function(X) == parser(max_iter=3).fit(X, Y).decision_function(X)
    ).all()


@pytest.mark.parametrize("labels", ["few", "many", "none"])
@pytest.mark.parametrize(
    "parameters", [{}, {"penalty": "l1", "alpha": 1e-5}, {"min_count": 2}]
)
def test_a_file_holds_all_it_takes_to_go_on(tmp_path, labels, parameters):
    y = HEADS if labels == "none" else Y
    sentences = X
    if labels == "many":
        sentences, y = (
            X + [[(f"w{k}", "N")] for k in range(15)],
            Y + [[(0, f"only{k}")] for k in range(15)],
        )
    model = parser(
        max_iter=2, labeled=labels != "none", warm_start=True, **parameters
    ).fit(sentences, y)
    model.save(tmp_path / "parser")
    loaded = skstruct.load(tmp_path / "parser")
    for _ in range(2):
        assert loaded.predict(X) == model.predict(X)
        assert (loaded.decision_function(X) == model.decision_function(X)).all()
        model.fit(sentences, y)
        loaded.fit(sentences, y)
    model.save(tmp_path / "small", training=False)
    small = skstruct.load(tmp_path / "small").partial_fit(sentences, y)
    assert len(small.predict(X)) == len(X)
    assert pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"templates": ["s0.w s1.w s2.w"]}, "room for two forms"),
        ({"templates": ["s0.w", "q7.w"]}, "'q7.w' is no atom"),
        ({"templates": ["s0.w"]}, "no features of the templates"),
        ({"beam": 0}, "beam must be an int"),
        ({"merge": 1}, "merge must be true or false"),
        ({"labels": ["det"]}, "label_weights.columns must be 1"),
        ({"alphabets": []}, "alphabets expected"),
        ({"keys": None}, "no array"),
    ],
)
def test_files_that_say_what_cannot_be_are_refused(fitted, change, message, tmp_path):
    fitted.save(tmp_path / "model")
    header, arrays = read_container(tmp_path / "model", kind="model")
    header["estimator"]["state"].update(change)
    write_container(tmp_path / "model", header, arrays)
    with pytest.raises(ModelFileError, match=message):
        skstruct.load(tmp_path / "model")


def test_it_is_an_estimator(fitted):
    with pytest.raises(NotFittedError):
        check_is_fitted(parser())
    with pytest.raises(NotFittedError):
        parser().predict(X)
    assert clone(fitted).get_params() == fitted.get_params()
    sentences, trees = X[:2] * 3, Y[:2] * 3
    search = GridSearchCV(parser(max_iter=3), {"beam_size": [1, 4]}, cv=3).fit(
        sentences, trees
    )
    assert 0.0 <= search.best_score_ <= 1.0
    predicted = cross_val_predict(parser(max_iter=10), sentences, trees, cv=3)
    assert attachment_scores(trees, predicted).n_tokens == 24


@pytest.mark.parametrize(
    "x, y, message",
    [
        ([], [], "X is empty"),
        ([[]], [[]], "X holds no token"),
        (X, Y[:2], "same number of sequences, got 5 and 2"),
        (
            [X[0]],
            [Y[0][:2]],
            "sequence 0: as many labels as tokens are expected, got 3 tokens and 2",
        ),
        (["dog"], [Y[0]], "sequence 0 is the str 'dog'"),
        (
            [[("dog",)]],
            [[(0, "root")]],
            r"sequence 0, position 0: expected a pair \(form, tag\)",
        ),
        (
            [X[0]],
            [HEADS[0]],
            r"sequence 0, position 0: expected a pair \(head, label\)",
        ),
        ([X[0]], [[(2, "a"), (3, "b"), (4, "c")]], "position 2: a head must be in 0"),
        (
            [X[0]],
            [[(2, "a"), (1, "b"), (0, "c")]],
            "position [01]: the heads from here on form a cycle",
        ),
        (
            [X[0]],
            [[(0, "a"), (0, "b"), (1, "c")]],
            "exactly one root; positions 0 and 1",
        ),
        (
            [X[0]],
            [[(2, "a"), (2, "b"), (0, "c")]],
            "position 1: the word is its own head",
        ),
        (
            [X[0]],
            [[(2, "a"), (3, 1), (0, "c")]],
            "sequence 0, position 1: expected a label of type str",
        ),
    ],
)
def test_bad_input_is_refused_before_anything_changes(x, y, message):
    model = parser(max_iter=2).fit(X, Y)
    before = {name: id(value) for name, value in vars(model).items()}
    for fit in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=message):
            fit(x, y)
        assert {name: id(value) for name, value in vars(model).items()} == before
    assert model.predict(X) is not None


def test_scores_take_the_heads_that_fit_takes(fitted):
    converted = [[(np.int64(head), label) for head, label in tree] for tree in Y]
    assert (
        fitted.score(X, converted)
        == fitted.score(X, [[h for h, _ in t] for t in converted])
        == 1.0
    )
    stopped = parser(max_iter=2, early_stopping=True).fit(X, converted)
    assert 0.0 <= stopped.history_[-1]["validation_score"] <= 1.0
    unknown = [Y[0], [(None, "det"), *Y[1][1:]]]
    assert fitted.score(X[:2], unknown) == 1.0  # of which one word does not count
    for head in ("2", 2.0):
        with pytest.raises(
            ValueError, match="sequence 1, position 0: a head must be an integer"
        ):
            fitted.score(X[:2], [Y[0], [(head, "det"), *Y[1][1:]]])


@pytest.mark.parametrize(
    "parameters",
    [
        {"templates": "none"}, {"templates": []}, {"templates": ["s0.z"]}, {"beam_size": 0},
        {"update": "late"}, {"projectivize": "no"}, {"labeled": 1.5}, {"dropout": 1.0}, {"merge_states": 2.5},
    ],
)  # fmt: skip
def test_bad_parameters_are_refused(parameters):
    with pytest.raises(ValueError):
        parser(**parameters).fit(X, Y)


def test_a_treebank_is_learned(corpus_path):
    rows = read_conllu(corpus_path("ewt/dev/reviews.conllu"))
    sentences = [[(form, tag) for form, tag, _, _ in s] for s in rows]
    trees = [[(head, label) for _, _, head, label in s] for s in rows]
    model = ShiftReduceParser(max_iter=3, random_state=0).fit(
        sentences[:300], trees[:300]
    )
    found = attachment_scores(trees[300:400], model.predict(sentences[300:400]))
    assert found.uas > 0.68 and found.las > 0.6


def test_the_number_of_labels_that_templates_read_is_limited():
    n = 4096
    words, tree = (
        [("a", "D")] * n,
        [(min(k + 2, n) % n if k < n - 1 else 0, f"l{k}") for k in range(n)],
    )
    tree[n - 2] = (n, tree[n - 2][1])
    with pytest.raises(
        ValueError,
        match="at most 4095 labels are possible if templates read labels, got 4096",
    ):
        parser(templates="auto").fit([words], [tree])


def test_the_best_trees_of_a_fitted_parser():
    model = parser(templates="auto", max_iter=3).fit(X, Y)
    for found, tree, score in zip(
        model.predict_kbest(X, 4), model.predict(X), model.decision_function(X)
    ):
        assert found[0] == (tree, score) and len(found) <= 4
        assert [s for _, s in found] == sorted([s for _, s in found], reverse=True)
    with pytest.raises(ValueError, match="k must be an int of at least 1, got 0"):
        model.predict_kbest(X, 0)
    assert model.predict_kbest([[]], 2) == [[([], 0.0)]]


@pytest.mark.parametrize("n", [1, 3000])
def test_sentences_of_any_length_and_words_that_nobody_knows(n):
    model = parser(templates="auto", max_iter=3).fit(X, Y)
    (tree,) = model.predict([[(f"w{k}", "Z") for k in range(n)]])
    assert len(tree) == n and [head for head, _ in tree].count(0) == 1
    assert {label for _, label in tree} <= set(model.classes_)
