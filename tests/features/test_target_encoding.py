"""Target encoders: no row knows its own label."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.linear_model import Perceptron
from sklearn.model_selection import GroupKFold, KFold
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    TargetEncoder,
)

from skstruct import StructuredPerceptron
from skstruct.features import TokenPredictions, TokenTransformer


def categories(n=60, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 8, n)
    X = [[(f"c{k}",) for k in rng.integers(0, 200, T)] for T in lengths]
    return X, [rng.integers(0, 2, T).tolist() for T in lengths]


def takes_splitters():
    """Whether the TargetEncoder of this scikit-learn does."""
    try:
        TargetEncoder(cv=GroupKFold(2)).fit([["a"], ["b"]] * 2, [0, 1] * 2)
    except ValueError:
        return False
    return True


@pytest.mark.skipif(
    not takes_splitters(),
    reason="the TargetEncoder of this scikit-learn takes numbers of folds alone",
)
@pytest.mark.parametrize("cv", [GroupKFold(3), 3], ids=["splitter", "number"])
@pytest.mark.parametrize("routing", [False, True])
def test_groups_stay_together(cv, routing):
    """Also where they come through a pipeline, and some sequences are empty."""
    X, y = categories()
    groups = [f"d{i // 20}" for i in range(60)]
    folds = [
        ([i for i in range(60) if i // 20 != k], [i for i in range(60) if i // 20 == k])
        for k in range(3)
    ]
    filled = [i for i in range(60) if X[i]]
    of_filled = [
        tuple([filled.index(i) for i in part if X[i]] for part in fold)
        for fold in folds
    ]
    expected = TokenTransformer(TargetEncoder(target_type="binary", cv=of_filled))
    expected = np.vstack(list(expected.fit_transform(X, y)))
    encoder = TokenTransformer(TargetEncoder(target_type="binary", cv=cv))
    found = np.vstack(list(clone(encoder).fit_transform(X, y, groups=groups)))
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="each of the 60 sequences, got 59"):
        encoder.fit_transform(X, y, groups=groups[1:])
    if routing and cv == 3:
        return  # a number asks for no groups
    with config_context(enable_metadata_routing=routing):
        pipeline = make_pipeline(encoder, StructuredPerceptron(random_state=0))
        given = {"groups" if routing else "tokentransformer__groups": groups}
        again = pipeline.fit(X, y, **given).predict(X)
    alone = StructuredPerceptron(random_state=0).fit(
        clone(encoder).fit_transform(X, y, groups=groups), y
    )
    assert again == alone.predict(pipeline[0].transform(X))


@pytest.mark.parametrize(
    "inner",
    [
        lambda encoder: encoder,
        lambda encoder: make_pipeline(FunctionTransformer(), encoder),
        lambda encoder: make_column_transformer((encoder, [0])),
    ],
    ids=["alone", "pipeline", "columns"],
)
def test_a_target_encoder_does_not_see_its_own_targets(inner):
    X, y = categories()
    encoder = TokenTransformer(inner(TargetEncoder(target_type="binary", cv=4)))
    found = encoder.fit_transform(X, y)
    targets = np.concatenate(y)
    correlation = np.corrcoef(found.matrix[:, 0], targets)[0, 1]
    assert abs(correlation) < 0.25  # the labels are drawn at random
    leaking = encoder.transform(X).matrix[:, 0]
    assert np.corrcoef(leaking, targets)[0, 1] > 0.5
    filled = [i for i, x in enumerate(X) if x]
    for train, test in KFold(4).split(filled):
        some = TokenTransformer(inner(TargetEncoder(target_type="binary")))
        some.fit([X[filled[i]] for i in train], [y[filled[i]] for i in train])
        expected = some.transform([X[filled[i]] for i in test]).matrix
        rows = np.concatenate([found[filled[i]] for i in test])
        np.testing.assert_array_equal(rows, expected)


def pairs():
    """Tokens of two columns, of which each word occurs in few sequences; three
    labels.
    """
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, 9, (16, 4)).tolist()
    X = [[(f"c{a}", f"w{i // 2}{a % 3}") for a in row] for i, row in enumerate(drawn)]
    return X, [["ABC"[k] for k in row] for row in rng.integers(0, 3, (16, 4)).tolist()]


ENCODER = TargetEncoder(cv=4)
SPARSE = OneHotEncoder(handle_unknown="ignore")
DENSE = OneHotEncoder(handle_unknown="ignore", sparse_output=False)


def columns(one_hot, **parameters):
    parts = [("labels", ENCODER, [0]), ("words", one_hot, [1])]
    return ColumnTransformer(parts, **parameters)


def behind():
    parts = [("words", SPARSE, [1]), ("labels", make_pipeline(ENCODER), [0])]
    return ColumnTransformer(parts)


def union():
    labels = make_column_transformer((ENCODER, [0]))
    words = make_column_transformer((SPARSE, [1]))
    return make_pipeline(FeatureUnion([("labels", labels), ("words", words)]))


BESIDE = {
    "sparse": lambda: columns(SPARSE, sparse_threshold=1.0),
    "dense": lambda: columns(SPARSE, sparse_threshold=0.0),
    "behind": behind,
    "union": union,
    "pandas": lambda: columns(DENSE).set_output(transform="pandas"),
    "polars": lambda: columns(DENSE).set_output(transform="polars"),
}


def array_of(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


@pytest.mark.parametrize("name", BESIDE)
def test_what_stands_beside_a_target_encoder_is_fitted_once(name):
    """All columns but the encoder's own are those of ``transform``, in any
    container.
    """
    X, y = pairs()
    encoder = TokenTransformer(BESIDE[name]())
    found = encoder.fit_transform(X, y)
    later = encoder.transform(X)
    for each in found, later:
        is_sparse = name in ("sparse", "behind", "union")
        assert sparse.issparse(each.matrix) == is_sparse
    assert found.feature_names == later.feature_names
    rows, expected = array_of(found.matrix), array_of(later.matrix)
    own = np.arange(rows.shape[1])[slice(-3, None) if name == "behind" else slice(3)]
    words = [[token[:1] for token in x] for x in X]
    alone = TokenTransformer(ENCODER).fit_transform(words, y)
    np.testing.assert_array_equal(rows[:, own], alone.matrix)
    assert (rows[:, own] != expected[:, own]).any()
    rest = np.delete(expected, own, axis=1)
    np.testing.assert_array_equal(np.delete(rows, own, axis=1), rest)
    model = make_pipeline(encoder, StructuredPerceptron(random_state=0)).fit(X, y)
    assert model[-1].n_features_in_ == rows.shape[1]


@pytest.mark.parametrize("labels", ["AB", "ABC"])
def test_a_fold_that_lacks_a_label(labels):
    """Its columns are those of all labels; what nobody has there has the value 0."""
    X = [[("a",), ("b",)], [("a",), ("b",)], [("b",), ("a",)]]
    y = [[labels[0], labels[1]], [labels[0], labels[1]], [labels[-1], labels[-1]]]
    encoder = TokenTransformer(TargetEncoder(cv=3, smooth=0.0))
    found = encoder.fit_transform(X, y)
    assert found.matrix.shape == encoder.transform(X).matrix.shape
    if len(labels) == 2:
        np.testing.assert_array_equal(found[2].ravel(), [1.0, 0.0])  # how often "B"
    else:
        np.testing.assert_array_equal(found[2], [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])


def test_a_target_encoder_takes_tokens_without_label_and_bad_folds_change_nothing():
    X, y = categories(20)
    y[0] = [None] * len(y[0])
    y[3] = [None, *y[3][1:]]
    encoder = TokenTransformer(TargetEncoder(target_type="binary", cv=3))
    found = encoder.fit_transform(X, y)
    assert np.isfinite(found.matrix).all() and found.lengths.tolist() == [
        len(x) for x in X
    ]
    before = encoder.transform(X).matrix.tolist()
    with pytest.raises(
        ValueError, match="cv=3 folds need at least as many sequences, got 2"
    ):
        encoder.fit_transform(X[:2], y[:2])
    unlabelled = [[None] * len(x) for x in X[:-1]] + [[0] * len(X[-1])]
    with pytest.raises(ValueError, match="fold 2 .* no labelled token to learn from"):
        encoder.fit_transform(X, unlabelled)
    assert encoder.transform(X).matrix.tolist() == before


class Counts(Perceptron):
    """A classifier that notes how many tokens it was given."""

    seen = []

    def fit(self, X, y, sample_weight=None):
        self.seen.append(len(y))
        return super().fit(X, y, sample_weight=sample_weight)


def test_a_sequence_that_a_fold_holds_twice_counts_twice():
    """As a bootstrap and oversampling draw them; positions are of sequences, tokens go
    with them.
    """
    rows = [[[float(k), 1.0], [1.0, float(k)]][: 1 + k % 2] for k in range(6)]
    y = [["a", "b"][: len(each)] for each in rows]
    folds = [([1, 2, 3, 3, 3], [0, 4, 5]), ([0, 4, 5, 5], [1, 2, 3])]
    predictions = TokenPredictions(Counts(), cv=folds, method="decision_function")
    X = [np.array(each) for each in rows]
    Counts.seen.clear()
    predictions.fit_transform(X, y)
    n = [len(each) for each in rows]
    expected = [sum(n[i] for i in train) for train, _ in folds]
    assert sorted(Counts.seen) == sorted([*expected, sum(n)])
