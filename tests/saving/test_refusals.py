"""What cannot be saved, and files that must not be loaded: damaged, foreign, newer, or lying.

A lying file has a right checksum. Loading it must end in a ModelFileError or in a model whose use cannot
read beyond an array; what it predicts is its writer's business.
"""

import copy
import functools
import json
import struct

import numpy as np
import pytest
from inside import model_of
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Perceptron
from sklearn.pipeline import make_pipeline

import skstruct
from skstruct import FeatureTemplates, PassiveAggressiveTagger, StructuredPerceptron
from skstruct.chain.segmenter import Segmenter
from skstruct.core import store as store_module
from skstruct.saving.container import ModelFileError, read_container, write_container

X = [
    [("The", "D"), ("dog", "N"), ("barks", "V")],
    [("a", "D"), ("cat", "N"), ("sleeps", "V")],
    [("the", "D"), ("cat", "N"), ("barks", "V")],
] * 2
Y = [["D", "N", "V"]] * 6
TEMPLATES = ["U0:%x[0,0]", "U1:%suffix1[0,0]/%x[-1,1]", "U2:%x[0,0]/%x[1,0]/%x[2,1]", "B", "B0:%x[0,1]"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skstruct"


def templates_model():
    return StructuredPerceptron(
        TEMPLATES, max_iter=2, min_count=2, penalty="l1-cumulative", random_state=0
    ).fit(X, Y)


def bag_model():
    bags = [[{"w": w, "p": p, "n": len(w), "x": 0.5} for w, p in tokens] for tokens in X]
    return PassiveAggressiveTagger(max_iter=2, min_count=2, random_state=0).fit(bags, Y), bags


def sparse_model():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_module, "DENSE_WEIGHTS", 0)
        patch.setattr(store_module, "FEW_LABELS", 0)
        return StructuredPerceptron(TEMPLATES, max_iter=2, random_state=0).fit(X, Y)


# --------------------------------------------------------------------------------------------------
# What cannot be saved
# --------------------------------------------------------------------------------------------------
def test_not_fitted(path):
    with pytest.raises(NotFittedError, match="StructuredPerceptron"):
        StructuredPerceptron().save(path)
    with pytest.raises(NotFittedError, match="Segmenter"):
        Segmenter().save(path)
    assert not path.exists()


class Shouting(str):
    pass


class Derived(StructuredPerceptron):
    pass


class Renamed(StructuredPerceptron):
    pass


Renamed.__name__ = "StructuredPerceptron"


@pytest.mark.parametrize("cls", [Derived, Renamed])
def test_subclasses_are_unknown(cls, path):
    fitted = cls("char", max_iter=1).fit([["a"]], [["A"]])
    with pytest.raises(TypeError, match=f"a {cls.__name__} cannot be saved; can be: .*Struct"):
        fitted.save(path)
    with pytest.raises(TypeError, match=f"attribute 'tagger_' of Segmenter: a value of type {cls.__name__}"):
        model = Segmenter(StructuredPerceptron("char", max_iter=1)).fit(["ab"], [["ab"]])
        model.tagger_ = fitted
        model.save(path)
    assert not path.exists()


@pytest.mark.parametrize("foreign", [Perceptron(), make_pipeline(StructuredPerceptron())])
def test_estimators_of_other_packages_are_unknown(foreign, path):
    model = templates_model()
    model.extra_ = foreign
    message = f"attribute 'extra_' of .*: a value of type {type(foreign).__name__} cannot be saved"
    with pytest.raises(TypeError, match=message):
        model.save(path)


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("features", lambda token: token, "type function cannot be saved"),
        ("features", ["U:%x[0,0]", len], "type builtin_function_or_method"),
        ("features", type("Mine", (FeatureTemplates,), {})(["B"]), "type Mine"),
        ("class_weight", {"A": object()}, "type object"),
        ("class_weight", {Shouting("A"): 1.0}, "type Shouting"),
        ("class_weight", {"A": 1j}, "type complex"),
        ("class_weight", np.array([1j]), "dtype complex128"),
        ("alpha", np.longdouble(1), "type longdouble"),
        ("constraints", [(b"B", "A")], "type bytes"),
        ("random_state", np.random.default_rng(0), "type Generator"),
        ("random_state", np.random.RandomState(np.random.PCG64(1)), "RandomState over PCG64"),
        ("random_state", np.random, "type module"),
        ("verbose", StructuredPerceptron, "type ABCMeta|type type"),
        ("verbose", functools.partial(print), "type partial"),
        ("verbose", Perceptron(), "type Perceptron"),
    ],
)
def test_parameters_that_only_code_restores(parameter, value, message, path):
    model = templates_model().set_params(**{parameter: value})
    with pytest.raises(TypeError, match=f"parameter '{parameter}' of StructuredPerceptron: .*({message})"):
        model.save(path)
    assert not path.exists()


