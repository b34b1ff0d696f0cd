"""Features with many weights as rows: every weight stands once, padding nowhere."""

import numpy as np
import pytest

from skstruct._crf.solver import weight_rows
from skstruct._crf.solver.corpus_sums import row_width
from skstruct._crf.solver.token_features import TokenLists
from skstruct._crf.solver.weight_rows import AllStateSums, Features, WeightRows


def features(L, valued=False, seed=0):
    """Ten features with 0 to L weights, at twelve tokens."""
    rng = np.random.RandomState(seed)
    chosen = [np.sort(rng.permutation(L)[: k * L // 9]) for k in range(10)]
    first = np.append(0, np.cumsum([len(each) for each in chosen])).astype(np.int32)
    label = np.concatenate(chosen).astype(np.int32)
    start = np.append(0, np.cumsum(rng.randint(0, 6, 12)))
    item = rng.randint(0, 10, start[-1]).astype(np.int32)
    value = rng.rand(start[-1]) if valued else np.zeros(0)
    lists = TokenLists(start, item, value)
    return Features(lists, np.bincount(item, minlength=10), first, label)


@pytest.mark.parametrize("L", [1, 3, 4, 9, 21, 50])
@pytest.mark.parametrize("valued", [False, True])
def test_each_weight_has_one_place(L, valued):
    given = features(L, valued)
    rows = WeightRows(given, L, 3)
    n_weights = np.diff(given.first)
    width = row_width(L)
    assert width % 4 == 0 and rows.scores.shape[0] % width == 0
    # No row that tokens have, and no label of one, is beyond the table.
    assert (rows.tokens.item < rows.scores.shape[0] // width).all()
    assert (rows.tokens.item >= 0).all() and rows.place.max(
        initial=-1
    ) < rows.scores.size
    assert np.unique(rows.place).size == rows.weights.size
    np.testing.assert_array_equal(rows.place % width, given.label[rows.weights])
    assert rows.are_rows.tolist() == (n_weights >= max(6, width / 4)).tolist()
    w = np.arange(1.0, given.label.size + 1)
    rows.score(None, w, map)
    assert rows.scores.sum() == w[rows.weights].sum()
    found = np.zeros(w.size)
    rows.counts[:] = rows.scores
    rows.count(None, 2, False, found, map)
    expected = np.zeros(w.size)
    expected[rows.weights] = 2.0 * w[rows.weights]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("partial", [None, np.array([2, 7])])
def test_features_are_rows_or_listed(monkeypatch, partial):
    monkeypatch.setattr(weight_rows, "MANY", 3)
    given = features(9, valued=True)
    kept = AllStateSums(given, 9, 2, partial)
    number = np.flatnonzero(kept.rows.are_rows)
    tokens = [np.arange(12)] + ([] if partial is None else [partial])
    assert len(kept.lists) == len(tokens)
    for (few, rows), at in zip(kept.lists, tokens):
        for k, t in enumerate(at.tolist()):
            one, other = (
                [
                    (number[f] if numbered else f, x)
                    for f, x in zip(
                        lists.item[lists.start[k] : lists.start[k + 1]].tolist(),
                        lists.value[lists.start[k] : lists.start[k + 1]].tolist(),
                    )
                ]
                for lists, numbered in ((few.lists, False), (rows, True))
            )
            a, b = given.lists.start[t : t + 2]
            items = given.lists.item[a:b].tolist(), given.lists.value[a:b].tolist()
            with_weights = [
                pair for pair in zip(*items) if np.diff(given.first)[pair[0]]
            ]
            assert sorted(one + other) == sorted(with_weights)
