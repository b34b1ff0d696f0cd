"""L1CRFCV: the choice of both penalties, beside GridSearchCV and single fits."""

import os
import signal
from contextlib import closing

import numpy as np
import pytest
from inside import run_of
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ParameterSampler

import skstruct
from skstruct import (
    L1CRF,
    L1CRFCV,
    BaggingShuffleAverager,
    CalibratedTagger,
    regularization_path,
)
from skstruct._crf.path import PenaltyPath
from skstruct._training.interrupt import DeferredInterrupt
from skstruct.datasets import load_chunking, make_hmm_sequences
from skstruct.metrics import SCORERS

SMALL = {"c1s": (0.1, 1.0), "c2s": (0.05,), "cv": 3, "random_state": 0}


@pytest.fixture(scope="module")
def corpus():
    return make_hmm_sequences(90, random_state=0)


@pytest.fixture(scope="module")
def fitted(corpus):
    return L1CRFCV(**SMALL).fit(*corpus)


def splits(search, name):
    return np.array(
        [search.cv_results_[f"split{k}_{name}"] for k in range(search.n_splits_)]
    )


def test_it_says_what_a_grid_search_says(corpus):
    X, y = load_chunking()
    grid = {"c1": [0.05, 0.5], "c2": [0.01, 0.1]}
    theirs = GridSearchCV(
        L1CRF(random_state=0, tol=1e-8), grid, cv=3, scoring=None
    ).fit(X, y)
    ours = L1CRFCV(
        c1s=grid["c1"], c2s=grid["c2"], cv=3, random_state=0, selection_tol=1e-8
    ).fit(X, y)
    assert set(theirs.cv_results_) <= set(ours.cv_results_)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    for name in "mean_test_score", "split2_test_score", "std_test_score":
        np.testing.assert_allclose(
            ours.cv_results_[name], theirs.cv_results_[name], atol=1e-3
        )
    assert (ours.cv_results_["param_c1"].data == [0.05, 0.05, 0.5, 0.5]).all()
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == ours.cv_results_["mean_test_score"].max()
    assert ours.cv_results_["rank_test_score"][ours.best_index_] == 1


def test_the_chosen_model_is_that_of_a_single_fit(corpus, fitted):
    X, y = corpus
    alone = L1CRF(c1=fitted.c1_, c2=fitted.c2_, random_state=0).fit(X, y)
    assert fitted.objective_ == alone.objective_ and fitted.gap_ == alone.gap_
    for one, other in zip(fitted.predict_marginals(X), alone.predict_marginals(X)):
        assert one.tobytes() == other.tobytes()
    assert isinstance(fitted.best_estimator_, L1CRF)
    assert fitted.best_estimator_.predict(X) == fitted.predict(X)
    assert fitted.best_estimator_.c1 == fitted.c1_


def test_candidates_are_minimised_as_far_as_was_asked(corpus, fitted):
    X, y = corpus
    for k, (train, _) in enumerate(KFold(3).split(X)):
        for c, values in enumerate(fitted.cv_results_["params"]):
            part = [X[i] for i in train], [y[i] for i in train]
            least = (
                L1CRF(**values, tol=1e-9, max_iter=3000, random_state=0)
                .fit(*part)
                .objective_
            )
            reached = splits(fitted, "objective")[k, c]
            assert least * (1 - 1e-9) <= reached <= 1.004 * least


@pytest.mark.parametrize(
    "options", [{"n_jobs": 2}, {"candidates": [(1.0, 0.05), (0.1, 0.05)]}]
)
def test_threads_and_the_order_of_candidates_change_nothing(corpus, fitted, options):
    other = L1CRFCV(**{**SMALL, **options}).fit(*corpus)
    order = [other.cv_results_["params"].index(p) for p in fitted.cv_results_["params"]]
    for name in "objective", "n_iter", "test_score":
        assert splits(other, name)[:, order].tobytes() == splits(fitted, name).tobytes()
    assert other.best_params_ == fitted.best_params_


def test_a_test_part_teaches_nothing(corpus):
    X, y = corpus
    train, test = next(KFold(3).split(X))
    others = list(y)
    for i in test:
        others[i] = ["new label"] * len(y[i])
    search = L1CRFCV(
        **SMALL, all_pairs=True, scoring=lambda model, X, y: float(len(model.classes_))
    )
    given, fitted = {"cv": [(train, test)]}, clone(search).fit(X, y)
    changed = clone(search).set_params(**given).fit(X, others)
    assert (
        splits(changed, "objective")[0].tobytes()
        == splits(fitted, "objective")[0].tobytes()
    )
    assert splits(changed, "test_score")[0].tolist() == [len(fitted.classes_)] * 2
    words = [["another"] * len(x) if i in set(test) else x for i, x in enumerate(X)]
    moved = clone(search).set_params(**given).fit(words, y)
    np.testing.assert_allclose(
        splits(moved, "objective")[0], splits(fitted, "objective")[0], rtol=1e-9
    )


