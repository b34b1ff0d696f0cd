"""Every kind of gold label under every scorer by every way that scores held-out
sequences: the right number, or a refusal before the first epoch.

What is right is worked out by the plain counting at the top of this file. A run tries
each pair of a kind, a scorer and a way, all cells once a week.
"""

import itertools
import math

import numpy as np
import pytest
from covers import cover, slow_beyond
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, cross_validate

from skstruct import (
    L1CRF,
    L1CRFCV,
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    PartialSpans,
    PassiveAggressiveTagger,
    ShiftReduceParser,
    SpanTagger,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct._crf import crf_run, path
from skstruct._crf.solver import solve as solver
from skstruct._data.labels import AllBut
from skstruct._training import run as training
from skstruct.metrics import (
    SCORERS,
    segment_f1_score,
    span_f1_score,
    token_f1_scorer_for,
)

WORDS = [["Ann", "Lee", "saw", "Rome", "."], ["in", "Oslo", ",", "Bob", "sat"]]
TAGS = [["B-P", "I-P", "O", "B-L", "O"], ["O", "B-L", "O", "B-P", "O"]]
OPEN = AllBut(frozenset({"B-P", "I-P"}), frozenset({"O"}))  # only P is annotated
N = 12

KINDS = {
    "plain": TAGS,
    "none": [["B-P", "I-P", "O", None, "B-L"], [None] * 5],
    "set": [["B-P", "I-P", {"O", "B-L"}, "O", "B-L"], TAGS[1]],
    "frozenset": [["B-P", frozenset({"I-P", "O"}), "O", "B-L", "O"], TAGS[1]],
    "set of one": [["B-P", {"I-P"}, "O", "B-L", "O"], TAGS[1]],
    "open": [["B-P", "I-P", OPEN, OPEN, OPEN], [OPEN, OPEN, OPEN, "B-P", OPEN]],
    "unknown": [["B-P", "I-P", "O", "B-X", "O"], TAGS[1]],
    "no scheme": [["B-P", "I-P", "O", "noun", "O"], TAGS[1]],
    "number": [["B-P", "I-P", "O", 7, "O"], TAGS[1]],
    "missing": [["B-P", "I-P", "O", math.nan, "O"], TAGS[1]],
}
"""By kind the labels of the two sentences: what is held out alternates between them."""


# -- what is right ---------------------------------------------------------------------
def is_set(label):
    return isinstance(label, (set, frozenset, AllBut))


def single(label):
    """The one label that F1 counts, or None."""
    if isinstance(label, AllBut):
        return "O"
    if is_set(label):
        return next(iter(label)) if len(label) == 1 else None
    return label


def hits(true, pred):
    """Whether each token that counts is right."""
    return [
        b in a if is_set(a) else a == b for a, b in zip(true, pred) if a is not None
    ]


def token_accuracy(y, found):
    return np.mean([hit for pair in zip(y, found) for hit in hits(*pair)])


def sequence_accuracy(y, found):
    return np.mean([all(hits(*pair)) for pair in zip(y, found) if hits(*pair)])


def token_f1(y, found):
    pairs = [
        (single(a), b)
        for true, pred in zip(y, found)
        for a, b in zip(true, pred)
        if single(a) is not None
    ]
    scores = []
    for label in {each for pair in pairs for each in pair}:
        right = sum(a == b == label for a, b in pairs)
        scores.append(2 * right / sum((a == label) + (b == label) for a, b in pairs))
    return np.mean(scores)


def segments(labels):
    """Segments of BIO labels, read from left to right."""
    found, begun = set(), None
    for t, label in enumerate([*labels, "O"]):
        prefix, _, kind = ("O" if label is None else label).partition("-")
        if begun and (prefix != "I" or kind != begun[1]):
            found.add((begun[0], t, begun[1]))
            begun = None
        if prefix != "O" and begun is None:
            begun = t, kind
    return found


def segment_f1(y, found):
    right = n = 0
    for true, pred in zip(y, found):
        gold = [single(label) for label in true]
        unknown = {t for t, label in enumerate(gold) if label is None}
        sides = [
            {s for s in segments(side) if unknown.isdisjoint(range(s[0] - 1, s[1] + 1))}
            for side in (gold, pred)
        ]
        if OPEN in true:
            sides[1] = {segment for segment in sides[1] if segment[2] == "P"}
        right += len(sides[0] & sides[1])
        n += len(sides[0]) + len(sides[1])
    return 2 * right / n


RIGHT = {
    "token_accuracy": token_accuracy,
    "sequence_accuracy": sequence_accuracy,
    "token_f1": token_f1,
    "segment_f1": segment_f1,
}
SCORINGS = {
    **{name: (name, right) for name, right in RIGHT.items()},
    "no scoring": (None, token_accuracy),
    "made by sklearn": (make_scorer(segment_f1_score, scheme="BIO"), segment_f1),
    "of averages": (token_f1_scorer_for(average="macro"), token_f1),
}


# -- ways to score what is held out ----------------------------------------------------
def corpus(kind):
    """Sentences and labels with empty sequences in between; strange labels stand where
    the way holds out, plain ones elsewhere as well, so that training knows them."""
    X, y = [], []
    for i in range(N):
        X += [[], WORDS[i % 2]] if i % 3 == 0 else [WORDS[i % 2]]
        y += [[], KINDS[kind][i % 2]] if i % 3 == 0 else [KINDS[kind][i % 2]]
    return X, y


def plain(n=N):
    return [WORDS[i % 2] for i in range(n)], [TAGS[i % 2] for i in range(n)]


@pytest.fixture
def epochs(monkeypatch):
    """Counts epochs, and minimisations of a CRF."""
    calls = []

    def counted(function):
        def wrapped(*args, **given):
            calls.append(function.__name__)
            return function(*args, **given)

        return wrapped

    monkeypatch.setattr(training.Run, "run_epoch", counted(training.run_epoch))
    for module in (path, crf_run):
        monkeypatch.setattr(module, "solve", counted(solver.solve))
    return calls


def scores_of_epochs(model):
    return [record["validation_score"] for record in model.history_]


def given(make):
    """Return the way of X_val for an estimator."""

    def way(kind, scoring):
        X, y = plain()
        X_val, y_val = corpus(kind)
        model = make(scoring).fit(X, y, X_val=X_val, y_val=y_val)
        if model.history_[-1].get("validation_score") is None:
            raise AssertionError("nothing was scored")
        return scores_of_epochs(model)[-1], [(y_val, model.predict(X_val))]

    return way


def stopping(kind, scoring):
    """Early stopping: what is held out is found again from the best epoch."""
    X, y = corpus(kind)
    held = []

    def beside(estimator, X_held, y_held):
        held.append((y_held, estimator.predict(X_held)))
        return scorer_of(scoring or "token_accuracy")(estimator, X_held, y_held)

    options = {"early_stopping": True, "validation_fraction": 0.5, "max_iter": 2}
    make = StructuredPerceptron(random_state=1, n_iter_no_change=5, **options)
    make.set_params(scoring=beside).fit(X, y)
    model = make.set_params(scoring=scoring).fit(X, y)
    return scores_of_epochs(model)[-1], held[-1:]


def crf_search(kind, scoring):
    """The search of a CRF, over shuffled folds in two threads."""
    X, y = corpus(kind)
    folds = list(KFold(2, shuffle=True, random_state=3).split(X))
    search = L1CRFCV(
        c1s=[0.1], c2s=[0.1], cv=folds, scoring=scoring, n_jobs=2, selection_tol=1e-4
    ).fit(X, y)
    pairs = []
    for train, test in folds:
        crf = L1CRF(c1=0.1, c2=0.1, tol=1e-4, random_state=0)
        crf.fit([X[i] for i in train], [y[i] for i in train])
        pairs.append(([y[i] for i in test], crf.predict([X[i] for i in test])))
    return search.best_score_, pairs


def grid_search(kind, scoring):
    X, y = corpus(kind)
    model = StructuredPerceptron(max_iter=2, random_state=0)
    cv = ShuffleSplit(2, test_size=0.5, random_state=2)
    search = GridSearchCV(
        model, {"max_iter": [2]}, scoring=scorer_of(scoring), cv=cv, error_score="raise"
    ).fit(X, y)
    return search.best_score_, pairs_of_folds(model, X, y, cv)


def cross_validation(kind, scoring):
    X, y = corpus(kind)
    model = StructuredPerceptron(max_iter=2, random_state=0)
    cv = KFold(3, shuffle=True, random_state=5)
    found = cross_validate(
        model, X, y, scoring=scorer_of(scoring), cv=cv, error_score="raise"
    )
    return found["test_score"].mean(), pairs_of_folds(model, X, y, cv)


def scorer_of(scoring):
    return SCORERS[scoring] if isinstance(scoring, str) else scoring


def pairs_of_folds(model, X, y, cv):
    pairs = []
    for train, test in cv.split(X):
        model.fit([X[i] for i in train], [y[i] for i in train])
        pairs.append(([y[i] for i in test], model.predict([X[i] for i in test])))
    return pairs


def perceptron(scoring=None, **options):
    return StructuredPerceptron(max_iter=2, random_state=0, scoring=scoring, **options)


WAYS = {
    "X_val": given(perceptron),
    "X_val, passive-aggressive": given(
        lambda s: PassiveAggressiveTagger(max_iter=2, random_state=0, scoring=s)
    ),
    "X_val, CRF": given(lambda s: L1CRF(c1=0.1, random_state=0, scoring=s)),
    "X_val, mixture": given(lambda s: ParameterMixer(perceptron(s), 2, random_state=0)),
    "X_val, calibrated": given(lambda s: CalibratedTagger(perceptron(s), cv=2)),
    "early stopping": stopping,
    "CRF search": crf_search,
    "grid search": grid_search,
    "cross-validation": cross_validation,
}


def is_refused(kind, scoring):
    """Whether the error of this cell is the right answer: a label that is none, of no
    scheme, or of another type than the others."""
    if kind == "no scheme":
        return SCORINGS[scoring][1] is segment_f1
    return kind in ("number", "missing")


def pairs_of(cell):
    """What a cell tries: two of its names at a time. One that is refused says nothing
    of others that are scored.
    """
    refused = is_refused(*cell[:2])
    return {(refused, *pair) for pair in itertools.combinations(cell, 2)}


CELLS = [*itertools.product(KINDS, SCORINGS, WAYS)]
COVER = {CELLS[k] for k in cover(CELLS, pairs_of)}


def test_each_run_tries_every_pair():
    assert set().union(*map(pairs_of, COVER)) == set().union(*map(pairs_of, CELLS))


@pytest.mark.filterwarnings("ignore:y_val has labels that training lacks")
@pytest.mark.parametrize("kind, scoring, way", slow_beyond(COVER, CELLS))
def test_each_cell(kind, scoring, way, epochs):
    asked, right = SCORINGS[scoring]
    if is_refused(kind, scoring):
        with pytest.raises(ValueError) as caught:
            WAYS[way](kind, asked)
        if way in ("grid search", "cross-validation") and kind == "no scheme":
            # scikit-learn asks the scorer when a fold is trained
            assert "'noun' does not belong" in str(caught.value)
            return
        if way == "early stopping" and kind == "no scheme":
            # the callable around the scorer that this way trains with at first
            epochs.clear()
            with pytest.raises(ValueError) as caught:
                perceptron(asked, early_stopping=True, validation_fraction=0.5).fit(
                    *corpus(kind)
                )
        assert epochs == []
        name = "y_val" if way.startswith("X_val") else "y"
        text = str(caught.value)
        if "type" not in text or "sequence" in text:
            place = text[text.index(f"{name}: sequence ") :].split()[2].rstrip(",:")
            strange = {
                i
                for i, labels in enumerate(corpus(kind)[1])
                if KINDS[kind][0] is labels
            }
            assert int(place) in strange and "position 3" in text
        return
    score, pairs = WAYS[way](kind, asked)
    assert score == pytest.approx(np.mean([right(*pair) for pair in pairs]), abs=1e-9)


# -- scores of probabilities -----------------------------------------------------------
def log_loss(crf, X, y):
    """Minus the log-loss a token, by a sum over all labellings of each sequence."""
    total = n = 0
    for tokens, true in zip(X, y):
        given = [label for label in true if label is not None]
        if not given:
            continue
        ranked = crf.predict_kbest([tokens], k=len(crf.classes_) ** len(tokens))[0]
        log_z = np.log(np.sum(np.exp([score for _, score in ranked])))
        right = [
            score - log_z
            for labels, score in ranked
            if len(hits(true, labels)) == sum(hits(true, labels))
        ]
        total += np.log(np.sum(np.exp(right)))
        n += len(given)
    return total / n


@pytest.mark.parametrize(
    "kind", ["plain", "none", "set", "frozenset", "set of one", "open"]
)
def test_a_log_loss_is_that_of_all_labellings(kind):
    X, y = plain()
    X_val, y_val = (part[:4] for part in corpus(kind))
    crf = L1CRF(c1=0.5, random_state=0, scoring="sequence_log_loss")
    crf.fit(X, y, X_val=X_val, y_val=y_val)
    assert scores_of_epochs(crf)[-1] == pytest.approx(log_loss(crf, X_val, y_val))


@pytest.mark.parametrize("kind", ["number", "missing"])
@pytest.mark.parametrize("name", ["expected_calibration_error", "sequence_log_loss"])
def test_probabilities_of_no_labels_are_refused(kind, name, epochs):
    with pytest.raises(ValueError, match="^y_val: sequence 1, position 3: "):
        L1CRF(scoring=name).fit(*plain(), X_val=corpus(kind)[0], y_val=corpus(kind)[1])
    assert epochs == []


@pytest.mark.parametrize("name", ["expected_calibration_error", "sequence_log_loss"])
def test_a_model_without_probabilities_is_refused(name, epochs):
    with pytest.raises(TypeError, match="a StructuredPerceptron lacks; use an L1CRF"):
        perceptron(name, early_stopping=True).fit(*plain())
    assert epochs == []


# -- texts, words, trees ---------------------------------------------------------------
TEXTS = ["Ann Lee saw Rome .\n\nBob sat .", "in Oslo , Bob sat\nAnn Lee sat"] * 6
SPANS = [
    PartialSpans([(0, 7, "P"), (20, 23, "P")], {"P"}),
    [(3, 7, "L"), (10, 13, "P"), (18, 25, "P")],
] * 6


@pytest.mark.parametrize(
    "around, outside",
    [("one", False), ("average", False), ("mixture", False), ("mixture", True)],
)
def test_partly_annotated_spans_under_segment_f1_are_those_of_texts(around, outside):
    def wrap(learner):
        if around == "one":
            return learner
        if around == "average":
            return BaggingShuffleAverager(learner, 1, random_state=0)
        return ParameterMixer(learner, 1, random_state=0)

    learner = perceptron("segment_f1")
    model = (
        wrap(SpanTagger(learner, pieces="lines"))
        if outside
        else SpanTagger(wrap(learner), pieces="lines")
    )
    model.fit(TEXTS, SPANS, X_val=TEXTS, y_val=SPANS)
    score = span_f1_score(SPANS, model.predict(TEXTS))
    assert model.history_[-1]["validation_score"] == pytest.approx(score)
    assert 0.0 < score


def test_partly_annotated_spans_and_early_stopping(epochs):
    learner = perceptron("segment_f1", early_stopping=True, validation_fraction=0.3)
    model = SpanTagger(learner, pieces="lines").fit(TEXTS, SPANS)
    assert len(epochs) == 2
    assert all(0.0 <= score <= 1.0 for score in scores_of_epochs(model))


def test_other_tasks_are_refused_before_an_epoch(epochs):
    X, y = [[("a", "D"), ("b", "N")]] * 8, [[2, 0]] * 8
    wrong = {
        "word_f1": ShiftReduceParser(
            labeled=False, early_stopping=True, scoring="word_f1"
        ),
        "attachment": WordSegmenter(early_stopping=True, scoring="attachment"),
        "span_f1": KBestReranker(
            perceptron(), cv=2, early_stopping=True, scoring="span_f1"
        ),
    }
    data = {"word_f1": (X, y), "attachment": (["ab c"] * 8, [["ab", "c"]] * 8)}
    for name, model in wrong.items():
        with pytest.raises(TypeError, match="compares .* predicts"):
            model.fit(*data.get(name, plain()))
    assert epochs == []


def test_heads_and_words_that_count(epochs):
    X, y = [[("a", "D"), ("b", "N")]] * 8, [[2, 0], [0, 1]] * 4
    parser = ShiftReduceParser(
        labeled=False, max_iter=2, random_state=0, scoring="attachment"
    )
    parser.fit(X, y, X_val=X[:2], y_val=y[:2])
    assert scores_of_epochs(parser)[-1] == parser.score(X[:2], y[:2])
    unlabelled = parser.set_params(scoring="labeled_attachment")
    epochs.clear()
    with pytest.raises(ValueError, match="label"):
        unlabelled.fit(X, y, X_val=X[:2], y_val=y[:2])
    assert epochs == []
    words = ["ab c", "a bc"] * 4, [["ab", "c"], ["a", "bc"]] * 4
    model = WordSegmenter(max_iter=2, random_state=0, scoring="word_f1")
    model.fit(*words, X_val=words[0][:2], y_val=words[1][:2])
    assert scores_of_epochs(model)[-1] == model.score(words[0][:2], words[1][:2])


def test_a_reranker_is_refused_before_its_bases_are_trained(epochs):
    X, y = corpus("no scheme")
    for given in ({}, {"X_val": X, "y_val": y}):
        model = KBestReranker(
            perceptron(),
            cv=2,
            early_stopping=True,
            scoring="segment_f1",
            validation_fraction=0.9,
        )
        name = "y_val" if given else "y"
        with pytest.raises(ValueError, match=f"^{name}: sequence .* 'noun' does not"):
            model.fit(*(plain() if given else (X, y)), **given)
    assert epochs == []


def test_labels_that_may_be_predicted_are_looked_at(epochs):
    X, y = plain()
    y = [*y[:-1], ["O", "O", "O", "O", "noun"]]
    with pytest.raises(ValueError, match="'segment_f1' cannot count .* 'noun'"):
        perceptron("segment_f1").fit(X, y, X_val=X[:1], y_val=y[:1])
    assert epochs == []


def test_asking_a_scorer_before_training_warns_of_nothing():
    X, y = plain()
    seldom = token_f1_scorer_for(["Yes"])
    with pytest.warns(UndefinedMetricWarning) as caught:
        seldom(perceptron().fit(X, y), X, y)
    once = len(caught)
    with pytest.warns(UndefinedMetricWarning) as caught:
        perceptron(seldom).fit(X, y, X_val=X, y_val=y)
    assert len(caught) == 2 * once  # an epoch each
