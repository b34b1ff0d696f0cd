"""Records of Prodigy: what tells them, and binary decisions."""

import pytest

from skstruct.datasets import read_spans
from skstruct.datasets.formats.entry import Verdict
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.prodigy import Prodigy, is_decision

TEXTS = "Omar sold his Nokia in Lyon.", "Ruth lost her Casio and her Leica."


def decision(i, start, end, answer, **more):
    span = {"start": start, "end": end, "label": "X", "score": 0.5, "source": "m"}
    record = {"text": TEXTS[i], "spans": [span], "_input_hash": i, "answer": answer}
    return {**record, **more}


RECORDS = [
    decision(0, 14, 19, "accept"),
    decision(1, 14, 19, "accept"),
    decision(0, 23, 27, "reject"),
    decision(1, 28, 33, "accept"),
    decision(1, 0, 4, "ignore"),
]


def test_evidence():
    def verdict(**record):
        head = Head.of_records("source", [{"text": "a", "spans": [], **record}])
        return Prodigy().look(head).verdict

    assert verdict(_input_hash=1) is Verdict.MARKED
    assert verdict(answer="accept") is Verdict.FITS
    assert verdict() is Verdict.NO
    assert is_decision(RECORDS[0]) and is_decision({"answer": "x", "_view_id": "ner"})
    assert not is_decision({"answer": "accept", "spans": []})


@pytest.mark.parametrize("view", [{}, {"_view_id": "ner"}])
def test_decisions_on_a_text_are_one_record(view):
    """What is accepted is known, the rest is not; what is rejected may be known,
    too.
    """
    records = [{**record, **view} for record in RECORDS]
    with pytest.warns(UserWarning, match=r"1 record \(ignored\).*1 span \(rejected \("):
        X, y = read_spans(records)
    assert X == list(TEXTS)
    assert y == [
        [(14, 19, "X"), (0, 28, None)],
        [(14, 19, "X"), (28, 33, "X"), (0, 34, None)],
    ]
    with pytest.warns(
        UserWarning, match=r"left out: 1 record \(ignored\), first record \d+$"
    ):
        X, y = read_spans(records, rejected="outside")
    assert y[0] == [(0, 14, None), (14, 19, "X"), (19, 23, None), (27, 28, None)]
    assert y[1] == [(14, 19, "X"), (28, 33, "X"), (0, 34, None)]


def test_what_was_accepted_elsewhere_is_not_rejected():
    records = [decision(0, 14, 19, "accept"), decision(0, 14, 19, "reject")]
    X, y = read_spans(records, "prodigy-decisions", rejected="outside")
    assert y == [[(14, 19, "X"), (0, 28, None)]]


def record(**more):
    given = {"text": "Ann ran", "_input_hash": 1, "answer": "accept"}
    return given | more


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"_view_id": "classification", "label": "NEWS"}, "of the view 'classific"),
        ({"_view_id": "choice", "accept": [1]}, "of the view 'choice'"),
        ({"label": "NEWS"}, "of another interface"),
        ({"options": [{"id": 1}], "accept": [1]}, "of another interface"),
        ({"answer": "ignore"}, "ignored"),
        ({"answer": "reject"}, "rejected"),
    ],
)
def test_records_of_other_interfaces_are_left_out_and_said(other, why):
    spans = [{"start": 0, "end": 3, "label": "PER"}]
    given = [record(spans=spans), {**record(_input_hash=2), **other}]
    with pytest.warns(
        UserWarning, match=rf"left out: 1 record \({why}.*first record 1"
    ):
        assert read_spans(given) == (["Ann ran"], [[(0, 3, "PER")]])


def test_an_answer_beside_other_spans_is_not_that_of_prodigy():
    """Questions have answers, too."""
    line = {"text": "Ann ran", "label": [[0, 3, "PER"]], "answer": "ignore"}
    assert read_spans([line])[1] == [[(0, 3, "PER")]]


def test_a_text_without_spans_has_no_list():
    tokens = [{"text": "Ann", "start": 0, "end": 3, "id": 0}]
    assert read_spans([record(tokens=tokens)]) == (["Ann ran"], [[]])
