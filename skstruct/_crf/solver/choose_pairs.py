"""Which pairs of a state feature and a label and which transitions have weights, and
how often the corpus shows each.

Weights stand in one vector: pairs of a state feature and a label, then, with
observation-conditioned transitions (those that look at the input), combinations of what
is seen with pairs of labels, then pairs of labels. In names *pair* alone is the former,
*conditioned pair* the next, and *label pair* the last.

A pair whose gradient cannot leave [-c1, c1] at any weights has weight zero at the
optimum, and is left out from the start. A probability is between 0 and 1, so the
gradient is between minus the number of times the pair was seen and the number of times
the feature was seen without the label. This drops most features of real corpora (those
seen once, under c1 = 1) and loses nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ..._core.compile import kernel
from ..._core.user_warnings import warn
from ..._data.places import offsets_of
from ...features.encoded import NO_BAG
from .corpus_sums import Occurrences
from .token_features import (
    TokenLists,
    alive_rows,
    features_of,
    features_of_tokens,
    keep_features,
    list_rows,
    number_chosen,
)

if TYPE_CHECKING:
    from ..._chain.bigram import ChainTask
    from .corpus_sums import Sequences
    from .objective import ObjectiveOptions

MANY_FEATURES = 4096
"""Features whose pairs are chosen at a time: what that needs stays in the cache."""
MOST_PAIRS = 2**31 - 1
"""They are numbered in 32 bits."""
MANY_WEIGHTS = 10_000_000
MANY_TIMES = 20
"""More weights, and more times those that the corpus shows, are warned of."""


class WeightLayout(NamedTuple):
    """Which weights there are, in their order.

    F features have K pairs with a label, in the order of features, then labels; behind
    them are M observation-conditioned transitions and Q pairs of labels.
    """

    row: np.ndarray  # (F,) int64: weight row of each feature
    first: np.ndarray  # (F + 1,) int32: first pair of each feature
    pair_label: np.ndarray  # (K,) int32: the label of each pair
    label_pair: np.ndarray  # (Q, 2) int64: previous label, next label
    conditioned_pair: (
        np.ndarray
    )  # (M, 3) int64: combination, previous label, next label


States: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]
"""The first three fields of a :class:`WeightLayout`: row, first, pair_label."""


# --------------------------------------------------------------------------------------
# State features
# --------------------------------------------------------------------------------------
@kernel
def _count(
    token: np.ndarray,
    lists: TokenLists,
    gold: np.ndarray,
    weight: np.ndarray,
    L: int,
    sizes: bool,
    total: np.ndarray,
    unknown: np.ndarray,
    seen: np.ndarray,
    occurrences: np.ndarray,
    largest: np.ndarray,
) -> None:
    """Weighted occurrences of each feature: all, at unlabelled tokens, with each gold
    label; see :class:`FeatureCounts`.

    ``seen`` (F * L,), ``occurrences`` and ``largest`` (F,) may be empty, and are then
    not counted; ``sizes``: count absolute values in ``seen``.
    """
    for i in range(token.shape[0] - 1):
        T = token[i + 1] - token[i]
        for k in range(T):
            t = token[i] + k
            begin, end, which, values = features_of(lists, lists.dense, token[i], k, T)
            for e in range(begin, end):
                f = which[e]
                x = values[e] if values.shape[0] > 0 else 1.0
                total[f] += weight[t] * abs(x)
                if largest.shape[0] > 0:
                    occurrences[f] += 1
                    largest[f] = max(largest[f], abs(x))
                if seen.shape[0] > 0:
                    if gold[t] < 0:
                        unknown[f] += weight[t] * abs(x)
                    else:
                        seen[f * L + gold[t]] += weight[t] * (abs(x) if sizes else x)


class FeatureCounts(NamedTuple):
    """How often n features occur, times the weights of sequences, with values."""

    total: np.ndarray  # (n,) float64
    unknown: np.ndarray  # (n,) float64: at tokens that have no label
    seen: np.ndarray  # (n * L,) float64: with each label
    occurrences: np.ndarray  # (n,) int64: without weights and values; may be empty
    largest: np.ndarray  # (n,) float64: the largest |value|; may be empty


def count_features(
    lists: TokenLists, sequences: Sequences, n: int, L: int = 0, complete: bool = False
) -> FeatureCounts:
    """Count how often n features occur, weighted.

    Parameters
    ----------
    lists : TokenLists
        The features of the tokens.
    sequences : Sequences
    n : int
    L : int
        Labels to tell apart.
    complete : bool
        Whether to count in the sequences whose labels are all given alone, for
        training. Else, to find out what the corpus shows, values count by their sizes:
        those of both signs can add up to zero.

    Returns
    -------
    FeatureCounts
        ``occurrences`` and ``largest`` only if ``complete``.
    """
    more = n if complete else 0
    found = FeatureCounts(
        np.zeros(n),
        np.zeros(n),
        np.zeros(n * L),
        np.zeros(more, np.int64),
        np.zeros(more),
    )
    weight = sequences.token_weight(complete)
    _count(sequences.token, lists, sequences.gold, weight, L, not complete, *found)
    return found


def choose_states(
    task: ChainTask,
    sequences: Sequences,
    n_labels: int,
    n_rows: int,
    options: ObjectiveOptions,
) -> tuple[TokenLists, States]:
    """Choose the pairs of a feature and a label that have weights.

    Returns
    -------
    lists : TokenLists
        The features of the tokens that have weights.
    states : tuple (row, first, pair_label)
        As in :class:`WeightLayout`.
    """
    lists = features_of_tokens(task, sequences, alive_rows(n_rows, task.node_alive))
    rows = np.flatnonzero(count_features(lists, sequences, n_rows).total > options.c1)
    lists = keep_features(lists, number_chosen(n_rows, rows))
    counts = count_features(lists, sequences, rows.shape[0], n_labels)[:3]
    states, of_feature = screen_pairs(rows, *counts, lists.signed, options)
    if states[0].shape[0] < rows.shape[0]:
        lists = keep_features(lists, of_feature)
    return lists, states


def check_number(n: int, n_shown: int, what: str, every: bool) -> None:
    """Check that n weights of a kind, ``what``, can be numbered.

    Warns if they are many for the ``n_shown`` that the corpus shows, if ``every``: if
    others take part, too.

    Raises
    ------
    ValueError
        If there are more than ``MOST_PAIRS``.
    """
    if n > MOST_PAIRS:
        text = f"the corpus has {n} {what}, at most {MOST_PAIRS} can have weights: "
        raise ValueError(f"{text}use all_pairs=False, or a larger c1 or min_count")
    if every and n > max(MANY_WEIGHTS, MANY_TIMES * n_shown):
        text = f"{n} {what} have weights, of which the corpus shows {n_shown}: "
        warn(
            f"{text}all_pairs='transitions' or False takes a fraction of time and "
            f"memory"
        )


def screen_pairs(
    rows: np.ndarray,
    total: np.ndarray,
    unknown: np.ndarray,
    seen: np.ndarray,
    signed: bool,
    options: ObjectiveOptions,
) -> tuple[States, np.ndarray]:
    """Choose the pairs whose gradient can be outside [-c1, c1] at some weights.

    Parameters
    ----------
    rows : ndarray of shape (F,)
        The weight row of each feature.
    total, unknown, seen : ndarray
        Their counts, see :func:`count_features`.
    signed : bool
        Whether values may be negative: the counts of labels then say nothing of the
        bounds.
    options : ObjectiveOptions

    Returns
    -------
    states : tuple (row, first, pair_label)
        As in :class:`WeightLayout`.
    of_feature : ndarray of shape (F,)
        The new number of each feature, by its old one; -1 if it has no pair.
    """
    F = rows.shape[0]
    L = seen.shape[0] // max(F, 1)
    keep = np.zeros((F, L), np.bool_)
    by_feature = seen.reshape(F, L)
    for a in range(0, F, MANY_FEATURES):
        part = slice(a, a + MANY_FEATURES)
        every = total[part, None]
        shown = by_feature[part]
        if signed:
            keep[part] = every > options.c1
        else:
            keep[part] = (shown + unknown[part, None] > options.c1) | (
                every - shown > options.c1
            )
        if not options.all_states:
            keep[part] &= (shown != 0.0) & (shown >= options.least_seen)
    n_pairs = keep.sum(axis=1)
    n_shown = 0
    if options.all_states:
        n_shown = int(np.count_nonzero(keep & (by_feature != 0.0)))
    what = "pairs of a feature and a label"
    check_number(int(n_pairs.sum()), n_shown, what, options.all_states)
    useful = np.flatnonzero(n_pairs)
    label = (np.flatnonzero(keep) % max(L, 1)).astype(np.int32)
    first = offsets_of(n_pairs[useful]).astype(np.int32)
    return (rows[useful], first, label), number_chosen(F, useful)


# --------------------------------------------------------------------------------------
# Pairs of labels
# --------------------------------------------------------------------------------------
def _label_pairs(sequences: Sequences, L: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the tokens whose label and predecessor's label are known, and the pair of
    labels of each, p * L + y.
    """
    t = np.flatnonzero(sequences.has_predecessor())
    p = sequences.gold[t - 1].astype(np.int64)
    y = sequences.gold[t].astype(np.int64)
    known = (p >= 0) & (y >= 0)
    return t[known], (p * L + y)[known]


