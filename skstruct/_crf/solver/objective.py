"""The objective of an L1-regularised CRF, on all weights or on a working set.

The objective (equation 8 of the two-stage paper, with class and sequence weights, and
an L2 term besides) is

    Σ_i weight_i (log Z(x_i) - log Z(x_i, y_i)) + c2 ‖λ‖² + c1 ‖λ‖₁

where Z(x, y) sums over the labellings that agree with the labels given (just one if all
are). :mod:`.choose_pairs` says which weights there are. All but those of pairs of
labels are *optional*, which means that a solver may leave them out: a :class:`View` is
the corpus written out in some of them only, for solvers that know which ones matter.
Its passes (:mod:`.corpus_pass`) cost what these weights cost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from ..._data.places import ranges
from .choose_pairs import choose_weights, count_features, count_label_pairs
from .corpus_pass import N_RUNS, CorpusPass
from .corpus_sums import Occurrences, Sequences, new_lanes
from .products import ProductSums
from .quasi_newton import dot
from .rare_pairs import drop_rare_pairs
from .sgd import stochastic_passes
from .token_features import repetition
from .token_parts import PartSums, find_parts, group_fields
from .view import Selection, View
from .weight_rows import AllStateSums, Features

if TYPE_CHECKING:
    from ..._chain.bigram import ChainTask
    from .choose_pairs import WeightLayout
    from .corpus_sums import Corpus, Lanes, Potentials
    from .solve import Progress, SolverOptions

RATE = 0.3
"""The learning rate of stage one, up to a repetition of ``REPETITION``."""
REPETITION = 28.0
"""The :func:`.repetition` of features within sequences above which the rate is lowered
in proportion.
"""


class ObjectiveOptions(NamedTuple):
    """The settings of an objective besides the corpus and the potentials."""

    c1: float = 1.0
    c2: float = 0.0
    # also pairs of feature and label that the corpus does not show
    all_states: bool = True
    all_transitions: bool = True  # also pairs of labels that it does not show
    # what counts as shown: without all_states or all_transitions, pairs whose counts
    # are so large
    least_seen: float = 0.0
    bigram: bool = True  # whether pairs of labels have weights
    # whether pairs of a feature and a label whose values add up to less than least_seen
    # have no weights, as in CRFsuite
    leaves_out_rare: bool = False


V = TypeVar("V", bound=Selection)


class Objective(ABC, Generic[V]):
    """The protocol of an objective for solvers: :class:`.CRFObjective` is that of one
    corpus, :class:`.ShardedObjective` adds up those of shards.

    Parameters
    ----------
    options : ObjectiveOptions
    potentials : Potentials
        Scores with weights zero.
    n_rows, n_edge_rows : int
        Weight rows of the state features; combinations of the transition features (the
        first is the label bigram).

    Attributes
    ----------
    c1, c2 : float
        Strengths of the penalties; they may be set between minimisations, c1 not below
        the one that the weights were chosen with.
    row, first, pair_label, label_pair, conditioned_pair
        The fields of the :class:`.WeightLayout`.
    pair_feature : ndarray of shape (n_pairs,)
        The feature of each pair of a feature and a label.
    n_features, n_pairs : int
        Features, and pairs of a feature and a label.
    n_optional, size : int
        Weights but for those of pairs of labels, and all.
    n_tokens, n_entries : int
        Tokens of the corpus, and features of all tokens together.
    largest : ndarray of shape (n_features,)
        Each feature's largest absolute value.
    all_labelled : bool
        Whether every token has a label.
    pool : ThreadPoolExecutor or None
        The threads of passes, if there are several.
    n_passes : int
        Sums over the whole corpus so far.
    """

    layout: WeightLayout
    row: np.ndarray
    first: np.ndarray
    pair_label: np.ndarray
    label_pair: np.ndarray
    conditioned_pair: np.ndarray
    pair_feature: np.ndarray
    n_features: int
    n_pairs: int
    n_optional: int
    size: int
    n_tokens: int
    n_entries: int
    largest: np.ndarray
    all_labelled: bool
    pool: ThreadPoolExecutor | None = None

    def __init__(
        self,
        options: ObjectiveOptions,
        potentials: Potentials,
        n_rows: int,
        n_edge_rows: int,
    ) -> None:
        self.c1 = float(options.c1)
        self.c2 = float(options.c2)
        self.potentials = potentials
        self.n_labels = potentials.cost.shape[0]
        self.n_rows = n_rows
        self.n_edge_rows = n_edge_rows
        self.n_passes = 0

    def lay_out(self, layout: WeightLayout) -> None:
        """Have the weights of a :class:`WeightLayout`."""
        self.layout = layout
        (
            self.row,
            self.first,
            self.pair_label,
            self.label_pair,
            self.conditioned_pair,
        ) = layout
        self.n_features = self.row.shape[0]
        self.n_pairs = self.pair_label.shape[0]
        self.pair_feature = np.repeat(
            np.arange(self.n_features, dtype=np.int32), np.diff(self.first)
        )
        self.n_optional = self.n_pairs + self.conditioned_pair.shape[0]
        self.size = self.n_optional + self.label_pair.shape[0]

    def view_all(self) -> V:
        """Return a view of all weights."""
        return self.view(np.arange(self.n_optional))

    @abstractmethod
    def view(self, chosen: np.ndarray) -> V:
        """Return a view of some optional weights, and of all pairs of labels.

        Only the newest view can be asked for values.

        Parameters
        ----------
        chosen : ndarray
            Sorted indices of optional weights.
        """

    @abstractmethod
    def evaluate(
        self, view: V, weights: np.ndarray, keep: bool = False, curve: bool = False
    ) -> tuple[float, np.ndarray]:
        """Work out the smooth part of the objective and its gradient.

        Parameters
        ----------
        view : Selection
        weights : ndarray of shape (view.size,)
        keep : bool
            Also keep the expectations of all optional weights, for
            :meth:`gradient_of_all`.
        curve : bool
            With ``keep``: whether to work out the curvature, too, where that costs less
            than a pass of its own. :meth:`curvature` will be called next at these
            weights, on this view or another one.

        Returns
        -------
        value : float
        gradient : ndarray of shape (view.size,)
        """

    @abstractmethod
    def curvature(self, view: V, weights: np.ndarray) -> np.ndarray:
        """Estimate the Hessian's diagonal.

        Σ x² p (1 - p) over the occurrences of a feature, as if tokens were independent;
        for pairs of labels half their expected count. For weights that were not in the
        view of :meth:`evaluate` with ``curve`` it may be an upper bound of that.

        Parameters
        ----------
        view : Selection
        weights : ndarray of shape (view.size,)

        Returns
        -------
        ndarray of shape (view.size,)
        """

    @abstractmethod
    def gradient_of_all(self, weights: np.ndarray) -> np.ndarray:
        """Return the gradient of all optional weights, from the expectations kept last.

        Parameters
        ----------
        weights : ndarray of shape (n_optional,)
            The optional weights where they were kept.

        Returns
        -------
        ndarray of shape (n_optional,)
        """

    @abstractmethod
    def value_at_zero(self) -> float:
        """Return the objective if all weights are zero."""

    @abstractmethod
    def stochastic_passes(
        self,
        options: SolverOptions,
        progress: Progress,
        *,
        seed: int = 0,
        weights: np.ndarray | None = None,
    ) -> np.ndarray:
        """Run stage one, passes of stochastic gradient descent.

        Parameters
        ----------
        options : SolverOptions
        progress : Progress
            Hears of each pass.
        seed : int
            Of the order of the sequences.
        weights : ndarray of shape (size,) or None
            Where to start.

        Returns
        -------
        ndarray of shape (size,)
        """

    @abstractmethod
    def traffic(self) -> dict[str, int]:
        """Return the bytes sent and received since the last call, for ``history_``."""

    @abstractmethod
    def close(self) -> None:
        """Stop what works in the background."""


class _Curved(NamedTuple):
    """The curvature that a pass over a view has worked out, besides its gradient."""

    where: np.ndarray  # (n,) the places of its weights among all
    weights: np.ndarray  # (n,)
    curvature: np.ndarray  # (n,)
    expected: np.ndarray  # (n_optional,) Σ p of all optional weights

    def find(
        self, where: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the curvature (m,) of the weights at ``where`` (m,), nan if unknown,
        and ``expected``; None if ``weights`` (m,) are not what the pass had: there all
        others are zero.
        """
        at = np.minimum(np.searchsorted(self.where, where), self.where.shape[0] - 1)
        if not at.shape[0] or not self.where.shape[0]:
            return None
        known = self.where[at] == where
        same = np.where(known, self.weights[at], 0.0) == weights
        if not same.all() or np.count_nonzero(weights) != np.count_nonzero(
            self.weights
        ):
            return None
        return np.where(known, self.curvature[at], np.nan), self.expected


