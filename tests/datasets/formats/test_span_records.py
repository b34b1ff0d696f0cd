"""Records of JSON: the values of a file, and the annotations of a text as written."""

import io
import json
import math

import pytest

from skstruct.datasets import SourceLayout, open_corpus, read_spans, read_tokens
from skstruct.datasets.formats.column_lines import DOCUMENT_KEYS
from skstruct.datasets.formats.json_records import Fields, record_of
from skstruct.datasets.formats.spacy_pairs import from_pair
from skstruct.datasets.formats.span_files import AnnotationReader
from skstruct.datasets.formats.span_records import (
    Annotation,
    Reading,
    annotator_in,
    document_in,
    json_values,
    name_of,
    said_of_record,
)


def from_object(record, place, reading):
    return record_of(record, place, reading, Fields())


def reading(**options):
    return Reading(AnnotationReader(**options))


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("a", "a"),
        (" a ", "a"),
        (7, "7"),
        (7.0, "7.0"),
        *((missing, "") for missing in ("", " ", None, math.nan, True, ["a"], {})),
    ],
)
def test_one_law_says_what_names_a_document_or_an_annotator(value, name):
    """What is missing names none: records without it are not of one document."""
    assert name_of(value) == name
    assert document_in({"doc_id": value}) == document_in({"meta": {"doc_id": value}})
    assert document_in({"doc_id": value}) == (name or None)
    assert document_in({"document": value, "doc": "b"}) == (name or "b")
    assert said_of_record({"key": value}) == ({"key": name} if name else {})
    assert annotator_in({"annotator": value}) == name
    assert annotator_in({"annotator": value, "annotated_by": "b"}) == (name or "b")
    row = {"tokens": ["a"], "tags": ["B"], "doc_id": value}
    lines = io.StringIO(f"{json.dumps(row)}\n" * 2)
    assert read_tokens(lines, return_documents=True)[2] == [name or None] * 2
    row = {"text": "a", "spans": [[0, 1, "X"]]}
    rows = [{**row, "annotator": who} for who in (value, "b")]
    lines = io.StringIO("\n".join(map(json.dumps, rows)))
    if name:
        with pytest.raises(ValueError, match=f"annotations of {name}, b;"):
            read_spans(lines)
    else:
        assert len(read_spans(lines)[0]) == 2


@pytest.mark.parametrize("data", ['{"a": 1}\n\n{"a": 2}\n', '[{"a": 1},\n{"a": 2}]'])
def test_lines_or_one_list(data):
    assert [value for _, value in json_values(io.StringIO(data), "utf-8")] == [
        {"a": 1},
        {"a": 2},
    ]


