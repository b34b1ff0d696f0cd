"""Scores of a state's actions, with the labels of the arcs that they make."""

import numpy as np

from ..core.compile import inline
from .features import N_ACTIONS, add_scores, score_row
from .labels import best_label, describe_reduction
from .memory import recall
from .templates import S0, S1, J
from .trees import LEFT


@inline
def label_reductions(states, x, model, rule, noise, plain, work):
    """Choose the labels of the arcs that a state's reductions make, and add their scores."""
    for action in range(LEFT, N_ACTIONS):
        describe_reduction(action, states.row[x], work.arc)
        s, known = recall(work.arcs, work.arc)
        if not known:
            y = best_label(model, rule, noise, plain, work, np.int64(-1))
            work.arcs.value[s, 0], work.arcs.value[s, 1] = y, work.total[y]
        states.label[x, action] = np.int32(work.arcs.value[s, 0])
        states.gain[x, action] += work.arcs.value[s, 1]


@inline
def score_state(row, model, rule, noise, plain, work, total):
    """``total``: the scores of the actions in a state, without labels."""
    templates, features, step = model.templates, model.state_features, model.clock.step[0]
    K = templates.slot.shape[0]
    if not model.joint:
        score_row(templates, features, row, work.value, rule, noise, step, plain, work.look, total)
        return
    work.core[0], work.core[1], work.core[2] = row[J], row[S0], row[S1]
    s, known = recall(work.scores, work.core)
    found = work.scores.value[s]
    if not known:
        found[:] = 0.0
        add_scores(
            templates, 0, templates.core, features, row, work.value, rule, noise, step, plain,
            work.look, found,
        )  # fmt: skip
    for a in range(N_ACTIONS):
        total[a] = found[a]
    add_scores(
        templates, templates.core, K, features, row, work.value, rule, noise, step, plain, work.look, total
    )  # fmt: skip
