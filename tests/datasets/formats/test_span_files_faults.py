"""All that is wrong with a file, in one list."""

import json

from skstruct.datasets import read_spans

LINES = [
    {"id": "a", "text": "Ann in Rome", "label": [[0, 3, "PER"]]},
    {
        "id": "b",
        "text": "Bo in Oslo",
        "label": [[0, 2, "PER"], [6, 99, "X"], [5, 4, "Y"]],
    },
    "{",
    {"id": "d", "txt": "Eva", "label": []},
    {"id": "e", "text": "Eva", "label": [[0, "x", "PER"]]},
    {"id": "f", "text": "Eva", "label": [[0, 3, "PER"]]},
    {"id": "g", "text": "🚒 Eva", "label": [[2, 7, "PER"]]},
]


def test_each_fault_has_its_place(tmp_path):
    path = tmp_path / "notes.jsonl"
    rows = [row if isinstance(row, str) else json.dumps(row) for row in LINES]
    path.write_text("\n".join(rows), encoding="utf-8")
    X, y, metadata, faults = read_spans(path, on_error="list", return_metadata=True)
    assert X == ["Ann in Rome", "Eva"] and y == [[(0, 3, "PER")]] * 2
    assert [each["id"] for each in metadata] == ["a", "f"]
    found = [(fault.record, fault.id, fault.line) for fault in faults]
    assert found == [
        (1, "b", 2),
        (1, "b", 2),
        (2, None, 3),
        (3, "d", 4),
        (4, "e", 5),
        (6, "g", 7),
    ]
    assert "span 1" in faults[0].message and "span 2" in faults[1].message
    assert all(
        f"notes.jsonl, line {line}" in faults[k].message
        for k, (*_, line) in enumerate(found)
    )


def test_a_file_without_faults_and_records_in_memory():
    assert read_spans(LINES[:1], on_error="list")[-1] == []
    *_, faults = read_spans([LINES[1], LINES[3]], on_error="list")
    assert [(fault.record, fault.id, fault.line) for fault in faults] == [
        (0, "b", None),
        (0, "b", None),
        (1, "d", None),
    ]


def test_files_of_brat(tmp_path):
    for name, line in (("a", "T1\tX 0 3\tAnn"), ("b", "T1 X"), ("c", "T1\tX 0 9\tBo")):
        (tmp_path / f"{name}.txt").write_text("Ann")
        (tmp_path / f"{name}.ann").write_text(line + "\n")
    X, _, faults = read_spans(tmp_path, on_error="list")
    assert X == ["Ann"] and len(faults) == 2
    assert "b.ann, line 1" in faults[0].message and "c.ann, line 1" in faults[1].message


def test_a_bad_first_line_is_one_fault(tmp_path):
    """The format is that of the lines behind it."""
    line = {"text": "Ann ran", "ents": [{"start": 0, "end": 3, "label": "PER"}]}
    path = tmp_path / "notes.jsonl"
    path.write_text("{oops\n" + (json.dumps(line) + "\n") * 2)
    X, y, faults = read_spans(path, on_error="list")
    assert X == ["Ann ran"] * 2 and y == [[(0, 3, "PER")]] * 2
    assert [(fault.record, fault.line) for fault in faults] == [(0, 1)]
    assert "not valid JSON" in faults[0].message


def test_records_of_other_formats_are_faults(tmp_path):
    line = {"text": "Ann ran", "label": [[0, 3, "PER"]]}
    task = {"data": {"text": "Bo"}, "annotations": [{"result": []}]}
    X, _, faults = read_spans([line, task, line], on_error="list")
    assert len(X) == 2 and [fault.record for fault in faults] == [1]
    assert "one of label-studio, but the file is read as doccano" in faults[0].message
