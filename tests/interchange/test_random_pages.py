"""Random changes to the records of a page, against a model that holds a text as a list, and `read_spans`."""

import io
import json
import random
import re
import warnings

from one_file_cases import needs_node
from page_records import ran

from skstruct.datasets import read_spans, to_utf16

pytestmark = needs_node

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
            else [
                (s, e, x) if s < b or e <= a else (s + by, e + by, x)
                for s, e, x in kept
            ]
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
        if (
            end <= len(text)
            and draw.random() < 0.4
            and text[at].strip()
            and text[end - 1].strip()
        ):
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
        values["entities"] = [
            {"id": 2**60 + k, **dict(zip(names, s))} for k, (s, _) in enumerate(order)
        ]
    elif kind == "spans":
        names = "start", "end", "label"
        values["spans"] = [
            {**dict(zip(names, span)), "text": text[a:b], "more": [1.5]}
            for span, (a, b, _) in order
        ]
    members = [
        f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=draw.random() < 0.5)}"
        for k, v in values.items()
    ]
    members += draw.sample(OTHERS, draw.randint(0, 3))
    draw.shuffle(members)
    return "{" + draw.choice([", ", ",", " ,\t"]).join(members) + "}", record


def random_case(seed):
    """A file, steps, and the records as they should be."""
    draw = random.Random(seed)
    kind, unit = (
        draw.choice(["plain", "doccano", "entities", "spans"]),
        draw.choice(["characters", "utf-16"]),
    )
    made = [random_line(draw, kind, unit) for _ in range(draw.randint(1, 4))]
    end = draw.choice(["\n", "\r\n"])
    file = end.join(line for line, _ in made) + draw.choice(["", end, end + "\n"])
    records, steps = [record for _, record in made], []
    past, future = [], []
    for _ in range(draw.randint(0, 25)):
        k = draw.randrange(len(records))
        record = records[k]
        name = draw.choice(
            ["edit", "edit", "mark", "relabel", "remove", "accept", "undo", "redo"]
        )
        if name in ("undo", "redo"):
            steps.append([name])
            source, target = (past, future) if name == "undo" else (future, past)
            if source:
                k, before, after, kind_of = source.pop()
                target.append((k, before, after, kind_of))
                records[k].text, records[k].spans, records[k].own = (
                    before if name == "undo" else after
                )
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
                "\n" if piece == "\r\n" else piece
                for piece in [*record.text[:a], *new, *record.text[b:]]
            ]
            caret = sum(
                len(piece.encode("utf-16-le")) // 2 for piece in shown[: a + len(new)]
            )
            steps.append(["edit", k, "".join(shown), caret])
            record.edit(a, b, new)
        elif name == "mark":
            a, b = sorted(draw.choices(range(len(record.text) + 1), k=2))
            if not "".join(record.text[a:b]).strip():
                continue
            units = [
                len("".join(record.text[:at]).encode("utf-16-le")) // 2 for at in (a, b)
            ]
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
        if (
            name == "edit"
            and last
            and last[0] == k
            and last[3] == "edit"
            and last[2] == before
        ):
            past[-1] = k, last[1], record.state(), "edit"
        else:
            past.append((k, before, record.state(), name))
        future = []
    told = kind in (
        "plain",
        "spans",
    )  # else words alone tell what offsets count, and there are none here
    return file, None if told else unit, steps, records


def test_random_steps():
    """Each saved file is read as what the page shows."""
    cases = [random_case(seed) for seed in range(400)]
    found = ran(
        [
            {
                "files": [{"name": "a.jsonl", "text": file}],
                "steps": [*steps, ["all"], ["text"]],
            }
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
                io.StringIO(got["answers"][-1], newline=""),
                offsets=unit,
                return_metadata=True,
            )
            _, _, before = read_spans(
                io.StringIO(file, newline=""), offsets=unit, return_metadata=True
            )
        assert [(text, sorted(spans)) for text, spans in zip(X, y)] == expected, seed
        others = [
            {k: v for k, v in each.items() if k not in ("answer", "reviewed")}
            for each in metadata
        ]
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
