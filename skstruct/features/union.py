"""One vocabulary from those of several shards.

Idea: strings and combinations of ids are numbered in the order of the shards, and within a shard in the
order in which it met them. That is the order in which a single encoder meets them that reads one shard
after the other, so the union is that encoder, row for row. Nothing but ids has to be looked at again: each
shard gets an array that says which row its rows have become.

Place on the ladder: rung 2, over the encoders. Those of the shards have no count cut-off: whether a feature
is frequent enough is known only when all have been counted.
"""

from typing import NamedTuple

import numpy as np

from ..core.compile import kernel
from ..core.hashing import EMPTY
from ..core.interning import intern_pairs
from .bags import MOST_NUMBERS, BagEncoder
from .columns import column_function
from .encoder import TemplateEncoder

_LOW = 0xFFFFFFFF


class RowMap(NamedTuple):
    """What the rows of a shard's encoder have become, -1 for features below the count cut-off."""

    nodes: np.ndarray  # (R,) int32
    edges: np.ndarray  # (E,) int32


# --------------------------------------------------------------------------------------------------
# Counts
# --------------------------------------------------------------------------------------------------
@kernel
def _count_grid(rows, lo, width, left, anchor, token, first, count):
    """Add the occurrences of each feature of a grid to ``count`` (R,); see ``encoding._count``."""
    for g in range(rows.shape[0]):
        for i in range(anchor.shape[0] - 1):
            T = token[i + 1] - token[i]
            for a in range(anchor[i], anchor[i + 1]):
                if rows[g, a] < 0:
                    continue
                t = a - anchor[i] - left + lo[g]
                for s in range(max(0, first - t), min(width[g], T - t)):
                    count[rows[g, a] + s] += 1


def count_rows(task, n_node_rows, n_edge_rows):
    """Occurrences of all features in an encoded corpus, as a :class:`RowMap` holds rows.

    Parameters
    ----------
    task : ChainTask
        Of an encoder without count cut-off.
    n_node_rows, n_edge_rows : int
    """
    if task.bag.start.shape[0] > 1:
        rows = task.bag.row[task.bag.row >= 0]  # a feature whose value is 0 has none
        return RowMap(np.bincount(rows, minlength=n_node_rows), np.zeros(n_edge_rows, np.int64))
    counts = []
    for grid, n, first in ((task.nodes, n_node_rows, 0), (task.edges, n_edge_rows, 1)):
        count = np.zeros(n, np.int32)
        _count_grid(grid.row, grid.lo, grid.width, task.left, task.anchor, task.token, first, count)
        counts.append(count)
    return RowMap(*counts)


# --------------------------------------------------------------------------------------------------
# Templates
# --------------------------------------------------------------------------------------------------
def unite(encoders, counts, min_count):
    """The encoder that has read all shards, and the new rows of each.

    Parameters
    ----------
    encoders : list of TemplateEncoder or BagEncoder
        Without count cut-off; of one kind.
    counts : list of RowMap, or None
        Occurrences by row, needed if ``min_count`` is above 1.
    min_count : int

    Returns
    -------
    encoder : TemplateEncoder or BagEncoder
    maps : list of RowMap

    Raises
    ------
    ValueError
        If the shards' tokens are of different kinds, or templates look at a text as a whole.
    """
    for s, encoder in enumerate(encoders):
        same = type(encoder) is type(encoders[0])
        if same and isinstance(encoder, TemplateEncoder):
            same = (encoder.kind, encoder.templates) == (encoders[0].kind, encoders[0].templates)
        if not same:
            raise ValueError(f"shard {s}: its tokens are not of the kind of those of shard 0")
    if isinstance(encoders[0], BagEncoder):
        return _unite_bags(encoders, counts, min_count)
    return _unite_templates(encoders, counts, min_count)


def _unite_templates(encoders, counts, min_count):
    first = encoders[0]
    plan = first.plan
    if first.contexts.longest and len(encoders) > 1:
        raise ValueError(
            "the templates read accessor varieties, which are statistics of a whole text: they cannot be "
            "counted shard by shard"
        )
    out = TemplateEncoder(first.templates, min_count)
    out.kind, out.contexts = first.kind, first.contexts.copy()
    if any(encoder.contexts.characters != first.contexts.characters for encoder in encoders):
        raise ValueError("lexicons: some shards consist of characters and others of words")
    ids = [[] for _ in encoders]  # by shard and column: the id of each string
    for c in range(plan.n_columns):
        for mine, encoder in zip(ids, encoders):
            new, out.alphabets[c] = out.alphabets[c].interned(encoder.alphabets[c].strings())
            mine.append(new)
    channels = [_channel_maps(out, encoders, ids, channel) for channel in plan.channels]
    sides = [
        _unite_side(out, side, [getattr(e, side) for e in encoders], encoders, channels, counts)
        for side in ("nodes", "edges")
    ]
    return out, [RowMap(*maps) for maps in zip(*sides)]


