"""Columns side by side: which are dense, and their names, found once for all calls."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import FunctionTransformer

from skstruct import SequenceMatrix
from skstruct._data.inputs import as_tokens
from skstruct._data.reads import FeatureNames, joined_runs, mask_of, runs_of
from skstruct.features import SequenceUnion, TokenTransformer


@pytest.mark.parametrize("n", range(6))
def test_runs_say_which_columns_are_dense(n):
    for bits in range(2**n):
        mask = np.array([bits >> k & 1 for k in range(n)], np.bool_)
        runs = runs_of(mask)
        np.testing.assert_array_equal(mask_of(runs), mask)
        assert sum(runs) == n and all(runs[1:])
        for cut in range(n + 1):  # side by side they are the whole again
            assert joined_runs([runs_of(mask[:cut]), (0,), runs_of(mask[cut:])]) == runs


X = [["0", "1"]]


def rows_of(table, is_sparse):
    """A transformer that gives the word of a number that row of a table."""
    kind = sparse.csr_matrix if is_sparse else np.asarray
    return TokenTransformer(
        FunctionTransformer(lambda words: kind(table[list(map(int, words))]))
    )


def test_the_matrix_of_both_kinds_has_the_order_of_the_parts():
    rng = np.random.default_rng(0)
    for kinds in ("ds", "sd", "dsd", "sds", "ddss", "sddsd"):
        tables = [rng.integers(0, 3, (2, 1 + k % 3)) for k in range(len(kinds))]
        parts = [
            (f"{k}", rows_of(tables[k], kind == "s")) for k, kind in enumerate(kinds)
        ]
        union = SequenceUnion(parts)
        for _ in range(2):  # what is remembered, too
            found = union.fit_transform(X)
            np.testing.assert_array_equal(found.matrix.toarray(), np.hstack(tables))
        # The same parts in another order, or with weights, are other columns.
        union.set_params(transformer_list=parts[::-1], transformer_weights={"0": 2.0})
        weighted = [tables[0] * 2.0, *tables[1:]]
        found = union.transform(X)
        np.testing.assert_array_equal(found.matrix.toarray(), np.hstack(weighted[::-1]))


def test_names_that_agree_become_one_list():
    known = [FeatureNames([f"x{k}" for k in range(5)]) for _ in range(4)]
    assert all(a.differs(b) is None for a in known for b in known)
    assert len({id(names.all()) for names in known}) == 1
    other = FeatureNames(["x0", "x1", "y", "x3", "x4"])
    assert known[0].differs(other) == 2 and other.differs(known[1]) == 2
    assert other.all()[2] == "y" and known[0].all()[2] == "x2"


def test_a_corpus_of_one_kind_has_one_run():
    assert as_tokens(SequenceMatrix(np.eye(3), [3])).runs == (3,)
    assert as_tokens(SequenceMatrix(sparse.eye(3, format="csr"), [3])).runs == (0, 3)
