"""Annotated texts of annotation tools: a small file of each, and everything that is
refused.
"""

import io
import json
import pathlib
import shutil

import numpy as np
import pytest

from skstruct import Span
from skstruct.datasets import iter_spans, read_spans
from skstruct.datasets.formats.span_files import AnnotationReader

FILES = pathlib.Path(__file__).parent / "annotated"

NAMED = {"label_names": {2: "PER", 5: "LOC"}, "annotator": 1}
TOOLS = {
    "doccano.jsonl": (
        {},
        [
            [("Ann Lee", "PER"), ("Bo", "PER"), ("Rome", "LOC")],
            [("Bergen", "LOC"), ("Eva", "PER")],
            [],
            [("Zoë", "PER"), ("Oslo", "LOC")],
        ],
    ),
    "doccano-old.jsonl": (
        NAMED,
        [[("Ann Lee", "PER"), ("Bo", "PER")], [("Rome", "LOC")], []],
    ),
    "prodigy.jsonl": (
        {},
        [
            [("Ann", "PER"), ("Bern", "LOC")],
            [("Eva", "PER"), ("Is Eva in Oslo?", None)],
            [("Bo", "PER"), ("Zoë", None)],
            [],
        ],
    ),
    "label-studio.json": (
        {},
        [[("Ann Lee", "PER"), ("Bo", "PER"), ("Rome", "LOC")], [("Oslo", "LOC")]],
    ),
    "label-studio-min.json": ({}, [[("Ann", "PER"), ("Bo", "PER")], []]),
    "spacy.json": ({}, [[("Ann Lee", "PER"), ("Bern", "LOC"), ("Bo", "PER")], []]),
    "brat": (
        {"discontinuous": "skip"},
        [
            [],
            [
                ("Ann Lee", "Person"),
                ("Bo", "Person"),
                ("New\r\nYork", "Place"),
                ("Bo in New\r\nYork", "Title"),
            ],
            [("lower jaw", "Part")],
        ],
    ),
}


def covered(X, y):
    return [
        [(text[start:end], label) for start, end, label in spans]
        for text, spans in zip(X, y)
    ]


def lines(*records):
    return io.StringIO("".join(json.dumps(record) + "\n" for record in records))


def task(result, text="💩 Ann", **more):
    return {
        "id": 7,
        "data": {"text": text},
        "annotations": [{"result": result, **more}],
    }


def region(start, end, *labels, **value):
    return {
        "type": "labels",
        "value": {"start": start, "end": end, "labels": list(labels), **value},
    }


@pytest.mark.parametrize("name", TOOLS)
def test_each_tool(name):
    options, expected = TOOLS[name]
    X, y = read_spans(FILES / name, **options)
    assert covered(X, y) == expected
    assert all(type(span) is Span for spans in y for span in spans)
    assert [record[:2] for record in iter_spans(str(FILES / name), **options)] == list(
        zip(X, y)
    )


def test_the_ending_of_a_file_does_not_matter(tmp_path):
    for name in ("prodigy.jsonl", "label-studio.json", "spacy.json"):
        shutil.copy(FILES / name, tmp_path / "notes.txt")
        options, expected = TOOLS[name]
        assert covered(*read_spans(tmp_path / "notes.txt", **options)) == expected


def test_metadata():
    *_, metadata = read_spans(FILES / "label-studio.json", return_metadata=True)
    assert metadata == [{"id": 101, "source": "letters"}, {"id": 103}]
    *_, metadata = read_spans(
        FILES / "brat", discontinuous="cover", return_metadata=True
    )
    assert metadata == [{"name": "empty"}, {"name": "letter"}, {"name": "more/parts"}]
    *_, metadata = read_spans(
        lines({"text": "a", "spans": [], "by": 3}), return_metadata=True
    )
    assert metadata == [{"by": 3}]


def test_keys_of_spans_without_a_value():
    record = {"text": "Ann", "spans": None, "entities": [[0, 3, "PER"]], "label": None}
    assert read_spans([record], return_metadata=True) == (
        ["Ann"],
        [[(0, 3, "PER")]],
        [{}],
    )


