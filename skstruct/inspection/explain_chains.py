"""The contribution of each feature to the score of a labelling of a chain."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import repeat
from math import fsum, inf
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

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
from .feature_words import templates_of
from .pictures import segment_reader

if TYPE_CHECKING:
    from .._chain.chain_model import ChainModel
    from .._core.store import Store
    from .._data.corpus import TokenCorpus
    from .._data.types import Corpus
    from .explanations import Contribution


Constraints: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]
"""The labels that may start a sequence (L,), follow each other (L, L) [p, y], and end
one (L,): 0, or -inf for those that may not.
"""

CLEAR = 1e-9
"""By how much, relative to the scores, another label has to be better: more than is
lost in rounding.
"""


def explain_chain(
    tagger: Any,
    X: Corpus,
    labels: Collection[Any] | None = None,
    allowed: Sequence[Any] | None = None,
    rivals: bool = True,
) -> Explanation:
    """Explain a labelling by a tagger; :func:`skstruct.inspection.explain` says more.

    ``X`` holds one sequence, ``allowed`` the labels that its tokens may take.

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
    others: Iterable[tuple[Any, float, Counterfactual | None]]
    others = repeat((None, inf, None))
    if rivals and path:
        others = _others(model, active, path, score, allowed)
    each = zip(tokens_of(given), labels, contributions, others)
    tokens = [
        TokenExplanation(token, label, features, transitions, *other)
        for token, label, (features, transitions), other in each
    ]
    segments = None if segments_of is None else segments_of(labels)
    templates = templates_of(getattr(model, "lines", None))
    return Explanation(labels, score, tokens, segments, templates)


class Active(NamedTuple):
    """The n features of a token that the model knows."""

    names: Sequence[str]
    values: np.ndarray  # (n,)
    weights: np.ndarray  # (n, L)
    # (n,) bool: the bias of rows of numbers is no number that could be zero
    can_go: np.ndarray
    # of each combination, whose weights are in the rows e * L + p: e, value, name
    edges: list[tuple[int, float, str]]


def active_features(model: ChainModel, given: TokenCorpus) -> list[Active]:
    """Find the :class:`Active` features of each token of a corpus of one sequence."""
    nodes, edges = model.encoder.features_by_token(model.encode(given))
    used = [row for features in nodes for row, _, _ in features]
    flat = weight_rows(model.nodes, used)
    weights = np.split(flat, np.cumsum(lengths_of(nodes))[:-1])
    active = []
    for features, mine, into in zip(nodes, weights, edges):
        rows, values, names = zip(*features) if features else ((), (), ())
        can_go = np.array(rows) != model.encoder.bias_row
        active.append(Active(names, np.array(values), mine, can_go, into))
    return active


def _others(
    model: ChainModel,
    active: list[Active],
    path: list[int],
    score: float,
    allowed: Sequence[Any] | None,
) -> list[tuple[Any, float, Counterfactual | None]]:
    """Find for each token its runner-up, the margin, and what would have to change."""
    emission, transition = _scores(model, active)
    values = model.labels.values
    if allowed is not None:
        options = [
            [some is None or label in some for label in values] for some in allowed[0]
        ]
        emission[~np.array(options)] = -inf
    trigrams = None
    if model.trigrams is not None:
        trigrams = _trigrams(model.trigrams, len(values))
    best = best_with_each_label(emission, transition, model.constraints, trigrams)
    changes = [smallest_change(*each, values) for each in zip(best, path, active)]
    return [
        (*other, change)
        for other, change in zip(runners_up(best, path, score, values), changes)
    ]


def _path(
    tagger: Any,
    given: TokenCorpus,
    labels: Collection[Any] | None,
    allowed: Sequence[Any] | None,
) -> tuple[list[int], list[Any]]:
    """Return the ids and the labels of the labelling to explain."""
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


def _scores(model: ChainModel, active: list[Active]) -> tuple[np.ndarray, np.ndarray]:
    """Sum up emissions (T, L), and transitions (1, L, L) or (T, L, L), constrained."""
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


def _trigrams(store: Store, L: int) -> np.ndarray:
    """Return the weights of label trigrams, (L + 1, L, L) [a, p, y].

    The label a is counted from 1; 0 is the start of the sequence.
    """
    rows = weight_rows(store, np.arange(L * (L + 1)))
    return rows.reshape(L, L + 1, L).transpose(1, 0, 2)


def _into(
    model: ChainModel, path: list[int], t: int, features: list[tuple[int, float, str]]
) -> Iterator[Contribution]:
    """Yield the contributions of the transition into token t, broken constraints
    too.
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
        if model.trigrams is not None:
            a = path[t - 2] if t > 1 else -1
            before = values[a] if t > 1 else "(start)"
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
def best_with_each_label(
    emission: np.ndarray,
    transition: np.ndarray,
    constraints: Constraints,
    trigrams: np.ndarray | None = None,
) -> np.ndarray:
    """Compute the best scores of labellings by the label of each token, (T, L).

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
    best = np.empty((T, L))
    prefix = [(start + emission[0])[None]]  # [t][p, y]: y at t, p before it
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


def runners_up(
    best: np.ndarray, path: list[int], score: float, labels: Sequence[Any]
) -> list[tuple[Any, float]]:
    """Find for each token the label of the best labelling that differs there.

    With it comes by how much that labelling falls behind.

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


def smallest_change(
    best: np.ndarray, y: int, token: Active, labels: Sequence[Any]
) -> Counterfactual | None:
    """Find the fewest features of one token without which it has another label.

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
