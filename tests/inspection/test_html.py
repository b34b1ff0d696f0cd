"""Text as HTML: nothing of it becomes markup, and trees are arcs."""

import inspect
import pickle
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from skstruct import (
    Segmenter,
    ShiftReduceParser,
    StructuredPerceptron,
    inspection,
)
from skstruct.inspection import (
    Finding,
    Findings,
    Html,
    SpanThresholds,
    TypeThreshold,
    errors,
    explain,
    feature_weights,
    render,
    report,
    transition_weights,
)
from skstruct.inspection.html import Shown

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "&amp;",
    "שלום",
    "\u202eabc",
    "x" * 10_000,
]
HOSTILE += ["a\nb", "\ud800", "]]>", "'", "\0"]


class Reader(HTMLParser):
    """Notes the elements and the text of HTML; raises if elements are not closed in
    turn.
    """

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = [], [], "", []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        if tag != "br":  # which has no end
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data if self.open[-1:] != ["style"] else ""


ELEMENTS = {
    "div", "span", "bdi", "b", "i", "details", "summary", "table", "tr", "td", "th", "svg", "path",
    "text", "title", "style",
}  # fmt: skip


def check(html):
    """The text of HTML that is well formed, safe and complete in itself."""
    html = html._repr_html_() if isinstance(html, Html) else html
    read = Reader(html)
    assert set(read.tags) <= ELEMENTS
    assert not [
        name
        for name in read.attributes
        if name.startswith("on") or name in ("src", "href")
    ]
    assert "url(" not in html and "@import" not in html
    assert not re.search(r"color:(#|black|white)", html), "text has the page's colour"
    html.encode("utf-8")  # a lone surrogate cannot be
    return read.text


def hostile_tagger():
    X = [HOSTILE, HOSTILE[::-1]]
    y = [HOSTILE[1:] + HOSTILE[:1], HOSTILE[1:] + HOSTILE[:1]]
    return (
        StructuredPerceptron(["U0:%x[0,0]", "U1:%x[-1,0]", "B"], random_state=0).fit(
            X, y
        ),
        X,
        y,
    )


def test_hostile_tokens_stay_text():
    tagger, X, y = hostile_tagger()
    pictures = [
        explain(tagger, X[0])._repr_html_(),
        feature_weights(tagger)._repr_html_(),
        transition_weights(tagger)._repr_html_(),
        render(X, y, tagger.predict(X)),
        render(X, y, y[::-1]),
    ]
    for html in pictures:
        text = check(html)
        assert (
            "<script>" in text
            and "שלום" in text
            and "\u202e" not in html
            and "\n" not in html
        )
        assert len(html) < 200_000, "ten thousand characters are cut"
    trees = [[(1 if t else 0, label) for t, label in enumerate(HOSTILE)]]
    other = [
        [(min(t, 1) * 2 if t != 1 else 1, label) for t, label in enumerate(HOSTILE)]
    ]
    tokens = [[(token, token) for token in HOSTILE]]
    assert "<script>alert(1)" in check(
        render(tokens, trees)
    ) and "\u202e" not in render(tokens, trees)
    check(render(tokens, trees, other))


def tree_of_hostile_tokens():
    tokens = [(token, token) for token in HOSTILE]
    arcs = [(min(t, 1), label) for t, label in enumerate(HOSTILE)]
    parser = ShiftReduceParser(max_iter=1, random_state=0)
    return explain(parser.fit([tokens], [arcs]), tokens)


def hostile_findings():
    kinds = "other type", "other boundary", "missing", "superfluous", "other label"
    label = HOSTILE[0]
    place = inspection.Where(label, id=label)
    return Findings(
        Finding(0, 0, 3, label, HOSTILE[1], 0.9, 0.8, kind, 0.7, label, place, (0, 2))
        for kind in kinds
    )


def hostile_thresholds():
    curve = np.array([1.0, 0.5]), np.array([0.5, 1.0]), np.array([0.9, 0.1])
    rows = {label: TypeThreshold(0.5, 0.9, 0.8, 3) for label in HOSTILE}
    return SpanThresholds(rows, dict.fromkeys(HOSTILE, curve))


def of_errors(function):
    """What a function of inspection says of labels that are all wrong."""
    tagger, X, y = hostile_tagger()
    return function(tagger, X, [labels[::-1] for labels in y])


