"""One pass over a corpus: Σ weight log Z and the expected counts of all weights.

Sums run over blocks of sequences that do not depend on the number of threads, and
blocks are added in order: results are the same, bit for bit, for any number of threads.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from .corpus_sums import (
    N_BLOCKS,
    ExpectedCounts,
    Occurrences,
    exp_conditioned,
    exp_transitions,
)
from .expectations import expect
from .sequence_sums import new_alone
from .token_features import TokenLists

if TYPE_CHECKING:
    from .corpus_sums import Lanes, Sequences
    from .objective import CRFObjective
    from .view import View
    from .weight_rows import Kept

N_PARTS = 2
"""Blocks in a row share one sum of the gradient of all pairs, and of parts, which are
long arrays: so many sums.
"""


def cut_blocks(sequences: Sequences) -> np.ndarray:
    """Cut the groups of a corpus into blocks of about as many tokens each.

    Returns
    -------
    ndarray of shape (n_blocks + 1,)
        The first group of each block, and the number of groups; n_blocks is at most
        ``N_BLOCKS``.
    """
    at = sequences.token[sequences.group]
    n_blocks = max(1, min(N_BLOCKS, at.shape[0] - 1))
    block = np.searchsorted(at, np.arange(n_blocks + 1) * at[-1] / n_blocks)
    block[0] = 0
    block[-1] = at.shape[0] - 1
    return np.maximum.accumulate(block)


class CorpusPass:
    """A pass with given weights.

    Parameters
    ----------
    objective : CRFObjective
    view : View
        The corpus in some of the weights.
    weights : ndarray of shape (view.size,)
    clamped : bool
        Sum over the labellings of the partially labelled sequences that agree with the
        labels given, instead of over all labellings of all sequences.
    square : bool
        Of features, add up x² p (1 - p) instead of x p.
    keep : bool
        Also add up the expectations of all optional weights.
    curve : bool
        With ``keep``: add up x² p (1 - p) of the features of the view, too.

    Attributes
    ----------
    curvature : ndarray of shape (view.size,)
        With ``curve``, after :meth:`run`: what ``square`` gives.
    """

    curvature: np.ndarray

    def __init__(
        self,
        objective: CRFObjective,
        view: View,
        weights: np.ndarray,
        clamped: bool,
        square: bool = False,
        keep: bool = False,
        curve: bool = False,
    ) -> None:
        self.objective = objective
        self.view = view
        self.clamped = clamped
        self.square = square
        self.keep = keep
        self.curve = curve
        self.corpus = view.corpus
        self.edges = view.edges
        if clamped and view.clamped is not None:
            self.corpus, self.edges = view.clamped
        p, y = objective.pair.T
        self.n_states = self.corpus.label.shape[0]
        self.n_chosen = view.chosen.shape[0]
        self.node = weights[: self.n_states]
        self.edge = weights[self.n_states : self.n_chosen]
        transition = objective.potentials.transition.copy()
        transition[p, y] += weights[self.n_chosen :]
        self.potentials = objective.potentials._replace(transition=transition)
        self.transitions, self.matrix = exp_transitions(self.potentials, objective.pair)
        self.exp_edges = exp_conditioned(self.edges, self.edge, self.matrix)
        self._make_counts(weights.shape[0])

    def _make_counts(self, size: int) -> None:
        """Make zeros to add up counts in: by block, and by part what is long."""
        sequences = self.corpus.sequences
        L = self.objective.n_labels
        sums = self.view.sums
        self.block = cut_blocks(sequences)
        n_blocks = self.block.shape[0] - 1
        n_parts = N_PARTS if self.keep else sums.counts.shape[0]
        # A table that all features share has one sum of p then, and one of p (1 - p).
        if self.curve and self.view.covers_all:
            n_parts = 1
        self.n_parts = min(n_parts, n_blocks)
        self.bad = sequences.are_long & (not self.exp_edges)
        self.gradient = np.zeros((n_blocks, size))
        self.everywhere = np.zeros((n_blocks, L * L))
        self.whole_edges = self.objective.whole_edges[self.clamped]
        # Of the optional weights, a table of all features hands on those of states.
        self.whole: Kept | None = None
        if self.keep and not self.view.covers_all:
            self.whole = self.objective.whole_states
        self.n_kept = 0 if self.whole is None else self.objective.n_pairs
        n_edges = self.whole_edges.label.shape[0] if self.keep else 0
        self.kept = np.zeros((self.n_parts, self.n_kept + n_edges))
        self.of_rows = sums.counts

    def run(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Walk through the corpus.

        Returns
        -------
        total : float
            Σ weight log Z.
        gradient : ndarray of shape (view.size,)
            Σ weight E[count] of the weights in use.
        kept : ndarray of shape (n_optional,)
            Σ weight E[count] of all optional weights, with ``keep``; else empty.
        """
        objective = self.objective
        view = self.view
        sums = view.sums
        sums.score(view.parts, self.node, objective.map)
        totals = objective.map(self._sum_part, range(self.n_parts))
        total = sum(chain.from_iterable(totals))
        p, y = objective.pair.T
        N = self.n_chosen
        gradient = self.gradient.sum(axis=0)
        gradient[N:] *= self.matrix[p, y]
        gradient[N:] += self.everywhere.sum(axis=0)[p * objective.n_labels + y]
        kept = self.kept.sum(axis=0)
        if not self.keep:
            sums.count(view.parts, self.n_parts, self.square, gradient, objective.map)
            return total, gradient, kept
        if self.curve:
            self.curvature = gradient.copy()
            self.curvature[self.n_states :] *= 0.5
            sums.count(view.parts, self.n_parts, True, self.curvature, objective.map)
        if self.whole is not None:
            self.whole.rows.count(None, self.n_parts, False, kept, objective.map)
        else:
            kept = np.append(np.zeros(objective.n_pairs), kept)
            whole = sums.whole(objective.first, objective.pair_label)
            if self.curve:
                sums.counts[0] = sums.counts[1]
            sums.count(whole, self.n_parts, False, kept, objective.map)
        # The weights in use are among all.
        gradient[: self.n_states] = kept[view.chosen[: self.n_states]]
        return total, gradient, kept

    def _sum_part(self, part: int) -> list[float]:
        """Σ weight log Z of each block of a part."""
        n_blocks = self.block.shape[0] - 1
        lattice = self.objective.take_scratch()
        self.of_rows[part] = 0.0
        if self.curve and self.view.covers_all:
            self.of_rows[1] = 0.0
        if self.whole is not None:
            self.whole.rows.counts[part] = 0.0
        begin = part * n_blocks // self.n_parts
        end = (part + 1) * n_blocks // self.n_parts
        totals = [self._sum_block(k, part, lattice) for k in range(begin, end)]
        self.objective.give_back(lattice)
        return totals

    def _whole_counts(
        self, part: int
    ) -> tuple[Occurrences, np.ndarray, TokenLists, np.ndarray]:
        """Return where all features of states are added up: those with few weights,
        and the rows of the others.
        """
        if self.whole is None:
            nothing = TokenLists.new(0)
            none = np.zeros(0, np.int32)
            few = Occurrences(nothing, none, none)
            if self.curve:
                return few, np.zeros(0), self.corpus.rows, self.of_rows[1]
            return few, np.zeros(0), nothing, np.zeros(0)
        few, rows = self.whole.lists[self.clamped]
        of_rows = self.whole.rows.counts[part]
        return few, self.kept[part, : self.n_kept], rows, of_rows

    def _sum_block(self, k: int, part: int, lattice: Lanes) -> float:
        """Σ weight log Z of block k, whose counts are added up."""
        sequences = self.corpus.sequences
        K = self.n_states
        N = self.n_chosen
        # Where all weights are kept, those in use are among them.
        skip = self.whole is not None and not self.curve
        counts = ExpectedCounts(
            self.gradient[k, : 0 if skip else K],
            self.gradient[k, N:],
            self.gradient[k, K:N],
            *self._whole_counts(part),
            self.whole_edges,
            self.kept[part, self.n_kept :],
            self.of_rows[part, : 0 if skip else None],
        )
        dense = counts._replace(transition=self.everywhere[k])
        how = self.clamped, self.square or self.curve, lattice
        total = expect(
            self.corpus,
            self.block[k],
            self.block[k + 1],
            self.node,
            self.transitions,
            self.exp_edges,
            *how,
            dense if self.exp_edges else counts,
            self.bad,
            (),
        )
        first = sequences.group[self.block[k]]
        stop = sequences.group[self.block[k + 1]]
        if self.bad[first:stop].any():
            group = np.arange(self.bad.shape[0] + 1)
            each = self.corpus._replace(sequences=sequences._replace(group=group))
            longest = int(sequences.lengths.max())
            alone = new_alone(self.potentials, self.edges, self.edge, longest)
            total += expect(
                each,
                first,
                stop,
                self.node,
                self.transitions,
                (),
                *how,
                dense,
                self.bad,
                alone,
            )
        return total