class CRFObjective(Objective[View]):
    """Log-likelihood and gradient of a chain CRF.

    Parameters
    ----------
    task : ChainTask
        The corpus; ``gold`` may hold UNLABELLED. Tokens that are nothing but dense rows
        of numbers stay so; beside other features, each number is a feature of the bag.
    options, potentials, n_rows, n_edge_rows
        As of :class:`Objective`.
    n_threads : int
    layout : WeightLayout or None
        Have these weights, whatever the corpus shows.
    fields : ndarray of shape (n_rows,) or None
        The field of each row of weights, such as its template: see :mod:`.token_parts`.
        None: there are none, and tokens have no parts.

    Attributes
    ----------
    features : TokenLists
        The state features of the tokens.
    all_features : Occurrences
        The same with all their weights, in use or not.
    conditioned : Occurrences
        The transitions that look at the input, with all their weights.
    walked : list of Sequences
        What passes walk through: all sequences, and those that are labelled in part, if
        there are any.
    all_conditioned : list of Occurrences
        ``conditioned`` of each of these.
    occurrences : ndarray of shape (n_features,)
        How many tokens have each feature.
    empirical : ndarray of shape (size,)
        The empirical count of each weight, in sequences whose labels are all given.
    all_expected : ndarray of shape (n_optional,)
        Expected counts of all optional weights where :meth:`evaluate` kept them last.
    """

    def __init__(
        self,
        task: ChainTask,
        options: ObjectiveOptions,
        potentials: Potentials,
        n_rows: int,
        n_edge_rows: int = 1,
        n_threads: int = 1,
        layout: WeightLayout | None = None,
        fields: np.ndarray | None = None,
    ) -> None:
        super().__init__(options, potentials, n_rows, n_edge_rows)
        self.sequences = sequences = Sequences.of(task, self.n_labels)
        partial = sequences.partial()
        self.n_tokens = sequences.gold.shape[0]
        self.all_labelled = not partial.size
        self._choose_weights(task, options, layout)
        self._scratch: list[Lanes] = []
        self.n_entries = int(self.occurrences.sum())
        self.grouping = None
        self.products = None
        if self.features.dense:
            self.products = ProductSums(
                self.features.dense, sequences, self.row, self.n_labels, N_RUNS
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
        self.all_features = Occurrences(self.features, self.first, self.pair_label)
        self.walked = [sequences]
        self.all_conditioned = [self.conditioned]
        self.partial_tokens: np.ndarray | None = None
        if partial.size:
            self.walked.append(Sequences.some(sequences, partial, sequences.longest))
            lengths = sequences.lengths[partial]
            self.partial_tokens = ranges(sequences.token[partial], lengths)[1]
            self.all_conditioned.append(self._cut(self.conditioned))
        self.all_expected = np.zeros(0)
        self._curved: _Curved | None = None
        # last, after all that can fail
        self.pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def _choose_weights(
        self, task: ChainTask, options: ObjectiveOptions, layout: WeightLayout | None
    ) -> None:
        """Lay out the vector of weights."""
        s = self.sequences
        L = self.n_labels
        corpus = task, s, self.potentials.transition, self.n_rows, self.n_edge_rows
        layout, self.features, combinations = choose_weights(*corpus, options, layout)
        if options.leaves_out_rare:
            layout = drop_rare_pairs(
                layout, self.features, s.gold, L, options.least_seen
            )
            layout, self.features, combinations = choose_weights(
                *corpus, options, layout
            )
        self.lay_out(layout)
        # Partial labellings are left to the clamped pass.
        counts = count_features(self.features, s, self.n_features, L, complete=True)
        self.occurrences = counts.occurrences
        self.largest = counts.largest
        self.conditioned, empirical_conditioned = combinations.with_weights(
            s, self.conditioned_pair, self.n_edge_rows, L
        )
        empirical = counts.seen[self.pair_feature * np.int64(L) + self.pair_label]
        self.empirical = np.concatenate(
            [empirical, empirical_conditioned, count_label_pairs(s, self.label_pair, L)]
        )

    @cached_property
    def parts(self) -> PartSums:
        """The parts of the tokens, found when a view first asks for them."""
        group = np.full(self.n_features, -1)
        if self.grouping is not None:
            group = self.grouping.group
        return PartSums(*find_parts(self.features, group), self.n_labels, N_RUNS)

    @cached_property
    def all_state_sums(self) -> AllStateSums:
        """Return where expectations of all weights of states are added up, made when a
        pass first keeps them.
        """
        features = Features(
            self.features, self.occurrences, self.first, self.pair_label
        )
        return AllStateSums(features, self.n_labels, N_RUNS, self.partial_tokens)

    # -- sums over the corpus ----------------------------------------------------------
    def _cut(self, features: Occurrences) -> Occurrences:
        """Keep the tokens of partially labelled sequences, with all their features."""
        assert self.partial_tokens is not None, "there are such sequences"
        return features._replace(lists=features.lists.take(self.partial_tokens))

    def subcorpus(
        self, corpus: Corpus, conditioned: Occurrences
    ) -> tuple[Corpus, Occurrences] | None:
        """Return the partially labelled sequences alone, with the same weights.

        Returns
        -------
        (corpus, conditioned) or None
            None if all labels are known.
        """
        if self.all_labelled:
            return None
        assert self.partial_tokens is not None, "there are such sequences"
        cut = {
            name: getattr(corpus, name).take(self.partial_tokens)
            for name in ("entries", "rows")
        }
        return corpus._replace(sequences=self.walked[1], **cut), self._cut(conditioned)

    def take_scratch(self) -> Lanes:
        """Return scratch for one thread, which nobody else uses until
        :meth:`give_back`.
        """
        try:
            return self._scratch.pop()
        except IndexError:
            return new_lanes(self.walked, self.n_labels)

    def give_back(self, scratch: Lanes) -> None:
        """Let others use what :meth:`take_scratch` returned."""
        self._scratch.append(scratch)

    def evaluate(
        self, view: View, weights: np.ndarray, keep: bool = False, curve: bool = False
    ) -> tuple[float, np.ndarray]:
        """Work out the smooth part of the objective and its gradient, in one pass.

        Where labels are missing it takes a second pass over these sequences. For
        parameters and results see :meth:`Objective.evaluate`.
        """
        self.n_passes += 1
        curve = curve and self._counts_bound_curvature
        this = CorpusPass(self, view, weights, False, keep=keep, curve=curve)
        value, gradient, all_expected = this.run()
        if keep:
            self._curved = None
        if curve:
            self._curved = _Curved(
                view.where, weights.copy(), this.curvature, all_expected
            )
        if view.clamped is not None:
            less, gradient_less, all_expected_less = CorpusPass(
                self, view, weights, True, keep=keep
            ).run()
            value -= less
            gradient -= gradient_less
            all_expected = all_expected - all_expected_less
        if keep:
            self.all_expected = all_expected
        empirical = self.empirical[view.where]
        value += self.c2 * dot(weights, weights) - dot(empirical, weights)
        gradient += 2.0 * self.c2 * weights - empirical
        return value, gradient

    def curvature(self, view: View, weights: np.ndarray) -> np.ndarray:
        """Estimate the Hessian's diagonal (view.size,), in one pass: Σ x² p (1 - p)."""
        if self._curved is not None:
            known = self._curved.find(view.where, weights)
            if known is not None:
                return self._bound_curvature(view, *known) + 2.0 * self.c2
        self.n_passes += 1
        curvature = CorpusPass(self, view, weights, False, square=True).run()[1]
        curvature[view.n_states :] *= 0.5
        return curvature + 2.0 * self.c2

    @property
    def _counts_bound_curvature(self) -> bool:
        """Tell whether all features have the value 1, so that x² p (1 - p) <= x p."""
        return not self.features.dense and not self.features.value.shape[0]

    def _bound_curvature(
        self, view: View, curvature: np.ndarray, expected: np.ndarray
    ) -> np.ndarray:
        """Fill in the curvature of weights that were in no view.

        A feature that occurs n times, with E = Σ p, has Σ p (1 - p) <= E (1 - E / n).

        Parameters
        ----------
        view : View
        curvature : ndarray of shape (view.size,)
            nan where it is not known.
        expected : ndarray of shape (n_optional,)
            Σ p.
        """
        new = np.flatnonzero(np.isnan(curvature))
        weight = view.chosen[new]
        found = expected[weight]
        state = weight < self.n_pairs
        n = self.occurrences[self.pair_feature[weight[state]]]
        most = n * self.sequences.weight.max(initial=0.0)
        found[state] *= np.maximum(1.0 - found[state] / np.maximum(most, 1e-300), 0.0)
        found[~state] *= 0.5
        curvature[new] = found
        return curvature

    def gradient_of_all(self, weights: np.ndarray) -> np.ndarray:
        """Return the gradient of all optional weights (n_optional,), from the
        expectations that :meth:`evaluate` kept last at ``weights`` (n_optional,).
        """
        return (
            self.all_expected
            + 2.0 * self.c2 * weights
            - self.empirical[: self.n_optional]
        )

    def map(self, work: Callable[[int], Any], items: Iterable[int]) -> Iterable[Any]:
        """Call ``work`` for each item, on all threads; results come in order."""
        return map(work, items) if self.pool is None else self.pool.map(work, items)

    # -- what the solvers ask besides --------------------------------------------------
    def view(self, chosen: np.ndarray) -> View:
        """Write the corpus out in some optional weights, and all pairs of labels."""
        return View(self, chosen)

    def value_at_zero(self) -> float:
        """Work out the objective where all weights are zero, in one pass."""
        nothing = self.view(np.zeros(0, np.int64))
        return self.evaluate(nothing, np.zeros(nothing.size))[0]

    def stochastic_passes(
        self,
        options: SolverOptions,
        progress: Progress,
        *,
        seed: int = 0,
        weights: np.ndarray | None = None,
    ) -> np.ndarray:
        """Run stage one sequence by sequence; see :func:`.sgd.stochastic_passes`."""
        return stochastic_passes(self, options, progress, seed=seed, weights=weights)

    def learning_rate(self) -> float:
        """Return the rate of stage one that ``"auto"`` stands for.

        A step on a sequence changes the score of a token by the rate times what the
        sequence's features have in common with the token's (:func:`.repetition`).
        Features of nearly every token make that many times what a token has by itself,
        and steps overshoot. They also do where sequences have weights above 1, each of
        which makes one step as long as several.
        """
        found = repetition(
            self.sequences.token, self.features, np.zeros(self.n_features)
        )
        weight = self.sequences.weight
        longer = max(float(weight.mean()), 1.0) if weight.size else 1.0
        return RATE * REPETITION / max(found, REPETITION) / longer

    def traffic(self) -> dict[str, int]:
        """Return nothing: the corpus is here."""
        return {}

    def close(self) -> None:
        """Stop the threads."""
        if self.pool is not None:
            self.pool.shutdown()
