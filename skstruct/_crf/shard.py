"""A shard's part of the objective of an L1-regularised CRF.

The log-likelihood and its gradient are sums over sequences, and so over shards. A
:class:`CRFShard` holds the sequences of one, encoded by themselves: its weights are
those of its own features, and it knows which of all weights they are. What it is asked
for, :mod:`.sharded` adds up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._chain.chain_model import renumbered_labels
from .._data.inputs import NothingToLearn
from .._data.labels import Gold, Labels
from .._data.places import ranges
from .._shards.loading import load_shard, place_of
from .._shards.pieces import Piece, key_type
from .._shards.shards import naming
from .._taggers.constraints import check_gold
from .._taggers.labelled_corpus import vocabulary_of
from .._training.checkpoint import arrays_of, fingerprint
from ..features.encoded import RowMap
from .solver.choose_pairs import (
    Combinations,
    WeightLayout,
    add_up,
    count_features,
    find_label_pairs,
)
from .solver.corpus_sums import Potentials, Sequences
from .solver.objective import CRFObjective, ObjectiveOptions
from .solver.solve import Progress
from .solver.token_features import features_of_tokens, keep_features, number_chosen
from .solver.view import View

if TYPE_CHECKING:
    from .._chain.bigram import ChainTask
    from .._shards.loading import Job
    from .._shards.vocabulary import Vocabulary
    from ..features.base import Encoder
    from .solver.solve import SolverOptions
    from .solver.token_features import TokenLists


class CorpusFacts(NamedTuple):
    """The facts that all shards get when all vocabularies are known."""

    potentials: Potentials
    n_rows: int  # of features
    n_edge_rows: int  # combinations
    scale: float  # of rows of numbers
    labels: Labels
    # start, allowed, end
    constraints: tuple[np.ndarray, np.ndarray, np.ndarray]


class Descent(NamedTuple):
    """A pass of stage one."""

    options: SolverOptions
    number: int  # of the pass
    rate: float  # of learning
    seed: int
    c1: float  # of the whole
    c2: float
    n_sequences: int  # of the whole
    weights: Piece


def _find_known(
    rows: np.ndarray, n_rows: int, chosen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Find those of a shard's rows that are among ``chosen`` ones of all shards.

    Parameters
    ----------
    rows : ndarray of shape (R,)
        By row of the shard its number in all shards, -1 for none.
    n_rows : int
        Rows in all shards.
    chosen : ndarray

    Returns
    -------
    mine : ndarray
        The shard's own numbers.
    place : ndarray
        Their places among the chosen.
    """
    # a row of -1 has the last one
    place = np.append(number_chosen(n_rows, chosen), np.int32(-1))[rows]
    mine = np.flatnonzero(place >= 0)
    return mine, place[mine]


