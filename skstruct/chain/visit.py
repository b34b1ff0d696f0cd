"""The visit of an example, in the epochs of both orders: target, mistakes, and features that differ."""

import numpy as np

from ..core.compile import inline, spliced
from ..core.noise import EDGE_STREAM, NODE_STREAM, factor
from ..core.rules import emit, leave_out
from .dense import add_dense, list_dense
from .token_scores import emit_edges, emit_nodes, list_runs
from .viterbi import differs


@spliced
def set_target(gold, target):
    """Write the gold labels to ``target``; returns whether there are labels for all tokens."""
    complete = True
    for t in range(gold.shape[0]):
        target[t] = gold[t]
        complete = complete and gold[t] >= 0
    return complete


@spliced
def count_mistakes(gold, sets, path):
    """Tokens whose label, or set of labels, is given and is another one in ``path``."""
    mistakes = 0
    for t in range(gold.shape[0]):
        if differs(path[t], gold[t], sets):
            mistakes += 1
    return mistakes


@inline
def cost_of(g, sets, cost):
    """The cost of missing a token: that of its label, or the least of its set."""
    if len(sets) > 0:
        if g < -1:
            least = np.inf
            for y in range(cost.shape[0]):
                if sets[-2 - g, y]:
                    least = min(least, cost[y])
            return least
    return cost[g] if g >= 0 else 0.0


@spliced
def add_costs(gold, sets, cost, L, emission):
    """Cost-augmented decoding: missing the gold label y at t gains ``cost[y]``."""
    for t in range(gold.shape[0]):
        missing = cost_of(gold[t], sets, cost)
        if missing != 0.0:
            for y in range(L):
                if differs(y, gold[t], sets):
                    emission[t * L + y] += missing


@spliced
def note_update(stats, mistakes, loss):
    """Count an update."""
    stats[0] += 1.0
    stats[1] += mistakes
    stats[2] += loss


@spliced
def emit_bigrams(target, path, T, L, step, noise, difference):
    """Label bigrams in ``Δφ = φ(x, target) - φ(x, path)``."""
    for t in range(1, T):
        if target[t] != path[t] or target[t - 1] != path[t - 1]:
            p, q = np.int64(target[t - 1]), np.int64(path[t - 1])
            x = factor(noise, noise.edge, EDGE_STREAM, step, -1 - (p * L + target[t]))
            emit(difference, p, target[t], x)
            x = factor(noise, noise.edge, EDGE_STREAM, step, -1 - (q * L + path[t]))
            emit(difference, q, path[t], -x)


@spliced
def emit_features(task, i, chain, noise, n_nodes, n_edges, work):
    """State and transition features of sequence i in ``Δφ = φ(x, target) - φ(x, path)``.

    ``n_nodes`` and ``n_edges`` are what ``score_sequence`` returned; trigrams are not part of it.
    """
    L, step = chain.nodes.columns, chain.clock.step[0]
    token, anchor = task.token[i], task.anchor[i]
    T, n_anchors = task.token[i + 1] - token, task.anchor[i + 1] - anchor
    target, path = work.target, work.path
    if n_nodes < 0:
        n_nodes = list_runs(
            task.nodes, task.bag, task.left, anchor, n_anchors, token, T,
            step, noise, noise.feature, NODE_STREAM, work.masked, work.node_runs,
        )  # fmt: skip
        if chain.nodes.sparse:
            n_nodes = list_dense(
                task.dense, token, T, step, noise, noise.feature, NODE_STREAM, work.masked,
                work.node_runs, n_nodes,
            )  # fmt: skip
        else:
            add_dense(task.dense, token, T, target, path, work.dense)
    emit_nodes(work.node_runs, n_nodes, task.node_alive, target, path, work.node_difference)
    if chain.bigram:
        emit_bigrams(target, path, T, L, step, noise, work.edge_difference)
    emit_edges(work.edge_runs, n_edges, L, task.edge_alive, target, path, work.edge_difference)
    zero, nodes, edges = np.int64(0), work.node_difference, work.edge_difference
    leave_out(nodes, zero, nodes.size[0], zero, L, task.node_pairs)
    leave_out(edges, zero, edges.size[0], zero, L, task.edge_pairs)
