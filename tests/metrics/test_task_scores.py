"""The scores of a task, which reports, commands and cards show."""

import html.parser
import json
import warnings

import numpy as np
import pytest

from skstruct import (
    L1CRF,
    ShiftReduceParser,
    SpanTagger,
    StructuredPerceptron,
    metrics,
)
from skstruct.datasets import load_chunking
from skstruct.inspection import errors, report
from skstruct.metrics import attachment_scores, segment_report, token_accuracy_score
from skstruct.metrics.task_scores import as_text, scores_of

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
    assert page.scores["token_accuracy"].value == pytest.approx(
        token_accuracy_score(y, predicted)
    )
    for name in ("precision", "recall", "f1"):
        assert page.scores[name].value == pytest.approx(expected["micro avg"][name])
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
                page.scores["f1"].value
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
        np.isnan(page.scores["f1"].value)
        and page.scores["sequence_accuracy"].value == 1.0
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
        assert page.scores["f1"].value == model.score(texts, gold) < 1.0
        assert "Calibration of probabilities" in page.to_html()
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
    assert page.scores["uas"].value == found.uas
    assert ("las" in page.scores) == labeled
    if labeled:
        assert page.scores["las"].value == pytest.approx(found.las) == 4 / 7
        # those of a wrong head, another label and another subtype
        assert sorted(page.wrong) == [0, 2, 3]


# -- one assembly for all --------------------------------------------------------------
TASKS = {
    "segments": ("labels", [["a"] * 3] * 2, [["B-X", "I-X", "O"], ["B-Y", "O", "B-X"]],
                 [["B-X", "O", "O"], ["B-Y", "O", "B-X"]]),
    "labels": ("labels", [["a"] * 2] * 2, [["N", "V"], ["N", None]], [["N", "N"], ["V", "V"]]),
    "words": ("words", ["abc", "de"], [["ab", "c"], ["d", "e"]], [["ab", "c"], ["de"]]),
    "words with tags": ("words", ["abc"], [[("ab", "N"), ("c", "V")]], [[("ab", "N"), ("c", "N")]]),
    "spans": ("spans", ["Ann met Bob"], [[(0, 3, "A"), (8, 11, "A")]], [[(0, 4, "A")]]),
    "trees": ("trees", [[("a", "N"), (".", "P")]], [[(2, "x:y"), (0, "r")]], [[(0, "x"), (1, "r")]]),
    "heads": ("trees", [[("a", "N"), ("b", "V")]], [[2, 0]], [[0, 1]]),
}  # fmt: skip
NOTHING = {
    "no segments": ("labels", [["a"]], [["O"]], [["O"]], {"scheme": "BIO"}),
    "a type never predicted": ("labels", [["a"]], [["B-X"]], [["O"]]),
    "no spans": ("spans", ["a"], [[]], [[]]),
    "no unknown words": ("words", ["a"], [["a"]], [["a"]], {"vocabulary": {"a"}}),
    "no labels of arcs": ("trees", [[("a", "N")]], [[(0, None)]], [[(0, "r")]]),
}


@pytest.mark.parametrize("name", TASKS)
def test_values_are_those_of_the_metrics(name):
    """And the same with intervals, of which they are the middle."""
    task, X, y, y_pred = TASKS[name]
    found = scores_of(task, X, y, y_pred)
    value = {key: score.value for key, score in found.overall.items()}
    more = scores_of(task, X, y, y_pred, intervals=True)
    assert {key: score.value for key, score in more.overall.items()} == value
    assert more[4:] == found[4:]
    if task == "labels":
        assert value["token_accuracy"] == metrics.token_accuracy_score(y, y_pred)
        assert value["sequence_accuracy"] == metrics.sequence_accuracy_score(y, y_pred)
        report = metrics.segment_report if name == "segments" else metrics.token_report
        rows = report(y, y_pred, output_dict=True, zero_division=np.nan)
        shown = found.to_dict()[name]
        for label in found.by_label:
            for column, number in rows[label].items():
                assert shown[label][column] == (None if number != number else number)
        rows = report(y, y_pred, output_dict=True, zero_division=0)
        assert {label: rows[label] for label in found.averages} == found.averages
    elif task == "words":
        expected = metrics.segmentation_report(y, y_pred, (), zero_division=0)
        assert all(value[key] == expected[key] for key in ("precision", "recall", "f1"))
        assert value.get("joint_f1", value["f1"]) == metrics.word_f1_score(y, y_pred)
    elif task == "spans":
        assert value["f1"] == metrics.span_f1_score(y, y_pred, texts=X)
    else:
        expected = metrics.attachment_scores(y, y_pred)
        assert (value["uas"], value["complete"]) == (expected.uas, expected.complete)
        assert value.get("las", np.nan) == pytest.approx(expected.las, nan_ok=True)
        assert (name == "heads") == ("las" not in value)
        assert found.amounts.get("words") == (1 if name == "trees" else 2)


@pytest.mark.parametrize("name", [*TASKS, *NOTHING])
@pytest.mark.parametrize("intervals", [False, True])
def test_nothing_to_count_is_a_dash_and_null(name, intervals):
    task, X, y, y_pred, *more = {**TASKS, **NOTHING}[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        options = dict(*more)
        found = scores_of(task, X, y, y_pred, **options, intervals=intervals)
    text = as_text(found)
    shown = json.dumps(found.to_dict(), allow_nan=False)
    assert "nan" not in text.lower()
    if name in NOTHING:
        assert "null" in shown and " -" in text
    assert text.count("\n") >= len(found.overall)


def test_no_score_is_made_of_nothing():
    for task, X, y in (
        ("labels", [], []), ("labels", [["a"]], [[None]]), ("words", [""], [[]]),
        ("spans", [], []), ("trees", [], []), ("trees", [[("a", "N")]], [[None]]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="nothing to score"):
            scores_of(task, X, y, [[0] if task == "trees" else labels for labels in y])


def test_counts_do_not_grow_with_labels_times_sentences():
    """Without intervals no table of all sentences and labels is made."""
    n = 20_000
    y = [[str(i)] for i in range(n)]
    found = scores_of("labels", y, y, y)
    assert found.overall["token_accuracy"].value == 1.0 and len(found.by_label) == n


def test_scores_of_what_is_right_in_part():
    """They are those of the metric, as text and as JSON, of segments and of spans."""
    task, X, y, y_pred = TASKS["spans"]
    found = scores_of(task, X, y, y_pred, partial=True)
    given = {"texts": X, "zero_division": np.nan}
    expected = metrics.partial_span_report(y, y_pred, **given)
    assert found.schemas == dict(expected)
    by_type = metrics.partial_span_report(y, y_pred, by_type=True, **given).by_type
    assert found.schemas_by_type == {name: dict(row) for name, row in by_type.items()}
    plain = found.to_dict()["schemas_by_type"]
    assert list(plain) == list(found.by_label)
    name = next(iter(plain))
    assert plain[name]["exact"]["missed"] == by_type[name].exact["missed"]
    assert found.to_dict()["schemas"]["type"]["f1"] == expected.type["f1"]
    lines = as_text(found).splitlines()
    below = -4 * len(by_type)
    assert lines[below - 4].startswith("strict ")
    assert lines[below].startswith(f"{name}, strict ")
    task, X, y, y_pred = TASKS["segments"]
    found = scores_of(task, X, y, y_pred, partial=True)
    assert found.schemas["strict"]["f1"] == found.overall["f1"].value
    for name in ("labels", "words", "trees"):
        with pytest.raises(ValueError, match="are for segments and spans"):
            scores_of(*TASKS[name], partial=True)
