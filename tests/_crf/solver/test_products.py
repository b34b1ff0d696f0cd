"""The CRF on dense rows of numbers: products of matrices come to what features one by
one come to.
"""

import tracemalloc
import warnings

import numpy as np
import pytest
import threadpoolctl
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import skstruct
from skstruct import L1CRF, BaggingShuffleAverager, NumericFeatures, SequenceMatrix
from skstruct._crf.solver.products import one_thread_of_blas

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def data(n=60, F=9, L=4, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(int(T), F)).astype(dtype) for T in rng.integers(1, 9, n)]
    weights = np.random.default_rng(1).normal(size=(F, L))
    return X, [
        [f"L{k}" for k in (x @ weights + rng.normal(size=(len(x), L))).argmax(axis=1)]
        for x in X
    ]


def as_sparse(X):
    return [sparse.csr_array(x) for x in X]


def hidden(y):
    """Labels of which some are not given."""
    return [
        [None if (i + t) % 5 == 0 else label for t, label in enumerate(labels)]
        for i, labels in enumerate(y)
    ]


OPTIONS = [
    {"c1": 0.0, "c2": 0.5},
    {"c1": 0.5},
    {"c1": 0.1, "c2": 0.1, "all_pairs": False, "class_weight": {"L0": 1.5}},
    {"c1": 0.1, "solver": "owlqn"},
    {"c1": 0.1, "solver": "sgd", "sgd_iter": 5},
]
WINDOWS = (0, 0), (-2, 1)


@pytest.mark.parametrize(
    "options, labels, window",
    [
        (options, labels, WINDOWS[(number + which) % 2])  # each two of them meet
        for number, options in enumerate(OPTIONS)
        for which, labels in enumerate((list, hidden))
    ],
)
def test_dense_and_sparse_rows_have_one_optimum(options, labels, window):
    X, y = data(n=40)
    crf = L1CRF(NumericFeatures(window=window), tol=1e-9, random_state=0, **options)
    weight = np.arange(len(X)) % 3 + 1.0
    dense = crf.fit(X, labels(y), sample_weight=weight)
    objective, marginals = dense.objective_, dense.predict_marginals(X)
    found = dense.predict(X)
    other = L1CRF(**crf.get_params()).fit(as_sparse(X), labels(y), sample_weight=weight)
    assert other.objective_ == pytest.approx(objective, rel=1e-6)
    assert other.predict(X) == found
    for mine, theirs in zip(marginals, other.predict_marginals(X)):
        np.testing.assert_allclose(mine, theirs, atol=5e-3)


def test_the_same_weights_say_the_same():
    X, y = data()
    for form in (X, as_sparse(X)):
        crf = L1CRF(c1=0.2, random_state=0).fit(form, y)
        assert crf.predict(X) == crf.predict(as_sparse(X))
        for mine, theirs in zip(
            crf.predict_marginals(X), crf.predict_marginals(as_sparse(X))
        ):
            np.testing.assert_allclose(mine, theirs, atol=1e-10)
        np.testing.assert_allclose(
            crf.sequence_log_proba(X, y),
            crf.sequence_log_proba(as_sparse(X), y),
            atol=1e-10,
        )
        assert crf.predict_posterior(X) == crf.predict_posterior(as_sparse(X))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_threads_change_no_bit(dtype):
    X, y = data(n=900, F=20, dtype=dtype)  # several blocks
    for options in ({"c1": 0.5, "c2": 0.1}, {"c1": 0.0, "c2": 1.0}):
        one, two = (
            L1CRF(n_jobs=n, random_state=0, **options).fit(X, y) for n in (1, 2)
        )
        assert one.objective_ == two.objective_
        assert one.decision_function(X).tolist() == two.decision_function(X).tolist()


def test_threads_of_blas_are_given_back_by_the_last_who_limits_them():
    blas = threadpoolctl.ThreadpoolController().select(user_api="blas")

    def threads():
        return {library.num_threads for library in blas.lib_controllers}

    with blas.limit(limits=2):
        before, inside = threads(), []
        one, other = one_thread_of_blas(), one_thread_of_blas()
        with one:
            other.__enter__()
            inside.append(threads())
        inside.append(threads())
        other.__exit__(None, None, None)
        assert (inside, threads()) == ([{1}, {1}], before)


