"""A shard's part of the objective of an L1-regularised CRF.

The log-likelihood and its gradient are sums over sequences, and so over shards. A
:class:`CRFShard` holds the sequences of one, encoded by themselves: its weights are
those of its own features, and it knows which of all weights they are. What it is asked
for, :mod:`.sharded` adds up.
"""

from typing import NamedTuple

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


class CorpusFacts(NamedTuple):
    """What all shards are told when all vocabularies are known."""

    potentials: Potentials
    n_rows: int  # of features
    n_edge_rows: int  # combinations
    scale: float  # of rows of numbers
    labels: Labels
    constraints: tuple  # start, allowed, end


class Descent(NamedTuple):
    """A pass of stage one."""

    options: NamedTuple  # SolverOptions
    number: int  # of the pass
    rate: float  # of learning
    seed: int
    c1: float  # of the whole
    c2: float
    n_sequences: int  # of the whole
    weights: Piece


def _known(rows, n_rows, chosen):
    """Of a shard's ``rows``, as they are numbered in all shards, those ``chosen``:
    (their own numbers, places among the chosen).
    """
    place = np.append(number_chosen(n_rows, chosen), np.int32(-1))[
        rows
    ]  # a row of -1 has the last one
    mine = np.flatnonzero(place >= 0)
    return mine, place[mine]