class CRFShard:
    """A shard of a corpus.

    Its methods are called by their names, in this process or in another, with what is
    for this shard alone and what is for all; an argument that is not used is None.

    Parameters
    ----------
    job : _shards.loading.Job
        The estimator leaves undecided what a part of the corpus cannot decide.

    Raises
    ------
    ValueError
        If the data are wrong; the message names the shard.
    """

    # from `renumber` on
    whole: CorpusFacts
    rows: RowMap
    fields: np.ndarray | None
    sequences: Sequences
    # from `choose` on
    objective: CRFObjective
    # from `set_working_set` on
    view: View

    def __init__(self, job: Job) -> None:
        self.number, self.place = place_of(job)
        self.task: ChainTask | None = None
        self.encoder: Encoder | None = None
        self.labels: Labels | None = None
        self.listed: TokenLists | None = None
        data = load_shard(job)
        estimator: Any = job.estimator
        try:
            with naming(self.number, self.place):
                run = estimator._prepare(*data, is_part=True)
        except NothingToLearn as error:  # which the other shards may have
            self.reason = str(error)
            return
        self.task = run.task
        self.encoder = run.encoder
        self.labels = run.labels

    # -- steps -------------------------------------------------------------------------
    def vocabulary(self, _: None, min_count: int) -> Vocabulary | str:
        """Return what the shard holds; or why it has nothing to learn from."""
        return self.reason if self.task is None else vocabulary_of(self, min_count)

    def renumber(self, plan: Any, whole: CorpusFacts) -> str:
        """Learn what the labels and rows have become in all shards.

        Parameters
        ----------
        plan : tuple (ids, rows), or ChainTask
            Of this shard, as of ``_taggers.labelled_corpus.merged``; of an empty one
            the task of a corpus without sequences.
        whole : CorpusFacts

        Returns
        -------
        str
            A digest of the examples.
        """
        self.whole = whole
        if self.task is None:
            self.task = plan
            self.rows = RowMap(*np.zeros((2, 0), np.int32))
            self.fields = None
            self.sequences = Sequences.of(self.task)
            return ""
        task = self.task
        ids, self.rows = plan
        encoder: Any = self.encoder  # with `rescaled` where a scale is not 1
        self.fields = encoder.template_of_row(task)
        if whole.scale != 1.0:
            task = encoder.rescaled(task, whole.scale)
        self.task = task = renumbered_labels(task, ids, whole.potentials.cost.shape[0])
        with naming(self.number, self.place):
            check_gold(
                Gold(task.gold, task.sets), task.token, whole.labels, whole.constraints
            )
        self.sequences = Sequences.of(self.task)
        self.encoder = self.labels = None
        return fingerprint({}, arrays_of(self.task, "shard"))

    def count_tokens(self, _: None, shared: None) -> int:
        """Count the tokens of the shard, before `choose` releases them."""
        return int(self._corpus().token[-1])

    def choose(
        self, _: None, choice: WeightLayout
    ) -> tuple[int, int, int, bool, np.ndarray]:
        """Lay out the weights of this shard, of those of the whole.

        Returns
        -------
        n_tokens, n_entries, n_sequences : int
        all_labelled : bool
        largest : ndarray of shape (n_features,)
            The largest value of each feature of the whole; 0 of those that the shard
            lacks.
        """
        whole = self.whole
        K = choice.pair_label.shape[0]
        Q = choice.label_pair.shape[0]
        row, self.feature = _find_known(self.rows.nodes, whole.n_rows, choice.row)
        first, pairs = ranges(
            choice.first[self.feature], np.diff(choice.first)[self.feature]
        )
        combinations, begin, n = np.unique(
            choice.conditioned_pair[:, 0], return_index=True, return_counts=True
        )
        edge_row, at = _find_known(self.rows.edges, whole.n_edge_rows, combinations)
        edges = ranges(begin[at], n[at])[1]
        conditioned_pair = np.column_stack(
            [np.repeat(edge_row, n[at]), choice.conditioned_pair[edges, 1:]]
        )
        layout = WeightLayout(
            row,
            first.astype(np.int32),
            choice.pair_label[pairs],
            choice.label_pair,
            conditioned_pair,
        )
        self.objective = CRFObjective(
            self._corpus(),
            ObjectiveOptions(0.0, 0.0),
            whole.potentials,
            len(self.rows.nodes),
            len(self.rows.edges),
            layout=layout,
            fields=self.fields,
        )
        self.n_optional = K + choice.conditioned_pair.shape[0]
        self.size = self.n_optional + Q
        self.at = np.concatenate([pairs, K + edges, self.n_optional + np.arange(Q)])
        self.by_place = np.argsort(self.at[: self.objective.n_optional], kind="stable")
        self.n_features = choice.row.shape[0]
        self.number_kept: int | None = None
        self.task = self.listed = None
        del self.fields, self.sequences, self.rows
        # Nothing is known of features that the shard lacks: in others they may have
        # small values.
        largest = np.zeros(self.n_features)
        objective = self.objective
        largest[self.feature] = objective.largest
        sizes = objective.n_tokens, objective.n_entries, self.n_sequences()
        return *sizes, objective.all_labelled, largest

    def n_sequences(self) -> int:
        """Count the sequences of the shard."""
        return self.objective.sequences.order.shape[0]

    def set_working_set(self, _: None, chosen: np.ndarray) -> None:
        """Work with these optional weights of the whole from now on, and all pairs of
        labels.
        """
        # Two at once would be the largest thing in memory.
        vars(self).pop("view", None)
        n = self.objective.n_optional
        place = np.searchsorted(chosen, self.at[:n])
        mine = np.flatnonzero(np.append(chosen, -1)[place] == self.at[:n])
        self.view = View(self.objective, mine)
        self.into = np.concatenate(
            [place[mine], self.at[n:] - self.n_optional + chosen.shape[0]]
        )

    # -- summands: which weights there are ---------------------------------------------
    def _list_features(self) -> TokenLists:
        """List the features of all tokens, as the shard numbers them."""
        of_row = np.arange(len(self.rows.nodes), dtype=np.int32)
        return features_of_tokens(self._corpus(), self.sequences, of_row)

    def _corpus(self) -> ChainTask:
        """Return the encoded corpus, which `choose` releases."""
        if self.task is None:
            raise AssertionError("the shard has no corpus any more")
        return self.task

    def row_counts(self, _: None, shared: None) -> Piece:
        """Count how often rows occur; in front of them whether values are negative."""
        rows = self.rows.nodes
        self.listed = listed = self._list_features()
        total = count_features(listed, self.sequences, len(rows)).total
        use = rows >= 0
        negative = float(listed.signed)
        keys = np.append(0, rows[use].astype(np.int64) + 1)
        return Piece.of(keys, np.append(negative, total[use]), self.whole.n_rows + 1)

    def pair_counts(self, _: None, kept: np.ndarray) -> Piece:
        """Count how often features occur unlabelled, and with labels.

        ``kept`` (R,) bool: the rows to count, F of them. Returns (F * (L + 1),).
        """
        rows = self.rows.nodes
        L = self.whole.potentials.cost.shape[0]
        chosen = np.flatnonzero(kept)
        mine, place = _find_known(rows, len(kept), chosen)
        listed = self._list_features() if self.listed is None else self.listed
        features = keep_features(listed, number_chosen(len(rows), mine))
        self.listed = None
        n = mine.shape[0]
        counted = count_features(features, self.sequences, n, L)
        # Most pairs do not occur: keys of all would take several times the memory.
        unknown = np.flatnonzero(counted.unknown)
        seen = np.flatnonzero(counted.seen)
        of_feature = place.astype(np.int64) * (L + 1)
        keys = [of_feature[unknown], of_feature[seen // L] + 1 + seen % L]
        counts = [counted.unknown[unknown], counted.seen[seen]]
        size = chosen.shape[0] * (L + 1)
        return Piece.of(np.concatenate(keys), np.concatenate(counts), size)

    def transitions(
        self, _: None, shared: None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what the shard shows of transitions.

        Returns
        -------
        shown : ndarray of shape (L * L,)
            bool: which pairs of labels there are.
        keys, counts : ndarray
            As of :meth:`.Combinations.counts`, in the numbers of all shards.
        """
        L = self.whole.potentials.cost.shape[0]
        rows = self.rows.edges
        combinations = Combinations.of(self._corpus(), self.sequences, rows.shape[0], L)
        keys, counts = combinations.counts(self.sequences, L)
        each = L * L + 2
        new = rows[keys // each].astype(np.int64)
        known = new >= 0
        counted = add_up((new * each + keys % each)[known], counts[known])
        return find_label_pairs(self.sequences, L), *counted

    # -- summands: the objective -------------------------------------------------------
    def _vector(self, value: float, gradient: np.ndarray, size: int) -> np.ndarray:
        """Write a value, and behind it a gradient on the whole's working set."""
        out = np.zeros(1 + size)
        out[0] = value
        out[1 + self.into] = gradient
        return out

    def evaluate(self, _: None, shared: tuple[np.ndarray, int | None]) -> np.ndarray:
        """Work out the negative log-likelihood, and behind it its gradient.

        ``shared``: the weights of the working set; and a number if the expectations of
        all pairs are to be kept under it.
        """
        weights, number = shared
        value, gradient = self.objective.evaluate(
            self.view, weights[self.into], keep=number is not None
        )
        if number is not None:
            self.number_kept = number
        return self._vector(value, gradient, weights.shape[0])

    def curvature(self, _: None, weights: np.ndarray) -> np.ndarray:
        """Estimate the Hessian's diagonal on the working set, with a 0 in front of
        it.
        """
        found = self.objective.curvature(self.view, weights[self.into])
        return self._vector(0.0, found, weights.shape[0])

    def pairs_gradient(self, _: None, shared: tuple[np.ndarray, int | None]) -> Piece:
        """Return the gradient of all optional weights of this shard, where their
        expectations were to be kept; ``shared`` is as of :meth:`evaluate`.
        """
        if self.number_kept != shared[1]:  # by a worker that is lost
            self.evaluate(None, shared)
        n = self.objective.n_optional
        gradient = self.objective.gradient_of_all(np.zeros(n))[self.by_place]
        return Piece(
            self.at[:n][self.by_place].astype(key_type(self.n_optional)), gradient
        )

    def value_at_zero(self, _: None, shared: None) -> np.ndarray:
        """Work out the negative log-likelihood (1,) if all weights are zero."""
        return np.array([self.objective.value_at_zero()])

    # -- summands: stage one -----------------------------------------------------------
    def occurrences(self, _: None, shared: None) -> Piece:
        """Count how often features of the whole occur: (F,)."""
        return Piece.of(
            self.feature, self.objective.occurrences.astype(float), self.n_features
        )

    def rate(self, _: None, shared: None) -> np.ndarray:
        """Return the rate (1,) that ``"auto"`` stands for, times the sequences."""
        return np.array([self.objective.learning_rate() * self.n_sequences()])

    def descend(self, _: None, descent: Descent) -> Piece:
        """Run a pass of stage one from common weights on.

        Returns
        -------
        Piece
            Weights times occurrences of their features.
        """
        objective = self.objective
        d = descent
        share = self.n_sequences() / d.n_sequences
        objective.c1 = d.c1 * share
        objective.c2 = d.c2 * share
        seeds = np.random.SeedSequence([d.seed, self.number, d.number])
        weights = objective.stochastic_passes(
            d.options._replace(sgd_iter=1, eta0=d.rate),
            Progress(objective),
            seed=int(seeds.generate_state(1)[0]),
            weights=d.weights.vector(self.size)[self.at],
        )
        objective.c1 = objective.c2 = 0.0
        occurrences = np.full(objective.size, float(objective.n_tokens))
        of_pairs = objective.occurrences[objective.pair_feature]
        occurrences[: objective.n_pairs] = of_pairs
        return Piece.of(self.at, weights * occurrences, self.size)
