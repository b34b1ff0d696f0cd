"""Windows, unions and predictions of classifiers: what doing it by hand would give, inside scikit-learn."""

import pickle

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from skstruct import NumericFeatures, SequenceMatrix, StructuredPerceptron
from skstruct.features import (
    SequenceUnion,
    TokenPredictions,
    TokenTransformer,
    TokenVectorizer,
    Window,
)

LENGTHS = [3, 0, 4, 2, 3, 1]


def data():
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(sum(LENGTHS), 4))
    y = np.array(["low", "high"])[(flat[:, 1] > 0).astype(int)]
    X = SequenceMatrix(flat, LENGTHS, feature_names=list("abcd"))
    return X, X.split(y.tolist())


def words():
    X = [["the", "dog", "barks"], [], ["a", "cat"], ["the", "cat", "sleeps"]]
    return X, [["D", "N", "V"], [], ["D", "N"], ["D", "N", "V"]]


# -- windows -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("before, after", [(1, 1), (2, 0), (0, 3), (0, 0)])
def test_a_window_by_hand(form, before, after):
    X, _ = data()
    given = [form(x) for x in X]
    found = Window(before, after, deltas=True).fit_transform(given)
    assert sparse.issparse(found.matrix) == (form is not np.asarray)
    dense = found.matrix.toarray() if sparse.issparse(found.matrix) else found.matrix
    expected = []
    for x in X:
        for t in range(len(x)):
            shifts = range(-before, after + 1)
            near = [x[t + s] if 0 <= t + s < len(x) else np.zeros(4) for s in shifts]
            delta = (x[min(t + 1, len(x) - 1)] - x[max(t - 1, 0)]) / 2
            expected.append(
                np.concatenate(
                    [*near, delta, [not 0 <= t + s < len(x) for s in shifts if s]]
                )
            )
    np.testing.assert_array_equal(dense, expected)
    assert found.lengths.tolist() == LENGTHS


def test_names_and_types_of_a_window():
    X, _ = data()
    window = Window(1, 0, deltas=True).fit(X)
    names = [
        *(f"{c}@-1" for c in "abcd"),
        *"abcd",
        *(f"delta:{c}" for c in "abcd"),
        "boundary@-1",
    ]
    assert (
        window.transform(X).feature_names
        == tuple(names)
        == tuple(window.get_feature_names_out())
    )
    assert window.get_feature_names_out(list("pqrs"))[0] == "p@-1"
    assert (
        Window().fit_transform([x.astype(np.float32) for x in X]).matrix.dtype
        == np.float32
    )
    assert window.n_features_in_ == 4 and len(window.transform([])) == 0
    assert window.transform([[], []]).lengths.tolist() == [0, 0]


def test_a_window_is_what_models_read_in_place():
    X, y = data()
    window = Window(1, 1, boundary=False)
    tagger = StructuredPerceptron(NumericFeatures(scale=1.0), random_state=0)
    copied = make_pipeline(window, tagger).fit(X, y)
    in_place = StructuredPerceptron(
        NumericFeatures(scale=1.0, window=(-1, 1)), random_state=0
    ).fit(X, y)
    assert copied.predict(X) == in_place.predict(X)
    np.testing.assert_allclose(
        copied[-1].decision_function(window.transform(X)), in_place.decision_function(X)
    )


def test_a_window_over_encoded_features():
    X, y = words()
    vectorizer = TokenVectorizer(["U0:%x[0,0]", "B"])
    pipeline = make_pipeline(
        vectorizer, Window(1, 0, boundary=False), StructuredPerceptron(random_state=0)
    )
    tagger = StructuredPerceptron(
        ["U0:%x[0,0]", "U1:%x[-1,0]", "B"], random_state=0
    ).fit(X, y)
    assert pipeline.fit(X, y).predict(X) == tagger.predict(X) == y
    assert (
        pipeline[-1].inputs.token is np.ndarray
        and "U0:the@-1" in pipeline[1].get_feature_names_out()
    )


def test_what_windows_refuse():
    X, _ = data()
    with pytest.raises(ValueError, match="before"):
        Window(-1).fit(X)
    with pytest.raises(ValueError, match="X holds no token"):
        Window().fit([[], []])
    with pytest.raises(
        ValueError, match="sequence 1 has 3 columns, expected 4 as in training"
    ):
        Window().fit(X).transform([[], X[0][:, :3]])
    with pytest.raises(ValueError, match="input_features must be 4 names, got 1"):
        Window().fit(X).get_feature_names_out(["a"])
    with pytest.raises(NotFittedError):
        Window().transform(X)


