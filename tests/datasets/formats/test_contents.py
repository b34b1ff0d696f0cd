"""What a file holds, and where its texts stand."""

import io
import json

from skstruct.datasets import read_spans
from skstruct.datasets.formats.span_files import AnnotationReader
from skstruct.datasets.formats.span_records import Reading


def read(source):
    """What was met when a source was read, and the texts."""
    reader = AnnotationReader()
    reading = Reading(reader, faults=[])
    return reading, [record.text for record, _ in reader.marked(source, reading)]


def lines(*records):
    text = "\n".join(r if isinstance(r, str) else json.dumps(r) for r in records)
    return io.StringIO(text + "\n")


def test_records_are_counted_by_what_they_are():
    source = lines(
        {"id": 7, "text": "Ann", "spans": [[0, 3, "P"], [2, 40, "L"], [-1, 2, "L"]]},
        {"id": 8, "text": "Bob", "spans": [[0, 3, "P"]]},
        {"id": 9, "spans": []},
        '{"text": ',
        {"text": "Eve", "spans": []},
    )
    reading, texts = read(source)
    assert texts == ["Bob", "Eve"]
    assert [(f.id, f.line) for f in reading.faults if f.id == 7] == [(7, 1), (7, 1)]
    assert {f.line for f in reading.faults} == {1, 3, 4}
    said = "5 records: 2 annotated (1 of them without spans), 3 faulty"
    assert reading.contents.summary().startswith(said)


def test_places_count_all_records():
    source = lines(
        {"id": 8, "text": "Bob", "spans": [[0, 3, "P"]]},
        {"text": "Tim", "answer": "ignore", "_input_hash": 1, "spans": []},
        {"text": "Eve", "spans": []},
    )
    _, _, places = read_spans(source, return_places=True)
    assert [(w.record, w.id, w.line) for w in places] == [(0, 8, 1), (2, None, 3)]


def task(k, *annotations):
    value = {"start": 0, "end": 3, "labels": ["PER"]}
    result = [{"type": "labels", "from_name": "l", "to_name": "t", "value": value}]
    return {
        "id": k,
        "data": {"text": "Ann"},
        "annotations": [
            {"was_cancelled": gone, "result": result} for gone in annotations
        ],
    }


def test_cancelled_tasks_are_counted_and_keep_the_numbers_of_others():
    tasks = [task(10, False), task(11, True), task(12), task(13, False, True)]
    _, _, places = read_spans(tasks, return_places=True)
    assert [(w.record, w.id) for w in places] == [(0, 10), (3, 13)]
    contents = read(tasks)[0].contents
    left_out = contents.records.left_out
    assert left_out["cancelled"].number == left_out["not annotated"].number == 1
    assert left_out["cancelled"].first == "record 1 (task 11)"
    assert "1 cancelled annotation beside others" in contents.summary()


def test_a_task_keeps_the_name_that_its_data_say():
    """Tools number tasks anew when they are imported."""
    given = {**task(99, False), "data": {"text": "Ann", "id": "mine"}}
    _, _, places = read_spans([given], return_places=True)
    assert places[0].id == "mine"
