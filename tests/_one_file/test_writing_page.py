"""The page of a model, in a browser: keyboard, widths, colours, hostile names."""

import html
import json
import re
import subprocess

import pytest
from browser import needs_chromium
from one_file_cases import NODE, asked, loaded, needs_node, written
from one_file_models import CRF, perceptron

from skstruct import L1CRF, Segmenter, SpanTagger, StructuredPerceptron
from skstruct.datasets import load_chunking, load_segmentation, load_tagging
from skstruct.interchange import export

pytestmark = pytest.mark.filterwarnings("ignore")

TOKENS = "Array.from(document.querySelectorAll('#result .token'))"
FOCUS = "document.activeElement.textContent"

HOSTILE = [
    "</script><script>alert(1)</script>", "<!--<script>", "--></style>", "'", '"', "`${alert(1)}`", "\\",
    "\u2028", "\0", "\ud800", "]]>", "<img src=x onerror=alert(1)>", "@script@", "__proto__", "constructor",
    '""";import os#',
]  # fmt: skip


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """{name: (model, path)} of four pages."""
    folder = tmp_path_factory.mktemp("pages")
    (X, y), (words, tags), (texts, segmented) = (
        load_chunking(),
        load_tagging(),
        load_segmentation(),
    )
    chunks = "\n".join(" ".join(f"{w}/{t}" for w, t in s) for s in X[:3])
    models = {
        "chunks": (L1CRF("chunk", constraints="BIO", **CRF).fit(X[:80], y[:80]), chunks),
        "tags": (perceptron().fit(words[:80], tags[:80]), "\n".join(" ".join(s) for s in words[:3])),
        "words": (Segmenter(perceptron("char")).fit(texts[:80], segmented[:80]), "\n".join(texts[:3])),
        "spans": (
            SpanTagger(L1CRF(c1=0.01, max_iter=50, random_state=0)).fit(TEXTS, SPANS), TEXTS[0],
        ),
    }  # fmt: skip
    out = {}
    for name, (model, example) in models.items():
        out[name] = model, folder / f"{name}.html", example
        export(model, out[name][1], title=f"A page of {name}", example=example)
    return out


TEXTS = [
    "Ann Lee 😀 lives in Rome.\nBob left Paris.",
    "In Rome, Ann Lee met Bob.\nBob is in Paris.",
]
SPANS = [
    [(0, 7, "PER"), (19, 23, "LOC"), (25, 28, "PER"), (34, 39, "LOC")],
    [(3, 7, "LOC"), (9, 16, "PER"), (21, 24, "PER"), (26, 29, "PER"), (36, 41, "LOC")],
]

SIGNS = {
    "(a": "( a",
    "a).": "a ).",
    "a-b": "a-b",
    "😀 a😀 !": "😀 a 😀 !",
    "a\u3000.": "a .",
}


@needs_node
def test_punctuation_is_set_apart_in_linear_time(pages):
    """A hundred thousand signs within a word, too, each of which could begin a run."""
    source = pages["tags"][1].read_text(encoding="utf-8")
    split = re.search(r"^function tokensOf.*?^}$", source, re.M | re.S)[0]
    space = re.search(r"^const WHITE_SPACE = .*$", source, re.M)[0]
    program = f"""{space}
const header = {{ token: "str", characters: false, columns: 1 }}, byId = () => ({{ checked: true }});
{split}
console.log(JSON.stringify({json.dumps([*SIGNS, "a" + "!" * 100_000 + "b"])}.map((x) => tokensOf(x).shown)));
"""
    done = subprocess.run(
        [NODE], input=program, capture_output=True, check=True, text=True, timeout=60
    )
    *found, whole = json.loads(done.stdout)
    assert found == [tokens.split() for tokens in SIGNS.values()]
    assert whole == ["a" + "!" * 100_000 + "b"]