# -- unions --------------------------------------------------------------------------------------------
def length_of(flat):
    return np.array([[len(word), word == "the"] for word in flat], dtype=float)


def word_union(**options):
    lengths = TokenTransformer(FunctionTransformer(length_of))
    return SequenceUnion(
        [("form", TokenVectorizer(["U0:%x[0,0]", "B"])), ("length", lengths)], **options
    )


def test_a_union_is_its_parts_side_by_side():
    X, y = data()
    union = SequenceUnion(
        [
            ("as", "passthrough"),
            ("no", "drop"),
            ("pca", TokenTransformer(PCA(2))),
            ("w", Window()),
        ],
        transformer_weights={"pca": 2.0},
    )
    found = union.fit_transform(X, y)
    parts = [
        X.matrix,
        2 * PCA(2).fit_transform(X.matrix),
        Window().fit_transform(X).matrix,
    ]
    np.testing.assert_allclose(found.matrix, np.hstack(parts))
    np.testing.assert_allclose(union.transform(X).matrix, found.matrix)
    assert found.lengths.tolist() == LENGTHS
    assert (
        list(found.feature_names) == union.get_feature_names_out(list("abcd")).tolist()
    )
    assert found.feature_names[:5] == ("as__a", "as__b", "as__c", "as__d", "pca__pca0")
    assert union.transform([[], []]).lengths.tolist() == [0, 0]


def test_sparse_and_dense_parts():
    X, y = words()
    union = word_union().fit(X, y)
    found = union.transform(X)
    assert sparse.issparse(found.matrix) and found.feature_names[0] == "form__U0:the"
    expected = [[len(word), word == "the"] for sequence in X for word in sequence]
    np.testing.assert_array_equal(found.matrix.toarray()[:, -2:], expected)
    pipeline = make_pipeline(word_union(), StructuredPerceptron(random_state=0)).fit(
        X, y
    )
    assert pipeline.predict(X) == y
    union = SequenceUnion(
        [
            ("a", TokenVectorizer(["U0:%x[0,0]", "B"])),
            ("b", TokenVectorizer(["U1:%x[-1,0]"])),
        ]
    )
    both = make_pipeline(union, StructuredPerceptron(random_state=0)).fit(X, y)
    tagger = StructuredPerceptron(
        ["U0:%x[0,0]", "U1:%x[-1,0]", "B"], random_state=0
    ).fit(X, y)
    scores = both[-1].decision_function(both[0].transform(X))
    np.testing.assert_allclose(scores, tagger.decision_function(X))


def test_what_unions_refuse():
    X, y = data()
    with pytest.raises(
        ValueError, match="must name at least one transformer that is not dropped"
    ):
        SequenceUnion([("a", "drop")]).fit(X, y)
    with pytest.raises(
        ValueError, match="transformer 'scale' must return rows of numbers by sequence"
    ):
        SequenceUnion(
            [("scale", FunctionTransformer(lambda X: words()[0]))]
        ).fit_transform(X, y)
    cut = FunctionTransformer(lambda X: X[:2])
    with pytest.raises(
        ValueError,
        match="transformer 'cut' returned sequences of other lengths than 'all' did",
    ):
        SequenceUnion([("all", "passthrough"), ("cut", cut)]).fit_transform(X, y)


# -- predictions of classifiers ------------------------------------------------------------------------
class Memory(ClassifierMixin, BaseEstimator):
    """Knows the samples that it was trained on by heart, and gives others a probability of one half."""

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.weights_ = np.unique(y), sample_weight
        self.known_ = {tuple(row): label for row, label in zip(X, y)}
        return self

    def predict_proba(self, X):
        known = [self.known_.get(tuple(row)) for row in X]
        one = np.full(len(self.classes_), 1 / len(self.classes_))
        return np.array(
            [one if label is None else self.classes_ == label for label in known],
            dtype=float,
        )

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@pytest.mark.parametrize("cv", [2, 3, KFold(2, shuffle=True, random_state=0)])
def test_no_sequence_is_scored_by_who_has_seen_it(cv):
    X, y = data()
    predictions = TokenPredictions(Memory(), method="predict_proba", cv=cv)
    np.testing.assert_array_equal(predictions.fit_transform(X, y).matrix, 0.5)
    everything = predictions.transform(X).matrix
    labels = [label for part in y for label in part]
    np.testing.assert_array_equal(
        everything, np.array(labels)[:, None] == predictions.classes_
    )
    # Rows that two sequences share are known from the other one, and from there alone.
    twice = SequenceMatrix(np.vstack([X.matrix, X.matrix]), LENGTHS * 2)
    groups = np.tile(np.arange(6), 2)
    found = TokenPredictions(Memory(), method="predict_proba", cv=GroupKFold(3))
    assert (found.fit_transform(twice, y + y, groups=groups).matrix == 0.5).all()
    halves = [(range(6), range(6, 12)), (range(6, 12), range(6))]
    ungrouped = TokenPredictions(Memory(), method="predict_proba", cv=halves)
    assert (ungrouped.fit_transform(twice, y + y).matrix != 0.5).all()


