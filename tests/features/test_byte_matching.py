"""Wapiti's regular expressions against those of Python."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct.features.byte_matching import LONGEST, ByteExpression

ELEMENT = st.sampled_from([b"a", b"b", b".", b"\\d", b"\\D", b"\\u", b"\\.", b"\\a"])
REPEATED = st.tuples(ELEMENT, st.sampled_from([b"", b"*", b"?"]))
VALUE = st.text("abA1.", max_size=6).map(str.encode)
PYTHON = {b"\\u": b"[A-Z]", b"\\a": b"[A-Za-z]", b"\\D": b"[^0-9]"}


def in_python(elements, at_start, at_end):
    parts = [
        PYTHON.get(element, element) + {b"*": b"*?"}.get(again, again)
        for element, again in elements
    ]
    text = b"^" * at_start + b"".join(parts) + rb"\Z" * at_end
    return re.compile(text, re.DOTALL)


@given(st.lists(REPEATED, max_size=4), st.booleans(), st.booleans(), VALUE)
def test_the_first_match_is_that_of_python(elements, at_start, at_end, value):
    text = b"".join(element + again for element, again in elements)
    found = ByteExpression(b"^" * at_start + text + b"$" * at_end).match(value)
    expected = in_python(elements, at_start, at_end).search(value)
    assert (found is None) == (expected is None)
    if found is not None:
        assert found[0] == expected.start()
        if all(again != b"?" for _, again in elements):
            assert found[1] == len(expected.group())


@pytest.mark.parametrize(
    ("text", "value", "found"),
    [
        (b"a*", b"aaa", (0, 0)),  # as few as possible
        (b"a*$", b"baaa", (1, 3)),
        (b"a?", b"aaa", (0, 1)),  # one if it can
        (b"^b", b"ab", None),
        (b"$", b"ab", (2, 0)),
        (b"\\$", b"a$", (1, 1)),
        (b"", b"ab", (0, 0)),
        (b"\\P", b".a", (1, 1)),
        (b".", "é".encode(), (0, 1)),  # bytes, not characters
    ],
)
def test_matches(text, value, found):
    assert ByteExpression(text).match(value) == found


def test_what_is_no_expression():
    with pytest.raises(ValueError, match="ends in a backslash"):
        ByteExpression(b"a\\")
    with pytest.raises(ValueError, match=f"201 elements, above {LONGEST}"):
        ByteExpression(b"a" * (LONGEST + 1))