def test_parameters_of_inner_estimators(path):
    inner = StructuredPerceptron(features="char", max_iter=1)
    model = Segmenter(inner).fit(["ab"], [["ab"]])
    model.tagger.set_params(features=len)
    expected = "parameter 'tagger' of Segmenter: parameter 'features' of StructuredPerceptron: "
    with pytest.raises(TypeError, match=expected):
        model.save(path)


def test_fitted_attributes_of_unknown_types(path):
    model = templates_model()
    model.history_.append({"f": len})
    with pytest.raises(TypeError, match="attribute 'history_' of StructuredPerceptron"):
        model.save(path)


def test_labels_of_unknown_types(path):
    model = StructuredPerceptron(max_iter=1).fit([["a", "b"]], [[b"A", b"B"]])
    with pytest.raises(TypeError, match="bytes"):
        model.save(path)


def test_weights_that_are_not_finite(path):
    model = templates_model()
    model_of(model).nodes.value[0] = np.nan
    with pytest.raises(ValueError, match=r"weights \(model.nodes\) that are not finite"):
        model.save(path)


def test_a_failed_save_keeps_the_old_file(path):
    model = templates_model()
    model.save(path)
    before = path.read_bytes()
    with pytest.raises(TypeError):
        model.set_params(verbose=len).save(path)
    assert path.read_bytes() == before and [*path.parent.iterdir()] == [path]


# --------------------------------------------------------------------------------------------------
# Files that are no models, or damaged ones
# --------------------------------------------------------------------------------------------------
def refuse(path, match):
    with pytest.raises(ModelFileError, match=match) as caught:
        skstruct.load(path)
    assert str(path) in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_flipped_bits_and_cuts(path):
    templates_model().save(path)
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    for at in rng.integers(0, len(data), 200).tolist():
        damaged = bytearray(data)
        damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        refuse(path, ".")
    for size in [0, 1, 7, 8, 19, 20, *rng.integers(21, len(data), 50).tolist(), len(data) - 1]:
        path.write_bytes(data[:size])
        refuse(path, "truncated|not a skstruct file")
    path.write_bytes(data + b"\0")
    refuse(path, "data after the end")


def test_foreign_files(path):
    path.write_bytes(b"\x80\x04\x95")
    refuse(path, "a pickle")
    write_container(path, {"kind": "checkpoint"}, {})
    refuse(path, "holds a 'checkpoint'")
    write_container(path, {"kind": "model"}, {})
    refuse(path, "lacks the estimator")
    path.unlink()
    with pytest.raises(FileNotFoundError):
        skstruct.load(path)


def test_newer_format(path):
    templates_model().save(path)
    data = bytearray(path.read_bytes())
    data[8:12] = struct.pack("<I", 7)
    path.write_bytes(data)
    refuse(path, "written by a newer skstruct")


# --------------------------------------------------------------------------------------------------
# Files that lie
# --------------------------------------------------------------------------------------------------
class Forged:
    """A file's header and arrays, to change and to write back under a right checksum."""

    def __init__(self, path):
        self.path = path
        self.header, self.arrays = read_container(path, kind="model")
        self.estimator = self.header["estimator"]
        self.state = self.estimator["state"]

    def write(self):
        write_container(self.path, self.header, self.arrays)


