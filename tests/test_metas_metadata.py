"""Groups, weights and ``"auto"`` of estimators that train another one: what is handed
over reaches what is to have it, and what does not train is not counted.
"""

import warnings
from copy import deepcopy

import numpy as np
import pytest
from metas_cases import LABELLED, PROSE, ROWS, TEXT, average, crf, perceptron, reranker
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import Pipeline

from skstruct import (
    L1CRFCV,
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    Segmenter,
    ShiftReduceParser,
    SpanSets,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct.features import TokenPredictions
from skstruct.metrics import SCORERS, attachment_scorer_for

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

# -- groups ----------------------------------------------------------------------------
N = len(LABELLED[0])
GROUPS = [f"d{i % 4}" for i in range(N)]


class Noted(GroupKFold):
    """Notes the groups that it is given, and the folds that it makes."""

    log: list = []

    def split(self, X, y=None, groups=None):
        for train, test in super().split(X, y, groups):
            Noted.log.append(list(groups))
            of = np.array(groups)
            assert not set(of[train]) & set(of[test])
            yield train, test


def asking(estimator):
    return estimator.set_fit_request(groups=True)


SPLITTERS = {
    "calibrated": (lambda cv: CalibratedTagger(perceptron(), cv=cv), LABELLED),
    "search": (
        lambda cv: L1CRFCV(candidates=[(0.1, 0.1)], cv=cv, random_state=0),
        LABELLED,
    ),
    "sets": (
        lambda cv: SpanSets(
            CalibratedTagger(perceptron(features="auto", constraints="BIO")),
            recall=0.5,
            cv=cv,
        ),
        (
            LABELLED[0],
            [["B-x"] + ["I-x"] * (len(labels) - 1) for labels in LABELLED[1]],
        ),
    ),
}
NESTED = {
    "segmenter": (lambda inner: Segmenter(inner), TEXT, "calibrated"),
    "average": (average, LABELLED, "search"),
    "calibrated": (
        lambda inner: asking(CalibratedTagger(inner, cv=2)),
        LABELLED,
        "search",
    ),
    "pipeline": (
        lambda inner: Pipeline([("tagger", inner)]),
        LABELLED,
        "calibrated",
    ),
    "segmenter of an average": (
        lambda inner: Segmenter(average(inner)),
        TEXT,
        "search",
    ),
}


@pytest.mark.parametrize("name", SPLITTERS)
def test_groups_reach_every_splitter(name):
    make, (X, y) = SPLITTERS[name]
    Noted.log.clear()
    make(Noted(2)).fit(X, y, groups=GROUPS)
    assert Noted.log == [GROUPS] * 2
    with pytest.raises(ValueError, match="groups"):
        make(Noted(2)).fit(X, y)
    with pytest.raises(ValueError, match="groups must"):
        make(Noted(2)).fit(X, y, groups=GROUPS[1:])
    with pytest.raises(ValueError, match="groups must"):
        make(2).fit(X, y, groups=GROUPS[1:])


@pytest.mark.parametrize("name", SPLITTERS)
def test_a_number_of_folds_cuts_no_group(name):
    """Folds of one group each are those of ``LeaveOneGroupOut``."""
    make, (X, y) = SPLITTERS[name]
    halves = ["a"] * 7 + ["b"] * (N - 7)
    stretches = [(range(7, N), range(7)), (range(7), range(7, N))]
    by_number = make(2).fit(X, y, groups=halves)
    by_hand = make(stretches).fit(X, y, groups=halves)
    for attribute in "temperature_", "best_score_", "thresholds_":
        assert getattr(by_number, attribute, 0) == getattr(by_hand, attribute, 0)
    with pytest.raises(ValueError, match="cv=3 folds need at least as many .*, got 2"):
        make(3).fit(X, y, groups=halves)


@pytest.mark.parametrize("name", NESTED)
def test_groups_reach_splitters_deep_inside(name):
    around, (X, y), inner = NESTED[name]
    Noted.log.clear()
    with config_context(enable_metadata_routing=True):
        model = around(asking(SPLITTERS[inner][0](Noted(2))))
        model.fit(X, y, groups=GROUPS)
    assert Noted.log[:2] == [GROUPS] * 2


def test_no_base_of_a_reranker_knows_a_group_that_it_scores():
    seen = []

    class Notes(StructuredPerceptron):
        def fit(self, X, y, sample_weight=None):
            seen.append(sorted({tokens[0].partition(" ")[0] for tokens in X}))
            return super().fit(X, y, sample_weight)

    X, y = LABELLED
    X = [[f"{group} {c}" for c in tokens] for group, tokens in zip(GROUPS, X)]
    base = Notes(max_iter=1, random_state=0)
    model = KBestReranker(base, k=2, cv=2, max_iter=1, random_state=0)
    model.fit(X, y, groups=GROUPS)
    whole, *parts = seen
    assert whole == ["d0", "d1", "d2", "d3"]
    assert sorted(parts[0] + parts[1]) == whole
    with pytest.raises(ValueError, match="cv=5 folds need .* many groups, got 4"):
        model.set_params(cv=5).fit(X, y, groups=GROUPS)
    with pytest.raises(ValueError, match="each of the 18 sequences, got 17"):
        model.fit(X, y, groups=GROUPS[1:])


def test_a_group_for_each_sequence_is_no_group():
    X, y = LABELLED
    model = reranker(perceptron())
    alone = clone(model).fit(X, y, groups=range(N))
    assert alone.history_[-1]["loss"] == model.fit(X, y).history_[-1]["loss"]
    assert (alone.decision_function(X) == model.decision_function(X)).all()


def test_groups_reach_predictions():
    X, y = ROWS
    trees = ExtraTreesClassifier(2, random_state=0)
    Noted.log.clear()
    TokenPredictions(trees, cv=Noted(2)).fit_transform(X, y, groups=GROUPS)
    assert Noted.log == [GROUPS] * 2
    step = TokenPredictions(trees, cv=Noted(2))
    pipeline = Pipeline([("scores", step), ("tagger", StructuredPerceptron())])
    pipeline.fit(X, y, scores__groups=GROUPS)
    assert Noted.log == [GROUPS] * 4


# -- weights of scorers ----------------------------------------------------------------
SCORED = {
    **SCORERS,
    "attachment_scorer_for": attachment_scorer_for("complete"),
}


def scored_case(name):
    """(estimator, X, y) that a scorer can judge."""
    if name == "word_f1":
        return Segmenter(perceptron(max_iter=1)), *TEXT
    if name == "span_f1":
        return SpanTagger(perceptron(features="auto", max_iter=1)), *PROSE
    if "attachment" in name:
        X = [[(word, "T") for word in text] for text in ("abc", "ba", "c", "acc")] * 6
        y = [[0, 1, 1], [2, 0], [0], [2, 0, 2]] * 6
        labeled = name == "labeled_attachment"
        if labeled:
            y = [[(head, "x") for head in heads] for heads in y]
        return ShiftReduceParser(max_iter=1, random_state=0, labeled=labeled), X, y
    X, y = LABELLED
    if name == "segment_f1":
        y = [["B-x"] + ["I-x"] * (len(labels) - 1) for labels in y]
    return crf(max_iter=2, features="char"), X, y


@pytest.mark.parametrize("name", SCORED)
def test_weights_are_routed_to_every_scorer(name):
    model, X, y = scored_case(name)
    weight = np.where(np.arange(len(X)) % 3, 0.01, 7.0)
    with config_context(enable_metadata_routing=True):
        scorer = deepcopy(SCORED[name]).set_score_request(sample_weight=True)
        for learner in (model, getattr(model, "tagger", model)):
            learner.set_fit_request(sample_weight=False)
        grid = GridSearchCV(
            model,
            {},
            scoring=scorer,
            cv=2,
            error_score="raise",
            refit=False,
        )
        grid.fit(X, y, sample_weight=weight)
    for k, (train, test) in enumerate(KFold(2).split(X)):
        alone = clone(model).fit([X[i] for i in train], [y[i] for i in train])
        held_out = [X[i] for i in test], [y[i] for i in test]
        expected = SCORED[name](alone, *held_out, sample_weight=weight[test])
        found = grid.cv_results_[f"split{k}_test_score"][0]
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["expected_calibration_error", "sequence_log_loss"])
def test_scores_of_probabilities_know_weights(name):
    X, y = LABELLED
    model = crf(max_iter=2, features="char").fit(X[:3], y[:3])
    scorer = SCORERS[name]
    weight = np.where(np.arange(N) < 6, 1.0, 0.0)
    assert scorer(model, X, y, sample_weight=weight) == pytest.approx(
        scorer(model, X[:6], y[:6])
    )
    with pytest.raises(ValueError, match="weights"):
        scorer(model, X, y, weights=weight)


