"""The parts that make up the score of one labelling."""

from __future__ import annotations

from collections.abc import Collection
from math import fsum, inf
from typing import Any

import numpy as np

from ..data.inputs import as_sequences, as_tokens, check_same_lengths, describe, lengths_of
from .feature_lists import active_features, chain_of, tokens_of, weight_rows
from .rendering import Explanation, TokenExplanation
from .runners_up import runners_up, runners_up_of_pairs
from .trees import TreeExplanation, explain_tree


def explain(
    tagger: Any, sequence: Collection[Any], labels: Collection[Any] | None = None
) -> Explanation | TreeExplanation:
    """Why a labelling has its score: every contribution of every token.

    Parameters
    ----------
    tagger : StructuredPerceptron, PassiveAggressiveTagger or another chain tagger, or a parser
    sequence : list of tokens
    labels : list of labels, optional
        The labelling to explain, by default the one predicted; None leaves the choice of a token's
        label to the model.

    Returns
    -------
    Explanation
        Its score is that of ``decision_function`` and ``predict_kbest``. ``print`` it for the largest
        contributions and the runner-up labels. Of a parser a TreeExplanation: what speaks for each arc of
        the tree that it predicts.

    Raises
    ------
    ValueError
        If the labels are not as many as the tokens, or not labels of the model.

    Examples
    --------
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.inspection import explain, transition_weights
    >>> X, y = [["the", "dog"], ["the", "cat"], ["dogs", "bark"]], [["D", "N"], ["D", "N"], ["N", "V"]]
    >>> templates = ["U00:%x[-1,0]", "U01:%x[0,0]", "B"]
    >>> tagger = StructuredPerceptron(templates, random_state=0).fit(X, y)
    >>> explanation = explain(tagger, ["the", "frog"])
    >>> print(explanation)
    score +2.867
    0 'the' -> D (+0.900; V instead: -1.867)
        +0.933  U01:the
        -0.033  U00:_B-1
    1 'frog' -> N (+1.967; V instead: -1.967)
        +1.000  U00:the
        +0.967  transition D -> N
    >>> explanation.tokens[1].transitions == [("transition D -> N", transition_weights(tagger)[0, 1])]
    True
    """
    inside = getattr(tagger, "_model", None)
    if hasattr(inside, "arcs") and labels is None:
        return explain_tree(inside, *as_sequences([sequence]))
    model = chain_of(tagger)
    given = as_tokens([sequence])
    path, labels = _path(tagger, given, labels)
    if not path:
        return Explanation([], 0.0, [])
    active, sequence = active_features(model, given), tokens_of(given)
    emission, transition = _scores(model, active)
    if model.order == 2:
        others, margins = runners_up_of_pairs(emission, transition, _trigrams(model), model.constraints, path)
    else:
        others, margins = runners_up(emission, transition, model.constraints, path)
    tokens = []
    for t, y in enumerate(path):
        weights = weight_rows(model.nodes, [row for row, _, _ in active.nodes[t]])[:, y].tolist()
        tokens.append(
            TokenExplanation(
                token=sequence[t],
                label=labels[t],
                features=[(n, x * w) for (_, x, n), w in zip(active.nodes[t], weights)],
                transitions=_into(model, path, t, active.edges[t]),
                runner_up=None if others[t] < 0 else model.labels.values[others[t]],
                margin=margins[t],
            )
        )
    return Explanation(labels, fsum(x for t in tokens for _, x in t.features + t.transitions), tokens)


def _label_id(labels, label, where=""):
    try:
        return labels.ids[label]
    except (KeyError, TypeError):
        raise ValueError(f"{where}{describe(label)} is not a label of the model") from None


def _path(tagger, given, labels):
    """(ids, labels) of the labelling to explain."""
    known = tagger._model.labels
    if labels is not None:
        (labels,) = as_sequences([labels], "labels", "label")
        check_same_lengths(lengths_of(given), lengths_of([labels]))
        for t, label in enumerate(labels):
            if label is not None:
                _label_id(known, label, f"labels: position {t}: ")
    if labels is None or None in labels:
        allowed = None if labels is None else [labels]
        labels = tagger.predict(given, allowed=allowed)[0]
    path = [_label_id(known, label) for label in labels]
    return path, [known.values[y] for y in path]


def _scores(model, active):
    """Emissions (T, L), and transitions (1, L, L) or (T, L, L), constraints included."""
    T, L = len(active.nodes), len(model.labels)
    emission = np.zeros((T, L))
    for t, features in enumerate(active.nodes):
        values = np.array([x for _, x, _ in features])
        emission[t] = values @ weight_rows(model.nodes, [row for row, _, _ in features])
    shared = model.constraints[1].copy()
    if model.encoder.has_bigram:
        shared += weight_rows(model.edges, np.arange(L))
    if not any(active.edges):
        return emission, shared[None]
    transition = np.repeat(shared[None], T, axis=0)
    for t, features in enumerate(active.edges):
        for e, x, _ in features:
            transition[t] += x * weight_rows(model.edges, e * L + np.arange(L))
    return emission, transition


def _trigrams(model):
    """Weights of label trigrams, (L + 1, L, L) [a, p, y]; a = 0 is the start of the sequence."""
    L = len(model.labels)
    return weight_rows(model.trigrams, np.arange(L * (L + 1))).reshape(L, L + 1, L).transpose(1, 0, 2)


def _into(model, path, t, features):
    """Contributions of the transition into token t, and of constraints broken there."""
    values, L = model.labels.values, len(model.labels)
    start, allowed, end = model.constraints
    y = path[t]
    parts = []
    if t > 0:
        p = path[t - 1]
        arrow = f"transition {values[p]} -> {values[y]}"
        if model.encoder.has_bigram:
            parts.append((arrow, float(weight_rows(model.edges, [p])[0, y])))
        if model.order == 2:
            a = path[t - 2] if t > 1 else -1
            before = values[a] if t > 1 else "(start)"
            weight = float(weight_rows(model.trigrams, [p * (L + 1) + a + 1])[0, y])
            parts.append((f"transition {before} -> {values[p]} -> {values[y]}", weight))
        for e, x, name in features:
            weight = float(weight_rows(model.edges, [e * L + p])[0, y])
            parts.append((f"{arrow} given {name}", x * weight))
        if allowed[p, y] != 0.0:
            parts.append((f"constraint: {values[y]} cannot follow {values[p]}", -inf))
    elif start[y] != 0.0:
        parts.append((f"constraint: {values[y]} cannot start a sequence", -inf))
    if t == len(path) - 1 and end[y] != 0.0:
        parts.append((f"constraint: {values[y]} cannot end a sequence", -inf))
    return parts
