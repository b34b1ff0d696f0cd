"""One encoder from those of several shards.

Strings and combinations of ids are numbered in the order of the shards, and within a shard in the
order in which it met them. That is the order in which a single encoder meets them that reads one shard
after the other, so the merged encoder is that one, row for row. Nothing but ids has to be looked at again:
each shard gets an array that says which row its rows have become. The encoders of shards have no count
cut-off: whether a feature is frequent enough is known only when all have been counted.
"""

import numpy as np

from ..core.interning import intern_pairs, pairs_of
from .columns import column_function
from .encoded import RowMap


def merge_encoders(encoders, counts, min_count):
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
    first = encoders[0]
    for s, encoder in enumerate(encoders):
        if (encoder.token_type, encoder.templates) != (first.token_type, first.templates):
            raise ValueError(f"shard {s}: its tokens are not of the kind of those of shard 0")
    return first.merged(encoders, counts, min_count)


def merge_templates(out, encoders, counts):
    """Let a new template encoder know all that others do; the new rows of each of these."""
    first, plan = encoders[0], out.plan
    if first.contexts.longest and len(encoders) > 1:
        raise ValueError(
            "the templates read accessor varieties, which are statistics of a whole text: they cannot be "
            "counted shard by shard"
        )
    out.token_type, out.contexts = first.token_type, first.contexts.copy()
    if any(encoder.contexts.characters != first.contexts.characters for encoder in encoders):
        raise ValueError("lexicons: some shards consist of characters and others of words")
    ids = [[] for _ in encoders]  # by shard and column: the id of each string
    for c in range(plan.n_columns):
        for mine, encoder in zip(ids, encoders):
            new, out.alphabets[c] = out.alphabets[c].interned(encoder.alphabets[c].strings())
            mine.append(new)
    channels = [_channel_maps(out, encoders, ids, channel) for channel in plan.channels]
    sides = [
        _merge_side(out, side, [getattr(e, side) for e in encoders], encoders, channels, counts)
        for side in ("nodes", "edges")
    ]
    return [RowMap(*maps) for maps in zip(*sides)]


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


def _merge_side(out, name, sides, encoders, channels, counts):
    """Fill one side of the merged encoder; the row map of each shard."""
    side = getattr(out, name)
    span, nodes = np.zeros(2, np.int64), []  # by compound and shard: the node that each node has become
    for c, compound in enumerate(side.compounds):
        right = channels[compound.channel]
        if compound.prefix < 0:
            side.n_nodes[c] = out._n_values(compound.channel)
            nodes.append(right)
            continue
        number, n_nodes, maps = side.offset + c, np.zeros(1, np.int64), []
        for s, encoder in enumerate(encoders):
            pair = pairs_of(encoder.table, number)
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
