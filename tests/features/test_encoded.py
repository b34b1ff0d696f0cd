"""Encoded corpora: their parts, counts of their rows, and their features one by one."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from skstruct import SequenceMatrix
from skstruct._chain.chain_model import new_task
from skstruct._data.inputs import as_tokens, by_sequence
from skstruct.features.encoded import (
    EncodedCorpus,
    bag_of,
    count_rows,
    features_listed,
    grid_listed,
    keep_features,
)
from skstruct.features.encoder_choice import new_encoder

WORDS = [["a", "b", "a"], [], ["b"], ["c", "a"]]
LINES = ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "U2", "B", "B1:%x[0,0]"]
DICTS = [[{"w": word, "n": 0.5} for word in words] for words in WORDS]
KINDS = {"templates": (LINES, WORDS), "bag": ("auto", DICTS)}


def encoded(kind):
    features, X = KINDS[kind]
    corpus = as_tokens(X)
    encoder = new_encoder(features, 1, corpus)
    return encoder, corpus, encoder.encode(corpus, True)


def by_token(encoder, found, token):
    """For each sequence and token the (row, value, name) of its features."""
    sides = encoder.features_by_token(new_task(found, token))
    return [by_sequence(side, token) for side in sides]


@pytest.mark.parametrize("kind", KINDS)
def test_some_sequences_have_the_features_that_they_had(kind):
    encoder, corpus, found = encoded(kind)
    nodes, edges = by_token(encoder, found, corpus.offsets)
    for which in ([2, 0], [3], [1], []):
        part = corpus.take(which)
        taken = found.take(np.array(which, np.int64), corpus.offsets)
        mine = by_token(encoder, taken, part.offsets)
        assert mine == [[nodes[i] for i in which], [edges[i] for i in which]]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_counted_as_they_are_listed(kind):
    encoder, corpus, found = encoded(kind)
    counts = count_rows(encoder, new_task(found, corpus.offsets))
    nodes, edges = by_token(encoder, found, corpus.offsets)
    expected = np.zeros(encoder.n_node_rows, int)
    for sequence in nodes:
        for token in sequence:
            for row, _, _ in token:
                expected[row] += 1
    assert counts.nodes.tolist() == expected.tolist()
    assert counts.edges.shape == (encoder.n_edge_rows,)
    assert counts.edges[0] == 0  # the bigram is no feature of a token
    for token, sequence in zip(WORDS, edges):
        listed = [[name for _, _, name in features] for features in sequence]
        if kind == "templates":  # no transition leads into a first token
            assert listed[1:] == [[f"B1:{word}"] for word in token[1:]]


def test_rows_that_are_not_alive_are_left_out():
    encoder, corpus, found = encoded("templates")
    all_rows = grid_listed(found, corpus.offsets, found.nodes, found.node_alive)
    alive = np.ones(encoder.n_node_rows, np.uint8)
    alive[all_rows.row[0]] = 0
    some = grid_listed(found, corpus.offsets, found.nodes, alive)
    assert some.row.tolist() == [r for r in all_rows.row.tolist() if alive[r]]
    bag = features_listed(found, corpus.offsets)
    kept = keep_features(bag, alive[bag.row] == 1)
    assert kept.row.tolist() == some.row.tolist()
    assert kept.start.tolist() == some.start.tolist()


def test_dense_rows_as_features():
    dense = SequenceMatrix(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]]), [1, 2])
    corpus = as_tokens(dense)
    encoder = new_encoder("auto", 1, corpus)
    found = encoder.encode(corpus, True)
    bag = bag_of(found, corpus.offsets)
    matrix = sparse.csr_matrix((bag.value, bag.row, bag.start), shape=(3, 3))
    expected = np.column_stack([dense.matrix * encoder.scale, np.ones(3)])
    np.testing.assert_array_equal(matrix.toarray(), expected)
    assert found.dense.n_rows == encoder.n_node_rows == 3


def test_a_corpus_keeps_what_an_encoder_made_of_it():
    encoder, corpus, found = encoded("templates")
    kept = EncodedCorpus(corpus, encoder, found)
    assert kept.encoded_by(encoder) is found
    assert kept.encoded_by(encoder.copy()) is None
    assert corpus.encoded_by(encoder) is None
    part = kept[2:]
    expected = found.take(np.array([2, 3]), corpus.offsets)
    assert part.encoded_by(encoder).anchor.tolist() == expected.anchor.tolist()
    assert kept[0] == WORDS[0]
    assert pickle.loads(pickle.dumps(kept)).encoded_by(encoder) is None