PICTURES = {
    "Explanation": lambda: explain(hostile_tagger()[0], HOSTILE),
    "TreeExplanation": tree_of_hostile_tokens,
    "FeatureWeights": lambda: feature_weights(hostile_tagger()[0]),
    "TransitionWeights": lambda: transition_weights(hostile_tagger()[0]),
    "Errors": lambda: of_errors(errors),
    "Report": lambda: of_errors(report),
    "Findings": hostile_findings,
    "SpanThresholds": hostile_thresholds,
}
"""By the name of its class each result that notebooks show, of hostile tokens and
labels.
"""


def test_every_result_that_is_shown_is_tried():
    shown = {
        name
        for name in inspection.__all__
        if inspect.isclass(getattr(inspection, name))
        and issubclass(getattr(inspection, name), Shown)
    }
    assert shown == set(PICTURES), (
        f"enter {shown - set(PICTURES)} in PICTURES: a function that makes a result of "
        "HOSTILE tokens and labels"
    )


@pytest.mark.parametrize("name", PICTURES)
def test_nothing_of_a_corpus_becomes_markup(name):
    found = PICTURES[name]()
    assert type(found).__name__ == name
    for html in found._repr_html_(), found.to_html(HOSTILE[0]).fragment:
        read = Reader(html)
        assert "<script>alert(1)" in read.text
        assert not {"script", "img", "a", "iframe"} & set(read.tags)
        assert not [a for a in read.attributes if a[:2] == "on" or a in ("src", "href")]
        assert "\u202e" not in html and "url(" not in html and "@import" not in html
        assert len(html) < 400_000, "ten thousand characters are cut"
        html.encode("utf-8")


def test_hostile_texts_stay_text():
    texts = ["<b>&\u202ec<", "שלום"]
    words = [["<b>", "&\u202e", "c<"], ["של", "ום"]]
    segmenter = Segmenter(StructuredPerceptron("char", random_state=0)).fit(
        texts, words
    )
    assert "<" in check(explain(segmenter, texts[0])._repr_html_())
    assert "✗" in check(render(texts, words, [["<b>&", "\u202e", "c<"], ["שלום"]]))


def test_files_hold_pages(tmp_path):
    X, y = (
        [["Ada", "é"] * 30, ["Ada", "x", "y"]],
        [["B-PER", "O"] * 30, ["B-PER", "O", "O"]],
    )
    tagger = StructuredPerceptron("word", random_state=0).fit(X, y)
    explanation = explain(tagger, X[1])
    found = [
        explanation,
        errors(tagger, X, y),
        feature_weights(tagger),
        transition_weights(tagger),
    ]
    for page in (render(X, y), *(each.to_html() for each in found)):
        assert page.startswith('<!DOCTYPE html><html><head><meta charset="utf-8">')
        assert "width=device-width" in page and "prefers-color-scheme:dark" in page
        assert page.endswith("</body></html>") and page._repr_html_() in page
        again = pickle.loads(pickle.dumps(page))
        assert again == page and again._repr_html_() == page._repr_html_()
    assert len(explain(tagger, X[0]).to_html()) < 4_000 * 60
    html = explanation._repr_html_()
    assert html.count("<details") == 4 and "<summary>1–2 " in html, (
        "what is outside is shown on demand"
    )


def test_trees_are_arcs():
    X = [[("the", "DT"), ("dog", "NN"), ("barks", "VB")]]
    y = [[(2, "det"), (3, "nsubj"), (0, "root")]]
    html = render(X, y)
    text = check(html)
    assert html.count("<svg") == 1 and html.count("<path") == 6
    assert (
        all(word in text for word in ("the", "DT", "nsubj", "root")) and "✗" not in text
    )
    wrong = check(render(X, y, [[(3, "det"), (3, "nsubj"), (0, "root")]]))
    assert wrong.count("det ✗") == 2 and wrong.count("nsubj") == 1
    heads = render(X, [[2, 3, 0]])
    assert heads.count("<path") == 6 and "det" not in check(heads)


def test_a_tree_from_right_to_left():
    X, y = [[("שלום", "N"), ("עולם", "N")]], [[(0, "root"), (1, "mod")]]
    places = [
        float(x)
        for x in re.findall(r'<text x="([\d.]+)"[^>]*font-size="14"', render(X, y))
    ]
    assert places[0] > places[1]


def test_crossing_arcs_and_deep_trees_are_drawn():
    n = 60
    X = [[(f"w{t}", "N") for t in range(n)]]
    parser = ShiftReduceParser("hs28", beam_size=2, max_iter=1, random_state=0)
    y = [[(t + 2 if t < n - 1 else 0, "x") for t in range(n)]]
    assert check(render(X, parser.fit(X, y).predict(X)))
    check(render([X[0][:4]], [[(3, "a"), (4, "b"), (0, "c"), (3, "d")]]))
