"""Labels that are probably wrong: what is found, in which order, and what a fold may
lack.
"""

import pickle
import random

import pytest

from skstruct import L1CRF, PartialSpans, SpanTagger, StructuredPerceptron
from skstruct.datasets import columns_to_spans, load_chunking, load_entities
from skstruct.features import WordVectors
from skstruct.inspection import (
    Finding,
    Where,
    label_issues,
    out_of_fold_marginals,
)
from skstruct.inspection.issues import corrected

X = [["the", "dog"], ["a", "cat"], ["the", "cat"], ["a", "dog"]] * 5


def tags():
    return [["D", "N"] for _ in X]


def test_planted_errors_come_first():
    """Two of three are among the first twice as many; benchmarks/label_issues.py has
    larger corpora.
    """
    X, y = load_chunking()
    y, draw = [list(labels) for labels in y], random.Random(1)
    every = [label for labels in y for label in labels]
    places = draw.sample(
        [(i, t) for i, labels in enumerate(y) for t in range(len(labels))], 30
    )
    for i, t in places:
        y[i][t] = draw.choice([label for label in every if label != y[i][t]])
    issues = label_issues(L1CRF(random_state=0), X, y)
    found = {
        (issue.sequence, t) for issue in issues[:60] for t in _tokens_of(issue)
    }  # segments, which a wrong label joins or splits
    assert sum(place in found for place in places) >= 20
    chances = [issue.chance for issue in issues]
    assert chances == sorted(chances, reverse=True)


def _tokens_of(issue):
    first, last = zip((issue.start, issue.end), issue.other or (issue.start, issue.end))
    return range(min(first), max(last))


@pytest.mark.parametrize("make", [L1CRF, lambda: StructuredPerceptron(random_state=0)])
def test_an_issue(make):
    y = tags()
    y[6][1] = "D"
    issue = label_issues(make(), X, y)[0]
    assert issue[:5] == (6, 1, 2, "D", "N") and issue.kind == "other label"
    marginals, classes = out_of_fold_marginals(make(), X, y)
    assert classes.tolist() == ["D", "N"]
    assert issue.probability == pytest.approx(marginals[6][1, 1])
    assert issue.score == issue.chance


def test_labels_that_are_not_known_are_no_issues():
    y = [[None, "N"] if i == 3 else labels for i, labels in enumerate(tags())]
    marginals, _ = out_of_fold_marginals(L1CRF(), X, y)
    assert marginals[3].shape == (2, 2)
    assert not any(issue[:2] == (3, 0) for issue in label_issues(L1CRF(), X, y))


def test_positions_in_texts_are_those_of_characters():
    texts = [
        f"Then {name} left .\n\n{name} met   Bob ."
        for name in ("Ann", "Eve", "Tom") * 4
    ]
    spans = [[(5, 8, "PER"), (17, 20, "PER"), (27, 30, "PER")] for _ in texts]
    spans[4] = spans[4][:2]
    issues = label_issues(SpanTagger(L1CRF(c1=0.1), pieces="lines"), texts, spans)
    assert issues[0][:5] == (4, 27, 30, None, "PER")  # a span that is missing
    assert texts[4][27:30] == "Bob" and "[Bob]" in issues.context(issues[0])


def test_what_comes_out():
    y = tags()
    y[6][1], y[8][0] = "D", "N"
    issues = label_issues(L1CRF(), X, y)
    again = pickle.loads(pickle.dumps(issues))
    assert (
        again == issues and str(again) == str(issues) and again[:1].context(issues[0])
    )
    assert issues.to_dict()["given"] == [issue.given for issue in issues]
    assert issues.to_frame().columns.tolist() == list(Finding._fields)
    html = issues._repr_html_()
    assert (
        html.count("<tr>") == len(issues)
        and "other label" in html
        and "a [dog]" not in html
        and "[cat]" in html
    )
    assert label_issues(L1CRF(), X, tags()) == []