@pytest.mark.parametrize("name", TOOLS)
def test_texts_alone(name):
    """What `tag` reads: every text of a file, whatever its annotations are."""
    options = {**TOOLS[name][0], "return_metadata": True}
    options.pop("annotator", None) if name != "doccano-old.jsonl" else None
    X, _, metadata = read_spans(FILES / name, **options)
    found = list(AnnotationReader().texts(FILES / name))
    assert {(text, str(more)) for text, more in zip(X, metadata)} <= {
        (r.text, str(r.metadata)) for r in found
    }
    assert all(record.spans is None for record in found)


@pytest.mark.parametrize(
    "record",
    [
        task([region(0, 3, "A", "B")], text="Ann"),
        task([{"type": "hypertextlabels", "value": {"start": "/p[1]"}}], text="Ann"),
        {"id": 7, "data": {"text": "Ann"}, "annotations": 5},
        {
            "id": 7,
            "text": "Ann",
            "label": [{"start": 0, "end": 99, "labels": ["A", "B"]}],
        },
        {"id": 7, "text": "Ann", "labels": ["politics", 3]},
        {"id": 7, "text": "Ann", "spans": {"start": [0], "end": []}},
        {"id": 7, "text": "Ann", "label": [[0, 3, 5, 1]], "answer": "accept"},
    ],
)
def test_annotations_do_not_matter_to_texts_alone(record):
    with pytest.raises(ValueError):
        read_spans([record])
    (found,) = AnnotationReader().texts([record])
    assert (found.text, found.spans, found.metadata["id"]) == ("Ann", None, 7)
    with pytest.raises(ValueError, match="format must be one of 'auto', .*; got 'foo'"):
        AnnotationReader("foo")
    with pytest.raises(ValueError, match="no text under .*: found keys"):
        list(AnnotationReader(text="body").texts([record]))


def test_texts_alone_of_brat(tmp_path):
    (tmp_path / "a.txt").write_text("Ann")
    (tmp_path / "a.ann").write_text("T1\tPER x\n")
    (found,) = AnnotationReader().texts(tmp_path)
    assert (found.text, found.spans, found.metadata) == ("Ann", None, {"name": "a"})


def test_binary_files_of_spacy(tmp_path):
    (tmp_path / "train.spacy").write_bytes(b"x\x9c\x00\xff")
    with pytest.raises(
        ValueError,
        match=r"train.spacy: .* spaCy reads: .*DocBin\(\).from_disk\('.*train.spacy'",
    ):
        read_spans(tmp_path / "train.spacy")


def test_records_without_a_file():
    rows = [{"text": "Ann", "entities": {"start": [0], "end": [3], "label": [0]}}]
    assert read_spans(rows, label_names=["PER"]) == (["Ann"], [[(0, 3, "PER")]])
    assert read_spans([("Ann", {"entities": [(0, 3, "PER")]})]) == (
        ["Ann"],
        [[(0, 3, "PER")]],
    )
    assert read_spans(
        iter([{"body": "Ann", "text": 3, "labels": [[0, 3, None]]}]), text="body"
    ) == (
        ["Ann"],
        [[(0, 3, None)]],
    )
    assert read_spans([]) == read_spans(io.StringIO("")) == ([], [])
    with pytest.raises(
        TypeError, match="source must be a path, an open text file or a list of records"
    ):
        read_spans({"text": "Ann"})


