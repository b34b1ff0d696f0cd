"""Labels for the arcs of a tree.

If templates of states read labels, the search (:mod:`.parser_beam`) chooses the label
of an arc when a reduction makes it, and knows of the tree what is built by then. Else
it builds a tree without labels; then every arc gets the label that scores best, given
the whole tree: head, siblings, children, neighbours. (There labels of the head and of
the sibling on the left as features, chosen from the root downwards, made nothing better
on UD EWT.)
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.compile import inline, kernel, spliced
from .._core.noise import QUIET
from .._data.inputs import check_X_y
from .._data.labels import encode_labels
from .dependency_trees import (
    LEFT,
    RIGHT,
    SHIFT,
    check_trees,
    encode_trees,
    mark_lifted_trees,
    split_arcs,
)
from .state_features import emit_row, find_features, load, score
from .states import (
    N_ACTIONS,
    describe_arc,
    describe_reduction,
    look_around,
    start_state,
    successor,
    word_of,
)

if TYPE_CHECKING:
    from .._core.noise import Noise
    from .._core.rules import Adjustment
    from .parser_beam import ParseTask, ParseWork, States
    from .parser_model import ParserModel
    from .state_features import ParseModel
    from .states import Int

MARGIN = 20.0
"""In training the right label has to win by this score, times the weight of the
sentence: steps are of the size of that weight, along some fifty features. On UD English
EWT (dev parts, right heads, six epochs in one order) 96.6 % of the labels are right
with it and 96.4 % without; other orders move that by 0.1.
"""


@inline
def best_label(
    model: ParseModel,
    adjustment: Adjustment | None,
    work: ParseWork,
    gold: Int,
    margin: float,
) -> Int:
    """Return the label that scores best for the arc in ``work.arc``; ties go to the
    smaller one.

    ``work.total`` (L,) is written: the score of each label. ``gold`` >= 0 is the right
    label, which then has to win by a margin, in units of stored values.
    """
    total = work.total
    score(
        model.arcs,
        model.arc_features,
        work.pairs,
        work.arc,
        adjustment,
        work.look,
        total,
    )
    if gold >= 0:
        total[gold] -= margin
    best = 0
    for y in range(1, model.arc_features.weights.columns):
        if total[y] > total[best]:
            best = y
    return best


@spliced
def label_of(model: ParseModel, adjustment: Adjustment | None, work: ParseWork) -> Int:
    """Return the label that scores best for the arc in ``work.arc``."""
    return best_label(model, adjustment, work, np.int64(-1), 0.0)


@spliced
def emit_arc(
    up: Int,
    down: Int,
    model: ParseModel,
    adjustment: Adjustment | None,
    work: ParseWork,
) -> None:
    """Emit the features of the arc in ``work.arc`` for label ``up``, against ``down``;
    -1 for none.
    """
    up = np.int64(up)
    down = np.int64(down)
    difference = work.label_difference
    emit_row(
        model.arcs,
        model.arc_features,
        work.arc,
        adjustment,
        up,
        down,
        work.look,
        difference,
    )


@spliced
def label_tree(
    state: np.ndarray,
    head: np.ndarray,
    n: Int,
    model: ParseModel,
    adjustment: Adjustment | None,
    work: ParseWork,
    out: np.ndarray,
) -> None:
    """Choose the labels of a tree, or of its root alone if the search has chosen those
    of other arcs.

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
def emit_labels(
    gold: np.ndarray,
    head: np.ndarray,
    label: np.ndarray,
    n: Int,
    weight: float,
    model: ParseModel,
    adjustment: Adjustment | None,
    work: ParseWork,
) -> Int:
    """Emit what the arcs of a right tree teach; returns how many labels are wrong.

    ``weight`` is that of the sentence. ``gold`` (2 n,) int8 ends in a root step. If
    labels are part of the search, an arc is described as the state before its action
    shows it.
    """
    rows = work.replay[0]
    wrong = 0
    joint = model.joint
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


# --------------------------------------------------------------------------------------
# Labels that are part of the search
# --------------------------------------------------------------------------------------
@inline
def retrace(
    path: np.ndarray,
    label: np.ndarray,
    known: np.ndarray,
    m: Int,
    model: ParseModel,
    adjustment: Adjustment | None,
    work: ParseWork,
    rows: np.ndarray,
) -> None:
    """Write the states along m actions: ``rows[k]`` is the one before action k.

    If labels are part of the search, ``label`` has that of each action. It is written
    if there are ``known`` ones, by word; of these one that is -1 is the best one where
    it is needed.
    """
    start_state(rows[0])
    depth = 0
    for k in range(m):
        below = k
        symbol = np.int32(0)
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
def emit_reductions(
    path: np.ndarray,
    label: np.ndarray,
    begin: Int,
    m: Int,
    wrong: Int,
    model: ParseModel,
    adjustment: Adjustment | None,
    work: ParseWork,
) -> None:
    """Emit the features of the labels that actions from ``begin`` on choose, negated if
    they are wrong.
    """
    for k in range(begin, m):
        if path[k] != SHIFT:
            describe_reduction(np.int64(path[k]), work.replay[wrong, k], work.arc)
            up = -1 if wrong else label[k]
            down = label[k] if wrong else -1
            emit_arc(up, down, model, adjustment, work)


