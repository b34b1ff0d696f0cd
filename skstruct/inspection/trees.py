"""What each feature contributes to the score of an arc of a tree."""

import numpy as np

from ..data.inputs import as_sequences
from .explanations import ArcExplanation, TreeExplanation
from .feature_lists import weight_rows


def _names(model, arcs):
    """{row: name} of the features of arcs, of actions and of labels.

    All at once, since each question for names goes through all keys of the model.
    """
    none = np.zeros(0, np.int64)
    found = [
        np.unique(np.concatenate([none, *rows])) for rows in zip(*((a.rows, a.label_rows) for a in arcs))
    ]
    return [dict(zip(rows.tolist(), part.names(rows))) for part, rows in zip(model.named_weights(), found)]


def explain_tree(parser, X, labels=None):
    """The explanation of the tree that a parser predicts; see :func:`explaining.explain`."""
    if labels is not None:
        raise ValueError("explain takes no labels of a parser: it explains the tree that is predicted")
    model, (sentence,) = parser._model, as_sequences(X)
    tree, arcs = model.arcs(sentence, parser._beam())
    actions, labels = (part.labels for part in model.named_weights())
    out, (names, label_names) = [], _names(model, arcs) if arcs else ({}, {})
    for token, arc in zip(sentence, arcs):
        weights = weight_rows(model.weights, arc.rows)
        features, others = [], {}
        if arc.action:
            features = list(zip(map(names.get, arc.rows.tolist()), weights[:, arc.action].tolist()))
            totals = weights.sum(axis=0).tolist()
            others = {name: totals[a] for a, name in enumerate(actions) if a != arc.action}
        label_features, label, runner_up, margin = [], None, None, float("inf")
        if arc.label >= 0:
            label, weights = labels[arc.label], weight_rows(model.label_weights, arc.label_rows)
            listed = map(label_names.get, arc.label_rows.tolist())
            label_features = list(zip(listed, weights[:, arc.label].tolist()))
            totals = weights.sum(axis=0)
            ranked = [y for y in (-totals).argsort(kind="stable").tolist() if y != arc.label]
            if ranked:
                runner_up, margin = labels[ranked[0]], float(totals[arc.label] - totals[ranked[0]])
        action = actions[arc.action] if arc.action else None
        out.append(
            ArcExplanation(
                token, arc.head, label, action, features, label_features, others, runner_up, margin
            )
        )
    return TreeExplanation(tree, out)
