"""Labels for the arcs of a tree.

If templates of states read labels, the search (:mod:`.parser_beam`) chooses the label of an arc when a
reduction makes it, and knows of the tree what is built by then. Else it builds a tree without labels; then
every arc gets the label that scores best, given the whole tree: head, siblings, children, neighbours. (There
labels of the head and of the sibling on the left as features, chosen from the root downwards, made nothing
better on UD EWT.)
"""

from typing import NamedTuple

import numpy as np

from ..core.compile import inline, kernel, spliced
from ..core.noise import QUIET
from ..data.inputs import check_X_y
from ..data.labels import encode_labels
from .dependency_trees import LEFT, RIGHT, SHIFT, check_trees, encode_trees, marked_trees, split_arcs
from .state_features import emit_row, load, score
from .state_features import look_up as find_features
from .states import N_ACTIONS, describe_arc, describe_reduction, look_around, start_state, successor, word_of

MARGIN = 20.0
"""In training the right label has to win by this score, times the weight of the sentence: steps are of
the size of that weight, along some fifty features. On UD English EWT (dev parts, right heads, six epochs in
one order) 96.6 % of the labels are right with it and 96.4 % without; other orders move that by 0.1."""


@inline
def best_label(model, adjustment, work, gold, margin):
    """The label of the arc in ``work.arc``, by ``work.total``, the score of each; ties go to the smaller one.

    ``gold`` >= 0 is the right one, which then has to win by a margin, in units of stored values.
    """
    total = work.total
    score(model.arcs, model.arc_features, work.pairs, work.arc, adjustment, work.look, total)
    if gold >= 0:
        total[gold] -= margin
    best = 0
    for y in range(1, model.arc_features.weights.columns):
        if total[y] > total[best]:
            best = y
    return best


@spliced
def label_of(model, adjustment, work):
    """The best label of the arc in ``work.arc``."""
    return best_label(model, adjustment, work, np.int64(-1), 0.0)


@spliced
def emit_arc(up, down, model, adjustment, work):
    """Emit the features of the arc in ``work.arc`` for label ``up``, against ``down``; -1 for none."""
    up, down, difference = np.int64(up), np.int64(down), work.label_difference
    emit_row(model.arcs, model.arc_features, work.arc, adjustment, up, down, work.look, difference)


@spliced
def label_tree(state, head, n, model, adjustment, work, out):
    """Choose the labels of a tree, or of its root alone if the search has chosen those of other arcs.

    ``state`` is the row of the last state; ``out`` (n,) int32 is written.
    """
    if not model.joint:
        look_around(head, n, work.around)
    for k in range(1, n + 1):
        if not model.joint:
            describe_arc(k, head, work.around, work.arc)
        elif head[k - 1] == 0:
            describe_reduction(np.int64(RIGHT), state, work.arc)
        else:
            continue
        out[k - 1] = label_of(model, adjustment, work)


@inline
def emit_labels(gold, head, label, n, weight, model, adjustment, work):
    """Emit what the arcs of a right tree teach; returns how many labels are wrong.

    ``weight`` is that of the sentence. ``gold`` (2 n,) int8 ends in a root step. If labels are part of the
    search, an arc is described as the state before its action shows it.
    """
    rows, wrong, joint = work.replay[0], 0, model.joint
    margin = weight * MARGIN / model.clock.scale[0]
    if not joint:
        look_around(head, n, work.around)
    for k in range(2 * n if joint else n):
        action = np.int64(gold[k])
        if not joint:
            right = label[k]
            describe_arc(k + 1, head, work.around, work.arc)
        elif action != SHIFT:
            right = label[word_of(action, rows[k], False)]
            describe_reduction(action, rows[k], work.arc)
        else:
            continue
        if right >= 0:
            y = best_label(model, adjustment, work, np.int64(right), margin)
            if y != right:
                wrong += 1 if work.total[y] > work.total[right] + margin else 0
                emit_arc(right, y, model, adjustment, work)
    return wrong


# --------------------------------------------------------------------------------------------------
# Labels that are part of the search
# --------------------------------------------------------------------------------------------------
@inline
def retrace(path, label, known, m, model, adjustment, work, rows):
    """The states along m actions: ``rows[k]`` is the one before action k.

    If labels are part of the search, ``label`` has that of each action. It is written if there are ``known``
    ones, by word; of these one that is -1 is the best one where it is needed.
    """
    start_state(rows[0])
    depth = 0
    for k in range(m):
        below, symbol = k, np.int32(0)
        if path[k] == SHIFT:
            work.stack[depth] = k
            depth += 1
        else:
            depth -= 1
            below = work.stack[depth]
            if model.joint and known.shape[0] > 0:
                label[k] = known[word_of(np.int64(path[k]), rows[k], False)]
                if label[k] < 0:
                    describe_reduction(np.int64(path[k]), rows[k], work.arc)
                    label[k] = label_of(model, adjustment, work)
            if model.joint:
                symbol = model.symbol[label[k]]
        successor(path[k], symbol, rows[below], rows[k], model.tracked, rows[k + 1])


