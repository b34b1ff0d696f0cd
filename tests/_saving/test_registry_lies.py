"""Files that lie under a right checksum: an error, or a model that stays within its
arrays.
"""

import copy
import json

import numpy as np
import pytest
from refusal_cases import X, Y, bag_model, refuse, sparse_model, templates_model
from scipy import sparse

import skstruct
from skstruct import StructuredPerceptron
from skstruct._saving.container import ModelFileError, read_container, write_container


# --------------------------------------------------------------------------------------
# Files that lie
# --------------------------------------------------------------------------------------
class Forged:
    """A file's header and arrays, to change and to write back under a right
    checksum.
    """

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
        (
            lambda e: e.update({"class": "os.system"}),
            "unknown class 'os.system'; choose from .*Segmenter",
        ),
        (lambda e: e.update({"class": "FeatureTemplates"}), "unknown class"),
        (lambda e: e.update({"class": ["x"]}), "unknown class"),
        (lambda e: e.pop("fitted"), "lacks fitted"),
        (
            lambda e: e["parameters"].update(gamma=1),
            r"no parameter gamma.*written by skstruct 0\.",
        ),
        (lambda e: e.update(parameters=[]), "parameters must be"),
        (lambda e: e["fitted"].update(predict=1), "no fitted attribute predict"),
        (lambda e: e["fitted"].update(__class__=1), "no fitted attribute __class__"),
        (lambda e: e["fitted"].update(_model=1), "no fitted attribute _model"),
        (lambda e: e["fitted"].pop("classes_"), "classes_ and the labels differ"),
        (lambda e: e["fitted"].update(history_=3), "history_ must be a list"),
        (lambda e: e["parameters"].update(verbose={"$call": "x"}), "unknown form"),
        (
            lambda e: e["parameters"].update(verbose={"$set": [], "x": 1}),
            "unknown form",
        ),
        (lambda e: e["parameters"].update(verbose={"$set": [[]]}), "unhashable"),
        (lambda e: e["parameters"].update(verbose={"$dict": [1]}), "verbose"),
        (
            lambda e: e["parameters"].update(verbose={"$numpy": ["object", 1]}),
            "unknown dtype",
        ),
        (
            lambda e: e["parameters"].update(verbose={"$numpy": ["int8", 300]}),
            "verbose",
        ),
        (lambda e: e["parameters"].update(verbose={"$float": "1.0"}), "must be one of"),
        (lambda e: e["parameters"].update(verbose={"$array": "no"}), "absent"),
        (
            lambda e: e["parameters"].update(verbose={"$array": "model.nodes.value"}),
            "used twice",
        ),
        (
            lambda e: e["parameters"].update(verbose={"$templates": ["x"]}),
            "a template starts with",
        ),
        (
            lambda e: e["parameters"].update(verbose={"$estimator": e["class"]}),
            "JSON object",
        ),
        (
            lambda e: e["parameters"].update(
                verbose={"$text": {"shape": [2], "items": ["a"]}}
            ),
            "disagree",
        ),
        (
            lambda e: e["parameters"].update(
                verbose={"$text": {"shape": [-1], "items": []}}
            ),
            "shape",
        ),
        (
            lambda e: e["parameters"].update(
                verbose={"$text": {"shape": [1], "items": [1]}}
            ),
            "strings",
        ),
        (lambda e: e["state"]["model"].pop("labels"), "lacks labels"),
        (
            lambda e: e["state"]["model"].update(labels=["N", "D", "V"]),
            "classes_ and the labels differ",
        ),
        (
            lambda e: e["state"]["model"].update(labels=["D", "D", "N"]),
            "must be distinct",
        ),
        (lambda e: e["state"]["model"].update(labels=["D", 1, "V"]), "of one type"),
        (lambda e: e["state"]["model"].update(labels=[]), "must hold a label"),
        (lambda e: e["state"]["model"].update(labels=["D", "N"]), "columns must be 2"),
        (lambda e: e["state"]["model"]["encoder"].update(kind="x"), "must be one of"),
        (lambda e: e["state"]["model"]["encoder"].update(min_count=0), "int from 1"),
        (
            lambda e: e["state"]["model"]["encoder"].update(
                templates=["U0:%x[0,99999999999]"]
            ),
            "columns",
        ),
        (
            lambda e: e["state"]["model"]["encoder"]["templates"].pop(),
            "compounds expected",
        ),
        (lambda e: e["state"]["model"]["encoder"].update(derived=[]), "derived lacks"),
        (
            lambda e: e["state"]["model"]["encoder"]["nodes"].update(n_rows=10**6),
            "shape|n_rows",
        ),
        (
            lambda e: e["state"]["model"]["encoder"]["nodes"].update(n_rows=True),
            "n_rows",
        ),
        (
            lambda e: e["state"]["model"]["encoder"]["nodes"]["compounds"][0].update(
                uses=[[0, 1]]
            ),
            "compiles",
        ),
        (lambda e: e["state"]["training"].update(key=-1), "key"),
        (lambda e: e["state"]["training"].update(epoch=0.5), "epoch"),
        (lambda e: e["state"]["training"]["rule"].update(penalty="l2"), "shape|lacks"),
        (lambda e: e["state"]["training"]["rule"].update(update="x"), "must be one of"),
        (
            lambda e: e["state"]["training"]["rule"].update(update=["x"]),
            "string or null",
        ),
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
        ("training.nodes.received", -1.0, "received is out of range"),
        ("training.nodes.last", -1, "last is out of range"),
        ("training.nodes.last", 10**6, "last is out of range"),
        ("model.encoder.nodes.0.row", 10**6, "row is out of range"),
        ("model.encoder.nodes.0.row", -2, "row is out of range"),
        ("model.encoder.edges.0.row", 0, "row is out of range"),
        ("model.encoder.nodes.0.count", -1, "count is out of range"),
        ("model.encoder.nodes.alive", 2, "alive is out of range"),
        ("model.encoder.nodes.2.pairs", 10**6, "pairs is out of range"),
        ("model.encoder.nodes.2.pairs", -1, "pairs is out of range"),
        ("model.encoder.nodes.2.pairs", 0, "occurs twice"),
        ("model.encoder.suffix1.0.of_string", 99, "of_string is out of range"),
        ("model.encoder.suffix1.0.of_string", -1, "of_string is out of range"),
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
        others = [
            array[:-1],
            np.concatenate([array, array]),
            array[None],
            array.astype(np.float32),
        ]
        for other in others:
            wrong = copy.copy(forged)
            wrong.arrays = {**forged.arrays, name: other}
            wrong.write()
            refuse(forged.path, "malformed|packed strings|offsets")
        wrong.arrays = {
            key: value for key, value in forged.arrays.items() if key != name
        }
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
    ],
)
def test_lies_about_bags(name, value, message, path):
    bag_model()[0].save(path)
    forged = Forged(path)
    forged.arrays[name][...] = value
    forged.write()
    refuse(path, message)


