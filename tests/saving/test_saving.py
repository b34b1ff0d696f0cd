"""Saving and loading: what comes back is the same, bit for bit, and goes on learning the same way.

Files that are damaged or lie about their content are the business of ``test_refusals``.
"""

import math
import pathlib
import pickle

import numpy as np
import pytest
from counting import calls, needs_compiled
from inside import contents_of, copy_registry, has_training, model_of, pairs_of, training_of
from sklearn.base import BaseEstimator, clone

import skstruct
from skstruct import (
    BaggingShuffleAverager,
    FeatureTemplates,
    PassiveAggressiveTagger,
    Segmenter,
    StructuredPerceptron,
)
from skstruct.core import store as store_module
from skstruct.core.hashing import empty_table, rehash
from skstruct.core.store import Store
from skstruct.features.bags import BagEncoder
from skstruct.features.encoder import TemplateEncoder
from skstruct.saving.container import read_container
from skstruct.saving.registry import Savable, savable
from skstruct.saving.values import LONG

TAGGERS = [StructuredPerceptron, PassiveAggressiveTagger]

TEMPLATES = [
    "U00:%x[0,0]",
    "U01:%suffix2[0,0]/%x[-1,1]",
    "U02:%prefix1[1,0]",
    "U03:%x[-1,1]/%x[0,1]/%x[1,1]",
    "U04:%type[0,0]/%shape[-2,0]",
    "U05",
    "B",
    "B00:%x[0,1]",
    "B01:%x[-1,0]/%x[0,1]",
]

LABELS = {"int": [7, -1, 30], "bool": [False, True], "str": ["B-é", "I", "O"], "float": [0.5, -2.0]}


def as_tuple(word, rng):
    return word, "NVD"[len(word) % 3]


def as_dict(word, rng):
    return {
        "word": word,
        "length": len(word),
        "weight": round(float(rng.random()), 1),
        "upper": word.isupper(),
        "near": [word[:1], word[-1:]],
        "inner": {"a": 0.5, "b": word[:2]},
    }


def as_flat_dict(word, rng):
    token = as_dict(word, rng)
    return {key: token[key] for key in token if key not in ("near", "inner")}


def as_list(word, rng):
    return [f"word:{word}", word[:1]]


def as_row(word, rng):
    return [float(len(word)), ord(word[0]) % 7 - 3.0, ord(word[-1]) % 3, round(rng.random(), 2)]


TOKENS = {
    "str": (lambda word, rng: word, {}),
    "tuple": (as_tuple, {"features": TEMPLATES, "min_count": 2}),
    "dict": (as_dict, {}),
    "flat-dict": (as_flat_dict, {"min_count": 2}),
    "list": (as_list, {}),
    "row": (as_row, {}),
}


def corpus(kind="str", labels="str", seed=0, n=40, words=30):
    """Sequences of tokens of a kind, the empty one among them, with labels of a type."""
    rng, make, choices = np.random.default_rng(seed), TOKENS[kind][0], LABELS[labels]
    X, y = [], []
    for i in range(n):
        ids = rng.integers(0, words, i % 8)
        spelled = [f"{'wW你é'[k % 4]}{k * 37 % 101}" for k in ids.tolist()]
        X.append([make(word, rng) for word in spelled])
        y.append([choices[(k + int(rng.random() < 0.1)) % len(choices)] for k in ids.tolist()])
    return X, y


