"""Files of parsers: small, exact, refused if they lie; and what else keeps parsers
small.
"""

import copy

import numpy as np
import pytest
from inside import model_of

import skstruct
from skstruct import BaggingShuffleAverager, ShiftReduceParser
from skstruct._core import feature_table
from skstruct._saving.container import ModelFileError, read_container, write_container
from skstruct.inspection import feature_weights

rng = np.random.default_rng(0)
TAGS = "NVDPAR"
X = [
    [(f"w{k}", TAGS[k % 6]) for k in rng.integers(0, 40, size=n).tolist()]
    for n in rng.integers(3, 9, 40).tolist()
]
Y = [
    [(0 if k == 0 else k, f"L{tag}") for k, (_, tag) in enumerate(sentence)]
    for sentence in X
]


def parser(**parameters):
    return ShiftReduceParser(**{"max_iter": 3, "random_state": 0, **parameters})


def weights(model):
    return {(name, label): weight for name, label, weight in feature_weights(model)}


@pytest.fixture(scope="module")
def fitted():
    return parser().fit(X, Y)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"average": False},
        {"penalty": "l2", "alpha": 1e-4},
        {"min_count": 2},
        {"templates": "hs28", "labeled": False},
    ],
)
def test_nothing_is_lost(parameters, training, path):
    model = parser(**parameters).fit(X, Y)
    model.save(path, training=training)
    again = skstruct.load(path)
    assert weights(again) == weights(model) and again.n_features() == model.n_features()
    assert again.predict(X) == model.predict(X)
    assert (again.decision_function(X) == model.decision_function(X)).all()
    first = path.read_bytes()
    again.save(path, training=training)
    assert path.read_bytes() == first
    if training:
        model.partial_fit(X, Y), again.partial_fit(X, Y)
        assert weights(again) == weights(model)


def test_a_feature_with_its_weights_takes_some_bytes(fitted, path):
    fitted.save(path, training=False)
    strings = 4_000
    assert path.stat().st_size - strings < 8 * fitted.n_features()
    assert fitted.info()["file_bytes"] == path.stat().st_size


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_compressed_parsers(dtype, fitted, path):
    small = fitted.compress(dtype=dtype)
    assert weights(small) == {
        name: float(np.dtype(dtype).type(w)) for name, w in weights(fitted).items()
    }
    small.save(path)
    again = skstruct.load(path)
    assert weights(again) == weights(small) and again.info()["compressed"] == dtype
    fitted.save(path.with_name("whole"), training=False)
    assert (
        path.stat().st_size < path.with_name("whole").stat().st_size
        or dtype == "float16"
    )


def test_weights_trained_further_are_no_longer_means_of_integers(fitted, path):
    fitted.save(path, training=False)
    model = skstruct.load(path).partial_fit(X[:10], Y[:10])
    model.save(path)
    assert weights(skstruct.load(path)) == weights(model)


# -- files that lie --------------------------------------------------------------------
def forge(path, change):
    header, arrays = read_container(path, kind="model")
    change(header["estimator"]["state"], arrays)
    write_container(path, header, arrays)
    return path


def joined(*bytes_):
    return np.concatenate([np.array(part, np.uint8) for part in bytes_])


def _set(name, change):
    def act(state, arrays):
        arrays[name] = change(arrays[name])

    return act


def _say(change):
    return lambda state, arrays: change(state)


def _negative_steps(state, arrays):
    """One key, the one before the first of none; in plain arrays, since groups here are
    never negative.
    """
    node = state["keys"]
    for k, part in enumerate([*node["values"], node["steps"]]):
        name, steps = part["$array"], [-1] if k == 3 else []
        arrays[name] = np.array(steps, np.int64)
        part.clear()
        part["$array"] = name


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("model.keys.steps", lambda a: a | 128), "keys: a number does not end"),
        (
            _set("model.keys.steps", lambda a: joined(a, [255] * 8 + [127])),
            "keys are out of range",
        ),
        (
            _set("model.keys.steps", lambda a: joined(a, [255, 255, 255, 127])),
            "keys.steps are out of range",
        ),
        (
            _set("model.keys.steps", lambda a: a.astype(np.int64)),
            "keys: groups are bytes",
        ),
        (_set("model.keys.values1", lambda a: a[:2]), "keys.steps are out of range"),
        (
            _set("model.keys.values2", lambda a: joined([255] * 4 + [7], a)),
            "keys must be int32",
        ),
        (
            _set("model.weights.packed", lambda a: joined(a, [2])),
            "weights.held must mark",
        ),
        (_negative_steps, "keys are out of range"),
        (_say(lambda s: s["keys"].pop("steps")), "keys lacks steps"),
        (_say(lambda s: s["keys"].pop("values")), "keys: no array"),
        (_say(lambda s: s["keys"]["values"].pop()), "keys.values must be three"),
        (_say(lambda s: s["keys"]["steps"].update(groups="some")), "unknown groups"),
        (
            _say(lambda s: s["keys"]["steps"].update(groups=["signed"])),
            "unknown groups",
        ),
        (
            _say(lambda s: s["weights"].update(divisor=0)),
            "weights.divisor must be an int from 1, below",
        ),
        (
            _say(lambda s: s["weights"].update(divisor=0.5)),
            "weights.divisor must be an int",
        ),
        (
            _say(lambda s: s["weights"].update(rounded="int8")),
            "weights.rounded must be one of",
        ),
        (_say(lambda s: s["weights"].pop("divisor")), "floating-point numbers"),
    ],
)
def test_lies(change, message, fitted, path):
    fitted.save(path, training=False)
    with pytest.raises(ModelFileError, match=message):
        skstruct.load(forge(path, change))


