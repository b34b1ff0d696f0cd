"""Offsets in UTF-16 units and in characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct._data.spans import Span
from skstruct.datasets import from_utf16, to_utf16

TEXTS = st.text("a é€🚒👨\u200d\U0010ffff\ud83d\n", max_size=12)


@st.composite
def texts_and_spans(draw):
    X = draw(st.lists(TEXTS, max_size=4))
    edges = [st.tuples(*[st.integers(0, len(text))] * 2).map(sorted) for text in X]
    return X, [
        [
            (*e, draw(st.sampled_from(["A", None])))
            for e in draw(st.lists(each, max_size=4))
        ]
        for each in edges
    ]


@given(texts_and_spans())
def test_there_and_back(given):
    X, y = given
    units = to_utf16(X, y)
    for text, spans, found in zip(X, y, units):
        encoded = text.encode("utf-16-le", "surrogatepass")
        for (start, end, label), unit in zip(spans, found):
            part = encoded[2 * unit.start : 2 * unit.end]
            assert (
                part == text[start:end].encode("utf-16-le", "surrogatepass")
                and unit.label == label
            )
    assert from_utf16(X, units) == y


def test_examples_of_the_trackers():
    text = "👨🏻‍🚒 firemen drive firetrucks at work"
    assert (
        from_utf16([text], [[(22, 32, "X")]]) == [[(19, 29, "X")]]
        and text[19:29] == "firetrucks"
    )
    ((span,),) = from_utf16(
        ["💩This is an annotation."], [[{"start": 13, "end": 23, "label": "X"}]]
    )
    assert type(span) is Span and span == (12, 22, "X")


@pytest.mark.parametrize(
    ("span", "message"),
    [
        (
            (0, 9, "A"),
            r"y: sequence 1, position 0: \(0, 9, 'A'\) leaves the text, which has 4 UTF-16 units",
        ),
        ((-1, 1, "A"), r"\(-1, 1, 'A'\) leaves the text"),
        (
            (2, 4, "A"),
            r"\(2, 4, 'A'\) begins between the two UTF-16 units of a character",
        ),
        ((0, 2, "A"), r"\(0, 2, 'A'\) ends between the two"),
        ((3, 1, "A"), "ends before it begins"),
        ((1.0, 3, "A"), "start and end must be ints, got float 1.0"),
        ((0, 10**30, "A"), "leaves the text"),
    ],
)
def test_refused(span, message):
    with pytest.raises(ValueError, match=message):
        from_utf16(["ab", "a🚒c"], [[], [span]])


def test_lengths():
    with pytest.raises(ValueError, match="X has 2 texts, y has 1 lists of spans"):
        from_utf16(["a", "b"], [[]])
