"""The records of the page that annotates, in Node: files, changes and undo, against `read_spans`."""

import io
import json
import random
import re
import subprocess
import warnings
from importlib.resources import files

import pytest
from one_file_cases import NODE, needs_node

from skstruct.datasets import read_spans, to_utf16
from skstruct.formats.span_records import SPAN_KEYS

pytestmark = needs_node

DRIVER = """
const words = /[A-Z][A-Za-z0-9_]+/g, whole = ["undo", "redo", "text", "unsaved"];
const predict = (text) => Array.from(text.matchAll(words), (m) => [m.index, m.index + m[0].length, "M"]);
const given = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(given.map(({ files, linewise, steps }) => {
  const records = new Records(predict), answers = [];
  try {
    answers.push(records.open(files, linewise));
    for (const [name, ...values] of steps) {
      if (name === "all") records.all.forEach((one) => records.spans(one));
      else {
        const place = whole.includes(name) ? [] : [records.all[values.shift()]];
        const answer = records[name](...place, ...values);
        answers.push(name === "undo" || name === "redo" ? records.all.indexOf(answer) : answer);
      }
    }
  } catch (error) {
    return { answers, error: error.message };
  }
  const told = ({ text }, { start, end, label }) => ({ start, end, label, covers: text.slice(start, end) });
  const shown = (one) => [one.state.text, records.spans(one).map((span) => told(one.state, span))];
  const spans = records.all.slice(0, 9).map(shown);
  return { answers, unit: records.unit, n: records.all.length, spans };
})));
"""


