"""The encoder of patterns: equal strings are one feature, by whichever pattern."""

import numpy as np
import pytest

from skstruct._data.inputs import as_tokens
from skstruct.features.encoded import features_listed
from skstruct.features.pattern_encoder import PatternEncoder
from skstruct.features.patterns import Patterns

LINES = ["U:%x[0,0]", "U:%x[-1,0]", "B", "B:%x[0,0]"]


def names(encoder, X):
    """The features of each token, of labels, and the rows of transitions."""
    corpus = as_tokens(X)
    encoded = encoder.encode(corpus, False)
    bag = features_listed(encoded, corpus.offsets)
    of = encoder.row_names(set(range(encoder.n_node_rows)))
    bounds = bag.start.tolist()
    listed = [
        [of[row] for row in bag.row[a:b].tolist()] for a, b in zip(bounds, bounds[1:])
    ]
    return listed, encoded.edges.row.tolist()


def test_features_are_what_patterns_write():
    encoder = PatternEncoder(Patterns(LINES))
    encoder.encode(as_tokens([["a", "b"], ["b"]]), True)
    nodes, edges = names(encoder, [["a", "b"], ["c", "a"]])
    assert nodes == [["U:a", "U:_B-1"], ["U:b", "U:a"], ["U:_B-1"], ["U:a"]]
    assert edges == [[-1, 1, -1, -1]]  # none into a first token, and B:a is new
    assert encoder.has_bigram and encoder.n_edge_rows == 2


def test_names_from_a_file_of_another_tool():
    encoder = PatternEncoder.of_names(Patterns(LINES), ["U:b", "U:a"], ["B:b"])
    assert encoder.row_names({0, 1}) == {0: "U:b", 1: "U:a"}
    assert names(encoder, [["a", "b"]]) == ([["U:a"], ["U:b", "U:a"]], [[-1, 1]])
    assert encoder.takes_both and encoder.token_type is str
    assert names(encoder, [[("a",), ("b",)]]) == names(encoder, [["a", "b"]])


def test_tokens_are_those_of_training():
    encoder = PatternEncoder(Patterns(["U:%x[0,1]"]))
    assert encoder.token_type is tuple and not encoder.takes_both
    encoder = PatternEncoder(Patterns(["U:%x[0,0]"]))
    encoder.encode(as_tokens([["a"]]), True)
    assert encoder.token_type is str and not encoder.takes_both
    with pytest.raises(ValueError, match="expected a token of type str"):
        encoder.encode(as_tokens([[("a", "b")]]), False)
    with pytest.raises(ValueError, match="are for tokens that are str or tuples"):
        PatternEncoder.for_tokens(Patterns(LINES), 1, as_tokens([[{"a": 1}]]))


def test_rare_strings_have_no_rows():
    encoder = PatternEncoder(Patterns(["U:%x[0,0]"]), min_count=2)
    corpus = as_tokens([["a", "b", "a"]])
    encoded = encoder.encode(corpus, True)
    assert encoded.bag.row.tolist() == [0, -1, 0]
    assert encoder.n_features == 1


def test_a_corpus_without_tokens():
    encoder = PatternEncoder(Patterns(LINES))
    encoded = encoder.encode(as_tokens([[], []]), True)
    assert encoded.bag.row.shape == (0,) and encoded.edges.row.shape == (1, 0)
    np.testing.assert_array_equal(encoded.anchor, [0, 0, 0])
    assert encoder.first_type is None