# The smallest contrast of any text with what is behind it, by WCAG's formula
CONTRAST = """(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const over = (colours) => { canvas.clearRect(0, 0, 1, 1); colours.forEach((colour) => { // behind first
    canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); });
    return Array.from(canvas.getImageData(0, 0, 1, 1).data); };
  const light = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 :
    ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  let least = 21;
  for (const node of document.querySelectorAll("main *")) {
    if (!node.checkVisibility() || node.disabled || node.closest("textarea")) continue;
    if (!Array.from(node.childNodes).some((child) => child.nodeType === 3 && child.data.trim())) continue;
    const grounds = [], { color, opacity } = getComputedStyle(node);
    for (let at = node; at; at = at.parentElement) grounds.unshift(getComputedStyle(at).backgroundColor);
    const behind = light(over(grounds)), pale = color.replace("rgb(", "rgba(").replace(")", `, ${opacity})`);
    const front = light(over([...grounds, pale]));
    least = Math.min(least, (Math.max(front, behind) + 0.05) / (Math.min(front, behind) + 0.05));
  }
  return least;
})()"""


@needs_chromium
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [380, 1400])
@pytest.mark.parametrize("name", ["chunks", "tags", "words", "spans"])
def test_widths_and_colours(name, width, dark, pages, browser):
    browser.open(pages[name][1], width=width, dark=dark)
    browser("document.querySelector('#result .token, #result .span').click()")
    assert not browser("document.getElementById('why').hidden")
    assert browser(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    assert browser(CONTRAST) >= 4.5
    assert browser.problems == []


@needs_chromium
@pytest.mark.parametrize("name", ["chunks", "tags", "words"])
def test_a_page_says_what_the_model_says(name, pages, browser):
    model, path, example = pages[name]
    browser.open(
        path,
        "#text=" + browser(f"encodeURIComponent({json.dumps(example)})") + "&token=1,2",
    )
    shown = browser(
        "Array.from(document.querySelectorAll('#result p'), (p) => p.textContent)"
    )
    if name == "words":
        assert shown == ["".join(words) for words in model.predict(example.split("\n"))]
        groups = browser(
            "Array.from(document.querySelectorAll('.word'), (word) => word.textContent)"
        )
        assert groups == [
            word for words in model.predict(example.split("\n")) for word in words
        ]
        return
    lines = [line.split() for line in example.split("\n")]
    X = (
        [[tuple(w.rsplit("/", 1)) for w in line] for line in lines]
        if name == "chunks"
        else lines
    )
    labels = model.predict(X)
    if name == "tags":
        assert [line.split() for line in shown] == [
            [part for pair in zip(*pairs) for part in pair] for pairs in zip(X, labels)
        ]
    (opened,) = browser(
        "Array.from(document.querySelectorAll('[aria-pressed=true]'), (token) => token.textContent)"
    )
    assert (
        browser("document.querySelector('#why h2').textContent")
        == f"{opened}: {labels[1][2]}"
    )


@needs_chromium
def test_the_keyboard_alone(pages, browser):
    browser.open(pages["tags"][1])
    words = browser(f"{TOKENS}.map((token) => token.textContent)")
    browser("document.getElementById('apart').focus()")
    browser.press("Tab")
    assert browser(FOCUS) == words[0]
    for key, place in (
        ("ArrowRight", 1),
        ("ArrowDown", 2),
        ("ArrowLeft", 1),
        ("End", -1),
        ("Home", 0),
        ("ArrowUp", 0),
    ):
        browser.press(key)
        assert browser(FOCUS) == words[place]
    assert browser("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    browser.press("Enter")
    assert browser("document.activeElement.getAttribute('aria-pressed')") == "true"
    assert browser("document.querySelector('#why h2').textContent").startswith(
        f"{words[0]}: "
    )
    assert browser("document.querySelectorAll('#why tbody tr').length") <= 15
    browser.press("Escape")
    assert (
        browser("document.getElementById('why').hidden") and browser(FOCUS) == words[0]
    )
    browser.press("Tab")  # one stop: the next is beyond the tokens
    assert not browser("document.activeElement.classList.contains('token')")
    assert browser.problems == []


@needs_chromium
def test_typing(pages, browser):
    browser.open(pages["tags"][1])
    words = f"{TOKENS}.map((token) => token.textContent).join(' ')"
    browser(
        "document.getElementById('text').select(); document.getElementById('text').focus()"
    )
    browser.type("She left, then.\nShe left.")
    browser.until(words, "She left , then . She left .")
    browser(f"void (window.kept = {TOKENS}[0])")
    browser.type(" So")
    browser.until(words, "She left , then . She left . So")
    assert browser(f"window.kept === {TOKENS}[0]"), (
        "a sentence that has not changed stays"
    )
    browser("document.getElementById('apart').click()")
    browser.until(words, "She left, then. She left. So")


@needs_chromium
def test_a_token_that_is_wrong_is_named(pages, browser):
    browser.open(pages["chunks"][1], "#text=a%2FDT%20dog")
    assert "token 2: expected a tuple of 2 str" in browser(
        "document.getElementById('status').textContent"
    )
    browser.open(pages["chunks"][1], "#text=a%2FDT%20dog%2FNN")
    assert browser("document.getElementById('status').textContent") == ""
    browser.open(pages["chunks"][1], "#text=a%09DT%0Adog")
    assert "token 2: expected a tuple of 2 str" in browser(
        "document.getElementById('status').textContent"
    )


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("name", ["tags", "spans"])
def test_a_million_characters(name, pages, browser):
    browser.open(pages[name][1])
    browser(
        "document.getElementById('text').value = 'She left Rome and met Ann there .\\n'.repeat(30000)"
    )
    browser("document.getElementById('text').dispatchEvent(new Event('input'))")
    browser.until("document.getElementById('result').textContent.length > 10000", True)
    assert not browser("document.getElementById('more').hidden")
    assert browser.problems == []


# -- names that try to break out -------------------------------------------------------
@pytest.fixture(scope="module")
def hostile():
    X = [[word, "a", word] for word in HOSTILE]
    y = [[f"B-{word}", "O", f"I-{word}"] for word in HOSTILE]
    lines = [
        f"U{word.replace(chr(0), '')}:%x[0,0]" for word in HOSTILE if "%" not in word
    ]
    return StructuredPerceptron([*lines, "B"], random_state=0, max_iter=3).fit(X, y), X


def test_hostile_names_are_data(hostile, tmp_path):
    model, X = hostile
    title = "".join(HOSTILE)
    path = written(model, tmp_path, title=title, example=title)
    file = loaded(path)
    assert file.predict(X) == model.predict(X)
    assert file.about["title"] == title
    text = path.read_text(encoding="utf-8")
    assert "alert(1)" not in text and "import os#" not in text
    if NODE:
        for name in ("tagger.js", "tagger.mjs"):
            path = written(model, tmp_path, name, title=title, example=title)
            assert "alert(1)" not in path.read_text(encoding="utf-8")
            said = asked(path, X, "predict", "about")
            assert (said["predict"], said["about"]["title"]) == (
                model.predict(X),
                title,
            )


@needs_chromium
def test_hostile_names_in_a_page(hostile, tmp_path, browser):
    model, X = hostile
    title, words = (
        "".join(HOSTILE),
        [word for word in HOSTILE if not re.search(r"\s", word)],
    )
    path = written(model, tmp_path, "page.html", title=title, example=" a ".join(words))
    (script,) = re.findall(
        r"<script>(.*?)</script>", path.read_text(encoding="utf-8"), re.S
    )
    assert "</script" not in script and "<!--" not in script
    browser.open(path)
    browser("document.getElementById('apart').click()")
    expected = title.replace("\0", "\ufffd").replace("\ud800", "?")
    assert browser("document.title.length") > 50
    assert (
        browser("document.querySelector('h1').textContent").split()
        == html.unescape(expected).split()
    )
    assert browser("document.querySelectorAll('script').length") == 1
    browser(f"{TOKENS}.forEach((token) => token.click())")
    assert browser.problems == []
    browser(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=alert(1)>')"
    )
    assert any(
        "Content Security Policy" in str(problem) for problem in browser.problems
    )
    browser.problems.clear()


def test_pages_that_are_refused(tmp_path):
    model = StructuredPerceptron(max_iter=1).fit([[{"a": 1}]], [["X"]])
    text = (
        "a page cannot make the features of dicts and lists, which your own code makes: write .js and call "
        "predict from your page"
    )
    with pytest.raises(ValueError) as error:
        written(model, tmp_path, "page.html")
    assert str(error.value) == text