class CRFShard:
    """A shard; its methods take what is for it alone, and what is for all.

    Parameters
    ----------
    job : cluster.loading.Job
        The estimator leaves undecided what a part of the corpus cannot decide.

    Raises
    ------
    ValueError
        If the data are wrong; the message names the shard.
    """

    def __init__(self, job):
        self.number, self.place = job.number, place_of(job)
        self.task = self.encoder = self.labels = None
        data = load_shard(job)
        try:
            with naming(*self.place):
                run = job.estimator._prepare(*data, is_part=True)
        except NothingToLearn as error:  # which the other shards may have
            self.reason = str(error)
            return
        self.task = run.task
        self.encoder = run.encoder
        self.labels = run.labels

    # -- steps -------------------------------------------------------------------------
    def vocabulary(self, _, min_count):
        """What the shard holds: a Vocabulary; or why it has nothing to learn from."""
        return self.reason if self.task is None else vocabulary_of(self, min_count)

    def renumber(self, plan, whole):
        """Learn what the labels and rows have become in all shards; returns a digest of
        the examples.

        ``plan``: (ids, rows) of this shard, as of ``_taggers.labelled_corpus.merged``;
        of an empty one the task of a corpus without sequences.
        """
        self.whole = whole
        if self.task is None:
            self.task, self.rows, self.fields = (
                plan,
                RowMap(*np.zeros((2, 0), np.int32)),
                None,
            )
            self.sequences = Sequences.of(self.task)
            return ""
        task = self.task
        (ids, self.rows) = plan
        self.fields = self.encoder.template_of_row(task)
        if whole.scale != 1.0:
            task = self.encoder.rescaled(task, whole.scale)
        self.task = task = renumbered_labels(task, ids, whole.potentials.cost.shape[0])
        with naming(*self.place):
            check_gold(
                Gold(task.gold, task.sets), task.token, whole.labels, whole.constraints
            )
        self.sequences = Sequences.of(self.task)
        self.encoder = self.labels = None
        return fingerprint({}, arrays_of(self.task, "shard"))

    def choose(self, _, choice):
        """Lay out the weights of this shard."""
        whole = self.whole
        K = choice.pair_label.shape[0]
        Q = choice.pair.shape[0]
        row, self.feature = _known(self.rows.nodes, whole.n_rows, choice.row)
        first, pairs = ranges(
            choice.first[self.feature], np.diff(choice.first)[self.feature]
        )
        combinations, begin, n = np.unique(
            choice.edge_pair[:, 0], return_index=True, return_counts=True
        )
        edge_row, at = _known(self.rows.edges, whole.n_edge_rows, combinations)
        edges = ranges(begin[at], n[at])[1]
        edge_pair = np.column_stack(
            [np.repeat(edge_row, n[at]), choice.edge_pair[edges, 1:]]
        )
        layout = WeightLayout(
            row,
            first.astype(np.int32),
            choice.pair_label[pairs],
            choice.pair,
            edge_pair,
        )
        given = (
            self.task,
            ObjectiveOptions(0.0, 0.0),
            whole.potentials,
            *map(len, self.rows),
        )
        self.objective = o = CRFObjective(*given, layout=layout, fields=self.fields)
        self.n_optional = K + choice.edge_pair.shape[0]
        self.size = self.n_optional + Q
        self.at = np.concatenate([pairs, K + edges, self.n_optional + np.arange(Q)])
        self.by_place = np.argsort(self.at[: o.n_optional], kind="stable")
        self.n_features = choice.row.shape[0]
        self.kept = None
        self.view = None
        self.task = self.fields = self.listed = self.sequences = self.rows = None
        # Nothing is known of features that the shard lacks: in others they may have
        # small values.
        largest = np.zeros(self.n_features)
        largest[self.feature] = o.largest
        return o.n_tokens, o.n_entries, self.n_sequences(), o.all_labelled, largest

    def n_sequences(self):
        """How many there are."""
        return self.objective.sequences.order.shape[0]

    def set_working_set(self, _, chosen):
        """Work with these optional weights from now on, and all pairs of labels."""
        self.view = None  # two at once would be the largest thing in memory
        n = self.objective.n_optional
        place = np.searchsorted(chosen, self.at[:n])
        mine = np.flatnonzero(np.append(chosen, -1)[place] == self.at[:n])
        self.view = View(self.objective, mine)
        self.into = np.concatenate(
            [place[mine], self.at[n:] - self.n_optional + chosen.shape[0]]
        )

    # -- summands: which weights there are ---------------------------------------------
    def row_counts(self, _, shared):
        """How often rows occur; and whether there are negative values, in front of
        them.
        """
        rows = self.rows.nodes
        self.listed = features_of_tokens(
            self.task, self.sequences, np.arange(len(rows), dtype=np.int32)
        )
        total = count_features(self.listed, self.sequences, len(rows))[0]
        use = rows >= 0
        negative = float(self.listed.signed)
        keys = np.append(0, rows[use].astype(np.int64) + 1)
        return Piece.of(keys, np.append(negative, total[use]), self.whole.n_rows + 1)

    def pair_counts(self, _, kept):
        """(F * (L + 1),): how often features of the rows ``kept`` (R,) occur
        unlabelled, and with labels.
        """
        rows = self.rows.nodes
        L = self.whole.potentials.cost.shape[0]
        chosen = np.flatnonzero(kept)
        mine, place = _known(rows, len(kept), chosen)
        if self.listed is None:
            self.row_counts(None, None)
        features = keep_features(self.listed, number_chosen(len(rows), mine))
        self.listed = None
        _, unknown, seen, *_ = count_features(
            features, self.sequences, mine.shape[0], L
        )
        counts = np.column_stack([unknown, seen.reshape(-1, L)])
        keys = place[:, None].astype(np.int64) * (L + 1) + np.arange(L + 1)
        return Piece.of(keys.ravel(), counts.ravel(), chosen.shape[0] * (L + 1))

    def transitions(self, _, shared):
        """What pairs of labels there are (L * L,) bool, and counts of combinations
        (keys, counts).
        """
        L = self.whole.potentials.cost.shape[0]
        rows = self.rows.edges
        keys, counts = Combinations.of(
            self.task, self.sequences, rows.shape[0], L
        ).counts(self.sequences, L)
        each = L * L + 2
        new = rows[keys // each].astype(np.int64)
        known = new >= 0
        counted = add_up((new * each + keys % each)[known], counts[known])
        return find_label_pairs(self.sequences, L), *counted

    # -- summands: the objective -------------------------------------------------------
    def _vector(self, value, gradient, size):
        out = np.zeros(1 + size)
        out[0] = value
        out[1 + self.into] = gradient
        return out

    def evaluate(self, _, shared):
        """The negative log-likelihood, and behind it its gradient, on the working set.

        ``shared``: (weights, a number if the expectations of all pairs are to be kept
        under it).
        """
        weights, number = shared
        value, gradient = self.objective.evaluate(
            self.view, weights[self.into], keep=number is not None
        )
        if number is not None:
            self.kept = number
        return self._vector(value, gradient, weights.shape[0])

    def curvature(self, _, weights):
        """An estimate of the Hessian's diagonal, on the working set; 0 in front of it."""
        found = self.objective.curvature(self.view, weights[self.into])
        return self._vector(0.0, found, weights.shape[0])

    def pairs_gradient(self, _, shared):
        """The gradient of all optional weights of this shard, where their expectations
        were to be kept.
        """
        if self.kept != shared[1]:  # by a worker that is lost
            self.evaluate(None, shared)
        n = self.objective.n_optional
        gradient = self.objective.gradient_of_all(np.zeros(n))[self.by_place]
        return Piece(
            self.at[:n][self.by_place].astype(key_type(self.n_optional)), gradient
        )

    def value_at_zero(self, _, shared):
        """The negative log-likelihood if all weights are zero."""
        return np.array([self.objective.value_at_zero()])

    # -- summands: stage one -----------------------------------------------------------
    def occurrences(self, _, shared):
        """(F,): how often features occur."""
        return Piece.of(
            self.feature, self.objective.occurrences.astype(float), self.n_features
        )

    def rate(self, _, shared):
        """The learning rate that ``"auto"`` stands for, times the sequences."""
        return np.array([self.objective.learning_rate() * self.n_sequences()])

    def descend(self, _, descent):
        """A pass of stage one from common weights on: weights times occurrences of
        their features.
        """
        o = self.objective
        d = descent
        share = self.n_sequences() / d.n_sequences
        o.c1 = d.c1 * share
        o.c2 = d.c2 * share
        seed = np.random.SeedSequence([d.seed, self.number, d.number]).generate_state(
            1
        )[0]
        options = d.options._replace(sgd_iter=1, eta0=d.rate)
        weights = d.weights.vector(self.size)[self.at]
        weights = o.stochastic_passes(
            options, Progress(o), seed=int(seed), weights=weights
        )
        o.c1 = o.c2 = 0.0
        occurrences = np.full(o.size, float(o.n_tokens))
        occurrences[: o.n_pairs] = o.occurrences[o.pair_feature]
        return Piece.of(self.at, weights * occurrences, self.size)