def test_places_of_values():
    lines = [place for place, _ in json_values(io.StringIO("{}\n\n{}"), "utf-8")]
    assert [place.rpartition(", ")[2] for place in lines] == ["line 1", "line 3"]
    (place,) = (place for place, _ in json_values(io.StringIO("[{}]"), "utf-8"))
    assert place.endswith("record 0")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("text", "line 1: expected JSON"),
        ("text,start\rAnn,0\r", "its lines end in carriage returns"),
        ('{"a": 1}\r{"a": 2}\r', "line 1: .*; its lines end in carriage returns"),
        ('{"a": 1}\n{"a"', "line 2: not valid JSON"),
        ('[{"a": 1},\n{"a": 2},\n]', "line [23]: .*; delete the comma before ']'"),
        ('[{"a": [1, 2, ]}]', "line 1: .*; delete the comma before ']'"),
        ('{"a": 1}\n{"a": 2, }', "line 2: .*; delete the comma before '}'"),
        ('{"a": 1}\n{"a": 2},\n', "line 2: .*; delete the comma behind the record"),
        ('{"a": 1},\n{"a": 2},\n', "line 1: .*; delete the comma behind the record"),
        ("[{}]\n{}", "line 2: there is text behind the list"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_json(data, message):
    with pytest.raises(ValueError, match=message):
        list(json_values(io.StringIO(data), "utf-8"))


@pytest.mark.parametrize(
    "row",
    [
        [0, 3, "PER"],
        {"start": 0, "end": 3, "label": "PER"},
        {"start_offset": 0, "end_offset": 3, "label": "PER"},
    ],
)
def test_spellings_of_a_span(row):
    found = from_object({"text": "Ann met", "id": 7, "spans": [row]}, "x", reading())
    assert found.spans == [Annotation(((0, 3),), "PER")]
    assert (found.text, found.metadata) == ("Ann met", {"id": 7})


def test_texts_that_nobody_annotated():
    source = reading()
    assert from_object({"text": "Ann"}, "x, line 1", source).spans == []
    assert (source.keyless, source.first_keyless) == (1, "x, line 1")


def test_pairs():
    found = from_pair(["Ann", {"entities": [[0, 3, "PER"]]}], "x", reading())
    assert found.spans == [Annotation(((0, 3),), "PER")] and found.sure
    with pytest.raises(ValueError, match="x: expected .text"):
        from_pair(["Ann"], "x", reading())


def test_numbers_for_labels():
    record = {"text": "Ann", "spans": [[0, 3, 1]]}
    named = from_object(record, "x", reading(label_names={1: "PER"}))
    assert named.spans[0].label == "PER"
    with pytest.raises(ValueError, match="x, span 0: the label is the number 1"):
        from_object(record, "x", reading())


def test_an_empty_list_hides_no_later_one():
    record = {"text": "Ann", "entities": [], "labels": [[0, 3, "PER"]]}
    found = from_object(record, "x", reading())
    assert [span.label for span in found.spans] == ["PER"]
    assert from_object({"text": "Ann", "entities": []}, "x", reading()).spans == []


def test_objects_on_several_lines_each():
    text = '{"a":\n 1}\n{"a":\n 2\n}\n\n{"a": 3}\n'
    found = list(json_values(io.StringIO(text), "utf-8"))
    assert [value["a"] for _, value in found] == [1, 2, 3]
    lines = [place.rpartition(", ")[2] for place, _ in found]
    assert lines == ["line 1", "line 3", "line 7"]
    with pytest.raises(ValueError, match="line 3: not valid JSON"):
        list(json_values(io.StringIO('{"a":\n 1}\n{"a"\n'), "utf-8"))


@pytest.mark.parametrize("text", ['["a b", "c d"]', '"a b"\n"c d"\n'])
def test_texts_alone_may_be_strings(text):
    records = AnnotationReader().texts(io.StringIO(text))
    assert [record.text for record in records] == ["a b", "c d"]
    assert read_spans(io.StringIO(text)) == ([], [])


def test_null_in_the_place_of_spans_is_told():
    text = '{"text": "a", "label": null}\n{"text": "b", "label": [[0, 1, "X"]]}\n'
    with pytest.warns(UserWarning, match=r"1 record \(null under 'label'\), first .*1"):
        assert read_spans(io.StringIO(text))[0] == ["b"]


@pytest.mark.parametrize("key", DOCUMENT_KEYS)
def test_the_document_of_a_record(key, tmp_path):
    """Each format takes the same keys, texts also within ``meta`` and in any case."""
    rows = [
        {key: "a"},
        {key.upper(): "a"},
        {"meta": {key: "a"}, "metadata": None},
        {"metadata": {key.title(): "a"}},
        {"other": "a", "meta": "a"},
    ]
    path = tmp_path / "a.jsonl"
    records = [{"text": f"Ann {k}", "spans": [], **row} for k, row in enumerate(rows)]
    path.write_text("\n".join(map(json.dumps, records)))
    assert [row.document for row in open_corpus(path).rows()] == ["a"] * 4 + [None]
    path.write_text(json.dumps({"tokens": ["Ann"], "ner_tags": ["O"], key: "a"}))
    assert [row.document for row in open_corpus(path).rows()] == ["a"]
    path = tmp_path / "a.csv"
    path.write_text(f"{key.title()},sentence_id,token,ner\na,1,Ann,O\n")
    rows = open_corpus(path, SourceLayout("csv")).rows()
    assert [row.document for row in rows] == ["a"]
