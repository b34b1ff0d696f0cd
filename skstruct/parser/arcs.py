"""The parts that make up the score of each arc of a tree, from Python.

An arc is made by a reduction. Its score is that of the reduction in the state before it, with that of its
label if labels are part of the search. The states are those of the canonical way to build the tree (left children
first), from which parsers learn; the search may have gone another way to the same tree.
"""

from typing import NamedTuple

import numpy as np

from ..core.noise import QUIET
from .features import find_rows, list_keys, load
from .labels import describe_arc, describe_reduction, describe_root, look_around
from .paths import retrace
from .search import new_work
from .trees import LEFT, SHIFT, actions_of


class Arc(NamedTuple):
    """An arc, and the rows of the features that speak for it."""

    word: int  # 1-based
    head: int  # 0 at the root
    label: int  # -1 without labels
    action: int  # SHIFT for the root, which no action makes
    rows: np.ndarray  # features of the state before the action
    label_rows: np.ndarray  # features of the arc


def arcs_of(model, task, heads, labels):
    """The arcs of a projective tree, in the order of their words.

    Parameters
    ----------
    model : ParseModel
    task : ParseTask
        Of one sentence.
    heads, labels : lists of int
        1-based heads, 0 at the root; labels are -1 without any.
    """
    n, work = len(heads), new_work(task, model, training=False)
    load(task.atoms, task.n_forms, 0, n, 0, QUIET, work.value)
    path = np.array(actions_of(heads), np.int8)
    chosen, stack, made = np.zeros(2 * n, np.int32), [], []
    read = 0
    for k, action in enumerate(path.tolist()):
        if action == SHIFT:
            read += 1
            stack.append(read)
        else:
            word = stack.pop(-2 if action == LEFT else -1)
            chosen[k] = labels[word - 1]
            made.append((word, k, action))
    retrace(path, chosen, 2 * n - 1, model, work.stack, work.replay[0])
    made.append((stack[0], 2 * n - 1, SHIFT))
    look_around(np.array(heads, np.int32), n, work.around)
    arcs = []
    for word, k, action in sorted(made):
        row, none = work.replay[0, k], np.zeros(0, np.int64)
        rows = _rows(model.templates, model.state_features, row, work.value, work.look) if action else none
        label_rows = none
        if labels[word - 1] >= 0:
            if not model.joint:
                describe_arc(word, np.array(heads, np.int32), work.around, work.arc)
            elif action == SHIFT:
                describe_root(row, work.arc)
            else:
                describe_reduction(action, row, work.arc)
            label_rows = _rows(model.arcs, model.arc_features, work.arc, work.value, work.look_arc)
        arcs.append(Arc(word, heads[word - 1], labels[word - 1], action, rows, label_rows))
    return arcs


def _rows(templates, features, row, value, look):
    """The rows of the known features of a state or an arc."""
    K = templates.slot.shape[0]
    list_keys(templates, 0, K, row, value, look)
    find_rows(features.table, 0, K, look)
    return look.entry[look.entry >= 0].copy()
