"""The contract of encoders: what a model may ask of each, whatever its tokens are."""

import numpy as np
import pandas
import pytest
from scipy import sparse

from skstruct._data.inputs import as_tokens
from skstruct.features.base import Encoder
from skstruct.features.encoded import features_listed
from skstruct.features.encoder_choice import ENCODERS, merge_encoders, new_encoder
from skstruct.features.patterns import Patterns


def frame(words):
    return pandas.DataFrame({"word": list(words), "n": np.arange(1.0, 1 + len(words))})


LINES = ["U0:%x[0,0]", "B"]
CASES = {
    "bag": ("auto", [[{"w": "a"}, {"w": "b"}], [{"w": "a"}]], [[{"w": "c"}]]),
    "joint": (LINES, [frame("ab"), frame("a")], [frame("c")]),
    "rows": (
        "auto",
        [sparse.csr_matrix([[1.0, 0, 0], [0, 2, 0]]), sparse.csr_matrix([[3.0, 0, 0]])],
        [sparse.csr_matrix([[0, 0, 4.0]])],
    ),
    "patterns": (Patterns(LINES), [["a", "b"], ["a"]], [["c"]]),
    "templates": (LINES, [["a", "b"], ["a"]], [["c"]]),
}


def trained(kind):
    features, X, more = CASES[kind]
    encoder = new_encoder(features, 1, as_tokens(X))
    return encoder, encoder.encode(as_tokens(X), True), as_tokens(X), as_tokens(more)


def names(encoder):
    return encoder.row_names(set(range(encoder.n_node_rows)))


def test_every_kind_is_tried():
    assert CASES.keys() == ENCODERS.keys()
    for kind, (cls, _) in ENCODERS.items():
        assert type(trained(kind)[0]) is cls
        assert issubclass(cls, Encoder)


def test_an_encoder_that_lacks_a_method_is_none():
    class Half(Encoder):
        def encode(self, corpus, grow):
            return None

    with pytest.raises(TypeError, match="abstract"):
        Half()


@pytest.mark.parametrize("kind", CASES)
def test_rows_are_numbered_and_named(kind):
    encoder, encoded, corpus, _ = trained(kind)
    rows = features_listed(encoded, corpus.offsets).row
    assert set(rows.tolist()) == set(range(encoder.n_node_rows)) == set(names(encoder))
    assert len(set(names(encoder).values())) == encoder.n_node_rows
    assert encoder.n_features == encoder.n_node_rows and encoder.n_edge_rows == 1
    assert encoder.has_bigram and encoder.min_count == 1
    template = encoder.template_of_row(encoded)
    assert template is None or template.shape == (encoder.n_node_rows,)


@pytest.mark.parametrize("kind", CASES)
def test_prediction_adds_nothing_and_a_copy_grows_alone(kind):
    encoder, _, _, more = trained(kind)
    before = names(encoder)
    encoder.check(more)
    known = features_listed(encoder.encode(more, False), more.offsets)
    twin = encoder.copy()
    grown = features_listed(twin.encode(more, True), more.offsets)
    assert grown.row.size == known.row.size + 1
    assert names(encoder) == before
    assert twin.n_node_rows == encoder.n_node_rows + 1
    assert {**names(twin), **before} == names(twin)


@pytest.mark.parametrize("kind", CASES)
def test_rows_that_are_kept_have_their_names(kind):
    encoder, *_ = trained(kind)
    before = names(encoder)
    some = np.arange(encoder.n_node_rows) != encoder.n_node_rows - 1
    smaller, nodes, edges = encoder.keep_rows(some, np.ones(1, np.bool_))
    assert edges.tolist() == [0]
    assert names(encoder) == before
    if kind == "joint":  # of which dense rows keep all columns, and words go
        assert set(encoder.numbers.row_names({0, 1}).values()) <= {*before.values()}
    assert nodes.tolist() == np.flatnonzero(some).tolist()
    assert names(smaller) == {k: before[row] for k, row in enumerate(nodes.tolist())}


@pytest.mark.parametrize("kind", CASES)
def test_shards_are_merged_to_all_names(kind):
    encoder, *_ = trained(kind)
    other, _, _, more = trained(kind)
    other.encode(more, True)
    merged, maps = merge_encoders([encoder, other], [None, None], 1)
    assert set(names(merged).values()) == set(names(other).values())
    for part, rows in zip((encoder, other), maps):
        for row, name in names(part).items():
            assert names(merged)[rows.nodes[row]] == name


@pytest.mark.parametrize("kind", CASES)
def test_what_has_no_statistics_cannot_be_adapted(kind):
    encoder, _, corpus, _ = trained(kind)
    with pytest.raises(ValueError, match="there is nothing to adapt"):
        encoder.adapted(corpus)


@pytest.mark.parametrize("kind", CASES)
def test_scale_and_bias_are_of_numbers(kind):
    encoder, *_ = trained(kind)
    reads_numbers = kind in ("rows", "joint")
    assert (encoder.scale == 1.0) != reads_numbers
    assert (encoder.bias_row >= 0) == reads_numbers
    assert (encoder.features is not None) == reads_numbers
