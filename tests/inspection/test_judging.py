"""Sentences in columns as texts with spans."""

import pytest

from skstruct import L1CRF, Span
from skstruct.inspection.findings import Finding
from skstruct.inspection.judging import (
    in_tokens,
    judge_sentences,
    judged_out_of_fold,
    segment_scheme,
)

X = [[("Ann", "N"), ("saw", "V"), ("New", "N"), ("York", "N")], [("Rome", "N")]] * 4
Y = [["B-PER", "O", "B-LOC", "I-LOC"], ["B-LOC"]] * 4


@pytest.mark.parametrize(
    ("labels", "scheme"),
    [
        (["B-PER", "O"], "BIO"),
        (["I-PER", "I-LOC"], "BIO"),
        (["S-PER", "O"], "BIOES"),
        (["U-PER", "L-PER"], "BILOU"),
        (["B-X", "M-X"], "BMES"),
        (["B", "I"], None),  # without types: words, say
        (["NN", "O"], None),
        ([None, {"B-PER", "O"}], None),
    ],
)
def test_labels_that_are_segments(labels, scheme):
    assert segment_scheme([labels]) == scheme


def test_a_sentence_is_a_text():
    y = [*Y[:6], [None, {"O", "B-PER"}, "B-LOC", "I-LOC"], ["B-LOC"]]

    def look(*fold):
        return judge_sentences("BIO", *fold)

    found = judged_out_of_fold(look, L1CRF(random_state=0), X, y, 2, None, None)
    assert found[0].text == "Ann saw New York" and found[0].tokens[-1] == (12, 16)
    assert found[0].spans == [Span(0, 3, "PER"), Span(8, 16, "LOC")]
    assert found[0].inside.shape == (4,) and {each.fold for each in found} == {0, 1}
    assert (found[0].spans[1]) in [span for span, p in found[0].found if p > 0.5]
    # what is not known, or not for certain, is not annotated
    assert found[6].spans == [Span(0, 3, None), Span(4, 7, None), Span(8, 16, "LOC")]
    place = Finding(0, 12, 16, "LOC", "LOC", kind="other boundary", other=(8, 16))
    of_tokens = in_tokens(place, found[0])
    assert (of_tokens.start, of_tokens.end, of_tokens.other) == (3, 4, (2, 4))
    assert of_tokens.text == "Ann saw New [York]"
