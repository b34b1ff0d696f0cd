"""Metrics: values worked out by hand, conlleval counted a second way, and the
errors.
"""

import itertools
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from skstruct import StructuredPerceptron, metrics
from skstruct._data.schemes import labels_to_spans, spans_to_labels
from skstruct.metrics import (
    labeled_attachment_score,
    paired_bootstrap,
    segment_f1_score,
    segment_f1_scorer_for,
    segment_report,
    sequence_accuracy_score,
    token_accuracy_score,
    token_report,
    word_f1_score,
)

LABELED = [token_accuracy_score, sequence_accuracy_score, segment_f1_score]


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def f1(true, pred, **options):
    return segment_f1_score([true.split()], [pred.split()], **options)


# -------------------------------------------------------------------- tokens, sequences
def test_token_accuracy():
    assert token_accuracy_score(
        [["A", "B"], ["A"]], [["A", "A"], ["A"]]
    ) == pytest.approx(2 / 3)
    assert token_accuracy_score([["A"], []], [["A"], []]) == 1.0
    assert token_accuracy_score([[1, 2]], [np.array([1, 2])]) == 1.0


def test_sequence_accuracy():
    assert (
        sequence_accuracy_score([["A", "B"], ["A", "A"]], [["A", "B"], ["B", "A"]])
        == 0.5
    )
    assert (
        sequence_accuracy_score([[], ["A"]], [[], ["B"]]) == 0.0
    )  # the empty one does not count
    assert sequence_accuracy_score((("A",),), [["A"]]) == 1.0


def test_tokens_without_true_label_do_not_count():
    y, said = [["A", None, "B"], (None, None), []], [["A", "A", "A"], ["B", "B"], []]
    assert token_accuracy_score(y, said) == 0.5
    assert token_accuracy_score(y, said, sample_weight=[1, 3, 1]) == 0.5
    assert (
        sequence_accuracy_score(y, said) == 0.0
    )  # the second holds no label, nor does the empty one
    assert sequence_accuracy_score([["A", None]], [["A", "B"]]) == 1.0
    result = paired_bootstrap(
        y, said, [["A", "A", "B"], ["B", "B"], []], n_resamples=10, random_state=0
    )
    assert (result.score_a, result.score_b) == (0.5, 1.0)


def test_token_accuracy_is_what_taggers_say_of_partly_labelled_data():
    X, y = [["a", "b", "c"], ["b", "a"]], [["A", None, "C"], [None, "A"]]
    tagger = StructuredPerceptron(["U:%x[0,0]"], max_iter=2, random_state=0).fit(X, y)
    assert tagger.score(X, y) == token_accuracy_score(y, tagger.predict(X)) == 1.0


@pytest.mark.parametrize("metric", LABELED[:2])
def test_sample_weight(metric):
    t, p = [["A"], ["B", "B"], ["C"]], [["A"], ["B", "A"], ["D"]]
    assert metric(t, p, sample_weight=[1, 0, 0]) == 1.0
    assert metric(t, p, sample_weight=np.array([0, 1, 1])) == metric(t[1:], p[1:])
    assert metric(t, p, sample_weight=[2, 1, 1]) == metric([t[0], *t], [p[0], *p])
    assert type(metric(t, p, sample_weight=[1, 1, 1])) is float
    for bad in ([1, 1], [[1, 1, 1]], [1, -1, 1], [1, np.nan, 1]):
        with pytest.raises(ValueError, match="sample_weight"):
            metric(t, p, sample_weight=bad)


# ----------------------------------------------------------------------------- segments
def test_segment_f1_values():
    assert f1("B-PER I-PER O B-LOC", "B-PER I-PER O O") == pytest.approx(2 / 3)
    assert f1("B-PER I-PER", "B-PER O") == 0.0  # boundary
    assert f1("B-PER I-PER", "B-LOC I-LOC") == 0.0  # type
    assert f1("B-PER B-PER", "B-PER I-PER") == 0.0  # adjacent segments
    assert f1("B I O B", "B I O O") == pytest.approx(2 / 3)  # no types
    assert f1("B-A I-A", "O I-A") == 0.0


def test_segment_f1_reads_malformed_sequences_as_conlleval():
    assert f1("B-A I-A O", "I-A I-A O") == 1.0
    assert f1("B-A B-B", "B-A I-B") == 1.0
    assert f1("B-A I-A O S-B", "B-A E-A O B-B") == 1.0
    assert f1("B-A I-A O", "I-A I-A O", mode="strict") == 0.0
    assert f1("I-A I-A O", "I-A I-A O", mode="strict", scheme="IOB1") == 1.0
    assert f1(
        "B-A E-A S-B", "B-A E-A B-B", mode="strict", scheme="BIOES"
    ) == pytest.approx(2 / 3)


