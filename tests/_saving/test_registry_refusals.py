"""What cannot be saved, and files that must not be loaded: damaged, foreign, newer, or
lying.

A lying file has a right checksum. Loading it must end in a ModelFileError or in a model
whose use cannot read beyond an array; what it predicts is its writer's business.
"""

import functools
import io
import struct

import numpy as np
import pytest
from inside import model_of
from refusal_cases import refuse, templates_model
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Perceptron

import skstruct
from skstruct import FeatureTemplates, StructuredPerceptron
from skstruct._saving.container import write_container
from skstruct._taggers.segmenter import Segmenter


# --------------------------------------------------------------------------------------
# What cannot be saved
# --------------------------------------------------------------------------------------
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
    with pytest.raises(
        TypeError, match=f"a {cls.__name__} cannot be saved; can be: .*Struct"
    ):
        fitted.save(path)
    with pytest.raises(
        TypeError,
        match=f"attribute 'tagger_' of Segmenter: a value of type {cls.__name__}",
    ):
        model = Segmenter(StructuredPerceptron("char", max_iter=1)).fit(
            ["ab"], [["ab"]]
        )
        model.tagger_ = fitted
        model.save(path)
    assert not path.exists()


@pytest.mark.parametrize("foreign", [Perceptron(), ColumnTransformer([])])
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
        (
            "random_state",
            np.random.RandomState(np.random.PCG64(1)),
            "RandomState over PCG64",
        ),
        ("random_state", np.random, "type module"),
        ("verbose", StructuredPerceptron, "type ABCMeta|type type"),
        ("verbose", functools.partial(print), "type partial"),
        ("verbose", Perceptron(), "type Perceptron"),
    ],
)
def test_parameters_that_only_code_restores(parameter, value, message, path):
    model = templates_model().set_params(**{parameter: value})
    with pytest.raises(
        TypeError,
        match=f"parameter '{parameter}' of StructuredPerceptron: .*({message})",
    ):
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
    """They are refused before anything is learned."""
    with pytest.raises(ValueError, match=r"a bytes, which no file .* label.decode\(\)"):
        StructuredPerceptron(max_iter=1).fit([["a", "b"]], [[b"A", b"B"]])


def test_weights_that_are_not_finite(path):
    model = templates_model()
    model_of(model).nodes.value[0] = np.nan
    with pytest.raises(
        ValueError, match=r"weights \(model.nodes\) that are not finite"
    ):
        model.save(path)


def test_a_failed_save_keeps_the_old_file(path):
    model = templates_model()
    model.save(path)
    before = path.read_bytes()
    with pytest.raises(TypeError):
        model.set_params(verbose=len).save(path)
    assert path.read_bytes() == before and [*path.parent.iterdir()] == [path]


def test_flipped_bits_and_cuts(path):
    templates_model().save(path)
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    for at in rng.integers(0, len(data), 200).tolist():
        damaged = bytearray(data)
        damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        refuse(path, ".")
    for size in [
        0,
        1,
        7,
        8,
        19,
        20,
        *rng.integers(21, len(data), 50).tolist(),
        len(data) - 1,
    ]:
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


@pytest.mark.parametrize("path", [io.BytesIO(), None, 3])
def test_what_is_no_path_is_refused_with_the_way_to_bytes(path):
    model = templates_model()
    for call in (model.save, functools.partial(skstruct.save, model), skstruct.load):
        with pytest.raises(TypeError, match=r"path must be .*; pickle\.dumps"):
            call(path)