# --------------------------------------------------------------------------------------
# Several annotators, answers, discontinuous spans
# --------------------------------------------------------------------------------------
def test_several_annotators():
    with pytest.raises(
        ValueError,
        match="doccano-old.jsonl, line 1: the text has annotations of 1, 3; choose one of them with annotator=",
    ):
        read_spans(FILES / "doccano-old.jsonl", label_names=NAMED["label_names"])
    X, y = read_spans(
        FILES / "doccano-old.jsonl", label_names={2: "PER"}, annotator="3"
    )
    assert covered(X, y) == [
        [("Ann", "PER")],
        [],
    ]  # of the second text there is no annotation of theirs
    with pytest.raises(ValueError, match="there is no annotator 9; found 1, 3"):
        read_spans(
            FILES / "doccano-old.jsonl", label_names=NAMED["label_names"], annotator=9
        )

    both = {"id": 7, "data": {"text": "Ann"}, "annotations": [
        {"completed_by": {"id": 1, "email": "a@b"}, "result": [region(0, 3, "PER")]},
        {"completed_by": {"id": 2, "email": "c@d"}, "result": []},
    ]}  # fmt: skip
    with pytest.raises(
        ValueError, match=r"record 0 \(task 7\): the text has annotations of a@b, c@d"
    ):
        read_spans([both])
    assert read_spans([both], annotator="a@b") == (["Ann"], [[(0, 3, "PER")]])
    assert read_spans([both], annotator="c@d") == (["Ann"], [[]])

    def accepted(who, *spans):
        return {
            "text": "Ann",
            "_input_hash": 5,
            "answer": "accept",
            "_annotator_id": who,
            "spans": list(spans),
        }

    twice = [accepted("x", [0, 3, "PER"]), accepted("y")]
    with pytest.raises(ValueError, match="record 1: the text has annotations of x, y"):
        read_spans(twice)
    assert read_spans(twice, annotator="x") == (["Ann"], [[(0, 3, "PER")]])


def test_the_last_annotation_of_a_task_counts():
    dates = [
        {"created_at": day, "result": [region(0, 3, label)]}
        for day, label in (("2", "B"), ("3", "C"), ("1", "A"))
    ]
    both = {"data": {"text": "Ann"}, "annotations": dates}
    assert read_spans([both])[1] == [[(0, 3, "C")]]
    del dates[0]["created_at"]
    assert read_spans([both])[1] == [[(0, 3, "A")]]  # the order in the file
    unseen = {
        "data": {"text": "Ann"},
        "predictions": [{"result": []}, {"result": [region(0, 3, "P")]}],
    }
    assert read_spans([unseen])[1] == [[(0, 3, "P")]]
    assert read_spans([{**unseen, "annotations": []}]) == ([], [])
    assert read_spans([{**unseen, "annotations": None}])[1] == [[(0, 3, "P")]]


def test_discontinuous_spans():
    with pytest.raises(
        ValueError,
        match="parts.ann, line 1: the span 'Part' is discontinuous: 'upper ... jaw'; ",
    ):
        read_spans(FILES / "brat")
    X, y = read_spans(FILES / "brat" / "more" / "parts.txt", discontinuous="cover")
    assert covered(X, y) == [[("upper and lower jaw", "Part"), ("lower jaw", "Part")]]


