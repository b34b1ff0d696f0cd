"""Folds of sequences, and of groups of these."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold

from skstruct._data.folds import check_groups, folds_of

X = list("abcdef")


def parts_of(folds):
    return [test.tolist() for _, test in folds]


def test_a_number_makes_stretches():
    assert parts_of(folds_of(3, X)) == [[0, 1], [2, 3], [4, 5]]
    assert parts_of(folds_of(None, X[:5])) == [[0], [1], [2], [3], [4]]
    for n in range(2, 7):
        for train, test in folds_of(n, X):
            assert sorted([*train, *test]) == list(range(6))


def test_a_number_makes_stretches_of_groups():
    groups = ["x", "x", "x", "y", "z", "x"]
    assert parts_of(folds_of(3, X, groups=groups)) == [[0, 1, 2, 5], [3], [4]]
    assert parts_of(folds_of(2, X, groups=np.array(groups))) == [[0, 1, 2, 3, 5], [4]]
    with pytest.raises(ValueError, match="cv=4 folds need .* many groups, got 3"):
        folds_of(4, X, groups=groups)
    with pytest.raises(ValueError, match="cv=7 folds need .* many sequences, got 6"):
        folds_of(7, X)


def test_splitters_get_the_groups():
    groups = ["x", "y", "x", "y", "x", "y"]
    found = parts_of(folds_of(GroupKFold(2), X, groups=groups))
    assert sorted(found) == [[0, 2, 4], [1, 3, 5]]


def test_what_is_wrong_is_refused():
    with pytest.raises(ValueError, match="at least 2 folds, got 1"):
        folds_of(1, X)
    for cv in 2, GroupKFold(2):
        with pytest.raises(ValueError, match="each of the 6 sequences, got 5"):
            folds_of(cv, X, groups=list("xyxyx"))
    with pytest.raises(ValueError, match="fold 0 of cv does not select"):
        folds_of([([0], [9])], X)
    with pytest.raises(ValueError, match="sequence 1 is in 0"):
        folds_of([([1, 2, 3, 4, 5], [0])], X, once=True)
    every = [(range(6), range(6))]
    for how in {"once": True}, {"apart": True}:
        with pytest.raises(
            ValueError, match="fold 0 of cv trains on sequence 0 and te"
        ):
            folds_of(every, X, **how)
    assert len(folds_of(every, X)) == 1  # as GridSearchCV
    check_groups(None, 6)
    check_groups(list("xyxyxy"), 6)


@pytest.mark.parametrize(
    "nothing", [None, float("nan"), np.float64("nan"), np.ma.masked, pd.NA, pd.NaT]
)
def test_a_sequence_without_a_group_is_refused(nothing):
    """Splitters would take all without one for one group."""
    with pytest.raises(ValueError, match="groups: sequence 2 has none"):
        check_groups(["x", "y", nothing, "x", "y", nothing], 6)
