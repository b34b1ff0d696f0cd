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


def test_parts_apart_are_two_spans_and_o_is_none():
    text = "Ruth met Eva. Later came Fox."
    rows = [
        entity(0, 4, entity="B-PER"),
        entity(5, 8, entity="O"),
        entity(25, 28, entity="I-PER"),
    ]
    assert read_spans([{"text": text, "entities": rows}])[1] == [
        [(0, 4, "PER"), (25, 28, "PER")]
    ]
    numbered = [
        {**entity(0, 4, entity="B-PER"), "index": 1},
        {**entity(5, 8, entity="I-PER"), "index": 2},
        {**entity(9, 12, entity="I-PER"), "index": 7},
    ]
    assert read_spans([{"text": text, "entities": numbered}])[1] == [
        [(0, 8, "PER"), (9, 12, "PER")]
    ]
