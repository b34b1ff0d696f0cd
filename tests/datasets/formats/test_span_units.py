"""Units of offsets beside characters and UTF-16, by one vote of a file."""

import itertools
import random
import re
import unicodedata
import warnings

import pytest

from skstruct.datasets import iter_spans, read_spans
from skstruct.datasets.formats.span_offsets import SAMPLE
from skstruct.datasets.formats.span_units import (
    ENDS,
    UNITS,
    Count,
    edges_of,
    in_characters,
)

WORDS = ["Zoë", "Bo", "Århus", "Köln", "Ann", "Łódź", "Oslo", "naïve", "🚒", "Čapek"]
LABELS = ["PER", "LOC"]


def corpus(seed, n=12, crlf=True, wide=True):
    """Texts and spans that are whole words."""
    rng = random.Random(seed)
    words = [w for w in WORDS if wide or w.isascii()]
    X, y = [], []
    for _ in range(n):
        text, spans = "", []
        for _ in range(rng.randrange(4, 9)):
            word = rng.choice(words)
            if word != "🚒" and rng.random() < 0.6:
                spans.append((len(text), len(text) + len(word), rng.choice(LABELS)))
            text += word + (rng.choice([" ", ", ", "\r\n"]) if crlf else " ")
        X.append(text)
        y.append(spans)
    return X, y


def in_form(X, y, form):
    """Texts in a normal form, with the same spans."""

    def length(text):
        return len(unicodedata.normalize(form, text))

    texts = [unicodedata.normalize(form, text) for text in X]
    return texts, [
        [(length(text[:a]), length(text[:b]), label) for a, b, label in spans]
        for text, spans in zip(X, y)
    ]


def apart(X, y, unit):
    """Texts in the other form than a unit counts."""
    return in_form(X, y, "NFD") if unit.endswith("-nfc") else (X, y)


def written(X, y, unit, ends, saying=False):
    """Records whose offsets count a unit."""
    size = {
        "utf-16": lambda c: 1 + (c > "\uffff"),
        "utf-8": lambda c: len(c.encode()),
    }.get(unit.removesuffix("-lf").removesuffix("-from-1"), lambda _: 1)
    first = unit.endswith("-from-1")

    def offset(text):
        if unit.endswith("-lf"):
            text = text.replace("\r\n", "\n")
        if unit.endswith(("-nfc", "-nfd")):
            text = unicodedata.normalize(unit[-3:].upper(), text)
        return sum(map(size, text)) + first

    records = []
    for text, spans in zip(X, y):
        rows = []
        for a, b, label in spans:
            end = offset(text[:b]) - (ends == "inclusive")
            row = {"start": offset(text[:a]), "end": end, "label": label}
            rows.append({**row, "text": text[a:b]} if saying else row)
        records.append({"text": text, "spans": rows})
    return records


@pytest.mark.parametrize("saying", [False, True])
@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("unit", UNITS)
def test_each_unit_is_found_and_can_be_named(unit, ends, saying):
    """By words, and by what spans say they cover."""
    for seed in range(5):
        X, y = apart(*corpus(seed), unit)
        records = written(X, y, unit, ends, saying)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            assert read_spans(records) == (X, y)
        odd = unit not in ("characters", "utf-16") or ends == "inclusive"
        texts = [str(each.message) for each in told]
        said = any("offsets=" in text and "ends=" in text for text in texts)
        assert said == odd or unit == "utf-16"  # some say it without a doubt
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert read_spans(records, offsets=unit, ends=ends) == (X, y)


SEPARATORS = [[" "], [" ", "\r\n"], [" ", ", ", "\r\n"], [" ", "\n"]]
MANY = [*WORDS, "in", "a", "I", "met", "北京", "(b)"]


