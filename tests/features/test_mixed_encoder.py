"""Dense rows with strings beside them: the rows of weights of both parts, in one order."""

import numpy as np
import pandas
import pytest

from skstruct import StructuredPerceptron
from skstruct._data.inputs import as_tokens
from skstruct.features.encoded import features_listed
from skstruct.features.encoder_choice import merge_encoders, new_encoder
from skstruct.features.mixed_encoder import MixedEncoder
from skstruct.features.numeric import NumericFeatures

LINES = ["U0:%x[0,0]", "B"]


def frame(words, **columns):
    numbers = {"n": np.arange(1.0, 1 + len(words))}
    return pandas.DataFrame({"word": list(words), **numbers, **columns})


def trained(*words):
    corpus = as_tokens([frame(each) for each in words])
    encoder = new_encoder(LINES, 1, corpus)
    assert isinstance(encoder, MixedEncoder)
    return encoder, encoder.encode(corpus, True), corpus


def test_rows_of_strings_stand_behind_those_of_numbers():
    encoder, encoded, corpus = trained("ab", "a")
    n = encoder.numbers.n_node_rows
    names = encoder.row_names(set(range(encoder.n_node_rows)))
    assert [names[row] for row in range(n)] == list(
        encoder.numbers.row_names(set(range(n))).values()
    )
    assert list(names.values())[n:] == ["U0:a", "U0:b"]
    assert encoded.nodes.row.min() == n and encoded.dense.block.shape == (3, 1)
    listed = features_listed(encoded, corpus.offsets)
    assert set(listed.row.tolist()) == set(range(encoder.n_node_rows))


def test_rows_that_are_kept_are_those_of_the_strings():
    encoder, _, _ = trained("ab", "c")
    n = encoder.numbers.n_node_rows
    used = np.ones(encoder.n_node_rows, np.bool_)
    used[n + 1] = False
    twin, rows, _ = encoder.keep_rows(used, np.ones(1, np.bool_))
    assert rows.tolist() == [*range(n), n, n + 2]
    kept = twin.row_names(set(range(twin.n_node_rows)))
    assert list(kept.values())[n:] == ["U0:a", "U0:c"]


def test_the_features_are_those_of_the_strings_if_they_can_be():
    corpus = as_tokens([frame("ab")])
    own = NumericFeatures(window=(-1, 0))
    assert new_encoder(LINES, 1, corpus).features == NumericFeatures()
    assert new_encoder(own, 1, corpus).features == own
    assert new_encoder(own, 1, corpus).templates is not None


def test_shards_have_columns_of_the_same_kinds():
    first, _, _ = trained("ab")
    other = new_encoder(LINES, 1, as_tokens([frame("ab", more=[0.5, 1.0])]))
    third = new_encoder(LINES, 1, as_tokens([frame("ab", tag=["x", "y"])]))
    encoders = [first, third]
    with pytest.raises(ValueError, match="shard 1: its columns are not of the kinds"):
        first.merged(encoders, [None, None], 1)
    with pytest.raises(ValueError, match="shard 1"):
        merge_encoders([first, other], [None, None], 1)


def test_both_parts_are_added():
    """A number decides where the words say nothing, and a word where numbers do not."""
    X = [frame(["a", "a", "b"], x=[1.0, -1.0, 0.0]) for _ in range(4)]
    X = [each.drop(columns="n") for each in X]
    y = [["P", "N", "B"]] * 4
    tagger = StructuredPerceptron(["U0:%x[0,0]"], max_iter=20, random_state=0)
    assert tagger.fit(X, y).predict(X) == y
