"""What a chain is made of, and its scores.

A labelling y of a sequence scores, in the first order,

    score(y) = start[y_0] + Σ_t emission[t, y_t] + Σ_{t>0} transition[t, y_{t-1}, y_t] +
    end[y_{T-1}]

Emissions come from node features, transitions from the label bigram and from
observation-conditioned transition features. Constraints are 0 or -inf in start, end and
transitions, and never learned. A chain of the second order has scores of label trigrams
besides: see :mod:`.second_order`.

Letters: T tokens, L labels, t token, y label, p previous label, K runs of features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from .._core.codes import NO_NOISE
from .._core.compile import ONE, ZERO, inline, spliced
from .._core.noise import EDGE_STREAM, NODE_STREAM, factor
from .._core.penalties import has_lazy_penalty, is_lazy
from .._core.rules import Difference, Pairs, new_difference
from .._core.store import Clock, Store
from ..features.encoded import Bag, Dense, Grid
from .dense import DenseWork, new_dense_work, sum_dense
from .second_order import Trigrams, new_trigrams
from .token_scores import (
    Runs,
    list_dense,
    list_runs,
    mask_tokens,
    new_runs,
    sum_features,
    sum_rows,
)

if TYPE_CHECKING:
    from .._core.noise import Noise
    from .._core.store import Rule

Empty: TypeAlias = Any
"""An empty tuple, in place of what there is no need for: numba leaves out of a kernel
what an empty tuple among its arguments decides.

