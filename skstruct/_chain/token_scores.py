"""Features of a sequence: which weight rows apply to which tokens.

Features are stored by *anchor*, not by token. A template such as "the two characters at
-1 and 0" is the combination "two adjacent characters", anchored at the first of them,
read from one position further right. All templates that read the same combination from
adjacent positions form a group, their weight rows are neighbours, and one look-up
serves them all: the combination anchored at p adds ``width`` consecutive rows to the
``width`` consecutive tokens that start at ``p + lo``. Seven character templates cost
two scattered reads a token instead of seven.

Decoding first lists the features of a sequence as *runs* of neighbouring rows, with
noise applied (:func:`list_runs`), then adds them up (:func:`sum_rows`); an update walks
the same list. So decoding and update see the same noise by construction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.codes import NO_NOISE
from .._core.compile import inline, spliced
from .._core.noise import EDGE_STREAM, NODE_STREAM, factor, token_masked
from .._core.penalties import is_lazy, read_weight
from .._core.rules import emit
from .dense import add_dense, list_features
from .viterbi import differs

if TYPE_CHECKING:
    from .._core.noise import Dropout, Noise
    from .._core.rules import Difference
    from .._core.store import Rule, Store
    from ..features.encoded import Bag, Dense, Grid
    from .bigram import ChainTask, ChainWork, Empty, General
    from .dense import DenseWork

EDGE_ROWS = np.int64(2**40)
TRIGRAM_ROWS = np.int64(2**41)
"""Added to the rows of these stores in the difference of an example, which is of all
stores.
"""


class Runs(NamedTuple):
    """The features of one sequence; room for K runs. Scratch."""

    row: np.ndarray  # (K,) int64: first weight row
    token: np.ndarray  # (K,) int32: the token it speaks of
    width: np.ndarray  # (K,) int32: that many neighbouring rows apply to as many tokens
    value: np.ndarray  # (K,) float64: what the features count


class ReadFeatures(NamedTuple):
    """Where the features of one sequence stand that decoding has read, for the
    update.
    """

    rows: np.ndarray  # those of ``ChainTask.nodes``, or what input dropout leaves
    begin: int  # the first anchor of the sequence in ``rows``
    end: int  # behind its last one
    n_node_runs: int  # runs in ``ChainWork.node_runs``; -1: not listed, read ``rows``
    n_edge_runs: int  # runs in ``ChainWork.edge_runs``


def new_runs(capacity: int) -> Runs:
    """Make scratch for up to ``capacity`` runs."""
    return Runs(
        np.empty(capacity, np.int64),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity),
    )


@spliced
def mask_tokens(T: int, step: int, noise: Noise | Dropout, masked: np.ndarray) -> None:
    """Decide which columns of which tokens input dropout hides at this step."""
    for t in range(T):
        for c in range(masked.shape[1]):
            masked[t, c] = token_masked(noise, step, t, c)


@inline
def hide_rows(
    grid: Grid,
    left: int,
    first_anchor: int,
    n_anchors: int,
    T: int,
    step: int,
    dropout: Dropout,
    masked: np.ndarray,
    rows: np.ndarray,
) -> None:
    """Copy the rows of one sequence to ``rows``, without those that read a masked
    token.

    The copy serves :func:`sum_grid` and :func:`emit_stored`, whose first anchor is then
    0, in place of the runs of :func:`list_runs`.
    """
    mask_tokens(T, step, dropout, masked)
    for g in range(grid.row.shape[0]):
        for a in range(n_anchors):
            rows[g, a] = grid.row[g, first_anchor + a]
        for k in range(grid.atom[g], grid.atom[g + 1]):
            column = grid.source[k]
            shift = left - grid.offset[k]
            for t in range(T):
                if masked[t, column] and 0 <= t + shift < n_anchors:
                    rows[g, t + shift] = -1


@inline
def _add_run(runs: Runs, n: int, row: int, token: int, width: int, value: float) -> int:
    """List a run, unless it counts 0, behind n others; returns how many there are."""
    if value == 0.0:
        return n
    runs.row[n] = row
    runs.token[n] = token
    runs.width[n] = width
    runs.value[n] = value
    return n + 1


@inline
def list_runs(
    grid: Grid,
    bag: Bag,
    left: int,
    first_anchor: int,
    n_anchors: int,
    first_token: int,
    T: int,
    step: int,
    noise: Noise,
    code: int,
    stream: int,
    masked: np.ndarray,
    runs: Runs,
) -> int:
    """List the features of one sequence; returns how many runs.

    A feature that reads a masked token is left out, one that noise drops too. ``code``
    and ``stream`` say which noise: see :func:`factor`.
    """
    n = 0
    dropout = noise.token_below > np.uint64(0)
    for g in range(grid.row.shape[0]):
        rows = grid.row[g, first_anchor : first_anchor + n_anchors]
        lo: Any = np.int64(grid.lo[g])  # an integer, as are sums with it
        width: Any = np.int64(grid.width[g])
        for a in range(n_anchors):
            row = np.int64(rows[a])
            if row < 0:
                continue
            p = a - left
            t = p + lo
            skip = max(0, -t)
            stop = min(width, T - t)
            if dropout:
                for k in range(grid.atom[g], grid.atom[g + 1]):
                    u = p + grid.offset[k]
                    if 0 <= u < T and masked[u, grid.source[k]]:
                        stop = skip
            size = 1 if code != NO_NOISE else max(1, stop - skip)
            for s in range(skip, stop, size):
                x = factor(noise, code, stream, step, row + s)
                n = _add_run(runs, n, row + s, t + s, size, x)
    if bag.start.shape[0] > 1:
        for t in range(T):
            if dropout and masked[t, 0]:
                continue
            for k in range(bag.start[first_token + t], bag.start[first_token + t + 1]):
                row = np.int64(bag.row[k])
                if row >= 0:
                    x = bag.value[k] if bag.value.shape[0] > 0 else 1.0
                    n = _add_run(
                        runs, n, row, t, 1, factor(noise, code, stream, step, row) * x
                    )
    return n


@inline
def list_dense(
    dense: Dense | Empty,
    first_token: int,
    T: int,
    step: int,
    noise: Noise,
    code: int,
    stream: int,
    masked: np.ndarray,
    work: DenseWork | Empty,
    runs: Runs,
    n: int,
) -> int:
    """List the features of dense rows of one sequence behind n runs; returns how many
    there are.
    """
    if len(dense) > 0:
        dropout = noise.token_below > np.uint64(0)
        for t in range(T):
            if dropout and masked[t, 0]:
                continue
            for k in range(list_features(dense, first_token, t, T, work)):
                row = work.row[k]
                x = factor(noise, code, stream, step, row) * work.value[k]
                n = _add_run(runs, n, row, t, 1, x)
    return n


@spliced
def sum_grid(
    grid_row: np.ndarray,
    grid_lo: np.ndarray,
    grid_width: np.ndarray,
    left: int,
    first_anchor: int,
    n_anchors: int,
    T: int,
    weight: np.ndarray,
    L: int,
    out: np.ndarray,
) -> None:
    """Add ``w[f, y]`` to ``out[t, y]`` for each feature that templates find in one
    sequence.

    Equal to :func:`list_runs` and :func:`sum_rows` without noise and with full rows of
    weights, but lists nothing: this is the inner loop of training and prediction.
    Groups outside, anchors inside, so that the processor runs ahead of the scattered
    reads (measured on 854k characters: 50 ns each instead of 90).
    """
    for g in range(grid_row.shape[0]):
        width = np.int64(grid_width[g])
        lo = np.int64(grid_lo[g]) - left
        size = np.uint64(width * L)
        for a in range(n_anchors):
            row = np.int64(grid_row[g, first_anchor + a])
            t = lo + a
            if row < 0:
                continue
            # Unsigned: numba then omits the check for negative indices, and the loops
            # vectorise.
            if t >= 0 and t + width <= T:
                place = np.uint64(row * L)
                start = np.uint64(t * L)
                for j in range(size):
                    out[start + j] += weight[place + j]
            else:
                for j in range(L * width):
                    if 0 <= t * L + j < T * L:
                        out[t * L + j] += weight[row * L + j]


@spliced
def sum_bag(
    bag_start: np.ndarray,
    bag_row: np.ndarray,
    bag_value: np.ndarray,
    first_token: int,
    T: int,
    weight: np.ndarray,
    L: int,
    out: np.ndarray,
) -> None:
    """Add ``x_f w[f, y]`` to ``out[t, y]`` for each ready-made feature of one
    sequence.
    """
    valued = bag_value.shape[0] > 0
    for t in range(T):
        start = np.uint64(t * L)
        for k in range(bag_start[first_token + t], bag_start[first_token + t + 1]):
            row = np.int64(bag_row[k])
            if row >= 0:
                place = np.uint64(row * L)
                x = bag_value[k] if valued else 1.0
                for y in range(np.uint64(L)):
                    out[start + y] += x * weight[place + y]


@inline
def sum_features(
    rows: np.ndarray,
    lo: np.ndarray,
    width: np.ndarray,
    left: int,
    anchor: int,
    n_anchors: int,
    bag_start: np.ndarray,
    bag_row: np.ndarray,
    bag_value: np.ndarray,
    first_token: int,
    T: int,
    weight: np.ndarray,
    L: int,
    out: np.ndarray,
) -> None:
    """Set ``out[t, y]`` to the sum of ``x_f w[f, y]`` over the features of a sequence.

    It takes arrays, and no tuple of them, so that it is compiled once for all kernels.
    """
    for k in range(T * L):
        out[k] = 0.0
    sum_grid(rows, lo, width, left, anchor, n_anchors, T, weight, L, out)
    if bag_start.shape[0] > 1:
        sum_bag(bag_start, bag_row, bag_value, first_token, T, weight, L, out)


@inline
def sum_rows(
    store: Store,
    rule: Rule,
    step: int,
    runs: Runs,
    n: int,
    rows_each: int,
    stride: int,
    scale: float,
    out: np.ndarray,
) -> None:
    """Add ``scale * value * rows`` to ``out[token * stride :]`` for every run.

    Each feature owns ``rows_each`` rows of C columns: 1 for node features (stride C), C
    for transition features (stride C * C).
    """
    C = store.columns
    if not store.sparse and not is_lazy(rule):
        weight = store.value
        for k in range(n):
            # Unsigned: numba then omits the check for negative indices, and the loop
            # vectorises.
            place = np.uint64(runs.row[k] * rows_each * C)
            start = np.uint64(runs.token[k] * stride)
            x = scale * runs.value[k]
            for j in range(np.uint64(runs.width[k] * rows_each * C)):
                out[start + j] += x * weight[place + j]
        return
    for k in range(n):
        x = scale * runs.value[k]
        at = runs.token[k] * stride
        for row in range(
            runs.row[k] * rows_each, (runs.row[k] + runs.width[k]) * rows_each
        ):
            # An int to numba.
            place = store.first[row] if store.sparse else row * C  # type: ignore[assignment]
            count = store.count[row] if store.sparse else C
            for j in range(place, place + count):
                column = store.column[j] if store.sparse else j - place
                out[at + column] += x * read_weight(store, rule, row, j, step)
            at += C


@inline
def edge_factor(general: General | Empty, step: int, item: int) -> float:
    """Return what a label bigram or trigram, numbered ``item``, counts: 1 in small
    kernels, which know no noise of transitions.
    """
    if len(general) == 0:
        return 1.0
    return factor(general.noise, general.noise.edge, EDGE_STREAM, step, item)


@inline
def _emit_row(
    difference: Difference, row: int, labels: np.ndarray, t: int, x: float
) -> None:
    """Emit a node feature: +x with the gold label and -x with the predicted one."""
    for k in range(2):
        emit(difference, row, labels[k, t], x)
        x = -x


@inline
def emit_stored(
    rows: np.ndarray,
    lo: np.ndarray,
    width: np.ndarray,
    left: int,
    anchor: int,
    stop: int,
    bag: Bag,
    first_token: int,
    T: int,
    alive: np.ndarray,
    labels: np.ndarray,
    difference: Difference,
) -> None:
    """Emit the node part of ``Δφ`` of features that count what is stored, in the order
    of :func:`list_runs`.

    Features that are not ``alive``, below the count cut-off, have none.

    Parameters
    ----------
    rows : ndarray of shape (G, A), int32
        Weight rows by group and anchor; -1 where there is no feature.
    lo, width
        As in :class:`.Grid`.
    left : int
        Anchors before the first token.
    anchor, stop : int
        The first anchor of the sequence in ``rows``, and the one behind its last.
    bag : Bag
    first_token, T : int
        The number of its first token in the corpus, and how many it has.
    alive : ndarray
        ``ChainTask.node_alive``.
    labels : ndarray of shape (2, T), int32
        Δφ is of the first row less that of the second.
    difference : Difference
    """
    all_alive = alive.shape[0] == 0
    bag_start = bag.start
    bag_row = bag.row
    value = bag.value
    for g in range(rows.shape[0]):
        for a in range(stop - anchor):
            row = np.int64(rows[g, anchor + a])
            first = a - left + lo[g]
            if row >= 0:
                for s in range(width[g]):
                    t = first + s
                    if (
                        0 <= t < T
                        and labels[0, t] != labels[1, t]
                        and (all_alive or alive[row + s])
                    ):
                        _emit_row(difference, row + s, labels, t, 1.0)
    if bag_start.shape[0] > 1:
        for t in range(T):
            if labels[0, t] == labels[1, t]:
                continue
            for k in range(bag_start[first_token + t], bag_start[first_token + t + 1]):
                row = np.int64(bag_row[k])
                if row >= 0 and (all_alive or alive[row]):
                    x = value[k] if value.shape[0] > 0 else 1.0
                    if x != 0.0:
                        _emit_row(difference, row, labels, t, x)


@spliced
def set_target(gold: np.ndarray, target: np.ndarray) -> bool:
    """Write the gold labels to ``target``; returns whether there are labels for all
    tokens.
    """
    complete = True
    for t in range(gold.shape[0]):
        target[t] = gold[t]
        complete = complete and gold[t] >= 0
    return complete


@spliced
def count_mistakes(gold: np.ndarray, sets: np.ndarray | Empty, path: np.ndarray) -> int:
    """Count the tokens whose label, or set of labels, is given, and contradicted by
    ``path``.
    """
    mistakes = 0
    for t in range(gold.shape[0]):
        if differs(path[t], gold[t], sets):
            mistakes += 1
    return mistakes


@inline
def cost_of(g: int, sets: np.ndarray | Empty, cost: np.ndarray) -> float:
    """Return the cost of missing a token: that of its label, or the least of its
    set.
    """
    if len(sets) > 0:
        if g < -1:
            least = np.inf
            for y in range(cost.shape[0]):
                if sets[-2 - g, y]:
                    least = min(least, cost[y])
            return least
    return cost[g] if g >= 0 else 0.0


@spliced
def add_costs(
    gold: np.ndarray,
    sets: np.ndarray | Empty,
    cost: np.ndarray,
    weight: float,
    L: int,
    emission: np.ndarray,
) -> None:
    """Add ``weight * cost[y]`` to the emission of each wrong label of a token whose gold
    label is y: what is decoded then is cost-augmented.
    """
    for t in range(gold.shape[0]):
        missing = weight * cost_of(gold[t], sets, cost)
        if missing != 0.0:
            for y in range(L):
                if differs(y, gold[t], sets):
                    emission[t * L + y] += missing


@spliced
def emit_bigrams(
    labels: np.ndarray,
    T: int,
    L: int,
    step: int,
    general: General | Empty,
    difference: Difference,
) -> None:
    """Emit the label bigrams of ``Δφ``: (p, y) has row p."""
    for t in range(1, T):
        if labels[0, t] != labels[1, t] or labels[0, t - 1] != labels[1, t - 1]:
            sign = 1.0
            for k in range(2):
                p = np.int64(labels[k, t - 1])
                y = labels[k, t]
                emit(
                    difference,
                    EDGE_ROWS + p,
                    y,
                    sign * edge_factor(general, step, -1 - (p * L + y)),
                )
                sign = -sign


@inline
def emit_edges(
    runs: Runs,
    n: int,
    L: int,
    alive: np.ndarray,
    labels: np.ndarray,
    difference: Difference,
) -> None:
    """Emit the transition features that look at the input: feature e into label y from
    label p has row e * L + p.
    """
    for k in range(n):
        for s in range(runs.width[k]):
            t = runs.token[k] + s
            feature = runs.row[k] + s
            x = runs.value[k]
            if t > 0 and (
                labels[0, t] != labels[1, t] or labels[0, t - 1] != labels[1, t - 1]
            ):
                if alive.shape[0] == 0 or alive[feature]:
                    for j in range(2):
                        emit(
                            difference,
                            EDGE_ROWS + feature * L + labels[j, t - 1],
                            labels[j, t],
                            x,
                        )
                        x = -x


@inline
def emit_listed(
    task: ChainTask,
    i: int,
    T: int,
    store: Store,
    noise: Noise,
    step: int,
    n: int,
    work: ChainWork,
) -> None:
    """Emit the node part of ``Δφ`` that is listed: of the n runs of
    ``score_sequence``.

    With n = -1 it listed none, and :func:`emit_stored` emits the features of grid and
    bag; then those of dense rows of numbers are emitted here.
    """
    alive = task.node_alive
    labels = work.labels
    difference = work.difference
    runs = work.node_runs
    dense = task.dense
    first_token = task.token[i]
    if n < 0 and store.sparse:
        n = list_dense(
            dense,
            first_token,
            T,
            step,
            noise,
            noise.feature,
            NODE_STREAM,
            work.masked,
            work.dense,
            runs,
            0,
        )
    elif n < 0:
        add_dense(dense, first_token, T, labels[0], labels[1], work.dense)
    for k in range(n):
        for s in range(runs.width[k]):
            t = runs.token[k] + s
            row = runs.row[k] + s
            if labels[0, t] != labels[1, t] and (alive.shape[0] == 0 or alive[row]):
                _emit_row(difference, row, labels, t, runs.value[k])
