"""The scores of a report, and their intervals."""

import html.parser

import numpy as np
import pytest

from skstruct import (
    L1CRF,
    ShiftReduceParser,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct.datasets import load_chunking
from skstruct.inspection import errors, report
from skstruct.metrics import attachment_scores, segment_report, token_accuracy_score

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


def test_scores_are_those_of_the_metrics(chunks):
    model, X, y, page = chunks
    predicted = model.predict(X)
    expected = segment_report(y, predicted, output_dict=True)
    assert page.scores["accuracy of tokens"].value == pytest.approx(
        token_accuracy_score(y, predicted)
    )
    for name in ("precision", "recall", "F1"):
        assert page.scores[name].value == pytest.approx(
            expected["micro avg"][name.lower()]
        )
    for name, row in page.by_label.items():
        assert (row["recall"], row["support"]) == (
            pytest.approx(expected[name]["recall"]),
            expected[name]["support"],
        )
    for value, low, high in page.scores.values():
        assert low < value < high and high - low < 0.25
    assert sorted(page.wrong) == [
        i for i, pair in enumerate(zip(y, predicted)) if pair[0] != pair[1]
    ]


def test_parts_that_are_not_annotated_count_as_in_score():
    """Spans beside such a part, or inside of it, have a label; a corpus without any
    span has no F1.
    """
    texts = ["Ann met Bob", "Bob met Ann"]
    whole = [[(0, 3, "PER"), (8, 11, "PER")]] * 2
    model = SpanTagger(StructuredPerceptron(random_state=0)).fit(texts, whole)
    for rest in (3, 11, None), (0, 11, None):
        for label in "PER", "LOC":
            y = [[(0, 3, label), rest]] * 2
            page = report(model, texts, y)
            assert (
                page.scores["F1"].value
                == model.score(texts, y)
                == float(label == "PER")
            )
            assert (
                page.by_label[label]["support"] == errors(model, texts, y).n_items == 2
            )
    model = SpanTagger(StructuredPerceptron(random_state=0)).fit(
        ["Ann", "so"], [[(0, 3, "PER")], []]
    )
    page = report(model, ["so"], [[]])
    assert (
        np.isnan(page.scores["F1"].value)
        and page.scores["sequences that are right"].value == 1.0
    )
    Balanced(page.to_html())


def test_gold_spans_that_no_labels_express():
    """Spans that overlap, or end inside of a token, are judged as in `score`, whatever
    `fit` refuses.
    """
    texts = ["Ann Lee met Bob", "Bob met Ann Lee"] * 4
    y = [[(0, 7, "PER"), (12, 15, "PER")], [(0, 3, "PER"), (8, 15, "PER")]] * 4
    model = SpanTagger(L1CRF(c1=0.01), align="error").fit(texts, y)
    for more in (0, 3, "FIRST"), (4, 15, "PER"), (0, 5, "PER"), (0, 7, "OTHER"):
        gold = [[*y[0], more], *y[1:]]
        page = report(model, texts, gold)
        assert page.scores["F1"].value == model.score(texts, gold) < 1.0
        assert "How far probabilities can be trusted" in page.to_html()
        Balanced(page.to_html())


@pytest.mark.parametrize("labeled", [True, False])
def test_attachment_scores_are_those_of_the_metrics(labeled):
    """Subtypes do not count, nor arcs whose label is not known."""
    X = [[("dogs", "N"), ("bark", "V")], [("it", "P"), ("rains", "V")]] * 2
    y = [[(2, "nsubj"), (0, "root")], [(2, "expl"), (0, "root")]] * 2
    gold = [[(2, "nsubj:pass"), (0, "root")], [(2, None), (0, "root")]]
    gold += [[(0, "root"), (1, "x")], [(2, "obj"), (0, "root")]]
    parser = ShiftReduceParser(labeled=labeled, max_iter=3, random_state=0)
    parser.fit(X, y if labeled else [[head for head, _ in tree] for tree in y])
    page = report(parser, X, gold)
    found = attachment_scores(gold, parser.predict(X))
    assert page.scores["UAS"].value == found.uas
    assert ("LAS" in page.scores) == labeled
    if labeled:
        assert page.scores["LAS"].value == pytest.approx(found.las) == 4 / 7
        # those of a wrong head, another label and another subtype
        assert sorted(page.wrong) == [0, 2, 3]