def test_segment_f1_averages():
    true, pred = "B-A O B-A O B-B O", "B-A O O B-C B-B B-B"
    # correct, true, predicted: A 1, 2, 1; B 1, 1, 2; C 0, 0, 1
    assert f1(true, pred) == pytest.approx(4 / 7)
    assert f1(true, pred, average=None) == pytest.approx(
        {"A": 2 / 3, "B": 2 / 3, "C": 0.0}
    )
    assert f1(true, pred, average="macro") == pytest.approx(4 / 9)
    assert f1(true, pred, average="weighted") == pytest.approx(2 / 3)


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
@pytest.mark.parametrize("mode", ["conlleval", "strict"])
def test_segment_f1_without_segments(average, mode):
    with pytest.warns(UndefinedMetricWarning, match="F1 is ill-defined"):
        assert f1("O O", "O O", average=average, mode=mode) == 0.0
    assert f1("O O", "O B-X", average=average, mode=mode) == 0.0
    assert f1("O B-X", "O O", average=average, mode=mode) == 0.0
    assert segment_f1_score([["O"]], [["O"]], average=None, mode=mode) == {}


LABELS = st.sampled_from(
    ["O", *("-".join(pair) for pair in itertools.product("BIES", "XY"))]
)


def conlleval_f1(y_true, y_pred):
    """The script's own way of counting: both sequences in parallel, one token at a
    time.
    """

    def parse(label):
        return (label[0], label[2:])

    def ends(p, k, q, m):
        rules = {"BB", "BS", "BO", "IB", "IS", "IO"}
        return p in "ES" or p + q in rules or (p != "O" and k != m)

    def starts(p, k, q, m):
        rules = {"OI", "OE", "EI", "EE", "SI", "SE"}
        return q in "BS" or p + q in rules or (q != "O" and k != m)

    correct = found_true = found_pred = 0
    for true, pred in zip(y_true, y_pred):
        last_true = last_pred = ("O", "")
        in_correct = False
        for a, b in zip([*map(parse, true), ("O", "")], [*map(parse, pred), ("O", "")]):
            end_true, end_pred = ends(*last_true, *a), ends(*last_pred, *b)
            if in_correct:
                if end_true and end_pred and last_true[1] == last_pred[1]:
                    in_correct = False
                    correct += 1
                elif end_true != end_pred or a[1] != b[1]:
                    in_correct = False
            start_true, start_pred = starts(*last_true, *a), starts(*last_pred, *b)
            in_correct = in_correct or (start_true and start_pred and a[1] == b[1])
            found_true += start_true
            found_pred += start_pred
            last_true, last_pred = a, b
    return 2 * correct / (found_true + found_pred) if found_true + found_pred else 1.0


@given(st.lists(st.lists(st.tuples(LABELS, LABELS), max_size=8), max_size=4))
def test_segment_f1_counts_as_conlleval(pairs):
    y_true = [[a for a, _ in s] for s in pairs]
    y_pred = [[b for _, b in s] for s in pairs]
    assume(any(y_true))
    assert segment_f1_score(y_true, y_pred, zero_division=1.0) == pytest.approx(
        conlleval_f1(y_true, y_pred)
    )
    assert segment_f1_score(y_true, y_true, zero_division=1.0) == 1.0


@given(
    st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=10),
    st.sampled_from(["BIO", "IOB1", "BIOES"]),
)
def test_strict_mode_on_well_formed_sequences_is_the_default(pairs, scheme):
    sides = [[a for a, _ in pairs], [b for _, b in pairs]]
    true, pred = [
        spans_to_labels(labels_to_spans(s, scheme), len(s), scheme) for s in sides
    ]
    given = {"scheme": scheme, "zero_division": 1.0}
    for average in ("micro", "macro", "weighted", None):
        default, strict = (
            segment_f1_score([true], [pred], **given, average=average, mode=mode)
            for mode in ("conlleval", "strict")
        )
        assert default == strict


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_segment_f1_agrees_with_seqeval(average):
    seqeval = pytest.importorskip("seqeval.metrics", reason="seqeval is not installed")
    rng = np.random.default_rng(0)
    y = [
        [str(label) for label in rng.choice(["O", "B-X", "I-X", "B-Y", "I-Y"], 20)]
        for _ in range(60)
    ]
    y = [spans_to_labels(labels_to_spans(s, "BIO"), len(s), "BIO") for s in y]
    expected = seqeval.f1_score(y[:30], y[30:], average=average)
    assert segment_f1_score(y[:30], y[30:], average=average) == pytest.approx(expected)


