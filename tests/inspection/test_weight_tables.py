"""Weights as lists and matrices that print as tables."""

import numpy as np

from skstruct import StructuredPerceptron
from skstruct.inspection import (
    feature_weights,
    transition_weights,
)


def test_weights_print_as_tables():
    """With the labels, on one line each, in the order of the list; long ones say how
    much is left out.
    """
    X, y = (
        [["the", "dog\n"], ["the", "cat"], ["dogs", "bark"]],
        [["D", "N"], ["D", "N"], ["N", "V"]],
    )
    tagger = StructuredPerceptron(["U0:%x[0,0]", "B"], random_state=0).fit(X, y)
    weights, found = transition_weights(tagger), feature_weights(tagger)
    head, *rows = str(weights).splitlines()
    assert head.split() == ["from", "\\", "to", "D", "N", "V"] and [
        row.split()[0] for row in rows
    ] == [
        "D",
        "N",
        "V",
    ]
    assert [[float(x) for x in row.split()[1:]] for row in rows] == np.round(
        weights, 3
    ).tolist()
    for plain in (weights.T, weights[:2], weights * 2):
        assert "D" not in str(plain)
    assert repr(weights) == repr(np.asarray(weights))
    head, *rows = str(found).splitlines()
    assert head.split() == ["weight", "label", "feature"]
    assert [row.split() for row in rows] == [
        [f"{w:+.4f}", label, f.replace("\n", "\\n")] for f, label, w in found
    ]
    many = [f"w{k}" for k in range(60)]
    tagger = StructuredPerceptron(["U0:%x[0,0]", "B"], random_state=0).fit(
        [many], [[f"L{k}" for k in range(60)]]
    )
    for each, n in (feature_weights(tagger), None), (transition_weights(tagger), 3600):
        lines = str(each).splitlines()
        assert len(lines) == 42 and lines[-1] == f"{(n or len(each)) - 40:,} more"
    assert str(transition_weights(tagger)).splitlines()[0].split() == [
        "weight",
        "from",
        "to",
    ]
