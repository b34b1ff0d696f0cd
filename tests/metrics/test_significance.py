"""The paired bootstrap: what it must say of equal, better and barely different
systems.
"""

import numpy as np
import pytest

from skstruct import Span
from skstruct.metrics import (
    paired_bootstrap,
    segment_f1_score,
    span_f1_score,
    token_accuracy_score,
    word_f1_score,
)

LABELS = ["O", "B-X", "I-X", "B-Y"]


def noisy(y, rate, generator):
    return [
        [
            str(generator.choice(LABELS)) if generator.random() < rate else label
            for label in s
        ]
        for s in y
    ]


@pytest.fixture
def systems():
    generator = np.random.default_rng(0)
    y = [[str(label) for label in generator.choice(LABELS, 8)] for _ in range(200)]
    return y, noisy(y, 0.3, generator), noisy(y, 0.1, generator)


@pytest.mark.parametrize(
    "score, function",
    [("accuracy", token_accuracy_score), ("segments", segment_f1_score)],
)
def test_scores_are_those_of_the_metrics(systems, score, function):
    y, worse, better = systems
    result = paired_bootstrap(
        y, worse, better, score=score, n_resamples=500, random_state=0
    )
    assert result.score_a == pytest.approx(function(y, worse))
    assert result.score_b == pytest.approx(function(y, better))
    assert result.difference == pytest.approx(result.score_b - result.score_a)
    assert result.low < result.difference < result.high
    assert result.low > 0 and result.p_value < 0.01


def test_words():
    y = [["ab", "c"], ["a", "bc"], ["abc"]] * 20
    worse = [["a", "bc"], ["a", "bc"], ["abc"]] * 20
    result = paired_bootstrap(
        y, worse, y, score="words", n_resamples=300, random_state=0
    )
    assert (
        result.score_a == pytest.approx(word_f1_score(y, worse))
        and result.score_b == 1.0
    )
    assert result.p_value < 0.01


TRUE = [
    [(0, 3, "PER"), (9, 13, "LOC")],
    [],
    [(0, 4, "LOC")],
    [(0, 20, None), (2, 4, "PER")],
] * 20
WORSE = [[(0, 3, "PER")], [(4, 5, "PER")], [(0, 4, "PER")], [(5, 6, "PER")]] * 20


@pytest.mark.parametrize(
    "kind", [Span._make, tuple, list, lambda span: dict(zip(Span._fields, span))]
)
@pytest.mark.parametrize("score", ["auto", "spans"])
def test_spans_of_texts(kind, score):
    y, worse, better = (
        [list(map(kind, spans)) for spans in corpus] for corpus in (TRUE, WORSE, TRUE)
    )
    for none in (0, 3, 5):  # lists of spans may be of any length, and empty
        better[none] = []
    result = paired_bootstrap(
        y, worse, better, score=score, n_resamples=300, random_state=0
    )
    assert result.score_a == pytest.approx(span_f1_score(y, worse))
    assert result.score_b == pytest.approx(span_f1_score(y, better))
    assert result.score_a < 0.4 < 0.9 < result.score_b < 1 and result.p_value < 0.02
    assert result == paired_bootstrap(
        TRUE, worse, better, n_resamples=300, random_state=0
    )


def test_spans_with_white_space_at_their_ends():
    y, a, b = [[(0, 4, "PER")]] * 30, [[(0, 3, "PER")]] * 30, [[]] * 30
    found = paired_bootstrap(
        y, a, b, texts=["Ann met Bob."] * 30, n_resamples=50, random_state=0
    )
    assert (found.score_a, found.score_b) == (1.0, 0.0)
    assert paired_bootstrap(y, a, b, n_resamples=50).score_a == 0.0
    with pytest.raises(ValueError, match="texts is for spans, got score='accuracy'"):
        paired_bootstrap([["A"]], [["A"]], [["A"]], texts=["A"])


