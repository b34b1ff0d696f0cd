"""Scorers, for scikit-learn's searches."""

import pickle
import warnings

import pytest
from inside import score_of
from sklearn.base import BaseEstimator
from sklearn.model_selection import cross_val_score

from skstruct import (
    L1CRFCV,
    Segmenter,
    ShiftReduceParser,
    SpanTagger,
    StructuredPerceptron,
    metrics,
)
from skstruct.metrics import (
    attachment_scorer_for,
    segment_f1_scorer_for,
)
from skstruct.metrics.scorers import TASKS, TaskScorer


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


class Constant(BaseEstimator):
    """Predicts one and the same structure."""

    def __init__(self, structure=None):
        self.structure = structure

    def fit(self, X, y):
        return self

    def predict(self, X):
        return [self.structure] * len(X)


@pytest.mark.parametrize(
    "name, structure, other",
    [
        ("token_accuracy_scorer", ["A", "B"], ["A", "A"]),
        ("sequence_accuracy_scorer", ["A", "B"], ["A", "A"]),
        ("segment_f1_scorer", ["B-X", "B-Y"], ["B-X", "O"]),
        ("word_f1_scorer", ["a", "b"], ["ab"]),
        ("span_f1_scorer", [(0, 2, "A"), (3, 5, "B")], [(0, 2, "A")]),
        ("attachment_scorer", [(2, "x"), (0, "root")], [(0, "root"), (1, "x")]),
    ],
)
def test_scorers(name, structure, other):
    scorer = pickle.loads(pickle.dumps(getattr(metrics, name)))
    y = [structure, structure, other, structure] * 2
    scores = cross_val_score(
        Constant(structure), [["x", "x"]] * 8, y, cv=2, scoring=scorer
    )
    score = score_of(scorer)
    assert scores == pytest.approx([score(y[:4], [structure] * 4)] * 2)
    assert 0 < scores[0] < 1
    assert score.__name__ in repr(scorer)


def test_scorer_factory():
    scorer = pickle.loads(
        pickle.dumps(segment_f1_scorer_for("IOBES", average="macro", mode="strict"))
    )
    model = Constant(["B-X", "E-X"])
    assert scorer(model, [["x", "x"]], [["B-X", "E-X"]]) == 1.0
    assert segment_f1_scorer_for("BIO")(model, [["x", "x"]], [["B-X", "I-X"]]) == 1.0


class Oracle:
    """Predicts what it was given."""

    def __init__(self, trees):
        self.trees = trees

    def predict(self, X):
        return self.trees


def test_attachment_scorers_leave_punctuation_out():
    X = [[("a", "D"), ("b", "N"), (".", ".")], [("b", "N")]]
    y = [[(2, "det"), (0, "root"), (2, "punct")], [(0, "root")]]
    parser = Oracle([[(2, "amod"), (0, "root"), (1, "punct")], [(0, "root")]])
    for score, everything, words in (
        ("uas", 0.75, 1.0),
        ("las", 0.5, 2 / 3),
        ("complete", 0.5, 1.0),
    ):
        assert attachment_scorer_for(score)(parser, X, y) == pytest.approx(everything)
        scorer = pickle.loads(
            pickle.dumps(attachment_scorer_for(score, punctuation=["."]))
        )
        assert scorer(parser, X, y) == pytest.approx(words)
    with pytest.raises(ValueError, match="score must be one of"):
        attachment_scorer_for("LAS")
    with pytest.raises(
        ValueError, match="punctuation must be a collection of tags; got '.,'"
    ):
        attachment_scorer_for(punctuation=".,")
    with pytest.raises(ValueError, match="needs .head, label. pairs"):
        attachment_scorer_for("las")(
            Oracle([[2, 0]]), [[("a", "D"), ("b", "N")]], [[2, 0]]
        )


MODELS = {
    "labels": (StructuredPerceptron, [["a", "b"]], [["A", "B"]]),
    "words": (
        lambda: Segmenter(StructuredPerceptron("char", random_state=0)),
        ["ab"],
        [["a", "b"]],
    ),
    "spans": (
        lambda: SpanTagger(StructuredPerceptron("text", random_state=0)),
        ["a b"],
        [[(0, 1, "A")]],
    ),
    "trees": (ShiftReduceParser, [[("a", "A"), ("b", "B")]], [[(2, "x"), (0, "y")]]),
}
"""By what they predict: an estimator, and what it learns from."""


@pytest.mark.parametrize("task", MODELS)
@pytest.mark.parametrize(
    "name", sorted(n for n, s in metrics.SCORERS.items() if isinstance(s, TaskScorer))
)
def test_a_score_of_something_else_is_refused(name, task):
    """Where sequences happen to be as long, it would be a number."""
    scorer = metrics.SCORERS[name]
    score = score_of(scorer)
    assert score in TASKS, (
        f"skstruct/metrics/scorers.py: enter {score.__name__} in TASKS, with the tasks "
        "whose predictions it compares"
    )
    make, X, y = MODELS[task]
    model = make().fit(X, y)
    if task in TASKS[score_of(scorer)]:
        if name != "segment_f1":  # A and B are no labels of segments
            assert scorer(model, X, y) == 1.0
        return
    with pytest.raises(TypeError, match=f"predicts {task}: the scorers of these are"):
        scorer(model, X, y)


@pytest.mark.parametrize("name", ["token_accuracy", "sequence_accuracy", "token_f1"])
def test_a_metric_in_the_place_of_a_scorer_is_named(name):
    score = score_of(metrics.SCORERS[name])
    X, y = [["a", "b"], ["b", "a"]] * 2, [["A", "B"], ["B", "A"]] * 2
    tagger = StructuredPerceptron(scoring=score, random_state=0)
    with pytest.raises(ValueError, match=f"write scoring='{name}'"):
        tagger.fit(X, y, X_val=X, y_val=y)
    search = L1CRFCV(c1s=[0.1], c2s=[0.1], cv=2, scoring=score, max_iter=2)
    with pytest.raises(ValueError, match=f"write scoring='{name}'"):
        search.fit(X, y)