@pytest.fixture
def forged(path):
    templates_model().save(path)
    return Forged(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e: e.update({"class": "os.system"}), "unknown class 'os.system'; known are .*Segmenter"),
        (lambda e: e.update({"class": "FeatureTemplates"}), "unknown class"),
        (lambda e: e.update({"class": ["x"]}), "unknown class"),
        (lambda e: e.pop("fitted"), "lacks fitted"),
        (lambda e: e["parameters"].update(gamma=1), "no parameter gamma.*written by skstruct 0.1.0"),
        (lambda e: e.update(parameters=[]), "parameters must be"),
        (lambda e: e["fitted"].update(predict=1), "no fitted attribute predict"),
        (lambda e: e["fitted"].update(__class__=1), "no fitted attribute __class__"),
        (lambda e: e["fitted"].update(_model=1), "no fitted attribute _model"),
        (lambda e: e["fitted"].pop("classes_"), "classes_ and the labels differ"),
        (lambda e: e["fitted"].update(history_=3), "history_ must be a list"),
        (lambda e: e["parameters"].update(verbose={"$call": "x"}), "unknown form"),
        (lambda e: e["parameters"].update(verbose={"$set": [], "x": 1}), "unknown form"),
        (lambda e: e["parameters"].update(verbose={"$set": [[]]}), "unhashable"),
        (lambda e: e["parameters"].update(verbose={"$dict": [1]}), "verbose"),
        (lambda e: e["parameters"].update(verbose={"$numpy": ["object", 1]}), "unknown dtype"),
        (lambda e: e["parameters"].update(verbose={"$numpy": ["int8", 300]}), "verbose"),
        (lambda e: e["parameters"].update(verbose={"$float": "1.0"}), "must be one of"),
        (lambda e: e["parameters"].update(verbose={"$array": "no"}), "absent"),
        (lambda e: e["parameters"].update(verbose={"$array": "model.nodes.value"}), "used twice"),
        (lambda e: e["parameters"].update(verbose={"$templates": ["x"]}), "a template starts with"),
        (lambda e: e["parameters"].update(verbose={"$estimator": e["class"]}), "JSON object"),
        (
            lambda e: e["parameters"].update(verbose={"$text": {"shape": [2], "items": ["a"]}}),
            "disagree",
        ),
        (lambda e: e["parameters"].update(verbose={"$text": {"shape": [-1], "items": []}}), "disagree"),
        (lambda e: e["parameters"].update(verbose={"$text": {"shape": [1], "items": [1]}}), "strings"),
        (lambda e: e["state"]["model"].pop("labels"), "lacks labels"),
        (lambda e: e["state"]["model"].update(labels=["N", "D", "V"]), "classes_ and the labels differ"),
        (lambda e: e["state"]["model"].update(labels=["D", "D", "N"]), "must be distinct"),
        (lambda e: e["state"]["model"].update(labels=["D", 1, "V"]), "of one type"),
        (lambda e: e["state"]["model"].update(labels=[]), "must hold a label"),
        (lambda e: e["state"]["model"].update(labels=["D", "N"]), "columns expected"),
        (lambda e: e["state"]["model"]["encoder"].update(kind="x"), "must be one of"),
        (lambda e: e["state"]["model"]["encoder"].update(min_count=0), "int from 1"),
        (lambda e: e["state"]["model"]["encoder"].update(templates=["U0:%x[0,99999999999]"]), "columns"),
        (lambda e: e["state"]["model"]["encoder"]["templates"].pop(), "compounds expected"),
        (lambda e: e["state"]["model"]["encoder"].update(derived=[]), "derived lacks"),
        (lambda e: e["state"]["model"]["encoder"]["nodes"].update(n_rows=10**6), "shape|n_rows"),
        (lambda e: e["state"]["model"]["encoder"]["nodes"].update(n_rows=True), "n_rows"),
        (
            lambda e: e["state"]["model"]["encoder"]["nodes"]["compounds"][0].update(uses=[[0, 1]]),
            "compiles",
        ),
        (lambda e: e["state"]["training"].update(key=-1), "key"),
        (lambda e: e["state"]["training"].update(epoch=0.5), "epoch"),
        (lambda e: e["state"]["training"]["rule"].update(penalty="l2"), "shape|lacks"),
        (lambda e: e["state"]["training"]["rule"].update(update="x"), "must be one of"),
        (lambda e: e["state"]["training"]["rule"].update(update=["x"]), "string or null"),
        (lambda e: e["state"]["training"]["rule"].update(alpha=1), "float"),
        (lambda e: e["state"]["training"]["clock"].update(step=[3, 2**63]), "step"),
        (lambda e: e["state"]["training"]["clock"].update(step=[-1, 0]), "step"),
        (lambda e: e["state"]["training"]["clock"].update(scale=[0.0, 1.0]), "scale"),
    ],
)
def test_lies_in_the_header(change, message, forged):
    change(forged.estimator)
    forged.write()
    refuse(forged.path, message)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("model.nodes.value", np.nan, "finite"),
        ("training.edges.moment", np.inf, "finite"),
        ("training.nodes.received", -1.0, "negative"),
        ("training.nodes.last", -1, "last is out of range"),
        ("training.nodes.last", 10**6, "last is out of range"),
        ("model.encoder.nodes.0.row", 10**6, "row is out of range"),
        ("model.encoder.nodes.0.row", -2, "row is out of range"),
        ("model.encoder.edges.0.row", 0, "row is out of range"),
        ("model.encoder.nodes.0.count", -1, "count is out of range"),
        ("model.encoder.nodes.alive", 2, "must be 0 or 1"),
        ("model.encoder.nodes.2.pairs", 10**6, "pairs are out of range"),
        ("model.encoder.nodes.2.pairs", -1, "pairs are out of range"),
        ("model.encoder.nodes.2.pairs", 0, "occurs twice"),
        ("model.encoder.suffix1.0.of_string", 99, "ids are out of range"),
        ("model.encoder.suffix1.0.of_string", -1, "ids are out of range"),
        ("model.encoder.columns.0.offsets", 3, "offsets"),
        ("model.encoder.columns.0.bytes", 0xFF, "UTF-8"),
    ],
)
def test_lies_in_arrays(name, value, message, forged):
    forged.arrays[name][...] = value
    forged.write()
    refuse(forged.path, message)