def odd_corpus(rng):
    """Texts with spans that are words, parts of words, or words and a space."""
    words = rng.choice([MANY, MANY, [w for w in MANY if w.isascii()]])
    separators = rng.choice(SEPARATORS)
    longer, shorter = rng.choice([(0, 0), (0, 0), (0.3, 0), (1, 0), (0, 0.3)])
    X, y = [], []
    for _ in range(rng.choice([1, 2, 5, 12, 40])):
        text, spans = "", []
        for _ in range(rng.randrange(3, 10)):
            word, separator = rng.choice(words), rng.choice(separators)
            start, end = len(text), len(text) + len(word)
            if separator[0] != "\r" and rng.random() < longer:
                end += 1
            elif len(word) > 2 and rng.random() < shorter:
                end -= 1
            if rng.random() < 0.5:
                spans.append((start, end, rng.choice(LABELS)))
            text += word + separator
        X.append(text)
        y.append(spans)
    return X, y


@pytest.mark.parametrize("block", range(6))
def test_told_texts_decide_in_random_files(block):
    """Of 600 files whose spans say what they cover none is read wrongly or refused,
    and one that counts as usual is not spoken of.
    """
    for seed in range(100 * block, 100 * block + 100):
        rng = random.Random(seed)
        X, y = odd_corpus(rng)
        while sum(map(len, y)) < 3:
            X, y = odd_corpus(rng)
        unit, ends = rng.choice(UNITS), rng.choice(ENDS)
        X, y = apart(X, y, unit)
        with warnings.catch_warnings():
            usual = unit == "characters" and ends == "exclusive"
            warnings.simplefilter("error" if usual else "ignore")
            assert read_spans(written(X, y, unit, ends, saying=True)) == (X, y), seed


@pytest.mark.filterwarnings("error")
def test_a_clean_file_of_usual_offsets_is_not_spoken_of():
    """Also if nothing but words tells what its offsets count."""
    for seed in range(60):
        rng = random.Random(seed)
        X, y = corpus(seed, n=rng.choice([12, 40, 300]), crlf=rng.random() < 0.5)
        assert read_spans(written(X, y, "characters", "exclusive")) == (X, y), seed


def test_a_single_text_that_one_candidate_covers_decides():
    row = {"start": 8, "end": 11, "label": "PER"}
    texts = ["Ann met Bob"] * 200
    records = [{"text": text, "spans": [row]} for text in texts]
    told = {"start": 3, "end": 5, "label": "PER", "text": "Eva"}
    records.append({"text": "Zoë Eva", "spans": [told | {"start": 5, "end": 8}]})
    with pytest.warns(UserWarning, match="bytes of UTF-8.*0 if not"):
        _, y = read_spans(records)
    assert y[-1] == [(4, 7, "PER")] and y[0] == [(8, 11, "PER")]


@pytest.mark.filterwarnings("ignore:.*whole words if")
def test_ascii_tells_ends_only():
    X, y = corpus(1, crlf=False, wide=False)
    assert read_spans(written(X, y, "utf-8", "inclusive")) == (X, y)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "spans",
    [
        [[0, 2, "X"], [4, 6, "X"]],  # two parts of words are no majority
        [[0, 1, "X"], [4, 5, "X"], [8, 9, "X"], [0, 3, "X"]],
        [[0, 3, "X"], [4, 7, "X"], [8, 11, "X"]],
    ],
)
def test_parts_of_words_are_left_as_they_are(spans):
    X, y = read_spans([{"text": "Ann met Bob.", "label": spans}])
    assert y == [[tuple(span) for span in spans]]


@pytest.mark.filterwarnings("ignore:.*whole words if")
def test_what_shows_later_is_found_later():
    """Texts without accents or line ends of two characters come first."""
    plain = corpus(2, n=SAMPLE + 5, crlf=False, wide=False)
    odd = corpus(3)
    X, y = plain[0] + odd[0], plain[1] + odd[1]
    for unit in UNITS:
        found = apart(X, y, unit)
        records = written(*found, unit, "exclusive")
        assert [tuple(r[:2]) for r in iter_spans(records)] == list(zip(*found))


FOREIGN = [
    "Hà Nội và Đà Nẵng ở Việt Nam",
    "서울 그리고 부산 과 대구",
    "Άννα έφυγε από την Αθήνα",
    "தொ கௌ கோ கொ",
    "ṩ ḍ̇ q̣̃ Ǻ ở",
    "“José” § Škoda – “Ťava”",
]


