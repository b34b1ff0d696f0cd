"""scikit-learn's transformers on tokens: what stacking by hand would give."""

import warnings

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skstruct import L1CRF, SequenceMatrix, StructuredPerceptron
from skstruct.features import SequenceUnion, TokenPredictions, TokenTransformer

pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")

LENGTHS = [3, 0, 4, 2, 3]


def data(seed=0):
    """Rows with other means and units, and labels that follow from them."""
    rng = np.random.default_rng(seed)
    flat = rng.normal(size=(sum(LENGTHS), 4))
    y = np.array(["low", "high"])[(flat[:, 1] > 0).astype(int)]
    X = SequenceMatrix(flat * [1.0, 10.0, 0.1, 3.0] + [5.0, 0.0, -2.0, 100.0], LENGTHS)
    return X, X.split(y.tolist())


def frames(X, library):
    names = ["a", "b", "c", "d"]
    if library is pandas:
        return [pandas.DataFrame(x, columns=names) for x in X]
    return [polars.DataFrame(x, schema=names) for x in X]


def test_tokens_are_stacked_and_cut():
    X, y = data()
    expected = StandardScaler().fit_transform(X.matrix)
    for given in (
        X,
        list(X),
        [x.tolist() for x in X],
        frames(X, pandas),
        frames(X, polars),
    ):
        found = TokenTransformer(StandardScaler()).fit_transform(given, y)
        np.testing.assert_allclose(found.matrix, expected)
        assert found.lengths.tolist() == LENGTHS
    transformer = TokenTransformer(StandardScaler()).fit(X[2:])
    np.testing.assert_allclose(
        transformer.transform(X).matrix,
        StandardScaler().fit(X[2:].matrix).transform(X.matrix),
    )
    back = transformer.inverse_transform(transformer.transform(X))
    np.testing.assert_allclose(back.matrix, X.matrix)
    assert transformer.n_features_in_ == 4 and list(
        transformer.get_feature_names_out()
    ) == [
        "x0",
        "x1",
        "x2",
        "x3",
    ]
    assert len(transformer.transform([])) == 0 and transformer.transform(
        [[], []]
    ).lengths.tolist() == [0, 0]


def test_sparse_rows_stay_sparse():
    X, _ = data()
    given = [sparse.csr_array(x) for x in X]
    found = TokenTransformer(StandardScaler(with_mean=False)).fit_transform(given)
    assert sparse.issparse(found.matrix) and found.lengths.tolist() == LENGTHS


def test_strings_dicts_tuples_and_lists():
    words = [["the", "dog"], [], ["a", "cat", "dog"]]
    flat = [word for sequence in words for word in sequence]
    hashing = HashingVectorizer(analyzer="char", ngram_range=(1, 2), n_features=2**10)
    found = TokenTransformer(hashing).fit_transform(words)
    assert (
        found.matrix != hashing.fit_transform(flat)
    ).nnz == 0 and found.lengths.tolist() == [2, 0, 3]
    dicts = [[{"w": word, "n": len(word)} for word in sequence] for sequence in words]
    found = TokenTransformer(DictVectorizer()).fit_transform(dicts)
    assert found.feature_names == ("n", "w=a", "w=cat", "w=dog", "w=the")
    transformer = TokenTransformer(DictVectorizer()).fit(dicts)
    assert [len(x) for x in transformer.inverse_transform(found)] == [2, 0, 3]
    pairs = [[(word, word[-1].upper()) for word in sequence] for sequence in words]
    columns = ColumnTransformer(
        [("form", hashing, 0), ("tag", OneHotEncoder(handle_unknown="ignore"), [1])]
    )
    assert TokenTransformer(columns).fit_transform(pairs).matrix.shape == (5, 2**10 + 4)
    lists = [[[f"w={word}", "bias"] for word in sequence] for sequence in words]
    assert TokenTransformer(FeatureHasher(32, input_type="string")).fit_transform(
        lists
    ).matrix.shape == (
        5,
        32,
    )
    with pytest.raises(
        ValueError,
        match="X: sequence 1, position 1: expected a tuple of 2 like the first token",
    ):
        TokenTransformer(columns).fit([[("a", "b")], [("c", "d"), "e"]])


