"""Models of CRFsuite: what they say, what they do here, and what becomes of damaged
ones.
"""

import copy
import itertools
import json
import pickle
from decimal import Decimal

import joblib
import numpy as np
import pytest
import scipy.stats
from crfsuite_cases import corpus, fitted_crf
from foreign_models import LABELS, crfsuite, crfsuite_small
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline, make_pipeline

import skstruct
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    PassiveAggressiveTagger,
    Segmenter,
    StructuredPerceptron,
)
from skstruct._saving.registry import ModelFileError
from skstruct.datasets import load_segmentation
from skstruct.inspection import (
    explain,
    feature_weights,
    features_of,
    transition_weights,
)
from skstruct.interchange import load_crfsuite, save_crfsuite

X = [
    [{"w": "he", "up": True}, {"w": "ran", "length": 3.0}, {"w": "off", "up": 2}],
    [["w:ran"], ["up", "up", "unknown"]],
    [{"w": "he"}],
    [{"nothing": "known"}, {}],
    [],
]


def by_hand(sequence, states, transitions):
    """{labelling: score} of a sequence of lists of (name, value)."""
    scores = {}
    for labels in itertools.product(LABELS, repeat=len(sequence)):
        score = sum(
            v * states.get((n, y), 0.0)
            for item, y in zip(sequence, labels)
            for n, v in item
        )
        scores[labels] = score + sum(
            transitions.get(pair, 0.0) for pair in zip(labels, labels[1:])
        )
    return scores


STATES = {
    ("w:he", "A"): 2.0,
    ("w:he", "O"): 0.5,
    ("w:ran", "O"): 1.0,
    ("up", "B"): 0.25,
    ("tie", "O"): 1e-300,
}
TRANSITIONS = {("A", "O"): 1.5, ("O", "B"): 0.5, ("B", "B"): -1.0}
ITEMS = [[("w:he", 1), ("up", 1)], [("w:ran", 1)], [("up", 2)]]
"""What ``X[0]`` consists of."""


@pytest.fixture(scope="module")
def small():
    return load_crfsuite(crfsuite_small())


def test_weights_labels_and_scores_are_those_of_the_file(small):
    assert type(small) is L1CRF and small.classes_.tolist() == LABELS
    assert {
        (name, label): weight for name, label, weight in feature_weights(small)
    } == STATES
    found = transition_weights(small)
    assert {
        (LABELS[p], LABELS[y]): found[p, y] for p, y in zip(*np.nonzero(found))
    } == TRANSITIONS
    assert small.n_active_features_ == len(STATES) + len(TRANSITIONS)
    scores = by_hand(ITEMS, STATES, TRANSITIONS)
    ranked = sorted(scores.items(), key=lambda item: -item[1])
    best = small.predict_kbest(X[:1], 27)[0]
    assert [score for _, score in best] == pytest.approx([score for _, score in ranked])
    assert tuple(best[0][0]) == ranked[0][0] == tuple(small.predict(X[:1])[0])
    log_z = np.log(sum(np.exp(list(scores.values()))))
    for labels, score in ranked[:5]:
        assert small.sequence_log_proba(X[:1], [list(labels)])[0] == pytest.approx(
            score - log_z
        )
    marginals = small.predict_marginals(X[:1])[0]
    for t, y in itertools.product(range(3), range(3)):
        mine = sum(np.exp(s) for labels, s in scores.items() if labels[t] == LABELS[y])
        assert marginals[t, y] == pytest.approx(mine / np.exp(log_z))


def test_of_equal_labels_the_first_of_the_file_wins(small):
    assert small.predict([[{"nothing": "known"}]]) == [["O"]]
    assert small.predict_posterior([[["unknown"]]]) == [["O"]]


