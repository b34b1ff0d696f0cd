"""Temperatures where constraints leave some labels of held-out sequences no chance."""

import pytest

from skstruct import L1CRF, CalibratedTagger, StructuredPerceptron


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("make", [StructuredPerceptron, L1CRF])
@pytest.mark.parametrize("cv", [2, 3, 5])
def test_labels_that_a_fold_cannot_give_are_no_warning(make, cv):
    """Without R nothing leads from A to B: minus infinity is meant, and numpy says
    nothing of it.
    """
    allowed = [("A", "R"), ("R", "B"), ("B", "B"), ("A", "A"), ("B", "A")]
    y = [["A", "R", "B"], *[["A", "A"], ["B", "A"], ["B", "B", "A", "A"]] * 5]
    X = [[label.lower() for label in labels] for labels in y]
    tagger = make(["U:%x[0,0]"], constraints=allowed, random_state=0)
    assert CalibratedTagger(tagger, cv=cv).fit(X, y).predict(X[1:]) == y[1:]
