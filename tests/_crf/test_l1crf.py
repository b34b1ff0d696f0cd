"""L1CRF around the solver: regularisation path, interrupts, hostile input."""

import os
import signal
from itertools import product

import numpy as np
import pytest
from inside import before_each_line
from sklearn.exceptions import ConvergenceWarning

from skstruct import L1CRF, regularization_path
from skstruct._crf.solver import sgd as sgd_l1
from skstruct._training import epochs as loops
from skstruct.datasets import make_hmm_sequences
from skstruct.inspection import feature_weights


@pytest.fixture(scope="module")
def corpus():
    X, y = make_hmm_sequences(160, random_state=0)
    return X[:120], y[:120], X[120:], y[120:]


# -- the path --------------------------------------------------------------------------


# -- which pairs have weights ----------------------------------------------------------
def test_values_that_cancel_are_seen():
    """Values of a feature that add up to zero for each label do not make it a feature
    never seen.
    """
    points = [
        (1.0, 1.0, "A"),
        (-1.0, 0.2, "A"),
        (1.0, -0.2, "B"),
        (-1.0, -1.0, "B"),
    ] * 20
    X, y = (
        [[{"x": a, "z": b}] for a, b, _ in points],
        [[label] for _, _, label in points],
    )
    crf = L1CRF(c1=0.1, tol=1e-7, random_state=0).fit(X, y)
    seen = L1CRF(c1=0.1, tol=1e-7, random_state=0, all_pairs=False).fit(X, y)
    assert "x" in {name for name, _, _ in feature_weights(crf)}
    assert seen.objective_ == pytest.approx(crf.objective_, rel=1e-5)
    assert seen.n_active_features_ == crf.n_active_features_
    assert seen.score(X, y) == crf.score(X, y) == 1.0


# -- probabilities ---------------------------------------------------------------------
@pytest.mark.parametrize(
    "features", ["auto", ["U0:%x[0,0]", "U1:%x[-1,0]", "B", "B1:%x[0,0]"]]
)
def test_probabilities_by_enumeration(corpus, features):
    X, y = corpus[:2]
    forbidden = (y[0][0], y[0][0])
    labels = sorted({v for s in y for v in s})
    pairs = [(p, q) for p in labels for q in labels if (p, q) != forbidden]
    keep = [i for i, s in enumerate(y) if forbidden not in zip(s, s[1:])]
    crf = L1CRF(features, c1=0.3, constraints=pairs, random_state=0)
    crf.fit([X[i] for i in keep], [y[i] for i in keep])
    sequences = [s[:n] for s, n in zip(X, (1, 2, 3, 3))]
    for x, rows in zip(sequences, crf.predict_marginals(sequences)):
        ranked = crf.predict_kbest([x], len(labels) ** len(x))[0]
        p = np.exp([score for _, score in ranked])
        p /= p.sum()
        assert len(ranked) == sum(
            forbidden not in zip(s, s[1:]) for s in product(labels, repeat=len(x))
        )
        for t, row in enumerate(rows):
            want = [
                p[[labelling[t] == v for labelling, _ in ranked]].sum()
                for v in crf.classes_
            ]
            np.testing.assert_allclose(row, want, atol=1e-12)
        log_p = crf.sequence_log_proba(
            [x] * len(ranked), [labelling for labelling, _ in ranked]
        )
        np.testing.assert_allclose(log_p, np.log(p), atol=1e-9)
        some = [ranked[0][0][0], *([None] * (len(x) - 1))]
        want = p[[labelling[0] == some[0] for labelling, _ in ranked]].sum()
        assert crf.sequence_log_proba([x], [some])[0] == pytest.approx(
            np.log(want), abs=1e-9
        )
        if len(x) > 1:
            assert crf.sequence_log_proba([x], [[forbidden[0]] * len(x)])[0] == -np.inf
    posterior = crf.predict_posterior(sequences)
    best = [
        [crf.classes_[k] for k in rows.argmax(axis=1)]
        for rows in crf.predict_marginals(sequences)
    ]
    assert posterior == best and crf.predict_posterior([]) == []


def test_where_the_constraints_leave_nothing():
    crf = L1CRF(constraints=[("A", "B"), ("B", "A"), (None, "A"), ("B", None)])
    crf.fit([["a", "b"]] * 4, [["A", "B"]] * 4)
    X = [["a", "b"], [], ["a"]]
    assert crf.sequence_log_proba(X, [["A", "B"], [], ["A"]]).tolist() == [
        0.0,
        0.0,
        -np.inf,
    ]
    for predict in (crf.predict_marginals, crf.predict_posterior):
        with pytest.raises(
            ValueError, match="sequence 2: the constraints leave no labelling"
        ):
            predict(X)