def test_an_imported_model_does_what_any_does(small, tmp_path):
    dicts = [X[0], X[2], X[3]]
    small.save(tmp_path / "model")
    for same in (
        skstruct.load(tmp_path / "model"),
        pickle.loads(pickle.dumps(small)),
        copy.deepcopy(small),
    ):
        assert same.classes_.tolist() == LABELS
        assert same.predict(dicts) == small.predict(dicts)
        np.testing.assert_array_equal(
            same.decision_function(dicts), small.decision_function(dicts)
        )
    explanation = explain(small, X[0])
    assert explanation.score == pytest.approx(small.decision_function(X[:1])[0])
    assert ("w:he", 2.0) in explanation.tokens[0].features
    assert features_of(small, X[0])[0] == ["w:he", "up"]
    y = [["A", "O", "B"], ["A"], ["O", "O"]]
    fresh = clone(small).set_params(c1=0.01).fit(dicts, y)
    assert fresh.classes_.tolist() == ["A", "B", "O"] and fresh.predict(dicts) == y
    averager = BaggingShuffleAverager(
        clone(small).set_params(c1=0.01), 2, random_state=0
    ).fit(dicts, y)
    assert len(averager.predict(dicts)) == 3
    reranker = KBestReranker(
        clone(small).set_params(c1=0.01), k=2, cv=2, max_iter=1
    ).fit(dicts * 2, y * 2)
    assert len(reranker.predict(dicts)) == 3


def test_training_goes_on_from_the_weights_of_the_file(small, tmp_path):
    data = (
        [X[0], [{"w": "we", "up": True}, {"w": "ran"}]],
        [["A", "O", "B"], ["N", "O"]],
    )
    fresh = clone(small).set_params(c1=0.01, solver="owlqn").fit(*data)
    grown = (
        copy.deepcopy(small)
        .set_params(warm_start=True, c1=0.01, solver="owlqn")
        .fit(*data)
    )
    assert grown.classes_.tolist() == [
        *LABELS,
        "N",
    ]  # new labels stand behind, those of the file stay
    assert fresh.classes_.tolist() == sorted([*LABELS, "N"])
    assert grown.predict(data[0]) == fresh.predict(data[0]) == data[1]
    assert grown.objective_ == pytest.approx(fresh.objective_, rel=1e-2)
    assert grown.history_[0]["objective"] < fresh.history_[0]["objective"]
    assert small.classes_.tolist() == LABELS  # the one that was loaded stays
    save_crfsuite(grown, tmp_path / "grown")
    grown.save(tmp_path / "ours")
    for again in (load_crfsuite(tmp_path / "grown"), skstruct.load(tmp_path / "ours")):
        assert again.classes_.tolist() == grown.classes_.tolist()
        np.testing.assert_array_equal(
            again.decision_function(X[:1]), grown.decision_function(X[:1])
        )


def test_many_labels_and_features_take_little_memory():
    labels = [f"L{k}" for k in range(100)]
    names = [f"f{k}" for k in range(2000)]
    states = [(name, labels[k % 100], 1.0 + k) for k, name in enumerate(names)]
    crf = load_crfsuite(crfsuite(labels, names, states, []))
    assert crf.predict([[["f7"], ["f1234"]]]) == [["L7", "L34"]]
    with pytest.raises(ModelFileError, match="5000 labels; at most 4096"):
        load_crfsuite(crfsuite([f"L{k}" for k in range(5000)], [], [], []))


def test_names_with_colons_mean_all_that_makes_them():
    crf = load_crfsuite(
        crfsuite(["O", "P"], ["a:b:c", "d"], [("a:b:c", "P", 1.0), ("d", "P", 1.0)], [])
    )
    tokens = [{"a": "b:c"}, {"a:b": "c"}, {"a:b:c": True}, {"a:b:c": 1}, ["a:b:c"], {"a": {"b": "c"}},
              {"a": ["b:c"]}, {"a": {"b": {"c": 2.0}}}, {"d": 0.5}]  # fmt: skip
    others = [{"a:b:c": False}, {"a:b:c": 0}, {"a": "b"}, {"d": "x"}, ["a"], {}]
    assert [crf.predict([[t]])[0] for t in tokens] == [["P"]] * len(tokens)
    assert [crf.predict([[t]])[0] for t in others] == [["O"]] * len(others)
    assert crf.decision_function(
        [[{"d": 0.5}], [{"a": {"b": {"c": 2.0}}}]]
    ).tolist() == [0.5, 2.0]