def ran(cases):
    """What happens in each case of files and steps, in one process."""
    source = (files("skstruct.interchange.one_file") / "page" / "records.js").read_text(encoding="utf-8")
    program = source.replace("SPAN_KEYS = []", f"SPAN_KEYS = {json.dumps(SPAN_KEYS)}") + DRIVER
    done = subprocess.run(
        [NODE, "-e", program], input=json.dumps(cases).encode(), capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def one(text, *steps, name="a.jsonl", **options):
    """What happens to one file."""
    return ran([{"files": [{"name": name, "text": text}], "steps": steps, **options}])[0]


def saved(text, *steps, **options):
    """What is written after some steps."""
    return one(text, *steps, ["text"], **options)["answers"][-1]


# -- random operations against a model that holds a text as a list -------------------------------------
WORDS = [
    "Ann",
    "Rome",
    "😀",
    "שלום",
    "in",
    "  ",
    "\r\n",
    "\n",
    "é",
    "x😀y",
    "Bob\r\n",
    '"\\',
    "\u2028",
    "{[,:",
]
LABELS = ["PER", "LOC", 'A "b"']
OTHERS = [
    '"id": 9007199254740993123', '"x": 1.0', '"y": {"spans": [1, "}"]}', '"__proto__": 1e400', '"n": null',
    '"constructor": [[]]', '"s": "\\u00e9\\ud83d"',
]  # fmt: skip


def pieces(text):
    """A text as a list in which the two signs of an end of line are one."""
    return re.findall(r"\r\n|.", text, re.DOTALL)


class Naive:
    """A record: a list of pieces, spans [start, end, label] of pieces, and whether the model has the word."""

    def __init__(self, text, spans):
        self.text, self.own = pieces(text), spans is None
        self.spans = self.predicted() if spans is None else spans

    def state(self):
        return self.text, self.spans, self.own

    def predicted(self):
        at = [0]
        for piece in self.text:
            at.append(at[-1] + len(piece))
        found = re.finditer("[A-Z][A-Za-z0-9_]+", "".join(self.text))
        return [(at.index(m.start()), at.index(m.end()), "M") for m in found]

    def edit(self, a, b, new):
        cut = self.text[a:b]
        while cut and new and cut[0] == new[0]:
            a, cut, new = a + 1, cut[1:], new[1:]
        by = len(new) - (b - a)
        self.text = self.text[:a] + new + self.text[b:]
        kept = [span for span in self.spans if span[1] <= a or span[0] >= b]
        self.spans = (
            self.predicted()
            if self.own
            else [(s, e, x) if s < b or e <= a else (s + by, e + by, x) for s, e, x in kept]
        )

    def mark(self, a, b, label):
        while a < b and not self.text[a].strip():
            a += 1
        while a < b and not self.text[b - 1].strip():
            b -= 1
        others = [span for span in self.spans if span[1] <= a or span[0] >= b]
        self.spans, self.own = sorted([*others, (a, b, label)]), False

    def written(self):
        """The text, and the spans in characters."""
        at = [0]
        for piece in self.text:
            at.append(at[-1] + len(piece))
        return "".join(self.text), [(at[s], at[e], x) for s, e, x in self.spans]


def random_text(draw):
    return "".join(draw.choices(WORDS, k=draw.randint(1, 8)))


def random_spans(draw, text):
    """Spans of pieces, without white space at their ends."""
    out, at = [], 0
    while at < len(text):
        end = at + draw.randint(1, 4)
        if end <= len(text) and draw.random() < 0.4 and text[at].strip() and text[end - 1].strip():
            out.append((at, end, draw.choice(LABELS)))
        at = end
    return out


def random_line(draw, kind, unit):
    """A line of a file and its record."""
    text = random_text(draw)
    spans = None if kind == "plain" else random_spans(draw, pieces(text))
    record = Naive(text, spans)
    values = {"text": text}
    given = record.written()[1] if spans is not None else []
    counted = to_utf16([text], [given])[0] if unit == "utf-16" else given
    draw.shuffle(order := list(zip(counted, given)))
    if kind == "doccano":
        values["label"] = [list(span) for span, _ in order]
    elif kind == "entities":
        names = "start_offset", "end_offset", "label"
        values["entities"] = [{"id": 2**60 + k, **dict(zip(names, s))} for k, (s, _) in enumerate(order)]
    elif kind == "spans":
        names = "start", "end", "label"
        values["spans"] = [
            {**dict(zip(names, span)), "text": text[a:b], "more": [1.5]} for span, (a, b, _) in order
        ]
    members = [
        f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=draw.random() < 0.5)}" for k, v in values.items()
    ]
    members += draw.sample(OTHERS, draw.randint(0, 3))
    draw.shuffle(members)
    return "{" + draw.choice([", ", ",", " ,\t"]).join(members) + "}", record


