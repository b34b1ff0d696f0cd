"""What a file holds, and all that is wrong in it."""

import io
import json

from skstruct.datasets import read_spans


def lines(*records):
    text = "\n".join(r if isinstance(r, str) else json.dumps(r) for r in records)
    return io.StringIO(text + "\n")


def test_all_faults_are_listed_and_the_rest_is_read():
    source = lines(
        {"id": 7, "text": "Ann", "spans": [[0, 3, "P"], [2, 40, "L"], [-1, 2, "L"]]},
        {"id": 8, "text": "Bob", "spans": [[0, 3, "P"]]},
        {"id": 9, "spans": []},
        '{"text": ',
        {"text": "Eve \U0001f600", "spans": []},
    )
    X, y, places, contents = read_spans(source, on_error="list", return_places=True)
    assert X == ["Bob", "Eve \U0001f600"] and y[0] == [(0, 3, "P")]
    assert [(w.record, w.id, w.line) for w in places] == [(1, 8, 2), (4, None, 5)]
    found = [(f.where.id, f.where.line, f.problem) for f in contents.faults]
    assert [each[:2] for each in sorted(found, key=lambda f: f[1])] == [
        (7, 1), (7, 1), (9, 3), (None, 4),
    ]  # fmt: skip
    assert any("(2, 40, 'L') leaves the text" in problem for *_, problem in found)
    assert contents.counts["faulty"] == 3 and contents.counts["records"] == 5
    assert (
        "5 records: 2 annotated (1 of them without spans), 3 faulty"
        in contents.summary()
    )


def task(k, *annotations):
    result = [
        {"type": "labels", "from_name": "l", "to_name": "t",
         "value": {"start": 0, "end": 3, "labels": ["PER"]}},
    ]  # fmt: skip
    return {
        "id": k,
        "data": {"text": "Ann"},
        "annotations": [
            {"was_cancelled": gone, "result": result} for gone in annotations
        ],
    }


def test_cancelled_tasks_are_counted_and_keep_the_numbers_of_others():
    tasks = [task(10, False), task(11, True), task(12), task(13, False, True)]
    source = io.StringIO(json.dumps(tasks))
    X, _, places, contents = read_spans(source, on_error="list", return_places=True)
    assert len(X) == 2 and [(w.record, w.id) for w in places] == [(0, 10), (3, 13)]
    assert contents.counts["cancelled"] == 1 and contents.counts["not annotated"] == 1
    assert "1 cancelled annotation beside others" in contents.summary()


def test_a_task_keeps_the_name_that_its_data_say():
    """Tools number tasks anew when they are imported."""
    given = {**task(99, False), "data": {"text": "Ann", "id": "mine"}}
    _, _, places = read_spans([given], return_places=True)
    assert places[0].id == "mine"