# -- against the tool ------------------------------------------------------------------
def train(pycrfsuite, path, algorithm, sequences, labels):
    trainer = pycrfsuite.Trainer(algorithm, verbose=False)
    for sequence, y in zip(sequences, labels):
        trainer.append(sequence, y)
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return tagger


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa", "arow"])
def test_labels_scores_and_probabilities_are_those_of_the_tool(algorithm, tmp_path):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    sequences, labels = corpus(0)
    tagger = train(pycrfsuite, tmp_path / "model", algorithm, sequences[:25], labels)
    crf = load_crfsuite(tmp_path / "model")
    assert crf.classes_.tolist() == tagger.labels()
    new = [*sequences, [{}], [{"w": "unknown"}, {"n": -3}, {"up": 0}]]
    predicted = [tagger.tag(sequence) for sequence in new]
    assert crf.predict(new) == predicted
    marginals, log_p = (
        crf.predict_marginals(new),
        crf.sequence_log_proba(new, predicted),
    )
    for sequence, y, found, log in zip(new, predicted, marginals, log_p):
        tagger.set(sequence)
        assert tagger.probability(y) == pytest.approx(np.exp(log), rel=1e-9, abs=1e-300)
        expected = [
            [tagger.marginal(label, t) for label in tagger.labels()]
            for t in range(len(sequence))
        ]
        np.testing.assert_allclose(found, expected, atol=1e-12)
    save_crfsuite(crf, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_a_crf_and_its_pickles(tmp_path):
    crf, sequences = fitted_crf(c1=0.1, c2=0.2, all_possible_transitions=True)
    expected = [list(labels) for labels in crf.predict(sequences)]
    loaded = load_crfsuite(crf)
    assert loaded.predict(sequences) == expected
    assert (loaded.c1, loaded.c2, loaded.all_pairs) == (0.1, 0.2, "transitions")
    inside = {"a": np.arange(3.0), "pairs": {(1, 2): {3}}, "o": np.array([None, "x", {}], object),
              "u": np.zeros((2, 3), "U5"), "crf": make_pipeline("passthrough", crf)}  # fmt: skip
    for protocol, each in itertools.product(range(6), (crf, inside)):
        assert (
            load_crfsuite(pickle.dumps(each, protocol=protocol)).predict(sequences)
            == expected
        )
    for compress in (0, 3, ("gzip", 3), ("bz2", 3), ("xz", 3), ("lzma", 3)):
        joblib.dump(inside, tmp_path / "model.joblib", compress=compress)
        assert load_crfsuite(tmp_path / "model.joblib").predict(sequences) == expected


@pytest.mark.parametrize(
    "library", ["sklearn_crfsuite", "skstruct.compat.sklearn_crfsuite"]
)
def test_the_best_estimator_of_a_search_is_meant(tmp_path, library):
    """And a fitted CRF beside ones that are not, wherever they stand."""
    CRF = pytest.importorskip(library).CRF
    X, y = corpus(1)
    given = CRF(max_iterations=5).fit(
        X[:5], y[:5]
    )  # a search clones it, and keeps it as it is
    best = None
    inside = Pipeline([("none", "passthrough"), ("crf", CRF(max_iterations=5))])
    for estimator in (CRF(max_iterations=5), given, inside):
        name = "crf__c2" if hasattr(estimator, "steps") else "c2"
        search = GridSearchCV(estimator, {name: [0.5, 2.0]}, cv=2).fit(X, y)
        best = (
            search.best_estimator_[-1]
            if hasattr(estimator, "steps")
            else search.best_estimator_
        )
        expected = [list(labels) for labels in best.predict(X)]
        for protocol in (0, 2, 4, 5):
            loaded = load_crfsuite(pickle.dumps(search, protocol=protocol))
            assert loaded.predict(X) == expected
            assert (loaded.c1, loaded.c2) == (0.0, best.c2)
        joblib.dump({"search": search}, tmp_path / "search.joblib", compress=3)
        assert load_crfsuite(tmp_path / "search.joblib").predict(X) == expected
    beside = {"new": CRF(c2=3.0), "old": given}
    assert load_crfsuite(pickle.dumps(beside)).c2 == 1.0


@pytest.mark.parametrize("kept", [0, 1, 2, 3, 4, 5, "joblib"])
def test_what_a_search_over_distributions_found(tmp_path, kept):
    """Its parameters are numbers of numpy, and joblib writes arrays before them."""
    CRF = pytest.importorskip("sklearn_crfsuite").CRF
    X, y = corpus(1)
    drawn = {"c1": scipy.stats.expon(scale=0.5), "c2": scipy.stats.expon(scale=0.05)}
    given = CRF(max_iterations=5, all_possible_transitions=True)
    search = RandomizedSearchCV(given, drawn, n_iter=2, cv=2, random_state=0)
    search.fit(X, y)
    if kept == "joblib":
        joblib.dump(search, tmp_path / "search")
    else:
        (tmp_path / "search").write_bytes(pickle.dumps(search, protocol=kept))
    loaded = load_crfsuite(tmp_path / "search")
    assert {"c1": loaded.c1, "c2": loaded.c2} == search.best_params_
    assert loaded.all_pairs == "transitions"
    assert loaded.predict(X) == [list(labels) for labels in search.predict(X)]


def test_a_strength_that_is_no_number_is_said():
    CRF = pytest.importorskip("sklearn_crfsuite").CRF
    crf = CRF(max_iterations=5).fit(*corpus(1))
    crf.c1 = Decimal("0.5")
    with pytest.warns(UserWarning, match="c1 of the CRF is .*; the model has c1=0.1"):
        assert load_crfsuite(pickle.dumps(crf)).c1 == 0.1


def test_several_fitted_crfs_are_named():
    both = {"folds": [fitted_crf()[0], make_pipeline("passthrough", fitted_crf()[0])]}
    with pytest.raises(
        ModelFileError,
        match=r"\['folds'\]\[0\], \['folds'\]\[1\].steps\[1\]\[1\]; expected",
    ):
        load_crfsuite(pickle.dumps(both))
    with pytest.raises(
        ModelFileError, match="9 CRFs are in the pickle.*, ...; expected"
    ):
        load_crfsuite(pickle.dumps([copy.deepcopy(both["folds"][0]) for _ in range(9)]))


def test_deep_objects_cost_no_more_than_they_hold():
    """Places are told by their last steps; text for each level would be quadratic."""
    flat = pickle.dumps([fitted_crf()[0], fitted_crf()[0]])[:-1]
    deep = flat + b"\x85" * 50_000 + b"."  # tuples in tuples
    places = r"pickle: \.\.\.(\[0\])+, \.\.\.(\[0\])+\[1\]; expected"
    with pytest.raises(ModelFileError, match=places) as error:
        load_crfsuite(deep)
    assert len(str(error.value)) < 1000


def test_pickles_without_one_model_say_so(tmp_path):
    crf, _ = fitted_crf(model_filename=str(tmp_path / "own.crfsuite"))
    with pytest.raises(
        ModelFileError, match=r"in a file of its own, '.*own.crfsuite': load that"
    ):
        load_crfsuite(pickle.dumps(crf))
    assert load_crfsuite(tmp_path / "own.crfsuite").predict([[{}]]) == load_crfsuite(
        crf
    ).predict([[{}]])
    other = type(crf)()
    for unfitted in (other, pickle.dumps(other)):
        with pytest.raises(ModelFileError, match="is not fitted"):
            load_crfsuite(unfitted)
    both = [fitted_crf()[0], fitted_crf(algorithm="ap")[0]]
    with pytest.raises(ModelFileError, match="2 CRFs are in the pickle"):
        load_crfsuite(pickle.dumps(both))
    with pytest.raises(
        ModelFileError, match=r"no sklearn_crfsuite.CRF is in the pickle"
    ):
        load_crfsuite(pickle.dumps([1, "x"]))
    own = pickle.dumps({"model": L1CRF().fit([["a"]], [["A"]])})
    with pytest.raises(
        ModelFileError,
        match=r"holds a L1CRF of skstruct.*write the model by its save\(\)",
    ):
        load_crfsuite(own)


class Hostile:
    """Runs code when it is unpickled as usual."""

    ran = []

    def __reduce__(self):
        return Hostile.ran.append, ("ran",)


def test_nothing_of_a_pickle_is_run():
    crf, _ = fitted_crf()
    for protocol in range(6):
        data = pickle.dumps([Hostile(), crf], protocol=protocol)
        assert (
            load_crfsuite(data).classes_.tolist()
            == load_crfsuite(crf).classes_.tolist()
        )
    assert Hostile.ran == []
    with pytest.raises(ModelFileError, match="no sklearn_crfsuite"):
        load_crfsuite(b"cos\nsystem\n(S'false'\ntR.")


def test_real_models(corpus_path):
    """Weights, labels, scores and marginals as the tool gave them."""
    for name in ("lbfgs", "lbfgs-sparse", "l2sgd", "ap", "pa", "arow"):
        path = corpus_path(f"foreign/own/crfsuite-{name}.crfsuite")
        golden = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        crf = load_crfsuite(path)
        assert crf.classes_.tolist() == golden["model_labels"]
        for sequence in golden["sequences"]:
            items = sequence["items"]
            assert crf.predict([items]) == [sequence["labels"]]
            if items:
                assert crf.decision_function([items])[0] == sequence["score"]
                np.testing.assert_allclose(
                    crf.predict_marginals([items])[0], sequence["marginals"], atol=1e-12
                )
    golden = json.loads(
        corpus_path("foreign/own/sklearn-crf.json").read_text(encoding="utf-8")
    )
    for name in ("protocol0.pkl", "protocol2.pkl", "protocol5.pkl", "zlib.joblib"):
        crf = load_crfsuite(corpus_path(f"foreign/own/sklearn-crf-{name}"))
        assert [crf.predict([s["items"]])[0] for s in golden["sequences"]] == [
            s["labels"] for s in golden["sequences"]
        ]


# -- writing ---------------------------------------------------------------------------
TOKENS = [["the", "dog", "ran"], ["a", "cat"], ["the", "cat", "slept"]]
TAGS = [["D", "N", "V"], ["D", "N"], ["D", "N", "V"]]
TEMPLATES = ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "U2:%suffix2[0,0]", "B"]


