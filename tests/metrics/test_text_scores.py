"""Scores of spans: against the definition, span by span."""

import random

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from skstruct.metrics import SCORERS, span_f1_score, span_f1_scorer, span_report
from skstruct.metrics.task_scores import scores_of


def corpora(n=50):
    """True and predicted spans, some of them twice, some places not annotated."""
    rng = random.Random(0)

    def spans(labels):
        starts = (rng.randrange(20) for _ in range(rng.randrange(6)))
        return [(a, a + rng.randrange(1, 4), rng.choice(labels)) for a in starts]

    true = [spans(["A", "B", None]) for _ in range(n)]
    pred = [
        [s for s in t if s[2] and rng.random() < 0.7] + spans(["A", "B", "C"])
        for t in true
    ]
    return true, pred


def counts_of(true, pred, label):
    """(correct, true, predicted) of the spans with a label."""
    blank = [s for s in true if s[2] is None]
    true = {s for s in true if s[2] == label}
    pred = {s for s in pred if s[2] == label}
    pred = {
        s for s in pred if s in true or all(s[1] <= b[0] or b[1] <= s[0] for b in blank)
    }
    return len(true & pred), len(true), len(pred)


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_the_definition(weighted):
    true, pred = corpora()
    weight = (
        np.random.default_rng(0).integers(0, 3, len(true))
        if weighted
        else np.ones(len(true))
    )
    counts = {
        c: weight @ [counts_of(t, p, c) for t, p in zip(true, pred)] for c in "ABC"
    }
    given = {"sample_weight": weight} if weighted else {}
    f1 = {
        c: 2 * correct / (n_true + n_pred)
        for c, (correct, n_true, n_pred) in counts.items()
    }
    assert span_f1_score(true, pred, average=None, **given) == pytest.approx(f1)
    correct, n_true, n_pred = sum(counts.values())
    assert span_f1_score(true, pred, **given) == pytest.approx(
        2 * correct / (n_true + n_pred)
    )
    assert span_f1_score(true, pred, average="macro", **given) == pytest.approx(
        sum(f1.values()) / 3
    )
    support = {c: n for c, (_, n, _) in counts.items()}
    mean = sum(f1[c] * support[c] for c in "ABC") / sum(support.values())
    assert span_f1_score(true, pred, average="weighted", **given) == pytest.approx(mean)
    lines = [line.split() for line in span_report(true, pred, **given).splitlines()]
    assert lines[0] == ["precision", "recall", "f1", "support"]
    for line, c in zip(lines[1:], "ABC"):
        assert line[0] == c and float(line[3]) == pytest.approx(f1[c], abs=1e-4)
        assert float(line[4]) == support[c]


def test_nothing_to_find():
    for nothing in ([[], []], [[], []]), ([[(0, 9, None)]], [[(2, 3, "A")]]):
        with pytest.warns(UndefinedMetricWarning):
            assert span_f1_score(*nothing) == 0.0
        assert span_f1_score(*nothing, zero_division=1.0) == 1.0
    assert (
        span_f1_score([[(0, 9, None), (2, 3, "A")]], [[(2, 3, "A"), (4, 5, "A")]])
        == 1.0
    )
    assert SCORERS["span_f1"] is span_f1_scorer


@pytest.mark.parametrize(
    "true, pred, message",
    [
        ([[]], [[], []], "y_true and y_pred must have as many sequences: got 1 and 2"),
        (
            [[(0, 1)]],
            [[]],
            r"y_true: sequence 0, position 0: expected \(start, end, label\), got tuple",
        ),
        (
            [[]],
            [[(3, 1, "A")]],
            r"y_pred: sequence 0, position 0: \(3, 1, 'A'\) ends before it begins",
        ),
    ],
)
def test_errors(true, pred, message):
    for score in (span_f1_score, span_report):
        with pytest.raises(ValueError, match=message):
            score(true, pred)
    with pytest.raises(ValueError, match="average must be one of"):
        span_f1_score([[]], [[]], average="samples")


