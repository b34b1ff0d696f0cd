"""What a pass over a corpus works with: sums of weights, transitions, groups of
sequences, scratch, and where expectations are added up.

Most transition weights are zero under L1, so exp(w) - 1 is a sparse matrix (N.
Sokolovska, T. Lavergne, O. Cappé and F. Yvon 2010, "Efficient learning of sparse
conditional random fields for supervised sequence labeling", IEEE Journal of Selected
Topics in Signal Processing 4): ``Σ_p a(p) exp w(p, y) = Σ_p a(p) + Σ_{p: w(p, y) ≠ 0}
a(p) (exp w(p, y) - 1)``.

Letters: T tokens, L labels, t token, y label, p previous label, W sequences in a group,
l one of them, q the first of them, P places of a label (tokens × sequences).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..._core.compile import inline, inline_any_order, kernel
from ..._data.places import ranges
from .token_features import TokenLists

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..._chain.bigram import ChainTask


LONGEST = 2048
LONGEST_OF_MANY = 200
MANY_LABELS = 16
"""A sequence of more tokens is a group of its own: with so many labels and more, or
with fewer. Its inner loops run over labels, which are vectors where there are many,
while groups of long sequences leave the cache.
"""


def longest_in_groups(n_labels: int) -> int:
    """Return how many tokens a sequence may have to share a group with others."""
    return LONGEST if n_labels < MANY_LABELS else LONGEST_OF_MANY


class Occurrences(NamedTuple):
    """Features of tokens, each with its weights: F features, K weights."""

    lists: TokenLists  # of features
    first: np.ndarray  # (F + 1,) int32: first weight of each feature
    # (K,) int32: label of each weight; of transition weights p * L + y
    label: np.ndarray


class Sequences(NamedTuple):
    """Labelled sequences by descending length: S sequences, N tokens, G groups."""

    order: np.ndarray  # (S,) int64: their numbers where they were taken from
    token: np.ndarray  # (S + 1,) int64: first token of each, and N
    # (G + 1,) int64: first sequence of each group (see `expectations`)
    group: np.ndarray
    gold: np.ndarray  # (N,) int32: as in ``ChainTask``
    weight: np.ndarray  # (S,) float64
    sets: np.ndarray | tuple[()]  # as in ``ChainTask``
    longest: int = LONGEST  # a longer one is a group of its own

    @classmethod
    def of(cls, task: ChainTask, n_labels: int = 1) -> Sequences:
        """Take the sequences of a ``_chain.bigram.ChainTask`` whose weight is not 0."""
        order = np.argsort(-np.diff(task.token), kind="stable")
        return cls.some(
            task, order[task.weight[order] != 0.0], longest_in_groups(n_labels)
        )

    @classmethod
    def some(
        cls, corpus: ChainTask | Sequences, order: np.ndarray, longest: int = LONGEST
    ) -> Sequences:
        """Take the sequences ``order`` of a task, or of other sequences.

        ``order`` (S,) has their numbers, by descending length; one of more tokens than
        ``longest`` is a group of its own.
        """
        lengths = np.diff(corpus.token)[order]
        token, places = ranges(corpus.token[order], lengths)
        return cls(
            order,
            token,
            form_groups(lengths, longest),
            corpus.gold[places],
            corpus.weight[order],
            corpus.sets,
            longest,
        )

    @property
    def lengths(self) -> np.ndarray:
        """(S,) tokens of each."""
        return np.diff(self.token)

    @property
    def are_long(self) -> np.ndarray:
        """(S,) bool: whether each is a group of its own because of its length."""
        return self.lengths > self.longest

    def partial(self) -> np.ndarray:
        """Return the numbers (P,) of those with tokens that have no label, or a set."""
        return np.unique(
            np.repeat(np.arange(self.order.shape[0]), self.lengths)[self.gold < 0]
        )

    def token_weight(self, complete: bool = False) -> np.ndarray:
        """Return the weight of each token's sequence: (N,).

        With ``complete`` it is 0 if one of the sequence's labels is not given.
        """
        weight = self.weight.copy()
        if complete:
            weight[self.partial()] = 0.0
        return np.repeat(weight, self.lengths)

    def has_predecessor(self) -> np.ndarray:
        """Return whether each token, (N,) bool, is not the first of its sequence."""
        inner = np.ones(self.gold.shape[0], bool)
        inner[self.token[:-1][self.lengths > 0]] = False
        return inner


class Corpus(NamedTuple):
    """A corpus as sums of weights: K weights in use.

    Weights are listed for each token one by one, or tokens add up rows of a table, of R
    rows, or both.
    """

    sequences: Sequences
    entries: TokenLists  # weights
    label: np.ndarray  # (K,) int32: label of each weight
    rows: TokenLists  # rows of the table; without it ``start`` has one element
    table: np.ndarray  # (R * row_width(L),) float64: scores


@kernel
def row_width(L: int) -> int:
    """Return how many numbers a row of a table has for L labels: whole vectors."""
    return (L + 3) // 4 * 4


@inline
def spread(
    features: Occurrences,
    token: int,
    expected: np.ndarray,
    square: bool,
    gradient: np.ndarray,
) -> None:
    """gradient[k] += x expected[label_k], or x², for the weights of a token.

    An empty gradient is left alone.
    """
    lists = features.lists
    first = features.first
    label = features.label
    if gradient.shape[0] == 0:
        return
    for e in range(lists.start[token], lists.start[token + 1]):
        f = lists.item[e]
        x = lists.value[e] if lists.value.shape[0] > 0 else 1.0
        if square:
            x *= x
        for k in range(np.uint64(first[f]), np.uint64(first[f + 1])):
            gradient[k] += x * expected[np.uint64(label[k])]


class ExpectedCounts(NamedTuple):
    """Where expectations are added up: += Σ weight E[count].

    ``feature``, ``conditioned`` and ``of_rows`` are of the weights in use, and those
    that begin with ``of_all_`` of all weights, in use or not. But for ``transition``
    they may be empty, and are then left alone.
    """

    feature: np.ndarray  # (K,) float64: for the weights that a Corpus lists
    transition: np.ndarray  # float64: for pairs of labels
    # (M,) float64: for observation-conditioned transitions in use
    conditioned: np.ndarray
    # all features of the same tokens but for those that are rows of a table
    all_features: Occurrences
    of_all_features: np.ndarray  # float64: for the weights of ``all_features``
    all_rows: TokenLists  # the rows of the same tokens
    of_all_rows: np.ndarray  # float64: for the numbers of these rows
    # all observation-conditioned transitions of the same tokens
    all_conditioned: Occurrences
    of_all_conditioned: np.ndarray  # float64: for the weights of ``all_conditioned``
    of_rows: np.ndarray  # (R * row_width(L),) float64: for the table of the Corpus


class Potentials(NamedTuple):
    """Scores that all tokens share."""

    transition: np.ndarray  # (L, L) float64 [previous, next]; -inf forbids
    start: np.ndarray  # (L,) float64: 0 or -inf
    end: np.ndarray  # (L,) float64: 0 or -inf
    cost: np.ndarray  # (L,) float64: cost of missing a token of each label


N_BLOCKS = 8
"""Blocks of sequences that are summed separately."""
WIDTH = 32
"""Sequences in a group: enough to vectorise, few enough to stay in the cache."""
PLACES = 16384
"""Tokens × sequences of a group, unless a single sequence is longer."""


class Lanes(NamedTuple):
    """Scratch of one thread: label y of token t of sequence l of a group stands at
    ``y * P + t * W + l``.
    """

    # (row_width(L) * P,) float64: emissions, then their exponentials, then what x
    # becomes in `expectations._backward`
    x: np.ndarray
    a: np.ndarray  # (row_width(L) * P,) float64: forward
    b: np.ndarray  # (row_width(L) * P,) float64: backward, then marginals
    inverse: np.ndarray  # (P,) float64: 1 / scale of each token
    top: np.ndarray  # (P,) float64: largest emission of each token
    scratch: np.ndarray  # (P,) float64
    bits: np.ndarray  # (P,) int64: the same memory
    row: np.ndarray  # (L,) float64: a number for each label of one token
    padded: np.ndarray  # (row_width(L),) float64: such numbers, with zeros behind them
    step: np.ndarray  # (L * L,) float64: transitions into one token


@kernel
def width_of(n: int) -> int:
    """Return the room for n sequences: whole vectors, unless there are few."""
    return n if n < 8 else (n + 15) // 16 * 16


def form_groups(lengths: np.ndarray, most: int = LONGEST) -> np.ndarray:
    """Divide sequences into groups of similar length.

    ``lengths`` (S,) must descend; those above ``most`` are each a group. Returns the
    first sequence of each group, and S: (G + 1,) int64.
    """
    group = [0]
    n = lengths.shape[0]
    while group[-1] < n:
        longest = int(lengths[group[-1]])
        size = min(WIDTH, PLACES // max(longest, 1)) if longest <= most else 1
        group.append(min(n, group[-1] + max(size // 16 * 16 if size > 16 else size, 1)))
    return np.array(group, np.int64)


def new_lanes(corpora: Iterable[Sequences], n_labels: int) -> Lanes:
    """Make scratch for every group of some corpora, each a :class:`Sequences`.

    A group whose first and longest sequence has T tokens takes ``P = (T | 1) * W``
    places for each label, with W the room for its sequences: no kernel goes further. A
    part of a corpus may have wider groups than the whole, where longer sequences make
    them narrower. So give all that are walked with the scratch.
    """
    places = 16
    for token, group in ((c.token, c.group) for c in corpora):
        for q, stop in zip(group[:-1], group[1:]):
            places = max(
                places, (int(token[q + 1] - token[q]) | 1) * width_of(int(stop - q))
            )
    scratch = np.zeros(places)
    size = row_width(n_labels) * places  # rows of tables have so many labels
    x, a, b = np.zeros((3, size))
    inverse, top = np.zeros((2, places))
    return Lanes(
        x,
        a,
        b,
        inverse,
        top,
        scratch,
        bits=scratch.view(np.int64),
        row=np.zeros(n_labels),
        padded=np.zeros(row_width(n_labels)),
        step=np.zeros(n_labels**2),
    )


class ExpTransitions(NamedTuple):
    """M = exp(transition - shift) by column (side 0, for the forward pass) and by row
    (side 1, for the backward pass): a base plus what is listed.
    """

    shift: float  # 0 unless a transition score is above 30
    # (2, L + 1) int64: where the list of each y (or p) starts: multiples of 4; behind
    # its elements a list is filled up with zeros, which add nothing
    first: np.ndarray
    other: np.ndarray  # (2, ...) int64: the p (or y) of each element
    value: np.ndarray  # (2, ...) float64: what is added to the base
    base: np.ndarray  # (2, L) float64
    label_pair: np.ndarray  # (Q, 2) int64: the (p, y) whose expectations are wanted
    start: np.ndarray  # (L,) bool: labels a sequence may start with
    end: np.ndarray  # (L,) bool: labels it may end with
    cost: np.ndarray  # (L,) float64: cost of missing a token of each label


@kernel
def _list_differences(
    matrix: np.ndarray,
    shifted: bool,
    first: np.ndarray,
    other: np.ndarray,
    value: np.ndarray,
    base: np.ndarray,
) -> None:
    """Fill the fields of :class:`ExpTransitions` of these names; ``first``, ``other``
    and ``base`` are zeros.

    ``matrix`` (L, L): exp(transition - shift). L lists of at most L elements, each
    filled up to a multiple of four, end before L * (L + 3).
    """
    L = matrix.shape[0]
    for side in range(2):
        n = 0
        for k in range(L):
            least = np.inf
            for j in range(L):
                least = min(least, matrix[k, j] if side else matrix[j, k])
            # Differences from 1 cancel digits if the sum is much smaller than 1: then
            # list them all.
            if not shifted and least > 1e-3:
                base[side, k] = 1.0
            for j in range(L):
                v = matrix[k, j] if side else matrix[j, k]
                if v != base[side, k]:
                    other[side, n] = j
                    value[side, n] = v - base[side, k]
                    n += 1
            n = (n + 3) // 4 * 4
            first[side, k + 1] = n


def exp_transitions(
    potentials: Potentials, label_pair: np.ndarray
) -> tuple[ExpTransitions, np.ndarray]:
    """Work out the sparse form of exp(transition), and exp(transition - shift) itself.

    Parameters
    ----------
    potentials : Potentials
    label_pair : ndarray of shape (Q, 2)
        The (previous, next) whose expectations are wanted.

    Returns
    -------
    ExpTransitions
    ndarray of shape (L, L)
        exp(transition - shift).
    """
    transition, start, end, cost = potentials
    L = transition.shape[0]
    shift = max(0.0, float(transition.max()) - 30.0)
    matrix = np.exp(transition - shift)
    first = np.zeros((2, L + 1), np.int64)
    other = np.zeros((2, L * (L + 3)), np.int64)
    value = np.zeros(other.shape)
    base = np.zeros((2, L))
    _list_differences(matrix, shift != 0.0, first, other, value, base)
    sparse = ExpTransitions(
        shift, first, other, value, base, label_pair, start == 0.0, end == 0.0, cost
    )
    return sparse, matrix


# --------------------------------------------------------------------------------------
# Transitions that look at the input: each token has a matrix of its own
# --------------------------------------------------------------------------------------
class ExpConditioned(NamedTuple):
    """Transitions that look at the input, with M weights: into a token they are
    ``matrix`` times the exponentials of the weights that the token has.
    """

    of_token: Occurrences  # combinations; the label of a weight is p * L + y
    value: np.ndarray  # (M,) float64: exp(weight)
    matrix: np.ndarray  # (L * L,) float64: exp(transition - shift) of pairs of labels


def exp_conditioned(
    conditioned: Occurrences, weights: np.ndarray, matrix: np.ndarray
) -> ExpConditioned | tuple[()]:
    """Work out the exponentials of transitions that look at the input.

    Parameters
    ----------
    conditioned : Occurrences
    weights : ndarray of shape (M,)
    matrix : ndarray of shape (L, L)
        exp(transition - shift).

    Returns
    -------
    ExpConditioned
        An empty tuple without such transitions.
    """
    if conditioned.lists.start.shape[0] == 1:
        return ()
    # Sequences with such weights are left to logarithms.
    with np.errstate(over="ignore"):
        return ExpConditioned(conditioned, np.exp(weights), matrix.ravel())


@inline_any_order
def dot(x: np.ndarray, i: int, y: np.ndarray, j: int, n: int) -> float:
    """Σ_k x[i + k] y[j + k]."""
    total = 0.0
    a = np.uint64(i)
    b = np.uint64(j)
    for k in range(np.uint64(n)):
        total += x[a + k] * y[b + k]
    return total


@inline
def _set_step(conditioned: ExpConditioned, token: int, step: np.ndarray) -> None:
    """step[p * L + y] = M[p, y] into a token, with the transitions that look at the
    input.
    """
    of_token = conditioned.of_token
    lists = conditioned.of_token.lists
    for k in range(step.shape[0]):
        step[k] = conditioned.matrix[k]
    for e in range(lists.start[token], lists.start[token + 1]):
        f = lists.item[e]
        for k in range(of_token.first[f], of_token.first[f + 1]):
            step[of_token.label[k]] *= conditioned.value[k]


@inline
def advance_each(
    sequences: Sequences,
    q: int,
    n_lanes: int,
    conditioned: ExpConditioned,
    side: int,
    t: int,
    lanes: Lanes,
    P: int,
    W: int,
) -> None:
    """Advance each sequence of a group by token t, with the token's own matrix.

    Forwards (side 0) a[y, t] = Σ_p a[p, t-1] M_t[p, y], or backwards (side 1) b[p, t-1]
    = Σ_y M_t[p, y] x[y, t].

    Inner loops run over labels. It does what ``expectations._advance`` does with one
    matrix for all tokens.
    """
    a = lanes.a
    b = lanes.b
    x = lanes.x
    row = lanes.row
    step = lanes.step
    L = row.shape[0]
    for l in range(n_lanes):
        token = sequences.token[q + l] + t
        at = t * W + l
        if token >= sequences.token[q + l + 1]:
            continue
        _set_step(conditioned, token, step)
        for y in range(L):
            row[y] = x[y * P + at] if side else 0.0
        for p in range(L):
            before = p * P + at - W
            if side:
                b[before] = dot(step, p * L, row, 0, L)
            else:
                v = a[before]
                o = np.uint64(p * L)
                for y in range(np.uint64(L)):
                    row[y] += v * step[o + y]
        for y in range(0 if side else L):
            a[y * P + at] = row[y]


@inline
def count_steps(
    sequences: Sequences,
    q: int,
    n_lanes: int,
    conditioned: ExpConditioned,
    lanes: Lanes,
    P: int,
    W: int,
    counts: ExpectedCounts,
) -> None:
    """Add the expected transitions of a group, whose tokens have their own matrices."""
    a = lanes.a
    x = lanes.x
    row = lanes.row
    step = lanes.step
    L = row.shape[0]
    for l in range(n_lanes):
        first = sequences.token[q + l]
        for t in range(1, sequences.token[q + l + 1] - first):
            at = t * W + l
            _set_step(conditioned, first + t, step)
            for y in range(L):
                row[y] = x[y * P + at]
            for p in range(L):
                v = a[p * P + at - W]
                o = np.uint64(p * L)
                for y in range(np.uint64(L)):
                    step[o + y] *= v * row[y]
                    counts.transition[o + y] += step[o + y]
            spread(conditioned.of_token, first + t, step, False, counts.conditioned)
            spread(
                counts.all_conditioned,
                first + t,
                step,
                False,
                counts.of_all_conditioned,
            )
