"""Scores of a state's actions, with the labels of the arcs that they make."""

import numpy as np

from ..core.compile import spliced
from .arc_labels import describe_reduction, label_of
from .beam_memory import recall
from .dependency_trees import LEFT
from .state_features import N_ACTIONS, score


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


@spliced
def score_state(row, model, adjustment, work, total):
    """``total``: the scores of the actions in a state, without labels."""
    score(
        model.templates, model.state_features, work.scores, row, work.value, adjustment,
        model.clock.step[0], work.look, total,
    )  # fmt: skip