def test_scores_of_any_size():
    crf = L1CRF(c1=0.01, random_state=0).fit(
        [[{"a": 1.0}, {"b": 1.0}]] * 5, [["A", "B"]] * 5
    )
    huge = [[{"a": 1e22}, {"b": 3e21, "a": -1e20}, {"b": 1e-300}] * 40]
    rows = crf.predict_marginals(huge)[0]
    assert np.isfinite(rows).all()
    np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    assert crf.predict_posterior(huge)[0][:2] == ["A", "B"]
    X, y = [[{"a": 1.0}], [{"a": 1.7e308, "b": -1.7e308}]], [["A"], ["A"]]
    crf = L1CRF(c1=1e-9, c2=0.0, random_state=0).fit(
        [[{"a": 1.0}], [{"b": 1.0}]] * 5, [["A"], ["B"]] * 5
    )
    for predict in (crf.predict_marginals, lambda X: crf.sequence_log_proba(X, y)):
        with pytest.raises(
            ValueError,
            match="sequence 1, position 0: values of features must be at most",
        ):
            predict(X)


# -- interrupts ------------------------------------------------------------------------
@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_ctrl_c_leaves_a_usable_model(corpus, monkeypatch):
    X, y = corpus[:2]

    def interrupting(record):
        if record["stage"] == "batch":
            signal.raise_signal(signal.SIGINT)

    before_each_line(monkeypatch, interrupting)
    crf = L1CRF(random_state=0, verbose=1)
    with pytest.raises(KeyboardInterrupt):
        crf.fit(X, y)
    assert crf.n_iter_ == 1 and len(crf.history_) == crf.sgd_iter + 1
    assert crf.score(X, y) > 0.5
    reached = crf.history_[-1]["objective"]
    assert crf.set_params(warm_start=True, verbose=0).fit(X, y).objective_ < reached


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
@pytest.mark.parametrize("solver", ["sgd", "two-stage"])
def test_ctrl_c_ends_a_pass_in_the_middle(corpus, monkeypatch, solver):
    X, y = corpus[:2]
    descend, calls = sgd_l1.descend, []

    def interrupting(*arguments):
        descend(*arguments)
        calls.append(1)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(loops, "CHUNK_TOKENS", 200)
    monkeypatch.setattr(sgd_l1, "descend", interrupting)
    crf = L1CRF(solver=solver, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        crf.fit(X, y)
    assert len(calls) == 3 and crf.n_iter_ == 1
    assert crf.score(X, y) > 0.5


def test_passes_in_pieces_change_nothing(corpus, monkeypatch):
    X, y = corpus[:2]
    crf = L1CRF(solver="sgd", sgd_iter=3, random_state=0)
    whole = crf.fit(X, y).decision_function(X).tolist()
    monkeypatch.setattr(loops, "CHUNK_TOKENS", 50)
    assert crf.fit(X, y).decision_function(X).tolist() == whole


# -- callbacks -------------------------------------------------------------------------
class Looks:
    """A scikit-learn callback that scores what it sees."""

    def __init__(self, last=None):
        self.last, self.seen = last, []

    def setup(self, estimator, context):
        pass

    teardown = on_fit_task_begin = setup

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator=None):
        if fitted_estimator is not None:
            self.seen.append(
                (context.task_name, fitted_estimator, fitted_estimator.score(X, y))
            )
        return len(self.seen) == self.last


@pytest.mark.parametrize("last", [None, 3])
@pytest.mark.parametrize(
    "options", [{}, {"solver": "owlqn"}, {"solver": "sgd", "sgd_iter": 4}]
)
def test_callbacks_see_a_model_after_each_pass(corpus, options, last):
    pytest.importorskip("sklearn.callback")
    X, y = corpus[:2]
    looks = Looks(last)
    crf = L1CRF(random_state=0, **options).set_callbacks(looks).fit(X, y)
    *passes, (name, model, score) = looks.seen
    assert (
        name == "fit"
        and score == crf.score(X, y)
        and model.predict(X) == crf.predict(X)
    )
    assert [name for name, _, _ in passes] == ["epoch"] * crf.n_iter_
    assert last in (None, len(passes))
    assert [model.n_iter_ for _, model, _ in passes] == list(range(1, crf.n_iter_ + 1))
    assert [model.objective_ for _, model, _ in passes] == [
        record["objective"]
        for record in crf.history_
        if record["objective"] is not None
    ]
    if options.get("solver") != "sgd":  # whose weights have yet to pay what they owe
        assert passes[-1][1].decision_function(X) == pytest.approx(
            crf.decision_function(X), rel=1e-6
        )


