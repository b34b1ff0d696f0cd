"""One encoder from those of several shards, and what their rows of weights become."""

import copy

import numpy as np

from ..core.hashing import intern_pairs, pairs_of
from .encoded import RowMap
from .tokens import Alphabet


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
        kinds = [(type(each), each.token_type, each.templates) for each in (encoder, first)]
        if len({getattr(each.templates, "words", None) for each in (encoder, first)}) > 1:
            raise ValueError(
                f"shard {s}: its words are not those of shard 0; learn them before: words.table()"
            )
        if kinds[0] != kinds[1]:
            raise ValueError(f"shard {s}: its tokens are not of the kind of those of shard 0")
        first.reads.check_titles(encoder.reads.titles, f"shard {s}", "in shard 0")
    united, maps = first.merged(encoders, counts, min_count)
    if united.reads.titles != first.reads.titles:
        united.reads = first.reads
    return united, maps


def merge_templates(out, encoders, counts):
    """Let a new template encoder know all that others do; the new rows of each of these."""
    first, plan = encoders[0], out.plan
    if first.contexts.longest and len(encoders) > 1:
        raise ValueError(
            "the templates read accessor varieties, which are statistics of a whole text: they cannot be "
            "counted shard by shard"
        )
    out.token_type, out.contexts = first.token_type, copy.copy(first.contexts)
    if any(encoder.contexts.characters != first.contexts.characters for encoder in encoders):
        raise ValueError("lexicons: some shards consist of characters and others of words")
    for c in range(plan.n_columns):
        for encoder in encoders:
            _, out.alphabets[c] = out.alphabets[c].interned(encoder.alphabets[c].strings())
    for channel in out.derived:
        out.derive(channel)
    channels = [_channel_maps(out, encoders, channel) for channel in plan.channels]
    sides = [
        _merge_side(out, side, [getattr(e, side) for e in encoders], encoders, channels, counts)
        for side in ("nodes", "edges")
    ]
    return [RowMap(*maps) for maps in zip(*sides)]


def _channel_maps(out, encoders, channel):
    """By shard, what the ids of a channel have become, boundaries included."""
    if channel[0] == "const":
        return [np.zeros(1, np.int32) for _ in encoders]
    outside = np.arange(out.plan.left + out.plan.right, dtype=np.int32)
    values, n = Alphabet(out.values_of(channel)), np.int32(outside.shape[0])
    return [np.append(outside, values.lookup(list(e.values_of(channel))) + n) for e in encoders]


def _merge_side(out, name, sides, encoders, channels, counts):
    """Fill one side of the merged encoder; the row map of each shard."""
    side = getattr(out, name)
    span, nodes = np.zeros(2, np.int64), []  # by compound and shard: the node that each node has become
    for c, compound in enumerate(side.compounds):
        right = channels[compound.channel]
        if compound.prefix < 0:
            side.n_nodes[c] = out.n_values(compound.channel)
            nodes.append(right)
            continue
        number, n_nodes, maps = side.offset + c, np.zeros(1, np.int64), []
        for s, encoder in enumerate(encoders):
            pair = pairs_of(encoder.table, number)
            maps.append(np.empty(pair.shape[0], np.int32))
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
            for mine, became, count in zip(sides, nodes[c], counts):
                rows = mine.row_of[c][:-1, None] + np.arange(width)
                side.counts[c][became] += np.asarray(getattr(count, name))[rows]  # no repeats
        side.assign_rows(c, out.min_count)
        for mine, became, rows in zip(sides, nodes[c], out_maps):
            old, new = mine.row_of[c][:-1, None], side.row_of[c][became][:, None]
            rows[old + np.arange(width)] = np.where(new < 0, -1, new + np.arange(width))
    return out_maps
