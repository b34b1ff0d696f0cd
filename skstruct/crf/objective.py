"""The objective of an L1-regularised CRF, on all weights or on a working set.

Place on the ladder: rung 6. The objective (equation 8 of the two-stage paper, with class and sequence
weights, and an L2 term besides) is

    Σ_i weight_i (log Z(x_i) - log Z(x_i, y_i)) + c2 ‖λ‖² + c1 ‖λ‖₁

where Z(x, y) sums over the labellings that agree with the labels given (just one if all are).

Weights stand in one vector: pairs of feature and label, then pairs of labels, then, with
observation-conditioned transitions, combinations with pairs of labels. Two things keep it short:

* A pair whose gradient cannot leave [-c1, c1] at any weights has weight zero at the optimum, and is
  left out from the start. A probability is between 0 and 1, so the gradient is between minus the
  number of times the pair was seen and the number of times the feature was seen without the label.
  This drops most features of real corpora (those seen once, under c1 = 1) and loses nothing.
* A :class:`View` is the corpus spelled in some of the weights only, for solvers that know which ones
  matter. Its passes cost what these weights cost.

Sums run over blocks of sequences that do not depend on the number of threads, and blocks are added in
order: results are the same, bit for bit, for any number of threads.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..chain.marginals import LAST, Corpus, Occurrences, Potentials, expect_exactly, new_log_lattice
from ..core.compile import kernel
from .expectations import expect, form_groups, make_steps, new_lattice
from .quasi_newton import dot

N_BLOCKS = 8
"""Blocks of sequences that are summed separately."""

MANY = 6
"""A feature with so many weights has them listed in one place, not at each of its tokens."""
N_PARTS = 2
"""Runs of blocks for which the gradient of all pairs is summed separately: it is long."""


# --------------------------------------------------------------------------------------------------
# Kernels. Tokens are numbered by descending length of their sequence.
# --------------------------------------------------------------------------------------------------
@kernel
def _list_features(
    token, anchor, left, row, lo, width, bag_start, bag_row, bag_value, order, of_row, start, feature, value
):
    """CSR of the features of each token; returns their number. ``feature`` empty: count only.

    ``of_row`` (R,) int32 translates rows to features, -1 leaves them out.
    """  # fmt: skip
    n, k = 0, 0
    write = feature.shape[0] > 0
    for i in order:
        T = token[i + 1] - token[i]
        first, n_anchors = anchor[i], anchor[i + 1] - anchor[i]
        for t in range(T):
            start[k] = n
            k += 1
            for g in range(row.shape[0]):
                for s in range(width[g]):
                    a = t - lo[g] - s + left
                    if a < 0 or a >= n_anchors or row[g, first + a] < 0:
                        continue
                    f = of_row[row[g, first + a] + s]
                    if f >= 0:
                        if write:
                            feature[n] = f
                            if value.shape[0] > 0:
                                value[n] = 1.0
                        n += 1
            if bag_start.shape[0] > 1:
                for e in range(bag_start[token[i] + t], bag_start[token[i] + t + 1]):
                    if bag_row[e] < 0:
                        continue
                    f = of_row[bag_row[e]]
                    if f >= 0:
                        if write:
                            feature[n] = f
                            if value.shape[0] > 0:
                                value[n] = bag_value[e] if bag_value.shape[0] > 0 else 1.0
                        n += 1
    start[k] = n
    return n


@kernel
def _count(start, feature, value, gold, weight, L, total, unknown, seen):
    """Weighted occurrences of each feature: all, at unlabelled tokens, with each gold label."""
    for t in range(start.shape[0] - 1):
        for e in range(start[t], start[t + 1]):
            f = feature[e]
            x = abs(value[e]) if value.shape[0] > 0 else 1.0
            total[f] += weight[t] * x
            if seen.shape[0] > 0:
                if gold[t] < 0:
                    unknown[f] += weight[t] * x
                else:
                    seen[f * L + gold[t]] += weight[t] * (value[e] if value.shape[0] > 0 else 1.0)


@kernel
def _choose(total, unknown, seen, c1, signed, only_seen, keep):
    """Which pairs can have a gradient outside [-c1, c1] at some weights; F features times L labels.

    ``signed``: values may be negative, and ``seen`` says nothing of the bounds.
    """
    L = keep.shape[0] // max(total.shape[0], 1)
    for f in range(total.shape[0]):
        for k in range(f * L, (f + 1) * L):
            low = seen[k] + unknown[f]
            high = total[f] - seen[k]
            keep[k] = total[f] > c1 if signed else low > c1 or high > c1
            if only_seen and seen[k] == 0.0:
                keep[k] = False


@kernel
def _select(start, feature, value, of_feature, new_start, new_feature, new_value):
    """Keep the features with ``of_feature >= 0``, under their new numbers; returns how many.

    The new arrays may be the old ones. Counts only if ``new_start`` is empty.
    """
    n, begin = 0, start[0]
    write = new_start.shape[0] > 0
    for t in range(start.shape[0] - 1):
        end = start[t + 1]
        if write:
            new_start[t] = n
        for e in range(begin, end):
            f = of_feature[feature[e]]
            if f >= 0:
                if write:
                    new_feature[n] = f
                    if new_value.shape[0] > 0:
                        new_value[n] = value[e]
                n += 1
        begin = end
    if write:
        new_start[start.shape[0] - 1] = n
    return n


@kernel
def _spell(start, feature, value, first, listed, new_start, entry, new_value):
    """List the weights ``first[f] <= k < first[f + 1]`` of each feature f that is ``listed``.

    Returns how many there are, and only counts if ``new_start`` is empty.
    """
    n = 0
    write = new_start.shape[0] > 0
    for t in range(start.shape[0] - 1):
        if write:
            new_start[t] = n
        for e in range(start[t], start[t + 1]):
            f = feature[e]
            if not listed[f]:
                continue
            if write:
                for k in range(first[f], first[f + 1]):
                    entry[n] = k
                    if new_value.shape[0] > 0:
                        new_value[n] = value[e]
                    n += 1
            else:
                n += first[f + 1] - first[f]
    if write:
        new_start[start.shape[0] - 1] = n
    return n


# --------------------------------------------------------------------------------------------------
def _csr(fill, n_tokens, valued):
    """Run a counting kernel twice: for the size, then for the content."""
    start = np.zeros(n_tokens + 1, np.int64)
    none, no_value = np.zeros(0, np.int32), np.zeros(0)
    n = fill(start, none, no_value)
    items = np.zeros(n, np.int32)
    values = np.zeros(n if valued else 0)
    if n:
        fill(start, items, values)
    return start, items, values


def _made(kernel, start, feature, value, *how):
    """New arrays (starts, items, values) by :func:`_select` or :func:`_spell`."""
    n = kernel(start, feature, value, *how, start[:0], feature, value)
    if n == 0:
        return np.zeros_like(start), np.zeros(0, np.int32), np.zeros(0)
    found = np.empty_like(start), np.empty(n, np.int32), np.empty(n if value.shape[0] else 0)
    kernel(start, feature, value, *how, *found)
    return found


def _cut(tokens, start, *arrays):
    """(starts, items, values) of some tokens."""
    counts = np.diff(start)[tokens]
    new = np.zeros(tokens.shape[0] + 1, np.int64)
    np.cumsum(counts, out=new[1:])
    at = np.arange(new[-1]) + np.repeat(start[tokens] - new[:-1], counts)
    return new, *(a[at] if a.shape[0] else a for a in arrays)


def _shrink(start, feature, value, of_feature):
    """Keep the features with ``of_feature >= 0``, under their new numbers, in place."""
    n = _select(start, feature, value, of_feature, start, feature, value)
    feature.resize(n, refcheck=False)
    value.resize(n if value.shape[0] else 0, refcheck=False)


class View:
    """The corpus in terms of ``pairs`` (sorted indices of feature-label pairs) and all transitions."""

    def __init__(self, objective, pairs):
        o = objective
        self.pairs = pairs
        label = o.pair_label[pairs]
        first = np.searchsorted(o.pair_feature[pairs], np.arange(o.n_features + 1)).astype(np.int32)
        many = np.diff(first) >= MANY
        run_label = label.copy()
        run_label[first[1:][first[1:] > first[:-1]] - 1] += LAST
        # Runs take the numbers of their first weights for the numbers of the features.
        self.corpus = Corpus(
            o.token, o.group, o.gold, o.sequence_weight,
            *_made(_spell, o.start, o.feature, o.value, first, ~many),
            *_made(_select, o.start, o.feature, o.value, np.where(many, first[:-1], -1).astype(np.int32)),
            label, run_label,
        )  # fmt: skip
        self.where = np.concatenate([pairs, np.arange(o.n_pairs, o.size)])
        self.size = self.where.shape[0]
        self.clamped = None
        if o.partial.size:
            self.clamped = o.subcorpus(self.corpus)


class CRFObjective:
    """Log-likelihood and gradient of a chain CRF.

    Parameters
    ----------
    task : ChainTask
        The corpus; ``gold`` may hold UNLABELLED.
    n_labels, n_rows, n_edge_rows : int
        Labels; weight rows of the node features; combinations of the transition features (the first
        is the label bigram).
    c1, c2 : float
    all_pairs : bool
        Whether pairs of feature and label (and pairs of labels) that the corpus does not show have a
        weight too.
    bigram : bool
        Whether pairs of labels have weights.
    start, allowed, end : ndarray or None
        Constraints: 0 or -inf, of shape (L,), (L, L) [previous, next] and (L,).
    cost : ndarray of shape (L,) or None
        Softmax-margin (Gimpel and Smith 2010): missing a token of label y gains ``cost[y]``.
    n_threads : int
    like : CRFObjective or None
        Have the weights of this one, in its order, whatever the corpus shows.
    """

    def __init__(self, task, n_labels, n_rows, n_edge_rows=1, c1=1.0, c2=0.0, all_pairs=True,
                 bigram=True, start=None, allowed=None, end=None, cost=None, n_threads=1,
                 like=None):  # fmt: skip
        L = self.n_labels = n_labels
        self.c1, self.c2 = float(c1), float(c2)
        zero = np.zeros(L)
        self.potentials = Potentials(
            np.zeros((L, L)) if allowed is None else np.array(allowed, float),
            zero if start is None else np.array(start, float),
            zero if end is None else np.array(end, float),
            zero if cost is None else np.array(cost, float),
        )
        lengths = np.diff(task.token)
        self.order = order = np.argsort(-lengths, kind="stable")
        self.lengths = lengths[order]
        self.token = np.zeros(order.shape[0] + 1, np.int64)
        np.cumsum(self.lengths, out=self.token[1:])
        self.n_tokens = int(self.token[-1])
        self.group = form_groups(self.lengths)
        self.sequence_weight = task.weight[order]
        old = np.arange(self.n_tokens) + np.repeat(task.token[:-1][order] - self.token[:-1], self.lengths)
        self.gold = task.gold[old]
        unlabelled = np.add.reduceat(
            np.append(self.gold < 0, False).astype(np.int64), self.token[:-1]
        ) * (self.lengths > 0) if order.size else np.zeros(0, np.int64)  # fmt: skip
        self.partial = np.flatnonzero(unlabelled)
        self._blocks()
        self._choose_pairs(task, n_rows, all_pairs, like)
        self._choose_steps(all_pairs, bigram, like)
        self._choose_edges(task, n_edge_rows, all_pairs, like)
        self.size = self.n_pairs + self.pair.shape[0] + self.edge_pair.shape[0]
        self.seen = np.concatenate([self.pair_seen, self.step_seen, self.edge_seen])
        self.n_passes = 0
        self.n_threads = n_threads
        self._lattices = []
        self.whole = Occurrences(self.start, self.feature, self.value, self.first, self.pair_label)
        self.clamped = self._cut(self.whole) if self.partial.size else None
        self.of_pairs = np.zeros(0)  # expectations that `evaluate` kept
        self.pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None  # last, after all that can fail

    # -- which weights there are -------------------------------------------------------------------
    def _choose_pairs(self, task, n_rows, all_pairs, like=None):
        L, N = self.n_labels, self.n_tokens
        grid, bag = task.nodes, task.bag
        valued = bag.value.shape[0] > 0 and bag.start.shape[0] > 1
        token_weight = np.repeat(self.sequence_weight, self.lengths)

        def features(of_row):
            return _csr(
                lambda *out: _list_features(
                    task.token, task.anchor, task.left, grid.row, grid.lo, grid.width,
                    bag.start, bag.row, bag.value, self.order, of_row, *out,
                ),
                N, valued,
            )  # fmt: skip

        if like is not None:
            of_row = np.full(n_rows, -1, np.int32)
            of_row[like.row] = np.arange(like.n_features, dtype=np.int32)
            self.start, self.feature, self.value = features(of_row)
            self.row, self.n_features, self.n_pairs = like.row, like.n_features, like.n_pairs
            self.pair_feature, self.pair_label = like.pair_feature, like.pair_label
            self.pair_row, self.first = like.pair_row, like.first
            self._count_pairs(token_weight)
            return
        of_row = np.arange(n_rows, dtype=np.int32)
        alive = task.node_alive
        if alive.shape[0]:
            of_row[alive == 0] = -1
        start, feature, value = features(of_row)
        total, none = np.zeros(n_rows), np.zeros(0)
        _count(start, feature, value, self.gold, token_weight, L, total, none, none)
        rows = np.flatnonzero(total > self.c1)
        of_row = np.full(n_rows, -1, np.int32)
        of_row[rows] = np.arange(rows.shape[0], dtype=np.int32)
        _shrink(start, feature, value, of_row)
        F = rows.shape[0]
        total, unknown, seen = np.zeros(F), np.zeros(F), np.zeros(F * L)
        signed = valued and value.min(initial=0.0) < 0.0
        # Sizes, since values of both signs can add up to zero where the corpus does show a pair.
        size = np.abs(value) if signed else value
        _count(start, feature, size, self.gold, token_weight, L, total, unknown, seen)
        keep = np.zeros(F * L, np.bool_)
        _choose(total, unknown, seen, self.c1, signed, not all_pairs, keep)
        pair = np.flatnonzero(keep)
        owner, label = pair // L, pair % L
        useful = np.flatnonzero(np.bincount(owner, minlength=F))
        of_feature = np.full(F, -1, np.int32)
        of_feature[useful] = np.arange(useful.shape[0], dtype=np.int32)
        if useful.shape[0] < F:
            _shrink(start, feature, value, of_feature)
        self.start, self.feature, self.value = start, feature, value
        self.row = rows[useful]  # weight row of each feature
        self.n_features = useful.shape[0]
        self.pair_feature = of_feature[owner]
        self.pair_label = label.astype(np.int32)
        self.pair_row = rows[owner]
        self.n_pairs = owner.shape[0]
        self.first = np.searchsorted(self.pair_feature, np.arange(self.n_features + 1)).astype(np.int32)
        self._count_pairs(token_weight)

    def _count_pairs(self, token_weight):
        """How often the corpus shows each pair; partial labellings are left to the clamped pass."""
        token_weight = token_weight.copy()
        for i in self.partial:
            token_weight[self.token[i] : self.token[i + 1]] = 0.0
        L, F = self.n_labels, self.n_features
        total, seen = np.zeros(F), np.zeros(F * L)
        _count(self.start, self.feature, self.value, self.gold, token_weight, L, total, total.copy(), seen)
        self.pair_seen = seen[self.pair_feature * np.int64(L) + self.pair_label]

    def _inner(self):
        """Tokens that have a predecessor."""
        inner = np.ones(self.n_tokens, bool)
        inner[self.token[:-1][self.lengths > 0]] = False
        return np.flatnonzero(inner)

    def _choose_steps(self, all_pairs, bigram, like=None):
        L = self.n_labels
        t = self._inner()
        p, y = self.gold[t - 1].astype(np.int64), self.gold[t].astype(np.int64)
        known = (p >= 0) & (y >= 0)
        weight = np.repeat(self.sequence_weight, self.lengths)[t]
        shown = np.bincount((p * L + y)[known], minlength=L * L) > 0
        if all_pairs:
            shown[:] = True
        shown &= self.potentials.transition.ravel() == 0.0
        if not bigram:
            shown[:] = False
        which = np.flatnonzero(shown)
        if like is not None:
            which = like.pair[:, 0] * L + like.pair[:, 1]
        self.pair = np.stack([which // L, which % L], axis=1).astype(np.int64)
        full = np.ones(self.lengths.shape[0], bool)
        full[self.partial] = False
        known &= np.repeat(full, self.lengths)[t]
        self.step_seen = np.bincount((p * L + y)[known], weight[known], minlength=L * L)[which]

    def _choose_edges(self, task, n_edge_rows, all_pairs, like=None):
        L, N = self.n_labels, self.n_tokens
        none = np.zeros(0)
        self.edge_pair = np.zeros((0, 3), np.int64)  # (combination, previous, next)
        self.edge_seen = none
        self.edges = Occurrences(
            np.zeros(1, np.int64), np.zeros(0, np.int32), none, np.zeros(1, np.int32), np.zeros(0, np.int32)
        )
        if task.edges.row.shape[0] == 0:
            return
        grid = task.edges
        of_row = np.arange(n_edge_rows, dtype=np.int32)
        alive = task.edge_alive
        if alive.shape[0]:
            of_row[alive == 0] = -1
        no_bag = np.zeros(1, np.int64), np.zeros(0, np.int32), none
        start, feature, _ = _csr(
            lambda *out: _list_features(
                task.token, task.anchor, task.left, grid.row, grid.lo, grid.width, *no_bag,
                self.order, of_row, *out,
            ),
            N, False,
        )  # fmt: skip
        inside = np.zeros(N, bool)
        t = self._inner()
        inside[t] = True
        token = np.repeat(np.arange(N), np.diff(start))
        p = np.where(inside, np.roll(self.gold, 1), -1)[token].astype(np.int64)
        y = self.gold[token].astype(np.int64)
        use = inside[token]
        known = use & (p >= 0) & (y >= 0)
        key = (feature.astype(np.int64) * L + p) * L + y
        if all_pairs:
            shown = (np.unique(feature[use]).astype(np.int64)[:, None] * (L * L) + np.arange(L * L)).ravel()
        else:
            shown = np.unique(key[known])
        if like is not None:
            shown = (like.edge_pair * np.array([L * L, L, 1])).sum(axis=1)
        shown = shown[self.potentials.transition.ravel()[shown % (L * L)] == 0.0]
        self.edge_pair = np.stack([shown // (L * L), shown // L % L, shown % L], axis=1)
        full = np.ones(self.lengths.shape[0], bool)
        full[self.partial] = False
        known &= np.repeat(full, self.lengths)[token]
        known &= np.isin(key, shown)
        weight = np.repeat(self.sequence_weight, self.lengths)[token]
        self.edge_seen = np.bincount(
            np.searchsorted(shown, key[known]), weight[known], minlength=shown.shape[0]
        )
        first = np.searchsorted(self.edge_pair[:, 0], np.arange(n_edge_rows + 1)).astype(np.int32)
        label = (shown % (L * L)).astype(np.int32)
        self.edges = self.edges._replace(start=start, feature=feature, first=first, label=label)

    # -- sums over the corpus ----------------------------------------------------------------------
    def _blocks(self):
        """Fixed blocks of sequences with about as many tokens each."""
        self.sequence_blocks = self.group[self._split(self.token, self.group)]

    @staticmethod
    def _split(token, group):
        at = token[group]
        n_blocks = max(1, min(N_BLOCKS, group.shape[0] - 1))
        block = np.searchsorted(at, np.arange(n_blocks + 1) * at[-1] / n_blocks)
        block[0], block[-1] = 0, group.shape[0] - 1
        return np.maximum.accumulate(block)

    def _partial_tokens(self):
        """(first tokens of the partially labelled sequences, once they stand alone; their tokens)"""
        which = self.partial
        lengths = self.lengths[which]
        token = np.zeros(which.shape[0] + 1, np.int64)
        np.cumsum(lengths, out=token[1:])
        return token, np.arange(token[-1]) + np.repeat(self.token[:-1][which] - token[:-1], lengths)

    def _cut(self, features):
        """The same features of the tokens of partially labelled sequences."""
        if features.start.shape[0] == 1:
            return features
        start, feature, value = _cut(self._partial_tokens()[1], *features[:3])
        return features._replace(start=start, feature=feature, value=value)

    def subcorpus(self, corpus):
        """The partially labelled sequences alone, with the same weights: (corpus, edges)."""
        token, tokens = self._partial_tokens()
        start, entry, value = _cut(tokens, corpus.start, corpus.entry, corpus.value)
        run_start, run, run_value = _cut(tokens, corpus.run_start, corpus.run, corpus.run_value)
        new = corpus._replace(
            token=token, group=form_groups(np.diff(token)), gold=self.gold[tokens],
            weight=self.sequence_weight[self.partial], start=start, entry=entry, value=value,
            run_start=run_start, run=run, run_value=run_value,
        )  # fmt: skip
        return new, self._cut(self.edges)

    def _lattice(self):
        """Scratch for one thread."""
        try:
            return self._lattices.pop()
        except IndexError:
            conditioned = self.edges.start.shape[0] > 1
            longest = int(self.lengths.max(initial=1))
            lattice = None if conditioned else new_lattice(self.lengths, self.n_labels)
            return lattice, new_log_lattice(longest, self.n_labels, conditioned)

    def _sum(self, corpus, edges, weights, clamped, square=False, whole=None):
        """Σ weight log Z and the expectations, over a corpus; with ``whole`` those of all pairs too."""
        L, K, Q = self.n_labels, corpus.label.shape[0], self.pair.shape[0]
        conditioned = edges.start.shape[0] > 1
        node, step, edge = weights[:K], weights[K : K + Q], weights[K + Q :]
        transition = self.potentials.transition.copy()
        transition[self.pair[:, 0], self.pair[:, 1]] += step
        potentials = self.potentials._replace(transition=transition)
        steps, matrix = make_steps(transition, self.pair, potentials.start, potentials.end, potentials.cost)
        block = self._split(corpus.token, corpus.group)
        n_blocks = block.shape[0] - 1
        n_parts = n_blocks if whole is None else min(N_PARTS, n_blocks)
        bad = np.zeros(corpus.weight.shape[0], bool)
        gradient = np.zeros((n_blocks, weights.shape[0]))
        everywhere = np.zeros((n_blocks, L * L))
        edge_gradient = np.zeros((n_blocks, edge.shape[0]))
        of_pairs = np.zeros((n_parts, 0 if whole is None else self.n_pairs))
        whole = self.whole if whole is None else whole

        def work(k, lattices, of_pairs):
            first, stop = corpus.group[block[k]], corpus.group[block[k + 1]]
            total = 0.0
            if conditioned:
                bad[first:stop] = True
            else:
                total = expect(
                    corpus, block[k], block[k + 1], node, steps, clamped, square, lattices[0],
                    gradient[k, :K], gradient[k, K : K + Q], whole, of_pairs, bad,
                )  # fmt: skip
            which = first + np.flatnonzero(bad[first:stop])
            if which.size:
                total += expect_exactly(
                    corpus, edges, which, node, edge, potentials, clamped, square, lattices[1],
                    gradient[k, :K], everywhere[k], edge_gradient[k], whole, of_pairs,
                )  # fmt: skip
            return total

        def part(k):
            lattices = self._lattice()
            blocks = range(k * n_blocks // n_parts, (k + 1) * n_blocks // n_parts)
            totals = [work(b, lattices, of_pairs[k]) for b in blocks]
            self._lattices.append(lattices)
            return totals

        total = sum(value for totals in self.map(part, range(n_parts)) for value in totals)
        gradient = gradient.sum(axis=0)
        p, y = self.pair[:, 0], self.pair[:, 1]
        gradient[K : K + Q] *= matrix[p, y]
        gradient[K : K + Q] += everywhere.sum(axis=0)[p * L + y]
        gradient[K + Q :] = edge_gradient.sum(axis=0)
        return total, gradient, of_pairs.sum(axis=0)

    def evaluate(self, view, weights, keep=False):
        """The smooth part of the objective and its gradient.

        Parameters
        ----------
        view : View
        weights : ndarray of shape (view.size,)
        keep : bool
            Also keep the expectations of all pairs, for :meth:`gradient_of_pairs`.

        Returns
        -------
        value : float
        gradient : ndarray of shape (view.size,)
        """
        self.n_passes += 1
        whole = self.whole if keep else None
        value, gradient, of_pairs = self._sum(view.corpus, self.edges, weights, False, whole=whole)
        if view.clamped is not None:
            corpus, edges = view.clamped
            whole = self.clamped if keep else None
            less, gradient_less, of_pairs_less = self._sum(corpus, edges, weights, True, whole=whole)
            value -= less
            gradient -= gradient_less
            of_pairs -= of_pairs_less
        if keep:
            self.of_pairs = of_pairs
        seen = self.seen[view.where]
        value += self.c2 * dot(weights, weights) - dot(seen, weights)
        gradient += 2.0 * self.c2 * weights - seen
        return value, gradient

    def curvature(self, view, weights):
        """An estimate of the Hessian's diagonal.

        Σ x² p (1 - p) over the occurrences of a feature, as if tokens were independent; for pairs of
        labels half their expected count.
        """
        self.n_passes += 1
        curvature = self._sum(view.corpus, self.edges, weights, False, square=True)[1]
        curvature[view.pairs.shape[0] :] *= 0.5
        return curvature + 2.0 * self.c2

    def gradient_of_pairs(self, weights):
        """The gradient of all feature-label pairs, from the expectations kept last.

        ``weights`` (n_pairs,): where they were kept.
        """
        return self.of_pairs + 2.0 * self.c2 * weights - self.pair_seen

    def map(self, work, items):
        """``map``, on all threads."""
        return map(work, items) if self.pool is None else self.pool.map(work, items)

    def everything(self):
        """A view of all weights."""
        return View(self, np.arange(self.n_pairs))

    def close(self):
        """Stop the threads."""
        if self.pool is not None:
            self.pool.shutdown()
