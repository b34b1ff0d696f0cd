"""The records of the page that annotates: files, units, ends of lines, odd lines."""

import io
import json
import warnings

import pytest
from one_file_cases import needs_node
from page_records import one, ran, saved

from skstruct.datasets import read_spans, to_utf16
from skstruct.datasets.formats.span_records import SPAN_KEYS

pytestmark = needs_node


# -- files ---------------------------------------------------------------------------------------------
def test_what_a_line_holds_besides_stays():
    """Numbers beyond 2^53, other fields of spans and of lines, and ends of lines."""
    line = '{"id": 9007199254740993123, "text": "Ann in Rome", "entities": [{"id": 18446744073709551617, '
    line += '"label": "PER", "start_offset": 0, "end_offset": 3, "by": "Bo"}], "z": 1.0}\r\n'
    assert saved(line) == line
    assert saved(line, ["relabel", 0, 0, "ORG"]) == line.replace("PER", "ORG")
    both = saved(line, ["mark", 0, 7, 11, "LOC"])
    assert both == line.replace(
        "}]", '}, {"start_offset": 7, "end_offset": 11, "label": "LOC"}]'
    )
    assert saved(line, ["mark", 0, 7, 11, "LOC"], ["remove", 0, 1]) == line
    assert saved(line, ["accept", 0]) == line.replace(
        "1.0}", '1.0, "answer": "accept"}'
    )


@pytest.mark.parametrize("key", SPAN_KEYS)
def test_the_keys_that_are_read(key):
    line = json.dumps({"text": "Ann in Rome", key: [[7, 11, "LOC"]]}) + "\n"
    _, spans = one(line)["spans"][0]
    assert [(span["covers"], span["label"]) for span in spans] == [("Rome", "LOC")]
    assert saved(line, ["mark", 0, 0, 3, "PER"]) == line.replace(
        "[[", '[[0, 3, "PER"], ['
    )


def test_predictions_say_that_nobody_has_reviewed_them():
    lines = '{"text": "Ann"}\n{"text": "Bob", "reviewed": false, "spans": []}\n'
    found = saved(lines, ["all"], ["accept", 1]).splitlines()
    rows = [{"start": 0, "end": 3, "label": "M", "text": "Ann"}]
    assert list(map(json.loads, found)) == [
        {"text": "Ann", "spans": rows, "reviewed": False}, {"text": "Bob", "spans": [], "answer": "accept"},
    ]  # fmt: skip
    accepted = saved(lines, ["accept", 0]).splitlines()[0]
    assert json.loads(accepted) == {"text": "Ann", "spans": rows, "answer": "accept"}


ODD = {
    "ends beyond the text": '{"text": "Ann", "spans": [[0, 4, "PER"]]}',
    "covers another text": '{"text": "Ann", "spans": [{"start": 0, "end": 2, "label": "A", "text": "Ann"}]}',
    "overlaps": '{"text": "Ann Lee", "spans": [[0, 3, "PER"], [2, 7, "PER"]]}',
    "has a number as label": '{"text": "Ann", "spans": [[0, 3, 1]]}',
    "was rejected": '{"text": "Ann", "spans": [{"start": 0, "end": 3, "label": "PER", "answer": "reject"}]}',
    "is a task": '{"data": {"text": "Ann"}}',
    "is no JSON": '{"text": NaN',
    "ends before it begins": '{"text": "Ann", "spans": [[2, 1, "PER"]]}',
    "holds columns": '{"text": "Ann", "spans": {"start": [0], "end": [3], "label": ["PER"]}}',
    "is of two people": '{"text": "Ann", "spans": [{"start": 0, "end": 1, "label": "A", "user": 1}, '
    '{"start": 1, "end": 2, "label": "A", "user": 2}]}',
}


@pytest.mark.parametrize("what", ODD)
def test_odd_lines_are_named_and_kept(what):
    file = f'{{"text": "Rome", "spans": []}}\n\n{ODD[what]}\n{{"text": "Bob", "spans": []}}'
    (note,), *_ = one(file)["answers"]
    assert note.startswith("1 lines are kept") and "a.jsonl, line 3: " in note
    assert (
        saved(file, ["mark", 1, 0, 3, "PER"])
        == file[:-3] + '[{"start": 0, "end": 3, "label": "PER", "text": "Bob"}]}'
    )
    alone = one(ODD[what])
    assert alone["error"].startswith("a.jsonl, line 1: ")


def test_other_formats_are_refused_with_what_converts_them():
    said = one('[["Ann", {"entities": []}]]', name="x.json")["error"]
    assert 'write_spans("texts.jsonl", *read_spans("x.json"))' in said


def test_spans_are_shown_in_order():
    spans = one('{"text": "Ann in Rome", "spans": [[7, 11, "LOC"], [0, 3, "PER"]]}')[
        "spans"
    ][0][1]
    assert [span["start"] for span in spans] == [0, 7]


def test_many_lines():
    """No call has an argument for each line."""
    line = '{"text": "Ann in Rome", "label": [[7, 11, "LOC"]]}\n'
    found = ran(
        [
            {
                "files": [{"name": "a.jsonl", "text": line * 130_000}],
                "steps": [["unsaved"]],
            }
        ]
    )[0]
    assert found["n"] == 130_000 and found["answers"][-1] == 0


