"""The options of reading: each has an effect, or is refused before a file is opened."""

import gzip
import json
import warnings

import pandas
import polars
import pytest

from skstruct.datasets import iter_spans, read_columns, read_spans
from skstruct.datasets.formats.span_files import AnnotationReader

WRONG = [
    ({"format": "foo"}, "format must be"),
    ({"format": []}, "format must be"),
    ({"offsets": "bytes"}, "offsets must be"),
    ({"discontinuous": "x"}, "discontinuous must be"),
    ({"rejected": "x"}, "rejected must be"),
    ({"annotated": "PER"}, "types must be a collection of str"),
    ({"format": "brat", "rejected": "outside"}, "rejected is for"),
    ({"text": [1]}, "text must be a str"),
    ({"text": None}, "text must be a str"),
    ({"spans": 3}, "spans must be a str"),
    ({"control": 3}, "control must be a str"),
    ({"annotator": [1]}, "annotator must be a str or an int"),
    ({"label_names": "PER"}, "label_names must be"),
    (
        {"format": "spacy", "control": "a"},
        "control is for label-studio, but format is 'spacy'",
    ),
    ({"format": "jsonl", "discontinuous": "skip"}, "discontinuous is for brat"),
    ({"format": "brat", "text": "body"}, "text is for"),
    ({"format": "label-studio", "spans": "x"}, "spans is for"),
    ({"format": "spacy", "annotator": "x"}, "annotator is for"),
]


@pytest.mark.parametrize("options, error", WRONG)
def test_options_are_checked_at_once(options, error):
    for read in read_spans, iter_spans:
        with pytest.raises(ValueError, match=error):
            read("no/such/file", **options)


def test_the_key_of_the_spans():
    record = {"text": "Ann", "label": [[0, 1, "X"]], "names": [[0, 3, "PER"]]}
    assert read_spans([record], spans="names") == (["Ann"], [[(0, 3, "PER")]])
    with pytest.warns(UserWarning, match=r"1 record \(null under 'names'\)"):
        assert read_spans([{**record, "names": None}], spans="names") == ([], [])
    with pytest.raises(
        ValueError, match="no list of spans under 'name': found keys text, label, names"
    ):
        read_spans([record], spans="name")


def region(start, end, control):
    value = {"start": start, "end": end, "labels": [control.upper()]}
    return {"type": "labels", "value": value, "from_name": control, "to_name": "text"}


def test_one_control_of_label_studio():
    task = {
        "data": {"text": "Ann ran"},
        "annotations": [{"result": [region(0, 3, "who"), region(4, 7, "what")]}],
    }
    small = {"text": "Ann ran", "who": [{"start": 0, "end": 3, "labels": ["WHO"]}]}
    small["what"] = [{"start": 4, "end": 7, "labels": ["WHAT"]}]
    for record in task, small:
        assert read_spans([record], control="who")[1] == [[(0, 3, "WHO")]]
        assert len(read_spans([record])[1][0]) == 2
        with pytest.raises(
            ValueError, match="there is no control 'why'; found what, who"
        ):
            read_spans([record], control="why")


def test_compressed_files(tmp_path):
    path = tmp_path / "notes.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(json.dumps({"text": "Ann", "spans": [[0, 3, "PER"]]}) + "\n")
    assert read_spans(path) == (["Ann"], [[(0, 3, "PER")]])
    whole = path.read_bytes()
    for damaged in whole[:-9], b"plain text\n":
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"notes\.jsonl\.gz, after line [01]: "):
            read_spans(path)
    path.write_bytes(gzip.compress(b"a A\n\xff B\n"))
    with pytest.raises(ValueError, match=r"notes\.jsonl\.gz, line 2: not valid utf-8"):
        read_columns(path)


def test_a_reader_reads_several_sources_alike():
    reader = AnnotationReader(annotator="x")
    record = {
        "_input_hash": 1,
        "_annotator_id": "x",
        "text": "Ann",
        "spans": [],
        "answer": "accept",
    }
    for _ in range(2):
        assert [found.text for found, _ in reader.marked([record])] == ["Ann"]
    with pytest.raises(AttributeError):
        reader.annotator = "y"


def test_what_a_rejected_span_says():
    marked = {"text": "Ann met Bob", "_input_hash": 1, "answer": "accept", "spans": [
        {"start": 0, "end": 3, "label": "PER"}, {"start": 4, "end": 7, "label": "PER", "answer": "reject"},
        {"start": 8, "end": 11, "label": "PER", "answer": "ignore"},
    ]}  # fmt: skip
    assert read_spans([marked])[1] == [[(0, 3, "PER"), (4, 7, None), (8, 11, None)]]
    assert read_spans([marked], rejected="outside")[1] == [
        [(0, 3, "PER"), (8, 11, None)]
    ]


def test_types_that_are_annotated():
    ((spans,),) = read_spans(
        [{"text": "Ann", "spans": [[0, 3, "PER"]]}], annotated=["PER", "LOC"]
    )[1:]
    assert spans == [(0, 3, "PER")] and spans.types == {"PER", "LOC"}
    ((_, spans, _),) = iter_spans([{"text": "Ann", "spans": []}], annotated=["PER"])
    assert spans.types == {"PER"}


def test_records_without_a_list_of_spans_are_told():
    """Empty lists are lists, null says nothing, and Prodigy writes no list where there
    is no span.
    """
    records = [
        {"text": "Ann", "spans": [[0, 3, "PER"]]},
        {"text": "Bob"},
        {"text": "Eve"},
    ]
    with pytest.warns(
        UserWarning,
        match="2 of the records have no list of spans, first record 1; they are read as",
    ):
        assert len(read_spans(records)[0]) == 3
    records = [
        records[0],
        {"text": "Bob", "spans": []},
        {"text": "Eve", "_input_hash": 1, "answer": "accept"},
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read_spans(records)[0]) == 3
    records[1]["spans"] = None
    with pytest.warns(UserWarning, match=r"left out: 1 record \(null under 'spans'\)"):
        assert read_spans(records)[0] == ["Ann", "Eve"]


@pytest.mark.parametrize(
    "make, call",
    [
        (pandas.DataFrame, r"read_spans\(source.to_dict\('records'\)\)"),
        (polars.DataFrame, r"read_spans\(source.to_dicts\(\)\)"),
    ],
)
def test_a_table_is_no_list_of_records(make, call):
    spans = [[{"start": 0, "end": 3, "label": "PER"}]]
    table = make({"text": ["Ann sleeps"], "spans": spans})
    message = f"source is a table with the columns text, spans; .*: {call}"
    with pytest.raises(TypeError, match=message):
        read_spans(table)
    source = table  # as the message calls it
    found = read_spans(
        source.to_dict("records") if make is pandas.DataFrame else source.to_dicts()
    )
    assert found == (["Ann sleeps"], [[(0, 3, "PER")]])
