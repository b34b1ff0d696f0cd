"""Sentences and trees that the tests of the parser share."""

from skstruct import ShiftReduceParser

X = [
    [("the", "D"), ("dog", "N"), ("barks", "V")],
    [("cats", "N"), ("see", "V"), ("the", "D"), ("dogs", "N"), (".", ".")],
    [],
    [("run", "V")],
    [("a", "D"), ("cat", "N"), ("runs", "V"), (".", ".")],
]
Y = [
    [(2, "det"), (3, "nsubj"), (0, "root")],
    [(2, "nsubj"), (0, "root"), (4, "det"), (2, "obj"), (2, "punct")],
    [],
    [(0, "root")],
    [(2, "det"), (3, "nsubj"), (0, "root"), (3, "punct")],
]


def parser(**parameters):
    return ShiftReduceParser(**{"templates": "hs28", "random_state": 0, **parameters})
