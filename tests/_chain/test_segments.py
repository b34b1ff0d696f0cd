"""Probabilities of segments, and those found above a threshold, against enumeration."""

from itertools import product

import numpy as np
import pytest
from inside import distribution_of

from skstruct import CalibratedTagger, StructuredPerceptron


@pytest.mark.parametrize("scale", [1.0, 900.0])
@pytest.mark.parametrize("order", [1, 2])
def test_segments_equal_enumeration(scale, order):
    """BIO labels with random scores, constrained or not, in both orders."""
    rng = np.random.RandomState(0)
    X, labels = [list("abcab"), list("ca"), list("b")], ["O", "B-x", "I-x"]
    for seed in range(4):
        tagger = StructuredPerceptron(
            ["U:%x[0,0]", "B"], order=order, max_iter=2, random_state=seed
        )
        y = [[labels[k] for k in rng.randint(0, 3, len(x))] for x in X]
        model = CalibratedTagger(tagger, cv=2).fit(X * 4, y * 4)
        distribution = distribution_of(model)
        for store in distribution.stores().values():
            store.value[:] = scale * rng.randn(store.value.shape[0])
        vars(distribution).pop("ready", None)
        for x in X:
            spans = [
                (a, b, "x") for a in range(len(x)) for b in range(a + 1, len(x) + 1)
            ]
            every = [
                [str(k) for k in ids] for ids in product(model.classes_, repeat=len(x))
            ]
            p = np.exp(model.sequence_log_proba([x] * len(every), every))
            assert p.sum() == pytest.approx(1.0)
            found = dict(model.predict_segment_proba([x], [spans], scheme="BIO")[0])
            for a, b, kind in spans:
                want = sum(q for q, ids in zip(p, every) if (a, b) in _segments(ids))
                assert found[a, b, kind] == pytest.approx(want, abs=1e-9)


def _segments(labels):
    """(start, stop) of the segments of a labelling; I without a segment before it opens
    one.
    """
    before = ["O", *labels]
    starts = [
        t
        for t, k in enumerate(labels)
        if k[0] == "B" or (k[0] == "I" and before[t] == "O")
    ]
    stops = [
        next((u for u in range(t + 1, len(labels)) if labels[u][0] != "I"), len(labels))
        for t in starts
    ]
    return set(zip(starts, stops))
