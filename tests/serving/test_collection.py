"""The file of annotations: what an annotation writes, and what a crash can leave.

Of the kind *work of a file's size for one record* there are no others: models and
corpora are written once.
"""

import builtins
import json
import threading

import pytest

from skstruct.datasets import read_spans
from skstruct.serving import collection
from skstruct.serving.collection import Collection, Lines

WORDS = "Ann Bob Cid Dan Eve".split()


def annotation(number, start=0, end=3):
    value = {"start": start, "end": end, "labels": ["PER"]}
    region = {
        "id": "r",
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        "value": value,
    }
    return {"id": number, "result": [region]}


def line(task, text="Ann", number=None):
    record = {"text": text, "spans": [], "id": task}
    record |= {} if number is None else {"annotation": number}
    return json.dumps(record) + "\n"


def texts(path):
    return read_spans(path)[0]


@pytest.fixture
def written(monkeypatch):
    """Bytes by file name that the collection writes."""
    found = {}

    def counting(path, mode="r", **options):
        file = builtins.open(path, mode, **options)
        return Counting(file, found) if "+" in mode else file

    class Counting:
        def __init__(self, file, found):
            self.file = file
            self.found = found

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def __getattr__(self, name):
            return getattr(self.file, name)

        def write(self, data):
            n = self.file.write(data[:7])  # a device may take less than it is given
            self.found[self.file.name] = self.found.get(self.file.name, 0) + n
            return n

    monkeypatch.setattr(collection, "open", counting, raising=False)
    return found


def test_an_annotation_costs_its_own_bytes(tmp_path, written, monkeypatch):
    """However many there are, and whether it is new, changed or deleted."""
    path = tmp_path / "notes.jsonl"
    path.write_text("".join(line(k, "Ann met Bob.", k) for k in range(3000)))
    found = Collection(path)
    found.open()
    monkeypatch.setattr(
        collection, "atomic_write", None
    )  # the file is not written anew
    size = path.stat().st_size
    for task in 5000, 1500:
        written.clear()
        found.keep(task, "Ann", annotation(7000 + task), "label")
        (n,) = written.values()
        assert n < 300
    assert path.stat().st_size - size < 300
    written.clear()
    found.replace("annotation", {"17"})
    found.replace("id", {"18", "none"})
    assert 0 < sum(written.values()) < 200
    records = [record for record in Lines(path).records if record is not None]
    assert len(records) == 3000 + 1 - 2
    assert {17, 18}.isdisjoint(record["id"] for record in records)
    assert len(texts(path)) == len(
        records
    )  # at any time, not only after the next start


def test_the_next_start_leaves_the_blanks_out(tmp_path):
    path = tmp_path / "notes.jsonl"
    found = Collection(path)
    for number in range(5):
        found.keep(3, WORDS[number], annotation(number), "label")
    assert path.read_text().count("\n") == 5 and texts(path) == ["Eve"]
    again = Collection(path)
    again.open()
    assert path.read_text().count("\n") == 1 and texts(path) == ["Eve"]
    before = path.stat().st_ino
    Collection(path).open()
    assert path.stat().st_ino == before  # what is clean is left alone
    again.keep(4, "Bob", annotation(9), "label")
    again.replace("annotation", {"4"})
    assert texts(path) == ["Bob"]


OLD = line(1, "Ann", 10) + line(2, "Bob", 11)


@pytest.mark.parametrize(
    "left, expected, said",
    [
        (OLD + '{"text": "Ci', ["Ann", "Bob"], "line 3: cut short"),  # the new line
        (
            OLD + line(3, "Cid", 12)[:-1],
            ["Ann", "Bob", "Cid"],
            None,
        ),  # only its end is missing
        (
            OLD + line(1, "Cid", 12),
            ["Bob", "Cid"],
            None,
        ),  # the old one was not blanked out yet
        (
            " " * 20 + OLD[20:] + line(1, "Cid", 12),
            ["Bob", "Cid"],
            "line 1: partly blank",
        ),
        ('{"text": "Ann', [], "line 1: cut short"),
    ],
)
def test_a_crash_loses_nothing(left, expected, said, tmp_path, caplog):
    path = tmp_path / "notes.jsonl"
    path.write_text(left)
    assert read_spans(Lines(path).text())[0] == expected  # as a training reads it
    assert path.read_text() == left
    found = Collection(path)
    found.open()
    assert texts(path) == expected
    assert (
        (f"{path}, {said}, and left out" in caplog.text) if said else caplog.text == ""
    )
    found.keep(7, "Dan", annotation(70), "label")
    assert texts(path) == [*expected, "Dan"]


def test_what_was_in_the_file_before_stays(tmp_path):
    """Two texts with one id, as other programs write them, too."""
    path = tmp_path / "notes.jsonl"
    path.write_text(
        line(1, "Ann") + line(1, "Bob", 5) + line(1, "Cid", 6) + line(2, "Dan")
    )
    found = Collection(path)
    found.open()
    assert texts(path) == ["Ann", "Bob", "Cid", "Dan"]
    found.keep(1, "Eve", annotation(7), "label")
    assert texts(path) == ["Ann", "Dan", "Eve"]


def test_a_file_that_others_write_to_is_read_again(tmp_path):
    path = tmp_path / "notes.jsonl"
    found = Collection(path)
    found.keep(1, "Ann", annotation(1), "label")
    path.write_text(line(9, "Zoe") + path.read_text())
    found.keep(1, "Bob", annotation(2), "label")
    assert texts(path) == ["Zoe", "Bob"]
    path.unlink()
    found.keep(1, "Cid", annotation(3), "label")
    assert texts(path) == ["Cid"]


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path, written, monkeypatch):
    path = tmp_path / "notes.jsonl"
    found = Collection(path)
    found.keep(1, "Ann", annotation(1), "label")
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(collection.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        found.keep(1, "Bob", annotation(2), "label")
    assert path.read_bytes() == before
    monkeypatch.undo()
    found.keep(1, "Cid", annotation(3), "label")
    assert texts(path) == ["Cid"]


def test_threads_share_a_collection(tmp_path):
    path = tmp_path / "notes.jsonl"
    found = Collection(path)

    def collect(first):
        for k in range(40):
            found.keep(
                first + k % 20,
                f"text {first} {k}",
                annotation(100 * first + k, 0, 4),
                "label",
            )

    threads = [threading.Thread(target=collect, args=(1000 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(texts(path)) == sorted(
        f"text {1000 * f} {k}" for f in range(4) for k in range(20, 40)
    )


@pytest.mark.parametrize(
    "name, message", [("folder", "regular file"), ("none/notes", "does not exist")]
)
def test_files_that_cannot_be(name, message, tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises((ValueError, OSError), match=message):
        Collection(tmp_path / name)
    assert [each.name for each in tmp_path.rglob("*")] == ["folder"]


@pytest.mark.parametrize(
    "content", ["[]\n", "hello", "3\n", '{"a": 1}\nx\n{"b": 2}\n', '{"a": 1}\n[1']
)
def test_something_else_is_not_written_over(content, tmp_path):
    path = tmp_path / "notes"
    path.write_text(content)
    with pytest.raises(ValueError, match="expected JSON lines of objects"):
        Collection(path)
    assert path.read_text() == content
