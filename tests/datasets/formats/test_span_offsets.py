"""What the offsets of a file count: characters, or units of UTF-16."""

import json

import pytest

from skstruct.datasets import iter_spans, read_spans, to_utf16

LATIN = (
    ["🚒 Ann lives in Rome.", "Oslo 🚒 calls Bo, twice", "no fire in Bern"],
    [
        [(2, 5, "PER"), (15, 19, "LOC")],
        [(0, 4, "LOC"), (13, 15, "PER")],
        [(11, 15, "LOC")],
    ],
)
CHINESE = (
    ["🚒在北京大学", "上海🚒有大学"],
    [[(2, 4, "LOC")], [(0, 2, "LOC"), (4, 6, "ORG")]],
)


def doccano(X, y):
    return [
        {"text": text, "label": [list(span) for span in spans]}
        for text, spans in zip(X, y)
    ]


def spacy(X, y):
    return [[text, {"entities": spans}] for text, spans in zip(X, y)]


def saying(X, y):
    """Records whose spans say what they cover."""
    rows = [
        [{"start": s, "end": e, "label": label, "text": x[s:e]} for s, e, label in row]
        for x, row in zip(X, y)
    ]
    return [{"text": text, "spans": row} for text, row in zip(X, rows)]


def covered(X, y):
    return [
        [(text[start:end], label) for start, end, label in spans]
        for text, spans in zip(X, y)
    ]


@pytest.mark.filterwarnings("error")
def test_the_text_of_a_span_decides():
    for start in (5, 6):  # characters, then UTF-16 units
        found = read_spans(
            [
                {
                    "text": "🚒 in Rome",
                    "spans": [
                        {
                            "start": start,
                            "end": start + 4,
                            "label": "LOC",
                            "text": "Rome",
                        }
                    ],
                }
            ]
        )
        assert found == (["🚒 in Rome"], [[(5, 9, "LOC")]])


@pytest.mark.filterwarnings("error")
def test_white_space_in_the_text_of_a_span_does_not_count():
    text = "New\r\nYork  City \\n"  # Label Studio writes a line break as a backslash and an n
    values = [
        {"start": 0, "end": 15, "labels": ["LOC"], "text": "New\\n\\nYork City"},
        {"start": 16, "end": 18, "labels": ["X"], "text": "\\n"},
    ]
    result = [{"type": "labels", "value": value} for value in values]
    record = {"id": 7, "data": {"text": text}, "annotations": [{"result": result}]}
    assert covered(*read_spans([record])) == [
        [("New\r\nYork  City", "LOC"), ("\\n", "X")]
    ]


def shifted(records, shift):
    """Records whose offsets, but 0, are moved."""
    return [
        {
            "text": record["text"],
            "label": [
                [start - shift * (start > 0), end - shift * (start > 0), label]
                for start, end, label in record["label"]
            ],
        }
        for record in records
    ]


WORDS_OF_UTF_16 = [
    {"text": "no fire", "label": []},
    {"text": "🚒 Ann in Rome today", "label": [[3, 6, "PER"], [10, 14, "LOC"]]},
    {"text": "Oslo 🚒 calls Bo, twice", "label": [[0, 4, "LOC"], [14, 16, "PER"]]},
    {"text": "🚒 Eve", "label": [[3, 6, "PER"]]},
]
COVERED = [
    [],
    [("Ann", "PER"), ("Rome", "LOC")],
    [("Oslo", "LOC"), ("Bo", "PER")],
    [("Eve", "PER")],
]


@pytest.mark.filterwarnings("error")
def test_words_decide_where_no_text_does():
    """Four spans behind an emoji have eight ends: that is more than chance."""
    rows = shifted(WORDS_OF_UTF_16, 1)
    assert covered(*read_spans(rows)) == COVERED  # a clean file is not spoken of
    assert covered(*read_spans(rows, offsets="utf-16"))[1] == [
        (" An", "PER"),
        (" Rom", "LOC"),
    ]


@pytest.mark.parametrize("ends", ["auto", "exclusive"])
def test_words_of_another_unit_are_told(ends):
    told = "source: 5 of 5 spans are whole words if offsets count UTF-16 units, and 1"
    rows = [*WORDS_OF_UTF_16[:3], {"text": "🚒 Eve!", "label": [[3, 6, "PER"]]}]
    with pytest.warns(UserWarning, match=told):
        assert covered(*read_spans(rows, ends=ends)) == COVERED


def test_few_words_decide_nothing():
    with pytest.warns(UserWarning, match="read as characters, which the ends of"):
        X, y = read_spans(WORDS_OF_UTF_16[:3])
    assert covered(X, y)[1] == [("nn ", "PER"), ("ome ", "LOC")]


@pytest.mark.filterwarnings("error")
def test_an_offset_beyond_the_characters_decides():
    assert covered(*read_spans([{"text": "a 🚒🚒 b", "label": [[7, 8, "X"]]}])) == [
        [("b", "X")]
    ]
    # and nothing has to be decided where both say the same
    assert covered(*read_spans([{"text": "ab 🚒", "label": [[0, 1, "X"]]}])) == [
        [("a", "X")]
    ]


@pytest.mark.filterwarnings("error")
def test_prodigy_and_spacy_count_characters():
    # where both units are possible, also if the ends of words speak for the other
    rows = [("🚒 in Rome!", {"entities": [(6, 10, "LOC")]})]
    assert covered(*read_spans(rows)) == [[("ome!", "LOC")]]
    rows = [
        {
            "text": "🚒 in Rome!",
            "answer": "accept",
            "spans": [{"start": 6, "end": 10, "label": "LOC"}],
        }
    ]
    assert covered(*read_spans(rows)) == [[("ome!", "LOC")]]
    assert covered(*read_spans(rows, offsets="utf-16")) == [[("Rome", "LOC")]]


