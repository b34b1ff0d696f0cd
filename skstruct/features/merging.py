"""One encoder from those of several shards, and what their rows of weights become."""

import copy

import numpy as np

from ..core.hashing import pairs_of
from .encoded import RowMap
from .tokens import Alphabet


def merge_encoders(encoders, counts, min_count):
    """The encoder that has read all shards, and the new rows of each.

    Parameters
    ----------
    encoders : list of TemplateEncoder or BagEncoder
        Without count cut-off; of one kind.
    counts : list of RowMap or None
        Occurrences by row of each, needed if ``min_count`` is above 1.
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
            raise ValueError(f"shard {s}: words= are not those of shard 0: learn them before, words.table()")
        if kinds[0] != kinds[1]:
            raise ValueError(f"shard {s}: its tokens are not of the kind of those of shard 0")
        first.reads.check_titles(encoder.reads.titles, f"shard {s}", "in shard 0")
    return first.merged(encoders, counts, min_count)


def merge_templates(out, encoders, counts):
    """Let a new template encoder know all that others do; the new rows of each of these."""
    first, plan = encoders[0], out.plan
    if first.contexts.longest and len(encoders) > 1:
        raise ValueError("accessor varieties are statistics of a whole text: shards cannot count them")
    out.token_type, out.contexts = first.token_type, copy.copy(first.contexts)
    if any(encoder.contexts.characters != first.contexts.characters for encoder in encoders):
        raise ValueError("lexicons: some shards consist of characters and others of words")
    for c in range(plan.n_columns):
        for encoder in encoders:
            _, out.alphabets[c] = out.alphabets[c].interned(encoder.alphabets[c].strings())
    for channel in out.derived:
        out.derive(channel)
    channels = [_channel_maps(out, encoders, channel) for channel in plan.channels]
    sides = [_merge_side(out, name, encoders, channels, counts) for name in ("nodes", "edges")]
    return [RowMap(*maps) for maps in zip(*sides)]


def _channel_maps(out, encoders, channel):
    """By shard, what the ids of a channel have become, boundaries included."""
    if channel[0] == "const":
        return [np.zeros(1, np.int32) for _ in encoders]
    outside = np.arange(out.plan.left + out.plan.right, dtype=np.int32)
    values, n = Alphabet(out.values_of(channel)), np.int32(outside.shape[0])
    return [np.append(outside, values.lookup(list(e.values_of(channel))) + n) for e in encoders]


def _merge_side(out, name, encoders, channels, counts):
    """Fill one side of the merged encoder; the row map of each shard."""
    side, sides = getattr(out, name), [getattr(encoder, name) for encoder in encoders]
    maps = [np.zeros(mine.n_rows, np.int32) for mine in sides]  # row 0 of the transitions stays
    nodes = []  # by compound and shard: the node that each node has become
    for c, compound in enumerate(side.compounds):
        last = channels[compound.channel]
        if compound.prefix < 0:
            side.n_nodes[c] = out.n_values(compound.channel)
            nodes.append(last)
        else:
            nodes.append([])
            for encoder, left, right in zip(encoders, nodes[compound.prefix], last):
                pair = pairs_of(encoder.table, side.offset + c)
                places = np.array([0, pair.shape[0]])
                nodes[c].append(out.intern(side, c, left[pair[:, 0]], right[pair[:, 1]], places))
        slots = np.arange(len(compound.slots))
        rows = [mine.row_of[c][:-1, None] + slots for mine in sides]
        if out.min_count > 1 and slots.size:
            side.counts[c] = np.zeros((side.n_nodes[c], slots.size), np.int32)
            for old, became, count in zip(rows, nodes[c], counts):
                side.counts[c][became] += np.asarray(getattr(count, name))[old]  # no repeats
        side.assign_rows(c, out.min_count)
        for old, became, new_of in zip(rows, nodes[c], maps):
            new = side.row_of[c][became][:, None]
            new_of[old] = np.where(new < 0, -1, new + slots)
    return maps
