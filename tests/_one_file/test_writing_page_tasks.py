"""Texts that a page reads, and the files that it hands on, without a page: Node and
`read_spans`.
"""

import io
import json
import random
import subprocess
from importlib.resources import files

import pytest
from one_file_cases import NODE, needs_node

from skstruct.datasets import read_spans
from skstruct.datasets.formats.span_records import SPAN_KEYS

pytestmark = needs_node

DRIVER = """
const words = /[A-Z][A-Za-z0-9_]+/g;
const given = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(given.map(({ name, text, linewise, tool }) => {
  try {
    const records = readTexts({ name, text }, linewise);
    for (const one of records) one.spans = Array.from(one.text.matchAll(words), (m) => [m.index, m.index + m[0].length, "M"]);
    return { texts: records.map((one) => one.text), had: records.map((one) => one.hadSpans), written: TOOLS[tool].write(records, "a model") };
  } catch (error) {
    return { error: error.message };
  }
})));
"""

FORMATS = ["doccano", "label-studio", "prodigy"]


def ran(*cases):
    """What happens in each case, in one process."""
    source = files("skstruct._one_file").joinpath("page", "tasks.js").read_text("utf-8")
    source = source.replace("SPAN_KEYS = []", f"SPAN_KEYS = {json.dumps(SPAN_KEYS)}")
    usual = {"name": "a.jsonl", "linewise": False, "tool": "doccano"}
    done = subprocess.run(
        [NODE, "-e", source + DRIVER],
        input=json.dumps([{**usual, **case} for case in cases]).encode(),
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def lines(*records):
    """Records as JSON lines."""
    return "".join(json.dumps(record) + "\n" for record in records)


WORDS = ["Ann", "Rome", "😀", "שלום", "in", "  ", "\r\n", "\n", "x😀Y", '"\\', "\u2028"]


@pytest.mark.parametrize("tool", FORMATS)
def test_tools_read_what_is_written(tool):
    """Texts stay as they are, and spans cover what they covered, whatever offsets
    count.
    """
    draw = random.Random(0)
    texts = [
        "".join(draw.choices(WORDS, k=draw.randint(1, 9))) + "Z" for _ in range(99)
    ]
    records = [{"id": k, "text": text} for k, text in enumerate(texts)]
    (found,) = ran({"text": lines(*records), "tool": tool})
    X, y, metadata = read_spans(
        io.StringIO(found["written"], newline=""),
        tool,
        offsets="utf-16" if tool == "label-studio" else "characters",
        return_metadata=True,
    )
    assert X == texts == found["texts"]
    covered = [[x[a:b] for a, b, _ in spans] for x, spans in zip(X, y)]
    words = "Ann", "Rome"
    assert all(len(each) == len(set(map(tuple, s))) for each, s in zip(covered, y))
    assert sum(map(len, covered)) > 50
    assert all(
        any(w in c for w in (*words, "Y", "Z")) for each in covered for c in each
    )
    assert {label for spans in y for _, _, label in spans} == {"M"}
    assert [each["id"] for each in metadata] == list(range(99))


@pytest.mark.parametrize("tool", FORMATS)
def test_formats_are_those_of_write_spans(tool, tmp_path):
    from skstruct.datasets import write_spans

    text = "😀 Ann in Rome"
    (found,) = ran({"text": lines({"text": text, "id": 7}), "tool": tool})
    spans = [[(2, 5, "M"), (9, 13, "M")]]
    version = {"model_version": "a model"} if tool == "label-studio" else {}
    path = tmp_path / "a"
    with pytest.warns(UserWarning) if tool == "doccano" else nothing():
        write_spans(path, [text], spans, tool, metadata=[{"id": 7}], **version)
    read = json.loads
    assert read(found["written"]) == read(path.read_text(encoding="utf-8"))


def nothing():
    """A context of nothing."""
    import contextlib

    return contextlib.nullcontext()


@pytest.mark.parametrize("key", SPAN_KEYS)
def test_spans_of_files_make_place(key):
    given = {"text": "Ann", key: [[1, 2, "X"]], "answer": "reject", "_view_id": "ner"}
    found, none = ran({"text": lines(given)}, {"text": lines({"text": "Ann", key: []})})
    assert (found["had"], none["had"]) == ([True], [False])
    assert json.loads(found["written"]) == {"text": "Ann", "label": [[0, 3, "M"]]}


def test_plain_texts():
    text = "Ann\r\nis here\r\n"
    whole, by_lines = ran(
        {"name": "a.txt", "text": text},
        {"name": "a.txt", "text": text, "linewise": True},
    )
    assert whole["texts"] == [text]
    assert by_lines["texts"] == ["Ann", "is here"]


ODD = {
    "no text: found keys data": '{"data": {"text": "Ann"}}',
    "JSON": '{"text": NaN',
    "expected an object": "[1]x",
    "would be rounded": '{"text": "Ann", "meta": {"id": 9007199254740993123}}',
}


@pytest.mark.parametrize("said", ODD)
def test_odd_lines_are_named(said):
    file = '{"text": "Rome"}\n\n ' + ODD[said].replace("[1]x", "7")
    (found,) = ran({"text": file})
    assert found["error"].startswith("a.jsonl, line 3: ") and said in found["error"]


def test_lists_are_refused_with_what_converts_them():
    (found,) = ran({"name": "x.json", "text": '[["Ann", {"entities": []}]]'})
    assert 'write_spans("texts.jsonl", *read_spans("x.json"))' in found["error"]


def test_many_lines():
    """No call has an argument for each line."""
    (found,) = ran({"text": '{"text": "Ann in Rome"}\n' * 130_000})
    assert len(found["texts"]) == 130_000
