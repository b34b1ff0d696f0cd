"""The features that make up the score of one segmentation."""

import numpy as np

from ..core.codes import START
from ..core.compile import kernel
from ..core.hashing import grown
from ..core.noise import QUIET
from ..core.rules import clear
from .word_epoch import emit_decision
from .word_features import ROWS_EACH, load


@kernel
def list_features(char, path, model, noise, work, out):
    """The features of the decisions of ``path`` (n + 1,), of which the first and the last are START.

    Writes rows (i, row, column) of ``out``, where i is the decision, and returns how many there are. New
    features are numbered.
    """
    n, m, zero = char.shape[0], 0, np.int64(0)
    load(char, n, zero, noise, work.char, work.hidden)
    word = last = zero
    for i in range(1, n + 1):
        decision = zero + path[i]
        emit_decision(model, None, work, last, word, zero + i, decision, 1.0)
        for entry in range(work.difference.size[0]):
            out[m, 0], out[m, 1], out[m, 2] = i, work.difference.row[entry], work.difference.column[entry]
            m += 1
        clear(work.difference)
        if decision == START:
            last, word = word, i
    return m


def features_of_path(model, task, path, work):
    """(decision, row, column) arrays of the known features of one segmentation of the only text of a task."""
    n, features = task.char.shape[0], model.features
    known = int(features.entries[0])
    out = np.empty((ROWS_EACH * (n + 1), 3), np.int64)
    table = grown(features.table.copy(), known + out.shape[0] + n)  # a prefix of a word at each character
    model = model._replace(features=features._replace(table=table, entries=features.entries.copy()))
    out = out[: list_features(task.char, path, model, QUIET, work, out)]
    return out[out[:, 1] < known].T
