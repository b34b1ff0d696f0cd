"""What each feature contributes to the score of a labelling of a chain."""

from itertools import repeat
from math import fsum, inf
from typing import NamedTuple

import numpy as np

from .._data.elements import spelled
from .._data.inputs import (
    as_sequences,
    as_tokens,
    check_same_lengths,
    describe,
    lengths_of,
)
from .._data.labels import SEVERAL
from .._taggers.constraints import scheme_of
from .explanations import Counterfactual, Explanation, TokenExplanation
from .feature_lists import chain_of, tokens_of, weight_rows
from .pictures import segment_reader

CLEAR = 1e-9
"""By how much, relative to the scores, another label has to be better: more than is
lost in rounding.
"""


def explain_chain(tagger, X, labels=None, allowed=None, rivals=True):
    """See :func:`explaining.explain`; ``X`` holds one sequence, ``allowed`` the labels
    it may take.

    Without ``rivals`` there are no runners-up, and nothing is said of what would have
    to change.
    """
    model = chain_of(tagger)
    given = as_tokens(X)
    path, labels = _path(tagger, given, labels, allowed)
    segments_of = segment_reader(model.labels.values, scheme_of(tagger))
    active = active_features(model, given)
    contributions = []
    for t, (y, token) in enumerate(zip(path, active)):
        values = (token.values * token.weights[:, y]).tolist()
        contributions.append(
            (list(zip(token.names, values)), list(_into(model, path, t, token.edges)))
        )
    score = fsum(x for both in contributions for listed in both for _, x in listed)
    others = (
        _others(model, active, path, score, allowed)
        if rivals and path
        else repeat((None, inf, None))
    )
    each = zip(tokens_of(given), labels, contributions, others)
    tokens = [
        TokenExplanation(token, label, *both, *other)
        for token, label, both, other in each
    ]
    return Explanation(
        labels, score, tokens, None if segments_of is None else segments_of(labels)
    )


class Active(NamedTuple):
    """The n features of a token that the model knows."""

    names: list
    values: np.ndarray  # (n,)
    weights: np.ndarray  # (n, L)
    can_go: (
        np.ndarray
    )  # (n,) bool: the bias of rows of numbers is no number that could be zero
    edges: list  # (e, value, name) of each combination, whose weights are in the rows e * L + p


def active_features(model, given):
    """For each token of one sequence, alone in a checked corpus, its :class:`Active`."""
    nodes, edges = model.encoder.features_by_token(model.encode(given))
    weights = weight_rows(
        model.nodes, [row for features in nodes for row, _, _ in features]
    )
    weights = np.split(weights, np.cumsum(lengths_of(nodes))[:-1])
    active = []
    for features, mine, into in zip(nodes, weights, edges):
        rows, values, names = zip(*features) if features else ((), (), ())
        active.append(
            Active(
                names,
                np.array(values),
                mine,
                np.array(rows) != model.encoder.bias_row,
                into,
            )
        )
    return active


def _others(model, active, path, score, allowed):
    """For each token its runner-up, the margin to it, and what would have to change."""
    (emission, transition), values = _scores(model, active), model.labels.values
    if allowed is not None:
        options = [
            [some is None or label in some for label in values] for some in allowed[0]
        ]
        emission[~np.array(options)] = -inf
    trigrams = _trigrams(model) if model.order == 2 else None
    best = best_with_each_label(emission, transition, model.constraints, trigrams)
    changes = [smallest_change(*each, values) for each in zip(best, path, active)]
    return [
        (*other, change)
        for other, change in zip(runners_up(best, path, score, values), changes)
    ]


def _path(tagger, given, labels, allowed):
    """(ids, labels) of the labelling to explain."""
    known = tagger._model.labels
    if labels is not None:
        (labels,) = as_sequences([labels], "labels", "label")
        check_same_lengths(given.lengths, lengths_of([labels]))
        # of several labels those that the model knows
        labels = [
            {y for y in known.values if y in x} if isinstance(x, SEVERAL) else x
            for x in labels
        ]
        for t, label in enumerate(labels):
            if (
                label is not None
                and not isinstance(label, set)
                and label not in known.values
            ):
                raise ValueError(
                    f"labels: position {t}: {describe(label)} is not a label of the model"
                )
    if (
        labels is None
        or None in labels
        or any(isinstance(label, set) for label in labels)
    ):
        (labels,) = tagger.predict(
            given, allowed=allowed if labels is None else [labels]
        )
    path = [known.ids[label] for label in labels]
    return path, [known.values[y] for y in path]


def _scores(model, active):
    """Emissions (T, L), and transitions (1, L, L) or (T, L, L), constraints included."""
    L = len(model.labels)
    emission = np.array([token.values @ token.weights for token in active])
    shared = model.constraints[1].copy()
    if model.encoder.has_bigram:
        shared += weight_rows(model.edges, np.arange(L))
    if not any(token.edges for token in active):
        return emission, shared[None]
    transition = np.repeat(shared[None], len(active), axis=0)
    for t, token in enumerate(active):
        for e, x, _ in token.edges:
            transition[t] += x * weight_rows(model.edges, e * L + np.arange(L))
    return emission, transition


