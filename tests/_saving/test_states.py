"""What pickles hold of an estimator: its parameters, and the bytes of its own file."""

import copy
import io
import json
import pathlib
import pickle
import re
import warnings

import joblib
import numpy as np
import pytest
from data_files.write import what_it_says
from inside import attributes_kept
from model_cases import ALL_CASES, assert_predicts_same, covering, fitted
from saving_cases import assert_same
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skstruct
from skstruct import (
    L1CRF,
    L1CRFCV,
    FeatureTemplates,
    NumericFeatures,
    Segmenter,
    SequenceMatrix,
    StructuredPerceptron,
)
from skstruct._names import PUBLIC
from skstruct._saving.container import MAGIC, ModelFileError, read_container_array
from skstruct._saving.states import BESIDE, BYTES
from skstruct.features import (
    SequenceUnion,
    TokenPredictions,
    TokenTransformer,
    TokenVectorizer,
    Window,
    WordClusters,
    WordVectors,
)
from skstruct.features.patterns import Patterns
from skstruct.serving import trusted_types

X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat"]] * 4
Y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N"]] * 4
ROWS = [
    np.array([[len(w), ord(w[0]) % 7, ord(w[-1]) % 5] for w in s], float) for s in X
]


def perceptron(**parameters):
    return StructuredPerceptron(**{"max_iter": 3, "random_state": 0, **parameters})


def first_letters(word):
    return [(0, len(word))]


def initial(words):
    return [[len(word)] for word in words]


WORDS = WordVectors(2, min_count=1, random_state=0).fit(X)
CLUSTERS = WordVectors(2, n_clusters=2, min_count=1, random_state=0).fit(X)

TRANSFORMERS = {
    "vectorizer": (TokenVectorizer(["U0:%x[0,0]"]), X),
    "vectorizer of dicts": (TokenVectorizer(), [[{"w": w} for w in s] for s in X]),
    "vectors": (WordVectors(2, min_count=1, random_state=0), X),
    "clusters": (WordVectors(2, n_clusters=2, min_count=1, random_state=0), X),
    "a function": (
        WordVectors(2, min_count=1, random_state=0, tokenizer=first_letters),
        X,
    ),
    "window": (Window(1, 0, deltas=True), ROWS),
    "window with names": (
        Window(),
        SequenceMatrix(
            np.concatenate(ROWS), [len(s) for s in X], feature_names=["a", "b", "c"]
        ),
    ),
    "components": (TokenTransformer(PCA(2)), ROWS),
    "by sequence": (TokenTransformer(StandardScaler(), per="sequence"), ROWS),
    "scores": (TokenPredictions(ExtraTreesClassifier(3, random_state=0), cv=2), ROWS),
    "union": (
        SequenceUnion(
            [
                ("a", WordVectors(2, min_count=1, random_state=0)),
                ("b", TokenVectorizer()),
            ],
            transformer_weights={"a": 2.0},
        ),
        X,
    ),
    "rows as they come": (
        SequenceUnion([("a", "passthrough"), ("b", Window(1, 0))]),
        ROWS,
    ),
}

PIPELINES = {
    "union": lambda: make_pipeline(
        SequenceUnion(
            [
                ("vectors", WordVectors(2, min_count=1, random_state=0)),
                ("templates", TokenVectorizer(["U0:%x[0,0]", "B"])),
            ]
        ),
        perceptron(),
    ),
    "clusters": lambda: perceptron(words=CLUSTERS.table()),
    "frozen vectors": lambda: make_pipeline(FrozenEstimator(WORDS), L1CRF(max_iter=5)),
    "search": lambda: GridSearchCV(perceptron(), {"max_iter": [1, 3]}, cv=2),
    "search of its own": lambda: L1CRFCV(c1s=[0.1, 1.0], cv=2, max_iter=5),
    "class weights": lambda: perceptron(class_weight={"D": 2.0}),
    "lexicons": lambda: perceptron(
        features=FeatureTemplates(["U0:%lex_pet[0,0]", "B"], {"pet": ["dog", "cat"]})
    ),
    "a stream of random numbers": lambda: perceptron(
        random_state=np.random.RandomState(1)
    ),
}


def ways(model):
    yield "pickle", pickle.loads(pickle.dumps(model))
    yield "first protocol", pickle.loads(pickle.dumps(model, protocol=2))
    yield "deepcopy", copy.deepcopy(model)


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers(name):
    transformer, tokens = TRANSFORMERS[name]
    transformer = copy.deepcopy(transformer).fit(tokens, Y)
    expected = transformer.transform(tokens)
    for way, again in ways(transformer):
        found = again.transform(tokens)
        if isinstance(expected, list):
            assert found == expected, way
        else:
            for a, b in zip(found, expected, strict=True):
                assert (a != b).sum() == 0, way
            assert len(again.transform(tokens[:0])) == 0
            assert (
                again.get_feature_names_out().tolist()
                == transformer.get_feature_names_out().tolist()
            )


