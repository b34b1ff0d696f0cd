"""A corpus is the list of its sequences, whatever its blocks are."""

import numpy as np
import pytest
from scipy import sparse

from skstruct._data.corpus import (
    DENSE,
    FEATURES,
    SPARSE,
    STRINGS,
    Block,
    BlockCorpus,
    kind_of_token,
    number_block,
)
from skstruct._data.inputs import as_tokens

ROWS = np.arange(12.0).reshape(6, 2)
LENGTHS = np.array([2, 0, 3, 1])
WORDS = [["a", "b"], [], ["c", "d", "e"], ["f"]]


def of_words():
    return as_tokens(WORDS)


def of_rows():
    return BlockCorpus.of((number_block(ROWS),), LENGTHS)


def of_sparse_rows():
    return BlockCorpus.of((number_block(sparse.csr_array(ROWS)),), LENGTHS)


def of_both_kinds():
    blocks = number_block(ROWS[:, :1]), number_block(sparse.csr_array(ROWS[:, 1:]))
    return BlockCorpus.of(blocks, LENGTHS, runs=(1, 1))


ALL = pytest.mark.parametrize(
    "make", [of_words, of_rows, of_sparse_rows, of_both_kinds]
)


def plain(sequence):
    return sequence.toarray().tolist() if sparse.issparse(sequence) else list(sequence)


def seen(X):
    return [
        [tuple(row) if np.ndim(row) else row for row in plain(sequence)]
        for sequence in X
    ]


@ALL
@pytest.mark.parametrize(
    "key",
    [
        slice(1, 3),
        slice(None, None, 2),
        [3, 0],
        np.array([2, 2]),
        LENGTHS > 1,
        slice(0),
    ],
)
def test_it_is_cut_as_a_list_is(make, key):
    X = make()
    which = np.arange(4)[key]
    expected = seen(X)
    part = X[key]
    assert seen(part) == [expected[i] for i in which]
    assert part.lengths.tolist() == LENGTHS[which].tolist()
    assert part.offsets[-1] == LENGTHS[which].sum()


@ALL
def test_single_sequences_and_pieces(make):
    X = make()
    assert len(X) == 4 and X.shape == (4,)
    assert seen([X[2], X[-1]]) == seen(X)[2:]
    assert X.piece(0, 4) is X and seen(X.piece(1, 3)) == seen(X)[1:3]
    assert seen(X.take([3, 0])) == [seen(X)[3], seen(X)[0]]
    with pytest.raises(IndexError, match="has one dimension, got the index"):
        X[np.array([[0, 1]])]


@ALL
def test_sequences_are_emptied(make):
    X = make()
    assert X.blanked([]) is X
    found = X.blanked([0, 3])
    assert found.lengths.tolist() == [0, 0, 3, 0]
    assert seen(found)[2] == seen(X)[2]
    assert X.blanked([0, 1, 2, 3]).offsets[-1] == 0


def test_two_blocks_are_one_matrix():
    X = of_both_kinds()
    assert X.kinds == (DENSE, SPARSE) and X.is_dense.tolist() == [True, False]
    np.testing.assert_array_equal(X.matrix.toarray(), ROWS)
    assert X.only(DENSE).kinds == (DENSE,) and X.block(STRINGS) is None


def test_it_never_changes():
    with pytest.raises(AttributeError, match="cannot be changed; make another one"):
        of_words().lengths = LENGTHS


def test_values_by_sequence_and_back():
    X = of_words()
    assert X.split(range(6)) == [range(2), range(2, 2), range(2, 5), range(5, 6)]
    assert X.column([[1, 2], [], [3, 4, 5], [6]]) == [1, 2, 3, 4, 5, 6]
    with pytest.raises(ValueError, match="one entry a token, 6, got 5"):
        X.split([0] * 5)
    with pytest.raises(ValueError, match="sequence 0 has 2 tokens, got 1 value"):
        X.column([[1], [], [3, 4, 5], [6]])


def test_kinds_of_tokens():
    assert kind_of_token("a") == kind_of_token(("a", "b")) == STRINGS
    assert kind_of_token({"a"}) == kind_of_token({"a": 1}) == FEATURES
    assert of_words().called == "strings or tuples of strings"
    assert of_rows().called == of_both_kinds().called == "rows of numbers"
    assert as_tokens([]).called is None


@pytest.mark.parametrize("matrix", [ROWS, sparse.csr_matrix(ROWS)])
def test_rows_of_a_slice_are_no_copy(matrix):
    block = Block(SPARSE if sparse.issparse(matrix) else DENSE, matrix)
    part = block.take(slice(2, 5)).rows
    data = (lambda m: m.data) if sparse.issparse(matrix) else np.asarray
    np.testing.assert_array_equal(plain(part), ROWS[2:5].tolist())
    assert np.shares_memory(data(part), data(matrix))
