"""The objective of an L1-regularised CRF, on all weights or on a working set.

The objective (equation 8 of the two-stage paper, with class and sequence weights, and
an L2 term besides) is

    Σ_i weight_i (log Z(x_i) - log Z(x_i, y_i)) + c2 ‖λ‖² + c1 ‖λ‖₁

where Z(x, y) sums over the labellings that agree with the labels given (just one if all
are). :mod:`.choose_pairs` says which weights there are. All but those of pairs of
labels are *optional*: a :class:`View` is the corpus written out in some of them only,
for solvers that know which ones matter. Its passes cost what these weights cost.

Sums run over blocks of sequences that do not depend on the number of threads, and
blocks are added in order: results are the same, bit for bit, for any number of threads.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..._data.places import ranges
from .choose_pairs import choose_weights, count_features, seen_label_pairs
from .corpus_sums import (
    ExpectedCounts,
    Occurrences,
    Sequences,
    exp_conditioned,
    exp_transitions,
    new_lanes,
)
from .expectations import expect
from .quasi_newton import dot
from .rare_pairs import without_rare_pairs
from .sequence_sums import new_alone
from .sgd import stochastic_passes
from .token_features import repetition
from .token_parts import PartSums, find_parts, group_fields
from .view import ProductSums, View

N_BLOCKS = 8
"""Blocks of sequences that are summed separately."""

RATE = 0.3
REPETITION = 28.0
"""The learning rate of stage one, and up to which repetition of features within
sequences.
"""

N_PARTS = 2
"""Blocks in a row share one sum of the gradient of all pairs, and of parts, which are
long arrays: so many sums.
"""


class ObjectiveOptions(NamedTuple):
    """What an objective is made of besides the corpus and the potentials."""

    c1: float = 1.0
    c2: float = 0.0
    all_states: bool = (
        True  # also pairs of feature and label that the corpus does not show
    )
    all_transitions: bool = True  # also pairs of labels that it does not show
    least_seen: float = 0.0  # of these kinds only pairs that it shows so often
    bigram: bool = True  # whether pairs of labels have weights
    leaves_out_rare: bool = (
        False  # whether features and labels with a sum below least_seen have none
    )


class Objective:
    """What solvers ask of an objective, of one corpus or of shards.

    Parameters
    ----------
    options : ObjectiveOptions
    potentials : Potentials
        Scores with weights zero.
    n_rows, n_edge_rows : int
        Weight rows of the state features; combinations of the transition features (the
        first is the label bigram).
    """

    def __init__(self, options, potentials, n_rows, n_edge_rows):
        self.c1, self.c2 = float(options.c1), float(options.c2)
        self.potentials = potentials
        self.n_labels = potentials.cost.shape[0]
        self.n_rows = n_rows
        self.n_edge_rows = n_edge_rows
        self.n_passes = 0

    def lay_out(self, layout):
        """Have the weights of a :class:`WeightLayout`."""
        self.layout = layout
        self.row, self.first, self.pair_label, self.pair, self.edge_pair = layout
        self.n_features = self.row.shape[0]
        self.n_pairs = self.pair_label.shape[0]
        self.pair_feature = np.repeat(
            np.arange(self.n_features, dtype=np.int32), np.diff(self.first)
        )
        self.n_optional = self.n_pairs + self.edge_pair.shape[0]
        self.size = self.n_optional + self.pair.shape[0]

    def everything(self):
        """A view of all weights."""
        return self.view(np.arange(self.n_optional))


class CRFObjective(Objective):
    """Log-likelihood and gradient of a chain CRF.

    Parameters
    ----------
    task : ChainTask
        The corpus; ``gold`` may hold UNLABELLED. Tokens that are nothing but dense rows
        of numbers stay so; beside other features, each number is a feature of the bag.
    options, potentials, n_rows, n_edge_rows
        See :class:`Objective`.
    n_threads : int
    layout : WeightLayout or None
        Have these weights, whatever the corpus shows.
    fields : ndarray of shape (n_rows,) or None
        What the feature of each row looks at: see :mod:`.token_parts`.
    """

    def __init__(
        self,
        task,
        options,
        potentials,
        n_rows,
        n_edge_rows=1,
        n_threads=1,
        layout=None,
        fields=None,
    ):
        super().__init__(options, potentials, n_rows, n_edge_rows)
        self.sequences = s = Sequences.of(task)
        self.n_tokens, partial = s.gold.shape[0], s.partial()
        self.all_labelled = not partial.size
        self._choose_weights(task, options, layout)
        self._lattices, self.n_entries = [], int(self.occurrences.sum())
        self.grouping = self.products = None
        if self.features.dense:
            self.products = ProductSums(
                self.features.dense, s, self.row, self.n_labels, N_PARTS
            )
        elif fields is not None:
            # Numbered as they come, so that sums have one order however the corpus was
            # encoded.
            _, first, field = np.unique(
                fields[self.row], return_index=True, return_inverse=True
            )
            self.grouping = group_fields(
                self.features, np.argsort(np.argsort(first))[field]
            )
        self.whole = Occurrences(self.features, self.first, self.pair_label)
        self.walked, self.wholes = (
            [s],
            [(self.whole, self.edges)],
        )  # what passes walk: all, and the partial
        if partial.size:
            self.walked.append(Sequences.some(s, partial))
            self.partial_tokens = ranges(s.token[partial], s.lengths[partial])[1]
            self.wholes.append((self._cut(self.whole), self._cut(self.edges)))
        self.kept = np.zeros(0)  # expectations of all optional weights, by `evaluate`
        self.pool = (
            ThreadPoolExecutor(n_threads) if n_threads > 1 else None
        )  # last, after all that can fail

    def _choose_weights(self, task, options, layout):
        """Lay out the vector of weights."""
        s = self.sequences
        L = self.n_labels
        layout, self.features, combinations = choose_weights(
            task,
            s,
            self.potentials.transition,
            self.n_rows,
            self.n_edge_rows,
            options,
            layout,
        )
        if options.leaves_out_rare:
            layout = without_rare_pairs(
                layout, self.features, s.gold, L, options.least_seen
            )
            layout, self.features, combinations = choose_weights(
                task,
                s,
                self.potentials.transition,
                self.n_rows,
                self.n_edge_rows,
                options,
                layout,
            )
        self.lay_out(layout)
        # Partial labellings are left to the clamped pass.
        counts = count_features(self.features, s, self.n_features, L, complete=True)
        *_, seen, self.occurrences, self.largest = counts
        self.edges, edge_seen = combinations.with_weights(
            s, self.edge_pair, self.n_edge_rows, L
        )
        seen = seen[self.pair_feature * np.int64(L) + self.pair_label]
        self.seen = np.concatenate([seen, edge_seen, seen_label_pairs(s, self.pair, L)])

    @cached_property
    def parts(self):
        """The parts of the tokens, found when a view first asks for them."""
        return PartSums(
            *find_parts(self.features, self.grouping.group), self.n_labels, N_PARTS
        )

    # -- sums over the corpus ----------------------------------------------------------
    @staticmethod
    def _split(sequences):
        at = sequences.token[sequences.group]
        n_blocks = max(1, min(N_BLOCKS, at.shape[0] - 1))
        block = np.searchsorted(at, np.arange(n_blocks + 1) * at[-1] / n_blocks)
        block[0], block[-1] = 0, at.shape[0] - 1
        return np.maximum.accumulate(block)

    def _cut(self, features):
        """The same features of the tokens of partially labelled sequences."""
        return features._replace(lists=features.lists.take(self.partial_tokens))

    def subcorpus(self, corpus, edges):
        """The partially labelled sequences alone, with the same weights: (corpus,
        edges), or None.
        """
        if self.all_labelled:
            return None
        cut = {
            name: getattr(corpus, name).take(self.partial_tokens)
            for name in ("entries", "runs", "rows")
        }
        return corpus._replace(sequences=self.walked[1], **cut), self._cut(edges)

    def _lattice(self):
        """Scratch for one thread."""
        try:
            return self._lattices.pop()
        except IndexError:
            return new_lanes(self.walked, self.n_labels)

    def _sum(self, view, weights, clamped, square=False, keep=False):
        """Σ weight log Z and the expectations, over a corpus; with ``keep`` the
        optional ones of all too.
        """
        corpus, edges = view.clamped if clamped else (view.corpus, view.edges)
        sequences = corpus.sequences
        (p, y) = self.pair.T
        L = self.n_labels
        K = corpus.label.shape[0]
        N = view.chosen.shape[0]
        node = weights[:K]
        edge = weights[K:N]
        transition = self.potentials.transition.copy()
        transition[p, y] += weights[N:]
        potentials = self.potentials._replace(transition=transition)
        sparse, matrix = exp_transitions(potentials, self.pair)
        exp_edges = exp_conditioned(edges, edge, matrix)
        if sums := view.sums:
            sums.score(view.parts, node, self.map)
        block = self._split(sequences)
        n_blocks = block.shape[0] - 1
        n_parts = min(N_PARTS, n_blocks) if keep or sums else n_blocks
        bad = sequences.are_long & (not exp_edges)
        gradient = np.zeros((n_blocks, weights.shape[0]))
        everywhere = np.zeros((n_blocks, L * L))
        whole, whole_edges = self.wholes[clamped]
        S = (
            self.n_pairs if keep and not sums else 0
        )  # the parts' sums hand on the others
        kept = np.zeros((n_parts, S + (whole_edges.label.shape[0] if keep else 0)))
        of_rows = sums.counts if sums else np.zeros((n_parts, 0))

        def work(k, lattice, part):
            first = sequences.group[block[k]]
            stop = sequences.group[block[k + 1]]
            counts = ExpectedCounts(
                gradient[k, :K], gradient[k, N:], gradient[k, K:N], whole, kept[part, :S], whole_edges,
                kept[part, S:], of_rows[part],
            )  # fmt: skip
            dense = counts._replace(transition=everywhere[k])
            total = expect(
                corpus, block[k], block[k + 1], node, sparse, exp_edges, clamped, square, lattice,
                dense if exp_edges else counts, bad, (),
            )  # fmt: skip
            if bad[first:stop].any():
                each = corpus._replace(
                    sequences=sequences._replace(group=np.arange(bad.shape[0] + 1))
                )
                alone = new_alone(potentials, edges, edge, int(sequences.lengths.max()))
                total += expect(
                    each,
                    first,
                    stop,
                    node,
                    sparse,
                    (),
                    clamped,
                    square,
                    lattice,
                    dense,
                    bad,
                    alone,
                )
            return total

        def part(k):
            lattice = self._lattice()
            of_rows[k] = 0.0
            blocks = range(k * n_blocks // n_parts, (k + 1) * n_blocks // n_parts)
            totals = [work(b, lattice, k) for b in blocks]
            self._lattices.append(lattice)
            return totals

        total = sum(sum(self.map(part, range(n_parts)), []))
        gradient = gradient.sum(axis=0)
        gradient[N:] *= matrix[p, y]
        gradient[N:] += everywhere.sum(axis=0)[p * L + y]
        kept = kept.sum(axis=0)
        if sums:
            sums.count(view.parts, n_parts, square, gradient)
            if keep:
                kept = np.append(np.zeros(self.n_pairs), kept)
                sums.count(sums.whole(self.first, self.pair_label), 1, square, kept)
        return total, gradient, kept

    def evaluate(self, view, weights, keep=False):
        """The smooth part of the objective and its gradient.

        Parameters
        ----------
        view : View
        weights : ndarray of shape (view.size,)
        keep : bool
            Also keep the expectations of all optional weights, for
            :meth:`gradient_of_all`.

        Returns
        -------
        value : float
        gradient : ndarray of shape (view.size,)
        """
        self.n_passes += 1
        value, gradient, kept = self._sum(view, weights, False, keep=keep)
        if view.clamped is not None:
            less, gradient_less, kept_less = self._sum(view, weights, True, keep=keep)
            value -= less
            gradient -= gradient_less
            kept -= kept_less
        if keep:
            self.kept = kept
        seen = self.seen[view.where]
        value += self.c2 * dot(weights, weights) - dot(seen, weights)
        gradient += 2.0 * self.c2 * weights - seen
        return value, gradient

    def curvature(self, view, weights):
        """An estimate of the Hessian's diagonal.

        Σ x² p (1 - p) over the occurrences of a feature, as if tokens were independent;
        for pairs of labels half their expected count.
        """
        self.n_passes += 1
        curvature = self._sum(view, weights, False, square=True)[1]
        curvature[view.n_states :] *= 0.5
        return curvature + 2.0 * self.c2

    def gradient_of_all(self, weights):
        """The gradient of all optional weights, from the expectations kept last.

        ``weights`` (n_optional,): where they were kept.
        """
        return self.kept + 2.0 * self.c2 * weights - self.seen[: self.n_optional]

    def map(self, work, items):
        """``map``, on all threads."""
        return map(work, items) if self.pool is None else self.pool.map(work, items)

    # -- what the solvers ask besides --------------------------------------------------
    def view(self, chosen):
        """A view of some optional weights, and of all pairs of labels."""
        return View(self, chosen)

    def value_at_zero(self):
        """The objective if all weights are zero."""
        nothing = self.view(np.zeros(0, np.int64))
        return self.evaluate(nothing, np.zeros(nothing.size))[0]

    def stochastic_passes(self, options, progress, **how):
        """Stage one; see :func:`.sgd.stochastic_passes`."""
        return stochastic_passes(self, options, progress, **how)

    def learning_rate(self):
        """The rate of stage one that ``"auto"`` stands for.

        A step on a sequence changes the score of a token by the rate times what the
        sequence's features have in common with the token's. Features of nearly every
        token make that many times what a token has by itself, and steps overshoot; so
        they do where weights make each step as long as several.
        """
        found = repetition(
            self.sequences.token, self.features, np.zeros(self.n_features)
        )
        weight = self.sequences.weight
        longer = max(float(weight.mean()), 1.0) if weight.size else 1.0
        return RATE * REPETITION / max(found, REPETITION) / longer

    def traffic(self):
        """What to note of the traffic since the last call: here there is none."""
        return {}

    def close(self):
        """Stop the threads."""
        if self.pool is not None:
            self.pool.shutdown()