@pytest.mark.parametrize("saying", [False, True])
@pytest.mark.parametrize("text", FOREIGN)
@pytest.mark.parametrize(
    "of_text, of_offsets", list(itertools.product(("NFC", "NFD"), repeat=2))
)
def test_normal_forms_of_many_scripts(of_text, of_offsets, text, saying):
    """What was counted in the other normal form is read as its text has it; what a span
    says it covers may be in either.
    """
    spans = [(*m.span(), "X") for m in re.finditer(r"[^\s“”]+", text)]
    counted = in_form([text] * 20, [spans] * 20, of_offsets)
    X, y = in_form([text] * 20, [spans] * 20, of_text)
    unit = "characters" if of_text == of_offsets else f"characters-{of_offsets.lower()}"
    records = written(*counted, "characters", "exclusive", saying)
    for record, own in zip(records, X):
        record["text"] = own
    assert read_spans(records, offsets=unit, ends="exclusive") == (X, y)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert read_spans(records) == (X, y)
    assert bool(told) == (counted[1] != y)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_the_ends_of_letters_in_a_normal_form(form):
    """Between letters, an offset is the length of what comes before, in the form; within
    a letter there is none that only one place has.
    """
    for text in FOREIGN:
        for own in map(unicodedata.normalize, ("NFC", "NFD"), (text, text)):
            edges = edges_of(own, f"characters-{form.lower()}").tolist()
            length = len(unicodedata.normalize(form, own))
            assert edges[0] == 0 and edges[-1] == length
            for k, edge in enumerate(edges):
                left, right = (
                    len(unicodedata.normalize(form, part))
                    for part in (own[:k], own[k:])
                )
                starts = k == len(own) or not unicodedata.combining(own[k])
                if starts and left + right == length:
                    assert edge == left, (own, k)


@pytest.mark.filterwarnings("error")
def test_tools_that_say_what_they_count_have_no_vote():
    """Prodigy and spaCy count characters, Label Studio units of UTF-16, ends
    exclusive.
    """
    text = "Ann met Bob and Eva."
    rows = [[0, 2, "X"], [8, 10, "X"], [16, 18, "X"]]
    spans = [{"start": a, "end": b, "label": x} for a, b, x in rows]
    expected = [[tuple(row) for row in rows]]
    record = {"text": text, "spans": spans, "answer": "accept", "_input_hash": 1}
    assert read_spans([record])[1] == expected
    assert read_spans([[text, {"entities": rows}]])[1] == expected
    result = [
        {"type": "labels", "value": {"start": a, "end": b, "labels": [x]}}
        for a, b, x in rows
    ]
    task = {"data": {"text": text}, "annotations": [{"result": result}]}
    assert read_spans([task])[1] == expected


@pytest.mark.parametrize("saying", [False, True])
def test_label_studio_counts_line_ends_as_its_page_does(saying):
    text = "Hi 🚒 team,\r\nRuth Fox moved to Lyon.\r\nShe likes Lyon.\r\nCall Ruth Fox."
    words = ("Ruth Fox", 13), ("Lyon", 31), ("Lyon", 48), ("Ruth Fox", 59)
    page = text.replace("\r\n", "\n").replace("🚒", "xx")
    result = []
    for word, near in words:
        start = page.index(word, near - 3)
        value = {"start": start, "end": start + len(word), "labels": ["X"]}
        value |= {"text": word} if saying else {}
        result.append({"type": "labels", "value": value})
    task = {"data": {"text": text}, "annotations": [{"result": result}]}
    with pytest.warns(UserWarning, match="UTF-16 units, a line end CRLF as one"):
        _, ((*spans,),) = read_spans([task])
    assert [text[a:b] for a, b, _ in spans] == [word for word, _ in words]


def test_offsets_within_a_character_do_not_fit():
    assert in_characters(
        "é🚒a", [(0, 2), (1, 2), (2, 6)], Count("utf-8", "exclusive")
    ) == [
        (0, 1),
        None,
        (1, 2),
    ]
    assert edges_of("a\r\nb", "characters-lf").tolist() == [0, 1, 1, 2, 3]
    record = {"text": "éa", "label": [[1, 2, "X"]]}
    with pytest.raises(ValueError, match="counted in bytes of UTF-8, is no span"):
        read_spans([record], offsets="utf-8")
