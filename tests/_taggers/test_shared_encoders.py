"""Encoders that are equal become one."""

import copy

import inside

from skstruct import L1CRF, BaggingShuffleAverager, StructuredPerceptron
from skstruct._taggers.shared_encoders import are_equal, share_encoders

X = [["the", "dog", "barks"], ["a", "cat", "sleeps"]]
Y = [["D", "N", "V"], ["D", "N", "V"]]


def encoder_of(tagger):
    return inside.model_of(tagger).encoder


def fitted(**given):
    return StructuredPerceptron(random_state=0, max_iter=2, **given).fit(X, Y)


def test_only_what_is_the_same_in_files_is_equal():
    one = encoder_of(fitted())
    assert are_equal(one, copy.deepcopy(one))
    assert are_equal(one, encoder_of(fitted(order=2)))
    for other in (
        fitted(features=["U00:%x[0,0]"]),
        fitted(min_count=2),
        StructuredPerceptron(max_iter=2).fit(X[::-1], Y),
        StructuredPerceptron(max_iter=2).fit([["the", "dog", "runs"], X[1]], Y),
    ):
        assert not are_equal(one, encoder_of(other))


def test_taggers_share_and_predict_the_same():
    average = BaggingShuffleAverager(
        StructuredPerceptron(max_iter=2), n_estimators=2, random_state=0
    )
    models = [
        fitted(),
        average.fit(X, [["D", "N", "N"]] * 2),
        StructuredPerceptron(max_iter=2).fit(X[:1], Y[:1]),
        L1CRF(max_iter=3, all_pairs=True).fit(X, Y),
    ]
    before = [model.predict(X) for model in models]
    encoders = [encoder_of(model) for model in models]
    share_encoders(models)
    assert [model.predict(X) for model in models] == before
    assert encoder_of(models[1]) is encoders[0]
    assert encoder_of(models[2]) is encoders[2]