def assert_same(a, b, where="it"):
    """Equal in type and bits, through all containers and objects.

    So it notices when somebody adds an attribute that ``skstruct.saving`` does not know yet.
    """
    assert type(a) is type(b), where
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape, where
        if a.dtype == object:
            assert_same(a.tolist(), b.tolist(), where)
        else:
            assert a.tobytes() == b.tobytes(), where
        assert b.flags.writeable and b.flags.c_contiguous, where
    elif isinstance(a, Store):
        places = int(a.used[0]) if a.sparse else a.value.shape[0]
        for field in a._fields:  # behind the places in use, a pool holds nothing
            cut = slice(places if field in ("value", "moment", "received", "column") else None)
            part = getattr(a, field), getattr(b, field)
            if isinstance(part[0], np.ndarray):
                part = [np.ascontiguousarray(p[cut]) for p in part]
            assert_same(*part, f"{where}.{field}")
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), where
        for i, pair in enumerate(zip(a, b)):
            assert_same(*pair, f"{where}[{i}]")
    elif isinstance(a, dict):
        assert list(a) == list(b), where
        for key in a:
            assert_same(a[key], b[key], f"{where}[{key!r}]")
    elif isinstance(a, float):
        assert a.hex() == b.hex(), where
    elif isinstance(a, np.random.RandomState):
        assert_same(a.get_state(legacy=False), b.get_state(legacy=False), where)
    elif isinstance(a, TemplateEncoder):
        skip = {"table", "templates", "plan"}
        assert a.templates == b.templates and a.plan == b.plan
        assert_same(without(a, skip), without(b, skip), where)
    elif isinstance(a, BagEncoder):
        assert_same(contents_of(a), contents_of(b), where)
        assert pairs_of(a) == pairs_of(b), where
    elif hasattr(a, "__dict__") and type(a).__module__.startswith("skstruct"):
        assert_same(dict(sorted(vars(a).items())), dict(sorted(vars(b).items())), where)
    else:
        assert a == b, where


def without(instance, names):
    return {key: value for key, value in vars(instance).items() if key not in names}


def assert_predicts_same(a, b, X):
    assert_same(a.predict(X), b.predict(X))
    assert_same(a.decision_function(X), b.decision_function(X))
    assert_same(a.predict_kbest(X, 3), b.predict_kbest(X, 3))
    assert_same(a.classes_, b.classes_)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skstruct"


@pytest.fixture
def reload(path):
    """A function that saves an estimator and loads it, without any pickle."""
    rehash(empty_table(), empty_table())  # numba reads compiled code from its cache by pickle

    def reload(estimator, **options):
        with pytest.MonkeyPatch.context() as patch:
            for name in ("load", "loads", "dump", "dumps", "Unpickler", "Pickler"):
                patch.setattr(pickle, name, lambda *_, **__: pytest.fail("pickle was used"))
            estimator.save(path, **options)
            assert path.read_bytes()[:8] == b"\x89SKS\r\n\x1a\n"  # 0x89 is no opcode to begin with
            return skstruct.load(path)

    return reload


# --------------------------------------------------------------------------------------------------
# Round trips
# --------------------------------------------------------------------------------------------------
PENALTIES = [None, "l2", "l1", "l1-cumulative"]

