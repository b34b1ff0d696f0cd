"""The features that make up the score of one segmentation."""

import numpy as np

from ..core.codes import INSIDE, START, ZC14
from ..core.compile import inline, kernel
from ..core.hashing import find
from .features import (
    CONTEXT,
    N_NUMBERS,
    PAD,
    PAIR,
    ROWS_EACH,
    extended,
    list_context,
    list_pair,
    list_state,
    list_words,
    load,
    previous,
)


@inline
def _note(model, keys, begin, end, decision, out, n, i, column):
    """Note the known features of the numbers ``begin <= k < end``; returns how many there are now."""
    for k in range(begin, end):
        if keys[k, 0] >= 0:
            row = find(model.features.table, np.int64(4 * k + decision), keys[k, 0], keys[k, 1])
            if row >= 0:
                out[n, 0], out[n, 1], out[n, 2] = i, row, column
                n += 1
    return n


@kernel
def list_parts(char, path, model, noise, c, hidden, keys, out):
    """The features of the decisions of ``path`` (n + 1,), of which the first and the last are START.

    Writes rows (i, row, column) of ``out``, where i is the decision, and returns how many there are. The
    scratch is that of ``search.SegmentWork``.
    """
    n = char.shape[0]
    words, table, zero, m = model.templates == ZC14, model.features.table, np.int64(0), 0
    load(char, n, zero, noise, c, hidden)
    word, node, node_before, length_before = 0, np.int64(0), np.int64(0), 0
    for i in range(1, n + 1):
        decision = zero + path[i]
        length = i - word
        node = extended(table, node, c[PAD + i - 1])
        if words and decision == INSIDE:
            list_pair(c, hidden, i, keys)
            m = _note(model, keys, zero + PAIR, zero + PAIR + 1, zero, out, m, i, zero)
        else:
            column = zero
            if words:
                list_words(c, hidden, i, length, length_before, node, node_before, keys)
                m = _note(model, keys, zero + 1, zero + N_NUMBERS, zero, out, m, i, column)
            else:
                column = decision
                list_context(c, hidden, i, keys)
                list_state(c, hidden, i, length, length_before, node, node_before, keys)
                b = zero + previous(length, length_before)[0]
                m = _note(model, keys, zero + CONTEXT - 1, zero + N_NUMBERS, zero, out, m, i, column)
                m = _note(model, keys, zero + 1, zero + CONTEXT - 1, b, out, m, i, column)
            if node > 0:
                out[m, 0], out[m, 1], out[m, 2] = i, node - 1, column
                m += 1
        if decision == START:
            node_before, length_before = node, length
            word, node = i, zero
    return m


def parts_of(model, task, path, noise, work):
    """(decision, row, column) arrays of the known features of one segmentation of the only text of a task."""
    out = np.empty((ROWS_EACH * (task.char.shape[0] + 1), 3), np.int64)
    n = list_parts(task.char, path, model, noise, work.char, work.hidden, work.keys, out)
    return out[:n].T
