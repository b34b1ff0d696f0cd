"""Encoders of features with names: what counts, what stays, and how they grow."""

import numpy as np
import pytest

from skstruct._data.inputs import as_tokens
from skstruct.features.bag_encoder import BagEncoder
from skstruct.features.indexed_encoder import IndexedEncoder, NamedEncoder
from skstruct.features.pattern_encoder import PatternEncoder
from skstruct.features.patterns import Patterns
from skstruct.features.rows_encoder import RowsEncoder
from skstruct.features.template_encoder import TemplateEncoder

X = [["a", "b"], ["a", "c"]]
PATTERNS = Patterns(["U:%x[0,0]", "B", "B1:%x[-1,0]"])


def encoder_of(X, min_count=1):
    encoder = PatternEncoder(PATTERNS, min_count)
    encoder.encode(as_tokens(X), True)
    return encoder


def test_who_has_an_index():
    assert issubclass(BagEncoder, NamedEncoder)
    assert issubclass(PatternEncoder, NamedEncoder)
    for cls in (RowsEncoder, TemplateEncoder):
        assert issubclass(cls, IndexedEncoder) and not issubclass(cls, NamedEncoder)


def test_rows_of_labels_and_of_transitions():
    encoder = encoder_of(X)
    assert encoder.n_node_rows == 3 and encoder.n_edge_rows == 2
    assert encoder.row_names({0, 2}) == {0: "U:a", 2: "U:c"}
    assert encoder.edge_names({0, 1}) == {1: "B1:a"}  # 0 is the label bigram
    assert encoder.template_of_row(None).tolist() == [0, 0, 0]


@pytest.mark.parametrize("anew", [False, True])
def test_what_was_rare_may_be_counted_anew(anew):
    encoder = encoder_of(X, min_count=2)
    assert encoder.row_names({0, 1, 2}) == {0: "U:a"}
    if anew:
        encoder.count_anew()
    encoder.encode(as_tokens([["b"]]), True)
    found = set(encoder.row_names({0, 1, 2}).values())
    assert found == ({"U:a"} if anew else {"U:a", "U:b"})


def test_a_copy_grows_alone():
    encoder = encoder_of(X)
    twin = encoder.copy()
    twin.encode(as_tokens([["d", "d"]]), True)
    assert (encoder.n_node_rows, encoder.n_edge_rows) == (3, 2)
    assert (twin.n_node_rows, twin.n_edge_rows) == (4, 3)


def test_of_several_shards_all_names_that_are_frequent():
    parts = [encoder_of([["a", "b"]]), encoder_of([["c", "b"], ["b"]])]
    merged, maps = parts[0].merged(parts, [None, None], 1)
    assert merged.row_names({0, 1, 2}) == {0: "U:a", 1: "U:b", 2: "U:c"}
    assert [m.nodes.tolist() for m in maps] == [[0, 1], [2, 1]]
    assert parts[0].n_node_rows == 2
    counts = [part.nodes for part in parts]
    assert [len(index.ids) for index in counts] == [2, 2]


def test_rows_that_are_kept():
    encoder = encoder_of(X)
    used = np.array([True, False, True]), np.array([True, True])
    smaller, nodes, edges = encoder.keep_rows(*used)
    assert nodes.tolist() == [0, 2] and edges.tolist() == [0, 1]
    assert smaller.row_names({0, 1}) == {0: "U:a", 1: "U:c"}
    assert encoder.n_node_rows == 3
