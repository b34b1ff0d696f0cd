"""Warnings name a line of the program that was run, and are not repeated for each part
of a corpus.
"""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from skstruct import L1CRF, CalibratedTagger, SpanTagger, StructuredPerceptron
from skstruct.inspection import label_issues, out_of_fold_marginals

X, Y = (
    [["a", "b"], ["b", "a"], ["a", "c"]] * 10,
    [["A", "B"], ["B", "A"], ["A", "B"]] * 10,
)
SHORT = L1CRF(max_iter=1, c1=0.01)
ROWS = [np.full((2, 3), 1e3) + np.eye(2, 3)] * 4
OTHER = [["A", "Z"]] + Y[1:]

WARNED = {
    "convergence": lambda: SHORT.fit(X, Y),
    "in a pipeline": lambda: make_pipeline(SHORT).fit(X, Y),
    "unseen labels": lambda: StructuredPerceptron().fit(X, Y, X_val=X, y_val=OTHER),
    "unseen labels of a CRF": lambda: L1CRF().fit(X, Y, X_val=X, y_val=OTHER),
    "weights of no label": lambda: StructuredPerceptron(class_weight={"Q": 2.0}).fit(
        X, Y
    ),
    "rows that are nearly the same": lambda: StructuredPerceptron().fit(
        ROWS, [["A", "B"]] * 4
    ),
    "spans within tokens": lambda: SpanTagger().fit(["Anna is here"], [[(0, 2, "P")]]),
    "temperature": lambda: CalibratedTagger(StructuredPerceptron(max_iter=1), cv=2).fit(
        [["a"], ["a"]] * 2, [["A"], ["B"], ["B"], ["A"]]
    ),
    "folds": lambda: out_of_fold_marginals(SHORT, X, Y),
    "folds in threads": lambda: out_of_fold_marginals(SHORT, X, Y, n_jobs=2),
}


@pytest.mark.parametrize("what", WARNED)
def test_the_line_is_the_users(what):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # kernels that are not compiled: hashes overflow
        WARNED[what]()
    assert given and {each.filename for each in given} == {__file__}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_folds_warn_once(n_jobs):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # kernels that are not compiled: hashes overflow
        label_issues(SHORT, X, Y, cv=5, n_jobs=n_jobs)
    (only,) = given
    assert only.category is ConvergenceWarning
    assert "did not converge in max_iter=1" in str(only.message)
    assert str(only.message).endswith("; warnings like this: 5")


def test_filters_of_the_user_hold():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        with pytest.raises(ConvergenceWarning):
            label_issues(SHORT, X, Y)
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert label_issues(SHORT, X, Y) is not None
