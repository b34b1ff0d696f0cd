"""What formats share whose sentences are JSON objects with lists of tokens."""

import json

import pytest

from skstruct.datasets.formats.entry import labels_alone
from skstruct.datasets.formats.gliner import Gliner
from skstruct.datasets.formats.json_tokens import JsonTokens
from skstruct.datasets.formats.token_records import as_line, line_number


@pytest.mark.parametrize("kind", [Gliner, JsonTokens])
def test_records_are_written_as_they_are(kind):
    records = [{"tokens": ["é", "b"], "id": 1}, {"tokens": []}]
    lines = list(kind().selected([([], record) for record in records]))
    assert [json.loads(line) for line in lines] == records
    assert all(line.count("\n") == 1 and line.endswith("\n") for line in lines)


def test_signs_are_written_as_such():
    assert as_line({"a": "é"}) == '{"a": "é"}\n'


@pytest.mark.parametrize(
    "place, number", [("a.jsonl, line 12", 12), ("a.json, record 3", 1)]
)
def test_the_line_of_a_place(place, number):
    assert line_number(place) == number


def test_labels_alone():
    assert labels_alone(iter([(["D"], []), (["N"], [])]), "it has") == ["D", "N"]
    with pytest.raises(ValueError, match="it has no place for probabilities"):
        labels_alone([(["D"], [("Prob", "0.5")])], "it has")