@pytest.mark.parametrize(
    "tagger",
    [
        L1CRF(TEMPLATES, c1=0.1, random_state=0),
        StructuredPerceptron(TEMPLATES[:-1], random_state=0),
        PassiveAggressiveTagger(TEMPLATES, min_count=2, random_state=0),
        StructuredPerceptron(
            TEMPLATES, random_state=0, constraints=[("D", "N"), ("N", "V"), ("V", "D")]
        ),
        BaggingShuffleAverager(StructuredPerceptron(TEMPLATES), 3, random_state=0),
        ParameterMixer(StructuredPerceptron(TEMPLATES), 2, random_state=0),
    ],
    ids=lambda tagger: type(tagger).__name__,
)
def test_what_is_written_predicts_the_same(tagger, tmp_path):
    tagger = clone(tagger).fit(TOKENS, TAGS)
    save_crfsuite(tagger, tmp_path / "model")
    items, again = (
        [features_of(tagger, x) for x in TOKENS],
        load_crfsuite(tmp_path / "model"),
    )
    assert again.classes_.tolist() == tagger.classes_.tolist()
    assert again.predict(items) == tagger.predict(TOKENS)
    np.testing.assert_array_equal(
        again.decision_function(items), tagger.decision_function(TOKENS)
    )
    pycrfsuite = pytest.importorskip("pycrfsuite")
    theirs = pycrfsuite.Tagger()
    theirs.open(str(tmp_path / "model"))
    assert [theirs.tag(sequence) for sequence in items] == tagger.predict(TOKENS)


