"""The states of alphabets and of indices of features."""

import numpy as np

from ..saving.values import require, within
from .alphabet import Alphabet

MOST_ROWS = 2**31
"""Of weights."""


def alphabet_from_state(node, reader, where):
    """Distinct strings."""
    strings = reader.strings(node, where)
    alphabet = Alphabet(strings)
    require(len(alphabet) == len(strings), f"{where}: a string occurs twice")
    return alphabet


def index_state(index, writer, name, cut):
    """The JSON of a :class:`.feature_index.FeatureIndex`; ``cut``: whether there is a count cut-off."""
    state = {
        "names": writer.strings(f"{name}.names", list(index.ids)),
        "row": writer.array(f"{name}.row", index.row_of[:-1]),
        "n_rows": int(index.n_rows),
    }
    if cut:
        state["count"] = writer.array(f"{name}.count", index.counts)
    return state


def fill_index(index, node, reader, where, cut):
    """Let an empty index be that of a file."""
    names, row, n_rows = reader.members(node, where, "names row n_rows")
    index.ids = alphabet_from_state(names, reader, f"{where}.names").ids
    n = len(index.ids)
    index.n_rows = reader.integer(n_rows, f"{where}.n_rows", index.first_row, MOST_ROWS)
    row = reader.array(row, f"{where}.row", np.int32, (n,))
    ok = within(row, -1, index.n_rows) and within(row[row >= 0], index.first_row, index.n_rows)
    require(ok, f"{where}.row is out of range")
    index.row_of = np.append(row, np.int32(-1))
    if cut:
        (count,) = reader.members(node, where, "count")
        index.counts = reader.array(count, f"{where}.count", np.int64, (n,))
        require(within(index.counts, 0, 2**62), f"{where}.count is out of range")
