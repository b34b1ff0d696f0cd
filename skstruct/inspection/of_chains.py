"""What each feature contributes to the score of a labelling of a chain."""

from dataclasses import replace
from math import fsum, inf

import numpy as np

from ..data.inputs import as_sequences, as_tokens, check_same_lengths, describe, lengths_of
from ..taggers.constraints import scheme_of
from .explanations import Counterfactual, Explanation, TokenExplanation
from .feature_lists import active_features, chain_of, tokens_of, weight_rows
from .pictures import segment_reader

CLEAR = 1e-9
"""By how much, relative to the scores, another label has to be better: more than is lost in rounding."""


def explain_chain(tagger, X, labels=None, allowed=None):
    """See :func:`explaining.explain`; ``X`` holds one sequence, ``allowed`` the labels it may take."""
    model = chain_of(tagger)
    given = as_tokens(X)
    path, labels = _path(tagger, given, labels, allowed)
    segments_of = segment_reader(model.labels.values, scheme_of(tagger))
    if not path:
        return Explanation([], 0.0, [], None if segments_of is None else [])
    active, sequence = active_features(model, given), tokens_of(given)
    weights = _weights_by_token(model, active)
    emission, transition = _scores(model, active, weights)
    if allowed is not None:
        emission[~_options(model.labels, allowed[0])] = -inf
    trigrams = _trigrams(model) if model.order == 2 else None
    best = best_with_each_label(emission, transition, model.constraints, trigrams)
    tokens = []
    for t, y in enumerate(path):
        values = np.array([x for _, x, _ in active.nodes[t]])
        names = [name for _, _, name in active.nodes[t]]
        contributions = values[:, None] * weights[t]
        tokens.append(
            TokenExplanation(
                token=sequence[t],
                label=labels[t],
                features=list(zip(names, contributions[:, y].tolist())),
                transitions=_into(model, path, t, active.edges[t]),
                runner_up=None,  # known once the score is
                margin=inf,
                counterfactual=_change(model, best[t], y, contributions, active.nodes[t]),
            )
        )
    score = fsum(x for token in tokens for _, x in token.features + token.transitions)
    rivals = zip(*runners_up(best, path, score))
    tokens = [
        replace(token, runner_up=None if other < 0 else model.labels.values[other], margin=margin)
        for token, (other, margin) in zip(tokens, rivals)
    ]
    return Explanation(labels, score, tokens, None if segments_of is None else segments_of(labels))


def _options(labels, allowed):
    """Whether a label may be taken, (T, L)."""
    out = np.ones((len(allowed), len(labels)), np.bool_)
    for t, choice in enumerate(allowed):
        if choice is not None:
            out[t] = [label in choice for label in labels.values]
    return out


def _change(model, best, y, contributions, features):
    """What would have to change; the bias of rows of numbers is no number that could be zero."""
    free = [k for k, (row, _, _) in enumerate(features) if row != model.encoder.bias_row]
    names = [features[k][2] for k in free]
    return smallest_change(best, y, contributions[free], names, model.labels.values)


def _label_id(labels, label, where=""):
    try:
        return labels.ids[label]
    except (KeyError, TypeError):
        raise ValueError(f"{where}{describe(label)} is not a label of the model") from None


def _path(tagger, given, labels, allowed):
    """(ids, labels) of the labelling to explain."""
    known = tagger._model.labels
    if labels is not None:
        (labels,) = as_sequences([labels], "labels", "label")
        check_same_lengths(given.lengths, lengths_of([labels]))
        for t, label in enumerate(labels):
            if label is not None:
                _label_id(known, label, f"labels: position {t}: ")
    if labels is None or None in labels:
        allowed = allowed if labels is None else [labels]
        labels = tagger.predict(given, allowed=allowed)[0]
    path = [_label_id(known, label) for label in labels]
    return path, [known.values[y] for y in path]


def _weights_by_token(model, active):
    """Of each token the weights of its features, (n_features, L)."""
    weights = weight_rows(model.nodes, [row for features in active.nodes for row, _, _ in features])
    return np.split(weights, np.cumsum([len(features) for features in active.nodes])[:-1])