def test_clusters_of_words_are_those_of_the_tagger():
    texts, spans = columns_to_spans(*(each[:40] for each in load_entities()))
    words = (
        WordVectors(5, n_clusters=8, min_count=1, random_state=0)
        .fit_text(texts)
        .table()
    )
    tagger = StructuredPerceptron(max_iter=2, random_state=0)
    found = [
        label_issues(SpanTagger(tagger, words=words), texts, spans, cv=2),
        label_issues(SpanTagger(tagger.set_params(words=words)), texts, spans, cv=2),
    ]
    assert list(found[0]) == list(found[1]) != []
    other = (
        WordVectors(5, n_clusters=5, min_count=1, random_state=0)
        .fit_text(texts)
        .table()
    )
    with pytest.raises(ValueError, match="different words="):
        SpanTagger(tagger, words=other).fit(texts, spans)


def test_planted_spans_are_found_by_their_kind():
    """One of each kind among the spans of a few names; what is rare and right is
    none.
    """
    names = {"PER": ["Ann", "Tom", "Eve"], "LOC": ["Rome", "Oslo", "Bonn"]}
    draw = random.Random(0)
    texts, spans = [], []
    for _ in range(120):
        who, city = draw.choice(names["PER"]), draw.choice(names["LOC"])
        text = f"Then {who} went to {city} by train ."
        a, b = text.index(who), text.index(city)
        texts.append(text)
        spans.append([(a, a + 3, "PER"), (b, b + 4, "LOC")])
    per, loc = spans[10]
    spans[10] = [(*per[:2], "LOC"), loc]
    spans[30] = spans[30][1:]
    by = texts[50].index("train")
    spans[50] = [*spans[50], (by, by + 5, "LOC")]
    per, loc = spans[70]
    spans[70] = [(per[0], per[1] + 5, "PER"), loc]
    places = [{"record": i + 2, "id": f"t{i}"} for i in range(120)]
    model = SpanTagger(L1CRF(c1=0.1, random_state=0))
    found = label_issues(model, texts, spans, places=places)
    kinds = {(each.sequence, each.kind) for each in found[:4]}
    assert kinds == {
        (10, "other type"), (30, "missing"), (50, "superfluous"), (70, "other boundary"),
    }  # fmt: skip
    assert found.expected() == pytest.approx(4.0, abs=2.0)
    (wide,) = found.by_kind()["other boundary"][:1]
    assert wide.other == (5, 8) and wide.where == Where(None, 72, "t70")
    right = corrected(spans[70], [wide])
    assert right == [(5, 8, "PER"), spans[70][1]]


def test_spans_that_overlap_are_corrected_one_by_one():
    spans = [(0, 6, "gene"), (0, 6, "protein"), (0, 15, "DNA")]
    about = {"probability": 0.9, "score": 0.9}
    findings = [
        Finding(0, 0, 6, "gene", None, **about),
        Finding(0, 0, 15, "DNA", "RNA", **about),
        Finding(0, 7, 15, None, "part", **about),
    ]
    nested = corrected(spans, findings, nested=True)
    assert nested == [(0, 6, "protein"), (0, 15, "RNA"), (7, 15, "part")]
    assert corrected(spans, findings) == [(0, 6, "protein")]


def test_what_is_not_annotated_is_not_missing():
    texts = ["Ann met Tom ."] * 20
    full = [[(0, 3, "PER"), (8, 11, "PER")] for _ in texts]
    unknown = [*full[:5], [(0, 3, "PER"), (8, 11, None)], *full[6:]]
    model = SpanTagger(L1CRF(c1=0.1, random_state=0))
    assert not any(f.sequence == 5 for f in label_issues(model, texts, unknown))
    partly = [*full[:5], PartialSpans([(0, 3, "PER")], types={"LOC", "PER"}), *full[6:]]
    assert label_issues(model, texts, partly)[0].kind == "missing"
    partly[5] = PartialSpans([], types={"LOC"})
    assert not any(f.sequence == 5 for f in label_issues(model, texts, partly))