# -- "auto" ----------------------------------------------------------------------------
EMPTY = [[]] * 600


@pytest.mark.parametrize("verb", ["fit", "partial_fit"])
def test_auto_counts_what_trains(verb):
    X, y = LABELLED
    auto = BaggingShuffleAverager(perceptron(max_iter=1), "auto", random_state=0)

    def n(X, y, weight=None):
        return getattr(clone(auto), verb)(X, y, sample_weight=weight).n_estimators_

    many = 30
    assert n(X, y) == 10
    assert n(X + EMPTY, y + EMPTY) == 10
    assert n(X * many, y * many) == 5
    weightless = [1.0] * N + [0.0] * (N * (many - 1))
    assert n(X * many, y * many, weightless) == 10


def test_auto_of_texts_counts_what_trains():
    X, y = TEXT
    model = Segmenter(BaggingShuffleAverager(perceptron(max_iter=1), "auto"))
    assert model.fit(X + [""] * 600, y + EMPTY).tagger_.n_estimators_ == 10


def test_auto_does_not_count_what_early_stopping_holds_out():
    X, y = LABELLED[0] * 28, LABELLED[1] * 28  # 504
    learner = perceptron(max_iter=1, early_stopping=True)
    auto = BaggingShuffleAverager(learner, "auto", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert auto.fit(X, y).n_estimators_ == 10
