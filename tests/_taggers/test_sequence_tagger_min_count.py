"""Which corpora ``min_count`` counts in: that of each fit by itself, and all of a
stream.
"""

import numpy as np
import pytest
from inside import model_of
from scipy import sparse

from skstruct import L1CRF, PassiveAggressiveTagger, StructuredPerceptron
from skstruct.datasets import make_hmm_sequences
from skstruct.features.patterns import Patterns

TEMPLATES = ["U00:%x[0,0]", "U01:%x[-1,0]/%x[0,0]", "B", "B01:%x[0,0]"]


def tokens_of(kind, X):
    """Words as tokens of a kind, in which each is a feature."""
    if kind == "rows":
        names = sorted({word for x in X for word in x})
        return [
            sparse.csr_array([[float(name == word) for name in names] for word in x])
            for x in X
        ]
    make = {"str": str, "dicts": lambda word: {word: 1}, "lists": lambda word: [word]}
    return [list(map(make.get(kind, str), x)) for x in X]


KINDS = {
    "str": TEMPLATES,
    "dicts": "auto",
    "lists": "auto",
    "rows": "auto",
    "patterns": Patterns(["u:0=%x[0,0]", "*:1=%X[-1,0]/%x[0,0]"], "wapiti"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [StructuredPerceptron, PassiveAggressiveTagger, L1CRF])
def test_min_count_counts_the_corpus_of_each_fit_by_itself(kind, make):
    """The same corpus again has no feature that is new; a larger one has those that are
    frequent there.

    Parsers and segmenters of words count the changes of weights, in all epochs.
    """
    words, y = make_hmm_sequences(25, n_words=80, n_labels=4, noise=0.1, random_state=0)
    X = tokens_of(kind, words)
    tagger = make(KINDS[kind], min_count=2, random_state=0).set_params(warm_start=True)
    n = tagger.fit(X, y).n_features()
    assert tagger.fit(X, y).n_features() == n
    some = X[:15], y[:15]
    grown = make(KINDS[kind], min_count=2, random_state=0, warm_start=True).fit(*some)
    before, alone = (
        grown.n_features(),
        make(KINDS[kind], min_count=2, random_state=0).fit(X, y).n_features(),
    )
    assert before < grown.fit(X, y).n_features() == alone == n


def test_min_count_of_a_stream_after_a_fit_goes_on():
    tagger = StructuredPerceptron(
        ["U:%x[0,0]"], min_count=2, random_state=0, warm_start=True
    )
    tagger.fit([["a", "a", "b"]], [["X", "X", "Y"]])
    assert {entry[0] for entry in features_in(tagger)} == {"U:a"}
    tagger.partial_fit([["b", "c"]], [["Y", "Y"]])
    assert {entry[0] for entry in features_in(tagger)} == {"U:a", "U:b"}
    tagger.fit([["c", "a"]], [["Y", "X"]])
    assert {entry[0] for entry in features_in(tagger)} == {"U:a", "U:b"}


def features_in(tagger):
    """(name,) of each feature that has a row."""
    encoder = model_of(tagger).encoder
    rows = np.flatnonzero(encoder.nodes.alive)
    return [(name,) for name in encoder.row_names(set(rows.tolist())).values()]