def test_the_pipeline_learns_from_scores_out_of_fold():
    X, y = data()
    pipeline = make_pipeline(
        TokenPredictions(Memory(), cv=2), StructuredPerceptron(random_state=0)
    ).fit(X, y)
    scores = TokenPredictions(Memory(), cv=2).fit_transform(X, y)
    tagger = StructuredPerceptron(random_state=0).fit(scores, y)
    assert (
        pipeline[-1].decision_function(scores).tolist()
        == tagger.decision_function(scores).tolist()
    )


@pytest.mark.parametrize(
    "classifier, method",
    [
        (ExtraTreesClassifier(5, random_state=0), "predict_log_proba"),
        (LogisticRegression(), "predict_proba"),
        (Perceptron(random_state=0), "decision_function"),
        (make_pipeline(StandardScaler(), KNeighborsClassifier(1)), "auto"),
    ],
)
def test_scores_by_hand(classifier, method):
    X, y = data()
    flat = np.array([label for part in y for label in part])
    predictions = TokenPredictions(classifier, method=method, cv=KFold(3))
    found = predictions.fit_transform(X, y).matrix
    sequence = np.repeat(np.arange(6), LENGTHS)
    for _, test in KFold(3).split(np.arange(6)):
        out = np.isin(sequence, test)
        fitted = clone(classifier).fit(X.matrix[~out], flat[~out])
        if method == "decision_function":
            expected = fitted.decision_function(X.matrix[out])[:, None]
        else:
            expected = fitted.predict_proba(X.matrix[out])
            if method != "predict_proba":
                expected = np.log(np.maximum(expected, 0.01))
        np.testing.assert_allclose(found[out], expected)
    assert predictions.transform(X).feature_names == tuple(
        predictions.get_feature_names_out()
    )


def test_labels_that_a_split_lacks_and_tokens_without():
    X, y = data()
    y = [list(part) for part in y]
    y[0], y[2][1] = ["rare", "low", "high"], None
    for classifier, method, low in (
        (Memory(), "predict_proba", 0.0),
        (Memory(), "predict_log_proba", np.log(0.01)),
        (Perceptron(random_state=0), "decision_function", None),
    ):
        found = TokenPredictions(
            classifier,
            method=method,
            cv=[([0, 1, 2], [3, 4, 5]), ([3, 4, 5], [0, 1, 2])],
        )
        scores = found.fit_transform(X, y)
        assert (
            scores.matrix.shape == (sum(LENGTHS), 3)
            and np.isfinite(scores.matrix).all()
        )
        rare = scores.matrix[:7, found.classes_.tolist().index("rare")]
        np.testing.assert_array_equal(
            rare, scores.matrix[:7].min(axis=1) if low is None else low
        )
    dicts = [[{"w": word} for word in x] for x in words()[0]]
    pipeline = make_pipeline(DictVectorizer(), LogisticRegression())
    assert TokenPredictions(pipeline, cv=2).fit(dicts, words()[1]).transform(
        dicts
    ).matrix.shape == (8, 3)


def test_what_predictions_refuse():
    X, y = data()
    with pytest.raises(ValueError, match="PCA has none of the methods"):
        TokenPredictions(PCA()).fit(X, y)
    with pytest.raises(
        ValueError, match="Perceptron has none of the methods predict_proba,"
    ):
        TokenPredictions(Perceptron(), method="predict_proba").fit(X, y)
    with pytest.raises(ValueError, match="exactly one test set; sequence 0 is in 0"):
        TokenPredictions(Memory(), cv=[([0, 1], [2, 3, 4, 5])]).fit_transform(X, y)
    with pytest.raises(ValueError, match="split 1 of cv=.* leaves no labelled token"):
        TokenPredictions(
            Memory(), cv=[([0], [1, 2, 3, 4, 5]), ([1], [0])]
        ).fit_transform(X, y)
    with pytest.raises(
        ValueError, match="y must be a list of label sequences, got None"
    ):
        TokenPredictions(Memory()).fit(X, None)
    with pytest.raises(ValueError, match="sequence 5: as many labels as tokens"):
        TokenPredictions(Memory()).fit(X, [*y[:5], []])
    with pytest.raises(ValueError, match="X holds no token"):
        TokenPredictions(Memory()).fit([[], []], [[], []])
    with pytest.raises(NotFittedError):
        TokenPredictions(Memory()).transform(X)


