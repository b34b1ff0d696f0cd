"""Rows of numbers: the same numbers lead to the same model, in whatever form they come."""

import subprocess
import sys

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import skstruct
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    NumericFeatures,
    ParameterMixer,
    PassiveAggressiveTagger,
    SequenceMatrix,
    StructuredPerceptron,
)
from skstruct.inspection import feature_weights

AS_GIVEN = NumericFeatures(bias=False, scale=1.0)


def data(n=40, F=6, seed=0, density=0.6):
    """Sequences of rows whose labels follow from them, nearly."""
    rng = np.random.default_rng(seed)
    X = [
        np.round(rng.normal(size=(int(T), F)) * (rng.random((int(T), F)) < density), 3)
        for T in rng.integers(0, 9, n)
    ]
    weights = np.random.default_rng(1).normal(size=(F, 3))
    y = [
        [f"L{k}" for k in (x @ weights + rng.normal(size=(len(x), 3))).argmax(axis=1)]
        for x in X
    ]
    return X, y


def as_dicts(X):
    return [
        [{f"x{c}": float(v) for c, v in enumerate(row) if v} for row in x] for x in X
    ]


LEARNERS = {
    "perceptron": StructuredPerceptron(max_iter=4, random_state=0),
    "order2": StructuredPerceptron(order=2, max_iter=4, random_state=0),
    "l1": StructuredPerceptron(penalty="l1", alpha=0.01, max_iter=4, random_state=0),
    "l2": StructuredPerceptron(penalty="l2", alpha=0.01, max_iter=4, random_state=0),
    "passive-aggressive": PassiveAggressiveTagger(max_iter=4, random_state=0),
    "hamming": PassiveAggressiveTagger(
        variant="PA", cost="hamming", max_iter=4, random_state=0
    ),
    "cumulative": PassiveAggressiveTagger(
        penalty="l1-cumulative", alpha=0.01, max_iter=4, random_state=0
    ),
    "dropout": StructuredPerceptron(dropout=0.2, max_iter=4, random_state=0),
    "costs": StructuredPerceptron(
        class_weight={"L0": 2.0, "L1": 0.5}, max_iter=4, random_state=0
    ),
    "windows": StructuredPerceptron(max_iter=4, random_state=0),
    "averager": BaggingShuffleAverager(
        StructuredPerceptron(max_iter=3), 3, random_state=0
    ),
    "mixer": ParameterMixer(StructuredPerceptron(max_iter=3), 2, random_state=0),
}


def with_features(learner, features):
    learner = clone(learner)
    name = (
        next(
            name for name in learner.get_params() if name.split("__")[-1] == "features"
        )
        if hasattr(learner, "features")
        else "estimator__features"
    )
    return learner.set_params(**{name: features})


def forms(X):
    lengths = [len(x) for x in X]
    stacked = np.concatenate(X)
    return {
        "stacked": SequenceMatrix(stacked, lengths),
        "csr": [sparse.csr_matrix(x) for x in X],
        "stacked csr": SequenceMatrix(sparse.csr_array(stacked), lengths),
        "coo": [sparse.coo_array(x) for x in X],
        "fortran": [np.asfortranarray(x) for x in X],
        "strided": [np.repeat(x, 2, axis=0)[::2] for x in X],
        "lists": [x.tolist() for x in X],
        "objects": [x.astype(object) for x in X],
    }


def in_windows(X, low, high):
    """Rows that hold their neighbours too; zeros beyond the ends."""
    out = []
    for x in X:
        padded = np.concatenate(
            [np.zeros((-low, x.shape[1])), x, np.zeros((high, x.shape[1]))]
        )
        out.append(np.hstack([padded[k : k + len(x)] for k in range(high - low + 1)]))
    return out


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("learner", LEARNERS)
def test_all_forms_are_equal(learner, bias):
    X, y = data()
    window = (-2, 1) if learner == "windows" else (0, 0)
    features = NumericFeatures(bias=bias, scale=1.0, window=window)
    expected = with_features(LEARNERS[learner], features).fit(X, y)
    scores = expected.decision_function(X).tolist()
    assert expected.score(X, y) > 0.6
    for form, given in forms(X).items():
        found = with_features(LEARNERS[learner], features).fit(given, y)
        for other in (X, given):
            assert found.predict(other) == expected.predict(X), form
            assert found.decision_function(other).tolist() == scores, form
        assert found.predict_kbest(given, 3) == expected.predict_kbest(X, 3), form
    wide = in_windows(X, *window)
    dicts = [[{**token, "bias": bias} for token in x] for x in as_dicts(wide)]
    named = clone(LEARNERS[learner]).fit(dicts, y)
    assert named.predict(dicts) == expected.predict(X)
    assert named.decision_function(dicts).tolist() == scores