def test_random_state_position(path):
    model = StructuredPerceptron(max_iter=1, random_state=np.random.RandomState(0)).fit(
        [["a"]], [["A"]]
    )
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


STRANGE = [
    None,
    True,
    -1,
    0,
    1,
    7,
    2**40,
    0.5,
    -1e300,
    "",
    "x",
    "$array",
    [],
    [1],
    {},
    {"$array": "x"},
]


@pytest.mark.parametrize("kind", ["templates", "bag", "sparse"])
def test_any_header_is_refused_or_safe(kind, path):
    """Whatever stands at one place of the header, loading refuses it or prediction
    survives it.
    """
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
        for _ in range(5):
            wrong = array.copy()
            if wrong.dtype.kind == "f":
                wrong.flat[rng.integers(wrong.size)] = rng.choice(
                    [np.nan, np.inf, -1e300, 1e300, 0.0]
                )
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


def test_small_files_do_not_fill_the_memory(forged):
    long = np.frombuffer(
        json.dumps(["x" * 200_000] + [""] * 200_000).encode(), np.uint8
    )
    forged.arrays["long"] = long
    forged.estimator["fitted"]["classes_"] = {
        "$text": {"shape": [200_001], "items": {"$json": {"$array": "long"}}}
    }
    forged.write()
    with pytest.raises(ModelFileError, match="differ too much in length"):
        skstruct.load(forged.path)


def test_windows_of_more_columns_than_there_are_numbers(path):
    StructuredPerceptron(max_iter=1).fit(
        [sparse.csr_matrix(np.eye(2))], [["a", "b"]]
    ).save(path)
    forged = Forged(path)
    forged.state["model"]["encoder"]["features"]["window"] = [-(2**40), 2**40]
    forged.write()
    with pytest.raises(ModelFileError, match="window"):
        skstruct.load(path)


@pytest.mark.parametrize("side", ["nodes", "edges"])
def test_a_member_that_others_ask_for_is_needed(forged, side):
    """With a cut-off there are counts, and each compound has rows."""
    encoder = forged.state["model"]["encoder"]
    del encoder[side]["alive"]
    forged.write()
    refuse(forged.path, f"{side} lacks alive")
    encoder[side]["alive"] = {"$array": f"model.encoder.{side}.alive"}
    del encoder[side]["compounds"][0]["row"]
    forged.write()
    refuse(forged.path, r"compounds\[0\] lacks row")
