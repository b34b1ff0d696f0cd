"""What reads a corpus: names of columns, runs of dense ones, and checks against
these.
"""

import pickle

import numpy as np
import pytest

from skstruct import SequenceMatrix
from skstruct._data.inputs import as_tokens
from skstruct._data.reads import (
    FeatureNames,
    TransformerReads,
    joined_runs,
    mask_of,
    names_of_all,
    runs_of,
    width_of,
)


@pytest.mark.parametrize("mask", [[], [1], [0], [1, 1, 0], [0, 1, 1, 0, 1], [0, 0, 1]])
def test_runs_there_and_back(mask):
    is_dense = np.array(mask, np.bool_)
    runs = runs_of(is_dense)
    assert mask_of(runs).tolist() == is_dense.tolist()
    twice = mask_of(joined_runs([runs, runs]))
    assert twice.tolist() == [*is_dense, *is_dense]


def test_names_are_made_when_they_are_asked_for():
    made = []
    names = FeatureNames(make=lambda: made.append(1) or ["a", "b"])
    assert made == [] and names.all() == names.all() == ["a", "b"] and made == [1]
    beside = FeatureNames(parts=[("p:", names, 2), ("", None, 1)])
    assert beside.all() == ["p:a", "p:b", "x0"]
    assert pickle.loads(pickle.dumps(beside)).all() == beside.all()


def test_names_that_differ():
    names = FeatureNames(["a", "b"])
    assert (
        names.differs(None) is None and names.differs(FeatureNames(["a", "b"])) is None
    )
    assert names.differs(FeatureNames(["a", "c"])) == 1


def test_names_of_dense_and_sparse_columns():
    dense, others = FeatureNames(["d"]), FeatureNames(["s", "t"])
    found = names_of_all((0, 1, 1, 1), dense, others)
    assert found.all() == ["s", "d", "t"]
    assert names_of_all((0, 1, 1, 1), dense, others) is found
    assert names_of_all((1, 2), None, others) is None


def matrix(width, names=None):
    return SequenceMatrix(np.ones((2, width)), [2], feature_names=names)


@pytest.mark.parametrize(
    "known, new, said",
    [
        (
            matrix(2),
            as_tokens([["a"]]),
            "expected rows of numbers as in training, got s",
        ),
        (as_tokens([["a"]]), matrix(2), "expected strings or tuples .* a row of 2 num"),
        (matrix(2), matrix(3), "sequence 0 has 3 columns, expected 2 as in training"),
        (matrix(2, "ab"), matrix(2, "ba"), "names differ .*: column 0 is 'b', was 'a'"),
    ],
)
def test_a_corpus_of_another_kind_is_refused(known, new, said):
    reads = TransformerReads.of(known)
    reads.check(known)
    with pytest.raises(ValueError, match=said):
        reads.check(new)


def test_columns_may_have_new_names_where_they_stood():
    TransformerReads.of(matrix(2, "ab")).check(matrix(2, "cd"))
    TransformerReads.of(matrix(2, "ab")).check(matrix(2))
    with pytest.raises(ValueError, match="column 0 is 'c', was 'a'"):
        TransformerReads.of(matrix(2, "ab")).check_strictly(matrix(2, "cb"))


def test_widths():
    assert width_of(matrix(3)) == 3 and width_of(as_tokens([["a"]])) == 1
    assert width_of(as_tokens([[("a", "b")]])) == 2
    assert width_of(as_tokens([[{"a": 1}]])) is None