@pytest.mark.parametrize(
    "learner",
    [
        "perceptron",
        "passive-aggressive",
        "l1",
        pytest.param("order2", marks=pytest.mark.slow),  # it compiles
    ],
)
def test_float32_is_as_good_as_the_same_values(learner):
    X, y = data()
    X = [x.astype(np.float32) for x in X]
    expected = clone(LEARNERS[learner]).fit([x.astype(np.float64) for x in X], y)
    found = clone(LEARNERS[learner]).fit(X, y)
    for form in (
        X,
        [x.astype(np.float64) for x in X],
        [sparse.csr_array(x) for x in X],
    ):
        assert (
            found.decision_function(form).tolist()
            == expected.decision_function(X).tolist()
        )
    halves = [np.round(x * 4).astype(np.float16) for x in X]
    for kind in (np.int8, np.int64, np.float32):
        same = clone(LEARNERS[learner]).fit([x.astype(kind) for x in halves], y)
        expected = clone(LEARNERS[learner]).fit(halves, y)
        assert (
            same.decision_function(halves).tolist()
            == expected.decision_function(halves).tolist()
        )


def test_noise_is_drawn_by_column():
    X, y = data()
    noisy = StructuredPerceptron(
        feature_noise="zipf",
        edge_noise="dropout",
        penalty="l2",
        max_iter=4,
        random_state=0,
    )
    noisy.set_params(features=AS_GIVEN)
    everything = [np.ones((1, 6)), *X]  # so that columns are met in their order
    labels = [["L0"], *y]
    found = clone(noisy).fit(everything, labels)
    expected = clone(noisy).fit([sparse.csr_array(x) for x in everything], labels)
    assert found.decision_function(X).tolist() == expected.decision_function(X).tolist()
    quiet = clone(noisy).set_params(feature_noise=None).fit(everything, labels)
    assert found.decision_function(X).tolist() != quiet.decision_function(X).tolist()


def test_many_labels_in_sparse_weights():
    """With more labels than full rows have room for, weights of dense rows are a pool."""
    rng = np.random.default_rng(0)
    F, L = 6000, 3000  # 18 million weights
    X = [rng.normal(size=(3, F)).astype(np.float32) for _ in range(6)]
    y = [[f"L{int(k)}" for k in rng.integers(0, L, 3)] for _ in X]
    classes = [f"L{k}" for k in range(L)]
    features = NumericFeatures(scale=1.0)
    found = StructuredPerceptron(features, random_state=0).partial_fit(
        X, y, classes=classes
    )
    rows = [sparse.csr_array(x) for x in X]
    expected = StructuredPerceptron(features, random_state=0).partial_fit(
        rows, y, classes=classes
    )
    assert (
        found.decision_function(X).tolist() == expected.decision_function(rows).tolist()
    )
    assert found.predict(X) == expected.predict(rows)


def test_the_crf_agrees():
    X, y = data()
    expected = L1CRF(AS_GIVEN, c1=0.1, random_state=0).fit(X, y)
    for form, given in forms(X).items():
        found = L1CRF(AS_GIVEN, c1=0.1, random_state=0).fit(given, y)
        assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6), form
        assert found.predict(given) == expected.predict(X)
    named = L1CRF(c1=0.1, random_state=0).fit(as_dicts(X), y)
    assert named.objective_ == pytest.approx(expected.objective_, rel=1e-3)
    # Values as they are: the objective is stated in the units given.
    assert (
        L1CRF(NumericFeatures(bias=False), c1=0.1, random_state=0).fit(X, y).objective_
        == expected.objective_
    )


@pytest.mark.parametrize("units", [2.0**-20, 2.0**-3, 1e-6, 1000.0, 1e6])
def test_results_do_not_depend_on_units(units):
    X, y = data()
    for learner in (StructuredPerceptron(random_state=0), LEARNERS["mixer"]):
        expected = clone(learner).fit(X, y)
        found = clone(learner).fit([x * units for x in X], y)
        assert found.predict([x * units for x in X]) == expected.predict(X)


def test_the_scale_is_that_of_the_first_fit():
    X, y = data()
    tagger = StructuredPerceptron(random_state=0).fit(X, y)
    by_hand = 2 / np.sqrt(np.mean(np.sum(np.concatenate(X) ** 2, axis=1)))
    same = StructuredPerceptron(NumericFeatures(scale=by_hand), random_state=0).fit(
        X, y
    )
    np.testing.assert_allclose(same.decision_function(X), tagger.decision_function(X))
    larger = [3 * x for x in X]
    for each in (tagger, same):
        each.partial_fit(larger, y)
    np.testing.assert_allclose(same.decision_function(X), tagger.decision_function(X))
    # What is held out, or has no weight, does not take part.
    weight = np.arange(len(X)) % 2
    part = StructuredPerceptron(random_state=0).fit(X[1::2], y[1::2])
    all_but = StructuredPerceptron(random_state=0, shuffle=False).fit(
        larger, y, sample_weight=weight
    )
    expected = StructuredPerceptron(random_state=0, shuffle=False).fit(
        larger[1::2], y[1::2]
    )
    np.testing.assert_array_equal(
        all_but.decision_function(larger), expected.decision_function(larger)
    )
    assert part.n_features() == 7


