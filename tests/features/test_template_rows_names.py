"""Names of features against the expansions that the templates' definition gives."""

import re

import pytest

import oracles
from skstruct import PassiveAggressiveTagger
from skstruct.inspection import feature_weights, features_of

LINES = [
    "U00:%x[-2,0]",
    "U01:%x[0,0]/%x[1,0]",
    "U02:%x[1,0]/%x[0,0]",
    "U03:a%x[0,0]b%x[0,0]",
    "U04",
    "B",
]
COLUMNS = [
    "U0:%x[0,1]/%x[-1,0]",
    "U1:%lower[0,0]/%suffix1[0,0]",
    "B",
    "B1:%x[-1,1]/%x[0,1]",
]
X = [list("abcA"), ["a"], list("ba")]
Y = [["X", "Y", "X", "Y"], ["Y"], ["X", "X"]]


def pairs(X):
    return [[(token, token * 2) for token in sentence] for sentence in X]


CORPORA = {
    "characters": (LINES, X),
    "columns": (COLUMNS, pairs(X)),
    "bags": (
        "auto",
        [[[f"w={token}", "bias"] for token in sentence] for sentence in X],
    ),
}


def expansion(line, sentence, t):
    """A template with what its macros read in their places."""

    def read(macro):
        function, offset, column = macro.groups()
        return oracles.read(
            sentence, t + int(offset), int(column), function
        ).removeprefix("=")

    return re.sub(r"%(\w+)\[(-?\d+),(\d+)\]", read, line)


def expansions(lines, sentence):
    """For each position the names of its features."""
    if lines == "auto":
        return [list(token) for token in sentence]
    written = [line for line in lines if line.startswith("U")]
    return [
        [expansion(line, sentence, t) for line in written] for t in range(len(sentence))
    ]


@pytest.mark.parametrize("min_count", [1, 2])
@pytest.mark.parametrize("name", CORPORA)
def test_every_weight_has_the_name_of_its_expansion(name, min_count):
    lines, X = CORPORA[name]
    tagger = PassiveAggressiveTagger(
        lines, min_count=min_count, max_iter=3, random_state=0
    ).fit(X, Y)
    occurring = [
        f
        for sentence in X
        for features in expansions(lines, sentence)
        for f in features
    ]
    frequent = {f for f in occurring if occurring.count(f) >= min_count}
    named = {feature for feature, _, _ in feature_weights(tagger)}
    assert named and named <= frequent


@pytest.mark.parametrize("name", CORPORA)
def test_the_features_of_a_sentence(name):
    lines, X = CORPORA[name]
    tagger = PassiveAggressiveTagger(lines, max_iter=3, random_state=0).fit(X, Y)
    for sentence in X:
        found = [sorted(features) for features in features_of(tagger, sentence)]
        assert found == [sorted(features) for features in expansions(lines, sentence)]
