"""Unions: the columns of their parts side by side."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from token_row_cases import LENGTHS, data, words

from skstruct import SequenceMatrix, StructuredPerceptron
from skstruct.features import (
    SequenceUnion,
    TokenTransformer,
    TokenVectorizer,
    Window,
)


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