def test_scores_can_be_monitored(corpus):
    callback = pytest.importorskip("sklearn.callback")
    if not hasattr(callback, "ScoringMonitor"):
        pytest.skip("this scikit-learn has no ScoringMonitor")
    X, y = corpus[:2]

    monitor = callback.ScoringMonitor(
        scoring={"score": lambda estimator, X, y: estimator.score(X, y)}
    )
    crf = L1CRF(random_state=0).set_callbacks(monitor).fit(X, y)
    scores = [
        row["score"] for row in monitor.get_logs().data if row["task_name"] == "epoch"
    ]
    assert len(scores) == crf.n_iter_ and scores[-1] == crf.score(X, y)


# -- hostile input ---------------------------------------------------------------------
def test_one_token_and_very_many():
    rng = np.random.RandomState(0)
    long = [f"w{k}" for k in rng.randint(0, 20, 20_000)]
    X = [long, *([w] for w in long[:50])]
    y = [["AB"[int(w[1:]) % 2] for w in s] for s in X]
    crf = L1CRF(random_state=0).fit(X, y)
    assert crf.score(X, y) == 1.0
    assert np.isfinite(crf.sequence_log_proba(X, y)).all()


@pytest.mark.parametrize("n_labels", [2, 200])
def test_two_and_two_hundred_labels(n_labels):
    rng = np.random.RandomState(0)
    X = [[f"w{k}" for k in rng.randint(0, n_labels, 12)] for _ in range(2 * n_labels)]
    y = [[f"L{w[1:]}" for w in s] for s in X]
    crf = L1CRF(["U:%x[0,0]", "B"], random_state=0, all_pairs=False, tol=1e-2).fit(X, y)
    assert crf.score(X, y) > 0.99
    rows = crf.predict_marginals(X[:2])[0]
    assert rows.shape == (12, n_labels)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("value", [1e-6, 1e6, 1e60])
def test_values_of_any_size(value):
    """A learning rate that is wrong by many orders of magnitude does no harm."""
    X = [[{"a": value}, {"b": value}], [{"b": value}, {"a": value}]] * 10
    y = [["A", "B"], ["B", "A"]] * 10
    crf = L1CRF(c1=0.01 * min(value, 1.0), c2=0.0, random_state=0, max_iter=300).fit(
        X, y
    )
    assert crf.score(X, y) == 1.0
    assert np.isfinite(crf.objective_) and crf.objective_ < 40 * np.log(2)


def test_values_that_are_too_large():
    X, y = (
        [[], [{"a": 1.0}], [{"b": 1.0}, {"a": 2.0, "b": -1e101}]],
        [[], ["A"], ["A", "B"]],
    )
    what = "values of features must be at most 1e[+]100 in size, got -1e[+]101"
    with pytest.raises(ValueError, match=f"X: sequence 2, position 1: {what}"):
        L1CRF().fit(X, y)
    with pytest.raises(ValueError, match="X_val: sequence 2, position 1"):
        L1CRF().fit(X[:2], y[:2], X_val=[[], *X[1:]], y_val=[[], ["A"], ["A", "A"]])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_name_the_sequence_that_the_user_gave(n_jobs):
    with pytest.raises(ValueError, match="X: sequence 2, position 0"):
        L1CRF().fit([[], [{"a": 1.0}], [{"a": np.nan}]], [[], ["A"], ["A"]])
    crf = L1CRF(n_jobs=n_jobs).fit([[{"a": 1.0}]] * 3, [["A"], ["B"], ["A"]])
    with pytest.raises(ValueError, match="X: sequence 29, position 1"):
        crf.predict_marginals([[{"a": 1.0}]] * 29 + [[{"a": 1.0}, {"a": np.nan}]])


def test_features_are_counted(corpus):
    X, y = corpus[:2]
    crf = L1CRF(["U:%x[0,0]", "B"], random_state=0).fit(X, y)
    assert crf.n_features() == len({w for s in X for w in s})
    bags = [[{"w": w, "bias": 1.0} for w in s] for s in X]
    assert L1CRF(random_state=0).fit(bags, y).n_features() == crf.n_features() + 1


def test_a_solver_that_is_stuck_says_so(corpus):
    with pytest.warns(ConvergenceWarning, match="stopped before convergence"):
        L1CRF(solver="owlqn", c2=1e100).fit(*corpus[:2])
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        regularization_path(L1CRF(max_iter=2), *corpus[:2], [1.0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_penalty_and_separable_data():
    X, y = [["a", "b"]] * 5, [["A", "B"]] * 5
    crf = L1CRF(c1=0.0, random_state=0, max_iter=50).fit(X, y)
    assert crf.score(X, y) == 1.0 and np.isfinite(crf.objective_)