@pytest.mark.parametrize("library", [pandas, polars])
def test_columns_by_name(library):
    X, y = data()
    columns = ColumnTransformer(
        [("s", StandardScaler(), ["a", "b"]), ("p", "passthrough", ["d"])]
    )
    found = TokenTransformer(columns).fit_transform(frames(X, library))
    assert found.feature_names == ("s__a", "s__b", "p__d")
    tagger = make_pipeline(
        TokenTransformer(columns), StructuredPerceptron(random_state=0)
    ).fit(frames(X, library), y)
    assert (
        tagger[-1].feature_names_in_.tolist() == ["s__a", "s__b", "p__d"]
        and tagger[-1].n_features_in_ == 3
    )


def test_labels_are_handed_on():
    X, y = data()
    found = TokenTransformer(SelectKBest(k=1)).fit(X, y)
    assert found.transformer_.get_support().tolist() == [False, True, False, False]
    some = [
        [None if i == 2 else label for label in labels] for i, labels in enumerate(y)
    ]
    keep = np.repeat(np.arange(5) != 2, LENGTHS)
    flat = [label for labels in y for label in labels]
    expected = SelectKBest(k=1).fit(X.matrix[keep], np.array(flat)[keep])
    np.testing.assert_array_equal(
        TokenTransformer(SelectKBest(k=1)).fit(X, some).transformer_.scores_,
        expected.scores_,
    )
    assert TokenTransformer(LinearDiscriminantAnalysis()).fit_transform(
        X, y
    ).matrix.shape == (12, 1)
    union = FeatureUnion(
        [("scale", StandardScaler()), ("best", SelectKBest(k=2)), ("pca", PCA(1))]
    )
    assert TokenTransformer(union).fit_transform(X, y).matrix.shape == (12, 7)
    with pytest.raises(ValueError, match="y holds no label"):
        TokenTransformer(SelectKBest(k=1)).fit(X, [[None] * n for n in LENGTHS])
    with pytest.raises(
        ValueError, match="X and y: sequence 4|sequence 4: as many labels as tokens"
    ):
        TokenTransformer(SelectKBest(k=1)).fit(X, [*y[:4], y[4][:1]])


def test_each_sequence_by_itself():
    X, _ = data()
    found = TokenTransformer(StandardScaler(), per="sequence").fit(X[:1]).transform(X)
    for mine, theirs in zip(found, X):
        if len(theirs):
            np.testing.assert_allclose(mine, StandardScaler().fit_transform(theirs))
    assert found.lengths.tolist() == LENGTHS
    transformer = TokenTransformer(VarianceThreshold(), per="sequence").fit(X)
    with pytest.raises(
        ValueError, match="X: sequence 2 has 3 columns, expected 4 like sequence 0"
    ):
        transformer.transform([X[0], [], X[0] * [1, 0, 1, 1]])
    with pytest.raises(
        ValueError, match="X: sequence 2: No feature in X meets the variance threshold"
    ):
        transformer.transform([X[0], [], X[0] * 0])
    with pytest.raises(ValueError, match='per="sequence"'):
        transformer.inverse_transform(X)
    with pytest.raises(ValueError, match='per="sequence"'):
        TokenTransformer(LinearDiscriminantAnalysis(), per="sequence").fit(X)


def test_partial_fit():
    X, _ = data()
    found = TokenTransformer(StandardScaler()).partial_fit(X[:2]).partial_fit(X[2:])
    np.testing.assert_allclose(found.transformer_.mean_, X.matrix.mean(axis=0))
    assert not hasattr(TokenTransformer(SelectKBest()), "partial_fit")
    assert not hasattr(TokenTransformer(HashingVectorizer()), "inverse_transform")