def test_strings_that_occur_twice(forged):
    forged.arrays["model.encoder.columns.1.bytes"][:] = ord("D")
    forged.write()
    refuse(forged.path, "occurs twice")


def test_wrong_dtypes_and_shapes(forged):
    for name, array in forged.arrays.items():
        others = [array[:-1], np.concatenate([array, array]), array[None], array.astype(np.float32)]
        for other in others:
            wrong = copy.copy(forged)
            wrong.arrays = {**forged.arrays, name: other}
            wrong.write()
            refuse(forged.path, "malformed|packed strings|offsets")
        wrong.arrays = {key: value for key, value in forged.arrays.items() if key != name}
        wrong.write()
        refuse(forged.path, "absent or used twice")


@pytest.mark.parametrize(
    ("name", "value"),
    [("first", -1), ("first", 10**6), ("first", 2**62), ("count", -1), ("count", 2**30),
     ("column", 3), ("column", -1), ("room", 2**30)],
)  # fmt: skip
@pytest.mark.parametrize("part", ["model", "training"])
def test_lies_about_sparse_rows(part, name, value, path):
    sparse_model().save(path)
    forged = Forged(path)
    if (part, name) == ("model", "room"):
        assert "model.nodes.room" not in forged.arrays
        return
    forged.arrays[f"{part}.nodes.{name}"][-1] = value
    forged.write()
    refuse(path, "out of range")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("model.encoder.row", 99, "row is out of range"),
        ("model.encoder.count", -1, "count is out of range"),
        ("model.encoder.pairs.size", 1, "size must add up"),
        ("model.encoder.pairs.size", -1, "size must add up"),
        ("model.encoder.pairs.size", 2**62, "size must add up"),
        ("model.encoder.pairs.feature", 99, "feature is out of range"),
        ("model.encoder.pairs.feature", -1, "feature is out of range"),
        ("model.encoder.pairs.number", np.nan, "finite"),
        ("model.encoder.pairs.text", True, "number must have the shape"),
    ],
)
def test_lies_about_bags(name, value, message, path):
    bag_model()[0].save(path)
    forged = Forged(path)
    forged.arrays[name][...] = value
    forged.write()
    refuse(path, message)


