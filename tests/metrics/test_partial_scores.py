"""Scores of spans that are right in part, beside those of the package nervaluate."""

import random

import pytest

from skstruct.metrics import partial_span_report, span_f1_score
from skstruct.metrics.partial_scores import COUNTS, schemas_of

TRUE = [[(0, 7, "PER"), (17, 21, "LOC"), (30, 33, "LOC")]]
FOUND = [[(0, 3, "PER"), (17, 21, "ORG"), (40, 41, "ORG")]]


def drawn(rng, n):
    """Spans of a text of n characters that may overlap, in order."""
    spans = set()
    for _ in range(rng.randrange(6)):
        start = rng.randrange(n - 4)
        spans.add((start, start + rng.randrange(1, 5), rng.choice("AB")))
    return sorted(spans)


@pytest.mark.parametrize("seed", range(30))
def test_counts_are_those_of_nervaluate(seed):
    strategies = pytest.importorskip("nervaluate.strategies")
    entities = pytest.importorskip("nervaluate.entities")
    rng = random.Random(seed)
    of_schema = {
        "strict": strategies.StrictEvaluation(),
        "exact": strategies.ExactEvaluation(),
        "partial": strategies.PartialEvaluation(),
        "type": strategies.EntityTypeEvaluation(),
    }
    for _ in range(30):
        sides = [drawn(rng, 20) for _ in range(2)]
        theirs = [
            [entities.Entity(label, start, end - 1) for start, end, label in side]
            for side in sides
        ]
        ours = schemas_of([sides], nothing=0.0)
        for schema, strategy in of_schema.items():
            expected, _ = strategy.evaluate(*theirs, ["A", "B"])
            assert [ours[schema][name] for name in COUNTS] == [
                getattr(expected, name) for name in COUNTS
            ]
            for name in ("precision", "recall", "f1"):
                assert ours[schema][name] == pytest.approx(getattr(expected, name))


@pytest.mark.parametrize("seed", range(10))
def test_types_are_those_of_nervaluate(seed):
    nervaluate = pytest.importorskip("nervaluate")
    rng = random.Random(seed)
    true, found = ([drawn(rng, 20) for _ in range(60)] for _ in range(2))
    theirs = [
        [
            [{"label": label, "start": a, "end": b - 1} for a, b, label in spans]
            for spans in side
        ]
        for side in (true, found)
    ]
    theirs[0].insert(0, [{"label": "A", "start": 0, "end": 2}])  # the first chooses
    theirs[1].insert(0, [])
    expected = nervaluate.Evaluator(*theirs, tags=["A", "B"], loader="dict").evaluate()
    ours = partial_span_report(
        [[(0, 3, "A")], *true], [[], *found], by_type=True, zero_division=0.0
    )
    assert list(ours.by_type) == sorted(expected["entities"]) == ["A", "B"]
    of_all = {"": (ours, expected["overall"])}
    of_types = {
        kind: (row, expected["entities"][kind]) for kind, row in ours.by_type.items()
    }
    for mine, their in (of_all | of_types).values():
        for schema in ("strict", "exact", "partial", "type"):
            row = their["ent_type" if schema == "type" else schema]
            assert [mine[schema][name] for name in COUNTS] == [
                getattr(row, name) for name in COUNTS
            ]
            for name in ("precision", "recall", "f1"):
                assert mine[schema][name] == pytest.approx(getattr(row, name))


def test_each_type():
    report = partial_span_report(TRUE, FOUND, by_type=True, zero_division=0.0)
    assert list(report.by_type) == ["LOC", "ORG", "PER"]
    counts = {kind: row.exact["missed"] for kind, row in report.by_type.items()}
    assert counts == {"LOC": 2, "ORG": 0, "PER": 0}
    lines = str(report).splitlines()
    assert lines[5].split()[:5] == ["LOC,", "strict", "0.0000", "0.0000", "0.0000"]
    weighted = partial_span_report(TRUE * 2, FOUND * 2, [1.0, 0.0], by_type=True)
    assert weighted.by_type == report.by_type


def test_each_schema():
    scores = partial_span_report(TRUE, FOUND)
    counts = {schema: [row[n] for n in COUNTS] for schema, row in scores.items()}
    assert counts == {
        "strict": [0, 2, 0, 1, 1],
        "exact": [1, 1, 0, 1, 1],
        "partial": [1, 0, 1, 1, 1],
        "type": [1, 1, 0, 1, 1],
    }
    assert scores.partial["f1"] == pytest.approx(0.5) and scores.type["recall"] == 1 / 3
    assert str(scores).splitlines()[3].split()[:4] == [
        "partial", "0.5000", "0.5000", "0.5000",
    ]  # fmt: skip


def test_weights_texts_and_what_nobody_annotated():
    twice = partial_span_report(TRUE * 2, FOUND * 2)
    weighted = partial_span_report([*TRUE, []], [*FOUND, [(0, 1, "A")]], [2.0, 0.0])
    assert weighted == twice
    text = "Ann Lee lives in Rome and else."
    spans = [[(0, 8, "PER"), (17, 21, None)]]
    found = partial_span_report(spans, [[(0, 7, "PER"), (17, 21, "LOC")]], texts=[text])
    assert found.strict["f1"] == 1.0 and found.strict["spurious"] == 0


def test_spans_without_characters_match_equal_ones():
    scores = partial_span_report([[(3, 3, "A")]], [[(3, 3, "A")]])
    assert scores.strict["f1"] == scores.exact["f1"] == 1.0


def test_strict_scores_are_those_of_spans_and_the_others_no_lower():
    """Also of empty spans, which share no character with any other."""
    rng = random.Random(0)
    for _ in range(500):
        sides = []
        for _ in range(2):
            spans = []
            for cell in range(0, 12, 3):  # so that spans of one side do not overlap
                start = cell + rng.randrange(3)
                end = rng.randrange(start, cell + 3)
                spans.append((start, end, rng.choice("AB")))
            sides.append([rng.sample(spans, rng.randrange(5))])
        found = partial_span_report(*sides, zero_division=0.0)
        strict = found["strict"]["f1"]
        assert strict == pytest.approx(span_f1_score(*sides, zero_division=0.0))
        for schema in "exact", "partial", "type":
            assert found[schema]["f1"] >= strict - 1e-12