def test_shards_have_one_scale():
    X, y = data()
    X = [x * (5.0 if i % 2 else 1.0) for i, x in enumerate(X)]
    squares = np.mean(np.sum(np.concatenate(X) ** 2, axis=1))
    mixer = ParameterMixer(StructuredPerceptron(max_iter=3), 2, random_state=0)
    expected = with_features(mixer, NumericFeatures(scale=2 / np.sqrt(squares))).fit(
        X, y
    )
    np.testing.assert_allclose(
        mixer.fit(X, y).decision_function(X), expected.decision_function(X)
    )


@pytest.mark.parametrize("n", [1, 3])
def test_shards_of_sparse_rows(n):
    X, y = data(F=200, density=0.02)
    X = SequenceMatrix(sparse.csr_array(np.concatenate(X)), [len(x) for x in X])
    mixer = ParameterMixer(
        StructuredPerceptron(max_iter=3, min_count=2), random_state=0
    )
    fitted = clone(mixer).set_params(n_shards=n).fit(X, y)
    keep = np.flatnonzero(X.lengths)
    parts = [keep[s::n] for s in range(n)]
    loads = [lambda part=part: (X[part], [y[i] for i in part]) for part in parts]
    shards = mixer.fit_shards(loads)
    assert shards.decision_function(X).tolist() == fitted.decision_function(X).tolist()
    expected = clone(mixer.estimator).fit(X, y).n_features()
    assert fitted.n_features() == expected < 200


def test_columns_that_are_rare_or_absent():
    rng = np.random.default_rng(0)
    n, F = 300, 2**20
    columns = rng.zipf(1.3, n * 5) % F
    matrix = sparse.csr_array(
        (np.ones(n * 5), columns, np.arange(0, n * 5 + 1, 5)), shape=(n, F)
    )
    X = SequenceMatrix(matrix, [6] * 50)
    y = X.split([f"L{k}" for k in columns[::5] % 3])
    for min_count in (1, 2, 3):
        tagger = StructuredPerceptron(
            AS_GIVEN, min_count=min_count, random_state=0
        ).fit(X, y)
        used = np.bincount(
            matrix.tocsr().indices, minlength=F
        )  # duplicates within a row are one
        assert tagger.n_features() == np.count_nonzero(
            np.bincount(X.matrix.indices, minlength=F) >= min_count
        )
        assert used.shape == (F,)
    stream = StructuredPerceptron(AS_GIVEN, min_count=3, random_state=0)
    for k in range(0, 50, 10):
        stream.partial_fit(X[k : k + 10], y[k : k + 10])
    assert stream.n_features() == tagger.n_features()
    with pytest.raises(ValueError, match="min_count=2 applies to sparse rows only"):
        StructuredPerceptron(min_count=2).fit([np.eye(3)], [["a", "b", "c"]])


def test_zeros_that_are_written_down_are_no_features():
    stored = sparse.csr_array(
        (np.array([1.0, 0.0, 2.0]), np.array([0, 1, 2]), np.array([0, 2, 3])),
        shape=(2, 3),
    )
    tagger = StructuredPerceptron(random_state=0).fit([stored], [["a", "b"]])
    assert {name for name, _, _ in feature_weights(tagger)} <= {"x0", "x2", "bias"}
    double = sparse.coo_array(
        (np.array([1.0, 1.0]), (np.array([0, 0]), np.array([1, 1]))), shape=(1, 3)
    )
    expected = tagger.decision_function([np.array([[0.0, 2.0, 0.0]])])
    assert tagger.decision_function([double]).tolist() == expected.tolist()


def test_names_of_features():
    X, y = data()
    named = SequenceMatrix(
        np.concatenate(X), [len(x) for x in X], feature_names="abcdef"
    )
    found = feature_weights(StructuredPerceptron(random_state=0).fit(named, y))
    assert {name for name, _, _ in found} == {*"abcdef", "bias"}
    found = feature_weights(StructuredPerceptron(random_state=0).fit(X, y))
    assert {name for name, _, _ in found} == {*(f"x{c}" for c in range(6)), "bias"}


