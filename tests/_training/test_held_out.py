"""Held-out sequences of the user: scores, early stopping, checkpoints, and what is
refused.
"""

import subprocess

import numpy as np
import pytest
import sklearn
from forked import python
from inside import after_each_report, before_each_line, before_each_round
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

import skstruct
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    PassiveAggressiveTagger,
    Segmenter,
    ShiftReduceParser,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct.datasets import load_segmentation, make_hmm_sequences
from skstruct.metrics import SCORERS

X, Y = make_hmm_sequences(60, n_labels=4, n_words=60, max_length=12, random_state=0)
X, Y, X_VAL, Y_VAL = X[:40], Y[:40], X[40:], Y[40:]
TEXTS, WORDS = load_segmentation()


def perceptron(**parameters):
    return StructuredPerceptron(**{"max_iter": 4, "random_state": 0, **parameters})


def scores_of(estimator):
    return [record["validation_score"] for record in estimator.history_]


# -- scores ----------------------------------------------------------------------------
def test_each_epoch_is_scored_as_a_fit_that_ends_there():
    watched = perceptron().fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    alone = [perceptron(max_iter=n).fit(X, Y).score(X_VAL, Y_VAL) for n in range(1, 5)]
    assert scores_of(watched) == pytest.approx(alone)
    assert "validation_score" not in perceptron().fit(X, Y).history_[0]


@pytest.mark.parametrize("scoring", ["sequence_accuracy", SCORERS["sequence_accuracy"]])
def test_scorers_by_name_and_as_callables(scoring):
    watched = perceptron(scoring=scoring).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    alone = [perceptron(max_iter=n).fit(X, Y) for n in range(1, 5)]
    assert scores_of(watched) == [
        SCORERS["sequence_accuracy"](model, X_VAL, Y_VAL) for model in alone
    ]


def test_a_scorer_sees_a_fitted_estimator_and_the_held_out_sequences():
    seen = []

    def scorer(estimator, X, y):
        seen.append(
            (type(estimator), estimator.classes_.tolist(), X == X_VAL, y == Y_VAL)
        )
        return len(seen)

    model = perceptron(scoring=scorer).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    assert seen == [(StructuredPerceptron, model.classes_.tolist(), True, True)] * 4
    assert scores_of(model) == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("value", [None, "much", np.nan, [1, 2]])
def test_a_scorer_that_returns_no_number(value):
    model = perceptron(scoring=lambda *_: value)
    with pytest.raises(ValueError, match="scoring must return a finite number, got"):
        model.fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    assert not hasattr(model, "history_")


def test_names_of_scorers_are_checked():
    with pytest.raises(
        ValueError, match="'scoring' parameter of StructuredPerceptron must be"
    ):
        perceptron(scoring="accuracy").fit(X, Y)


def test_a_crf_scores_each_pass_and_notes_the_log_probability():
    crf = L1CRF(random_state=0, scoring="token_accuracy").fit(
        X, Y, X_val=X_VAL, y_val=Y_VAL
    )
    assert scores_of(crf)[-1] == pytest.approx(crf.score(X_VAL, Y_VAL))
    assert all(record["validation"] < 0.0 for record in crf.history_)


# -- early stopping --------------------------------------------------------------------
def test_early_stopping_goes_by_the_given_part():
    options = {
        "max_iter": 30,
        "early_stopping": True,
        "n_iter_no_change": 2,
        "tol": 0.0,
    }
    model = perceptron(**options).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    scores = scores_of(model)
    assert len(scores) == model.n_iter_ < 30
    assert model.score(X_VAL, Y_VAL) == pytest.approx(max(scores))
    alone = perceptron(max_iter=int(np.argmax(scores)) + 1).fit(
        X, Y
    )  # all of X was trained on
    assert model.predict(X) == alone.predict(X)


def test_early_stopping_by_a_scorer_without_a_given_part():
    seen = []

    def scorer(estimator, X, y):
        seen.append(len(X))
        return -len(seen)  # each epoch is worse

    model = perceptron(early_stopping=True, scoring=scorer, n_iter_no_change=2).fit(
        X, Y
    )
    assert seen == [4, 4, 4] and scores_of(model) == [-1, -2, -3]


def test_the_mixer_stops_by_rounds():
    base = perceptron(max_iter=30, early_stopping=True, n_iter_no_change=2, tol=0.0)
    model = ParameterMixer(base, 2, random_state=0).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    scores = scores_of(model)
    assert len(scores) == model.n_iter_ < 30 and model.score(
        X_VAL, Y_VAL
    ) == pytest.approx(max(scores))
    assert model.estimator_.early_stopping
    with pytest.raises(ValueError, match="with X_val and y_val in fit it does"):
        ParameterMixer(base, 2).fit(X, Y)