def test_rows_are_read_where_they_are():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((10_000, 200), dtype=np.float32)
    X = SequenceMatrix(rows, [50] * 200)
    y = [
        ["A" if row[0] > 0 else "B" for row in rows[i : i + 50]]
        for i in range(0, len(rows), 50)
    ]
    crf = L1CRF(max_iter=2, memory=5, random_state=0)
    crf.fit(X[:2], y[:2])  # compiles
    tracemalloc.start()
    try:
        crf.fit(X, y)
        assert tracemalloc.get_traced_memory()[1] < 2 * rows.nbytes
    finally:
        tracemalloc.stop()


def test_float32_is_as_good_as_the_same_values():
    X, y = data(dtype=np.float32)
    one = L1CRF(c1=0.3, random_state=0).fit(X, y)
    other = L1CRF(c1=0.3, random_state=0).fit([x.astype(np.float64) for x in X], y)
    assert one.objective_ == other.objective_


def test_a_sequence_of_one_token_is_logistic_regression():
    X, y = data(n=200)
    rows, labels = np.concatenate(X), [label for sequence in y for label in sequence]
    X, y = SequenceMatrix(rows, [1] * len(rows)), [[label] for label in labels]
    for options, theirs in (
        ({"c1": 0.0, "c2": 0.5}, {"C": 1.0}),
        (
            {"c1": 1.0, "c2": 0.0},
            {"C": 1.0, "penalty": "l1", "solver": "saga", "max_iter": 5000},
        ),
    ):
        crf = L1CRF(
            NumericFeatures(bias=False), tol=1e-10, random_state=0, **options
        ).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = LogisticRegression(fit_intercept=False, tol=1e-8, **theirs).fit(
                rows, labels
            )
        np.testing.assert_allclose(
            np.vstack(crf.predict_marginals(X)), model.predict_proba(rows), atol=1e-3
        )


def test_held_out_warm_start_members_and_files(tmp_path):
    X, y = data()
    crf = L1CRF(c1=0.2, random_state=0, warm_start=True).fit(
        X[:40], y[:40], X_val=X[40:], y_val=y[40:]
    )
    other = L1CRF(c1=0.2, random_state=0).fit(
        as_sparse(X[:40]), y[:40], X_val=as_sparse(X[40:]), y_val=y[40:]
    )
    for mine, theirs in zip(crf.history_[:5], other.history_[:5]):
        assert mine["validation"] == pytest.approx(theirs["validation"], rel=1e-6)
    expected = np.mean(crf.sequence_log_proba(X[40:], y[40:]))
    assert crf.history_[-1]["validation"] == pytest.approx(expected, rel=1e-6)
    crf.save(tmp_path / "model")
    assert (
        skstruct.load(tmp_path / "model").decision_function(X).tolist()
        == crf.decision_function(X).tolist()
    )
    again = crf.fit(X, y)
    assert again.objective_ == pytest.approx(
        L1CRF(c1=0.2, random_state=0).fit(X, y).objective_, rel=1e-3
    )
    averager = BaggingShuffleAverager(L1CRF(c1=0.2), 2, bootstrap=True, random_state=0)
    dense, rows = (
        averager.fit(X, y).predict(X),
        averager.fit(as_sparse(X), y).predict(X),
    )
    assert np.mean([a == b for p, q in zip(dense, rows) for a, b in zip(p, q)]) > 0.99
    checkpoint = L1CRF(c1=0.2, random_state=0, checkpoint=str(tmp_path)).fit(X, y)
    assert checkpoint.resumed_from_ == 0
    with pytest.raises(
        ValueError,
        match="X: sequence 3, position 2: values of features must be at most 1e",
    ):
        L1CRF().fit([x * (1e150 if i == 3 else 1.0) for i, x in enumerate(X)], y)