def random_case(seed):
    """A file, steps, and the records as they should be."""
    draw = random.Random(seed)
    kind, unit = draw.choice(["plain", "doccano", "entities", "spans"]), draw.choice(["characters", "utf-16"])
    made = [random_line(draw, kind, unit) for _ in range(draw.randint(1, 4))]
    end = draw.choice(["\n", "\r\n"])
    file = end.join(line for line, _ in made) + draw.choice(["", end, end + "\n"])
    records, steps = [record for _, record in made], []
    past, future = [], []
    for _ in range(draw.randint(0, 25)):
        k = draw.randrange(len(records))
        record = records[k]
        name = draw.choice(["edit", "edit", "mark", "relabel", "remove", "accept", "undo", "redo"])
        if name in ("undo", "redo"):
            steps.append([name])
            source, target = (past, future) if name == "undo" else (future, past)
            if source:
                k, before, after, kind_of = source.pop()
                target.append((k, before, after, kind_of))
                records[k].text, records[k].spans, records[k].own = before if name == "undo" else after
            continue
        before = record.state()
        if name == "edit":
            a = draw.randint(0, len(record.text))
            b = draw.choice([a, a, draw.randint(a, len(record.text))])
            new = pieces(random_text(draw)) if a == b or draw.random() < 0.5 else []
            if "\r\n" not in record.text:
                new = ["\n" if piece == "\r\n" else piece for piece in new]
            else:
                new = ["\r\n" if piece == "\n" else piece for piece in new]
            if record.text[a:b] == new:
                continue
            shown = [
                "\n" if piece == "\r\n" else piece for piece in [*record.text[:a], *new, *record.text[b:]]
            ]
            caret = sum(len(piece.encode("utf-16-le")) // 2 for piece in shown[: a + len(new)])
            steps.append(["edit", k, "".join(shown), caret])
            record.edit(a, b, new)
        elif name == "mark":
            a, b = sorted(draw.choices(range(len(record.text) + 1), k=2))
            if not "".join(record.text[a:b]).strip():
                continue
            units = [len("".join(record.text[:at]).encode("utf-16-le")) // 2 for at in (a, b)]
            steps.append(["mark", k, *units, label := draw.choice(LABELS)])
            record.mark(a, b, label)
        elif name == "accept":
            steps.append(["accept", k])
            record.own = False
        elif record.spans:
            j = draw.randrange(len(record.spans))
            spans, label = list(record.spans), draw.choice(LABELS)
            spans[j : j + 1] = [(*spans[j][:2], label)] if name == "relabel" else []
            steps.append([name, k, j, *([label] if name == "relabel" else [])])
            record.spans, record.own = spans, False
        else:
            continue
        last = past[-1] if past else None
        if name == "edit" and last and last[0] == k and last[3] == "edit" and last[2] == before:
            past[-1] = k, last[1], record.state(), "edit"
        else:
            past.append((k, before, record.state(), name))
        future = []
    told = kind in ("plain", "spans")  # else words alone tell what offsets count, and there are none here
    return file, None if told else unit, steps, records


def test_random_steps():
    """Each saved file is read as what the page shows."""
    cases = [random_case(seed) for seed in range(400)]
    found = ran(
        [
            {"files": [{"name": "a.jsonl", "text": file}], "steps": [*steps, ["all"], ["text"]]}
            for file, _, steps, _ in cases
        ]
    )
    for seed, ((file, unit, _, records), got) in enumerate(zip(cases, found)):
        if unit not in (None, got.get("unit")):
            continue
        assert "error" not in got, (seed, got)
        unit = got["unit"]
        expected = [record.written() for record in records]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X, y, metadata = read_spans(
                io.StringIO(got["answers"][-1], newline=""), offsets=unit, return_metadata=True
            )
            _, _, before = read_spans(io.StringIO(file, newline=""), offsets=unit, return_metadata=True)
        assert [(text, sorted(spans)) for text, spans in zip(X, y)] == expected, seed
        others = [{k: v for k, v in each.items() if k not in ("answer", "reviewed")} for each in metadata]
        assert others == before, seed


def test_what_is_undone_is_written_to_the_letter():
    cases = [random_case(seed) for seed in range(100)]
    found = ran(
        [
            {
                "files": [{"name": "a.jsonl", "text": file}],
                "steps": [*steps, *[["undo"]] * 30, ["text"], ["unsaved"]],
            }
            for file, _, steps, _ in cases
        ]
    )
    predicted = re.compile(r'(, | ,\t|,)"spans": \[[^\n]*?\]\1"reviewed": false')
    for (file, *_), got in zip(cases, found):
        written, unsaved = got["answers"][-2:]
        assert (predicted.sub("", written), unsaved) == (file, 0)


# -- files ---------------------------------------------------------------------------------------------
def test_what_a_line_holds_besides_stays():
    """Numbers beyond 2^53, other fields of spans and of lines, and ends of lines."""
    line = '{"id": 9007199254740993123, "text": "Ann in Rome", "entities": [{"id": 18446744073709551617, '
    line += '"label": "PER", "start_offset": 0, "end_offset": 3, "by": "Bo"}], "z": 1.0}\r\n'
    assert saved(line) == line
    assert saved(line, ["relabel", 0, 0, "ORG"]) == line.replace("PER", "ORG")
    both = saved(line, ["mark", 0, 7, 11, "LOC"])
    assert both == line.replace("}]", '}, {"start_offset": 7, "end_offset": 11, "label": "LOC"}]')
    assert saved(line, ["mark", 0, 7, 11, "LOC"], ["remove", 0, 1]) == line
    assert saved(line, ["accept", 0]) == line.replace("1.0}", '1.0, "answer": "accept"}')


@pytest.mark.parametrize("key", SPAN_KEYS)
def test_the_keys_that_are_read(key):
    line = json.dumps({"text": "Ann in Rome", key: [[7, 11, "LOC"]]}) + "\n"
    _, spans = one(line)["spans"][0]
    assert [(span["covers"], span["label"]) for span in spans] == [("Rome", "LOC")]
    assert saved(line, ["mark", 0, 0, 3, "PER"]) == line.replace("[[", '[[0, 3, "PER"], [')


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
    spans = one('{"text": "Ann in Rome", "spans": [[7, 11, "LOC"], [0, 3, "PER"]]}')["spans"][0][1]
    assert [span["start"] for span in spans] == [0, 7]


def test_many_lines():
    """No call has an argument for each line."""
    line = '{"text": "Ann in Rome", "label": [[7, 11, "LOC"]]}\n'
    found = ran([{"files": [{"name": "a.jsonl", "text": line * 130_000}], "steps": [["unsaved"]]}])[0]
    assert found["n"] == 130_000 and found["answers"][-1] == 0


# -- what offsets count --------------------------------------------------------------------------------
def lines_of(unit, *texts, marked="Rome"):
    spans = [[(text.index(marked), text.index(marked) + len(marked), "LOC")] for text in texts]
    counted = to_utf16(texts, spans) if unit == "utf-16" else spans
    return "\n".join(json.dumps({"text": x, "label": list(map(list, y))}) for x, y in zip(texts, counted))


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
    assert [text[span.start : span.end] for text, (span,) in zip(texts, expected)] == ["Rome"] * 3
    changed = saved(file, ["relabel", 0, 0, "PLACE"])
    assert changed == file.replace("LOC", "PLACE", 1)
    told = one(lines_of(unit, "😀" * 3 + " Rome"))
    assert [span["covers"] for _, (span,) in told["spans"]] == ["Rome"]


def test_a_line_that_counts_otherwise_is_an_error():
    file = lines_of("characters", *["😀 in Rome, then"] * 20) + "\n" + lines_of("utf-16", "😀 so 😀 Rome")
    with pytest.raises(ValueError, match="UTF-16"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read_spans(io.StringIO(file))
    assert "a.jsonl, line 21: its spans fit the text only in utf-16" in one(file)["error"]


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
            {"files": [{"name": name, "text": "s" + text}], "steps": [["edit", 0, f"s{v}", c + 1]]}
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
        "", ["edit", 0, "A", 1], ["edit", 0, "An", 2], ["edit", 0, "Ann", 3], ["undo"], ["redo"], name="a.txt"
    )
    assert "there is no text" in got["error"]
    steps = ["edit", 0, "I A", 3], ["edit", 0, "I An", 4], ["undo"], ["redo"], ["redo"], ["undo"], ["undo"]
    got = one("I", *steps, name="a.txt")
    assert got["answers"][3:] == [0, 0, -1, 0, -1]
    assert [len(each["spans"][0][1]) for each in (got, one("I", *steps[:2], name="a.txt"))] == [0, 1]


def test_plain_texts_become_lines():
    text = "Ann\r\nis here\r\n"
    assert json.loads(saved(text, ["all"], name="a.txt"))["text"] == text
    both = saved(text, ["all"], name="a.txt", linewise=True).splitlines()
    assert [json.loads(line)["text"] for line in both] == ["Ann", "is here"]


def test_marks_are_checked():
    for place in ([0, 1], [2, 2], [3, 9], [1, 3]):
        assert "Select text first" in one('{"text": "😀 a"}', ["mark", 0, *place, "A"])["error"] or place == [
            1,
            3,
        ]