def find_label_pairs(sequences: Sequences, L: int, least: float = 0.0) -> np.ndarray:
    """Find the pairs of labels, (L * L,) bool, that the corpus shows.

    If ``least`` is above 1, they are those that it shows so many times.
    """
    return np.bincount(_label_pairs(sequences, L)[1], minlength=L * L) >= max(least, 1)


def count_label_pairs(
    sequences: Sequences, label_pair: np.ndarray, L: int
) -> np.ndarray:
    """Count each pair of labels, ``label_pair`` (Q, 2), weighted: (Q,).

    Sequences count whose labels are all given.
    """
    t, number = _label_pairs(sequences, L)
    seen = np.bincount(
        number, sequences.token_weight(complete=True)[t], minlength=L * L
    )
    return seen[label_pair[:, 0] * L + label_pair[:, 1]]


def choose_label_pairs(
    shown: np.ndarray, transition: np.ndarray, options: ObjectiveOptions
) -> np.ndarray:
    """Choose the pairs of labels, (Q, 2), that have a weight.

    ``shown`` (L * L,) bool: those that the corpus shows. Pairs that constraints forbid,
    -inf in ``transition`` (L, L), have none.
    """
    L = transition.shape[0]
    allowed = (
        (shown | options.all_transitions) & (transition.ravel() == 0.0) & options.bigram
    )
    return np.stack(np.divmod(np.flatnonzero(allowed), L), axis=1)


