"""Findings: where they are, how they print, and what a list of them sums up to."""

import pickle

import pytest

from skstruct.inspection import Finding, Findings, Where
from skstruct.inspection.findings import as_places


def test_a_place_in_words():
    assert str(Where("a.json", 259, 17)) == "a.json, record 259, id 17"
    assert str(Where("a.jsonl", 2, None, 3)) == "a.jsonl, line 3"
    assert str(Where()) == ""
    assert Finding(4, 0, 3, "PER", None).place == "sequence 4"


def test_places_are_one_for_each_sequence():
    given = [Where("a"), {"id": 7, "record": 3, "meta": "more"}]
    assert as_places(given, 2) == [Where("a"), Where(None, 3, 7)]
    assert as_places(None, 1) == [Where()]
    with pytest.raises(ValueError, match="each of the 3 sequences, got 2"):
        as_places(given, 3)


def test_a_list_says_what_it_holds():
    where = Where("notes.json", 259, 17)
    found = Findings(
        [
            Finding(0, 0, 3, "PER", "LOC", 0.9, 0.8, "other type", 0.8, "[Ann]", where),
            Finding(1, 4, 6, None, "LOC", 0.7, 0.4, "missing", 0.4, "in [UK]"),
        ]
    )
    assert found.expected() == pytest.approx(1.2)
    assert found.summary() == (
        "2 findings: 1 other type, 1 missing; about 1 of these are probably errors; "
        "others may be missed"
    )
    assert list(found.by_kind()) == ["other type", "missing"]
    assert "0.800  notes.json, record 259, id 17, 0-3: other type: PER -> LOC" in str(
        found
    )
    page = found.to_html("notes.json")
    assert "<title>notes.json</title>" in page and "record 259, id 17" in page
    assert "the probability that the annotation is wrong" in page
    again = pickle.loads(pickle.dumps(found))
    assert again == found and again[:1].summary().startswith("1 finding:")
    assert (
        found[1:]
        .summary()
        .endswith("; fewer than one of these are probably errors; others may be missed")
    )


def test_a_list_ends_where_the_errors_end():
    def some(*chances):
        return Findings(
            [Finding(i, 0, 1, "A", "B", chance=p) for i, p in enumerate(chances)]
        )

    many = some(*[0.9] * 5, *[0.01] * 40)
    assert len(many.likely()) == 5 and many.likely().expected() == pytest.approx(4.5)
    assert len(some(0.9, 0.9, 0.2).likely()) == 3  # few more than are expected
    assert some(*[0.01] * 20).likely() == [] == some().likely()