def test_segment_report():
    y_true, y_pred = [["B-A", "O", "B-A", "B-B"]], [["B-A", "O", "O", "B-C"]]
    report = segment_report(y_true, y_pred, output_dict=True, zero_division=0)
    assert list(report) == ["A", "B", "C", "micro avg", "macro avg", "weighted avg"]
    assert report["A"] == pytest.approx(
        {"precision": 1.0, "recall": 0.5, "f1": 2 / 3, "support": 2}
    )
    assert report["C"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 0}
    assert report["micro avg"] == pytest.approx(
        {"precision": 0.5, "recall": 1 / 3, "f1": 0.4, "support": 3}
    )
    assert report["macro avg"]["f1"] == pytest.approx(2 / 9)
    assert report["weighted avg"]["precision"] == pytest.approx(2 / 3)
    text = segment_report(y_true, y_pred, digits=2, zero_division=0).splitlines()
    assert len(text) == 7
    assert text[0].split() == ["precision", "recall", "f1", "support"]
    assert text[1].split() == ["A", "1.00", "0.50", "0.67", "2"]
    assert len(set(map(len, text))) == 1
    assert "micro avg" in segment_report([["B"]], [["B"]])  # segments without a type


def test_segment_f1_errors():
    for name, value in [("average", "samples"), ("mode", "lenient"), ("scheme", "BIE")]:
        with pytest.raises(ValueError, match=f"{name} must be one of .*{value}"):
            segment_f1_score([["B-X"]], [["B-X"]], **{name: value})
        with pytest.raises(ValueError, match=f"{name} must be one of .*{value}"):
            segment_f1_scorer_for(**{"scheme": "BIO", name: value})
    with pytest.raises(ValueError, match="average"):
        segment_f1_scorer_for("BIO", average=None)
    y = [["O", "O"], ["B-X", "O"]]
    with pytest.raises(ValueError, match="sequence 1, position 1: label 'NN'"):
        segment_f1_score(y, [["O", "O"], ["B-X", "NN"]])
    with pytest.raises(ValueError, match="sequence 1, position 1: label None"):
        segment_f1_score(y, [["O", "O"], ["B-X", None]])
    with pytest.raises(
        ValueError, match="sequence 0, position 1: label 'E-X' .* scheme BIO"
    ):
        segment_report([["B-X", "E-X"]], [["B-X", "E-X"]], mode="strict")


def test_public_names_exist():
    counts = Counter(metrics.__all__)
    assert max(counts.values()) == 1
    assert all(hasattr(metrics, name) for name in counts)
    missing = {*metrics.SCORERS} - {*metrics.SCORING}
    assert sorted(metrics.SCORERS) == sorted(metrics.SCORING), (
        f"skstruct/metrics/__init__.py: {[f'{name}_scorer' for name in missing]} should "
        "stand in __all__ and, for editors, in the import under TYPE_CHECKING"
    )


def test_word_f1_with_weights():
    y_true, y_pred = [["ab", "c"], ["a", "b"]], [["ab", "c"], ["ab"]]
    assert word_f1_score(y_true, y_pred, sample_weight=[1, 0]) == 1.0
    assert word_f1_score(y_true, y_pred, sample_weight=[0, 2]) == 0.0
    assert word_f1_score(y_true, y_pred, sample_weight=[3, 3]) == pytest.approx(
        word_f1_score(y_true, y_pred)
    )
    with pytest.raises(ValueError, match="sequence 1"):
        word_f1_score(y_true, y_pred, sample_weight=[1, -1])


def test_labeled_attachment_needs_labels():
    y = [[(2, "det"), (0, "root")]]
    assert labeled_attachment_score(y, y) == 1.0
    with pytest.raises(ValueError, match="pairs"):
        labeled_attachment_score([[2, 0]], [[2, 0]])


@pytest.mark.parametrize("report", [segment_report, token_report])
def test_reports_refuse_what_they_cannot_write(report):
    y = [["B-A", "O"]]
    for digits in -1, "2", 2.0, None, True:
        with pytest.raises(ValueError, match="digits must be an int of at least 0"):
            report(y, y, digits=digits)
    assert "1.00" in report(y, y, digits=np.int64(2))
    label = "micro avg" if report is token_report else "B-micro avg"
    with pytest.raises(
        ValueError, match="'micro avg' is a label and the name of an av"
    ):
        report([[label, "O"]], [[label, "O"]], output_dict=True)