def with_plain_keys(model, with_keys):
    """The change that makes of a file one whose keys are an array of three columns, as
    they are where there are too many to pack them.
    """

    def change(state, arrays):
        keys = model_of(model).keys()
        arrays["plain"] = with_keys(keys[np.lexsort(keys.T[::-1])]).astype(np.int32)
        state["keys"] = {"$array": "plain"}

    return change


def test_keys_that_are_not_packed(fitted, path):
    fitted.save(path, training=False)
    again = skstruct.load(forge(path, with_plain_keys(fitted, np.copy)))
    assert weights(again) == weights(fitted)


def test_a_file_with_a_feature_twice_is_refused(fitted, path):
    def twice(keys):
        keys[1] = keys[0]
        return keys

    fitted.save(path, training=False)
    with pytest.raises(ModelFileError, match="a feature occurs twice"):
        skstruct.load(forge(path, with_plain_keys(fitted, twice)))


def test_any_array_is_refused_or_safe(fitted, path):
    """Whatever one element of an array is, loading refuses it or prediction survives
    it.
    """
    fitted.save(path)
    header, arrays = read_container(path, kind="model")
    random, loaded = np.random.default_rng(1), 0
    for name, array in arrays.items():
        for _ in range(3):
            wrong = array.copy()
            if wrong.dtype.kind == "f":
                wrong.flat[random.integers(wrong.size)] = random.choice(
                    [np.nan, np.inf, -1e300, 0.0]
                )
            else:
                limits = np.iinfo(wrong.dtype)
                choices = np.array(
                    [limits.min, limits.max, 0, 1, 2, 3, 5, 50], wrong.dtype
                )
                wrong.flat[random.integers(wrong.size)] = random.choice(choices)
            write_container(path, header, {**arrays, name: wrong})
            try:
                other = skstruct.load(path)
            except ModelFileError:
                continue
            loaded += 1
            other.predict(X[:5])
    assert loaded


# -- training that grows ---------------------------------------------------------------
def test_results_do_not_depend_on_the_room_that_training_begins_with(
    fitted, monkeypatch
):
    monkeypatch.setattr(feature_table, "FIRST_CAPACITY", 64)
    assert weights(parser().fit(X, Y)) == weights(fitted)


def test_training_further_leaves_the_model_before_alone():
    model = parser(warm_start=True).fit(X, Y)
    before, expected = copy.copy(model), weights(model)
    model.fit([[("new", "Z"), ("words", "Y")], *X], [[(0, "LZ"), (1, "LY")], *Y])
    assert weights(before) == expected != weights(model)
    assert before.predict(X) == parser().fit(X, Y).predict(X)


def test_an_average_is_that_of_its_members():
    averager = BaggingShuffleAverager(
        parser(), 3, keep_members=True, random_state=0
    ).fit(X, Y)
    members = [weights(member) for member in averager.estimators_]
    for name, weight in weights(averager.estimator_).items():
        found = [member[name] for member in members if name in member]
        assert weight == pytest.approx(sum(found) / len(found), rel=1e-12)


def test_templates_that_read_labels_need_labels(path):
    parser(templates="hs28", labeled=False).fit(
        X, [[head for head, _ in tree] for tree in Y]
    ).save(path)
    forge(path, lambda state, arrays: state["templates"].append("s0.lc.r s0.t"))
    with pytest.raises(
        ModelFileError, match="templates read labels; the model has none"
    ):
        skstruct.load(path)


def test_templates_that_read_labels_take_no_more_than_have_room(path):
    names = [f"L{k:04}" for k in range(4096)]
    sentence = [("w", "N")] * len(names)
    tree = [(k, name) for k, name in enumerate(names)]
    parser(templates="hs28", max_iter=1, beam_size=1).fit([sentence], [tree]).save(
        path, training=False
    )
    forge(path, lambda state, arrays: state["templates"].append("s0.lc.r s0.t"))
    with pytest.raises(
        ModelFileError,
        match="at most 4095 labels are possible if templates read labels",
    ):
        skstruct.load(path)
