"""Numbers that are missing reach what fills them, and nothing else."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from skstruct import L1CRF
from skstruct.features import TokenPredictions, TokenTransformer

A = np.array([[1.0, np.nan], [0.0, 2.0]])
X, Y = [A, A[::-1], A[:0]], [["x", "y"], ["y", "x"], []]
FILLED = np.array([[1.0, 2.0], [0.0, 2.0]])


@pytest.mark.parametrize(
    "transformer",
    [
        SimpleImputer(),
        make_pipeline(SimpleImputer(), MaxAbsScaler()),
        ColumnTransformer([("all", SimpleImputer(), [0, 1])]),
    ],
)
@pytest.mark.parametrize("form", [list, np.asarray, sparse.csr_array])
def test_an_imputer_gets_what_is_missing(transformer, form):
    made = TokenTransformer(transformer)
    given = [x.tolist() if form is list else form(x) for x in X]
    if form is list:
        given = [[tuple(row) for row in x] for x in given]
    rows = made.fit(given, Y).transform(given)
    assert np.isfinite(rows.matrix.sum()) and rows.matrix.shape == (4, 2)
    tagger = make_pipeline(TokenTransformer(transformer), L1CRF(random_state=0))
    assert tagger.fit(given, Y).predict(given) == Y


def test_what_takes_no_missing_numbers_gets_none():
    place = "X: sequence 0, position 0, column 1: nan is not finite"
    with pytest.raises(ValueError, match=place):
        TokenTransformer(PCA()).fit(X)
    with pytest.raises(ValueError, match=place):  # it takes NaN, and keeps it
        make_pipeline(TokenTransformer(StandardScaler()), L1CRF()).fit(X, Y)
    with pytest.raises(ValueError, match=place):
        L1CRF().fit(X, Y)
    infinite = [np.array([[np.inf, 1.0]])]
    with pytest.raises(ValueError, match="column 0: inf is not finite"):
        TokenTransformer(SimpleImputer()).fit(infinite)


def test_a_classifier_that_takes_missing_numbers_gets_them():
    classifier = HistGradientBoostingClassifier(max_iter=1)
    scores = TokenPredictions(classifier, cv=2).fit_transform(X[:2] * 4, Y[:2] * 4)
    assert np.isfinite(scores.matrix).all()