# --------------------------------------------------------------------------------------
# What is refused
# --------------------------------------------------------------------------------------
REFUSED = [
    ({"id": 1, "url": "x"}, "line 2: no text under .*: found keys id, url; name another key with text="),
    ({"data": {"url": "x"}}, "line 2: no text under .*: found keys url"),
    ({"text": 5}, "line 2: expected a str under 'text', got int 5"),
    (5, "line 2: expected an object with the key 'text', got int 5"),
    (
        {"text": "Ann", "spans": [[0, 3]]},
        r"line 2, span 0: expected \[start, end, label\] or an object .* got list",
    ),
    ({"text": "Ann", "spans": [[[0, 3, "A"]]]}, r"line 2, span 0: expected \[start, end, label\]"),
    ({"text": "Ann", "spans": [{"start": 0, "end": 3}]}, "line 2, span 0: .* found keys start, end"),
    (
        {"text": "Ann", "spans": [[0, 1, "A"], [float("nan"), 3, "A"]]},
        "line 2, span 1: start and end must be ints, got float nan",
    ),
    ({"text": "Ann", "spans": [[True, 3, "A"]]}, "start and end must be ints, got bool True"),
    ({"text": "Ann", "spans": [[2, 1, "A"]]}, r"line 2, span 0: \(2, 1, 'A'\) ends before it begins"),
    ({"text": "Ann", "spans": [[0, 4, "A"]]}, r"\(0, 4, 'A'\) leaves the text, which has 3 characters$"),
    ({"text": "🚒Ann", "spans": [[0, 10**30, "A"]]}, r"leaves the text, which has 4 characters$"),
    (
        {"text": "Ann", "spans": [[0, 3, ["A", "B"]]]},
        "two labels on one span: 'A', 'B'; pass labels='first' to take the first",
    ),
    ({"text": "Ann", "spans": [[0, 3, 4]]}, "line 2, span 0: the label is the number 4; give the names of labels with label_names="),
    ({"text": "Ann", "spans": {"start": [0, 1], "end": [1]}}, "line 2: expected columns of the same length"),
    (
        {"text": "Ann", "spans": [{"start": 0, "end": 3, "label": "A", "text": "Bo"}]},
        r"\(0, 3, 'A'\) is 'Ann', but the file says 'Bo'",
    ),
    (
        {"text": "🚒 Ann", "spans": [{"start": 2, "end": 5, "label": "A", "text": "Bo"}]},
        "counted in characters, is 'Ann', but the file says 'Bo'",
    ),
    (task([region(0, 6, "A", "B")]), r"line 2 \(task 7\), result 0: two labels on one span: 'A', 'B'"),
    (
        task([region(0, 99, "A")]),
        r"line 2 \(task 7\), span 0: \(0, 99, 'A'\) leaves the text, which has 6 UTF-16 units",
    ),
    (task([region(1, 6, "A")]), "begins between the two UTF-16 units of a character"),
    (
        task([{"type": "hypertextlabels", "value": {"start": "/p[1]"}}]),
        "result 0: .* 'hypertextlabels' have no offsets",
    ),
    (task([5]), "result 0: expected an object, got int 5"),
    ({"data": {"text": "a"}, "annotations": 5}, "expected a list under 'annotations', got int 5"),
    (["Ann", {"entities": [[0, 3]]}], r"line 2, span 0: expected \[start, end, label\]"),
    ([["Ann"]], r'line 2: expected \[text, {"entities"'),
]  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("record", "message"), REFUSED)
def test_refused(record, message, tmp_path):
    (tmp_path / "notes.jsonl").write_text(
        lines({"text": "Rome", "spans": [[0, 4, "LOC"]]}, record).getvalue()
    )
    with pytest.raises(ValueError, match=f"notes.jsonl, .*{message}"):
        read_spans(tmp_path / "notes.jsonl")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '{"text": "a"}\n{"text": ',
            r"line 2: not valid JSON: Expecting value \(column 10\)",
        ),
        (
            "\n\nAnn met Bo.\n",
            "line 3: expected JSON, or files NAME.txt and NAME.ann of brat, got 'Ann met Bo.'",
        ),
        (
            '[\n{"text": "a",\n "spans": ]}',
            r"line 3: not valid JSON: Expecting value \(column 11\)",
        ),
        ("[" * 100_000, "line 1: the JSON is nested too deeply"),
        (
            '{"text": "a", "spans": [[0, ' + "9" * 5000 + ', "A"]]}',
            "line 1: not valid JSON: .*4300",
        ),
        ('[]\n{"text": "a"}', "line 2: there is text behind the list of records"),
        (
            '[{"text": "a", "spans": []}, 3]',
            "record 1: expected an object with the key 'text', got int 3",
        ),
    ],
)
def test_files_that_are_none(content, message, tmp_path):
    (tmp_path / "notes.json").write_text(content)
    with pytest.raises(ValueError, match=f"notes.json, {message}"):
        read_spans(tmp_path / "notes.json")