def _channel_maps(out, encoders, ids, channel):
    """By shard, what the ids of a channel have become, boundaries included."""
    name, c = channel
    boundaries = out.plan.left + out.plan.right
    if name == "const":
        return [np.zeros(1, np.int32) for _ in encoders]
    if name == "x":
        maps = [mine[c] for mine in ids]
    elif channel in out.derived:
        values, of_string = out.derived[channel]
        function = column_function(name)
        fresh, values = values.interned([function(s) for s in out.alphabets[c].strings()])
        out.derived[channel] = values, np.concatenate([of_string, fresh])
        maps = [values.lookup(encoder.derived[channel][0].strings()) for encoder in encoders]
    else:  # a function of the context: its values are known in advance
        maps = [np.arange(len(out.strings_of(channel)), dtype=np.int32) for _ in encoders]
    head = np.arange(boundaries, dtype=np.int32)
    return [np.concatenate([head, mine + np.int32(boundaries)]) for mine in maps]


def _pairs(encoder):
    """By compound number, the (left, right) of each node in order; (n, 2) int32."""
    used = encoder.table[encoder.table[:, 1] != EMPTY]
    compound, node = used[:, 1] >> 32, used[:, 1] & _LOW
    order = np.lexsort((node, compound))
    numbers, begin = np.unique(compound[order], return_index=True)
    keys = used[order, 0]
    pairs = np.stack([keys >> 32, keys & _LOW], axis=1).astype(np.int32)
    return dict(zip(numbers.tolist(), np.split(pairs, begin[1:])))


def _unite_side(out, name, sides, encoders, channels, counts):
    """Fill one side of the united encoder; the row map of each shard."""
    side = getattr(out, name)
    pairs = [_pairs(encoder) for encoder in encoders]
    none, span = np.zeros((0, 2), np.int32), np.zeros(2, np.int64)
    nodes = []  # by compound and shard: the node that each node has become
    for c, compound in enumerate(side.compounds):
        right = channels[compound.channel]
        if compound.prefix < 0:
            side.n_nodes[c] = out._n_values(compound.channel)
            nodes.append(right)
            continue
        number, n_nodes, maps = side.offset + c, np.zeros(1, np.int64), []
        for s, mine in enumerate(pairs):
            pair = mine.get(number, none)
            maps.append(np.empty(pair.shape[0], np.int32))
            if not pair.shape[0]:
                continue
            out.table = intern_pairs(
                out.table, out.entries, number, nodes[compound.prefix][s][pair[:, 0]], right[s][pair[:, 1]],
                0, span, np.array([0, pair.shape[0]]), maps[-1], n_nodes,
            )  # fmt: skip
        side.n_nodes[c] = int(n_nodes[0])
        nodes.append(maps)
    out_maps = [np.zeros(mine.n_rows, np.int32) for mine in sides]  # row 0 of the transitions stays
    for c, compound in enumerate(side.compounds):
        width = len(compound.slots)
        if out.min_count > 1 and width:
            side.counts[c] = np.zeros((side.n_nodes[c], width), np.int32)
            for s, mine in enumerate(sides):
                count = np.asarray(getattr(counts[s], name))
                rows = mine.row_of[c][:-1][:, None] + np.arange(width)
                side.counts[c][nodes[c][s]] += count[rows]  # a node becomes one node: no repeats
        side.assign_rows(c, out.min_count)
        for s, mine in enumerate(sides):
            if width:
                old, new = mine.row_of[c][:-1], side.row_of[c][nodes[c][s]]
                for slot in range(width):
                    out_maps[s][old + slot] = np.where(new < 0, -1, new + slot)
    return out_maps


# --------------------------------------------------------------------------------------------------
# Ready-made features
# --------------------------------------------------------------------------------------------------
def _unite_bags(encoders, counts, min_count):
    out, features = BagEncoder(min_count), []
    for encoder in encoders:
        ids = out.ids
        mine = np.fromiter(
            (ids.setdefault(name, len(ids)) for name in encoder.ids), np.int64, len(encoder.ids)
        )
        features.append(mine)
        for key, values in encoder._pairs.items():
            known = out._pairs.setdefault(key, {})
            for value, pair in values.items():
                numeric = not isinstance(value, (str, bool))
                if value in known or (numeric and out._n_numbers >= MOST_NUMBERS):
                    continue
                out._n_numbers += numeric
                known[value] = len(out._pair_feature)
                feature = encoder._pair_feature[pair]
                out._pair_feature.append(int(mine[feature]) if feature >= 0 else -1)
                out._pair_value.append(encoder._pair_value[pair])
    if min_count > 1:
        out.counts = np.zeros(len(out.ids), np.int64)
        for encoder, mine, count in zip(encoders, features, counts):
            out.counts[mine] += count.nodes[encoder.row_of[:-1]]
    out._assign_rows(np.zeros(0, np.int32))
    out._tables()
    maps = []
    for encoder, mine in zip(encoders, features):
        rows = np.empty(encoder.n_rows, np.int32)
        rows[encoder.row_of[:-1]] = out.row_of[mine]
        maps.append(RowMap(rows, np.zeros(1, np.int32)))
    return out, maps


def unite_atoms(encoders):
    """The same for a parser's atoms: the encoder, and by shard and attribute the new id of each string."""
    out = type(encoders[0])(encoders[0].attributes)
    maps = [[] for _ in encoders]
    for k in range(len(out.attributes)):
        for mine, encoder in zip(maps, encoders):
            new, out.alphabets[k] = out.alphabets[k].interned(encoder.alphabets[k].strings())
            mine.append(new)
    return out, maps