# --------------------------------------------------------------------------------------
# Transitions that look at the input
# --------------------------------------------------------------------------------------
UNKNOWN = -1
OUTSIDE = -2
"""In place of a pair of labels: one is not known; there is no token before."""


class Combinations(NamedTuple):
    """What observation-conditioned transitions look at: E combinations of tokens."""

    lists: TokenLists
    token: np.ndarray  # (E,) int64: the token of each
    # (E,) int64: the pair of labels there, p * L + y, or one of the numbers above
    labels: np.ndarray

    @classmethod
    def of(
        cls, task: ChainTask, sequences: Sequences, n_edge_rows: int, L: int
    ) -> Combinations:
        """List the combinations of a corpus of L labels, below ``n_edge_rows``."""
        if task.edges.row.shape[0] == 0:
            return cls(TokenLists.new(0), *np.zeros((2, 0), np.int64))
        of_row = alive_rows(n_edge_rows, task.edge_alive)
        lists = list_rows(task, sequences.order, task.edges, NO_BAG, of_row)
        gold = sequences.gold.astype(np.int64)
        before = np.roll(gold, 1)
        labels = np.where((before >= 0) & (gold >= 0), before * L + gold, UNKNOWN)
        labels[~sequences.has_predecessor()] = OUTSIDE
        token = np.repeat(np.arange(gold.shape[0]), np.diff(lists.start))
        return cls(lists, token, labels[token])

    def counts(self, sequences: Sequences, L: int) -> tuple[np.ndarray, np.ndarray]:
        """Count how often combinations occur at tokens with a predecessor, weighted.

        Returns
        -------
        keys : ndarray
            The combination, times L * L + 2, and what is counted: p * L + y for two
            labels, L * L where one is not known, L * L + 1 for all.
        counts : ndarray
        """
        use = np.flatnonzero(self.labels != OUTSIDE)
        at = self.lists.item[use].astype(np.int64) * (L * L + 2)
        labels = self.labels[use]
        keys = np.concatenate(
            [at + np.where(labels >= 0, labels, L * L), at + L * L + 1]
        )
        return add_up(keys, np.tile(sequences.token_weight()[self.token[use]], 2))

    def with_weights(
        self,
        sequences: Sequences,
        conditioned_pair: np.ndarray,
        n_edge_rows: int,
        L: int,
    ) -> tuple[Occurrences, np.ndarray]:
        """Give combinations the weights ``conditioned_pair`` (M, 3); changes the lists.

        Returns
        -------
        Occurrences
            The combinations with their weights.
        ndarray of shape (M,)
            Weighted count of each.
        """
        number = (conditioned_pair * np.array([L * L, L, 1])).sum(axis=1)
        key = self.lists.item.astype(np.int64) * (L * L) + self.labels
        known = (self.labels >= 0) & np.isin(key, number)
        weight = sequences.token_weight(complete=True)[self.token[known]]
        seen = np.bincount(
            np.searchsorted(number, key[known]), weight, minlength=number.shape[0]
        )
        every = np.arange(n_edge_rows + 1)
        first = np.searchsorted(conditioned_pair[:, 0], every).astype(np.int32)
        useful = np.where(np.diff(first) > 0, every[:-1], -1).astype(np.int32)
        lists = TokenLists.new(0)
        if number.shape[0]:
            lists = keep_features(self.lists, useful)
        return Occurrences(lists, first, (number % (L * L)).astype(np.int32)), seen