@inline
def emit_reductions(path, label, begin, m, wrong, model, adjustment, work):
    """Emit the features of the labels that actions from ``begin`` on choose, negated if they are wrong."""
    for k in range(begin, m):
        if path[k] != SHIFT:
            describe_reduction(np.int64(path[k]), work.replay[wrong, k], work.arc)
            emit_arc(-1 if wrong else label[k], label[k] if wrong else -1, model, adjustment, work)


@spliced
def label_reductions(states, x, model, adjustment, work):
    """Choose the labels of the arcs that a state's reductions make, and add their scores."""
    for action in range(LEFT, N_ACTIONS):
        describe_reduction(np.int64(action), states.row[x], work.arc)
        y = label_of(model, adjustment, work)
        states.label[x, action] = np.int32(y)
        states.gain[x, action] += work.total[y]


# --------------------------------------------------------------------------------------------------
# The parts that make up the score of a tree, word by word, from Python.
#
# A word is read by SHIFT; a reduction makes its arc, the root's none. Actions are scored in the state before
# them; so are labels, if they are part of the search. A given tree is built in the canonical way (left
# children first), from which parsers learn; the search may go another way to the same tree.
# --------------------------------------------------------------------------------------------------
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
def look_up(path, head, label, task, model, noise, work, action, rows, label_rows):
    """The rows of the features that make up the score of a tree of n words, by word; -1 for unknown ones.

    ``label`` (n,) int32: where it is -1, a label of the search is chosen, and written. Written are ``action``
    (n,), that which makes the arc of a word; ``rows`` (2, n, K) of the states before the word is read, and
    before that action; and ``label_rows`` (n, K') of the arc.
    """
    n = head.shape[0]
    load(task, np.int64(0), n, model.clock.step[0], noise, work)
    states, look = work.replay[0], work.look
    retrace(path, work.gold_label, label, 2 * n - 1, model, None, work, states)
    if not model.joint:
        look_around(head, n, work.around)
    for k in range(2 * n):
        row, made, last = states[k], np.int64(path[k]), k == 2 * n - 1
        reads, w = made == SHIFT and not last, word_of(made, row, last)
        if not last or model.root_step:
            for j in range(find_features(model.templates, model.state_features, row, look)):
                rows[0 if reads else 1, w, j] = look.entry[j]
        if reads:
            continue
        action[w] = made
        if not model.joint:
            describe_arc(w + 1, head, work.around, work.arc)
        else:
            describe_reduction(np.int64(RIGHT) if last else made, row, work.arc)
            if not last:
                label[w] = work.gold_label[k]
        for j in range(find_features(model.arcs, model.arc_features, work.arc, look)):
            label_rows[w, j] = look.entry[j]


def arcs_of(model, task, path, heads, labels, work):
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
    work : ParseWork
    """
    n = len(heads)
    path = np.array([*path, RIGHT if model.root_step else SHIFT], np.int8)
    rows = np.full((2, n, model.templates.slot.shape[0]), -1, np.int64)
    label_rows = np.full((n, model.arcs.slot.shape[0]), -1, np.int64)
    (head, label), action = np.array([heads, labels], np.int32), np.zeros(n, np.int64)
    look_up(path, head, label, task, model, QUIET, work, action, rows, label_rows)
    found = []
    for w in range(n):
        parts = (part[part >= 0] for part in (*rows[:, w], label_rows[w]))
        found.append(Arc(w + 1, heads[w], int(label[w]), int(action[w]), *parts))
    return found


def given_tree(model, sentence, tree):
    """(actions, heads, labels) of a given tree as a :class:`.ParserModel` knows it, -1 for labels of None.

    Raises
    ------
    ValueError
        If it is no tree of these words, no parser builds it, or a label is unknown.
    """
    _, y, token = check_X_y([sentence], [tree], ("sequence", "labels"))
    heads, names = split_arcs(y, len(model.labels) > 0)
    heads, labels = check_trees(heads), np.full(len(tree), -1, np.int32)
    actions, lifted, skipped = encode_trees(heads, token, model.pseudo)
    if skipped:
        raise ValueError("labels: the tree is not projective, and this parser builds no such trees")
    if model.pseudo:
        names = marked_trees(names, heads, lifted, token)
    if names is not None:
        labels = encode_labels(names, token, model.labels, grow=False, with_sets=False)[0].ids
    return actions[:-1].tolist(), lifted.tolist(), labels.tolist()
