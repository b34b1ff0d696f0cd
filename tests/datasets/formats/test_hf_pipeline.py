"""What pipelines of Hugging Face say of texts."""

from skstruct.datasets import read_spans


def entity(start, end, **label):
    return {**label, "score": 0.9, "word": "x", "start": start, "end": end}


def test_groups_and_parts():
    """Parts of words have prefixes, and make one span."""
    text = "Ruth Fox in Lyon"
    grouped = [entity(0, 8, entity_group="PER"), entity(12, 16, entity_group="LOC")]
    parts = [
        entity(0, 4, entity="B-PER"),
        entity(5, 8, entity="I-PER"),
        entity(12, 14, entity="B-LOC"),
        entity(14, 16, entity="I-LOC"),
    ]
    for key, rows in ("entities", grouped), ("ner", parts):
        records = [{"inputs": text, key: rows}, {"inputs": "none", key: []}]
        assert read_spans(records) == (
            [text, "none"],
            [[(0, 8, "PER"), (12, 16, "LOC")], []],
        )
