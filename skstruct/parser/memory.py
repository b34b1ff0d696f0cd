"""What a search has found before in the same sentence, so that it need not be looked up again.

States of a beam are alike: most of what their features, and the labels of their arcs, depend on was met in
other states of the same sentence. Weights and noise do not change while a sentence is searched.
"""

from typing import NamedTuple

import numpy as np

from ..core.compile import inline
from ..core.hashing import mix64


class Memory(NamedTuple):
    """What was found for rows of the sentence at hand, by their fields; of two in one slot the later one."""

    key: np.ndarray  # (slots, fields) int32
    value: np.ndarray  # (slots, numbers) float64
    stamp: np.ndarray  # (slots,) int64: the sentence
    now: np.ndarray  # (1,) int64: the one at hand


def new_memory(slots, fields, numbers):
    """A memory of nothing; ``slots`` is a power of two."""
    return Memory(
        np.zeros((slots, fields), np.int32), np.zeros((slots, numbers)), np.zeros(slots, np.int64),
        np.ones(1, np.int64),
    )  # fmt: skip


@inline
def recall(memory, fields):
    """(slot, whether it holds what was found for these fields); if not, the slot is made theirs."""
    h = np.uint64(0)
    for f in range(fields.shape[0]):
        h = h * np.uint64(0x9E3779B97F4A7C15) + np.uint64(fields[f])
    s = np.int64(mix64(h)) & (memory.stamp.shape[0] - 1)
    known = memory.stamp[s] == memory.now[0]
    f = 0
    while known and f < fields.shape[0]:
        known = memory.key[s, f] == fields[f]
        f += 1
    if not known:
        memory.stamp[s] = memory.now[0]
        for f in range(fields.shape[0]):
            memory.key[s, f] = fields[f]
    return s, known