def _trigrams(model):
    """Weights of label trigrams, (L + 1, L, L) [a, p, y]; a = 0 is the start of the
    sequence.
    """
    L = len(model.labels)
    return (
        weight_rows(model.trigrams, np.arange(L * (L + 1)))
        .reshape(L, L + 1, L)
        .transpose(1, 0, 2)
    )


def _into(model, path, t, features):
    """Yield the contributions of the transition into token t, and of constraints broken
    there.
    """
    values = list(map(spelled, model.labels.values))
    L = len(values)
    y = path[t]
    start, allowed, end = model.constraints
    if t > 0:
        p = path[t - 1]
        arrow = f"transition {values[p]} -> {values[y]}"
        if model.encoder.has_bigram:
            yield arrow, float(weight_rows(model.edges, [p])[0, y])
        if model.order == 2:
            a, before = (path[t - 2], values[path[t - 2]]) if t > 1 else (-1, "(start)")
            weight = float(weight_rows(model.trigrams, [p * (L + 1) + a + 1])[0, y])
            yield f"transition {before} -> {values[p]} -> {values[y]}", weight
        for e, x, name in features:
            yield (
                f"{arrow} given {name}",
                x * float(weight_rows(model.edges, [e * L + p])[0, y]),
            )
        if allowed[p, y] != 0.0:
            yield f"constraint: {values[y]} cannot follow {values[p]}", -inf
    elif start[y] != 0.0:
        yield f"constraint: {values[y]} cannot start a sequence", -inf
    if t == len(path) - 1 and end[y] != 0.0:
        yield f"constraint: {values[y]} cannot end a sequence", -inf


# --------------------------------------------------------------------------------------
# For each token the best labelling that differs there, and what would make it the best
# of all
# --------------------------------------------------------------------------------------
def best_with_each_label(emission, transition, constraints, trigrams=None):
    """The best scores of labellings by the label of each token, (T, L).

    With α the best scores of prefixes and β those of suffixes, by their two labels, the
    best labelling that gives y to t scores ``max_p α[t][p, y] + β[t][p, y]``. Without
    ``trigrams``, (L + 1, L, L) [a, p, y], the label p makes no difference: these axes
    then have the length 1.
    """
    T, L = emission.shape
    start, _, end = constraints
    weight = np.zeros((2, 1, 1)) if trigrams is None else trigrams
    into = [weight[1:] if t > 1 else weight[:1] for t in range(T)]
    matrix = np.broadcast_to(transition, (T, L, L))
    best, prefix = (
        np.empty((T, L)),
        [(start + emission[0])[None]],
    )  # [t][p, y]: y at t, p before it
    for t in range(1, T):
        scores = (
            (prefix[-1][:, :, None] + into[t]).max(axis=0) + matrix[t] + emission[t]
        )
        prefix.append(scores.max(axis=0, keepdims=True) if trigrams is None else scores)
    suffix = end[None]  # [p, y]: what follows
    for t in range(T - 1, -1, -1):
        best[t] = (prefix[t] + suffix).max(axis=0)
        suffix = (into[t] + (matrix[t] + (emission[t] + suffix))).max(axis=2)
    return best


def runners_up(best, path, score, labels):
    """For each token the label of the best labelling that differs there, and how far it
    is behind.

    Parameters
    ----------
    best : ndarray of shape (T, L)
        See :func:`best_with_each_label`.
    path : list of int
    score : float
        That of the path.
    labels : list

    Returns
    -------
    list of (label, float)
        (None, inf) where there is no such labelling.
    """
    best = best.copy()
    best[np.arange(len(path)), path] = -inf
    other = best.argmax(axis=1).tolist()
    reached = best.max(axis=1).tolist()
    return [
        (labels[y], score - x) if x > -inf else (None, inf)
        for y, x in zip(other, reached)
    ]


def smallest_change(best, y, token, labels):
    """The fewest features of one token without which it has another label.

    What the rest of the sequence says about a label does not depend on the token's
    features. So the label that wins without some of them is the one with the largest
    ``best`` minus what they contribute; against one rival the fewest are those that
    tell the two labels apart most.

    Parameters
    ----------
    best : ndarray of shape (L,)
        The best scores of labellings by the label of this token.
    y : int
        Its label.
    token : Active
    labels : list

    Returns
    -------
    Counterfactual or None
    """
    free = np.flatnonzero(token.can_go)
    contributions = (token.values[:, None] * token.weights)[free]
    n = len(free)
    if not np.isfinite(best[y]) or not n:
        return None
    clear = CLEAR * max(1.0, abs(float(best[y])))
    behind = best[y] - best
    behind[y] = np.inf
    if behind.min() < -clear:
        return None
    gain = contributions[:, [y]] - contributions
    order = np.argsort(-gain, axis=0, kind="stable")
    column = np.arange(best.shape[0])
    total = np.cumsum(gain[order, column], axis=0)
    enough = total > behind + clear
    count = np.where(enough.any(axis=0), enough.argmax(axis=0), n)
    if count.min() == n:
        return None
    surplus = total[np.minimum(count, n - 1), column] - behind
    rival = int(
        np.lexsort((-np.where(np.isfinite(surplus), surplus, -np.inf), count))[0]
    )
    removed = np.sort(order[: count[rival] + 1, rival])
    winner = int((best - contributions[removed].sum(axis=0)).argmax())
    return Counterfactual(
        labels[winner], [token.names[k] for k in free[removed].tolist()]
    )