def test_probabilities_at_a_temperature_are_written(tmp_path):
    tags = [["D", "N", "V"], ["D", "N"], ["D", "V", "V"]] * 4  # not always right
    tagger = CalibratedTagger(
        StructuredPerceptron(TEMPLATES, random_state=0), random_state=0
    )
    tagger.fit(TOKENS * 4, tags)
    save_crfsuite(tagger, tmp_path / "model")
    again = load_crfsuite(tmp_path / "model")
    for x in TOKENS:
        found = again.predict_marginals([features_of(tagger, x)])[0]
        np.testing.assert_allclose(found, tagger.predict_marginals([x])[0], atol=1e-12)


def test_a_tagger_of_dicts_is_written_for_the_tool(tmp_path):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    sequences, labels = corpus(2)
    tagger = StructuredPerceptron(max_iter=3, random_state=0).fit(sequences, labels)
    save_crfsuite(tagger, tmp_path / "model")
    theirs = pycrfsuite.Tagger()
    theirs.open(str(tmp_path / "model"))
    assert [theirs.tag(sequence) for sequence in sequences] == tagger.predict(sequences)


def conditioned():
    return StructuredPerceptron([*TEMPLATES, "B1:%x[0,0]"], random_state=0).fit(
        TOKENS, TAGS
    )


