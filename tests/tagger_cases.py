"""What the tests of taggers share."""

import numpy as np
from inside import model_of

from skstruct import PassiveAggressiveTagger, StructuredPerceptron
from skstruct.datasets import make_hmm_sequences

TAGGERS = [StructuredPerceptron, PassiveAggressiveTagger]
TEMPLATES = ["U00:%x[0,0]", "U01:%x[-1,0]/%x[0,0]", "B", "B01:%x[0,0]"]


def corpus(n=40, seed=0, **options):
    options = {"n_labels": 4, "n_words": 60, "noise": 0.1, "max_length": 10, **options}
    return make_hmm_sequences(n, random_state=seed, **options)


def weights(tagger):
    """All weights, in arrays."""
    return [model_of(tagger).nodes.value, model_of(tagger).edges.value]


def same_weights(a, b):
    return all(np.array_equal(x, y) for x, y in zip(weights(a), weights(b)))
