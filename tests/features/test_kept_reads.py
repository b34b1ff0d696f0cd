"""What transformers know of tokens, written as JSON and arrays, and read again."""

import numpy as np
import pytest
from scipy import sparse

from skstruct import SequenceMatrix
from skstruct._data.inputs import as_tokens
from skstruct._data.reads import FeatureNames, TransformerReads
from skstruct._saving.container import ModelFileError
from skstruct._saving.fields import Members
from skstruct._saving.values import Reader, Writer
from skstruct.features.kept_reads import NOTHING, READS


def again(table, value, change=lambda node: None):
    writer = Writer(True, None)
    node = table.write(value, writer, "")
    change(node)
    return table.read(node, "it", Members({}, reader=Reader(writer.arrays, None)))


@pytest.mark.parametrize(
    "reads",
    [
        TransformerReads(
            "strings or tuples of strings", 2, titles=("a", "é"), by_place=True
        ),
        TransformerReads(None, None, decides=False),
        TransformerReads("rows of numbers", 2, of_frames=True),
    ],
)
def test_reads(reads):
    assert again(READS, reads) == reads


def test_names():
    names = FeatureNames(["a", "b"])
    assert again(READS, TransformerReads("rows of numbers", 2, names)).names.all() == [
        "a",
        "b",
    ]


@pytest.mark.parametrize(
    "matrix",
    [
        np.zeros((0, 3), np.float32),
        np.zeros((0, 3), np.int16),
        sparse.csr_matrix((0, 3), dtype=bool),
        sparse.csr_array((0, 3), dtype=float),
    ],
)
def test_nothing(matrix):
    X = SequenceMatrix(matrix, [])
    found = again(NOTHING, X)
    assert type(found) is SequenceMatrix and type(found.matrix) is type(X.matrix)
    assert found.matrix.dtype == X.matrix.dtype and found.matrix.shape == (0, 3)
    assert len(found.empty(np.zeros(2, np.int64))) == 2


def test_tokens_with_strings_are_not_rows_of_numbers():
    X = as_tokens([["a"]])
    with pytest.raises(AttributeError):
        again(NOTHING, X)


@pytest.mark.parametrize(
    "name, value, wrong",
    [
        ("dtype", "object", "dtype is unknown"),
        ("columns", 2**40, "columns must be an int"),
        ("columns", 2, "names must fit the columns"),
    ],
)
def test_what_does_not_fit_is_refused(name, value, wrong):
    X = SequenceMatrix(np.zeros((0, 3)), [], feature_names=["a", "b", "c"])
    with pytest.raises(ModelFileError, match=wrong):
        again(NOTHING, X, lambda node: node["blocks"][0].update({name: value}))