AV = {"features": ["U0:%x[0,0]", "U1:%av2[0,0]", "B"]}


@pytest.mark.parametrize("features", [{}, {"min_count": 2}, AV])
def test_folds_are_those_of_separate_fits(corpus, features):
    """Encoded once, or for each fold where features depend on it."""
    X, y = load_chunking()
    X, y = [[word for word, _ in x] for x in X[:60]], y[:60]
    exact = {"all_pairs": False, "random_state": 0, **features}
    search = L1CRFCV(
        candidates=[(0.2, 0.1)], cv=2, selection_tol=1e-10, refit=False, **exact
    ).fit(X, y)
    for k, (train, test) in enumerate(KFold(2).split(X)):
        alone = L1CRF(c1=0.2, c2=0.1, tol=1e-10, **exact).fit(
            [X[i] for i in train], [y[i] for i in train]
        )
        assert splits(search, "objective")[k, 0] == pytest.approx(
            alone.objective_, rel=1e-7
        )
        assert splits(search, "test_score")[k, 0] == alone.score(
            [X[i] for i in test], [y[i] for i in test]
        )


def test_weights_groups_and_tokens_without_label(corpus):
    X, y = corpus
    weight = np.ones(len(X))
    weight[::3] = 0.0
    y = [[None, *labels[1:]] if i % 5 == 0 else labels for i, labels in enumerate(y)]
    groups = np.repeat(np.arange(9), 10)
    search = L1CRFCV(**{**SMALL, "cv": GroupKFold(3)}).fit(X, y, weight, groups=groups)
    train, _ = next(GroupKFold(3).split(X, None, groups))
    part = [X[i] for i in train], [y[i] for i in train], weight[train]
    alone = L1CRF(c1=0.1, c2=0.05, tol=1e-9, random_state=0).fit(*part)
    assert splits(search, "objective")[0, 0] == pytest.approx(
        alone.objective_, rel=4e-3
    )
    assert np.isnan(search.gap_)


def test_other_inputs(corpus, fitted):
    X, y = corpus
    rows = [np.eye(2)[[t % 2 for t in range(len(x))]] for x in X]
    dicts = [[{"w": str(token), "x": 0.5} for token in x] for x in X]
    for given in rows, dicts:
        search = L1CRFCV(**SMALL).fit(given, y)
        assert len(search.predict(given)) == len(y)
    masks = [(np.arange(90) >= 30, np.arange(90) < 30)]
    search = L1CRFCV(**{**SMALL, "cv": masks}, refit=False).fit(X, y)
    assert np.array_equal(
        splits(search, "test_score")[0], splits(fitted, "test_score")[0]
    )
    unknown = [[None] * len(labels) if i < 30 else labels for i, labels in enumerate(y)]
    for each in masks[0], masks[0][::-1]:
        with pytest.raises(ValueError, match="fold 0 has no token with a label to"):
            search.set_params(cv=[each]).fit(X, unknown)
    lacking = [labels if i < 30 else [v for v in labels] for i, labels in enumerate(y)]
    lacking[0] = ["rare"] * len(y[0])  # only the first fold's test part has it
    search = L1CRFCV(**SMALL).fit(X, lacking)
    assert "rare" in search.classes_