def test_random_state_position(path):
    model = StructuredPerceptron(max_iter=1, random_state=np.random.RandomState(0)).fit([["a"]], [["A"]])
    model.save(path)
    forged = Forged(path)
    forged.estimator["parameters"]["random_state"]["$random_state"]["position"] = 10**6
    forged.write()
    refuse(path, "position")


@pytest.mark.parametrize("depth", [500, 900, 5000])
def test_deep_nesting(depth, forged):
    nested = []
    for _ in range(depth):
        nested = [nested]
    text = np.frombuffer(b"[" * depth + b"]" * depth, np.uint8)
    forged.arrays["deep"] = text
    forged.estimator["parameters"]["verbose"] = {"$json": {"$array": "deep"}}
    forged.write()
    try:
        skstruct.load(forged.path)
    except ModelFileError as error:
        assert "deep" in str(error) or "recursion" in str(error)


def _leaves(node, at=()):
    """All places in nested JSON, as tuples of keys."""
    if isinstance(node, (dict, list)):
        for key in node if isinstance(node, dict) else range(len(node)):
            yield (*at, key)
            yield from _leaves(node[key], (*at, key))


STRANGE = [None, True, -1, 0, 1, 7, 2**40, 0.5, -1e300, "", "x", "$array", [], [1], {}, {"$array": "x"}]


@pytest.mark.parametrize("kind", ["templates", "bag", "sparse"])
def test_any_header_is_refused_or_safe(kind, path):
    """Whatever stands at one place of the header, loading refuses it or prediction survives it."""
    tokens = X
    if kind == "bag":
        model, tokens = bag_model()
    else:
        model = templates_model() if kind == "templates" else sparse_model()
    model.save(path)
    forged = Forged(path)
    places = [p for p in _leaves(forged.estimator) if p[0] != "parameters"]
    rng = np.random.default_rng(0)
    clean, loaded = copy.deepcopy(forged.header), 0
    for where in places:
        header = json.loads(json.dumps(clean))
        node = header["estimator"]
        for key in where[:-1]:
            node = node[key]
        node[where[-1]] = STRANGE[int(rng.integers(len(STRANGE)))]
        write_container(path, header, forged.arrays)
        try:
            other = skstruct.load(path)
        except ModelFileError:
            continue
        loaded += 1
        use(other, tokens)
    assert loaded < len(places) / 2


@pytest.mark.parametrize("kind", ["templates", "bag", "sparse"])
def test_any_array_is_refused_or_safe(kind, path):
    """The same for one element of each array, several times over."""
    tokens = X
    if kind == "bag":
        model, tokens = bag_model()
    else:
        model = templates_model() if kind == "templates" else sparse_model()
    model.save(path)
    forged = Forged(path)
    rng = np.random.default_rng(1)
    for name, array in forged.arrays.items():
        for _ in range(8):
            wrong = array.copy()
            if wrong.dtype.kind == "f":
                wrong.flat[rng.integers(wrong.size)] = rng.choice([np.nan, np.inf, -1e300, 1e300, 0.0])
            elif wrong.dtype.kind == "b":
                wrong.flat[rng.integers(wrong.size)] ^= True
            else:
                limits = np.iinfo(wrong.dtype)
                wrong.flat[rng.integers(wrong.size)] = rng.choice(
                    np.array([limits.min, limits.max, 0, 1, 2, 3, 5, 50], wrong.dtype)
                )
            write_container(path, forged.header, {**forged.arrays, name: wrong})
            try:
                other = skstruct.load(path)
            except ModelFileError:
                continue
            use(other, tokens)


def use(model, tokens):
    """Run the kernels; anything but a crash will do."""
    for call in (
        lambda: model.predict(tokens),
        lambda: model.predict_kbest(tokens, 2),
        lambda: model.partial_fit(tokens, Y),
    ):
        try:
            call()
        except Exception as error:  # the writer of such a file gets what it asked for
            assert not isinstance(error, (SystemError, IndexError)), error
