"""Paths into records of JSON."""

import pytest

from skstruct.datasets.formats.json_fields import Fields, at, elements_at, first_at
from skstruct.datasets.formats.span_files import AnnotationReader


def test_paths():
    value = {"a": [{"b": 1}], "c.d": 2, "e": [{"f": 1}, {"f": 2}]}
    assert at(value, "a.b") == 1 and at(value, "c.d") == 2 and at(value, "e.1.f") == 2
    assert at(value, "e.f") == [1, 2] and at(value, "e.5.f", None) is None
    assert at({"a": '{"b": [3]}'}, "a.b.0") == 3
    with pytest.raises(KeyError):
        at(value, "x")
    assert list(elements_at([1], None, "p")) == [("p", [1])]


def test_of_several_paths_the_first_that_is_there_counts():
    value = {"b": {"c": 2}, "d": 3}
    assert (
        first_at(value, ("a", "b.c", "d")) == 2 and first_at(value, ("d", "b.c")) == 3
    )


def test_options_name_fields():
    options = AnnotationReader(text="body", start="from", words="tokens")
    named = Fields().named(options)
    assert (named.text, named.start, named.words) == (("body",), ("from",), "tokens")
    assert named.end == Fields().end and named.omits_zero
    assert Fields().named(AnnotationReader()) == Fields()