def test_labels_that_are_tuples_are_labels():
    y, other = [[("A", 1, "x"), ("B", 2, "x")]] * 9, [[("A", 1, "x")] * 2] * 9
    assert paired_bootstrap(y, other, y, n_resamples=20)[:2] == (0.5, 1.0)
    y, other = [[(1, 2, "x")] * 2] * 9, [[(1, 2, "x"), (1, 2, "y")]] * 9
    assert paired_bootstrap(y, y, other, score="accuracy", n_resamples=20)[:2] == (
        1.0,
        0.5,
    )


def test_equal_systems(systems):
    y, worse, _ = systems
    result = paired_bootstrap(y, worse, worse, n_resamples=100, random_state=0)
    assert result[2:] == (0.0, 0.0, 0.0, 1.0)


def test_the_other_way_round(systems):
    y, worse, better = systems
    one = paired_bootstrap(y, worse, better, n_resamples=400, random_state=3)
    other = paired_bootstrap(y, better, worse, n_resamples=400, random_state=3)
    assert one.difference == -other.difference
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
    assert one.p_value == other.p_value
    assert one == paired_bootstrap(y, worse, better, n_resamples=400, random_state=3)


def test_luck_is_called_luck():
    # 40 sentences, three of them better and two worse: nobody should believe in that.
    y = [["A"] * 5 for _ in range(40)]
    a = [["B" if i in (0, 1, 2) else "A"] + ["A"] * 4 for i in range(40)]
    b = [["B" if i in (3, 4) else "A"] + ["A"] * 4 for i in range(40)]
    result = paired_bootstrap(y, a, b, n_resamples=2000, random_state=0)
    assert result.low < 0 < result.high and result.p_value > 0.3


def test_p_values_are_right_under_no_difference():
    """Two equally good systems: a test at 10 % rejects about one time in ten."""
    generator = np.random.default_rng(1)
    rejected = 0
    for trial in range(150):
        y = [["A"] * 4 for _ in range(60)]
        a, b = (
            [["B" if generator.random() < 0.2 else "A" for _ in s] for s in y]
            for _ in range(2)
        )
        rejected += (
            paired_bootstrap(y, a, b, n_resamples=300, random_state=trial).p_value < 0.1
        )
    assert 3 <= rejected <= 30


def test_bad_input(systems):
    y, a, b = systems
    with pytest.raises(ValueError, match="score must be one of"):
        paired_bootstrap(y, a, b, score="f1")
    with pytest.raises(ValueError, match="n_resamples"):
        paired_bootstrap(y, a, b, n_resamples=0)
    with pytest.raises(ValueError, match="at least one sequence"):
        paired_bootstrap([], [], [])
    with pytest.raises(
        ValueError, match='sequence 1: .* got 1 and 2; of words, write score="words"'
    ):
        paired_bootstrap([["A"], ["A"]], [["A"], ["A"]], [["A"], ["A", "B"]])


def test_both_systems_are_scored_with_tags_or_without():
    y_true, y_pred_a, y_pred_b = [[("a", "X")]] * 3, [[("a", "Y")]] * 3, [["a"]] * 3
    found = paired_bootstrap(
        y_true, y_pred_a, y_pred_b, score="words", n_resamples=5, random_state=0
    )
    assert (found.score_a, found.score_b) == (1.0, 1.0)
    found = paired_bootstrap(
        y_true, y_pred_a, y_true, score="words", n_resamples=5, random_state=0
    )
    assert (found.score_a, found.score_b) == (0.0, 1.0)


def test_draws_of_groups_have_wider_intervals():
    """Sentences of a document are alike: ten equal ones count as one."""
    from skstruct.metrics.significance import paired_difference

    y_true = [["A", "B"]] * 80
    better = [["A", "A"] if i < 20 or i % 20 < 10 else ["A", "B"] for i in range(80)]
    groups = np.arange(80) // 10
    alone = paired_difference(y_true, better, y_true, random_state=0)
    joined = paired_difference(y_true, better, y_true, groups=groups, random_state=0)
    assert joined.difference == pytest.approx(alone.difference)
    assert joined.high - joined.low > 2 * (alone.high - alone.low)
    own = paired_difference(
        y_true, better, y_true, groups=np.arange(80), random_state=0
    )
    assert own == alone