BINARY = [(0, 3, "PER"), (0, 20, None)]  # a binary question of Prodigy


def test_predictions_without_a_label_do_not_count():
    """A file of Prodigy's binary questions as predictions: rejected spans, and what was
    not asked.
    """
    true = [[(0, 3, "PER"), (8, 12, "LOC")], [(0, 3, "PER")]]
    for nothing in ([(0, 3, None)], [(0, 3, None), (4, 5, None)]):
        assert (
            span_f1_score(true, [BINARY, nothing])
            == span_f1_score(true, [BINARY[:1], []])
            == 0.5
        )
        assert span_f1_score(true, [BINARY, nothing], average=None) == {
            "LOC": 0.0,
            "PER": pytest.approx(2 / 3),
        }
        assert span_report(true, [BINARY, nothing]) == span_report(
            true, [BINARY[:1], []]
        )
    assert span_f1_score([BINARY], [BINARY]) == 1.0
    assert span_f1_score([[]], [BINARY[1:]], zero_division=1.0) == 1.0
    found = scores_of("spans", ["Ann came to Rome, no?"], [BINARY], [BINARY])
    assert found.amounts["spans"] == 1 and found.overall["f1"].value == 1.0


TEXTS = ["Ann met Bob Lee.", "Rome \n"]
SLOPPY = [[(0, 4, "PER"), (7, 16, "PER")], [(0, 6, "LOC")]]
EXACT = [[(0, 3, "PER"), (8, 16, "PER")], [(0, 4, "LOC")]]


def test_texts_take_white_space_off():
    assert span_f1_score(SLOPPY, EXACT) == 0.0
    assert (
        span_f1_score(SLOPPY, EXACT, texts=TEXTS)
        == span_f1_score(EXACT, SLOPPY, texts=TEXTS)
        == 1.0
    )
    assert span_report(SLOPPY, EXACT, texts=TEXTS) == span_report(EXACT, EXACT)
    with pytest.raises(
        ValueError,
        match=r"y_pred: sequence 0, position 0: \(0, 99, 'A'\) leaves the text",
    ):
        span_f1_score(SLOPPY, [[(0, 99, "A")], []], texts=TEXTS)
    with pytest.raises(
        ValueError, match="texts must be a list of texts, got str 'Ann'"
    ):
        span_f1_score(SLOPPY, EXACT, texts="Ann")


def test_texts_of_which_nothing_is_annotated():
    """As ``SpanTagger.score`` says; a text of weight 0 does not count."""
    blank = [[(0, 16, None)], [(0, 6, None)]]
    for score in (span_f1_score, span_report):
        with pytest.raises(ValueError, match="nothing to score: y_true says that no"):
            score(blank, EXACT, texts=TEXTS)
    half = [blank[0], EXACT[1]]
    assert span_f1_score(half, EXACT, texts=TEXTS) == 1.0
    with pytest.raises(ValueError, match="no part of a text is annotated"):
        span_f1_score(half, EXACT, texts=TEXTS, sample_weight=[1, 0])
    nothing = [[], []]  # there are none
    assert span_f1_score(nothing, nothing, texts=TEXTS, zero_division=1.0) == 1.0


@pytest.mark.parametrize(
    "y", [[{"entities": [(0, 3, "PER")]}], {"entities": [(0, 3, "PER")]}]
)
def test_spans_in_dicts(y):
    """As spaCy's examples hold them."""
    write = r"y_true: sequence 0: expected a list of spans, got dict .*; write y_true = \[.*\['entities'\]"
    for score in (span_f1_score, span_report):
        with pytest.raises(ValueError, match=write):
            score(y, [[]])
    with pytest.raises(
        ValueError, match="y_pred: sequence 0: expected a list of spans"
    ):
        span_f1_score([[]], y)


def test_a_report_shows_all_digits_of_a_count():
    spans = [[(k, k + 1, "A") for k in range(12)]]
    assert (
        span_report(spans, spans, sample_weight=[102_881])
        .splitlines()[1]
        .endswith(" 1234572")
    )
