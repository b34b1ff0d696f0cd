"""Labels of held-out sequences that are missing, or that training lacks: they are
scored all the same.

Epochs are judged by ``X_val`` or early stopping, candidates by the test part of a fold.
The rule is that of ``skstruct.metrics``: what has no label does not count, what
training lacks is wrong, and nothing is no score.
"""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from skstruct import (
    L1CRF,
    L1CRFCV,
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    PassiveAggressiveTagger,
    Segmenter,
    ShiftReduceParser,
    SpanTagger,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct.metrics import SCORERS

WORDS = {"Ann": "B-PER", "Lee": "I-PER", "saw": "O", "Rome": "B-LOC", "again": "O"}
X = [
    ["Ann", "Lee", "saw", "Rome"],
    ["again", "Rome", "saw", "Ann"],
    ["Ann", "saw", "Lee", "again"],
] * 6
Y = [[WORDS[word] for word in x] for x in X]
PARTLY = [[None, *labels[1:]] if i % 3 == 0 else labels for i, labels in enumerate(Y)]
STRANGE = [
    ["B-NEW", *labels[1:]] if i % 3 == 0 else labels for i, labels in enumerate(Y)
]
NOTHING = [[None] * len(labels) for labels in Y]

OF_LABELS = ["token_accuracy", "sequence_accuracy", "segment_f1"]
OF_PROBABILITIES = ["expected_calibration_error", "sequence_log_loss"]

EARLY = {"max_iter": 3, "early_stopping": True, "random_state": 0}

TAGGERS = {
    "perceptron": (
        lambda **options: StructuredPerceptron(max_iter=2, random_state=0, **options),
        OF_LABELS,
    ),
    "pa": (
        lambda **options: PassiveAggressiveTagger(
            max_iter=2, random_state=0, **options
        ),
        OF_LABELS,
    ),
    "crf": (
        lambda **options: L1CRF(random_state=0, **options),
        OF_LABELS + OF_PROBABILITIES,
    ),
    "reranker": (
        lambda **options: KBestReranker(
            StructuredPerceptron(max_iter=2, random_state=0),
            k=2,
            cv=2,
            max_iter=2,
            random_state=0,
            **options,
        ),
        OF_LABELS,
    ),
}

CASES = [
    (name, scoring)
    for name, (_, scorings) in TAGGERS.items()
    for scoring in (None, *scorings)
]


@pytest.mark.parametrize(("name", "scoring"), CASES)
@pytest.mark.parametrize(
    "y_val", [PARTLY, STRANGE], ids=["without label", "that training lacks"]
)
@pytest.mark.filterwarnings("ignore:y_val has labels that training lacks")
def test_epochs_are_scored(name, scoring, y_val):
    make, _ = TAGGERS[name]
    model = make(scoring=scoring).fit(X, Y, X_val=X, y_val=y_val)
    scores = [record["validation_score"] for record in model.history_]
    assert np.isfinite(scores).all()
    scorer = SCORERS[scoring] if scoring else lambda model, X, y: model.score(X, y)
    assert scorer(model, X, y_val) == pytest.approx(scores[-1], abs=1e-6)
    if y_val is STRANGE and scoring in (None, "token_accuracy"):
        assert max(scores) <= 1 - len(X) / 3 / sum(map(len, X))


@pytest.mark.parametrize("name", TAGGERS)
def test_without_any_label_there_is_nothing_to_judge_by(name):
    make, _ = TAGGERS[name]
    model = make()
    with pytest.raises(
        ValueError, match="there is nothing to score: no token has a gold label"
    ):
        model.fit(X, Y, X_val=X, y_val=NOTHING)
    assert not hasattr(model, "history_")
    with pytest.raises(
        ValueError, match="there is nothing to score: no token has a gold label"
    ):
        make().fit(X, Y).score(X, NOTHING)


@pytest.mark.parametrize(
    "around", [BaggingShuffleAverager, ParameterMixer, CalibratedTagger]
)
def test_nor_is_there_for_what_is_around(around):
    with pytest.raises(
        ValueError, match="there is nothing to score: no token has a gold label"
    ):
        around(StructuredPerceptron(random_state=0)).fit(X, Y, X_val=X, y_val=NOTHING)


def test_other_structures_have_no_score_of_nothing():
    trees = [[("a", "N"), ("b", "V")]] * 6, [[(2, "x"), (0, "root")]] * 6
    parser = ShiftReduceParser(max_iter=2, random_state=0).fit(*trees)
    texts = ["ab", "cd"], [["ab"], ["c", "d"]]
    segmenter = Segmenter(StructuredPerceptron(max_iter=2, random_state=0)).fit(*texts)
    words = WordSegmenter(max_iter=2, random_state=0).fit(*texts)
    spans = SpanTagger(StructuredPerceptron(max_iter=2, random_state=0)).fit(
        ["Ann saw"], [[(0, 3, "PER")]]
    )
    for model in parser, segmenter, words, spans:
        with pytest.raises(ValueError, match="there is nothing to score|X is empty"):
            model.score([], [])
    assert spans.score(["saw"], [[]]) in (
        0.0,
        1.0,
    )  # nobody is there, which is an annotation


@pytest.mark.parametrize("scoring", [None, *OF_LABELS])
def test_early_stopping_holds_out_what_has_labels(scoring):
    """Nine of ten sequences have none: a part drawn of all of them could judge
    nothing.
    """
    many, labels = [*X, *[["saw", "Rome"]] * 180], [*Y, *[[None, None]] * 180]
    model = StructuredPerceptron(scoring=scoring, validation_fraction=0.2, **EARLY).fit(
        many, labels
    )
    assert all(0.0 < record["validation_score"] <= 1.0 for record in model.history_)
    reranker = KBestReranker(
        StructuredPerceptron(random_state=0), k=2, cv=2, scoring=scoring, **EARLY
    )
    assert np.isfinite(reranker.fit(many, labels).history_[-1]["validation_score"])


@pytest.mark.parametrize("scoring", OF_LABELS + OF_PROBABILITIES)
def test_searches_end(scoring):
    """A fold lacks a label, or has tokens without one: no exception, no nan."""
    y = [list(labels) for labels in PARTLY]
    y[0] = ["B-RARE", "I-RARE", "O", "O"]  # in the first test part alone
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = L1CRFCV(
            c1s=[0.1], c2s=[0.1], cv=3, scoring=scoring, random_state=0
        ).fit(X, y)
        theirs = GridSearchCV(
            L1CRF(random_state=0),
            {"c1": [0.1]},
            cv=3,
            scoring=SCORERS[scoring],
            error_score="raise",
        )
        theirs.fit(X, y)
    for k in range(3):
        found = search.cv_results_[f"split{k}_test_score"]
        assert np.isfinite(found).all()
        assert found == pytest.approx(
            theirs.cv_results_[f"split{k}_test_score"], abs=0.02
        )
