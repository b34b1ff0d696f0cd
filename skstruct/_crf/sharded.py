"""The objective of an L1-regularised CRF as a sum over shards, and the fit that
minimises it.

The solvers ask an objective for its value and gradient on a working set, and now and
then for the gradient of all pairs. Here shards work these out (:mod:`.shard`), each of
its own sequences, and a tree adds them up; the weights and all that a solver remembers
are here. What is minimised is the objective of one machine, term by term; only the
order in which its terms are added up differs, and that depends on the shards alone.

Stage one goes from sequence to sequence, which has no sum over shards. Each shard
descends over its own sequences from common weights, with its share of the penalty;
after each pass the common weights are the means of those of the shards, by how often
these have the features. A mean is zero only where all of them are, so that twice as
many weights would be left as on one machine: in the end the means are moved towards
zero by the penalty of a pass over the sequences that a shard has not seen. This is
where stage two starts, no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from .._chain.chain_model import make_task
from .._data.inputs import NothingToLearn, as_tokens
from .._shards.held import DaskShards, LocalShards
from .._shards.loading import Job, check_loads
from .._shards.pieces import Piece, add_arrays, add_pieces
from .._shards.shards import counting_all, in_turn
from .._shards.vocabulary import Vocabulary
from .._taggers.labelled_corpus import merged
from ..features.encoded import ALL_ALIVE
from .crf_run import CRFRun
from .shard import CorpusFacts, CRFShard, Descent
from .solver.choose_pairs import (
    WeightLayout,
    add_up,
    choose_conditioned,
    choose_label_pairs,
    screen_pairs,
)
from .solver.objective import Objective
from .solver.quasi_newton import dot
from .solver.view import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .l1crf import L1CRF
    from .solver.corpus_sums import Potentials
    from .solver.objective import ObjectiveOptions
    from .solver.solve import Progress, SolverOptions


def _unite(
    parts: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unite what corpora show of transitions, each as of ``CRFShard.transitions``."""
    shown, keys, counts = zip(*parts)
    summed = add_up(np.concatenate(keys), np.concatenate(counts))
    return np.any(shown, axis=0), *summed