# -- what offsets count --------------------------------------------------------------------------------
def lines_of(unit, *texts, marked="Rome"):
    spans = [
        [(text.index(marked), text.index(marked) + len(marked), "LOC")]
        for text in texts
    ]
    counted = to_utf16(texts, spans) if unit == "utf-16" else spans
    return "\n".join(
        json.dumps({"text": x, "label": list(map(list, y))})
        for x, y in zip(texts, counted)
    )


@pytest.mark.parametrize("unit", ["characters", "utf-16"])
def test_words_and_lengths_tell_the_unit(unit):
    """As `read_spans` finds it out; what is saved counts as the file does."""
    texts = ["😀 in Rome, then", "so 😀 Rome is", "In Rome 😀"]
    file = lines_of(unit, *texts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = read_spans(io.StringIO(file))[1]
    got = one(file)
    assert got["unit"] == unit and "most spans end with words" in got["answers"][0][0]
    assert [span["covers"] for _, (span,) in got["spans"]] == ["Rome"] * 3
    assert [text[span.start : span.end] for text, (span,) in zip(texts, expected)] == [
        "Rome"
    ] * 3
    changed = saved(file, ["relabel", 0, 0, "PLACE"])
    assert changed == file.replace("LOC", "PLACE", 1)
    told = one(lines_of(unit, "😀" * 3 + " Rome"))
    assert [span["covers"] for _, (span,) in told["spans"]] == ["Rome"]


def test_a_line_that_counts_otherwise_is_an_error():
    file = (
        lines_of("characters", *["😀 in Rome, then"] * 20)
        + "\n"
        + lines_of("utf-16", "😀 so 😀 Rome")
    )
    with pytest.raises(ValueError, match="UTF-16"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read_spans(io.StringIO(file))
    assert (
        "a.jsonl, line 21: its spans fit the text only in utf-16" in one(file)["error"]
    )


# -- ends of lines -------------------------------------------------------------------------------------
@pytest.mark.parametrize("text", ["a\r\nB C\r\n", "a\rB C\n", "a\nB C", "\r\r\n\r"])
def test_ends_of_lines_stay(text):
    """An edit of one sign changes that sign alone; the field shows a line feed for each end of a line."""
    shown, cases = text.replace("\r\n", "\n").replace("\r", "\n"), []
    for k in range(len(shown) + 1):
        for new, behind in [("x", k), ("\n", k), ("", k + 1)]:
            value = shown[:k] + new + shown[behind:]
            if behind <= len(shown):
                cases.append((value, k + len(new)))
    name = "a.txt"
    got = ran(
        [
            {
                "files": [{"name": name, "text": "s" + text}],
                "steps": [["edit", 0, f"s{v}", c + 1]],
            }
            for v, c in cases
        ]
    )
    for (value, _), each in zip(cases, got):
        ((found, _),) = each["spans"]
        assert found.replace("\r\n", "\n").replace("\r", "\n") == f"s{value}"
        if "\r\n" in text and "\r" not in text.replace("\r\n", ""):
            assert "\n" not in found.replace("\r\n", "")


def test_typing_moves_spans_and_says_which_it_cut():
    file = '{"text": "Ann\\r\\nin Rome, so", "spans": [[0, 3, "PER"], [8, 12, "LOC"]]}'
    got = one(file, ["edit", 0, "Ann\nnow in Rome, so", 8])
    assert [(s["start"], s["end"]) for s in got["spans"][0][1]] == [(0, 3), (12, 16)]
    got = one(file, ["edit", 0, "Ann\nin Rom, so", 10], ["undo"], ["unsaved"])
    assert got["answers"][1:] == [["Rome (LOC)"], 0, 0] and len(got["spans"][0][1]) == 2


def test_typing_is_one_change_and_predicts_anew_where_nobody_has_corrected():
    got = one(
        "",
        ["edit", 0, "A", 1],
        ["edit", 0, "An", 2],
        ["edit", 0, "Ann", 3],
        ["undo"],
        ["redo"],
        name="a.txt",
    )
    assert "there is no text" in got["error"]
    steps = (
        ["edit", 0, "I A", 3],
        ["edit", 0, "I An", 4],
        ["undo"],
        ["redo"],
        ["redo"],
        ["undo"],
        ["undo"],
    )
    got = one("I", *steps, name="a.txt")
    assert got["answers"][3:] == [0, 0, -1, 0, -1]
    assert [
        len(each["spans"][0][1]) for each in (got, one("I", *steps[:2], name="a.txt"))
    ] == [0, 1]


def test_plain_texts_become_lines():
    text = "Ann\r\nis here\r\n"
    assert json.loads(saved(text, ["all"], name="a.txt"))["text"] == text
    both = saved(text, ["all"], name="a.txt", linewise=True).splitlines()
    assert [json.loads(line)["text"] for line in both] == ["Ann", "is here"]


def test_marks_are_checked():
    for place in ([0, 1], [2, 2], [3, 9], [1, 3]):
        assert "Select text first" in one('{"text": "😀 a"}', ["mark", 0, *place, "A"])[
            "error"
        ] or place == [
            1,
            3,
        ]
