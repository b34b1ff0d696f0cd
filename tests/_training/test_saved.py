"""What estimators have learned, in files: a model, and a state of training if asked
for.
"""

import numpy as np
import pytest
from inside import model_of, training_of
from sklearn.exceptions import NotFittedError

from skstruct import StructuredPerceptron, WordSegmenter, load

X = [["a", "b", "c"], ["b", "a"]]
Y = [["D", "N", "V"], ["N", "D"]]


def fitted():
    return StructuredPerceptron(max_iter=3, random_state=0).fit(X, Y)


def test_what_is_not_fitted_has_nothing_to_save(tmp_path):
    found = StructuredPerceptron(max_iter=7)
    with pytest.raises(NotFittedError):
        found.save(tmp_path / "model")
    with pytest.raises(NotFittedError):
        found.n_features()
    with pytest.raises(NotFittedError):
        print(found.inputs)


def test_training_goes_on_from_a_file_as_from_the_estimator(tmp_path):
    tagger = fitted()
    tagger.save(tmp_path / "model")
    found = load(tmp_path / "model")
    state, want = training_of(found), training_of(tagger)
    assert (state.key, state.epoch, state.rule) == (want.key, want.epoch, want.rule)
    for each in tagger, found:
        each.set_params(warm_start=True).fit(X, Y)
    np.testing.assert_array_equal(
        model_of(found).nodes.value, model_of(tagger).nodes.value
    )


def test_without_a_state_of_training_it_starts_from_the_model(tmp_path):
    tagger = fitted()
    tagger.save(tmp_path / "model", training=False)
    found = load(tmp_path / "model")
    np.testing.assert_array_equal(
        training_of(found).model.nodes.value, model_of(tagger).nodes.value
    )
    assert training_of(found).epoch == 3


def test_only_models_of_templates_and_words_remember_words():
    assert model_of(fitted()).words_of_training() == frozenset("abc")
    rows = [np.eye(3)[:2], np.eye(3)[1:]]
    tagger = StructuredPerceptron(max_iter=1).fit(rows, [["D", "N"], ["N", "V"]])
    assert model_of(tagger).words_of_training() is None


def test_models_count_what_they_have():
    L, n_features, states, transitions = model_of(fitted()).sizes()
    assert L == 3 and n_features > 0 and states > 0 and transitions >= 0
    segmenter = WordSegmenter(max_iter=2, random_state=0).fit(["ab c"[:2]], [["ab"]])
    assert model_of(segmenter).sizes()[0] is None
