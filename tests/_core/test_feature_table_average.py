"""Shuffle-and-average over learners that number their features themselves."""

import numpy as np
import pytest
from inside import model_of

import skstruct
from skstruct import BaggingShuffleAverager, WordSegmenter
from skstruct._words.word_model import WordModel
from skstruct._words.word_names import features
from skstruct.datasets import load_segmentation

X, Y = load_segmentation()


def features_of(model):
    """The feature of each row, as a tuple that means the same in every model."""
    return features(model.arrays.templates, model.keys())


@pytest.fixture(scope="module")
def averager():
    base = WordSegmenter(max_iter=4)
    return BaggingShuffleAverager(
        base, n_estimators=3, keep_members=True, random_state=0
    ).fit(X[:80], Y[:80])


def test_members_are_numbered_alike(averager):
    models = [model_of(member) for member in averager.estimators_]
    averaged = model_of(averager)
    where = {feature: row for row, feature in enumerate(features_of(averaged))}
    assert len(where) == averaged.n_features
    columns = averaged.weights.columns
    total = np.zeros((averaged.n_features, columns))
    used = np.zeros_like(total)
    for model in models:
        value = model.weights.value.reshape(-1, columns)
        rows = [where[feature] for feature in features_of(model)]
        total[rows] += value
        used[rows] += value != 0.0
    expected = total / np.maximum(used, 1)
    np.testing.assert_allclose(
        averaged.weights.value.reshape(-1, columns), expected, atol=1e-12
    )


def test_order_of_members_does_not_matter(averager):
    models = [model_of(member) for member in averager.estimators_]
    pieces = [[text] for text in X[80:]]
    one, other = (
        WordModel.average(m, True).predict(pieces) for m in (models, models[::-1])
    )
    assert one[0] == other[0]
    np.testing.assert_allclose(one[1], other[1])


def test_the_average_is_better_than_its_members(averager):
    assert (
        averager.score(X[80:], Y[80:]) > averager.member_scores(X[80:], Y[80:]).mean()
    )


def test_n_jobs_changes_nothing(averager):
    again = BaggingShuffleAverager(
        WordSegmenter(max_iter=4), n_estimators=3, n_jobs=2, random_state=0
    )
    again.fit(X[:80], Y[:80])
    assert (
        model_of(again).weights.value.tobytes()
        == model_of(averager).weights.value.tobytes()
    )


def test_saved_and_loaded(averager, tmp_path):
    averager.save(tmp_path / "model")
    assert skstruct.load(tmp_path / "model").predict(X[80:]) == averager.predict(X[80:])
