"""What users call of a program of one file."""

import pytest

from skstruct._one_file.python import tagger


def test_labels_that_are_allowed_are_kept_to():
    X = [["the", "dog"]]
    for label in tagger.labels:
        assert tagger.predict(X, [[label, None]])[0][0] == label
        assert tagger.predict(X, [[[label], label]]) == [[label, label]]


def test_an_explanation_adds_up():
    for each in tagger.explain(["the", "dog", "the"]):
        parts = sum(mine - its for _, mine, its in each["features"])
        assert each["margin"] == pytest.approx(parts + each["neighbours"])
        assert each["margin"] >= 0.0 and each["runner_up"] != each["label"]


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="X must be a list of sequences, got 'a dog'"):
        tagger.predict("a dog")
    with pytest.raises(ValueError, match="sequence 0: expected a list of tokens"):
        tagger.predict(["a dog"])
    with pytest.raises(ValueError, match="expected 2 entries in allowed, got 1"):
        tagger.predict([["the", "dog"]], [[None]])
    with pytest.raises(ValueError, match="position 1: 'no' is not a label"):
        tagger.predict([["the", "dog"]], [[None, "no"]])
