"""Vectors that tokens hold are no features: the error says how they become columns."""

import array
import re

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skstruct import L1CRF, StructuredPerceptron
from skstruct.features import SequenceUnion, TokenTransformer, TokenVectorizer

VECTORS = {
    "list": [0.25, 0.5],
    "ints": (1, 2, 3),
    "array": np.array([0.25, 0.5, 1.0]),
    "float32": np.ones(2, np.float32),
    "matrix": np.eye(2),
    "of the standard library": array.array("d", [0.25, 0.5]),
}

TOKENS = {
    "dict": lambda vector: {"w": "a", "vec": vector},
    "nested dict": lambda vector: {"w": {"vec": vector, "x": True}},
    "list": lambda vector: ["w=a", vector],
    "tuple": lambda vector: ("a", vector),
}

LEARNERS = {
    "crf": L1CRF,
    "perceptron": StructuredPerceptron,
    "vectorizer": TokenVectorizer,
}


def error_of(token, learner=L1CRF):
    plain = TOKENS["tuple"]("x") if isinstance(token, tuple) else TOKENS["list"]("x")
    plain = {"w": "a"} if isinstance(token, dict) else plain
    with pytest.raises(ValueError, match="X: sequence 1, position 1: ") as error:
        learner().fit([[plain], [plain, token]], [["A"], ["A", "B"]])
    return str(error.value)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("kind", TOKENS)
@pytest.mark.parametrize("vector", VECTORS)
def test_the_error_names_the_way(vector, kind, learner):
    message = error_of(TOKENS[kind](VECTORS[vector]), LEARNERS[learner])
    assert "SequenceUnion([" in message
    assert ("numbers by name" in message) == ("dict" in kind)


def rows(tokens):
    """As the error has it: an array with the vector of each token."""
    table = {"a": [1.0, 0.0], "b": [0.0, 1.0]}
    return np.array([table[token["w"]] for token in tokens])


def test_the_ways_work():
    X, y = [[{"w": "a"}, {"w": "b"}], [{"w": "b"}]], [["A", "B"], ["B"]]
    message = error_of({"w": "a", "vec": [1.0, 0.0]})
    line = re.search(r"SequenceUnion\(.*?\)\)\)\]\)", message)[0]
    names = {
        "SequenceUnion": SequenceUnion,
        "TokenVectorizer": TokenVectorizer,
        "TokenTransformer": TokenTransformer,
        "FunctionTransformer": FunctionTransformer,
        "rows": rows,
    }
    model = make_pipeline(eval(line, names), L1CRF(random_state=0)).fit(X, y)
    assert model.predict(X) == y
    assert model[0].transform(X).matrix.shape == (3, 2 + 2)
    token = eval(re.search(r"numbers by name, (.*)", message)[1], {})
    assert token == {"vec": {"0": 1.0, "1": 0.0}}
    model = L1CRF(random_state=0).fit([[{"w": "a"}, {"w": "b", **token}]], [["A", "B"]])
    assert model.predict([[{"w": "b", **token}]]) == [["B"]]


@pytest.mark.parametrize("value", [b"ab", 1j, {3.5}, object(), np.array(["a"]), [None]])
def test_what_is_no_vector(value):
    assert "SequenceUnion" not in error_of({"w": value})
