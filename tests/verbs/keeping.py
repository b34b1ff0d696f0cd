"""Verbs that copy a model, write it to a file or make it smaller."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from model_cases import assert_predicts_same, n_labels_of, words
from sklearn.base import clone

import skstruct
from skstruct import inspection
from skstruct._chain.chain_epoch import epoch
from skstruct._core.compile import cache_counts

from .cell import costly, trained, verb


@verb
def save_and_load(cell, n_labels=4):
    model, X, _ = trained(cell.name, n_labels)
    if cell.data is not words:
        assert n_labels_of(model) == n_labels
    for training in (True, False):
        model.save(cell.folder / "model", training=training)
        loaded = skstruct.load(cell.folder / "model")
        model.predict(X)
        kernels = cache_counts()
        loaded.predict(X)
        assert cache_counts() == kernels, "a loaded model needs kernels of its own"
        assert_predicts_same(model, loaded, X)


@costly
def save_and_load_17_labels(cell):
    """With more than 16 labels tables may be sparse; `saving/test_labels.py` has more
    of it.
    """
    save_and_load(cell, 17)


@verb
def copies(cell):
    for same in (pickle.loads(pickle.dumps(cell.model)), copy.deepcopy(cell.model)):
        assert_predicts_same(same, cell.model, cell.X)


@verb
def clones(cell):
    again = clone(cell.model)
    assert not [name for name in vars(again) if name.endswith("_")]
    assert repr(again) == repr(cell.make())


def _kinds_of_arguments():
    """For how many kinds of arguments the kernel of an epoch has been compiled in this
    process.
    """
    return len(getattr(epoch, "signatures", ()))


@verb
def read_only_memory(cell):
    """Arrays on a disk that cannot be written to, as processes of joblib share them."""
    joblib.dump(cell.model, cell.folder / "dump")
    mapped = joblib.load(cell.folder / "dump", mmap_mode="r")
    assert_predicts_same(mapped, cell.model, cell.X)
    if hasattr(mapped, "partial_fit"):
        other = cell.copy()
        other.partial_fit(cell.X, cell.y)
        kinds = _kinds_of_arguments()
        mapped.partial_fit(cell.X, cell.y)
        assert _kinds_of_arguments() == kinds  # nothing is compiled anew
        assert_predicts_same(mapped, other, cell.X)


@verb
def compress(cell):
    cell.model.save(cell.folder / "whole", training=False)
    exact, small = cell.model.compress(dtype="float64"), cell.model.compress()
    assert_predicts_same(cell.model, exact, cell.X)
    small.save(cell.folder / "small")
    again = skstruct.load(cell.folder / "small")
    assert_predicts_same(small, again, cell.X)
    # Not the labels, of which two may score the same; so may the last of a re-ranker's
    # list and the next.
    if hasattr(small, "decision_function") and "reranker" not in cell.name:
        expected = cell.model.decision_function(cell.X)
        np.testing.assert_allclose(
            small.decision_function(cell.X), expected, rtol=1e-6, atol=1e-6
        )
    assert len(cell.model.compress(dtype="float16", keep=0.3).predict(cell.X)) == len(
        cell.X
    )
    with pytest.raises(
        ValueError, match="keep must be a number above 0, up to 1, got 0"
    ):
        cell.model.compress(keep=0)


@verb
def info(cell):
    info, small = cell.model.info(), cell.model.compress().info()
    cell.model.save(cell.folder / "model")
    cell.model.save(cell.folder / "part", training=False)
    assert info["file_bytes"] == (cell.folder / "part").stat().st_size
    assert (
        info["file_bytes"] + info["training_bytes"]
        == (cell.folder / "model").stat().st_size
    )
    assert (info["compressed"], small["compressed"]) == (None, "float32")
    assert info["version"] == small["version"] == skstruct.__version__
    assert info["memory_bytes"] > 0 and info["made_by"].startswith(
        type(cell.model).__name__
    )
    assert (
        small["features"] <= info["features"]
        and small["state_weights"] == info["state_weights"]
    )


@verb
def size_curve(cell):
    curve = inspection.size_curve(cell.model, cell.X, cell.y, keep=[1.0, 0.2])
    getattr(cell.model, "best_estimator_", cell.model).save(
        cell.folder / "part", training=False
    )
    assert curve.file_bytes[0] == (cell.folder / "part").stat().st_size
    assert np.isnan(curve.keep[0]) and curve.keep[1:].tolist() == [1.0, 0.2]
    assert (
        curve.score[0] == cell.model.score(cell.X, cell.y)
        and curve.file_bytes[2] <= curve.file_bytes[1]
    )