# --------------------------------------------------------------------------------------
# One record that fits the other unit only
# --------------------------------------------------------------------------------------
BEYOND = {
    "text": "🚒 Bob in Oslo",
    "label": [[2, 5, "PER"], [9, 14, "LOC"]],
}  # one too far
INSIDE = {
    "text": "Bob 🚒in Oslo",
    "label": [[5, 7, "X"]],
}  # in UTF-16 it begins within the emoji


@pytest.mark.filterwarnings("error", "ignore:.*do not prove")
@pytest.mark.parametrize("at", [0, 100, 600])
@pytest.mark.parametrize(
    "records",
    [
        doccano(LATIN[0] * 200, LATIN[1] * 200),
        doccano(CHINESE[0] * 300, CHINESE[1] * 300),
        spacy(LATIN[0] * 200, LATIN[1] * 200),
        saying(LATIN[0] * 200, LATIN[1] * 200),
    ],
    ids=["latin", "chinese", "spacy", "saying"],
)
def test_one_span_too_far_does_not_move_all_others(records, at, tmp_path):
    odd = (
        [BEYOND["text"], {"entities": BEYOND["label"]}]
        if isinstance(records[0], list)
        else BEYOND
    )
    path = tmp_path / "notes.jsonl"
    path.write_text(
        "".join(
            json.dumps(record) + "\n" for record in [*records[:at], odd, *records[at:]]
        )
    )
    for read in (read_spans, lambda path: list(iter_spans(path))):
        with pytest.raises(ValueError) as caught:
            read(path)
        untold = isinstance(records[0], dict) and records[0]["text"] in CHINESE[0]
        said = (
            "the unit of other records is unknown"
            if untold
            else "other records count characters"
        )
        assert str(caught.value) == (
            f"{path}, line {at + 1}, span 1: (9, 14, 'LOC') leaves the text, which has 13 characters; in "
            "UTF-16 units it has 14; in UTF-16 units the spans of this record are ' Bo', ' Oslo', but "
            f"{said}: correct the record, or pass offsets='utf-16' if all records count these"
        )


@pytest.mark.filterwarnings("ignore:.*whole words if")
def test_a_span_within_a_character_does_not_move_all_others():
    X, y = LATIN[0] * 20, LATIN[1] * 20
    for odd in (INSIDE, {**INSIDE, "label": [[5, 7, "X"], [8, 12, "LOC"]]}):
        rows = [odd, *doccano(X, to_utf16(X, y))]
        with pytest.raises(
            ValueError, match=r"record 0, span 0: \(5, 7, 'X'\) begins between .*'in'"
        ):
            read_spans(rows)
        with pytest.raises(ValueError, match="record 0"):
            read_spans(rows, offsets="utf-16")
        assert covered(*read_spans(rows, offsets="characters"))[0][0] == ("in", "X")


@pytest.mark.filterwarnings("error")
def test_a_text_that_fits_the_other_unit_is_named():
    X, y = LATIN[0] * 20, LATIN[1] * 20
    rows = saying(X, y)
    rows[33]["spans"] = [{"start": 3, "end": 6, "label": "PER", "text": "Ann"}]
    with pytest.raises(
        ValueError,
        match="record 33, span 0: .* is 'nn ', but the file says 'Ann'; in UTF-16 .*'Ann'",
    ):
        read_spans(rows)
    rows[33]["spans"][0]["text"] = "Bob"  # what is wrong in both is named as such
    with pytest.raises(
        ValueError, match="record 33, span 0: .* is 'nn ', but the file says 'Bob'$"
    ):
        read_spans(rows)


def test_bounds_decide_where_words_tell_nothing():
    """Where each character is a word, one record in ten that fits one unit only is
    proof.
    """
    X, y = [CHINESE[0][0]] * 9 + ["🚒大学"], [CHINESE[1][0]] * 9 + [[(1, 3, "ORG")]]
    told = "1 of 10 spans are whole words if offsets count UTF-16 units, and 0 if not"
    with pytest.warns(UserWarning, match=told):
        assert read_spans(doccano(X, to_utf16(X, y))) == (X, y)


@pytest.mark.filterwarnings("error")
def test_words_and_bounds_that_agree_need_no_warning():
    X, y = [*LATIN[0], "🚒 Bern"], [*LATIN[1], [(2, 6, "LOC")]]
    assert read_spans(doccano(X, to_utf16(X, y))) == (X, y)


def test_what_nothing_tells_is_not_said():
    """Texts without spaces have no ends of words that would tell what offsets count."""
    untold = [
        {"text": f"今天🎉我在北京市{k}区", "label": [[6, 9, "LOC"]]}
        for k in "甲乙丙丁" * 10
    ]
    odd = {"text": "🎉北京", "label": [[2, 4, "LOC"]]}
    with pytest.raises(
        ValueError, match="the unit of other records is unknown: .* offsets='utf-16'"
    ):
        read_spans([*untold, odd])


@pytest.mark.parametrize("text", ["Ann and Bob Lee ran.", "Zoë 🚒 and Bob Lee"])
def test_no_unit_is_named_where_offsets_are_not_what_is_wrong(text, tmp_path):
    """A span of several parts is an error in every unit."""
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    row = f"T1\tPER 0 3;12 15\t{text[:3]} {text[12:15]}\n"
    (tmp_path / "a.ann").write_text(row, encoding="utf-8")
    with pytest.raises(ValueError, match="is discontinuous") as told:
        read_spans(tmp_path)
    assert "units" not in str(told.value)
