"""A cache of partial scores within a sentence.

States of a beam are alike: most of what their features, and the labels of their arcs, depend on was met in
other states of the same sentence. Weights and noise do not change while a sentence is searched.
"""

from typing import NamedTuple

import numpy as np

from ..core.compile import spliced
from ..core.hashing import mix64


class Memory(NamedTuple):
    """What was computed in this sentence, by fields of rows; where two share a slot the later one stays."""

    key: np.ndarray  # (slots, fields) int32
    value: np.ndarray  # (slots + 1, numbers) float64; the last one is for what is not remembered
    stamp: np.ndarray  # (slots,) int64: the sentence, and the kind of row
    now: np.ndarray  # (1,) int64: that of the sentence at hand


KINDS = 64
"""The most kinds of rows in one memory."""


def new_memory(slots, fields, numbers):
    """An empty cache; ``slots`` is a power of two."""
    return Memory(
        np.zeros((slots, fields), np.int32), np.zeros((slots + 1, numbers)), np.zeros(slots, np.int64),
        np.full(1, KINDS),
    )  # fmt: skip


@spliced
def recall(memory, by, kind, row):
    """(slot, whether it holds the result for these fields of a row); if not, the slot is reserved for it.

    Parameters
    ----------
    memory : Memory
    by : (kinds, F) int32
        The fields of each kind, -1 behind the last one; with none, nothing is remembered.
    kind : int
    row : int32 array
    """
    if by[kind, 0] < 0:
        return memory.stamp.shape[0], False
    stamp = memory.now[0] + kind
    h, F = np.uint64(kind), 0
    while F < by.shape[1] and by[kind, F] >= 0:
        h = h * np.uint64(0x9E3779B97F4A7C15) + np.uint64(row[by[kind, F]])
        F += 1
    s = np.int64(mix64(h)) & (memory.stamp.shape[0] - 1)
    known = memory.stamp[s] == stamp
    f = 0
    while known and f < F:
        known = memory.key[s, f] == row[by[kind, f]]
        f += 1
    if not known:
        memory.stamp[s] = stamp
        for f in range(F):
            memory.key[s, f] = row[by[kind, f]]
    return s, known