@spliced
def label_reductions(
    states: States,
    x: Int,
    model: ParseModel,
    adjustment: Adjustment | None,
    work: ParseWork,
) -> None:
    """Choose the labels of the arcs that a state's reductions make, and add their
    scores.
    """
    for action in range(LEFT, N_ACTIONS):
        describe_reduction(np.int64(action), states.row[x], work.arc)
        y = label_of(model, adjustment, work)
        states.label[x, action] = np.int32(y)
        states.gain[x, action] += work.total[y]


# --------------------------------------------------------------------------------------
# The parts that make up the score of a tree, word by word, from Python.
#
# A word is read by SHIFT; a reduction makes its arc, the root's none. Actions are
# scored in the state before them; so are labels, if they are part of the search. A
# given tree is built in the canonical way (left children first), from which parsers
# learn; the search may go another way to the same tree.
# --------------------------------------------------------------------------------------
class Arc(NamedTuple):
    """An arc, and the features that speak for it and for reading its word."""

    word: int  # 1-based
    head: int  # 0 at the root
    label: int  # -1 without labels, and where the model has yet to choose
    action: int  # of the root RIGHT with a root step, else SHIFT: no action makes it
    shift_rows: np.ndarray  # features of the state before the word is read
    rows: np.ndarray  # features of the state before the action
    label_rows: np.ndarray  # features of the arc


@kernel
def find_arc_features(
    path: np.ndarray,
    head: np.ndarray,
    label: np.ndarray,
    task: ParseTask,
    model: ParseModel,
    noise: Noise,
    work: ParseWork,
    action: np.ndarray,
    rows: np.ndarray,
    label_rows: np.ndarray,
) -> None:
    """Find the rows of the features that make up the score of a tree of n words, by
    word; -1 for unknown ones.

    ``label`` (n,) int32: where it is -1, a label of the search is chosen, and written.
    Written are ``action`` (n,), that which makes the arc of a word; ``rows`` (2, n, K)
    of the states before the word is read, and before that action; and ``label_rows``
    (n, K') of the arc.
    """
    n = head.shape[0]
    load(task, np.int64(0), n, model.clock.step[0], noise, work)
    states = work.replay[0]
    look = work.look
    retrace(path, work.gold_label, label, 2 * n - 1, model, None, work, states)
    if not model.joint:
        look_around(head, n, work.around)
    for k in range(2 * n):
        row = states[k]
        made = np.int64(path[k])
        last = k == 2 * n - 1
        reads = made == SHIFT and not last
        w = word_of(made, row, last)
        if not last or model.root_step:
            found = find_features(model.templates, model.state_features, row, look)
            for j in range(found):
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
        found = find_features(model.arcs, model.arc_features, work.arc, look)
        for j in range(found):
            label_rows[w, j] = look.entry[j]


def arcs_of(
    model: ParseModel,
    task: ParseTask,
    path: list[int],
    heads: list[int],
    labels: list[int],
    work: ParseWork,
) -> list[Arc]:
    """List the arcs of a projective tree, in the order of their words.

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

    Returns
    -------
    list of Arc
    """
    n = len(heads)
    actions = np.array([*path, RIGHT if model.root_step else SHIFT], np.int8)
    rows = np.full((2, n, model.templates.slot.shape[0]), -1, np.int64)
    label_rows = np.full((n, model.arcs.slot.shape[0]), -1, np.int64)
    head = np.array(heads, np.int32)
    label = np.array(labels, np.int32)
    action = np.zeros(n, np.int64)
    find_arc_features(
        actions, head, label, task, model, QUIET, work, action, rows, label_rows
    )
    found = []
    for w in range(n):
        parts = (part[part >= 0] for part in (*rows[:, w], label_rows[w]))
        found.append(Arc(w + 1, heads[w], int(label[w]), int(action[w]), *parts))
    return found


def given_tree(
    model: ParserModel, sentence: Collection[Any], tree: Collection[Any]
) -> tuple[list[int], list[int], list[int]]:
    """Check a given tree and translate it to what a model knows.

    Parameters
    ----------
    model : ParserModel
    sentence : sequence of (form, tag, ...)
    tree : sequence of (head, label), or of heads

    Returns
    -------
    actions : list of int
        Those that build it, without a root step.
    heads : list of int
        Those of the projective tree that it becomes.
    labels : list of int
        By number, -1 for None.

    Raises
    ------
    ValueError
        If it is no tree of these words, no parser builds it, or a label is unknown.
    """
    _, y, token = check_X_y([sentence], [tree], ("sequence", "labels"))
    trees, names = split_arcs(y, len(model.labels) > 0)
    heads = check_trees(trees)
    labels = np.full(len(tree), -1, np.int32)
    actions, lifted, skipped = encode_trees(heads, token, model.pseudo)
    if skipped:
        raise ValueError(
            "labels: the tree is not projective, and this parser builds no such trees"
        )
    if model.pseudo and names is not None:
        names = mark_lifted_trees(names, heads, lifted, token)
    if names is not None:
        gold, _ = encode_labels(names, token, model.labels, grow=False, with_sets=False)
        labels = gold.ids
    return actions[:-1].tolist(), lifted.tolist(), labels.tolist()