def test_refused_files_of_brat(tmp_path):
    (tmp_path / "a.txt").write_bytes("\ufeffAnn".encode())
    for line, message in (
        (
            "T1\tPER 0 9\tAnn",
            r"a.ann, line 2: \(0, 9, 'PER'\) leaves the text, which has 4 characters",
        ),
        (
            "T1\tPER x 9\tAnn",
            "a.ann, line 2: expected T1<tab>LABEL START END<tab>TEXT, got",
        ),
        ("T1\tPER 0 3\tBo", "a.ann, line 2: .* but the file says 'Bo'"),
    ):
        (tmp_path / "a.ann").write_text(f"T2\tPER 1 4\tAnn\n{line}\n")
        with pytest.raises(ValueError, match=message):
            read_spans(tmp_path)
    with pytest.raises(ValueError, match="no file NAME.ann in the folder"):
        (tmp_path / "none").mkdir()
        read_spans(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        read_spans(tmp_path / "b.ann")


def test_options():
    with pytest.raises(
        ValueError,
        match="format must be one of 'auto', 'jsonl', .*, 'brat', .*; got 'html'",
    ):
        read_spans([], "html")
    with pytest.raises(
        ValueError,
        match="offsets must be one of 'auto', 'characters', 'utf-16', .*; got 'bytes'",
    ):
        read_spans([], offsets="bytes")
    with pytest.raises(
        ValueError, match="label_names must be a list or a dict of names, got str 'PER'"
    ):
        read_spans([], label_names="PER")
    with pytest.raises(
        ValueError,
        match=r"text must be a str, the key of the text, got list \['text'\]",
    ):
        read_spans([{"text": "Ann"}], text=["text"])


@pytest.mark.parametrize(
    "record",
    [
        {"text": "Ann", "ner": [[0, 3, "PER"]]},
        {
            "text": "Ann",
            "label": "good",
            "answer": "accept",
            "_view_id": "classification",
        },
        task([{"type": "choices", "value": {"choices": ["good"]}}], text="Ann"),
        ["Ann", {"ents": [[0, 3, "PER"]]}],
    ],
)
def test_files_without_spans_are_warned_of(record):
    keys = ", ".join(record[1] if isinstance(record, list) else record)
    with pytest.warns(
        UserWarning,
        match=f"no record has spans, .*; the first record has the keys {keys}",
    ):
        read_spans([record])


@pytest.mark.parametrize("escaped", [True, False])
def test_text_that_was_encoded_twice_is_warned_of_once(escaped, tmp_path):
    text = "El niño llegó.".encode().decode("cp1252")
    rows = [
        json.dumps({"text": text, "spans": []}, ensure_ascii=escaped) for _ in range(3)
    ]
    (tmp_path / "notes.jsonl").write_text("\n".join(rows), encoding="utf-8")
    with pytest.warns(
        UserWarning, match="notes.jsonl: the text looks like UTF-8 .* 'Ã±' for 'ñ'"
    ) as found:
        read_spans(tmp_path / "notes.jsonl")
    assert len(found) == 1


@pytest.mark.parametrize("key", ["id", "_input_hash"])
def test_identifiers_of_any_kind(key):
    record = {key: [1], "text": "Ann", "x": [{"start": 0, "end": 3, "labels": ["PER"]}]}
    if key == "_input_hash":
        record["spans"] = [{"start": 0, "end": 3, "label": "PER"}]
    assert read_spans([record]) == (["Ann"], [[(0, 3, "PER")]])


def test_names_of_labels_go_by_numbers():
    with pytest.raises(ValueError, match="keys of label_names must be numbers"):
        read_spans(
            [{"text": "Ann", "spans": [[0, 3, 1]]}], label_names={"PER": "person"}
        )


def test_spans_that_are_arrays():
    columns = {"start": np.array([0]), "end": np.array([3]), "label": np.array(["PER"])}
    rows = np.array([[0, 3, "PER"]], dtype=object)
    for spans in (columns, rows):
        assert read_spans([{"text": "Ann", "spans": spans}]) == (
            ["Ann"],
            [[(0, 3, "PER")]],
        )
