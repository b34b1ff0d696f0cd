"""Tokens that are features are shown by their word."""

import pytest

from skstruct import StructuredPerceptron
from skstruct.inspection import errors, render
from skstruct.inspection.token_words import shown


def crfsuite(word, before="x"):
    return {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "-1:word.lower()": before,
        "postag": "NN",
    }


@pytest.mark.parametrize(
    "token",
    [
        crfsuite,
        lambda word: ["bias", f"word.lower={word.lower()}", f"word[-3:]={word[-3:]}"],
        lambda word: {"bias": 1.0, "form": word.lower(), "pos": "NN"},
        lambda word: {"w0": word.lower(), "w-1": "x", "w+1": "y"},
    ],
)
def test_the_feature_that_names_the_word(token):
    X = [[token("Rome"), token("Paris")], [token("Ann")]]
    assert shown(X) == [["rome", "paris"], ["ann"]]


def test_features_that_all_tokens_have_say_nothing():
    X = [[{"bias": 1.0, "length": 3}, {"bias": 1.0, "length": 5}]]
    assert shown(X) == [["length=3", "length=5"]]
    assert shown([["a", ("b", "N")]]) == [["a", ("b", "N")]]


def test_words_can_be_given():
    X = [[{"a": 1.0}, {"b": 1.0}]] * 3
    y = [["D", "N"]] * 3
    model = StructuredPerceptron(random_state=0).fit(X, y)
    found = errors(model, X, [["N", "N"]] * 3, words=[["the", "dog"]] * 3)
    assert found.confusions[0].examples[0].text == "[the] dog"
    assert "dog" in render(X[:1], y[:1], words=[["the", "dog"]])
    with pytest.raises(ValueError, match="one word for each token"):
        errors(model, X, y, words=[["the"]] * 3)