# -- inside scikit-learn -------------------------------------------------------------------------------
STEPS = {
    "window": lambda: Window(1, 0),
    "union": lambda: SequenceUnion(
        [("a", TokenTransformer(StandardScaler())), ("w", Window())], n_jobs=2
    ),
    "predictions": lambda: TokenPredictions(LogisticRegression(), cv=2),
    "transformer": lambda: TokenTransformer(SelectKBest(k=2)),
}
GRIDS = {
    "window": {"step__before": [0, 1]},
    "union": {
        "step__a__transformer__with_mean": [True, False],
        "step__w__after": [1, 2],
    },
    "predictions": {
        "step__classifier__C": [0.1, 1.0],
        "step__method": ["auto", "decision_function"],
    },
    "transformer": {"step__transformer__k": [1, 2]},
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_of_pipelines(name, tmp_path):
    X, y = data()
    X, y = X[np.tile(np.arange(6), 2)], y * 2
    step = STEPS[name]()
    assert repr(clone(step)) == repr(step)
    expected = step.fit(X, y).transform(X)
    same = pickle.loads(pickle.dumps(step)).transform(X)
    np.testing.assert_array_equal(same.matrix, expected.matrix)
    assert (
        same.feature_names
        == expected.feature_names
        == tuple(step.get_feature_names_out())
    )
    np.testing.assert_array_equal(
        FrozenEstimator(step).fit(X, y).transform(X).matrix, expected.matrix
    )
    tagger = StructuredPerceptron(max_iter=2, random_state=0)
    pipeline = Pipeline(
        [("step", STEPS[name]()), ("tag", tagger)], memory=str(tmp_path)
    )
    first = clone(pipeline).fit(X, y).predict(X)
    assert clone(pipeline).fit(X, y).predict(X) == first  # from the store
    assert clone(pipeline).set_output(transform="pandas").fit(X, y).predict(X) == first
    with sklearn.config_context(transform_output="pandas"):
        assert clone(pipeline).fit(X, y).predict(X) == first
    search = GridSearchCV(pipeline, GRIDS[name], cv=2, error_score="raise").fit(X, y)
    assert len(search.predict(X)) == 12 and cross_val_predict(
        pipeline, X, y, cv=2
    ).shape == (12,)
    frozen = make_pipeline(FrozenEstimator(step), tagger).fit(X, y)
    alone = StructuredPerceptron(max_iter=2, random_state=0).fit(expected, y)
    assert frozen.predict(X) == alone.predict(expected)


def test_metadata_of_classifiers():
    X, y = data()
    weight = np.arange(6.0) + 1
    found = TokenPredictions(Memory(), cv=2).fit(X, y, sample_weight=weight)
    assert found.classifier_.weights_.tolist() == np.repeat(weight, LENGTHS).tolist()
    with pytest.raises(
        ValueError, match="sample_weight must have one value a sequence, 6, got 2"
    ):
        TokenPredictions(Memory(), cv=2).fit(X, y, sample_weight=weight[:2])
    with sklearn.config_context(enable_metadata_routing=True):
        inner = Memory().set_fit_request(sample_weight=True)
        predictions = TokenPredictions(inner, cv=GroupKFold(2))
        union = SequenceUnion([("raw", "passthrough"), ("p", predictions)])
        tagger = StructuredPerceptron(random_state=0).set_fit_request(
            sample_weight=True
        )
        pipeline = make_pipeline(union, tagger)
        pipeline.fit(X, y, sample_weight=weight, groups=[0, 0, 1, 1, 2, 2])
        fitted = pipeline[0].transformer_list[1][1].classifier_
        assert fitted.weights_.tolist() == np.repeat(weight, LENGTHS).tolist()


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, bool])
def test_sparse_integers_are_reckoned_with_as_floats(dtype):
    dense = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    ints = SequenceMatrix(sparse.csr_matrix(dense.astype(dtype)), [4])
    floats = SequenceMatrix(dense, [4])
    window = Window(1, 0, deltas=True)
    assert np.array_equal(
        window.fit_transform(ints).matrix.toarray(), window.fit_transform(floats).matrix
    )
    union = SequenceUnion([("half", "passthrough")], transformer_weights={"half": 0.5})
    assert np.array_equal(union.fit_transform(ints).matrix.toarray(), dense * 0.5)