@pytest.mark.parametrize(
    "options, message",
    [
        ({"solver": "sgd"}, "a search needs a solver that converges, got solver='sgd'"),
        ({"c1s": ()}, "there are no candidates"),
        ({"c1s": 0.1}, r"c1s must be a list of numbers, got 0.1; write c1s=\[0.1\]"),
        ({"c2s": 1}, r"c2s must be a list of numbers, got 1; write c2s=\[1\]"),
        ({"cv": 100}, "cv=100 folds need at least as many sequences, got 90"),
        (
            {"candidates": [(0.1, -1.0)]},
            r"candidate 0: c1 and c2 must be from 0 to 1e[+]100, got \(0.1, -1",
        ),
        (
            {"candidates": [(0.1, 1e308)]},
            r"candidate 0: c1 and c2 must be from 0 to 1e[+]100, got \(0.1, 1e",
        ),
        ({"c2s": [np.nan]}, "candidate 0: c1 and c2 must be from 0 to"),
        (
            {"candidates": [(0.1, 0.1), 3]},
            r"candidate 1 must be a pair \(c1, c2\) or a dict, got 3",
        ),
        ({"candidates": [{"c3": 1.0}]}, "candidate 0 has 'c3'"),
        ({"cv": [([0, 1], [])]}, "fold 0 has no token with a label to be scored on"),
        ({"cv": []}, "cv has no fold"),
        (
            {"cv": [([0, 1], [2]), ([0, 90], [2])]},
            "fold 1 of cv does not select from the 90 sequences",
        ),
        ({"cv": [([], [0, 1])]}, "fold 0 has no token with a label to learn from"),
        (
            {"scoring": lambda model, X, y: np.nan},
            "fold 0, c1=1, c2=0.05: scoring must return a finite number",
        ),
        ({"selection_tol": 0.0}, "selection_tol"),
    ],
)
def test_refusals(corpus, fitted, options, message):
    search = clone(fitted).set_params(**options)
    with pytest.raises(ValueError, match=message):
        search.fit(*corpus)
    assert not hasattr(search, "c1_")


@pytest.mark.parametrize("name", ["c1s", "c2s", "candidates"])
def test_generators_are_refused(corpus, name):
    """The first fit would use them up."""
    values = [(0.1, 0.05)] if name == "candidates" else [0.1]
    with pytest.raises(
        TypeError, match=f"{name} is an iterator, which one fit uses up; give a list"
    ):
        L1CRFCV(**{**SMALL, name: (value for value in values)}).fit(*corpus)


def test_penalties_that_are_too_large(corpus):
    with pytest.raises(
        ValueError, match="The 'c2' parameter of L1CRF must be a float in the range"
    ):
        L1CRF(c2=1e308).fit(*corpus)
    with pytest.raises(
        ValueError, match=r"c2s must be from 0 to 1e\+100, got \[1e\+308, 0.1\]"
    ):
        regularization_path(L1CRF(), *corpus, [0.1], c2s=[0.1, 1e308])
    assert L1CRF(c1=0.0, c2=1e100, random_state=0).fit(*corpus).gap_ < 1e-6


def half(model, X, y):
    """A scorer that takes no weights."""
    return 0.5


def test_score_is_that_of_scoring(corpus):
    """As of GridSearchCV; None is token accuracy."""
    X, y = corpus
    weight = np.arange(len(X)) + 1.0
    plain = L1CRFCV(**SMALL).fit(X[:30], y[:30])
    assert (
        plain.score(X, y, weight)
        == L1CRF.score(plain, X, y, weight)
        != plain.score(X, y)
    )
    search = clone(plain).set_params(scoring="sequence_accuracy").fit(X[:30], y[:30])
    best = [{"c1": [search.c1_], "c2": [search.c2_]}]
    grid = GridSearchCV(
        L1CRF(random_state=0), best, cv=3, scoring=SCORERS["sequence_accuracy"]
    ).fit(X[:30], y[:30])
    assert search.score(X, y) == grid.score(X, y) < plain.score(X, y)
    assert search.score(X, y, weight) != search.score(X, y)  # this one takes weights
    seen = []
    search = (
        clone(plain)
        .set_params(scoring=lambda model, X, y: seen.append(model) or 0.25)
        .fit(X[:30], y[:30])
    )
    assert search.score(X, y) == 0.25 and seen[-1] is search.best_estimator_
    search.set_params(scoring=half)
    with pytest.raises(
        ValueError, match="scoring=.* takes no sample_weight; score without it"
    ):
        search.score(X, y, weight)


def test_a_scorer_that_no_file_holds(corpus, tmp_path):
    X, y = corpus
    search = L1CRFCV(**SMALL, scoring=half).fit(X, y)
    search.save(tmp_path / "search")
    again = skstruct.load(tmp_path / "search")
    again.save(tmp_path / "search")  # once more: it is still lost
    for lost in again, skstruct.load(tmp_path / "search"), search.compress():
        with pytest.raises(
            ValueError, match="scoring was a callable, which a file cannot hold"
        ):
            lost.score(X, y)
        assert lost.set_params(scoring=half).score(X, y) == 0.5
    assert 0.0 < again.set_params(scoring=None).fit(X, y).score(X, y) <= 1.0


