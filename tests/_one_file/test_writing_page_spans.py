"""The page of a span tagger in a browser: it tags texts of files, says why, and hands
them on.
"""

import json

import pytest
from browser import needs_chromium
from one_file_cases import loaded, written

from skstruct import L1CRF, SpanTagger
from skstruct.datasets import read_spans
from skstruct.interchange import export

pytestmark = [pytest.mark.filterwarnings("ignore"), needs_chromium]

TEXTS = [
    "Ann Lee 😀 lives in Rome.\nBob left Paris.",
    "In Rome, Ann Lee met Bob.\nBob is in Paris.",
]
SPANS = [
    [(0, 7, "PER"), (19, 23, "LOC"), (25, 28, "PER"), (34, 39, "LOC")],
    [(3, 7, "LOC"), (9, 16, "PER"), (21, 24, "PER"), (26, 29, "PER"), (36, 41, "LOC")],
]
SHOWN = (
    "Array.from(document.querySelectorAll('#result .span'), (span) => span.textContent)"
)


@pytest.fixture(scope="module")
def model():
    """A span tagger."""
    return SpanTagger(L1CRF(c1=0.01, max_iter=50, random_state=0)).fit(TEXTS, SPANS)


@pytest.fixture(scope="module")
def path(model, tmp_path_factory):
    """Its page."""
    path = tmp_path_factory.mktemp("page") / "spans.html"
    export(model, path, example=TEXTS[0])
    return path


@pytest.fixture
def page(path, browser):
    """The page, in a browser; errors on it fail the test."""
    browser.problems.clear()
    browser.open(path)
    browser("URL.createObjectURL = (blob) => { window.saved = blob; return '#'; }")
    browser(
        "HTMLAnchorElement.prototype.click = function () { window.called = this.download; }"
    )
    yield browser
    assert browser.problems == []


def given(page, *files):
    """Open files, (name, text)."""
    made = ", ".join(
        f"new File([{json.dumps(text)}], {json.dumps(name)})" for name, text in files
    )
    page(
        "(() => { const held = new DataTransfer();"
        f"for (const file of [{made}]) held.items.add(file);"
        "const input = document.getElementById('open'); input.files = held.files;"
        "input.dispatchEvent(new Event('change'));"
        "return new Promise((done) => setTimeout(done, 200)); })()"
    )


def said(page, name):
    """The text of an element."""
    return page(f"document.getElementById('{name}').textContent")


def click(page, name):
    """Click an element."""
    page(f"document.getElementById('{name}').click()")


def downloaded(page, tool):
    """What is downloaded for a tool."""
    page(f"document.getElementById('tool').value = '{tool}'; window.saved = undefined")
    click(page, "download")
    page.until("window.saved !== undefined", True)
    return page("window.saved.text()")


def as_lines(*records):
    """Records as JSON lines."""
    return "".join(json.dumps(each) + "\n" for each in records)


FILE = as_lines(*({"text": text, "id": k} for k, text in enumerate(TEXTS)))


@pytest.mark.parametrize("tool", ["doccano", "label-studio", "prodigy"])
def test_texts_are_tagged_and_handed_on(tool, model, page, tmp_path):
    given(page, ("a.jsonl", FILE))
    assert said(page, "where") == "text 1 of 2"
    assert page(SHOWN) == ["Ann LeePER", "RomeLOC", "BobPER", "ParisLOC"]
    click(page, "next")
    assert page("document.getElementById('text').value") == TEXTS[1]
    (tmp_path / "a").write_text(downloaded(page, tool), encoding="utf-8")
    ending = "json" if tool == "label-studio" else "jsonl"
    assert page("window.called") == f"a.{ending}"
    X, y, metadata = read_spans(tmp_path / "a", tool, return_metadata=True)
    assert (X, y) == (TEXTS, model.predict(TEXTS))
    assert [each["id"] for each in metadata] == [0, 1]


def test_what_is_typed_is_tagged_and_handed_on(page, tmp_path):
    page("void (f = document.getElementById('text'), f.focus(), f.select())")
    page.type("Bob left Rome.")
    page.until(SHOWN, ["BobPER", "RomeLOC"])
    (tmp_path / "a").write_text(downloaded(page, "doccano"), encoding="utf-8")
    assert read_spans(tmp_path / "a") == (
        ["Bob left Rome."],
        [[(0, 3, "PER"), (9, 13, "LOC")]],
    )


