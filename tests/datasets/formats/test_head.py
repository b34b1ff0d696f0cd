"""The beginning of a file: what is read of it, and that it is read again."""

import io
import json

import pytest

from skstruct.datasets import open_corpus, read_tokens
from skstruct.datasets.formats.head import HEAD, RECORDS, Head
from skstruct.datasets.formats.source import peeked


def test_what_was_looked_at_is_read_again():
    text = "".join(f"line {k}\n" for k in range(30_000))
    with peeked(io.StringIO(text), "utf-8") as file:
        head = file.head()
        assert HEAD <= sum(map(len, head.raw)) + len(head.raw) < HEAD + 20
        assert file.head() is head and not head.is_whole
        assert file.readline() == "line 0\n"
        assert "line 0\n" + "".join(file) == text
        assert file.readline() == ""


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("n", [1, 3, 100])
def test_records_of_a_list_or_of_lines(n, indent):
    values = [{"k": k, "text": "x" * 50} for k in range(n)]
    several = json.dumps(values, indent=indent)
    lines = "\n".join(map(json.dumps, values))
    for text in several, lines:
        head = Head("notes", text.split("\n"), True)
        assert head.records == values[:RECORDS] and head.is_json


def test_a_record_that_is_longer_than_the_head_is_read_whole():
    value = [{"text": "x" * HEAD, "lines": list(range(20))}]
    with peeked(io.StringIO(json.dumps(value, indent=1)), "utf-8") as file:
        assert file.head().records == value and file.head().is_whole


@pytest.mark.parametrize("text", ["[1] Ann", "{Ann} is", "[[Towns]]", "Ann [1]", ""])
def test_text_that_begins_like_json_is_none(text):
    assert Head("notes", [text]).records == []


def test_what_cannot_be_read_is_told_behind_what_can(tmp_path):
    path = tmp_path / "notes"
    path.write_bytes(b"a X\n" * 20_000 + b"\xff\n")
    with peeked(path, "utf-8") as file:
        assert file.head().lines[0] == "a X"
        with pytest.raises(ValueError, match="line 20001|invalid start byte"):
            list(file)


def test_tables():
    rows = ["a,b", '"x, y",z', '"two\nlines",1']
    head = Head("notes.csv", "\n".join(rows).split("\n"), True)
    assert head.table[:2] == [["a", "b"], ["x, y", "z"]]
    assert Head("notes", ["a,,b", "1,2,3"], True).table == []
    assert Head("notes", [",a,b,,", "1,2,3,,"], True).table[0] == ["", "a", "b", "", ""]
    assert Head("notes", ["a,,,", "1,,,"], True).table == []
    assert Head("notes", ["no names"], True).table == []


def test_what_was_seen_is_said():
    assert "keys a, b" in Head("x", ['{"a": 1, "b": 2}'], True).seen()
    said = Head("x", ["a\tb\tc"] * 3 + ["d"], True).seen()
    assert "2 tabs in 3 of 4 lines" in said and "1 to 3 cells" in said
    assert Head("x").seen() == "nothing"


def test_files_of_nul_characters_are_refused(tmp_path):
    """UTF-16 without a mark, and archives."""
    path = tmp_path / "a.txt"
    path.write_bytes("Ann B\nleft O\n".encode("utf-16-le"))
    with pytest.raises(ValueError, match="a.txt: every few characters are NUL"):
        read_tokens(path)
    assert read_tokens(path, encoding="utf-16-le")[0] == [["Ann", "left"]]
    assert read_tokens(io.StringIO("A\0nn B\nleft O\n"))[0] == [["A\0nn", "left"]]


@pytest.mark.parametrize("n", [RECORDS - 1, RECORDS, RECORDS + 7])
def test_shares_are_of_the_first_records_where_more_may_follow(tmp_path, n):
    path = tmp_path / "corpus.jsonl"
    record = {"text": "Ann left", "label": [[0, 3, "PER"]]}
    path.write_text(f"{json.dumps(record)}\n" * n, encoding="utf-8")
    reading = open_corpus(path)
    of = f"{n} of {n}" if n < RECORDS else f"{RECORDS} of the first {RECORDS}"
    assert f"{of} records have" in str(reading.why)