def test_the_best_estimator_is_one_object(corpus, fitted):
    search = clone(fitted).fit(*corpus)
    best = search.best_estimator_
    assert search.best_estimator_ is best
    best.set_params(warm_start=True).fit(corpus[0][:30], corpus[1][:30])
    assert search.best_estimator_ is best and search.objective_ != best.objective_
    assert search.fit(*corpus).best_estimator_ is not best


def test_scorers_see_the_candidate_and_errors_the_place(corpus):
    X, y = corpus
    seen = []
    search = L1CRFCV(
        **{
            **SMALL,
            "scoring": lambda model, X, y: seen.append((model.c1, model.c2)) or 0.5,
        }
    )
    search.set_params(refit=False).fit(X, y)
    assert set(seen) == {(0.1, 0.05), (1.0, 0.05)}
    y = [["B-X"] * len(labels) for labels in y]
    y[70][1] = "NN"
    with pytest.raises(
        ValueError, match="fold 2: y: sequence 70, position 1: label 'NN'"
    ):
        search.set_params(scoring="segment_f1").fit(X, y)


def test_ties_go_to_the_stronger_penalty(corpus):
    search = L1CRFCV(**{**SMALL, "scoring": lambda model, X, y: 0.5}, refit=False).fit(
        *corpus
    )
    assert search.best_params_ == {"c1": 1.0, "c2": 0.05}
    with pytest.raises(AttributeError, match="refit"):
        search.best_estimator_  # noqa: B018
    with pytest.raises(
        NotFittedError, match=r"refit=False there is no model: fit an L1CRF"
    ):
        search.predict(corpus[0])
    assert not hasattr(search, "classes_")


def test_files(corpus, fitted, tmp_path):
    sampled = ParameterSampler({"c1": [0.1, 0.2], "c2": [0.1]}, 2, random_state=0)
    for k, search in enumerate(
        (fitted, L1CRFCV(candidates=sampled, cv=KFold(2), random_state=0).fit(*corpus))
    ):
        search.save(tmp_path / str(k))
        again = skstruct.load(tmp_path / str(k))
        assert again.predict(corpus[0]) == search.predict(corpus[0])
        assert again.best_params_ == search.best_params_ and again.c1_ == search.c1_
        for name, values in search.cv_results_.items():
            assert np.array_equal(again.cv_results_[name], values)
        assert again.candidates is None
    assert again.cv is None


def test_inside_others(corpus):
    X, y = corpus
    averaged = BaggingShuffleAverager(L1CRFCV(**SMALL), 2, random_state=0).fit(X, y)
    assert (
        isinstance(averaged.estimator_, L1CRF)
        and averaged.estimator_.c1 in SMALL["c1s"]
    )
    assert 0.0 < CalibratedTagger(L1CRFCV(**SMALL), cv=2).fit(X, y).temperature_


def test_an_interrupt_leaves_the_search_as_it_was(corpus, fitted):
    X, y = corpus
    calls = []

    def stop(model, X, y):
        calls.append(1)
        if len(calls) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return 0.5

    search = clone(fitted).fit(X[:30], y[:30]).set_params(scoring=stop)
    before = dict(vars(search))
    with pytest.raises(KeyboardInterrupt, match="as it was before fit"):
        search.fit(X, y)
    assert vars(search) == before
    assert len(calls) == 2


def test_an_interrupt_ends_a_minimisation(corpus):
    run, interrupt = run_of(L1CRF(random_state=0), *corpus), DeferredInterrupt()
    interrupt.stop()
    with closing(
        PenaltyPath(run, np.array([[0.1, 0.1]]), run.solver_options(), interrupt)
    ) as path:
        ((number, result),) = path
    assert result.n_passes <= 3


class Hears:
    """A scikit-learn callback that notes the tasks it hears of."""

    def __init__(self):
        self.begun, self.ended = [], []

    def setup(self, estimator, context):
        pass

    teardown = setup

    def on_fit_task_begin(self, estimator, context):
        self.begun.append((context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context):
        self.ended.append((context.task_name, context.task_id))


def test_callbacks_hear_of_candidates(corpus):
    search = L1CRFCV(**SMALL, n_jobs=2)
    if not hasattr(search, "set_callbacks"):
        pytest.skip("scikit-learn without callbacks")
    hears = Hears()
    search.set_callbacks(hears).fit(*corpus)
    candidates = [("candidate", k) for k in range(6)]
    assert sorted(task for task in hears.begun if task[0] == "candidate") == candidates
    assert sorted(hears.begun) == sorted(hears.ended)
    assert {name for name, _ in hears.begun} == {"candidate", "fit", "member"}