def test_nothing_is_corrected(page):
    """Texts of files are shown, and spans are explained; neither can be changed."""
    given(page, ("a.jsonl", as_lines({"text": TEXTS[0], "spans": [[0, 3, "LOC"]]})))
    assert page("document.getElementById('text').readOnly")
    assert "A text has spans in the file" in said(page, "status")
    assert page(SHOWN)[0] == "Ann LeePER"
    page("document.querySelector('#result .span').click()")
    assert page("document.querySelectorAll('#why button').length") == 0
    for key in ("l", "Delete", "Enter"):
        page.press(key)
    assert page(SHOWN) == ["Ann LeePER", "RomeLOC", "BobPER", "ParisLOC"]


def test_explanations_have_probabilities_and_a_legend(page):
    assert "2 labels: " in said(page, "about") and "B-" not in said(page, "about")
    assert "open files" in said(page, "todo")
    page("document.querySelector('#result .span').click()")
    assert page("document.querySelectorAll('#why h2').length") == 2  # Ann, Lee
    why = said(page, "why")
    assert "B-PER (probability 0." in why and "speaks for B-PER" in why
    assert page("document.querySelectorAll('#why .legend').length") == 2
    page("document.querySelector('#result .span').click()")
    assert page("document.getElementById('why').hidden")


def test_a_word_beside_the_spans_is_explained(page):
    page(
        "(() => { const nodes = Array.from(document.getElementById('result').childNodes);"
        "const text = nodes.find((node) => node.data === ' 😀 lives in ');"
        "getSelection().collapse(text, 5); document.getElementById('result').click(); })()"
    )
    assert page("document.querySelector('#why h2').textContent") == "lives: O"


def test_the_keyboard_alone(page):
    page("document.querySelector('#result .span').focus()")
    focus = "document.activeElement.textContent"
    page.press("ArrowRight")
    assert page(focus) == "RomeLOC"
    page.press("Enter")
    assert said(page, "why").startswith("Rome: S-LOC")
    page.press("Escape")
    assert page("document.getElementById('why').hidden")
    page.press("End")
    assert page(focus) == "ParisLOC"


def test_files_that_cannot_be_read_change_nothing(page):
    given(page, ("a.jsonl", FILE))
    given(page, ("bad.jsonl", '{"text"'))
    assert "bad.jsonl, line 1: " in said(page, "status")
    assert said(page, "where") == "text 1 of 2"
    given(page, ("b.jsonl", as_lines({"text": "Bob"})))
    assert said(page, "where") == "text 1 of 1" and page(SHOWN) == ["BobPER"]


def test_the_most_uncertain_text_is_first(model, page, tmp_path):
    texts = ["Ann Lee lives in Rome.", "Rome met Ann in Bob.", "Bob left Paris."]
    given(page, ("a.jsonl", as_lines(*({"text": text} for text in texts))))
    click(page, "uncertain")
    marginals = loaded(written(model, tmp_path)).predict_marginals(texts)
    least = [min(map(max, rows)) for rows in marginals]
    first = texts[least.index(min(least))]
    page.until("document.getElementById('text').value", first)
    (one, *_) = map(json.loads, downloaded(page, "doccano").splitlines())
    assert one["text"] == first


def test_thousands_of_texts(page):
    """Only the text that is shown is drawn."""
    lines = [{"text": f"Ann {k} 😀 in Rome."} for k in range(2000)]
    given(page, ("export.jsonl", as_lines(*lines)))
    page.until("document.getElementById('where').textContent", "text 1 of 2000")
    click(page, "next")
    assert page("document.getElementById('result').textContent").startswith("Ann")
    found = downloaded(page, "prodigy").splitlines()
    assert [json.loads(line)["text"] for line in found] == [
        line["text"] for line in lines
    ]


@pytest.mark.parametrize("text", ["שלום Ann בתל אביב", "مرحبا Ann في روما"])
@pytest.mark.parametrize("width", [380, 1400])
def test_text_from_right_to_left(text, width, page, path):
    """A text has its direction, in the field and below."""
    page.open(path, width=width)
    given(page, ("a.jsonl", as_lines({"text": text})))
    direction = "getComputedStyle(document.getElementById('{}')).direction"
    assert page(direction.format("text")) == page(direction.format("result")) == "rtl"
    assert page(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
