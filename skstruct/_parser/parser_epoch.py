"""Dependency parsing: predict trees, and learn from where the search went wrong.

There are two tables of features: of states, which score actions (:mod:`.parser_beam`),
and of arcs, which score labels (:mod:`.arc_labels`). If templates of states read
labels, as those of ``"rich"`` do, the search chooses the label of each arc that it
makes; else arcs are labelled when the tree is found. Both tables are learned together,
example by example, with the same rule, noise and average.

The search learns from a prefix of the actions: until the right state is lost (early
update, Collins and Roark 2004), where it falls back most (max-violation, Huang, Fayong
and Guo 2012), or from all of them. The right state is lost, too, when it is merged into
a better one. Features of the prefix that right and predicted actions have in common
cancel; they are never listed. The labels learn from all arcs of the right tree.

References
----------
L. Huang and K. Sagae (2010). Dynamic programming for linear-time incremental parsing.
ACL. K. Zhang, J. Su, C. Zhou (2014). Regularized structured perceptron. EACL, section
6.1.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._core.codes import DONE, MAX_VIOLATION, POOL_FULL, RESCALE, STANDARD, TABLE_FULL
from .._core.compile import ZERO, kernel, spliced
from .._core.feature_table import count_updates, lacks_room, new_table
from .._core.rules import adjustment_of, clear, finish_visit, room_for
from .._core.store import SMALLEST_SCALE, new_clock
from .arc_labels import emit_labels, emit_reductions, label_tree, retrace
from .dependency_trees import SHIFT
from .parser_beam import n_actions, search, worst_step
from .state_features import ParseModel, emit_row, load
from .states import LABEL, N_ACTIONS, attach, trace, tracked_fields

if TYPE_CHECKING:
    from .._core.feature_table import FeatureTable
    from .._core.noise import Noise
    from .._core.rules import Adjustment
    from .._core.store import Rule
    from .parser_beam import ParseTask, ParseWork
    from .state_features import Templates
    from .states import Int

FEW_LABELS = 16
"""Up to here rows of label weights are full; else they hold the labels they were
updated for.
"""


def are_many(n_labels: int) -> bool:
    """Return whether so many labels have sparse rows of weights."""
    return n_labels > FEW_LABELS


@spliced
def emit_actions(
    gold: np.ndarray,
    m: Int,
    model: ParseModel,
    adjustment: Adjustment | None,
    work: ParseWork,
) -> None:
    """Emit the features of m right actions, against those of the predicted ones."""
    path = work.path
    begin = 0
    while begin < m and gold[begin] == path[begin]:
        if (
            model.joint
            and gold[begin] != SHIFT
            and work.gold_label[begin] != work.path_label[begin]
        ):
            break
        begin += 1
    if begin == m:
        return
    retrace(
        path, work.path_label, work.head[:0], m, model, adjustment, work, work.replay[1]
    )
    # A loop, where two calls would be clearer: each is compiled once more.
    for wrong in range(2):
        if model.joint:
            actions = path if wrong else gold
            labels = work.path_label if wrong else work.gold_label
            n_labelled = min(m, gold.shape[0] - 1) if model.root_step else m
            emit_reductions(
                actions, labels, begin, n_labelled, wrong, model, adjustment, work
            )
    for k in range(begin, m):
        for wrong in range(1 if k == begin else 2):
            up = np.int64(-1 if wrong else gold[k])
            down = np.int64(path[k] if wrong or k == begin else -1)
            row = work.replay[wrong, k]
            difference = work.difference
            emit_row(
                model.templates,
                model.state_features,
                row,
                adjustment,
                up,
                down,
                work.look,
                difference,
            )


@spliced
def _prefix_to_learn(
    gold: np.ndarray,
    n: Int,
    model: ParseModel,
    adjustment: Adjustment | None,
    work: ParseWork,
) -> tuple[Int, Int]:
    """Search, and return (m, the best state after m actions): the prefix to learn from
    as ``model.update`` says, of m = 0 actions if there is nothing to learn.
    """
    m, best, lost = search(n, gold, model, adjustment, work)
    if model.update == MAX_VIOLATION:
        m, best = worst_step(gold, n, model, adjustment, work)
    elif not lost:
        m = 0
    return m, best


@spliced
def _count_wrong_heads(heads: np.ndarray, m: Int, work: ParseWork) -> Int:
    """Count the words whose head the first m predicted actions get wrong."""
    n_read = attach(
        work.path, work.path_label, m, work.stack, work.head, work.path_label[:0]
    )
    wrong = 0
    for k in range(n_read):
        if work.head[k] != 0 and work.head[k] != heads[k]:
            wrong += 1
    return wrong


@spliced
def visit(
    i: Int,
    model: ParseModel,
    task: ParseTask,
    noise: Noise,
    adjustment: Adjustment | None,
    work: ParseWork,
) -> int:
    """Search example i and list what it teaches in the two differences.

    Returns DONE, or TABLE_FULL or POOL_FULL if there is no room; then nothing has
    changed.
    """
    first = task.token[i]
    n = task.token[i + 1] - task.token[i]
    K = model.templates.slot.shape[0]
    K_arcs = model.arcs.slot.shape[0]
    L = model.arc_features.weights.columns
    load(task, first, n, model.clock.step[0], noise, work)
    gold = task.action[2 * first : 2 * first + n_actions(n, model)]
    heads = task.head[first : first + n]
    if L > 0:
        model.wanted[1] = (3 if model.joint else 1) * n * K_arcs
        if lacks_room(model.arc_features, model.wanted[1]):
            model.wanted[0] = 0
            return TABLE_FULL
    labels = task.label[first : first + n]
    retrace(
        gold,
        work.gold_label,
        labels,
        2 * n - 1,
        model,
        adjustment,
        work,
        work.replay[0],
    )
    work.gold_label[2 * n - 1] = 0  # of a root step, which has no label
    m, best = _prefix_to_learn(gold, n, model, adjustment, work)
    wrong: Int = 0
    if m > 0:
        trace(work.states, best, m, work.stack, work.path, work.path_label)
        model.wanted[0] = 2 * m * K
        if lacks_room(model.state_features, model.wanted[0]):
            return TABLE_FULL
        emit_actions(gold, m, model, adjustment, work)
        wrong = _count_wrong_heads(heads, m, work)
    if L > 0:
        actions = task.action[2 * first : 2 * (first + n)]
        wrong += emit_labels(
            actions, heads, labels, n, task.weight[i], model, adjustment, work
        )
        more = work.label_difference
        if not room_for(more, ZERO, more.size[0], ZERO, model.arc_features.weights):
            clear(work.difference)
            clear(more)
            return POOL_FULL
    if work.difference.size[0] + work.label_difference.size[0] > 0:
        work.stats[0] += 1.0
        work.stats[1] += wrong
        work.stats[2] += 1.0
    return DONE


@kernel
def _epoch(
    task: ParseTask,
    order: np.ndarray,
    begin: int,
    end: int,
    model: ParseModel,
    rule: Rule,
    noise: Noise,
    adjustment: Adjustment | None,
    work: ParseWork,
) -> tuple[int, int]:
    """Visit the sentences ``order[begin:end]`` in turn: search, step, tick.

    Returns (code, k): DONE and ``end``, or why it stopped before sentence ``order[k]``
    was learned: TABLE_FULL or POOL_FULL (grow the model and call again from k) or
    RESCALE (rebase the stores).
    """
    difference = work.difference
    label_difference = work.label_difference
    for k in range(begin, end):
        i = order[k]
        if model.clock.scale[0] < SMALLEST_SCALE:
            return RESCALE, k
        code = visit(i, model, task, noise, adjustment, work)
        if code != DONE:
            return code, k
        count_updates(model.state_features, difference)
        count_updates(model.arc_features, label_difference)
        # The rule is the perceptron's: a step along both differences is a step along
        # each.
        finish_visit(
            (difference, label_difference),
            (model.state_features.weights, model.arc_features.weights),
            model.clock,
            rule,
            task.weight[i],
        )
    return DONE, end


@kernel
def predict(
    task: ParseTask,
    begin: int,
    end: int,
    model: ParseModel,
    noise: Noise,
    work: ParseWork,
    head: np.ndarray,
    label: np.ndarray,
    score: np.ndarray,
) -> None:
    """Parse the sentences ``begin <= i < end``; the actions of the last one stay in
    ``work.path``.

    Writes ``head`` and ``label`` (N,) int32 and ``score`` (n,) float64, that of the
    actions.
    """
    for i in range(begin, end):
        first = task.token[i]
        n = task.token[i + 1] - task.token[i]
        score[i] = 0.0
        if n > 0:
            load(task, first, n, model.clock.step[0], noise, work)
            m, best, _ = search(n, task.action[:0], model, None, work)
            trace(work.states, best, m, work.stack, work.path, work.path_label)
            heads = head[first : first + n]
            out = label[first : first + n]
            attach(
                work.path,
                work.path_label,
                m,
                work.stack,
                heads,
                out if model.joint else out[:0],
            )
            score[i] = work.states.score[best]
            if model.arc_features.weights.columns > 0:
                last = work.states.right[best] if model.root_step else best
                label_tree(work.states.row[last], heads, n, model, None, work, out)


def epoch(
    task: ParseTask,
    order: np.ndarray,
    begin: int,
    end: int,
    model: ParseModel,
    rule: Rule,
    noise: Noise,
    work: ParseWork,
) -> tuple[int, int]:
    """Visit the sentences ``order[begin:end]`` in turn and learn from each.

    Returns (code, k) of :func:`_epoch`: DONE and ``end``, or what is needed before
    sentence ``order[k]`` can be learned.
    """
    adjustment = adjustment_of(model.state_features, rule, noise)
    return _epoch(task, order, begin, end, model, rule, noise, adjustment, work)


def new_model(
    templates: Templates,
    arcs: Templates,
    n_labels: int,
    beam: int,
    merge: bool,
    update: int,
    min_count: int,
    rule: Rule,
    root_step: bool = False,
) -> ParseModel:
    """Make a model without features.

    Parameters
    ----------
    templates, arcs : Templates
        Of states, and of arcs.
    n_labels : int
        0: trees without labels.
    beam, merge, update, min_count, root_step
        See :class:`.state_features.ParseModel`.
    rule : Rule
    """
    states = new_table(N_ACTIONS, rule, min_count, by_weight=False)
    labels = new_table(
        n_labels, rule, min_count, by_weight=False, sparse=are_many(n_labels)
    )
    symbol = np.arange(1, n_labels + 1, dtype=np.int32)
    return parse_model(
        templates, arcs, (states, labels), symbol, beam, merge, root_step, update
    )


def parse_model(
    templates: Templates,
    arcs: Templates,
    tables: tuple[FeatureTable, FeatureTable],
    symbol: np.ndarray,
    beam: int,
    merge: bool,
    root_step: bool,
    update: int = STANDARD,
) -> ParseModel:
    """Make the model of two tables of features, that of states and that of arcs.

    Parameters
    ----------
    templates, arcs : Templates
        Of states, and of arcs.
    tables : tuple of FeatureTable
    symbol : ndarray of shape (L,), int32
        What labels are called in fields.
    beam, merge, root_step, update
        See :class:`.state_features.ParseModel`.
    """
    joint = symbol.shape[0] > 0 and bool((templates.attribute == LABEL).any())
    state_features, arc_features = tables
    return ParseModel(
        beam=int(beam),
        merge=bool(merge),
        joint=joint,
        root_step=bool(root_step),
        update=int(update),
        tracked=tracked_fields(templates, joint),
        templates=templates,
        arcs=arcs,
        state_features=state_features,
        arc_features=arc_features,
        symbol=symbol,
        wanted=np.zeros(2, np.int64),
        clock=new_clock(),
    )