def test_containers_of_scikit_learn():
    X, y = data()
    pipeline = make_pipeline(
        TokenTransformer(StandardScaler()), StructuredPerceptron(random_state=0)
    )
    expected = pipeline.fit(X, y).predict(X)
    with sklearn.config_context(transform_output="pandas"):
        assert (
            clone(pipeline).fit(frames(X, pandas), y).predict(frames(X, pandas))
            == expected
        )
    assert (
        clone(pipeline).set_output(transform="pandas").fit(X, y).predict(X) == expected
    )


def test_in_searches():
    X, y = data()
    pipeline = Pipeline(
        [
            ("scale", TokenTransformer(StandardScaler())),
            ("tag", StructuredPerceptron(random_state=0)),
        ]
    )
    grid = {"scale__transformer__with_mean": [True, False], "tag__max_iter": [2, 4]}
    for given in (X, list(X)):
        search = GridSearchCV(pipeline, grid, cv=2, n_jobs=2, error_score="raise").fit(
            given, y
        )
        assert len(search.predict(given)) == 5
    assert cross_val_predict(pipeline, X, y, cv=2).shape == (5,)


class Weighted(BaseEstimator):
    """Notes the weights that it is given."""

    def fit(self, X, y=None, sample_weight=None):
        self.weights_ = sample_weight
        return self

    def transform(self, X):
        return X


def test_metadata_is_repeated_by_token():
    X, y = data()
    weight = np.arange(5.0) + 1
    found = TokenTransformer(Weighted()).fit(X, y, sample_weight=weight)
    assert found.transformer_.weights_.tolist() == np.repeat(weight, LENGTHS).tolist()
    with pytest.raises(
        ValueError, match="sample_weight must have one value a sequence, 5, got 4"
    ):
        TokenTransformer(Weighted()).fit(X, y, sample_weight=weight[:4])
    with sklearn.config_context(enable_metadata_routing=True):
        inner = Weighted().set_fit_request(sample_weight=True)
        tagger = StructuredPerceptron(random_state=0).set_fit_request(
            sample_weight=True
        )
        pipeline = make_pipeline(TokenTransformer(inner), tagger).fit(
            X, y, sample_weight=weight
        )
        assert pipeline[0].transformer_.weights_.shape == (12,)


