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
    from .weight_rows import AllStateSums

N_RUNS = 2
"""Runs of blocks, each of which has one sum of the gradient of all weights, and of the
rows of tables: these are long arrays.
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
    by_itself : ndarray of shape (n_sequences,)
        Which sequences are summed each by itself, not in a group.
    gradient : ndarray of shape (n_blocks, view.size)
        Expected counts of the weights in use, by block (of features, with ``square`` or
        ``curve``, what these say); of pairs of labels divided by exp(transition -
        shift), with which the sum over blocks is multiplied.
    expected_pairs : ndarray of shape (n_blocks, L * L)
        Expected counts of pairs of labels, by block, where they are no such quotients:
        of sequences by themselves, or if transitions look at the input.
    all_expected : ndarray of shape (n_runs, n_all_states + M)
        Expected counts of all weights, by run: of states, but for those in rows of a
        table, then of transitions that look at the input. Empty without ``keep``.
    all_states : AllStateSums or None
        Where those of states are added up with ``keep``; None where the table that
        tokens add up has all features, and takes them.
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
        self.conditioned = view.conditioned
        if clamped and view.clamped is not None:
            self.corpus, self.conditioned = view.clamped
        p, y = objective.label_pair.T
        self.n_states = self.corpus.label.shape[0]
        self.n_chosen = view.chosen.shape[0]
        self.state_weights = weights[: self.n_states]
        self.conditioned_weights = weights[self.n_states : self.n_chosen]
        transition = objective.potentials.transition.copy()
        transition[p, y] += weights[self.n_chosen :]
        self.potentials = objective.potentials._replace(transition=transition)
        self.transitions, self.matrix = exp_transitions(
            self.potentials, objective.label_pair
        )
        self.exp_of_conditioned = exp_conditioned(
            self.conditioned, self.conditioned_weights, self.matrix
        )
        self._make_counts(weights.shape[0])

    def _make_counts(self, size: int) -> None:
        """Make zeros to add up counts in: by block, and by part what is long."""
        sequences = self.corpus.sequences
        L = self.objective.n_labels
        sums = self.view.sums
        self.block = cut_blocks(sequences)
        n_blocks = self.block.shape[0] - 1
        n_runs = N_RUNS if self.keep else sums.counts.shape[0]
        # A table that has all features needs one run for p (1 - p) then, and one for p.
        if self.curve and self.view.covers_all:
            n_runs = 1
        self.n_runs = min(n_runs, n_blocks)
        self.by_itself = sequences.are_long & (not self.exp_of_conditioned)
        self.gradient = np.zeros((n_blocks, size))
        self.expected_pairs = np.zeros((n_blocks, L * L))
        self.all_conditioned = self.objective.all_conditioned[self.clamped]
        # Of the optional weights, a table of all features hands on those of states.
        self.all_states: AllStateSums | None = None
        if self.keep and not self.view.covers_all:
            self.all_states = self.objective.all_state_sums
        self.n_all_states = 0 if self.all_states is None else self.objective.n_pairs
        n_conditioned = self.all_conditioned.label.shape[0] if self.keep else 0
        self.all_expected = np.zeros((self.n_runs, self.n_all_states + n_conditioned))
        self.of_rows = sums.counts

    def run(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Walk through the corpus.

        Returns
        -------
        total : float
            Σ weight log Z.
        gradient : ndarray of shape (view.size,)
            Σ weight E[count] of the weights in use.
        all_expected : ndarray of shape (n_optional,)
            Σ weight E[count] of all optional weights, with ``keep``; else empty.
        """
        objective = self.objective
        view = self.view
        sums = view.sums
        sums.score(view.row_weights, self.state_weights, objective.map)
        totals = objective.map(self._sum_run, range(self.n_runs))
        total = sum(chain.from_iterable(totals))
        p, y = objective.label_pair.T
        N = self.n_chosen
        gradient = self.gradient.sum(axis=0)
        gradient[N:] *= self.matrix[p, y]  # see `counts` of `expect`
        gradient[N:] += self.expected_pairs.sum(axis=0)[p * objective.n_labels + y]
        if not self.keep:
            self._add_rows(gradient, self.square)
            return total, gradient, self.all_expected.sum(axis=0)
        if self.curve:
            self.curvature = gradient.copy()
            self.curvature[self.n_states :] *= 0.5
            self._add_rows(self.curvature, True)
        all_expected = self._of_all_weights()
        # The weights in use are among all.
        gradient[: self.n_states] = all_expected[view.chosen[: self.n_states]]
        return total, gradient, all_expected

    def _add_rows(self, gradient: np.ndarray, square: bool) -> None:
        """Add to the counts of the weights in use, (view.size,), those that tokens have
        given to rows of the table.
        """
        sums = self.view.sums
        rows = self.view.row_weights
        sums.count(rows, self.n_runs, square, gradient, self.objective.map)

    def _of_all_weights(self) -> np.ndarray:
        """Return the expected counts of all optional weights, (n_optional,)."""
        objective = self.objective
        found = self.all_expected.sum(axis=0)
        if self.all_states is not None:
            rows = self.all_states.rows
            rows.count(None, self.n_runs, False, found, objective.map)
            return found
        # The table of the view has all features.
        sums = self.view.sums
        found = np.append(np.zeros(objective.n_pairs), found)
        of_all = sums.weights_of_rows(objective.first, objective.pair_label)
        if self.curve:
            # Run 0 had p (1 - p), which is used up by now, and run 1 p.
            sums.counts[0] = sums.counts[1]
        sums.count(of_all, self.n_runs, False, found, objective.map)
        return found

    def _sum_run(self, run_number: int) -> list[float]:
        """Σ weight log Z of each block of a part."""
        n_blocks = self.block.shape[0] - 1
        lanes = self.objective.take_scratch()
        self.of_rows[run_number] = 0.0
        if self.curve and self.view.covers_all:
            self.of_rows[1] = 0.0
        if self.all_states is not None:
            self.all_states.rows.counts[run_number] = 0.0
        begin = run_number * n_blocks // self.n_runs
        end = (run_number + 1) * n_blocks // self.n_runs
        totals = [self._sum_block(k, run_number, lanes) for k in range(begin, end)]
        self.objective.give_back(lanes)
        return totals

    def _counts_of(self, k: int, run_number: int) -> ExpectedCounts:
        """Return where the counts of block k are added up, which is in a run."""
        K = self.n_states
        N = self.n_chosen
        few, of_few, rows, of_rows = self._all_feature_counts(run_number)
        # Where all weights of states are counted, those in use are among them.
        among_all = self.all_states is not None and not self.curve
        return ExpectedCounts(
            feature=self.gradient[k, : 0 if among_all else K],
            transition=self.gradient[k, N:],
            conditioned=self.gradient[k, K:N],
            all_features=few,
            of_all_features=of_few,
            all_rows=rows,
            of_all_rows=of_rows,
            all_conditioned=self.all_conditioned,
            of_all_conditioned=self.all_expected[run_number, self.n_all_states :],
            of_rows=self.of_rows[run_number, : 0 if among_all else None],
        )

    def _all_feature_counts(
        self, run_number: int
    ) -> tuple[Occurrences, np.ndarray, TokenLists, np.ndarray]:
        """Return all features of states: those with few weights, and the rows of the
        others, each with its sums in a run.
        """
        if self.all_states is not None:
            few, rows = self.all_states.lists[self.clamped]
            of_few = self.all_expected[run_number, : self.n_all_states]
            return few, of_few, rows, self.all_states.rows.counts[run_number]
        # The table of the view takes them, and with ``curve`` once more, in run 1.
        nothing = TokenLists.new(0)
        none = np.zeros(0, np.int32)
        few = Occurrences(nothing, none, none)
        if self.curve:
            return few, np.zeros(0), self.corpus.rows, self.of_rows[1]
        return few, np.zeros(0), nothing, np.zeros(0)

    def _sum_block(self, k: int, run_number: int, lanes: Lanes) -> float:
        """Σ weight log Z of block k, whose counts are added up."""
        counts = self._counts_of(k, run_number)
        # Those of pairs of labels that are no quotients; see the class.
        by_pair = counts._replace(transition=self.expected_pairs[k])
        of_groups = by_pair if self.exp_of_conditioned else counts
        total = expect(
            self.corpus,
            self.block[k],
            self.block[k + 1],
            self.state_weights,
            self.transitions,
            self.exp_of_conditioned,
            self.clamped,
            self.square or self.curve,
            lanes,
            of_groups,
            self.by_itself,
            (),
        )
        sequences = self.corpus.sequences
        first = sequences.group[self.block[k]]
        stop = sequences.group[self.block[k + 1]]
        if self.by_itself[first:stop].any():
            total += self._sum_alone(first, stop, lanes, by_pair)
        return total

    def _sum_alone(
        self, first: int, stop: int, lanes: Lanes, counts: ExpectedCounts
    ) -> float:
        """Σ weight log Z of the sequences ``first <= i < stop`` that have to be summed
        each by itself, as groups of one.
        """
        sequences = self.corpus.sequences
        group = np.arange(self.by_itself.shape[0] + 1)
        each = self.corpus._replace(sequences=sequences._replace(group=group))
        longest = int(sequences.lengths.max())
        alone = new_alone(
            self.potentials, self.conditioned, self.conditioned_weights, longest
        )
        return expect(
            each,
            first,
            stop,
            self.state_weights,
            self.transitions,
            (),
            self.clamped,
            self.square or self.curve,
            lanes,
            counts,
            self.by_itself,
            alone,
        )