def _scores(model, active, weights):
    """Emissions (T, L), and transitions (1, L, L) or (T, L, L), constraints included."""
    T, L = len(active.nodes), len(model.labels)
    emission = np.zeros((T, L))
    for t, features in enumerate(active.nodes):
        emission[t] = np.array([x for _, x, _ in features]) @ weights[t]
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
    contributions = []
    if t > 0:
        p = path[t - 1]
        arrow = f"transition {values[p]} -> {values[y]}"
        if model.encoder.has_bigram:
            contributions.append((arrow, float(weight_rows(model.edges, [p])[0, y])))
        if model.order == 2:
            a = path[t - 2] if t > 1 else -1
            before = values[a] if t > 1 else "(start)"
            weight = float(weight_rows(model.trigrams, [p * (L + 1) + a + 1])[0, y])
            contributions.append((f"transition {before} -> {values[p]} -> {values[y]}", weight))
        for e, x, name in features:
            weight = float(weight_rows(model.edges, [e * L + p])[0, y])
            contributions.append((f"{arrow} given {name}", x * weight))
        if allowed[p, y] != 0.0:
            contributions.append((f"constraint: {values[y]} cannot follow {values[p]}", -inf))
    elif start[y] != 0.0:
        contributions.append((f"constraint: {values[y]} cannot start a sequence", -inf))
    if t == len(path) - 1 and end[y] != 0.0:
        contributions.append((f"constraint: {values[y]} cannot end a sequence", -inf))
    return contributions


# --------------------------------------------------------------------------------------------------
# For each token the best labelling that differs there, and what would make it the best of all
# --------------------------------------------------------------------------------------------------
def best_with_each_label(emission, transition, constraints, trigrams=None):
    """The best scores of labellings by the label of each token, (T, L).

    With α the best scores of prefixes and β those of suffixes, by their two labels, the best labelling that
    gives y to t scores ``max_p α[t][p, y] + β[t][p, y]``. Without ``trigrams``, (L + 1, L, L) [a, p, y], the
    label p makes no difference: these axes then have the length 1.
    """
    T, L = emission.shape
    start, _, end = constraints
    weight = np.zeros((2, 1, 1)) if trigrams is None else trigrams
    into = [weight[1:] if t > 1 else weight[:1] for t in range(T)]
    matrix = np.broadcast_to(transition, (T, L, L))
    best, prefix = np.empty((T, L)), [(start + emission[0])[None]]  # [t][p, y]: y at t, p before it
    for t in range(1, T):
        scores = (prefix[-1][:, :, None] + into[t]).max(axis=0) + matrix[t] + emission[t]
        prefix.append(scores.max(axis=0, keepdims=True) if trigrams is None else scores)
    suffix = end[None]  # [p, y]: what follows
    for t in range(T - 1, -1, -1):
        best[t] = (prefix[t] + suffix).max(axis=0)
        suffix = (into[t] + (matrix[t] + (emission[t] + suffix))).max(axis=2)
    return best


def runners_up(best, path, score):
    """For each token the label of the best labelling that differs there, and how far it is behind.

    Parameters
    ----------
    best : ndarray of shape (T, L)
        See :func:`best_with_each_label`.
    path : list of int
    score : float
        That of the path.

    Returns
    -------
    list of int
        -1 where there is no such labelling.
    list of float
    """
    best = best.copy()
    best[np.arange(len(path)), path] = -np.inf
    other = best.argmax(axis=1)
    reached = best[np.arange(len(path)), other]
    possible = reached > -np.inf
    margins = np.where(possible, score - np.where(possible, reached, 0.0), np.inf)
    return np.where(possible, other, -1).tolist(), margins.tolist()


def smallest_change(best, y, contributions, names, labels):
    """The fewest features of one token without which it has another label.

    What the rest of the sequence says about a label does not depend on the token's features. So the label
    that wins without some of them is the one with the largest ``best`` minus what they contribute; against
    one rival the fewest are those that tell the two labels apart most.

    Parameters
    ----------
    best : ndarray of shape (L,)
        The best scores of labellings by the label of this token.
    y : int
        Its label.
    contributions : ndarray of shape (n, L)
        Of the features that can be removed.
    names : list of str
    labels : list

    Returns
    -------
    Counterfactual or None
    """
    n = contributions.shape[0]
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
    rival = int(np.lexsort((-np.where(np.isfinite(surplus), surplus, -np.inf), count))[0])
    removed = np.sort(order[: count[rival] + 1, rival])
    winner = int((best - contributions[removed].sum(axis=0)).argmax())
    return Counterfactual(labels[winner], [names[k] for k in removed.tolist()])
