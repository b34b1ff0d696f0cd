"""Random files as annotation tools write them, in either unit of offsets, and random
files of brat.
"""

import random
import re

import pytest
from span_oracle import random_text

from skstruct._data.spans import from_utf16, to_utf16
from skstruct.datasets import read_spans, write_spans

WORDS = "Ann 🚒 é e\u0301x 北京 Zoë 👩🏽\u200d🚒 \ufeff Oslo, 𝒜𝒷 (Bo) 12:30 🇳🇴 \x85 नमस्ते".split(
    " "
)
GAPS = " ", " ", "\r\n", "\n", "\t", "  ", "\u00a0", ""


def random_record(rng, at_words):
    """A text and spans, which end where words do or anywhere."""
    if not at_words and rng.random() < 0.5:
        text = random_text(rng)
        edges = [
            sorted(rng.choices(range(len(text) + 1), k=2))
            for _ in range(rng.randrange(4))
        ]
    else:
        text, places = "", []
        for word in rng.choices(WORDS, k=rng.randrange(1, 12)):
            text += rng.choice(GAPS)
            places.append((len(text), len(text) + len(word)))
            text += word
        chosen = [
            sorted(rng.choices(range(len(places)), k=2))
            for _ in range(rng.randrange(4))
        ]
        edges = [(places[a][0], places[b][1]) for a, b in chosen]
    return text, [
        (start, end, rng.choice(["PER", "LOC", "ü 🚒"])) for start, end in edges
    ]


def random_corpus(rng, n=30, at_words=False):
    """Texts of which at least one is longer in UTF-16, with a span there."""
    records = [random_record(rng, at_words) for _ in range(n)]
    X, y = zip(*records, ("🚒 in Rome", [(5, 9, "LOC")]))
    return list(X), list(y)


def jsonl(text, spans, covered):
    rows = [
        {"start_offset": s, "end_offset": e, "label": label} for s, e, label in spans
    ]
    return {
        "text": text,
        "entities": [{**row, **said} for row, said in zip(rows, covered)],
    }


def prodigy(text, spans, covered):
    rows = [
        {"start": s, "end": e, "token_end": 9, "label": label} for s, e, label in spans
    ]
    rows = [{**row, **said} for row, said in zip(rows, covered)]
    return {"text": text, "spans": rows, "answer": "accept", "_task_hash": 1}


def label_studio(text, spans, covered):
    values = [{"start": s, "end": e, "labels": [label]} for s, e, label in spans]
    result = [
        {"type": "labels", "value": {**value, **said}}
        for value, said in zip(values, covered)
    ]
    return {"id": 3, "data": {"text": text}, "annotations": [{"result": result}]}


def label_studio_min(text, spans, covered):
    rows = [{"start": s, "end": e, "labels": [label]} for s, e, label in spans]
    return {
        "id": 3,
        "text": text,
        "label": [{**row, **said} for row, said in zip(rows, covered)],
    }


SAYING = jsonl, prodigy, label_studio, label_studio_min
"""Tools whose files may say what a span covers."""


def doccano(text, spans, _):
    return {"text": text, "label": [list(span) for span in spans]}


def spacy(text, spans, _):
    return [text, {"entities": [list(span) for span in spans]}]


def written(tool, X, y, given, saying=True):
    """Records of a tool, with offsets as ``given``."""
    covered = [
        [{"text": x[s:e]} if saying else {} for s, e, _ in spans]
        for x, spans in zip(X, y)
    ]
    return [tool(*record) for record in zip(X, given, covered)]


@pytest.mark.parametrize("tool", SAYING)
@pytest.mark.parametrize("utf16", [False, True])
@pytest.mark.filterwarnings("error")
def test_what_spans_say_decides(tool, utf16):
    for seed in range(20):
        X, y = random_corpus(random.Random(seed))
        assert read_spans(written(tool, X, y, to_utf16(X, y) if utf16 else y)) == (X, y)


@pytest.mark.parametrize("tool", [jsonl, doccano, label_studio, label_studio_min])
@pytest.mark.parametrize("utf16", [False, True])
@pytest.mark.filterwarnings("ignore:.*offsets are read as")
def test_ends_of_words_decide(tool, utf16):
    for seed in range(20):
        X, y = random_corpus(random.Random(seed), at_words=True)
        records = written(tool, X, y, to_utf16(X, y) if utf16 else y, saying=False)
        unit = "utf-16" if utf16 else "characters"
        if utf16 or tool in (jsonl, doccano):  # Label Studio counts UTF-16 units
            assert read_spans(records) == (X, y)
        assert read_spans(records, offsets=unit) == (X, y)