@pytest.mark.parametrize(
    ("tagger", "message"),
    [
        (lambda: StructuredPerceptron(TEMPLATES, order=2).fit(TOKENS, TAGS), "order=2"),
        (conditioned, "transitions conditioned on the input"),
        (
            lambda: L1CRF(TEMPLATES, constraints=[(None, "D"), ("D", "N"), ("N", "V")]).fit(TOKENS, TAGS),
            "constraints of the first or the last label",
        ),
        (lambda: L1CRF(TEMPLATES).fit([["a", "b"]], [[1, 2]]), "labels that are not str, such as int 1"),
        (lambda: L1CRF(["U0:%x[0,0]%x[1,0]"], c1=0.01).fit([["a", "bc"], ["ab", "c"]], [[*"XY"], [*"YY"]]),
         "two features of one name: 'U0:abc'"),
        (lambda: L1CRF(c1=0, c2=1).fit([[["a\0b"], ["c"]]], [["X", "Y"]]), "a name of a feature with a NUL"),
    ],
)  # fmt: skip
def test_what_the_format_has_no_place_for_is_refused_by_name(tagger, message, tmp_path):
    (tmp_path / "model").write_bytes(b"before")
    with pytest.raises(ValueError, match=message):
        save_crfsuite(tagger(), tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == b"before"


def test_only_chain_taggers_are_written(tmp_path):
    texts, words = load_segmentation()
    segmenter = Segmenter(StructuredPerceptron("char", max_iter=1)).fit(
        texts[:5], words[:5]
    )
    with pytest.raises(
        TypeError, match="a chain tagger is needed, got a Segmenter; use its tagger_"
    ):
        save_crfsuite(segmenter, tmp_path / "model")
    save_crfsuite(segmenter.tagger_, tmp_path / "model")
    with pytest.raises(Exception, match="not fitted"):
        save_crfsuite(L1CRF(), tmp_path / "model")
