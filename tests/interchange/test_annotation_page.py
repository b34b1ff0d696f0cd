"""The page of a span tagger in a browser: what is corrected there is not lost, nor shifted."""

import json

import pytest
from browser import needs_chromium

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
LOC = "Array.from(document.querySelectorAll('#labels button')).find((b) => b.textContent === 'LOC')"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A page."""
    path = tmp_path_factory.mktemp("page") / "spans.html"
    export(
        SpanTagger(L1CRF(c1=0.01, max_iter=50, random_state=0)).fit(TEXTS, SPANS),
        path,
        example=TEXTS[0],
    )
    return path


@pytest.fixture
def page(path, browser):
    """The page, in a browser that holds no copy; errors on it fail the test."""
    browser.open(path)
    browser(
        "localStorage.clear(); URL.createObjectURL = (blob) => { window.saved = blob; return '#'; }"
    )
    browser(
        "HTMLAnchorElement.prototype.click = function () { window.called = this.download; }"
    )
    browser.problems.clear()
    yield browser
    assert browser.problems == []
    browser("window.confirm = () => true; localStorage.clear()")


def given(page, *files, answer=True):
    """Open files, {name: text}; a question is answered so."""
    made = ", ".join(
        f"new File([{json.dumps(text)}], {json.dumps(name)})" for name, text in files
    )
    page(
        f"(() => {{ const held = new DataTransfer(); window.confirm = () => {json.dumps(answer)};"
        f"for (const file of [{made}]) held.items.add(file);"
        "const input = document.getElementById('open'); input.files = held.files;"
        "input.dispatchEvent(new Event('change'));"
        "return new Promise((done) => setTimeout(done, 100)); })()"
    )


def said(page, name):
    """The text of an element."""
    return page(f"document.getElementById('{name}').textContent")


def click(page, name):
    """Click an element."""
    page(f"document.getElementById('{name}').click()")


def select(page, start, end):
    """Select in the field."""
    page(
        f"void (f = document.getElementById('text'), f.focus(), f.setSelectionRange({start}, {end}))"
    )


def saved(page):
    """What is saved."""
    click(page, "save")
    page.until("window.saved !== undefined", True)
    return page("window.saved.text()")


def as_lines(*records):
    """Records as JSON lines."""
    return "".join(json.dumps(each) + "\n" for each in records)


GOLD = as_lines(*({"text": x, "spans": y} for x, y in zip(TEXTS, SPANS)))


def test_typing_keeps_what_was_corrected(page):
    given(page, ("a.jsonl", GOLD))
    select(page, 0, 3)
    page(f"{LOC}.click()")
    select(page, 22, 22)
    page.type("x")
    page.until(SHOWN, ["AnnLOC", "BobPER", "ParisLOC"])
    assert "Rome (LOC)" in said(page, "status")
    click(page, "undo")
    assert page(SHOWN) == ["AnnLOC", "RomeLOC", "BobPER", "ParisLOC"]
    click(page, "undo")
    assert page(SHOWN)[0] == "Ann LeePER"
    click(page, "redo")
    assert page(SHOWN)[0] == "AnnLOC"


def test_typing_changes_no_other_text(page):
    """Nor does a pause in typing, which slow pages wait for, after another text is shown."""
    given(page, ("a.jsonl", GOLD))
    page(
        "performance.now = ((n) => () => (n += 1000))(0)"
    )  # every redrawing seems slow
    select(page, 0, 0)
    page.type("So ")
    page.type("so ")
    click(page, "next")
    page("new Promise((done) => setTimeout(done, 500))")
    assert page("document.getElementById('text').value") == TEXTS[1]
    first, second = map(json.loads, saved(page).splitlines())
    assert (first["text"], second) == (
        f"So so {TEXTS[0]}",
        {"text": TEXTS[1], "spans": [list(s) for s in SPANS[1]]},
    )


def test_ends_of_lines_of_windows(page, tmp_path):
    text = "Hi.\r\n\r\nAnn Lee\r\nis 😀 in Rome\r\n"
    given(page, ("a.txt", text))
    at = text.replace("\r", "").index("Rome") + 1  # the emoji counts as two
    select(page, at, at + 4)
    page(f"{LOC}.click()")
    assert "RomeLOC" in page(SHOWN)
    select(page, 0, 0)
    page.press("Enter")
    page.until("document.getElementById('text').value.startsWith('\\nHi.')", True)
    (tmp_path / "a.jsonl").write_bytes(saved(page).encode())
    X, y = read_spans(tmp_path / "a.jsonl")
    assert X == ["\r\n" + text]
    assert (X[0].index("Rome"), X[0].index("Rome") + 4, "LOC") in y[0]
    assert page("window.called") == "a.jsonl"


def test_a_new_selection_is_marked_though_a_span_is_open(page):
    page("document.querySelector('#result .span').click()")
    select(page, 11, 16)
    page(f"{LOC}.click()")
    assert page(SHOWN)[:2] == ["Ann LeePER", "livesLOC"]
    page("document.querySelector('#result .span').click()")
    page(f"{LOC}.click()")
    assert page(SHOWN)[:2] == ["Ann LeeLOC", "livesLOC"]


def test_another_file_asks_before_labels_are_lost(page):
    given(page, ("a.jsonl", GOLD))
    select(page, 0, 3)
    page(f"{LOC}.click()")
    given(page, ("b.jsonl", as_lines({"text": "Bob"})), answer=False)
    assert said(page, "where") == "text 1 of 2" and page(SHOWN)[0] == "AnnLOC"
    given(page, ("bad.jsonl", '{"text"'))
    assert "bad.jsonl, line 1: " in said(page, "status") and page(SHOWN)[0] == "AnnLOC"
    given(page, ("b.jsonl", as_lines({"text": "Bob"})))
    assert said(page, "where") == "text 1 of 1"


def test_leaving_asks_and_a_copy_stays(page, path):
    page.press("Tab")  # browsers ask only where somebody has used the page
    given(page, ("a.jsonl", GOLD))
    before = page.n_asked
    page.open(path)
    assert page.n_asked == before and page("document.getElementById('restore').hidden")
    given(page, ("a.jsonl", GOLD))
    select(page, 0, 3)
    page.press("Tab")
    page(f"{LOC}.click()")
    page.open(path)
    assert page.n_asked == before + 1
    click(page, "restore")
    page.until(SHOWN, ["AnnLOC", "RomeLOC", "BobPER", "ParisLOC"])
    page.press("Tab")
    page.open(path)
    assert page.n_asked == before + 2, "it is still not saved"
    page("URL.createObjectURL = (blob) => { window.saved = blob; return '#'; }")
    click(page, "restore")
    page.until(SHOWN, ["AnnLOC", "RomeLOC", "BobPER", "ParisLOC"])
    saved(page)
    page.press("Tab")
    page.open(path)
    assert page.n_asked == before + 2 and page(
        "document.getElementById('restore').hidden"
    )


def test_what_is_typed_without_labels_can_be_left(page, path):
    before = page.n_asked
    select(page, 0, 0)
    page.press("End")
    page.type("Rome")
    page.open(path)
    assert page.n_asked == before


def test_a_text_is_labelled_without_a_mouse(page):
    given(page, ("a.jsonl", GOLD))
    page("document.querySelector('#result .span').focus()")
    focus = "document.activeElement.textContent"
    page.press("Tab")
    assert page(focus) == "RomeLOC"
    page.press("p")
    assert page(focus) == "RomePER", "the focus stays where it was"
    page.press("Tab", modifiers=8)
    assert page(focus) == "Ann LeePER"
    page.press("Delete")
    assert page(SHOWN) == ["RomePER", "BobPER", "ParisLOC"]
    page.press("z", modifiers=2)
    page.press("z", modifiers=2)
    assert page(SHOWN)[:2] == ["Ann LeePER", "RomeLOC"]
    page.press("y", modifiers=2)
    assert page(SHOWN)[1] == "RomePER"
    select(page, 11, 16)
    page.press("l", modifiers=1)
    assert page(SHOWN)[1] == "livesLOC"
    page.press("Enter", modifiers=2)
    assert said(page, "where") == "text 2 of 2"
    first, second = map(json.loads, saved(page).splitlines())
    assert (
        first["answer"] == "accept"
        and "answer" not in second
        and "reviewed" not in second
    )


def test_thousands_of_texts(page, tmp_path):
    """Only the text that is shown is drawn."""
    lines = [
        {"id": 2**60 + k, "text": f"Ann {k} 😀 in Rome.", "label": [[0, 3, "PER"]]}
        for k in range(2000)
    ]
    given(page, ("export.jsonl", as_lines(*lines)))
    page.until("document.getElementById('where').textContent", "text 1 of 2000")
    for _ in range(20):
        click(page, "next")
    assert page("document.querySelectorAll('#result .span').length") == 1
    page("document.querySelector('#result .span').click()")
    page(f"{LOC}.click()")
    found = saved(page).splitlines()
    assert [k for k, line in enumerate(found) if line != json.dumps(lines[k])] == [20]
    assert json.loads(found[20]) == {**lines[20], "label": [[0, 3, "LOC"]]}


@pytest.mark.parametrize("text", ["שלום Ann בתל אביב", "مرحبا Ann في روما"])
@pytest.mark.parametrize("width", [380, 1400])
def test_text_from_right_to_left(text, width, page, path):
    """A text has its direction, in the field and below; its words are whole runs."""
    page.open(path, width=width)
    given(page, ("a.jsonl", as_lines({"text": text, "spans": [[0, 4, "PER"]]})))
    left = (
        "(() => { const range = document.createRange(), node = document.getElementById('result').lastChild;"
        "range.setStart(node, node.length - 1); range.setEnd(node, node.length);"
        "return range.getBoundingClientRect().left; })()"
    )
    first = "document.querySelector('#result .span').getBoundingClientRect().left"
    assert page(f"{left} < {first}"), (
        "the end of the text is to the left of its beginning"
    )
    assert page(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    select(page, text.index("Ann"), text.index("Ann") + 3)
    page(f"{LOC}.click()")
    assert sorted(page(SHOWN)) == sorted([text[:4] + "PER", "AnnLOC"])