No type checker sees what ``len`` of a tuple decides: to it this is anything.
"""


class General(NamedTuple):
    """What the general kernels read besides; ``()`` in its place calls the small ones,
    see :mod:`.chain_epoch`.
    """

    noise: Noise


Constraints: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]
"""``start``, ``allowed`` and ``end`` of a :class:`Chain`."""

ALL_PAIRS = Pairs(np.zeros(0, np.int64), np.zeros(0, np.int32))


class ChainTask(NamedTuple):
    """A corpus as integers; n sequences, N tokens. Read-only.

    Rows of features stand by anchor: see :mod:`.token_scores`.
    """

    token: np.ndarray  # (n + 1,) int64: first token of each sequence
    anchor: np.ndarray  # (n + 1,) int64: first anchor of each sequence
    left: int  # anchors before the first token of a sequence
    n_columns: int  # input columns
    nodes: Grid
    edges: Grid  # transitions that look at x: combination e owns the rows e * L + p
    bag: Bag
    gold: np.ndarray  # (N,) int32: label, UNLABELLED, or -2 - s: one of the set s
    weight: np.ndarray  # (n,) float64: weight of each sequence
    node_alive: np.ndarray  # (R,) uint8: 0 for features below the cut-off; or empty
    edge_alive: np.ndarray  # (E,) uint8: as node_alive, of transitions that look at x
    option: np.ndarray  # (N, L) bool: labels allowed in prediction; empty if all are
    dense: Dense | Empty = ()
    sets: np.ndarray | Empty = ()  # (S, L + 1) bool: see ``_data.labels.Gold``
    node_pairs: Pairs | Empty = ALL_PAIRS  # which weights of ``Chain.nodes`` there are
    edge_pairs: Pairs | Empty = ALL_PAIRS  # which weights of ``Chain.edges`` there are


class Chain(NamedTuple):
    """Everything that scores: weights and constraints."""

    nodes: Store  # rows: features; columns: labels
    edges: Store  # rows p: label bigrams (p, y); then those of ``ChainTask.edges``
    clock: Clock
    bigram: bool  # whether the label bigram is a feature
    start: np.ndarray  # (L,) float64: 0 or -inf
    allowed: np.ndarray  # (L, L) float64 [previous, next]: 0 or -inf
    end: np.ndarray  # (L,) float64: 0 or -inf
    cost: np.ndarray  # (L,) float64: of missing a token of each label, in training only
    trigrams: Store | Empty = ()  # row p * (L + 1) + a + 1, column y: labels a, p, y


STORES = "nodes", "edges", "trigrams"
"""The stores of a chain; one of the first order has ``()`` for its trigrams."""


class ChainWork(NamedTuple):
    """Scratch for sequences of up to T tokens; belongs to one thread.

    C cells tell prefixes apart: by their last label, or in the second order by their
    last two.
    """

    emission: np.ndarray  # (T * L,) float64
    transition: np.ndarray  # (L * L,) or (T * L * L,) float64 [t, previous, next]
    score: np.ndarray  # (2, T * C) float64: of prefixes [t, cell]; for t = 0 [last]
    node_runs: Runs | Empty = ()
    edge_runs: Runs | Empty = ()
    masked: np.ndarray | Empty = ()  # (T, n_columns) bool: hidden by input dropout
    # (G, A) int32: the rows of a sequence that input dropout leaves
    rows: np.ndarray | Empty = ()
    labels: np.ndarray | Empty = ()  # (2, T) int32: gold, completed, and the prediction
    difference: Difference | Empty = ()  # of all stores: see ``token_scores.EDGE_ROWS``
    dense: DenseWork | Empty = ()
    stats: np.ndarray | Empty = ()  # (3,) float64: updates, wrong tokens, loss so far
    trigrams: Trigrams | Empty = ()


def longest(token: np.ndarray) -> int:
    """Count the tokens of the longest sequence, at least 1.

    ``token`` (n + 1,): where each sequence starts.
    """
    if token.shape[0] == 2:
        return max(int(token[1]), 1)
    return int((token[1:] - token[:-1]).max(initial=1))


def n_trigram_rows(L: int) -> int:
    """Count the rows that the store of trigrams of L labels has."""
    return L * (L + 1)


def new_work(
    task: ChainTask,
    n_labels: int,
    order: int = 1,
    training: bool = True,
    listed: bool = True,
) -> ChainWork:
    """Make scratch that fits every sequence of a task.

    Parameters
    ----------
    task : ChainTask
    n_labels : int
    order : int
        Labels of history that transitions look at: 1 or 2.
    training : bool
        Else the scratch is for prediction alone.
    listed : bool
        Whether the features of dense rows of numbers get runs, too (see
        :func:`lists_rows`).
    """
    T = longest(task.token)
    n_anchors = int(np.diff(task.anchor).max(initial=1))
    n_bag = 0
    if task.bag.start.shape[0] > 1:
        n_bag = int(np.diff(task.bag.start[task.token]).max(initial=0))
    # Noise splits runs into single rows.
    node_features = n_anchors * int(task.nodes.width.sum()) + n_bag
    if training and listed and task.dense:
        node_features += T * task.dense.n_rows
    edge_features = n_anchors * int(task.edges.width.sum())
    steps = T if edge_features else 1
    return ChainWork(
        node_runs=new_runs(node_features),
        edge_runs=new_runs(max(edge_features, 1)),
        masked=np.zeros((T, max(task.n_columns, 1)), np.bool_),
        rows=np.empty((len(task.nodes.row), n_anchors * training), np.int32),
        emission=np.empty(T * n_labels),
        transition=np.empty(steps * n_labels * n_labels),
        score=np.empty((2 if training else 1, T * n_labels**order)),
        labels=np.empty((2, T), np.int32),
        difference=new_difference(
            2 * (node_features + edge_features + 2 * T) if training else 0
        ),
        dense=new_dense_work(task.dense, n_labels, training and not listed),
        stats=np.zeros(3),
        trigrams=new_trigrams(n_trigram_rows(n_labels), n_labels) if order == 2 else (),
    )


# --------------------------------------------------------------------------------------
# Scores
# --------------------------------------------------------------------------------------
@spliced
def reads_stored_weights(rule: Rule, noise: Noise) -> bool:
    """Tell whether scores are of the stored weights: no lazy penalty, no noise."""
    return (
        not is_lazy(rule)
        and noise.feature == NO_NOISE
        and noise.token_below == np.uint64(0)
    )


@inline
def reads_whole_rows(chain: Chain, rule: Rule, general: General | Empty) -> bool:
    """Tell whether emissions are sums of whole rows of weights: full rows, no lazy
    penalty, no noise.
    """
    if len(general) == 0:
        return True
    return not chain.nodes.sparse and reads_stored_weights(rule, general.noise)


def lists_rows(chain: Chain, rule: Rule, noise: Noise) -> bool:
    """Tell whether training lists a dense row of numbers as runs, one for each number,
    and not as a whole: where weights are sparse, or read with noise or a lazy penalty.
    """
    noisy = noise.feature != NO_NOISE or noise.token_below > 0
    return bool(chain.nodes.sparse or has_lazy_penalty(rule) or noisy)


@spliced
def _sum_whole_rows(
    task: ChainTask,
    i: int,
    rows: np.ndarray,
    anchor: int,
    stop: int,
    chain: Chain,
    emission: np.ndarray,
) -> None:
    """``emission[t, y] = Σ_f x_f w[f, y]`` of sequence i, whose ``rows`` stand from
    ``anchor`` to ``stop``.
    """
    nodes = task.nodes
    bag = task.bag
    first_token = task.token[i]
    T = task.token[i + 1] - first_token
    sum_features(
        rows, nodes.lo, nodes.width, task.left, anchor, stop - anchor, bag.start, bag.row,
        bag.value, first_token, T, chain.nodes.value, chain.nodes.columns, emission,
    )  # fmt: skip


@spliced
def _multiply(scale: float, n: int, emission: np.ndarray) -> None:
    """Multiply the first n emissions by ``scale``: they are in units of scores then."""
    if scale != 1.0:
        for k in range(n):
            emission[k] *= scale


@spliced
def score_tokens(
    task: ChainTask,
    i: int,
    rows: np.ndarray,
    anchor: int,
    stop: int,
    chain: Chain,
    emission: np.ndarray,
) -> None:
    """Fill ``emission`` for sequence i, where scores are those of the stored weights in
    full rows.

    ``rows``, from ``anchor`` to ``stop``, are those of the sequence in ``task.nodes``,
    or what input dropout leaves of them.
    """
    _sum_whole_rows(task, i, rows, anchor, stop, chain, emission)
    _multiply(
        chain.clock.scale[0],
        (task.token[i + 1] - task.token[i]) * chain.nodes.columns,
        emission,
    )


@spliced
def score_rows(
    token: np.ndarray,
    anchor: np.ndarray,
    i: int,
    left: int,
    row: np.ndarray,
    lo: np.ndarray,
    width: np.ndarray,
    bag_start: np.ndarray,
    bag_row: np.ndarray,
    bag_value: np.ndarray,
    nodes: np.ndarray,
    scale: float,
    L: int,
    emission: np.ndarray,
) -> None:
    """Fill ``emission`` for sequence i, as :func:`score_tokens` does, from arrays.

    These are what :func:`.chain_arguments.rows_of` gives, and of the final weights
    ``nodes``, of which each counts ``scale`` times. Nothing is read or written outside
    of them: who makes the arrays of a corpus proves that they have its size, rows are
    numbered by the encoder that the weights belong to, and ``emission`` has room for
    the longest sequence.
    """
    first = token[i]
    T = token[i + 1] - first
    sum_features(
        row, lo, width, left, anchor[i], anchor[i + 1] - anchor[i], bag_start, bag_row, bag_value,
        first, T, nodes, L, emission,
    )  # fmt: skip
    _multiply(scale, T * L, emission)


@spliced
def score_transitions(chain: Chain, transition: np.ndarray) -> None:
    """Fill ``transition`` with ``w[p, y]``, constraints included, from stored
    weights.
    """
    edges = chain.edges.value
    allowed = chain.allowed
    bigram = chain.bigram
    L = chain.nodes.columns
    scale = chain.clock.scale[0]
    for p in range(L):
        for y in range(L):
            transition[p * L + y] = (
                scale * edges[p * L + y] if bigram else 0.0
            ) + allowed[p, y]


@spliced
def _read_transitions(
    chain: Chain, rule: Rule, noise: Noise, work: ChainWork, transition: np.ndarray
) -> None:
    """Fill ``transition`` as :func:`score_transitions` does, from any weights: sparse,
    under a lazy penalty, or with noise.
    """
    L = chain.nodes.columns
    step = chain.clock.step[0]
    runs = work.edge_runs
    for k in range(L * L):
        transition[k] = 0.0
    runs.row[0] = 0
    runs.token[0] = 0
    runs.width[0] = 1
    runs.value[0] = 1.0
    sum_rows(
        chain.edges, rule, step, runs, ONE, L, L * L, chain.clock.scale[0], transition
    )
    for p in range(L):
        for y in range(L):
            k = p * L + y
            transition[k] *= factor(noise, noise.edge, EDGE_STREAM, step, -1 - k)
            transition[k] += chain.allowed[p, y]


@inline
def stride_of(task: ChainTask, L: int, general: General | Empty) -> Any:
    """Return how far apart the transitions of a token and the next one are: 0 if all
    tokens share one matrix.
    """
    if len(general) == 0:
        return ZERO
    return L * L if task.edges.row.shape[0] > 0 else 0


@inline
def score_sequence(
    task: ChainTask,
    i: int,
    chain: Chain,
    rule: Rule,
    general: General | Empty,
    whole_rows: bool,
    work: ChainWork,
) -> tuple[int, int]:
    """Fill ``work.emission`` and ``work.transition``; returns (n_node_runs,
    n_edge_runs), as of :class:`.token_scores.ReadFeatures`.

    The number of node runs is -1 where an update does not walk the runs: with
    ``whole_rows`` (see :func:`reads_whole_rows`), and where tokens are dense rows of
    numbers whose weights are read as they are stored. In a small kernel
    ``work.transition`` is filled already (see :func:`.chain_arguments.for_prediction`).
    """
    if len(general) == 0:
        score_tokens(
            task,
            i,
            task.nodes.row,
            task.anchor[i],
            task.anchor[i + 1],
            chain,
            work.emission,
        )
        return -1, 0
    noise = general.noise
    L = chain.nodes.columns
    step = chain.clock.step[0]
    scale = chain.clock.scale[0]
    first_token = task.token[i]
    anchor = task.anchor[i]
    T = task.token[i + 1] - first_token
    n_anchors = task.anchor[i + 1] - anchor
    emission = work.emission
    transition = work.transition
    if noise.token_below > np.uint64(0):
        mask_tokens(T, step, noise, work.masked)

    # emission[t, y] = Σ_f x_f w[f, y]
    n_node_runs = -1
    by_rows = whole_rows or (len(task.dense) > 0 and reads_stored_weights(rule, noise))
    if whole_rows:
        _sum_whole_rows(
            task, i, task.nodes.row, anchor, anchor + n_anchors, chain, emission
        )
    else:
        for k in range(T * L):
            emission[k] = 0.0
        n = list_runs(
            task.nodes, task.bag, task.left, anchor, n_anchors, first_token, T,
            step, noise, noise.feature, NODE_STREAM, work.masked, work.node_runs,
        )  # fmt: skip
        if not by_rows:
            n = list_dense(
                task.dense, first_token, T, step, noise, noise.feature, NODE_STREAM, work.masked, work.dense,
                work.node_runs, n,
            )  # fmt: skip
            n_node_runs = n
        sum_rows(chain.nodes, rule, step, work.node_runs, n, ONE, L, 1.0, emission)
    if by_rows:
        sum_dense(task.dense, chain.nodes, first_token, T, work.dense, emission)
    _multiply(scale, T * L, emission)

    # transition[p, y] = w[p, y]; behind it, if transitions look at the input, one
    # matrix a token
    if chain.bigram and (chain.edges.sparse or is_lazy(rule) or noise.edge != NO_NOISE):
        _read_transitions(chain, rule, noise, work, transition)
    else:
        score_transitions(chain, transition)
    n_edge_runs = 0
    if task.edges.row.shape[0] > 0:
        for t in range(1, T):
            for k in range(L * L):
                transition[t * L * L + k] = transition[k]
        n_edge_runs = list_runs(
            task.edges, Bag(task.bag.start[:1], task.bag.row, task.bag.value), task.left, anchor,
            n_anchors, first_token, T, step, noise, noise.edge, EDGE_STREAM, work.masked, work.edge_runs,
        )  # fmt: skip
        sum_rows(
            chain.edges,
            rule,
            step,
            work.edge_runs,
            n_edge_runs,
            L,
            L * L,
            scale,
            transition,
        )
    return n_node_runs, n_edge_runs


@inline
def forbid(
    option: np.ndarray, first: int, T: int, L: int, emission: np.ndarray
) -> None:
    """Let labels that a token must not get score -inf; an empty ``option`` forbids
    none.
    """
    for t in range(T if option.shape[0] > 0 else 0):
        for y in range(L):
            if not option[first + t, y]:
                emission[t * L + y] = -np.inf