def test_members_of_an_averager_say_who_they_are(capsys):
    base = perceptron(max_iter=3, verbose=1)
    model = BaggingShuffleAverager(base, 2, random_state=0, keep_members=True)
    model.fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    assert [(record["member"], record["epoch"]) for record in model.history_] == [
        (member, epoch) for member in (1, 2) for epoch in (1, 2, 3)
    ]
    assert [scores_of(model)[2], scores_of(model)[5]] == pytest.approx(
        model.member_scores(X_VAL, Y_VAL)
    )
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        f"member {member}, epoch {epoch}" for member in (1, 2) for epoch in (1, 2, 3)
    ]
    assert all("held-out accuracy 0." in line for line in lines)


# -- labels that training lacks --------------------------------------------------------
@pytest.mark.parametrize(
    "make",
    [
        perceptron,
        lambda: PassiveAggressiveTagger(max_iter=2, random_state=0),
        lambda: L1CRF(random_state=0),
        lambda: BaggingShuffleAverager(perceptron(), 2, random_state=0),
        lambda: ParameterMixer(perceptron(), 2, random_state=0),
        lambda: CalibratedTagger(perceptron(), cv=2, random_state=0),
        lambda: KBestReranker(perceptron(), k=2, cv=2, max_iter=2, random_state=0),
    ],
)
def test_unseen_labels_are_wrong_and_named_once(make):
    strange = [list(labels) for labels in Y_VAL]
    strange[3][0], strange[5][1] = "new", "newer"
    with pytest.warns(UserWarning) as caught:
        model = make().fit(X, Y, X_val=X_VAL, y_val=strange)
    texts = [str(w.message) for w in caught if "training lacks" in str(w.message)]
    assert len(texts) == 1 and "'new', 'newer'" in texts[0]
    right = make().fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    total = sum(map(len, Y_VAL))
    for mine, theirs in zip(scores_of(model), scores_of(right)):
        assert theirs - 2.5 / total < mine <= theirs


def test_constraints_hold_for_held_out_labels():
    sentences, labels = [["he", "saw", "York"]] * 4, [["O", "B-LOC", "I-LOC"]] * 4
    model = perceptron(constraints="BIO")
    with pytest.raises(
        ValueError,
        match="^y_val: sequence 1, position 0: the label 'I-LOC' cannot start",
    ):
        model.fit(
            sentences,
            labels,
            X_val=sentences[:2],
            y_val=[["O", "O", "O"], ["I-LOC", "O", "O"]],
        )
    assert not hasattr(model, "classes_")


# -- what is refused -------------------------------------------------------------------
TREES = [[("a", "N"), ("b", "V")]] * 6, [[(2, "x"), (0, "root")]] * 6


@pytest.mark.parametrize(
    ("make", "data", "held_out", "message"),
    [
        (perceptron, (X, Y), (X, None), "got no y_val"),
        (perceptron, (X, Y), (None, Y), "got no X_val"),
        (
            perceptron,
            (X, Y),
            (X_VAL, Y_VAL[1:]),
            "X_val and y_val must hold the same number of sequences",
        ),
        (
            perceptron,
            (X, Y),
            ("ab", Y_VAL),
            "X_val must be a list of sequences, got str 'ab'",
        ),
        (
            perceptron,
            (X, Y),
            ([[("a", "b")]], [["L0"]]),
            "X_val: sequence 0, position 0",
        ),
        (perceptron, (X, Y), ([[3]], [["L0"]]), "X_val: sequence 0, position 0"),
        (perceptron, (X, Y), ([[]], [[]]), "X_val holds no token"),
        (perceptron, (X, Y), ([np.ones((2, 3))], [["L0", "L1"]]), "X_val"),
        (
            perceptron,
            ([np.eye(3)], [["L0", "L1", "L2"]]),
            ([np.ones((2, 4))], [["L0", "L1"]]),
            "X_val",
        ),
        (
            L1CRF,
            ([np.eye(3)], [["L0", "L1", "L2"]]),
            ([np.ones((2, 4))], [["L0", "L1"]]),
            "X_val",
        ),
        (
            WordSegmenter,
            (TEXTS, WORDS),
            ([3], [["a"]]),
            "X_val: sequence 0: expected a text",
        ),
        (WordSegmenter, (TEXTS, WORDS), (["ab"], [["a"]]), "y_val: sequence 0"),
        (
            WordSegmenter,
            (TEXTS, WORDS),
            (["ab"], [[True, False]]),
            "y_val: sequence 0: expected words",
        ),
        (
            WordSegmenter,
            (TEXTS, WORDS),
            (["ab", "c"], [["ab"]]),
            "X_val and y_val must hold the same number",
        ),
        (Segmenter, (TEXTS, WORDS), (["", "ab"], [[], ["a"]]), "y_val: sequence 1"),
        (Segmenter, (TEXTS, WORDS), ([""], [[]]), "X_val holds no character"),
        (
            ShiftReduceParser,
            TREES,
            ([[("a", "N")]], [[(3, "x")]]),
            "y_val: sequence 0, position 0",
        ),
        (
            ShiftReduceParser,
            TREES,
            ([["a"]], [[(0, "x")]]),
            "X_val: sequence 0, position 0",
        ),
        (
            ShiftReduceParser,
            TREES,
            ([[("a", "N")]], [[0]]),
            "y_val: sequence 0, position 0",
        ),
    ],
)
def test_errors_name_the_held_out_part(make, data, held_out, message):
    model = make()
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(*data, X_val=held_out[0], y_val=held_out[1])
    assert not hasattr(model, "n_iter_")