@pytest.mark.parametrize("tool", [prodigy, spacy])
@pytest.mark.filterwarnings("error")
def test_tools_that_count_characters(tool):
    for seed in range(20):
        X, y = random_corpus(random.Random(seed))
        assert read_spans(written(tool, X, y, y, saying=False)) == (X, y)


@pytest.mark.parametrize("tool", SAYING)
def test_offsets_of_neither_unit_are_refused(tool):
    """One span of a random file is moved: the error names its record."""
    for seed in range(40):
        rng = random.Random(seed)
        X, y = random_corpus(rng)
        i = rng.choice([i for i, spans in enumerate(y) if spans])
        k = rng.randrange(len(y[i]))
        moved = [list(spans) for spans in to_utf16(X, y)]
        start, end, label = moved[i][k]
        by = rng.choice([-3, 5, 1000])
        moved[i][k] = (start + by, end + by, label)
        try:
            (found,) = from_utf16([X[i]], [[moved[i][k]]])
        except ValueError:
            found = None
        same = (
            found
            and X[i][found[0].start : found[0].end].split()
            == X[i][y[i][k][0] : y[i][k][1]].split()
        )
        if not same:
            with pytest.raises(ValueError, match=rf"^record {i}\b.* span {k}\b"):
                read_spans(written(tool, X, y, moved), offsets="utf-16")


# --------------------------------------------------------------------------------------
# brat
# --------------------------------------------------------------------------------------
def random_ann(rng, text):
    """The lines of a file, and its spans: as they are covered, and which of them have
    parts apart.
    """
    lines, spans = [], []
    for k in range(rng.randrange(8)):
        label = rng.choice(["PER", "Gene_or-protein", "Größe"])
        edges = sorted(
            rng.choices(range(len(text) + 1), k=2 * rng.choice([1, 1, 2, 3]))
        )
        parts = list(zip(edges[::2], edges[1::2]))
        shown = " ".join(re.sub(r"[\r\n]", " ", text[a:b]) for a, b in parts)
        offsets = ";".join(f"{a} {b}" for a, b in parts)
        lines.append(f"T{k + 1}\t{label} {offsets}\t{shown}")
        apart = any(text[b:c].strip() for (_, b), (c, _) in zip(parts, parts[1:]))
        spans.append(((edges[0], edges[-1], label), apart))
        lines += rng.sample(OTHER_LINES, rng.randrange(3))
    return lines, spans


OTHER_LINES = [
    "R1\tWorks-for Arg1:T1 Arg2:T2",
    "E1\tMeet:T1 Who:T2 Who2:T3",
    "A1\tNegated T1",
    "M2\tSure E1 Low",
    "*\tEquiv T1 T2 T3",
    "N1\tReference T1 Wikipedia:534366\tBarack Obama 🚒",
    "#1\tAnnotatorNotes T1\ta note about T2\t0 5",
    "",
]


def test_random_files_of_brat(tmp_path):
    rng, expected = random.Random(0), []
    for k in range(172):
        text = random_record(rng, rng.random() < 0.5)[0].replace("\ud800", "")
        lines, spans = random_ann(rng, text)
        end = rng.choice(["\n", "\r\n"])
        file = tmp_path / "all" / rng.choice(["", "deeper"]) / f"{k:03}.ann"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.with_suffix(".txt").write_bytes(text.encode())
        file.write_bytes("".join(line + end for line in lines).encode())
        expected.append((file, text, spans))
    expected.sort()
    X = [text for _, text, _ in expected]
    everything = [[span for span, _ in spans] for *_, spans in expected]
    whole = [[span for span, apart in spans if not apart] for *_, spans in expected]
    assert sum(map(len, everything)) > 500 and sum(map(len, whole)) < sum(
        map(len, everything)
    )
    assert read_spans(tmp_path / "all", discontinuous="cover") == (X, everything)
    found = read_spans(tmp_path / "all", discontinuous="skip", return_metadata=True)
    assert found[:2] == (X, whole)
    write_spans(tmp_path / "again", X, whole, "brat", metadata=found[2])
    assert read_spans(tmp_path / "again", return_metadata=True) == found
    with pytest.raises(
        ValueError, match=r"\.ann, line \d+: the span .* is discontinuous"
    ):
        read_spans(tmp_path / "all")
