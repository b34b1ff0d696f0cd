"""The parts that make up the score of each arc of a tree, from Python.

An arc is made by a reduction. Its score is that of the reduction in the state before it, with that of its
label if labels are part of the search. The states are those of the canonical way to build the tree (left
children first), from which parsers learn; the search may have gone another way to the same tree.
"""

from typing import NamedTuple

import numpy as np

from ..core.compile import kernel
from ..core.noise import QUIET
from .features import load
from .features import look_up as find_features
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


@kernel
def look_up(task, path, chosen, word, head, model, noise, work, rows, label_rows):
    """The rows of the features of each arc, -1 for unknown ones: ``rows`` and ``label_rows``, a line a word.

    ``word`` (2 n,) int32 is the dependent of each action, 1-based, and behind them the root; 0 of SHIFT.
    """
    n = head.shape[0]
    load(task.atoms, task.n_forms, np.int64(0), n, model.clock.step[0], noise, work.value)
    retrace(path, chosen, 2 * n - 1, model.joint, model.symbol, model.tracked, work.stack, work.replay[0])
    look_around(head, n, work.around)
    for k in range(2 * n):
        w = np.int64(word[k])
        if w == 0:
            continue
        row = work.replay[0, k]
        if path[k] != SHIFT:
            K, look = rows.shape[1], work.look
            find_features(model.templates, model.state_features.table, row, work.value, look)
            for j in range(K):
                rows[w - 1, j] = look.entry[j]
        if model.arc_features.weights.columns > 0:
            if not model.joint:
                describe_arc(w, head, work.around, work.arc)
            elif path[k] == SHIFT:
                describe_root(row, work.arc)
            else:
                describe_reduction(np.int64(path[k]), row, work.arc)
            K, look = label_rows.shape[1], work.look
            find_features(model.arcs, model.arc_features.table, work.arc, work.value, look)
            for j in range(K):
                label_rows[w - 1, j] = look.entry[j]


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
    n = len(heads)
    path, word = np.array([*actions_of(heads), SHIFT], np.int8), np.zeros(2 * n, np.int32)
    chosen, stack, read = np.zeros(2 * n, np.int32), [], 0
    for k, action in enumerate(path[:-1].tolist()):
        if action == SHIFT:
            read += 1
            stack.append(read)
        else:
            word[k] = stack.pop(-2 if action == LEFT else -1)
            chosen[k] = labels[word[k] - 1]
    word[-1] = stack[0]
    rows = np.full((n, model.templates.slot.shape[0]), -1, np.int64)
    label_rows = np.full((n, model.arcs.slot.shape[0]), -1, np.int64)
    head, work = np.array(heads, np.int32), new_work(task, model, training=False)
    look_up(task, path, chosen, word, head, model, QUIET, work, rows, label_rows)
    action_of = dict(zip(word.tolist(), path.tolist()))
    known = [(a[a >= 0], b[b >= 0]) for a, b in zip(rows, label_rows)]
    return [Arc(k + 1, heads[k], labels[k], action_of[k + 1], *known[k]) for k in range(n)]
