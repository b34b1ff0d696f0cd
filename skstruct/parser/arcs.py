"""The parts that make up the score of a tree, word by word, from Python.

A word is read by SHIFT; a reduction makes its arc, the root's none. Actions are scored in the state before
them; so are labels, if they are part of the search. A given tree is built in the canonical way (left children
first), from which parsers learn; the search may go another way to the same tree.
"""

from typing import NamedTuple

import numpy as np

from ..core.compile import kernel
from ..core.noise import QUIET
from ..data.inputs import check_X_y
from ..data.labels import encode_labels
from .arc_labels import describe_arc, describe_reduction, describe_root, know_labels, look_around
from .dependency_trees import LEFT, RIGHT, SHIFT, actions_of, check_trees, heads_alone, lift, split_arcs
from .parser_beam import new_work
from .paths import retrace
from .pseudo import marked_trees
from .state_features import FIRST_WORD, load
from .state_features import look_up as find_features
from .state_templates import S0, S1, H, J


class Arc(NamedTuple):
    """An arc, and the rows of the features that speak for it and for reading its word."""

    word: int  # 1-based
    head: int  # 0 at the root
    label: int  # -1 without labels, and where the model has yet to choose
    action: int  # of the root RIGHT with a root step, else SHIFT: no action makes it
    shift_rows: np.ndarray  # features of the state before the word is read
    rows: np.ndarray  # features of the state before the action
    label_rows: np.ndarray  # features of the arc


@kernel
def look_up(path, head, label, task, model, noise, work, rows, label_rows, word):
    """The rows of the features of each action and of the label of its arc, -1 for unknown ones.

    ``label`` (n,) int32 is by word; where it is -1, a label of the search is chosen, and written. ``rows``
    and ``label_rows`` have a line for each action, and a last one for the root; ``word`` (2 n,) int32 is what
    is read or gets its head there, 0-based.
    """
    n = head.shape[0]
    load(task.atoms, task.n_forms, np.int64(0), n, model.clock.step[0], noise, work.value)
    states, look = work.replay[0], work.look
    if model.joint:
        know_labels(path, head, label, n, model, None, work)
    else:
        retrace(path, work.gold_label, 2 * n - 1, False, model.symbol, model.tracked, work.stack, states)
        look_around(head, n, work.around)
    labelled = model.arc_features.weights.columns > 0
    for k in range(2 * n):
        row, action, last = states[k], np.int64(path[k]), k == 2 * n - 1
        field = S0 + H if last else J if action == SHIFT else (S1 if action == LEFT else S0) + H
        w = np.int64(row[field]) - FIRST_WORD
        word[k] = w
        if not last or model.root_step:
            find_features(model.templates, model.state_features.table, row, work.value, look)
            for j in range(rows.shape[1]):
                rows[k, j] = look.entry[j]
        if not labelled or (action == SHIFT and not last):
            continue
        if not model.joint:
            describe_arc(w + 1, head, work.around, work.arc)
        elif last:
            describe_root(row, work.arc)
        else:
            describe_reduction(action, row, work.arc)
            label[w] = work.gold_label[k]
        find_features(model.arcs, model.arc_features.table, work.arc, work.value, look)
        for j in range(label_rows.shape[1]):
            label_rows[k, j] = look.entry[j]


def arcs_of(model, task, path, heads, labels):
    """The arcs of a projective tree, in the order of their words.

    Parameters
    ----------
    model : ParseModel
    task : ParseTask
        Of one sentence.
    path : list of int
        The actions that build it, without a root step.
    heads, labels : lists of int
        1-based heads, 0 at the root; labels are -1 without any.
    """
    n = len(heads)
    path = np.array([*path, RIGHT if model.root_step else SHIFT], np.int8)
    word = np.zeros(2 * n, np.int32)
    rows = np.full((2 * n, model.templates.slot.shape[0]), -1, np.int64)
    label_rows = np.full((2 * n, model.arcs.slot.shape[0]), -1, np.int64)
    head, label = np.array([heads, labels], np.int32)
    look_up(
        path, head, label, task, model, QUIET, new_work(task, model, training=False), rows, label_rows, word
    )
    actions, words = path[:-1].tolist(), word.tolist()
    read = {w: k for k, (w, action) in enumerate(zip(words, actions)) if action == SHIFT}
    made = {w: k for k, w in enumerate(words) if k not in read.values()}
    found = []
    for w, k in sorted(made.items()):
        parts = (part[part >= 0] for part in (rows[read[w]], rows[k], label_rows[k]))
        found.append(Arc(w + 1, heads[w], int(label[w]), int(path[k]), *parts))
    return found


def given_tree(model, sentence, tree):
    """(heads, labels) of a given tree as the :class:`.model.ParserModel` knows it, -1 for labels of None.

    Raises
    ------
    ValueError
        If it is no tree of these words, no parser builds it, or a label is unknown.
    """
    _, y, token = check_X_y([sentence], [tree], ("sequence", "labels"))
    labels = np.full(len(tree), -1, np.int32)
    heads, names = split_arcs(y) if len(model.labels) else (heads_alone(y), None)
    flat = check_trees(heads)
    heads = lift(heads[0]) if model.pseudo else heads[0]
    if actions_of(heads) is None:
        raise ValueError("labels: the tree is not projective, and this parser builds no such trees")
    if model.pseudo:
        names = marked_trees(names, flat, np.array(heads), token)
    if names is not None:
        labels, _ = encode_labels(names, token, model.labels, grow=False)
    return heads, labels.tolist()