def add_up(keys: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Add up the counts (n,) of each key (n,): (distinct keys, ascending; sums)."""
    keys, which = np.unique(keys, return_inverse=True)
    return keys, np.bincount(which, counts, minlength=keys.shape[0])


def choose_conditioned(
    keys: np.ndarray,
    counts: np.ndarray,
    transition: np.ndarray,
    options: ObjectiveOptions,
) -> np.ndarray:
    """Choose the transitions that look at the input and can have a weight: (M, 3).

    Parameters
    ----------
    keys, counts : ndarray
        As of :meth:`Combinations.counts`.
    transition : ndarray of shape (L, L)
        -inf for pairs of labels that constraints forbid.
    options : ObjectiveOptions
    """
    L = transition.shape[0]
    n = L * L
    feature = keys // (n + 2)
    what = keys % (n + 2)
    unknown, total = np.zeros((2, int(feature.max(initial=-1)) + 1))
    unknown[feature[what == n]] = counts[what == n]
    total[feature[what > n]] = counts[what > n]
    shown = what < n
    number = (feature * n + what)[shown]
    feature = feature[shown]
    seen = counts[shown]
    keep = (seen + unknown[feature] > options.c1) | (total[feature] - seen > options.c1)
    many = np.flatnonzero(total > options.c1)
    here = number[keep]
    n_pairs = many.shape[0] * n if options.all_states else here.shape[0]
    check_number(
        n_pairs, here.shape[0], "transitions that look at the input", options.all_states
    )
    if options.all_states:  # of a combination, too
        every = (many[:, None] * n + np.arange(n)).ravel()
        here = np.setdiff1d(every, number[~keep], assume_unique=True)
    here = here[transition.ravel()[here % n] == 0.0]
    return np.stack([here // n, here // L % L, here % L], axis=1)


# --------------------------------------------------------------------------------------
# All weights
# --------------------------------------------------------------------------------------
def choose_weights(
    task: ChainTask,
    sequences: Sequences,
    transition: np.ndarray,
    n_rows: int,
    n_edge_rows: int,
    options: ObjectiveOptions,
    layout: WeightLayout | None = None,
) -> tuple[WeightLayout, TokenLists, Combinations]:
    """Choose the weights that a corpus needs, or take those of a given layout.

    Returns
    -------
    WeightLayout
    TokenLists
        The features of its tokens.
    Combinations
    """
    L = transition.shape[0]
    combinations = Combinations.of(task, sequences, n_edge_rows, L)
    if layout is not None:
        return (
            layout,
            features_of_tokens(task, sequences, number_chosen(n_rows, layout.row)),
            combinations,
        )
    lists, states = choose_states(task, sequences, L, n_rows, options)
    shown = find_label_pairs(sequences, L, options.least_seen)
    conditioned_pair = choose_conditioned(
        *combinations.counts(sequences, L), transition, options
    )
    label_pair = choose_label_pairs(shown, transition, options)
    return WeightLayout(*states, label_pair, conditioned_pair), lists, combinations