def test_kept_in_files(tmp_path):
    X, y = data()
    for learner in ("perceptron", "order2", "mixer"):
        for form, given in forms(X).items():
            tagger = with_features(LEARNERS[learner], NumericFeatures(scale=0.5)).fit(
                given, y
            )
            tagger.save(tmp_path / "model")
            again = skstruct.load(tmp_path / "model")
            assert (
                again.decision_function(given).tolist()
                == tagger.decision_function(given).tolist()
            ), form
            assert again.get_params()[
                "estimator__features" if learner == "mixer" else "features"
            ] == (NumericFeatures(scale=0.5))


def test_read_only_memory(tmp_path):
    X, y = data()
    given = SequenceMatrix(sparse.csr_array(np.concatenate(X)), [len(x) for x in X])
    joblib.dump(
        [given, SequenceMatrix(np.concatenate(X), given.lengths)], tmp_path / "X"
    )
    for mapped in joblib.load(tmp_path / "X", mmap_mode="r"):
        tagger = StructuredPerceptron(AS_GIVEN, random_state=0).fit(mapped, y)
        expected = StructuredPerceptron(AS_GIVEN, random_state=0).fit(X, y)
        assert (
            tagger.decision_function(mapped).tolist()
            == expected.decision_function(X).tolist()
        )


@pytest.mark.parametrize(
    "features, message",
    [
        (
            "chunk",
            "features=str 'chunk' reads strings, but the tokens are rows of numbers; use features='auto'",
        ),
        (
            ["U0:%x[0,0]"],
            "reads strings, but the tokens are rows of numbers; use features='auto' or NumericF",
        ),
    ],
)
def test_features_that_do_not_fit(features, message):
    X, y = data()
    with pytest.raises(ValueError) as caught:
        StructuredPerceptron(features).fit(X, y)
    assert message in str(caught.value)
    with pytest.raises(
        ValueError, match="reads rows of numbers, but the first token is str 'a'"
    ):
        StructuredPerceptron(NumericFeatures()).fit([["a"]], [["b"]])
    for options, message in (
        ({"bias": 1}, "bias"),
        ({"scale": 0}, "scale"),
        ({"scale": "x"}, "scale"),
    ):
        with pytest.raises(ValueError, match=message):
            NumericFeatures(**options)
    tagger = StructuredPerceptron(random_state=0, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="differ from those of the training so far"):
        tagger.set_params(features=AS_GIVEN).fit(X, y)
    with pytest.raises(
        ValueError, match="X: sequence 0 has 5 columns, expected 6 as in training"
    ):
        tagger.predict([np.ones((2, 5))])
    with pytest.raises(ValueError, match="there is nothing to adapt"):
        tagger.adapt(X)


MEMORY = """
import pickle, resource, sys
import numpy as np
from scipy import sparse
from skstruct import StructuredPerceptron

def rows(width):
    entries = [1.0, 2.0, 1.0], ([0, 1, 2], [0, width - 1, width // 2])
    return [sparse.csr_matrix(entries, shape=(3, width))]

unit = 1 if sys.platform == "darwin" else 1024
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
y, tagger = [["a", "b", "a"]], StructuredPerceptron(random_state=0)
tagger.fit(rows(8), y).partial_fit(rows(8), y).predict(rows(8))
before = peak()
wide = tagger.fit(rows(2**26), y).partial_fit(rows(2**26), y)
again = pickle.loads(pickle.dumps(wide))
assert again.predict(rows(2**26)) == wide.predict(rows(2**26)) == y
assert again.partial_fit(rows(2**26), y).predict(rows(2**26)) == y
print(peak() - before, len(pickle.dumps(wide)))
"""


def test_columns_that_never_occur_take_no_memory():
    """Hashed features have millions of columns: what is kept of them are those that were met."""
    pytest.importorskip("resource")
    found = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True
    )
    assert found.returncode == 0, found.stderr
    peak, pickled = map(int, found.stdout.split())
    assert peak < 100 << 20 and pickled < 100_000


def test_columns_are_numbered_by_first_use():
    """Whatever the order of a row's columns, and what was met before."""
    X, y = data(20, 12, seed=3, density=0.2)
    tagger = StructuredPerceptron(AS_GIVEN, max_iter=2, random_state=0)
    same = clone(tagger)
    tagger.fit([sparse.csr_matrix(x) for x in X[:5]], y[:5])
    same.set_params(features="auto").fit(as_dicts(X[:5]), y[:5])
    for part in slice(5, 10), slice(0, 20):
        tagger.partial_fit([sparse.csr_matrix(x) for x in X[part]], y[part])
        same.partial_fit(as_dicts(X[part]), y[part])
        assert feature_weights(tagger) == feature_weights(same)
