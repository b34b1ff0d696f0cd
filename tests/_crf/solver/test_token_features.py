"""Lists of features of tokens: which are taken, kept and numbered, and how often they
repeat.
"""

import numpy as np
import pytest
from crf_cases import make_task

from skstruct._crf.solver.corpus_sums import Sequences
from skstruct._crf.solver.token_features import (
    TokenLists,
    alive_rows,
    features_of_tokens,
    keep_features,
    number_chosen,
    repetition,
)


def lists_of(*tokens, valued=False):
    start = np.append(0, np.cumsum([len(token) for token in tokens]))
    item = np.array(sum(tokens, []), np.int32)
    return TokenLists(start, item, item + 0.5 if valued else np.zeros(0))


def as_lists(lists):
    return [lists.item[a:b].tolist() for a, b in zip(lists.start[:-1], lists.start[1:])]


@pytest.mark.parametrize("valued", [False, True])
def test_take_and_first(valued):
    lists = lists_of([0, 1], [], [2], [1, 1], valued=valued)
    taken = lists.take(np.array([3, 0]))
    assert as_lists(taken) == [[1, 1], [0, 1]]
    assert taken.value.tolist() == ([1.5, 1.5, 0.5, 1.5] if valued else [])
    first = lists.first(2, 2)
    assert as_lists(first) == [[0, 1], []]
    assert not np.shares_memory(first.item, lists.item)


def test_keep_features_renumbers_in_place():
    lists = lists_of([0, 1], [2], [1, 3], valued=True)
    kept = keep_features(lists, number_chosen(4, np.array([3, 1])))
    assert as_lists(kept) == [[1], [], [1, 0]]
    assert kept.value.tolist() == [1.5, 1.5, 3.5]


def test_numbers():
    assert number_chosen(4, np.array([2, 0])).tolist() == [1, -1, 0, -1]
    assert alive_rows(3, np.array([1, 0, 1], np.uint8)).tolist() == [0, -1, 2]
    assert alive_rows(2, np.zeros(0, np.uint8)).tolist() == [0, 1]


def test_features_of_tokens_follow_the_order_of_the_sequences():
    """Sequences of weight 0 are left out, and so are rows without a number."""
    task = make_task(n=6)
    task.weight[2] = 0.0
    sequences = Sequences.of(task)
    of_row = number_chosen(6, np.array([1, 4]))
    lists = features_of_tokens(task, sequences, of_row)
    want = []
    for i in sequences.order:
        for t in range(task.token[i], task.token[i + 1]):
            rows = task.bag.row[task.bag.start[t] : task.bag.start[t + 1]]
            want.append([int(of_row[row]) for row in rows if of_row[row] >= 0])
    assert 2 not in sequences.order
    assert (np.diff(sequences.lengths) <= 0).all()
    assert as_lists(lists) == want


def test_repetition_is_the_mean_over_sequences():
    """Σ_f (Σ_t x_tf)² / T: 4 / 2 where a feature stands twice, 2 / 2 where two stand
    once.
    """
    token = np.array([0, 2, 4])
    lists = lists_of([0], [0], [0], [1])
    count = np.zeros(2)
    assert repetition(token, lists, count) == pytest.approx((4 / 2 + 2 / 2) / 2)
    assert not count.any()


def test_signs():
    lists = lists_of([0], [1], valued=True)
    assert not lists.signed
    lists.value[1] = -1.0
    assert lists.signed
