"""The union of shards' vocabularies is the encoder that reads one shard after the
other.
"""

import numpy as np
import pytest
from training_cases import corpus

from skstruct._chain.chain_model import make_task
from skstruct._data.inputs import as_tokens
from skstruct.features.encoded import RowMap, count_rows
from skstruct.features.encoder_choice import merge_encoders, new_encoder
from skstruct.features.templates import FeatureTemplates

LINES = [
    "U0:%x[0,0]",
    "U1:%x[-1,0]/%x[0,0]",
    "U2:%suffix1[1,0]/%shape[0,0]",
    "B",
    "B1:%x[-1,0]/%x[0,0]",
]
COLUMNS = ["U0:%x[0,0]", "U1:%x[0,1]/%x[1,0]/%x[2,1]", "U1b:%x[0,1]", "B"]
LEXICON = FeatureTemplates(
    ["U0:%x[0,0]", "U1:%lex_names[0,0]", "B"], lexicons={"names": ["a b", "c"]}
)


def encoded(features, sequences, min_count):
    encoder = new_encoder(features, min_count, as_tokens(sequences))
    return encoder, make_task(encoder, as_tokens(sequences), grow=True)


def arrays_of(encoder, sequences):
    task = make_task(encoder, as_tokens(sequences))
    return (
        task.nodes.row,
        task.edges.row,
        task.bag.row,
        task.node_alive,
        task.edge_alive,
    )


@pytest.mark.parametrize("min_count", [1, 2, 3])
@pytest.mark.parametrize(
    "kind, features",
    [
        ("str", LINES),
        ("tuple", COLUMNS),
        ("str", LEXICON),
        ("dict", "auto"),
        ("list", "auto"),
    ],
)
def test_union(kind, features, min_count):
    X = corpus(1, kind, n=18)[0] + corpus(2, kind, n=3)[0]
    shards = [X[:9], X[9:10], X[10:]]
    whole, task = encoded(features, X, min_count)
    encoders, tasks = zip(*(encoded(features, shard, 1) for shard in shards))
    counts = [count_rows(encoder, task) for encoder, task in zip(encoders, tasks)]
    united, maps = merge_encoders(
        encoders, counts if min_count > 1 else [None] * 3, min_count
    )
    # What the union makes of the corpus is what the whole encoder does, row for row.
    for mine, theirs in zip(arrays_of(united, X), arrays_of(whole, X)):
        np.testing.assert_array_equal(mine, theirs)
    assert united.n_node_rows == whole.n_node_rows
    assert united.n_features == whole.n_features
    # And so are the rows of the shards, translated.
    for shard, task, rows in zip(shards, tasks, maps):
        assert isinstance(rows, RowMap)
        nodes, edges, bag, _, _ = arrays_of(whole, shard)
        for old, new, expected in (
            (task.nodes.row, rows.nodes, nodes),
            (task.edges.row, rows.edges, edges),
            (task.bag.row, rows.nodes, bag),
        ):
            np.testing.assert_array_equal(np.append(new, -1)[old], expected)


def test_the_union_goes_on_growing_like_the_whole():
    X = corpus(1, "str", n=12)[0]
    more = corpus(7, "str", n=6)[0]
    whole, _ = encoded(LINES, X, 2)
    encoders, tasks = zip(*(encoded(LINES, shard, 1) for shard in (X[:5], X[5:])))
    counts = [count_rows(encoder, task) for encoder, task in zip(encoders, tasks)]
    united, _ = merge_encoders(encoders, counts, 2)
    for encoder in (whole, united):
        encoder.encode(as_tokens(more), grow=True)
    for mine, theirs in zip(arrays_of(united, more), arrays_of(whole, more)):
        np.testing.assert_array_equal(mine, theirs)


def test_what_does_not_go_together():
    strings, _ = encoded(LINES, corpus(0, "str")[0], 1)
    bags, _ = encoded("auto", corpus(0, "dict")[0], 1)
    with pytest.raises(ValueError, match="shard 1: its tokens are not of the kind"):
        merge_encoders([strings, bags], [None, None], 1)
    text = [list("abcabd"), list("abe")]
    varieties = [encoded("char-av", text, 1)[0] for _ in range(2)]
    with pytest.raises(ValueError, match="accessor varieties"):
        merge_encoders(varieties, [None, None], 1)
