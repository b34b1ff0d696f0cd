"""What early stopping holds out takes no part in training."""

import inside
import numpy as np
import pytest
from model_cases import ALL_CASES
from sklearn.base import clone

from skstruct import StructuredPerceptron
from skstruct.datasets import load_chunking
from skstruct.features import WordVectors

NAMES = (
    "perceptron-rows perceptron-dicts perceptron-sparse-rows perceptron-frames "
    "perceptron-order2-frames passive-aggressive parser parser-columns word-segmenter"
).split()


def assert_held_out_is_no_part(learner, X, y, folder):
    """The bits are those of a fit that is given the same sequences apart."""
    learner = clone(learner).set_params(early_stopping=True, random_state=0)
    test = inside.drawn_by_early_stopping(learner, len(X))
    train = np.setdiff1d(np.arange(len(X)), test).tolist()
    assert test and train
    apart = clone(learner).fit(
        [X[i] for i in train],
        [y[i] for i in train],
        X_val=[X[i] for i in test],
        y_val=[y[i] for i in test],
    )
    files = []
    for name, model in (("one", learner.fit(X, y)), ("other", apart)):
        model.save(folder / name)
        files.append(inside.arrays_in_file(folder / name))
    assert files[0].keys() == files[1].keys()
    for name, array in files[0].items():
        np.testing.assert_array_equal(files[1][name], array, name)


@pytest.mark.parametrize("name", NAMES)
def test_held_out_sequences_take_no_part(name, tmp_path):
    data, make = ALL_CASES[name]
    X, y = data(4)
    learner = make().set_params(max_iter=3)
    assert_held_out_is_no_part(learner, list(X) * 5, list(y) * 5, tmp_path)


@pytest.mark.parametrize(
    "parameters",
    [
        {"features": "chunk-best", "feature_noise": "zipf"},
        {"min_count": 2},
        {"class_weight": "balanced", "all_pairs": False},
        {"words": WordVectors(3, n_clusters=4, min_count=1, random_state=0)},
    ],
)
def test_nor_in_what_is_learned_of_texts(parameters, tmp_path):
    X, y = load_chunking()
    learner = StructuredPerceptron(max_iter=2, **parameters)
    if "words" in parameters:
        X = [[word for word, _ in sequence] for sequence in X]
    assert_held_out_is_no_part(learner, X[:80], y[:80], tmp_path)