class ShardedObjective(Objective[Selection]):
    """An objective that is a sum over shards.

    Parameters
    ----------
    crew : LocalShards or DaskShards
        Of shards that know their labels and rows.
    options, potentials, n_rows, n_edge_rows
        As of :class:`.Objective`.
    alive : tuple of ndarray (node_alive, edge_alive)
        0 for rows below the count cut-off; empty without one.

    Attributes
    ----------
    kept_at : tuple of (ndarray, int), or None
        The weights of the pass that kept expectations last, and its number, which the
        shards have, too.
    """

    def __init__(
        self,
        crew: LocalShards | DaskShards,
        options: ObjectiveOptions,
        potentials: Potentials,
        n_rows: int,
        n_edge_rows: int,
        alive: tuple[np.ndarray, np.ndarray],
    ) -> None:
        super().__init__(options, potentials, n_rows, n_edge_rows)
        self.crew = crew
        self.alive = alive
        self.kept_at: tuple[np.ndarray, int | None] | None = None
        self.lay_out(self._choose_weights(options))
        statistics = crew.step("choose", shared=self.layout)
        n_tokens, n_entries, n_sequences, labelled, largest = zip(*statistics)
        self.all_labelled = all(labelled)
        self.n_tokens = sum(n_tokens)
        self.n_entries = sum(n_entries)
        self.n_sequences = sum(n_sequences)
        # The share of the sequences that the shard of a sequence lacks, on average.
        self.unseen = 1.0 - sum(
            (n / max(self.n_sequences, 1)) ** 2 for n in n_sequences
        )
        self.largest = np.max(largest, axis=0)
        self.noted = crew.sent, crew.received

    def _choose_weights(self, options: ObjectiveOptions) -> WeightLayout:
        """Lay out the weights; see :mod:`.solver.choose_pairs`."""
        L = self.n_labels
        crew = self.crew
        counts = crew.total("row_counts", add_pieces).vector(self.n_rows + 1)
        signed = counts[0] > 0.0
        total = counts[1:]
        if self.alive[0].shape[0]:
            total[self.alive[0] == 0] = 0.0
        kept = total > options.c1
        rows = np.flatnonzero(kept)
        counts = crew.total("pair_counts", add_pieces, shared=kept)
        counts = counts.vector(rows.shape[0] * (L + 1)).reshape(-1, L + 1)
        states, _ = screen_pairs(
            rows, total[rows], counts[:, 0], counts[:, 1:].ravel(), signed, options
        )
        shown, keys, counts = crew.total("transitions", _unite)
        if self.alive[1].shape[0]:
            alive = self.alive[1][keys // (L * L + 2)] != 0
            keys = keys[alive]
            counts = counts[alive]
        transition = self.potentials.transition
        conditioned_pair = choose_conditioned(keys, counts, transition, options)
        return WeightLayout(
            *states, choose_label_pairs(shown, transition, options), conditioned_pair
        )

    # -- what the solvers ask ----------------------------------------------------------
    def view(self, chosen: np.ndarray) -> Selection:
        """Let the shards work with some optional weights and all pairs of labels."""
        self.crew.step("set_working_set", shared=chosen)
        return Selection(self, chosen)

    def evaluate(
        self,
        view: Selection,
        weights: np.ndarray,
        keep: bool = False,
        curve: bool = False,
    ) -> tuple[float, np.ndarray]:
        """Add up the smooth part of the objective and its gradient, over the shards.

        ``view`` is the newest one. For parameters and results see
        :meth:`.Objective.evaluate`; curvature is always a pass of its own here, as a
        worker that is lost takes along what it knows.
        """
        self.n_passes += 1
        shared = weights, self.n_passes if keep else None
        total = self.crew.total("evaluate", add_arrays, shared=shared)
        if keep:
            self.kept_at = shared
        value = float(total[0]) + self.c2 * dot(weights, weights)
        return value, total[1:] + 2.0 * self.c2 * weights

    def curvature(self, view: Selection, weights: np.ndarray) -> np.ndarray:
        """Add up estimates of the Hessian's diagonal (view.size,), over the shards;
        ``view`` is the newest one.
        """
        self.n_passes += 1
        total = self.crew.total("curvature", add_arrays, shared=weights)
        return total[1:] + 2.0 * self.c2

    def gradient_of_all(self, weights: np.ndarray) -> np.ndarray:
        """Add up the gradient of all optional weights (n_optional,), where
        :meth:`evaluate` kept it last.
        """
        gradient = self.crew.total("pairs_gradient", add_pieces, shared=self.kept_at)
        return gradient.vector(self.n_optional) + 2.0 * self.c2 * weights

    def value_at_zero(self) -> float:
        """Add up the objective if all weights are zero, over the shards."""
        return float(self.crew.total("value_at_zero", add_arrays)[0])

    def traffic(self) -> dict[str, int]:
        """Return the bytes to and from the shards since the last call."""
        sent, received = self.noted
        self.noted = self.crew.sent, self.crew.received
        return {
            "bytes_sent": self.crew.sent - sent,
            "bytes_received": self.crew.received - received,
        }

    def stochastic_passes(
        self,
        options: SolverOptions,
        progress: Progress,
        *,
        seed: int = 0,
        weights: np.ndarray | None = None,
    ) -> np.ndarray:
        """Run stage one on each shard, and average the weights after each pass.

        For parameters and results see :meth:`.Objective.stochastic_passes`.
        """
        weights = np.zeros(self.size) if weights is None else weights
        n_done = 0
        if progress.found is not None:
            weights = progress.found[1]["weights"]
            n_done = progress.found[0]["n_done"]
        occurrences = np.full(self.size, float(self.n_tokens))
        of_features = self.crew.total("occurrences", add_pieces).vector(self.n_features)
        occurrences[: self.n_pairs] = of_features[self.pair_feature]
        everywhere = np.arange(self.size)
        if options.eta0 == "auto":
            rates = self.crew.total("rate", add_arrays)
            eta0 = float(rates[0]) / max(self.n_sequences, 1)
        else:
            eta0 = float(options.eta0)
        for k in range(n_done, options.sgd_iter):
            mixed = Piece.of(everywhere, weights, self.size)
            rate = eta0 * options.decay**k
            descent = Descent(
                options, k, rate, seed, self.c1, self.c2, self.n_sequences, mixed
            )
            total = self.crew.total("descend", add_pieces, shared=descent)
            weights = total.vector(self.size) / np.maximum(occurrences, 1.0)
            if k == options.sgd_iter - 1:
                penalty = rate * self.c1 * self.unseen
                weights = np.sign(weights) * np.maximum(np.abs(weights) - penalty, 0.0)
            if progress.add(weights):
                break
            progress.offer({"n_done": k + 1}, {"weights": weights})
        return weights

    def close(self) -> None:
        """Leave the crew alone: it is not ours."""


class ShardedRun(CRFRun):
    """A training run whose corpus is in shards.

    Parameters
    ----------
    estimator : L1CRF
    crew : LocalShards or DaskShards
    loads : list of callables
    """

    def __init__(
        self,
        estimator: L1CRF,
        crew: LocalShards | DaskShards,
        loads: Sequence[Callable[[], tuple[Any, ...]]],
    ) -> None:
        self.crew = crew
        local = clone(estimator).set_params(
            min_count=1, class_weight=None, warm_start=False, checkpoint=None
        )
        crew.make(CRFShard, [Job(s, load, local, 0) for s, load in enumerate(loads)])
        answers = crew.ask("vocabulary", shared=estimator.min_count)
        met = [answer for answer in answers if isinstance(answer, Vocabulary)]
        if not met:
            raise NothingToLearn(answers[0])
        with counting_all(answers):
            encoder, labels, constraints, cost, ids, rows = merged(met, estimator, 0.0)
        empty = make_task(encoder, as_tokens([]))
        self.alive = empty.node_alive, empty.edge_alive
        super().__init__(estimator, None, encoder, labels, constraints, cost)
        scale = float(getattr(encoder, "scale", 1.0))
        facts = CorpusFacts(
            *self.objective_arguments(0.0)[1:], scale, labels, constraints
        )
        nothing = empty._replace(node_alive=ALL_ALIVE, edge_alive=ALL_ALIVE, dense=())
        plans = in_turn(answers, zip(ids, rows), nothing)
        self.facts = {"shards": crew.step("renumber", plans, facts)}

    def new_objective(self, c1: float) -> ShardedObjective:
        """Make the sum over shards with a strength of the L1 penalty."""
        self.warn_of_many_labels(sum(self.crew.ask("count_tokens")), self.crew.n_shards)
        return ShardedObjective(self.crew, *self.objective_arguments(c1), self.alive)


@contextmanager
def sharded_run(
    estimator: L1CRF, shards: Sequence[Callable[[], tuple[Any, ...]]], client: Any
) -> Iterator[ShardedRun]:
    """Make the run of an estimator on shards, which are released in the end.

    Parameters
    ----------
    estimator : L1CRF
    shards : list of callables
        As of :meth:`.L1CRF.fit_shards`.
    client : distributed.Client or None
        On whose workers; None: in threads.

    Yields
    ------
    ShardedRun

    Raises
    ------
    ValueError
        If the shards are no callables, or the estimator's parameters do not go with
        shards.
    """
    loads = check_loads(shards)
    if estimator.solver == "sgd":
        raise ValueError(
            "solver='sgd' has no sum over shards: fit_shards needs 'two-stage' or "
            "'owlqn'"
        )
    if estimator.warm_start and hasattr(estimator, "classes_"):
        raise ValueError(
            "warm_start=True does not go with fit_shards, which numbers features anew; "
            "use fit"
        )
    crew = LocalShards(estimator.n_jobs) if client is None else DaskShards(client)
    try:
        yield ShardedRun(estimator, crew, loads)
    finally:
        crew.close()
