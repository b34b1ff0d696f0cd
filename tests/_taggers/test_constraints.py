"""Labels against constraints: by brute force, and what that takes.

What is asked of every token, pair of labels or sequence is array work: it grows with
the corpus, the number of calls does not. Of this kind are gold labels with gaps,
held-out sequences with unknown labels, and the tables over pairs of labels that schemes
and segments of labels need.
"""

import itertools
from functools import partial

import counting
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct import L1CRF, Segmenter
from skstruct._data.labels import Gold, Labels
from skstruct._data.scheme_rules import (
    SPELLINGS,
    LabelTable,
    allowed_transitions,
    may_follow,
)
from skstruct._taggers.constraints import check_gold, check_known, constraints_of


class Problem:
    """A random corpus of L labels with gaps and sets, and constraints."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.L, n = int(rng.integers(1, 4)), int(rng.integers(1, 5))
        self.token = np.append(0, np.cumsum(rng.integers(0, 5, n)))
        self.sets = rng.random((2, self.L + 1)) < 0.6 if rng.random() < 0.5 else ()
        if len(self.sets):
            self.sets[:, 0] = True  # no set is empty
        low = -1 - len(self.sets)
        self.ids = rng.integers(low, self.L, self.token[-1]).astype(np.int32)
        self.ids[rng.random(self.token[-1]) < 0.3] = -1
        allowed = rng.choice([0.5, 0.8, 1.0])
        shapes = (self.L,), (self.L, self.L), (self.L,)
        self.constraints = tuple(
            np.where(rng.random(shape) <= allowed, 0.0, -np.inf) for shape in shapes
        )
        self.labels = Labels([f"l{k}" for k in range(self.L)])
        self.unseen = (self.ids == -1) & (rng.random(self.token[-1]) < 0.3)

    def gold(self):
        return Gold(self.ids, self.sets)

    def sequences(self):
        return [
            self.ids[a:b].tolist() for a, b in itertools.pairwise(self.token.tolist())
        ]

    def choices(self, label):
        if label < -1:
            return np.flatnonzero(self.sets[-2 - label, : self.L]).tolist()
        return [label] if label >= 0 else list(range(self.L))

    def has_labelling(self, sequence):
        start, follow, end = self.constraints
        for path in itertools.product(*map(self.choices, sequence)):
            scores = [follow[p, y] for p, y in itertools.pairwise(path)]
            if not path or start[path[0]] + sum(scores) + end[path[-1]] == 0.0:
                return True
        return False


@given(st.integers(0, 2**32 - 1))
def test_sequences_without_a_labelling_are_found(seed):
    problem = Problem(seed)
    broken = [
        i
        for i, sequence in enumerate(problem.sequences())
        if not problem.has_labelling(sequence)
    ]
    given_to = problem.gold(), problem.token, problem.labels, problem.constraints
    if not broken:
        check_gold(*given_to)
    else:
        with pytest.raises(ValueError, match="y: sequence ") as caught:
            check_gold(*given_to)
        assert caught.value.sequence in broken


@given(st.integers(0, 2**32 - 1))
def test_sequences_with_unknown_labels_are_passed_over(seed):
    problem = Problem(seed)
    broken = {
        i
        for i, sequence in enumerate(problem.sequences())
        if not problem.has_labelling(sequence)
    }
    unknown = {
        i
        for i, (a, b) in enumerate(itertools.pairwise(problem.token))
        if problem.unseen[a:b].any()
    }
    given_to = (
        problem.gold(),
        problem.unseen,
        problem.token,
        problem.labels,
        problem.constraints,
    )
    if broken <= unknown:
        assert check_known(*given_to) == sorted(broken)
    else:
        with pytest.raises(ValueError, match="y: sequence ") as caught:
            check_known(*given_to)
        assert caught.value.sequence in broken - unknown


@pytest.mark.parametrize("length", [1, 2, 9, 4000])
def test_where_steps_change_nothing_more_none_are_made(length):
    """A gap of any length, of which each step would be the product of a vector and a
    matrix.
    """
    labels = Labels(["A", "B", "C"])
    ids = np.r_[0, np.full(length, -1), 2].astype(np.int32)
    arrays = (
        np.array([0, -np.inf, -np.inf]),
        np.full((3, 3), -np.inf),
        np.array([-np.inf, -np.inf, 0]),
    )
    arrays[1][[0, 1, 1], [1, 1, 2]] = 0.0  # A B B ... C
    few, _ = counting.calls(
        lambda: check_gold(Gold(ids, ()), np.array([0, length + 2]), labels, arrays)
    )
    assert few < 200
    arrays[1][1, 2], arrays[1][0, 2] = -np.inf, 0.0
    with pytest.raises(ValueError, match="no labelling with the given labels"):
        check_gold(Gold(ids, ()), np.array([0, length + 2]), labels, arrays)


def test_labels_that_alternate_fill_gaps_of_odd_lengths_only():
    constraints = [("A", "B"), ("B", "A")]
    for length in range(1, 30):
        y, token = (
            Gold(np.r_[0, np.full(length, -1), 0].astype(np.int32), ()),
            np.array([0, length + 2]),
        )
        if length % 2:
            constraints_of(constraints, Labels(["A", "B"]), y, token)
        else:
            with pytest.raises(ValueError, match="no labelling"):
                constraints_of(constraints, Labels(["A", "B"]), y, token)


def _gold(n, gap):
    """n sequences under BIO, with a gap in each: of None, of a set, or of a label that
    is unknown.
    """
    labels = Labels(["O", *(f"{p}-{k}" for p in "BI" for k in range(20))])
    one = [labels.ids[y] for y in ("O", "B-3", "I-3", "O", "O", "B-7", "O")]
    ids = np.tile(np.array(one, np.int32), n)
    ids[4::7] = gap
    sets = np.ones((1, len(labels) + 1), np.bool_)
    return Gold(ids, sets), 7 * np.arange(n + 1), labels


@pytest.mark.parametrize("gap", [-1, -2])
def test_gaps_take_no_call_a_sequence(gap):
    counts = []
    for n in (20, 2000):
        gold, token, labels = _gold(n, gap)
        count, _ = counting.calls(partial(constraints_of, "BIO", labels, gold, token))
        counts.append(count)
    assert counts[1] <= counts[0] + 2


def test_unknown_labels_take_no_call_a_sequence():
    counts = []
    for n in (20, 2000):
        gold, token, labels = _gold(n, -1)
        arrays = constraints_of("BIO", labels, gold, token)
        unseen = gold.ids == -1
        count, found = counting.calls(
            partial(check_known, gold, unseen, token, labels, arrays)
        )
        assert found == []
        counts.append(count)
    assert counts[1] <= counts[0] + 2


@pytest.mark.parametrize("scheme", sorted(SPELLINGS))
def test_pairs_of_labels_take_no_call_each(scheme):
    """As many labels as there are types: calls grow with these, not with their
    square.
    """
    counts = []
    for n in (10, 100):
        prefixes = sorted(
            set(itertools.chain(*map(SPELLINGS[scheme].spell, range(1, 9))))
        )
        labels = [
            f"{k:03}" if scheme == "IO" else f"{p}-{k:03}"
            for p in prefixes
            for k in range(n)
        ]
        count, (_, follow, _) = counting.calls(
            partial(allowed_transitions, labels, scheme)
        )
        parsed = LabelTable(scheme).parse(labels)
        if n == 10:
            np.testing.assert_array_equal(
                follow, [[may_follow(scheme, p, y) for y in parsed] for p in parsed]
            )
        counts.append(count / len(labels))
    assert counts[1] < 2 * counts[0]


def test_probabilities_of_segments_take_no_call_a_pair_of_labels():
    """At each call of prediction: a model of many types asks no more of one sequence
    than one of few.
    """
    counts = []
    for n in (4, 64):
        X = [[f"w{k}", f"w{k}"] for k in range(n)]
        y = [[f"B-{k:02}", f"I-{k:02}"] for k in range(n)]
        crf = L1CRF(["U:%x[0,0]", "B"], c1=1.0, constraints="BIO", random_state=0).fit(
            X, y
        )
        crf.predict_segment_proba(X[:1])
        counts.append(counting.calls(lambda: crf.predict_segment_proba(X[:1]))[0])  # noqa: B023
    assert counts[1] - counts[0] < 2 * 60 * 12  # a label takes some calls, a pair none


def test_words_are_probable_as_before():
    tagger = Segmenter(L1CRF(c1=0.01, random_state=0), scheme="BMES").fit(
        ["abc", "ab"], [["ab", "c"], ["ab"]]
    )
    found = tagger.predict_segment_proba(["abc"], min_proba=1e-6)[0]
    assert sum(p for (start, _, _), p in found if start == 0) == pytest.approx(
        1.0, abs=1e-4
    )
