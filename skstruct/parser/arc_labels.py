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
from .dependency_trees import LEFT, RIGHT, SHIFT, actions_of, check_trees, lift, marked_trees, split_arcs
from .state_features import emit_row, load, recall, score
from .state_features import look_up as find_features
from .states import (
    FIRST_WORD,
    MOST_CHILDREN,
    N_ACTIONS,
    NO_CHILD,
    READ_BY_ARCS,
    S0,
    S1,
    S2,
    STACK_END,
    H,
    J,
    bucket,
    start_state,
    successor,
)

LC, RC, VL, VR, SL, SR, LATEST = range(7)
"""Rows of ``work.around``: outermost children, numbers of children, nearest siblings, latest child so far."""

# Where an arc has these of its word, and of its head; and the labels of the outermost children.
_OF_WORD, _OF_HEAD = np.array([7, 8, 15, 16, 19, 20]), np.array([9, 10, 17, 18, 21, 22])

LEFT_SIDE = 8
"""Added to the distance of a dependent on the left of its head."""

MARGIN = 20.0
"""In training the right label has to win by this score; steps are of size 1 along some fifty features. On
UD English EWT (dev parts, right heads, six epochs in one order) 96.6 % of the labels are right with it and
96.4 % without; other orders move that by 0.1."""


@spliced
def look_around(head, n, around):
    """Children and siblings of all words, by 1-based number; words are places in the sentence."""
    for k in range(n + 1):
        around[LC, k] = around[RC, k] = around[SL, k] = around[SR, k] = NO_CHILD
        around[VL, k] = around[VR, k] = around[LATEST, k] = 0
    for k in range(1, n + 1):
        h, here = head[k - 1], FIRST_WORD + k - 1
        if k < h:
            if around[VL, h] == 0:
                around[LC, h] = here
            around[VL, h] = min(around[VL, h] + 1, MOST_CHILDREN)
        else:
            around[RC, h] = here
            around[VR, h] = min(around[VR, h] + 1, MOST_CHILDREN)
        before = around[LATEST, h]
        if before > 0:
            around[SL, k] = FIRST_WORD + before - 1
            around[SR, before] = here
        around[LATEST, h] = k


@inline
def describe_words(here, there, grand, arc):
    """The fields of an arc that follow from the places of its word, of its head and of the head of that."""
    arc[0], arc[1], arc[2] = here, there, grand
    arc[3] = here - 1 if here > FIRST_WORD else STACK_END
    arc[4] = here + 1
    arc[5] = there - 1 if there > FIRST_WORD else STACK_END
    arc[6], arc[14] = STACK_END, 0
    if there != STACK_END:
        arc[6] = there + 1
        arc[14] = bucket(here - there) if here > there else LEFT_SIDE + bucket(there - here)


@inline
def describe_arc(k, head, around, arc):
    """The fields (``ARC_FIELDS``, ``ARC_NUMBERS``) of the arc to word k, 1-based."""
    h, there, grand = np.int64(head[k - 1]), np.int64(STACK_END), np.int64(STACK_END)
    if h > 0:
        there = FIRST_WORD + h - 1
        if head[h - 1] > 0:
            grand = np.int64(FIRST_WORD + head[h - 1] - 1)
    describe_words(np.int64(FIRST_WORD + k - 1), there, grand, arc)
    for j in range(4):
        arc[_OF_WORD[j]], arc[_OF_HEAD[j]] = around[j, k], around[j, h]
    arc[11], arc[12] = around[SL, k], around[SR, k]
    arc[13] = STACK_END  # no queue: all words are read
    arc[19:24] = 0


@inline
def describe_reduction(action, row, arc):
    """The fields of the arc that a reduction makes; what is read or attached later is not yet known.

    In the last state RIGHT makes the arc to the root: there the second tree is what a stack has below.
    """
    m, h = (S1, S0) if action == LEFT else (S0, S1)
    describe_words(np.int64(row[m + H]), np.int64(row[h + H]), np.int64(row[S2]), arc)
    for j in range(READ_BY_ARCS.shape[0]):
        arc[_OF_WORD[j]], arc[_OF_HEAD[j]] = row[m + READ_BY_ARCS[j]], row[h + READ_BY_ARCS[j]]
    side = 0 if action == LEFT else 1
    arc[11], arc[12] = arc[9 + side], NO_CHILD  # the sibling between both
    arc[13] = row[J]
    arc[23] = arc[21 + side]


@inline
def best_label(model, adjustment, work, gold, margin):
    """The label of the arc in ``work.arc``, by ``work.total``, the score of each; ties go to the smaller one.

    ``gold`` >= 0 is the right one, which then has to win by a margin, in units of stored values.
    """
    total = work.total
    score(
        model.arcs, model.arc_features, work.pairs, work.arc, work.value, adjustment, model.clock.step[0],
        work.look, total,
    )  # fmt: skip
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
    emit_row(
        model.arcs, model.arc_features, work.arc, work.value, adjustment, model.clock.step[0], np.int64(up),
        np.int64(down), work.look, work.label_difference,
    )  # fmt: skip