# -- going on --------------------------------------------------------------------------
class Stop(Exception):
    pass


@pytest.mark.parametrize("early", [False, True])
def test_a_resumed_fit_has_the_same_history(early, tmp_path, monkeypatch):
    options = {"max_iter": 6, "early_stopping": early, "n_iter_no_change": 9}
    whole = perceptron(**options).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    model = perceptron(checkpoint=tmp_path, **options)
    with monkeypatch.context() as patch:
        left = iter(range(3))

        def stop(run):
            if next(left) == 2:
                raise Stop

        after_each_report(patch, stop)
        with pytest.raises(Stop):
            model.fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    assert len(list(tmp_path.iterdir())) == 1
    other = clone(model).fit(X, Y, X_val=X_VAL[1:], y_val=Y_VAL[1:])  # another fit
    assert other.resumed_from_ == 0
    model.fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    assert model.resumed_from_ == 3 and scores_of(model) == scores_of(whole)
    assert model.predict(X_VAL) == whole.predict(X_VAL)
    assert not list(tmp_path.iterdir())


def test_a_resumed_crf_has_the_same_history(tmp_path, monkeypatch):
    whole = L1CRF(random_state=0).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    crf = L1CRF(random_state=0, verbose=1, checkpoint=tmp_path)
    with monkeypatch.context() as patch:
        left = iter([None] * 9)

        def stop(record):
            try:
                next(left)
            except StopIteration:
                raise Stop from None

        before_each_line(patch, stop)
        with pytest.raises(Stop):
            crf.fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    crf.fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    assert crf.resumed_from_ > 0 and scores_of(crf) == scores_of(whole)
    assert crf.objective_ == whole.objective_


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("n_shards", [1, 2])
def test_a_resumed_mixer_has_the_same_history(early, n_shards, tmp_path, monkeypatch):
    base = perceptron(max_iter=6, early_stopping=early, n_iter_no_change=9)
    whole = ParameterMixer(base, n_shards, random_state=0).fit(
        X, Y, X_val=X_VAL, y_val=Y_VAL
    )
    mixer = ParameterMixer(base, n_shards, checkpoint=tmp_path, random_state=0)
    with monkeypatch.context() as patch:
        left = iter(range(4))

        def stop():
            if next(left) == 3:
                raise Stop

        before_each_round(patch, stop)
        with pytest.raises(Stop):
            mixer.fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    mixer.fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    assert mixer.resumed_from_ == 3 and scores_of(mixer) == scores_of(whole)
    assert mixer.predict(X_VAL) == whole.predict(X_VAL) and not list(tmp_path.iterdir())


def test_warm_start_and_partial_fit_go_on():
    model = perceptron(warm_start=True, max_iter=2).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    model.fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    assert [record["epoch"] for record in model.history_] == [3, 4]
    assert scores_of(model)[-1] == model.score(X_VAL, Y_VAL)
    assert "validation_score" not in model.partial_fit(X, Y).history_[-1]


