"""Models of CRFsuite that its tests share."""

import numpy as np
import pytest


def corpus(seed, n=40):
    rng = np.random.RandomState(seed)
    words = ["he", "Ran", "to", "東京", "a:b", "", " x", "tab\tbed", "line\nfeed"]
    sequences, labels = [], []
    for _ in range(n):
        chosen = rng.randint(0, len(words), rng.randint(1, 7))
        sequences.append([
            {"w": words[k], "up": words[k].istitle(), "n": len(words[k]) / 2,
             "near": {words[j]: 0.5, "all": True}}
            for j, k in zip(np.roll(chosen, 1), chosen)
        ])  # fmt: skip
        labels.append(
            [f"L{(k + 2 * j) % 5}" for j, k in zip(np.roll(chosen, 1), chosen)]
        )
    return sequences, labels


# -- where models come from ------------------------------------------------------------
def fitted_crf(**parameters):
    sklearn_crfsuite = pytest.importorskip("sklearn_crfsuite")
    sequences, labels = corpus(1)
    return sklearn_crfsuite.CRF(max_iterations=10, **parameters).fit(
        sequences, labels
    ), sequences