@spliced
def learn_label(gold, model, adjustment, work):
    """Emit what the arc in ``work.arc`` teaches; returns 1 if its label is wrong, else 0."""
    margin = MARGIN / model.clock.scale[0]
    y = best_label(model, adjustment, work, np.int64(gold), margin)
    wrong = 0
    if y != gold:
        wrong = 1 if work.total[y] > work.total[gold] + margin else 0
        emit_arc(gold, y, model, adjustment, work)
    return wrong


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
def emit_labels(gold, head, label, n, model, adjustment, work):
    """Emit what the arcs of a right tree teach; returns how many labels are wrong.

    ``gold`` (2 n,) int8 ends in a root step. If labels are part of the search, an arc is described as the
    state before its action shows it.
    """
    rows, wrong, joint = work.replay[0], 0, model.joint
    if not joint:
        look_around(head, n, work.around)
    for k in range(2 * n if joint else n):
        action = np.int64(gold[k])
        if not joint:
            right = label[k]
            describe_arc(k + 1, head, work.around, work.arc)
        elif action != SHIFT:
            right = label[rows[k, (S1 if action == LEFT else S0) + H] - FIRST_WORD]
            describe_reduction(action, rows[k], work.arc)
        else:
            continue
        if right >= 0:
            wrong += learn_label(right, model, adjustment, work)
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
                label[k] = known[rows[k, (S1 if path[k] == LEFT else S0) + H] - FIRST_WORD]
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
        s, known = recall(work.arcs, work.whole, np.int64(0), work.arc)
        if not known:
            y = label_of(model, adjustment, work)
            work.arcs.value[s, 0], work.arcs.value[s, 1] = y, work.total[y]
        states.label[x, action] = np.int32(work.arcs.value[s, 0])
        states.gain[x, action] += work.arcs.value[s, 1]


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
def look_up(path, head, label, task, model, noise, work, rows, label_rows, word):
    """The rows of the features of each action and of the label of its arc, -1 for unknown ones.

    ``label`` (n,) int32 is by word; where it is -1, a label of the search is chosen, and written. ``rows``
    and ``label_rows`` have a line for each action, and a last one for the root; ``word`` (2 n,) int32 is what
    is read or gets its head there, 0-based.
    """
    n = head.shape[0]
    load(task.atoms, task.n_forms, np.int64(0), n, model.clock.step[0], noise, work.value)
    states, look = work.replay[0], work.look
    retrace(path, work.gold_label, label, 2 * n - 1, model, None, work, states)
    if not model.joint:
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
        else:
            describe_reduction(np.int64(RIGHT) if last else action, row, work.arc)
            if not last:
                label[w] = work.gold_label[k]
        find_features(model.arcs, model.arc_features.table, work.arc, work.value, look)
        for j in range(label_rows.shape[1]):
            label_rows[k, j] = look.entry[j]


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
    word = np.zeros(2 * n, np.int32)
    rows = np.full((2 * n, model.templates.slot.shape[0]), -1, np.int64)
    label_rows = np.full((2 * n, model.arcs.slot.shape[0]), -1, np.int64)
    head, label = np.array([heads, labels], np.int32)
    look_up(path, head, label, task, model, QUIET, work, rows, label_rows, word)
    actions, words = path[:-1].tolist(), word.tolist()
    read = {w: k for k, (w, action) in enumerate(zip(words, actions)) if action == SHIFT}
    made = {w: k for k, w in enumerate(words) if k not in read.values()}
    found = []
    for w, k in sorted(made.items()):
        parts = (part[part >= 0] for part in (rows[read[w]], rows[k], label_rows[k]))
        found.append(Arc(w + 1, heads[w], int(label[w]), int(path[k]), *parts))
    return found


def given_tree(model, sentence, tree):
    """(heads, labels) of a given tree as a :class:`.ParserModel` knows it, -1 for labels of None.

    Raises
    ------
    ValueError
        If it is no tree of these words, no parser builds it, or a label is unknown.
    """
    _, y, token = check_X_y([sentence], [tree], ("sequence", "labels"))
    labels = np.full(len(tree), -1, np.int32)
    heads, names = split_arcs(y, len(model.labels) > 0)
    flat = check_trees(heads)
    heads = lift(heads[0]) if model.pseudo else heads[0]
    if actions_of(heads) is None:
        raise ValueError("labels: the tree is not projective, and this parser builds no such trees")
    if model.pseudo:
        names = marked_trees(names, flat, np.array(heads), token)
    if names is not None:
        labels = encode_labels(names, token, model.labels, grow=False, with_sets=False)[0].ids
    return heads, labels.tolist()
