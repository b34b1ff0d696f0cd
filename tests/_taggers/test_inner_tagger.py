"""What estimators over texts do with the tagger inside of them."""

import pytest
from sklearn.linear_model import SGDClassifier

from skstruct import L1CRF, Segmenter, SpanTagger, StructuredPerceptron

TEXTS = ["ab c", "c ab", ""]
WORDS = [["ab", "c"], ["c", "ab"], []]


def test_a_parameter_of_the_tagger_says_where_to_write_it():
    with pytest.raises(TypeError, match=r"its tagger has: write Segmenter\(L1CRF\(c1="):
        Segmenter(L1CRF(), c1=0.5)
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        Segmenter(L1CRF(), no_such_parameter=1)


@pytest.mark.parametrize("make", [Segmenter, SpanTagger])
def test_the_tagger_that_is_given_is_never_trained(make):
    tagger = StructuredPerceptron(max_iter=2, random_state=0)
    X, y = (TEXTS, WORDS) if make is Segmenter else (["Ann"], [[(0, 3, "PER")]])
    model = make(tagger).fit(X, y)
    assert not hasattr(tagger, "classes_")
    assert model.tagger_ is not tagger and model.tagger_.max_iter == 2
    assert model.history_ == model.tagger_.history_ and model.n_iter_ == 2


def test_errors_name_the_text():
    wrong = [["ab", "c"], ["c", "ba"], []]
    with pytest.raises(ValueError, match="sequence 1"):
        Segmenter(StructuredPerceptron(random_state=0)).fit(TEXTS, wrong)


def test_a_classifier_of_rows_is_no_tagger():
    with pytest.raises(TypeError, match="SGDClassifier is a classifier of single rows"):
        Segmenter(SGDClassifier()).fit(TEXTS, WORDS)
