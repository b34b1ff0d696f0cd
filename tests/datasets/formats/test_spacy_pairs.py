"""Examples of spaCy: what tells them."""

from skstruct.datasets import read_spans
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.spacy_pairs import SpacyPairs


def test_evidence():
    def is_yes(*records):
        return SpacyPairs().look(Head.of_records("source", records)).is_yes

    assert is_yes(["Ann", {"entities": []}]) and is_yes(["Ann"])
    assert not is_yes({"text": "Ann"}) and not is_yes()


def test_one_pair_may_stand_among_objects():
    records = [{"text": "Bo", "spans": []}, ["Ann", {"entities": [[0, 3, "PER"]]}]]
    assert read_spans(records) == (["Bo", "Ann"], [[], [(0, 3, "PER")]])
