"""Examples of spaCy: what tells them."""

from skstruct.datasets import read_spans
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.spacy_pairs import SpacyPairs


def test_evidence():
    def score(*records):
        return SpacyPairs().recognise(Head.of_records("source", records)).score

    assert score(["Ann", {"entities": []}]) == 0.9 and score(["Ann"]) == 0.6
    assert score({"text": "Ann"}) == 0.0 == score()


def test_one_pair_may_stand_among_objects():
    records = [{"text": "Bo", "spans": []}, ["Ann", {"entities": [[0, 3, "PER"]]}]]
    assert read_spans(records) == (["Bo", "Ann"], [[], [(0, 3, "PER")]])
