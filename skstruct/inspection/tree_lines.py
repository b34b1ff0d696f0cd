"""What each feature contributes to the score of a tree."""

import numpy as np

from ..data.inputs import as_sequences
from ..parser.dependency_trees import SHIFT, split_arcs
from .explanations import ArcExplanation, TreeExplanation
from .feature_lists import weight_rows


def _names(model, arcs):
    """{row: name} of the features of arcs, of actions and of labels.

    All at once, since each question for names goes through all keys of the model.
    """
    none = np.zeros(0, np.int64)
    used = (
        [none, *(rows for a in arcs for rows in (a.shift_rows, a.rows))],
        [none, *(a.label_rows for a in arcs)],
    )
    found = [np.unique(np.concatenate(rows)) for rows in used]
    return [dict(zip(rows.tolist(), part.names(rows))) for part, rows in zip(model.named_weights(), found)]


def explain_tree(parser, X, tree=None):
    """The explanation of a tree, or of the one that a parser predicts; see :func:`explaining.explain`."""
    model, (sentence,) = parser._model, as_sequences(X)
    arcs = model.arcs(sentence, parser._beam(), tree)
    names, label_names = _names(model, arcs) if arcs else ({}, {})
    actions, labels = (part.labels for part in model.named_weights())

    def weights_of(rows):
        return weight_rows(model.weights, rows)

    def listed(rows, weights, column, names):
        return list(zip(map(names.get, rows.tolist()), weights[:, column].tolist()))

    out = []
    for token, arc in zip(sentence, arcs):
        shift = listed(arc.shift_rows, weights_of(arc.shift_rows), SHIFT, names)
        features, others, action = [], {}, None
        if arc.action != SHIFT:
            weights, action = weights_of(arc.rows), actions[arc.action]
            features = listed(arc.rows, weights, arc.action, names)
            totals = weights.sum(axis=0).tolist()
            others = {name: totals[a] for a, name in enumerate(actions) if a != arc.action}
        label_features, label, runner_up, margin = [], None, None, float("inf")
        if labels:
            weights = weight_rows(model.label_weights, arc.label_rows)
            totals = weights.sum(axis=0)
            ranked = (-totals).argsort(kind="stable").tolist()
            best = ranked[0] if arc.label < 0 else arc.label
            label, label_features = labels[best], listed(arc.label_rows, weights, best, label_names)
            ranked.remove(best)
            if ranked:
                runner_up, margin = labels[ranked[0]], float(totals[best] - totals[ranked[0]])
        counts = model.is_joint and arc.head > 0
        given = token, arc.head, label, action, features, label_features, others, runner_up, margin
        out.append(ArcExplanation(*given, shift, counts))
    found = model.restored([(each.head, each.label) if labels else each.head for each in out])
    if tree is not None:  # where its labels say what was lifted, they need not say it of this tree alone
        (heads,), _ = split_arcs([tree], False)
        found = [(head, label) for head, (_, label) in zip(heads, found)] if labels else heads
    return TreeExplanation(found, out)
