"""Pictures: what is drawn, what is marked, and that no text becomes markup."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from skstruct import StructuredPerceptron
from skstruct.datasets import load_segmentation
from skstruct.inspection import (
    Html,
    explain,
    render,
)
from skstruct.inspection.pictures import marks_of, segment_reader


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


def test_lines_of_texts_are_lines_of_pictures():
    picture = render(["Dear Ann,\nbye \\n"], [[(5, 8, "PER")]])
    assert picture.count("<br>") == 1 and ",<br>bye \\n<" in picture


@pytest.mark.filterwarnings("ignore:X has one sequence")
def test_long_sequences_are_cut():
    X, y = [["a", "b"] * 1000], [["A", "B"] * 1000]
    explanation = explain(
        StructuredPerceptron(["U:%x[0,0]", "B"], random_state=0).fit(X, y), X[0]
    )
    html = explanation._repr_html_()
    assert html.count("<details") == 200 and "1,800 more tokens" in check(html)
    assert explanation.to_frame()["position"].max() == 1999


def test_a_line_has_the_direction_of_its_tokens():
    """Labels have one of their own; what turns the direction is escaped, and letters of
    a text join.
    """
    html = render([["שלום", "abc"]], [["A", "B"]])
    assert ">שלום<" in html and "<bdi>A</bdi>" in html and 'dir="auto"' in html
    html = render(["שלום עולם Ann"], [[(5, 9, "LOC")]])
    assert '<span class="plain">שלום </span>' in html and ">עולם<" in html


def test_segments_are_compared_as_wholes():
    X = [["Ada", "Lovelace", "visited", "London"], ["x"]]
    y = [["B-PER", "I-PER", "O", "B-LOC"], ["O"]]
    assert "✗" not in render(X, y, y) and render(X, y, y) == render(X, y)
    text = check(render(X, y, [["B-PER", "O", "O", "B-LOC"], ["O"]]))
    assert text.startswith("goldAda LovelacePER ✗") and text.count("PER ✗") == 2
    assert text.count("LOC") == 1 and text.count("gold") == 1


def colours(html):
    """{text of a mark: its style}"""
    marks = re.findall(
        r'<span class="mark[^"]*" style="([^"]+)">.*?class="below"><bdi>([^<]+)<', html
    )
    return {text: style for style, text in marks}


def test_a_label_has_one_colour_in_all_pictures():
    X = [["a", "b"]]
    first = colours(render(X, [["B-LOC", "B-PER"]]))
    assert (
        colours(render(X, [["B-ORG", "B-LOC"]]))["LOC"] == first["LOC"] != first["PER"]
    )
    assert colours(render(X, [["LOC", "x"]]))["LOC"] == first["LOC"], (
        "whatever the scheme"
    )
    tagger = StructuredPerceptron(random_state=0).fit(X, [["O", "B-LOC"]])
    assert colours(explain(tagger, ["a", "b"])._repr_html_()) == {"LOC": first["LOC"]}
    usual = ["PER", "LOC", "ORG", "MISC", "DATE"]
    assert len(set(colours(render([usual], [usual])).values())) == len(usual)
    many = [f"type{k}" for k in range(60)]
    assert len(set(colours(render([many], [many])).values())) > 25


@pytest.mark.parametrize("text", ["so it is", "他在北京"])
def test_a_text_without_spans_is_plain(text):
    """Without a span there is no label below a character, in a corpus of such texts
    too.
    """
    for html in (render([text], [[]]), render([text] * 2, [[], []], [[], []])):
        assert check(html).replace("\n", "") == text.replace("\n", "") * html.count(
            'class="line"'
        )
        assert 'class="mark' not in html and 'class="below' not in html
    assert check(render([text], [[(0, 1, "O")]])).count("O") == 1
    assert render([text], [[(0, 1, None)]]).count('class="mark') == 0


def test_tags_are_compared_one_by_one():
    text = check(
        render([["the", "dog", "barks"]], [["D", "N", "V"]], [["D", "V", "V"]])
    )
    assert text.count("✗") == 2 and text.count("D") == 1
    assert check(render([np.eye(3)], [["a", "b", None]])).count("a") == 1


def test_words_are_drawn_with_their_tags():
    text = check(
        render(
            ["他在北京。"], [[("他", "PN"), ("在", "P"), ("北京", "NR"), ("。", "PU")]]
        )
    )
    assert text.replace(" ", "") == "他PN在P北京NR。PU"
    X, y = load_segmentation()
    text = check(render(X[:2], y[:2], [list(X[0]), y[1]]))
    assert "✗" in text and text.count("predicted") == text.count("gold") == 2
    assert text.count("在") == 1, "what agrees is drawn once"


def test_words_stand_twice_exactly_where_segments_differ():
    random = np.random.default_rng(0)
    words = [f"w{letter}" for letter in "abcdefghijkl"]
    for _ in range(60):
        gold, found = (random.choice(["O", "B-A", "B-B", "I-A"], 12) for _ in "gp")
        both = {"O", "B-A", "B-B", "I-A"}
        reader = segment_reader(both)
        one, other = (set(marks_of(reader, labels)) for labels in (gold, found))
        differ = {t for mark in one ^ other for t in range(mark.start, mark.stop)}
        text = check(render([words], [list(gold)], [list(found)]))
        assert {t for t, word in enumerate(words) if text.count(word) == 2} == differ
        assert all(text.count(word) in (1, 2) for word in words)
        assert text.count("✗") == len(one ^ other)


def test_heads_alone_are_told_from_labels_that_are_ints():
    X = [[("a", "x"), ("b", "y")]]
    assert "<svg" in render(X, [[0, 1]])
    assert "<svg" not in render(X, [[1, 1]])
    assert "<svg" not in render([["a", "b"]], [[0, 1]])


def test_places_of_errors():
    with pytest.raises(ValueError, match="sequence 1"):
        render([["a"], ["b", "c"]], [["A"], ["B"]])
    with pytest.raises(ValueError, match="y_pred"):
        render([["a"], ["b"]], [["A"], ["B"]], [["A"], ["B", "C"]])
    with pytest.raises(ValueError, match="sequence 0"):
        render(["ab"], [["a", "c"]])
    assert check(render([], [])) == ""


@pytest.mark.parametrize(
    ("X", "y", "error"),
    [
        (
            [["a"], ["b"]],
            [["A"], 7],
            "y: sequence 1 must be a list of labels, got int 7",
        ),
        (["ab", "c"], [["ab"], 7], "y: sequence 1 must be a list of words, got int 7"),
        (
            ["ab"],
            [[1]],
            r"y: sequence 0, position 0: expected \(start, end, label\), got int 1",
        ),
    ],
)
def test_what_is_no_list_of_labels_is_named(X, y, error):
    with pytest.raises(ValueError, match=error):
        render(X, y)


def test_tokens_may_be_rows_of_numbers():
    tagger = StructuredPerceptron(random_state=0).fit([np.eye(2)], [["X", "Y"]])
    assert "X" in explain(tagger, np.eye(2))._repr_html_()
