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