def test_the_history_and_a_named_scorer_are_saved(tmp_path):
    for model in (
        perceptron(scoring="token_accuracy"),
        BaggingShuffleAverager(perceptron(scoring="token_accuracy"), 2, random_state=0),
    ):
        model.fit(X, Y, X_val=X_VAL, y_val=Y_VAL).save(tmp_path / "model")
        assert skstruct.load(tmp_path / "model").history_ == model.history_
    function = perceptron(scoring=lambda *_: 1.0).fit(X, Y)
    with pytest.raises(TypeError, match="parameter 'scoring' of StructuredPerceptron"):
        function.save(tmp_path / "other")


# -- scikit-learn ----------------------------------------------------------------------
def test_a_pipeline_transforms_what_is_held_out():
    upper = FunctionTransformer(
        lambda X: [[token.upper() for token in x] for x in X], validate=False
    )
    with sklearn.config_context(enable_metadata_routing=True):
        tagger = perceptron().set_fit_request(X_val=True, y_val=True)
        pipeline = Pipeline(
            [("upper", upper), ("tag", tagger)], transform_input=["X_val"]
        )
        pipeline.fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    capitals = upper.transform(X), upper.transform(X_VAL)
    alone = perceptron().fit(capitals[0], Y, X_val=capitals[1], y_val=Y_VAL)
    assert scores_of(pipeline[-1]) == scores_of(alone)


@pytest.mark.parametrize(
    "around", [BaggingShuffleAverager, ParameterMixer, CalibratedTagger]
)
def test_metadata_is_routed_through_meta_estimators(around):
    with sklearn.config_context(enable_metadata_routing=True):
        model = around(perceptron(), random_state=0).set_fit_request(
            X_val=True, y_val=True
        )
        model = Pipeline([("tag", model)]).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)[-1]
    assert scores_of(model)


def test_histories_of_searches():
    search = GridSearchCV(perceptron(), {"max_iter": [1, 3]}, cv=2)
    search.fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    assert len(scores_of(search.best_estimator_)) == search.best_params_["max_iter"]


# -- callbacks -------------------------------------------------------------------------
class Tasks:
    """A scikit-learn callback, handed on to inner estimators, that notes which epochs
    and rounds end.
    """

    max_propagation_depth = None

    def __init__(self):
        self.ended = []

    def setup(self, estimator, context):
        pass

    teardown = on_fit_task_begin = setup

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.task_name in ("epoch", "round"):
            assert fitted_estimator.n_iter_ > 0
            self.ended.append(context.task_name)


SHORT = {"max_iter": 2, "random_state": 0}
OF_TEXTS = StructuredPerceptron("char", **SHORT)


@pytest.mark.parametrize(
    ("model", "ended"),
    [
        (WordSegmenter(**SHORT), ["epoch"] * 2),
        (Segmenter(OF_TEXTS), ["epoch"] * 2),
        (ParameterMixer(Segmenter(OF_TEXTS), 2, random_state=0), ["round"] * 2),
        (KBestReranker(Segmenter(OF_TEXTS), k=2, cv=2, **SHORT), ["epoch"] * 2),
        (Segmenter(CalibratedTagger(OF_TEXTS, cv=2, n_jobs=2)), ["epoch"] * 6),
    ],
)
def test_callbacks_hear_of_every_epoch_inside(model, ended):
    if not hasattr(model, "set_callbacks"):
        pytest.skip("scikit-learn without callbacks")
    tasks = Tasks()
    model = clone(model).set_callbacks(tasks).fit(TEXTS, WORDS)
    assert tasks.ended == ended
    assert model.predict(TEXTS[:5]) == clone(model).set_callbacks().fit(
        TEXTS, WORDS
    ).predict(TEXTS[:5])


def test_a_calibrated_tagger_prints_the_epochs_of_the_tagger_that_predicts(capsys):
    CalibratedTagger(perceptron(verbose=1), cv=2).fit(X, Y)
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == [
        f"epoch {k}" for k in range(1, 5)
    ]


def test_older_scikit_learn_says_what_callbacks_need():
    program = """
import sys
import sklearn.base, sklearn.frozen, sklearn.metrics, sklearn.model_selection, sklearn.pipeline
sys.modules["sklearn.callback"] = None
import skstruct
tagger = skstruct.StructuredPerceptron()
assert not hasattr(tagger, "set_callbacks")
try:
    tagger.set_callbacks()
except AttributeError as error:
    print(error)
"""
    done = subprocess.run(
        [*python(), "-c", program], capture_output=True, text=True, check=True
    )
    assert "callbacks need scikit-learn 1.9 or newer, this is" in done.stdout