PAIRS = [
    (TAGGERS[(i // 2 + k) % 2], tokens, [*LABELS][(i + k) % 4], penalty)
    for i, tokens in enumerate(TOKENS)
    for k, penalty in enumerate(PENALTIES)
]
"""Every pair of a learner, a kind of token, a type of label and a penalty."""


@pytest.mark.parametrize("Tagger, tokens, labels, penalty", PAIRS)
def test_round_trip(Tagger, tokens, labels, penalty, reload):
    X, y = corpus(tokens, labels)
    parameters = {"max_iter": 2, "penalty": penalty, "alpha": 1e-3, "random_state": 3}
    tagger = Tagger(**parameters, **TOKENS[tokens][1]).fit(X, y)
    loaded = reload(tagger)
    assert_same(tagger, loaded)
    assert training_of(loaded).history is loaded.history_
    unseen, targets = corpus(tokens, labels, seed=1, words=50)
    assert_predicts_same(tagger, loaded, unseen)

    # A stream that begins after the fit, and one that goes on with its average.
    for seed in (1, 2):
        more = corpus(tokens, labels, seed=seed, words=60)
        tagger.partial_fit(*more)
        loaded = reload(loaded.partial_fit(*more))
        forget_seconds(tagger, loaded)
        assert_same(tagger, loaded)
    assert_predicts_same(tagger, loaded, unseen)


def forget_seconds(*taggers):
    for tagger in taggers:
        for record in tagger.history_:
            record["seconds"] = 0.0


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("Tagger", TAGGERS)
def test_warm_start_goes_on(Tagger, penalty, reload):
    X, y = corpus("tuple")
    tagger = Tagger(
        TEMPLATES, max_iter=1, penalty=penalty, alpha=1e-3, dropout=0.1, feature_noise="zipf",
        edge_noise="dropout", warm_start=True, random_state=0,
    )  # fmt: skip
    tagger.fit(X, y)
    loaded = reload(tagger)
    more, targets = corpus("tuple", seed=1, words=60)
    targets = [["new" if label == "O" else label for label in sequence] for sequence in targets]
    for model in (tagger, loaded):
        model.fit(more, targets)
    forget_seconds(tagger, loaded)
    assert "new" in tagger.classes_
    assert_same(tagger, loaded)


@pytest.mark.parametrize("average", ["step", "epoch", None])
def test_averages(average, reload):
    X, y = corpus()
    tagger = PassiveAggressiveTagger(
        max_iter=2, average=average, variant="PA-II", cost="hamming", penalty="l1-cumulative",
        alpha=1e-4, random_state=0,
    ).fit(X, y)  # fmt: skip
    assert_same(tagger, reload(tagger))


@pytest.mark.parametrize("penalty", PENALTIES)
def test_sparse_storage(penalty, reload, monkeypatch):
    monkeypatch.setattr(store_module, "DENSE_WEIGHTS", 0)
    monkeypatch.setattr(store_module, "FEW_LABELS", 2)
    monkeypatch.setitem(LABELS, "many", [f"L{k}" for k in range(20)])
    X, y = corpus("tuple", "many")
    tagger = StructuredPerceptron(
        TEMPLATES, max_iter=2, penalty=penalty, alpha=1e-3, random_state=0, min_count=2
    ).fit(X, y)
    assert model_of(tagger).nodes.sparse and model_of(tagger).edges.sparse
    for training in (True, False):
        one, loaded = pickle.loads(pickle.dumps(tagger)), reload(tagger, training=training)
        if training:
            assert_same(one, loaded)
        assert_predicts_same(one, loaded, X)
        more = corpus("tuple", "many", seed=1, words=60)
        for _ in range(2):
            one.partial_fit(*more)
            loaded.partial_fit(*more)
        assert_predicts_same(one, loaded, more[0])


def test_sparse_storage_that_holds_nothing(reload, monkeypatch):
    monkeypatch.setattr(store_module, "DENSE_WEIGHTS", 0)
    monkeypatch.setattr(store_module, "FEW_LABELS", 0)
    tagger = StructuredPerceptron(max_iter=1, random_state=0).fit([["a", "b"]], [["A", "A"]])
    assert model_of(tagger).nodes.value.size == 0
    assert_same(tagger, reload(tagger))


@pytest.mark.parametrize(
    "constraints",
    ["BIO", [(None, "B-x"), ("B-x", "I-x"), ("I-x", "O"), ("O", "B-x"), ("B-x", "O"), (None, "O"),
             ("O", "O"), ("O", None)], {("O", "O")}, frozenset({("O", "O")})],
)  # fmt: skip
def test_constraints(constraints, reload):
    X, y = [["a", "b", "c"], ["c"]], [["B-x", "I-x", "O"], ["O"]]
    if not isinstance(constraints, (str, list)):
        y = [["O"] * len(sequence) for sequence in X]
    tagger = StructuredPerceptron(constraints=constraints, max_iter=2, random_state=0).fit(X, y)
    loaded = reload(tagger)
    assert_same(tagger, loaded)
    assert_predicts_same(tagger, loaded, [["b", "b", "a", "x"]])
    with pytest.raises(ValueError, match="under the constraints"):
        loaded.partial_fit([["a", "a"]], [["I-x", "I-x"]] if len(loaded.classes_) > 1 else [["X", "O"]])


@pytest.mark.parametrize("weight", ["balanced", {7: 2.0, -1: 0.5, 99: np.float64(1.5)}])
def test_class_weight(weight, reload):
    X, y = corpus(labels="int")
    tagger = StructuredPerceptron(class_weight=weight, max_iter=2, random_state=0).fit(X, y)
    loaded = reload(tagger)
    assert_same(tagger, loaded)
    for model in (tagger, loaded):
        model.partial_fit(X, y)
    assert_predicts_same(tagger, loaded, X)


def test_closed_labels_stay_closed(reload):
    tagger = StructuredPerceptron(random_state=0).partial_fit([["a"]], [["A"]], classes=["A", "B"])
    loaded = reload(tagger)
    with pytest.raises(ValueError, match="unknown label"):
        loaded.partial_fit([["a"]], [["C"]])


def test_early_stopping_and_history(reload):
    X, y = corpus()
    tagger = StructuredPerceptron(early_stopping=True, max_iter=4, random_state=0).fit(X, y)
    tagger.history_[0].update(loss=math.nan, extra=math.inf, more=-math.inf)
    assert_same(tagger, reload(tagger))


def test_a_history_of_its_own(reload):
    tagger = StructuredPerceptron(max_iter=1, random_state=0).fit(*corpus())
    tagger.history_ = []
    assert_same(tagger, reload(tagger))


def test_long_history(reload, path):
    tagger = StructuredPerceptron(max_iter=1, random_state=0).fit(*corpus())
    tagger.history_ *= LONG + 1
    assert_same(tagger, reload(tagger))
    header, arrays = read_container(path, kind="model")
    assert "history_" in arrays and len(str(header)) < 20_000


@pytest.mark.parametrize(
    "parameters",
    [
        {"features": FeatureTemplates(["U0:%x[0,0]", "B"])},
        {"features": ("U0:%x[0,0]", "B")},
        {"features": "word"},
        {"random_state": np.random.RandomState(5)},
        {"random_state": np.int64(5), "alpha": np.float64(1e-5), "max_iter": np.int32(2)},
        {"penalty": np.str_("l2"), "shuffle": np.bool_(False), "alpha": np.float32(0.1)},
        {"class_weight": {("a", "b"): 1, None: 2, "$x": 3.5, "A": 0.0}},
        {"class_weight": {"A": 1, 10**30: 2}},
    ],
)
def test_parameters(parameters, reload):
    tagger = StructuredPerceptron(**{"max_iter": 1, "random_state": 0, **parameters}).fit(*corpus())
    loaded = reload(tagger)
    assert_same(tagger, loaded)
    clone(loaded)


def test_random_state_goes_on(reload):
    random = np.random.RandomState(1)
    random.normal(size=3)  # leaves half of a pair of normal variates behind
    tagger = StructuredPerceptron(max_iter=1, random_state=random).fit(*corpus())
    loaded = reload(tagger)
    assert loaded.random_state is not random
    assert loaded.random_state.normal() == random.normal()
    assert loaded.random_state.randint(1000) == random.randint(1000)


def test_template_file_is_not_needed(reload, tmp_path):
    file = tmp_path / "template"
    file.write_text("U0:%x[0,0]\nB\n", encoding="utf-8")
    X, y = corpus()
    taggers = [StructuredPerceptron(f, max_iter=1).fit(X, y) for f in (file, str(file))]
    file.unlink()
    for tagger, kind in zip(taggers, (type(pathlib.Path()), str)):
        loaded = reload(tagger)
        assert loaded.features == tagger.features and type(loaded.features) is kind
        assert_predicts_same(tagger, loaded, X)


def test_strange_strings(reload):
    X = [["\ud800", "", "a\0b", "\n", "😀"], ["\udfff", "\ud83d"]]
    y = [["A", "B\0", "\ud800", "", "😀"], ["A", "A"]]
    tagger = StructuredPerceptron(max_iter=3, random_state=0).fit(X, y)
    loaded = reload(tagger)
    assert_same(tagger, loaded)
    assert_predicts_same(tagger, loaded, X)


def test_tuple_labels_of_equal_length(reload):
    X, y = [["a", "b"], ["b"]], [[("N", 1), ("V", 2)], [("V", 2)]]
    try:
        tagger = StructuredPerceptron(max_iter=2, random_state=0).fit(X, y)
    except ValueError:
        pytest.skip("taggers do not take such labels")
    assert_predicts_same(tagger, reload(tagger), X)


def test_numbers_that_no_float_holds(reload):
    """They are remembered as the nearest float, which costs a look-up but changes nothing."""
    X = [[{"n": 2**60 + 1}, {"n": 2**60 + 2}, {"n": np.float32(0.1), "b": False, "c": np.True_}]]
    tagger = StructuredPerceptron(max_iter=3, random_state=0).fit(X, [["A", "B", "C"]])
    loaded = reload(reload(tagger))
    assert_predicts_same(tagger, loaded, X)
    for model in (tagger, loaded):
        model.partial_fit(X, [["A", "B", "A"]])
    assert_predicts_same(tagger, loaded, X)


def test_one_token_one_label(reload):
    tagger = StructuredPerceptron(["U:%x[0,0]"], max_iter=1).fit([["a"]], [["A"]])
    assert_same(tagger, reload(tagger))


def test_other_data_does_not_touch_the_saved(reload):
    """Nothing is shared between a model and the loaded one, nor between model and training."""
    X, y = corpus("dict")
    tagger = StructuredPerceptron(max_iter=1, random_state=0).fit(X, y)
    for training in (True, False):
        loaded = reload(tagger, training=training)
        before = tagger.decision_function(X)
        kept = model_of(loaded)
        first = kept.nodes.value.copy()
        loaded.partial_fit(X, y)
        assert_same(kept.nodes.value, first)
        assert_same(tagger.decision_function(X), before)


# --------------------------------------------------------------------------------------------------
# Without the training state
# --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("tokens, penalty", zip(TOKENS, [*PENALTIES, None, "l1"]))
def test_without_training(tokens, penalty, reload, path):
    """A fit goes on as partial_fit after a fit does anyway: from the final weights."""
    X, y = corpus(tokens)
    parameters = {"max_iter": 2, "penalty": penalty, "alpha": 1e-3, "random_state": 0}
    tagger = StructuredPerceptron(**parameters, **TOKENS[tokens][1]).fit(X, y)
    tagger.save(path)
    size = path.stat().st_size
    loaded = reload(tagger, training=False)
    assert path.stat().st_size < size
    assert_predicts_same(tagger, loaded, X)
    more = corpus(tokens, seed=1, words=60)
    tagger.partial_fit(*more)
    loaded.partial_fit(*more)
    assert_predicts_same(tagger, loaded, more[0])
    assert_same(training_of(tagger).model, training_of(reload(loaded)).model)


def test_without_training_again(reload):
    X, y = corpus()
    tagger = StructuredPerceptron(max_iter=2, alpha=0, average=False, random_state=0).fit(X, y)
    loaded = reload(reload(tagger, training=False))
    for model in (tagger, loaded):
        model.partial_fit(X, y)
    assert_predicts_same(tagger, loaded, X)


# --------------------------------------------------------------------------------------------------
# What is not part of an estimator, and what is
# --------------------------------------------------------------------------------------------------
def test_session_settings_are_left_out(reload):
    tagger = StructuredPerceptron(max_iter=1, random_state=0).fit(*corpus())
    tagger.note = lambda: None
    assert not hasattr(reload(tagger), "note")


def test_pickle_still_works():
    tagger = StructuredPerceptron(max_iter=1, random_state=0).fit(*corpus("dict"))
    assert_same(tagger, pickle.loads(pickle.dumps(tagger)))


def test_header_is_readable(reload, path):
    reload(StructuredPerceptron(max_iter=1, random_state=0).fit(*corpus()))
    header, arrays = read_container(path, kind="model")
    assert header["skstruct"] == skstruct.__version__
    assert header["estimator"]["class"] == "StructuredPerceptron"
    assert header["estimator"]["parameters"]["max_iter"] == 1
    assert "model.nodes.value" in arrays and "training.nodes.value" in arrays


@pytest.mark.parametrize("version", ["0.2.0", "7.0", None, 3, "x" * 1000])
def test_package_version_does_not_matter(version, reload, monkeypatch):
    monkeypatch.setattr(skstruct, "__version__", version)
    reload(StructuredPerceptron(max_iter=1, random_state=0).fit(*corpus()))


# --------------------------------------------------------------------------------------------------
# Other estimators
# --------------------------------------------------------------------------------------------------
class Wrapper(Savable, BaseEstimator):
    """A meta-estimator: its fitted attributes are estimators, arrays and plain values."""

    def __init__(self, tagger=None, others=()):
        self.tagger = tagger
        self.others = others

    def fit(self, X, y):
        self.tagger_ = clone(self.tagger).fit(X, y)
        self.estimators_ = [clone(self.tagger).set_params(random_state=k).fit(X, y) for k in (1, 2)]
        self.weights_ = np.array([[0.5, np.nan]], np.float32)
        self.flags_ = np.array([True, False])
        self.names_ = np.array([["a", "bc"]])
        self.objects_ = np.array([None, (1, 2), "x"], dtype=object)
        self.table_ = {1: {2, 3}, "b": frozenset({("p", None)}), None: []}
        self.big_ = {(k, str(k)) for k in range(LONG + 1)}
        self.large_ = {str(k): k for k in range(LONG + 1)}
        return self


@pytest.fixture
def wrapper(monkeypatch):
    copy_registry(monkeypatch)
    return savable(Wrapper)


def test_estimators_within_estimators(wrapper, reload):
    X, y = corpus()
    tagger = StructuredPerceptron(max_iter=1, random_state=0)
    outer = wrapper(tagger, others=[clone(tagger), PassiveAggressiveTagger(C=0.5)]).fit(X, y)
    loaded = reload(outer)
    for key, value in vars(outer).items():
        assert_same(value, getattr(loaded, key), key)
    assert not has_training(loaded.tagger) and not hasattr(loaded.tagger, "classes_")
    assert training_of(reload(outer, training=False).tagger_).model.nodes.moment.size == 0


@pytest.mark.parametrize("keep_members", [False, True])
def test_averager(keep_members, reload):
    X, y = corpus("tuple")
    tagger = StructuredPerceptron(TEMPLATES, min_count=2, max_iter=1)
    model = BaggingShuffleAverager(tagger, 2, keep_members=keep_members, random_state=0).fit(X, y)
    loaded = reload(model)
    assert_same(model, loaded)
    assert_predicts_same(model, loaded, X)


def test_segmenter(reload):
    X, y = ["他在北京", "我看书"], [["他", "在", "北京"], ["我", "看", "书"]]
    for tagger in (None, PassiveAggressiveTagger("char", max_iter=2, random_state=0)):
        model = Segmenter(tagger).fit(X, y)
        loaded = reload(model)
        assert_same(model, loaded)
        assert_same(model.predict(X), loaded.predict(X))
        more = ["在看我"], [["在看", "我"]]
        for each in (model, loaded):
            each.tagger_.partial_fit([list(more[0][0])], [["B", "E", "S"]])
        assert_same(model.predict(more[0]), loaded.predict(more[0]))


# --------------------------------------------------------------------------------------------------
# Speed
# --------------------------------------------------------------------------------------------------
@needs_compiled
def test_loading_does_not_go_through_the_rows(path):
    """As many calls for a large model as for a small one with the same words."""
    words = [f"w{k}" for k in range(60)]
    templates = [f"U{a}{b}:%x[{a},0]/%x[{b},0]" for a in range(-2, 1) for b in range(a, 3)]
    generator, counts, rows = np.random.default_rng(0), [], []
    for n in (2, 2, 600):  # the first one compiles
        X = [words, *(generator.choice(words, 60).tolist() for _ in range(n))]
        y = [["BMES"[len(w) % 4] for w in s] for s in X]
        tagger = StructuredPerceptron([*templates, "B"], max_iter=1, random_state=0).fit(X, y)
        tagger.save(path)
        count, loaded = calls(lambda: skstruct.load(path))
        assert_same(tagger.decision_function(X[:50]), loaded.decision_function(X[:50]))
        counts.append(count)
        rows.append(model_of(tagger).encoder.nodes.n_rows)
    assert rows[2] > 5 * rows[1]
    assert counts[2] < 1.5 * counts[1]