class Short(BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X[1:] if len(X) > 1 else X


def test_what_is_refused():
    X, y = data()
    with pytest.raises(
        ValueError, match="the transformer returned 11 rows for 12 tokens"
    ):
        TokenTransformer(Short()).fit_transform(X)
    with pytest.raises(ValueError, match="transformer"):
        TokenTransformer(3).fit(X)
    with pytest.raises(ValueError, match="per"):
        TokenTransformer(StandardScaler(), per="token").fit(X)
    with pytest.raises(ValueError, match="X holds no token"):
        TokenTransformer(StandardScaler()).fit([[], []])
    with pytest.raises(ValueError, match="say where its sequences end"):
        TokenTransformer(StandardScaler()).fit(X.matrix)
    with pytest.raises(NotFittedError):
        TokenTransformer(StandardScaler()).transform(X)
    far = SequenceMatrix(X.matrix + 1e4, LENGTHS)
    with pytest.warns(
        UserWarning, match="the mean of the rows makes up .* centre the columns first"
    ):
        StructuredPerceptron(random_state=0).fit(far, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        centred = TokenTransformer(StandardScaler()).fit_transform(far)
        StructuredPerceptron(random_state=0).fit(centred, y)
        L1CRF(random_state=0).fit(centred, y)


class Narrow(StandardScaler):
    """Learns from at most four columns, and transforms nothing that was learned from
    one token.
    """

    def fit(self, X, y=None):
        if X.shape[1] > 4:
            raise ValueError("too wide")
        return super().fit(X)

    def transform(self, X):
        if self.n_samples_seen_ == 1:
            raise ValueError("too little")
        return super().transform(X)


@pytest.mark.parametrize("bad", [np.eye(5), np.eye(1, 3)])
@pytest.mark.parametrize("method", ["fit", "fit_transform"])
def test_a_fit_that_fails_changes_nothing(bad, method):
    X, _ = data()
    X = SequenceMatrix(X.matrix, LENGTHS, feature_names=list("abcd"))
    transformer = TokenTransformer(Narrow()).fit(X)
    expected, names = (
        transformer.transform(X),
        transformer.get_feature_names_out().tolist(),
    )
    with pytest.raises(ValueError, match="too"):
        getattr(transformer, method)(SequenceMatrix(bad, [len(bad)]))
    assert (transformer.transform(X).matrix == expected.matrix).all()
    assert transformer.get_feature_names_out().tolist() == names == list("abcd")
    assert transformer.transform([[], []]).matrix.shape == (0, 4)


class Stubborn(LogisticRegression):
    """Does not learn from fewer than eight tokens."""

    def fit(self, X, y):
        if len(X) < 8:
            raise ValueError("too few")
        return super().fit(X, y)


def test_a_split_that_fails_changes_nothing():
    X, y = data()
    predictions = TokenPredictions(Stubborn()).fit(X, y)
    expected, known = predictions.transform(X), predictions.classifier_
    with pytest.raises(ValueError, match="too few"):
        predictions.set_params(cv=2, method="predict_proba").fit_transform(X, y)
    assert (
        predictions.classifier_ is known and predictions.method_ == "predict_log_proba"
    )
    assert (predictions.transform(X).matrix == expected.matrix).all()


def test_a_union_that_fails_knows_its_columns_still():
    X, _ = data()
    union = SequenceUnion(
        [("raw", "passthrough"), ("scaled", TokenTransformer(Narrow()))]
    )
    columns = union.fit_transform(X).feature_names
    for fit in union.fit, union.fit_transform:
        with pytest.raises(ValueError, match="too wide"):
            fit([np.eye(5)])
        found = union.transform([[], []])
        assert found.lengths.tolist() == [0, 0] and found.feature_names == columns


def test_names_of_a_union_with_rows_as_they_come():
    """They are the columns', whatever holds the rows and however long the first
    sequence is.
    """
    X, _ = data()
    union = SequenceUnion(
        [("raw", "passthrough"), ("scaled", TokenTransformer(StandardScaler()))]
    )
    named = SequenceMatrix(X.matrix, LENGTHS, feature_names=list("abcd"))
    for given, names in (
        (X, ["x0", "x1", "x2", "x3"]),
        (list(X)[2:], ["x0", "x1", "x2", "x3"]),
        (named, "abcd"),
    ):
        expected = [f"{part}__{name}" for part in ("raw", "scaled") for name in names]
        assert union.fit(given).get_feature_names_out().tolist() == expected
        found = clone(union).fit_transform(given)
        assert found.feature_names == tuple(expected)
        assert (
            found.matrix[:, :4]
            == (
                given
                if given is X
                else SequenceMatrix(np.vstack(list(given)), [len(x) for x in given])
            ).matrix
        ).all()


@pytest.mark.parametrize("library", [pandas, polars])
def test_frames_of_other_columns(library):
    """The message says which columns, where there would be missing values."""
    frames = [
        library.DataFrame({"a": [1.0], "b": [2.0]}),
        library.DataFrame({"a": [1.0], "c": [2.0]}),
    ]
    text = "X: sequence 1 has the columns a, c, that of sequence 0 a, b"
    for call in (TokenTransformer(StandardScaler()).fit, StructuredPerceptron().fit):
        with pytest.raises(ValueError, match=text):
            call(frames, [["x"], ["y"]])
    fitted = TokenTransformer(StandardScaler()).fit(
        [frames[0], frames[0][:0], frames[0]]
    )
    assert fitted.transformer_.n_features_in_ == 2