@pytest.mark.parametrize("name", PIPELINES)
def test_models(name):
    model = PIPELINES[name]().fit(X, Y)
    for way, again in ways(model):
        assert again.predict(X) == model.predict(X), way
        assert type(again) is type(model), way


@pytest.mark.parametrize(
    "name", ["perceptron-4", "l1crf-4", "parser-columns", "word-segmenter"]
)
def test_every_attribute_comes_back(name):
    model, _, _ = fitted(name.removesuffix("-4"), 4)
    again = pickle.loads(pickle.dumps(model))
    assert attributes_kept(again).keys() == attributes_kept(model).keys()


def test_the_bytes_are_a_container_and_arrays_are_views_of_it():
    model = perceptron().fit(X, Y)
    state = model.__getstate__()
    data = state.pop(BYTES)
    assert state == model.get_params(deep=False)
    assert data.dtype == np.uint8 and not data.flags.writeable
    assert data[:8].tobytes() == MAGIC
    header, arrays = read_container_array(data, kind="state")
    assert header["estimator"]["class"] == "StructuredPerceptron"
    assert header["estimator"]["parameters"] == model.get_params(deep=False)
    assert arrays and all(np.shares_memory(a, data) for a in arrays.values() if a.size)


def test_a_memory_map_is_shared_and_trained_further(tmp_path):
    model = perceptron().fit(X, Y)
    joblib.dump(model, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    assert mapped.predict(X) == model.predict(X)
    for each in (model, mapped):
        each.partial_fit(X, Y)
    assert_same(model.decision_function(X), mapped.decision_function(X))


def test_estimators_within_hold_their_own_bytes():
    model = Segmenter(perceptron()).fit(
        ["abc", "cab"] * 3, [["ab", "c"], ["c", "ab"]] * 3
    )
    state = model.__getstate__()
    assert state[BESIDE] == [model.tagger_]
    assert BYTES in model.tagger_.__getstate__()
    assert BYTES not in Segmenter().__getstate__()


def test_what_files_refuse_stands_beside_the_bytes():
    vectors = WordVectors(2, min_count=1, tokenizer=first_letters).fit(X)
    assert vectors.__getstate__()["tokenizer"] is first_letters
    model = perceptron().fit(X, Y)
    model.note_ = model.remark = first_letters
    again = pickle.loads(pickle.dumps(model))
    assert again.note_ is again.remark is first_letters


class MyTagger(StructuredPerceptron):
    """A tagger of a user's own, with a parameter more."""

    def __init__(self, mine=1, *, max_iter=2):
        super().__init__(max_iter=max_iter, random_state=0)
        self.mine = mine

    def fit(self, X, y):
        self.seen_ = len(X)
        return super().fit(X, y)


def test_subclasses_of_users():
    model = MyTagger(first_letters).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    assert type(again) is MyTagger and again.mine is first_letters
    assert again.seen_ == len(X) and again.predict(X) == model.predict(X)


def test_a_shallow_copy_shares_the_model():
    model = perceptron().fit(X, Y)
    assert vars(copy.copy(model)) == vars(model)


def test_clusters_are_kept_once():
    table = WordClusters([f"word{k}" for k in range(5_000)], np.arange(5_000) % 7)
    model = perceptron(words=table).fit(X, Y)
    state = model.__getstate__()
    assert state["words"] is table and state[BESIDE] == [table]
    assert len(pickle.dumps(model)) < 2 * len(pickle.dumps(table))
    again = pickle.loads(pickle.dumps(model))
    assert again.words == table and again.predict(X) == model.predict(X)


@pytest.mark.parametrize(
    "value",
    [
        FeatureTemplates(["U0:%x[0,0]", "B"]),
        FeatureTemplates(["U0:%lex_a[0,0]"], {"a": ["b", ("c", "d")]}),
        NumericFeatures(False, 2.0, (-1, 1)),
        Patterns(["u:%x[0,0]"], "wapiti"),
        CLUSTERS.table(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values(value):
    again = pickle.loads(pickle.dumps(value))
    assert again == value and repr(again) == repr(value)


def test_a_pickle_read_and_written_again_is_the_same():
    model = perceptron().fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    assert pickle.dumps(again) == pickle.dumps(model)
    assert joblib.hash(again) == joblib.hash(model)


# -- damage ----------------------------------------------------------------------------
def changed(state, **attributes):
    model = StructuredPerceptron.__new__(StructuredPerceptron)
    model.__setstate__({**state, **attributes})
    return model


@pytest.mark.parametrize(
    "attributes, wrong",
    [
        ({BYTES: None, "_model": 1}, "_model must be in the bytes"),
        ({"_training": 1, "_model": 1}, "_model, _training must be in the bytes"),
        ({BYTES: np.zeros(0, np.uint8)}, "it is empty"),
        ({BYTES: np.zeros(9, np.int32)}, "an array of bytes was expected"),
        ({BYTES: b"\x89STR"}, "an array of bytes was expected"),
        ({"max_iter": 4}, "the parameter max_iter is int 4, the bytes say int 3"),
        ({"features": "char"}, "the parameter features is"),
        ({"predict": len}, "predict is a method"),
        ({BESIDE: {}}, "must be a list"),
        ({1: 2}, "a dict of attributes was expected"),
    ],
)
def test_wrong_states(attributes, wrong):
    state = perceptron().fit(X, Y).__getstate__()
    with pytest.raises(
        ModelFileError, match="the state of a StructuredPerceptron: "
    ) as e:
        model = StructuredPerceptron.__new__(StructuredPerceptron)
        model.__setstate__({**state, **attributes})
    assert wrong in str(e.value)


def test_the_weights_of_a_union_are_covered():
    union = copy.deepcopy(TRANSFORMERS["union"][0]).fit(X)
    state = {**union.__getstate__(), "transformer_weights": {"a": 2.5}}
    with pytest.raises(ModelFileError, match="the parameter transformer_weights is"):
        copy.copy(union).__setstate__(state)


def test_the_bytes_of_another_class():
    state = L1CRF(max_iter=2).fit(X, Y).__getstate__()
    with pytest.raises(
        ModelFileError, match="the bytes are those of a 'L1CRF', not of a"
    ):
        changed({BYTES: state[BYTES]})


def test_parameters_that_a_state_lacks_take_their_defaults():
    state = perceptron(shuffle=False).fit(X, Y).__getstate__()
    state = {**state, "n_jobs": None}
    del state["n_jobs"]
    with pytest.raises(ModelFileError, match="no parameter"):
        header = perceptron().fit(X, Y).__getstate__()
        changed({**header, BYTES: renamed(header[BYTES])})
    del state[BYTES]
    assert changed(state).n_jobs == StructuredPerceptron().n_jobs


def renamed(data):
    """A container whose parameter ``shuffle`` has another name."""
    from skstruct._saving.container import container_array

    header, arrays = read_container_array(data, kind="state")
    parameters = header["estimator"]["parameters"]
    parameters["shuffled"] = parameters.pop("shuffle")
    return container_array(header, arrays)


NAMELESS = EOFError, KeyError, MemoryError
"""Errors of pickle itself that may say nothing."""


def test_one_flipped_bit_is_found():
    model = perceptron().fit(X, Y)
    expected = model.predict(X)
    good = pickle.dumps(model)
    rng = np.random.default_rng(0)
    outcomes = {"error": 0, "as before": 0}
    for place in rng.integers(0, len(good) * 8, 500).tolist():
        bad = bytearray(good)
        bad[place // 8] ^= 1 << place % 8
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = pickle.loads(bytes(bad)).predict(X)
        except Exception as error:  # whatever pickle says of its own part
            outcomes["error"] += 1
            assert str(error) or isinstance(error, NAMELESS)
        else:
            assert found == expected
            outcomes["as before"] += 1
    assert outcomes["error"] > 450


def test_a_hostile_state_takes_no_memory():
    data = bytearray(perceptron().fit(X, Y).__getstate__()[BYTES].tobytes())
    data[12:20] = (1 << 60).to_bytes(8, "little")
    with pytest.raises(ModelFileError, match="header over"):
        read_container_array(np.frombuffer(data, np.uint8), kind="state")


# -- pools of processes ----------------------------------------------------------------
def test_a_model_for_many_tasks_is_written_and_read_once(tmp_path, monkeypatch):
    """From the second time on; one that has changed is written anew."""
    monkeypatch.setattr("skstruct._saving.states.LARGE", 0)
    model = perceptron().fit(X, Y)
    first, second, third = (model.__getstate__()[BYTES] for _ in range(3))
    assert first is not second and second is third
    model.history_ = []
    assert model.__getstate__()[BYTES] is not third
    model.partial_fit(X, Y)
    assert model.__getstate__()[BYTES] is not third
    joblib.dump(model, tmp_path / "model")
    one, two, three = (
        joblib.load(tmp_path / "model", mmap_mode="r").decision_function(X)
        for _ in range(3)
    )
    assert_same(one, two)
    assert_same(one, three)
    joblib.dump(perceptron(max_iter=1).fit(X, Y), tmp_path / "model")
    other = joblib.load(tmp_path / "model", mmap_mode="r")
    assert other.n_iter_ == 1


# -- skops -----------------------------------------------------------------------------
def names_of_public_classes():
    rooms = skstruct, skstruct.features, skstruct.features.patterns
    found = [getattr(room, name) for room in rooms for name in dir(room)]
    classes = [each for each in found if isinstance(each, type)]
    return {f"{each.__module__}.{each.__name__}" for each in classes}


def through_skops(model):
    sio = pytest.importorskip("skops.io")
    data = sio.dumps(model)
    named = sio.get_untrusted_types(data=data)
    ours = [name for name in named if name.startswith("skstruct.")]
    assert set(ours) <= names_of_public_classes()
    return sio.loads(data, trusted=named)


@pytest.mark.parametrize("name", covering(ALL_CASES))
def test_skops(name):
    model, tokens, _ = fitted(name, 4)
    assert_predicts_same(through_skops(model), model, tokens)


@pytest.mark.parametrize("name", PIPELINES)
def test_skops_of_models(name):
    model = PIPELINES[name]().fit(X, Y)
    assert through_skops(model).predict(X) == model.predict(X)


@pytest.mark.parametrize(
    "name", [name for name in TRANSFORMERS if name != "a function"]
)
def test_skops_of_transformers(name):
    transformer, tokens = TRANSFORMERS[name]
    transformer = copy.deepcopy(transformer).fit(tokens, Y)
    found = through_skops(transformer).transform(tokens)
    for a, b in zip(found, transformer.transform(tokens), strict=True):
        assert a == b if isinstance(a, list) else (a != b).sum() == 0


def test_skops_of_what_is_not_fitted():
    assert repr(through_skops(perceptron())) == repr(perceptron())


def test_a_flipped_bit_in_a_file_of_skops():
    sio = pytest.importorskip("skops.io")
    model = perceptron().fit(X, Y)
    good = sio.dumps(model)
    trusted = sio.get_untrusted_types(data=good)
    expected = model.predict(X)
    for place in np.random.default_rng(1).integers(0, len(good) * 8, 500).tolist():
        bad = bytearray(good)
        bad[place // 8] ^= 1 << place % 8
        try:
            found = sio.loads(bytes(bad), trusted=trusted).predict(X)
        except Exception as error:
            assert str(error) or isinstance(error, NAMELESS)
        else:
            assert found == expected


def test_cloudpickle_and_a_file_object():
    cloudpickle = pytest.importorskip("cloudpickle")
    model = make_pipeline(TokenTransformer(StandardScaler()), perceptron()).fit(ROWS, Y)
    again = pickle.loads(cloudpickle.dumps(model))
    assert again.predict(ROWS) == model.predict(ROWS)
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    assert joblib.load(file).predict(ROWS) == model.predict(ROWS)


# -- what was kept ---------------------------------------------------------------------
FOLDER = pathlib.Path(__file__).parents[1] / "data_files"
KEPT = sorted(file.stem for file in FOLDER.glob("*.pickle"))


def assert_says_the_same(kept, name):
    with open(FOLDER / f"{name}.kept.json", encoding="utf-8") as file:
        known = json.load(file)
    tokens = known["X"]
    if name.startswith("parser"):
        tokens = [list(map(tuple, sequence)) for sequence in tokens]
    assert json.loads(json.dumps(what_it_says(kept, tokens))) == known["says"]


@pytest.mark.parametrize("name", KEPT)
def test_kept_pickles(name):
    assert_says_the_same(pickle.loads((FOLDER / f"{name}.pickle").read_bytes()), name)


@pytest.mark.parametrize("name", KEPT)
def test_kept_files_of_skops(name):
    pytest.importorskip("skops", minversion="0.16")
    sio = pytest.importorskip("skops.io")
    kept = sio.load(FOLDER / f"{name}.skops", trusted=trusted_types())
    assert_says_the_same(kept, name)


def test_the_paths_that_files_name_are_listed_once():
    named = set()
    for name in KEPT:
        data = (FOLDER / f"{name}.pickle").read_bytes()
        named |= set(re.findall(rb"skstruct\.[\w.]+", data))
    listed = {f"skstruct.{module}" for module in PUBLIC.values()}
    listed |= {f"skstruct.features.{module}" for module in features_names().values()}
    assert {path.decode() for path in named} <= listed


def features_names():
    return {
        n: getattr(skstruct.features, n).__module__.rpartition(".")[2]
        for n in skstruct.features.__all__
        if hasattr(getattr(skstruct.features, n), "__module__")
    }
