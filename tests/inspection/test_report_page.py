"""The report: its scores and intervals, what it shows of wrong sequences, and its size."""

import html.parser
import re

import numpy as np
import pandas
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skstruct import (
    L1CRF,
    ShiftReduceParser,
    SpanTagger,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct.datasets import load_chunking
from skstruct.inspection import explain, explain_chains, report
from skstruct.metrics import span_f1_score

VOID = {"meta", "br", "rect", "path", "polyline"}


class Balanced(html.parser.HTMLParser):
    """Whether all elements are closed, and nothing comes from elsewhere."""

    def __init__(self, page):
        super().__init__()
        self.open = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        assert tag != "script" and not {"src", "href"} & {
            name for name, _ in attributes
        }
        self.open += [] if tag in VOID else [tag]

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


@pytest.fixture(scope="module")
def chunks():
    X, y = load_chunking()
    model = L1CRF(random_state=0).fit(X[:50], y[:50])
    return model, X[50:], y[50:], report(model, X[50:], y[50:])


def test_the_surest_come_first(chunks):
    model, X, _, page = chunks
    log_proba = model.sequence_log_proba(X, model.predict(X)) / [len(x) for x in X]
    assert np.all(np.diff(log_proba[page.wrong]) <= 0.0)


def lead_of(model, X, y, page):
    """What the right label lacks at the first wrong token that is shown, and how the page says it."""
    i = page.wrong[0]
    mine, right = explain(model, X[i]), explain(model, X[i], y[i])
    t = next(
        t for t, pair in enumerate(zip(mine.labels, right.labels)) if pair[0] != pair[1]
    )
    said = page.to_html().split("all together")[0][-200:]
    return f"{mine.tokens[t].score - right.tokens[t].score:+.3f}</b>", said


def test_why_not_the_right_label(chunks):
    """The contributions at a token add up to the difference of its scores."""
    lead, said = lead_of(*chunks)
    assert lead in said


def test_a_feature_that_a_token_has_twice_counts_twice():
    X, y = [["a", "a", "a"], ["b", "b", "b"]], [["x", "x", "x"], ["y", "y", "y"]]
    templates = ["U:%x[-1,0]", "U:%x[0,0]", "U:%x[1,0]"]
    model = StructuredPerceptron(templates, random_state=0).fit(X, y)
    lead, said = lead_of(model, X[:1], y[1:], report(model, X[:1], y[1:]))
    assert lead in said


def test_the_page(chunks, tmp_path):
    page = chunks[3]
    page.save(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text == page.to_html() and page.to_html().fragment == page._repr_html_()
    Balanced(text)
    assert 'charset="utf-8"' in text and "prefers-color-scheme:dark" in text
    colours = dict(re.findall(r'style="--hue:([^"]*)"><bdi>([A-Z]+)</bdi>', text))
    assert len(set(colours.values())) == len(colours)
    assert "\nf1 " in str(page)


def test_what_the_model_does_not_know(chunks):
    model, X, _, _ = chunks
    page = report(model, X[:2], [["B-NEW"] * len(x) for x in X[:2]]).to_html()
    assert "is not a label of the model" in page
    some = [[None, *labels[1:]] for labels in chunks[2][:2]]
    assert report(model, X[:2], some).scores["token_accuracy"].value <= 1.0
    with pytest.raises(ValueError, match="same number of sequences"):
        report(model, X[:3], some)


def test_pages_stay_small():
    """Of 210 wrong sequences of 500 tokens at most 200 are shown, around what is wrong."""
    X = [["aa", "bb"] * 250 for _ in range(210)]
    y = [[*["x", "y"] * 240, *["z", "x"] * 10] for _ in X]
    model = StructuredPerceptron(max_iter=1).fit([["aa", "bb"]], [["x", "y"]])
    page = report(model, X, y)
    html = page.to_html()
    assert (
        len(page.wrong) == 210
        and 100 < int(re.search(r"(\d+) are shown", html)[1]) <= 200
    )
    assert len(html.encode()) < 3_000_000


def test_what_no_page_shows_is_not_sought(chunks, monkeypatch):
    """The best labellings with other labels tell runners-up and changes, which stand in explanations only."""
    model, X, y, page = chunks
    monkeypatch.setattr(explain_chains, "best_with_each_label", None)
    assert report(model, X, y).to_html() == page.to_html()
    with pytest.raises(TypeError):
        explain(model, X[0])


def test_raw_texts():
    texts = ["Ann met Bob.", "Bob left <b>Ulm</b>."] * 3
    spans = [[(0, 3, "PER"), (8, 11, "PER")], [(0, 3, "PER"), (12, 15, "LOC")]] * 3
    model = SpanTagger(StructuredPerceptron(random_state=0)).fit(texts[:1], spans[:1])
    page = report(model, texts, spans)
    assert page.scores["f1"].value == pytest.approx(
        span_f1_score(spans, model.predict(texts))
    )
    Balanced(page.to_html())
    assert "<b>Ulm" not in page.to_html()
    piped = make_pipeline(
        FunctionTransformer(lambda X: [x.split() for x in X]), StructuredPerceptron()
    )
    labels = [["P", "V", "P"], ["P", "V", "L"]] * 3
    piped.fit(texts[:1], labels[:1])
    assert "left" in report(piped, texts, labels).to_html()


def _words():
    return ["ab c", "a bc", "abc"] * 4, [["ab", "c"], ["a", "bc"], ["a", "b", "c"]] * 4


def _trees():
    X = [
        [("the", "D"), ("dog", "N")],
        [("dogs", "N"), ("bark", "V")],
        [("so", "A"), ("it", "P")],
    ] * 4
    return X, [
        [(2, "det"), (0, "root")],
        [(2, "subj"), (0, "root")],
        [(0, "root"), (1, "dep")],
    ] * 4


def _numbers():
    return [np.eye(3)[[k % 3, 1, (k + 1) % 3]] for k in range(12)], [
        ["a", "b", "c"]
    ] * 4 + [["b"] * 3] * 8


@pytest.mark.parametrize(
    ("model", "corpus"),
    [
        (
            StructuredPerceptron(random_state=0),
            lambda: tuple(part[:40] for part in load_chunking()),
        ),
        (StructuredPerceptron(random_state=0), _numbers),
        (
            SpanTagger(StructuredPerceptron(random_state=0)),
            lambda: (["Ann met"] * 12, [[(0, 3, "P")], []] * 6),
        ),
        (WordSegmenter(random_state=0), _words),
        (ShiftReduceParser(random_state=0), _trees),
    ],
    ids=["labels", "numbers", "spans", "words", "trees"],
)
def test_columns_of_a_frame_are_read_by_position(model, corpus):
    """A Series whose index does not count from 0 holds the same sequences in the same order."""
    X, y = corpus()
    model.fit(X[:2], y[:2])
    expected = report(model, X, y)
    assert expected.wrong
    for index in range(500, 500 + len(X)), range(len(X) - 1, -1, -1):
        page = report(model, pandas.Series(X, index), pandas.Series(y, index))
        assert page.wrong == expected.wrong and page.to_html() == expected.to_html()


def test_without_a_sequence_there_is_no_report():
    tagger = StructuredPerceptron(random_state=0).fit([["a"]], [["x"]])
    with pytest.raises(
        ValueError, match="X and y are empty: a report needs at least one sequence"
    ):
        report(tagger, [], [])
    for X, y in ([[]], [[]]), ([["a"]], [[None]]):
        with pytest.raises(
            ValueError, match="there is nothing to score: no token has a gold label"
        ):
            report(tagger, X, y)
