"""One training run of a CRF: the objective, the solver, and the fitted attributes at
its end.
"""

from __future__ import annotations

from contextlib import closing
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from .._chain.chain_model import ChainModel, make_task
from .._core.final_weights import entries, sparse_store
from .._core.store import (
    DENSE_WEIGHTS,
    FEW_LABELS,
    READ_ONLY,
    is_sparse,
    made_sparse,
    new_store,
)
from .._core.user_warnings import warn
from .._data.inputs import LABELS, as_tokens, check_X_y
from .._data.labels import UNLABELLED, Labels, encode_known
from .._sklearn import set_fitted
from .._taggers.constraints import check_known
from .._taggers.labelled_corpus import EncodedPart, count_in_sequences
from .._training.callbacks import epoch_context
from .._training.checkpoint import arrays_of, simple_parameters
from .._training.held_out import NAMES, HeldOut, held_out_facts, scored
from .._training.interrupt import KEPT
from .._training.judged import JudgedRun, State, listen
from .._training.run import new_key
from ..metrics.counting import LEAST, LOG_LEAST
from .crf_log import describe_aim, describe_end, describe_pass
from .expected_cost import warn_of_cost
from .solver.corpus_sums import Potentials
from .solver.objective import CRFObjective, Objective, ObjectiveOptions
from .solver.solve import (
    MEASURES,
    CRFResult,
    HeldOutLikelihood,
    Progress,
    SolverOptions,
    SparseWeights,
    pack,
    solve,
)

if TYPE_CHECKING:
    from .._chain.bigram import ChainTask
    from .._core.store import Store
    from .._data.types import History
    from .._training.interrupt import DeferredInterrupt
    from ..features.base import Encoder
    from .l1crf import L1CRF
    from .solver.solve import AsMatrices


@dataclass(eq=False)
class CRFRun(JudgedRun):
    """One training run: the objective, the solver, and the fitted attributes at its
    end.

    Parameters
    ----------
    estimator : L1CRF
        Its parameters are read, and it is fitted at the end.
    task : ChainTask or None
        The encoded corpus; None when the objective has its own encoding of it, or where
        shards have the corpus.
    encoder : Encoder
    labels : Labels
    constraints : tuple of (start, allowed, end)
    cost : ndarray of shape (n_labels,)
        Of missing a token of each label.
    before : ChainModel, optional
        The fitted model whose weights training starts from, under ``warm_start``.
    facts : dict, optional
        What identifies the corpus in the name of a checkpoint, where ``task`` is None.

    Attributes
    ----------
    history : list of dict
    validation : ChainTask or None
        The held-out sequences, if any of them has a token.
    n_judged : int
        How many of them have a label.
    n_stuck : int
        How many of them the constraints leave no labelling.
    impossible : float
        What held-out labels add to the log-likelihood that no weights make probable:
        ``LOG_LEAST`` each.
    """

    estimator: L1CRF
    task: ChainTask | None
    encoder: Encoder
    labels: Labels
    constraints: tuple[np.ndarray, np.ndarray, np.ndarray]
    cost: np.ndarray
    before: ChainModel | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    model_class: ClassVar[type[ChainModel]] = ChainModel
    history: History = field(default_factory=list, init=False)
    validation: ChainTask | None = field(default=None, init=False)
    n_judged: int = field(default=0, init=False)
    n_stuck: int = field(default=0, init=False)
    impossible: float = field(default=0.0, init=False)

    def _unreleased_task(self) -> ChainTask:
        """Return the encoded corpus, which :meth:`new_objective` has not released."""
        if self.task is None:
            raise AssertionError("the corpus was released, or is in shards")
        return self.task

    def member(self, estimator: L1CRF, seed: Any, drawn: np.ndarray) -> CRFRun:
        """Make a run of another estimator on a selection of the sequences.

        Parameters
        ----------
        estimator : L1CRF
        seed : int
            Not used: the estimator's ``random_state`` has it.
        drawn : ndarray of int
            Numbers of sequences; repetitions count.
        """
        task = self._unreleased_task()
        times_drawn = np.bincount(drawn, minlength=task.weight.shape[0])
        run = copy(self)
        run.estimator = estimator
        run.task = task._replace(weight=task.weight * times_drawn)
        return run

    # -- held-out sequences ------------------------------------------------------------
    def held_out_part(self, X: Any, y: Any) -> tuple[HeldOut, list[Any]]:
        """Check and encode the user's held-out sequences.

        Returns
        -------
        HeldOut
        list
            The labels of ``y`` that training lacks.
        """
        X, y, token = check_X_y(X, y, NAMES, as_tokens)
        known = self.labels.values
        held_out = HeldOut(self.estimator, LABELS, X, y, known=known)
        gold, unseen, others = encode_known(y, token, self.labels)
        stuck = check_known(gold, unseen, token, self.labels, self.constraints)
        known = (gold.ids != UNLABELLED) | unseen
        n_known = count_in_sequences(known, token)
        n_unseen = count_in_sequences(unseen, token)
        weight = np.ones(len(X))
        weight[stuck] = 0.0
        # What no weights make probable: labels that training lacks, and all of a stuck
        # sequence. Where there is no label, the probability is 1.
        self.n_judged = int(np.count_nonzero(n_known))
        self.n_stuck = len(stuck)
        self.impossible = LOG_LEAST * float(n_unseen @ weight + n_known[stuck].sum())
        judged = X.blanked(stuck)
        gold = gold.at(np.repeat(weight > 0.0, np.diff(token)))
        if judged.offsets[-1]:
            task = make_task(self.encoder, judged, gold, weight, rows_as_features=True)
            self.validation = task
            if not (stuck or task.dense):
                held_out.encoded = EncodedPart.of(task, gold, unseen)
        return held_out, others

    def explain_unseen(self) -> str:
        """Return what held-out labels that training lacks count as."""
        more = f", and have the probability {LEAST:.2g} in the log-probability"
        if self.n_stuck:
            more += (
                f"; so have all labels of {self.n_stuck} sequences, which constraints "
                f"leave no labelling"
            )
        return more

    def held_out_score(self, model: ChainModel) -> float:
        """Return the token accuracy of a model on the held-out sequences."""
        held_out = self.held_out
        if held_out is None:
            raise AssertionError("there are no held-out sequences")
        if held_out.encoded is not None:
            return held_out.encoded.accuracy(model)
        fitted = self._attributes_of(model)
        return scored(None, self.estimator, fitted, held_out.X, held_out.y)

    def held_out_likelihood(self, objective: Objective) -> HeldOutLikelihood | None:
        """Make what works out the log-probability of the user's held-out sequences.

        Returns
        -------
        HeldOutLikelihood or None
            None without such sequences. Closed with the objective.
        """
        if self.held_out is None:
            return None
        return HeldOutLikelihood(
            objective, self.validation, self.n_judged, self.impossible
        )

    # -- training ----------------------------------------------------------------------
    def draw_seed(self) -> int:
        """Draw the seed of the order of the sequences."""
        return new_key(self.estimator.random_state)

    def solver_options(self) -> SolverOptions:
        """Return what the estimator asks of the solver."""
        return SolverOptions(
            *(getattr(self.estimator, name) for name in SolverOptions._fields)
        )

    def train(
        self,
        X: Any,
        y: Any,
        context: Any = None,
        keep_checkpoint: bool = False,
        interrupt: DeferredInterrupt | None = None,
        for_good: bool = False,
    ) -> L1CRF:
        """Minimise the objective, and return the estimator, fitted.

        Parameters
        ----------
        X, y
            Shown to callbacks.
        context : optional
            Of the callbacks.
        keep_checkpoint : bool
            Leave the file of a finished run: the caller removes it
            (``self.checkpoint.remove()``).
        interrupt : DeferredInterrupt, optional
            That of the caller, if it is the caller who hears Ctrl-C.
        for_good : bool
            Has no effect: other runs then drop what training would go on from, which a
            CRF does not have besides its model.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C; the estimator has the weights that were reached.
        """
        estimator = self.estimator
        self.events = epoch_context(context, estimator, X, y)
        with listen(interrupt) as interrupt:
            self.events.begin_fit()
            self.events.begin()
            if estimator.checkpoint is not None:
                self.open_checkpoint(estimator.checkpoint, type(estimator).__name__)
            result, progress = self._minimise(interrupt)
            # `after_pass` has begun the next epoch, which did not run.
            self.events.end(None)
            fitted = self.attributes(result)
            self.events.end_fit(fitted)
            set_fitted(estimator, fitted, "resumed_from_")
            if self.checkpoint is not None:
                estimator.resumed_from_ = progress.n_resumed
                if not (interrupt.count or keep_checkpoint):
                    self.checkpoint.remove()
            if interrupt.count:
                raise KeyboardInterrupt(KEPT)
        if not progress.stopped:
            warn_unless_converged(result, estimator)
        return estimator

    def _minimise(self, interrupt: DeferredInterrupt) -> tuple[CRFResult, Progress]:
        """Make the objective and minimise it; the encoded corpus is released."""
        earlier = self.earlier_weights
        with closing(self.new_objective(self.estimator.c1)) as objective:
            progress = Progress(
                objective,
                self.held_out_likelihood(objective),
                self.after_pass,
                self.checkpoint,
                interrupt,
            )
            self.history = progress.history
            weights = None if earlier is None else pack(objective, *earlier)
            options = self.solver_options()
            seed = self.draw_seed()
            self._say(describe_aim(self.estimator))
            result = solve(objective, options, progress, weights=weights, seed=seed)
            self._say(describe_end(result))
        return result, progress

    def _say(self, line: str) -> None:
        """Print a line of the log if the estimator is verbose."""
        if self.estimator.verbose:
            print(self.title + line, flush=True)

    def after_pass(self, record: dict[str, Any], matrices: AsMatrices) -> bool:
        """Score and show what a pass has learned.

        Parameters
        ----------
        record : dict
            Its entry in the history.
        matrices : callable
            Returns the weights so far as matrices (nodes, edges).

        Returns
        -------
        bool
            Whether a callback asks to stop.
        """

        def fitted_so_far() -> dict[str, Any]:
            return self.attributes_so_far(*matrices())

        estimator = self.estimator
        stop = False
        if self.held_out is not None:
            model = self._model_of(*matrices())
            record["validation_score"] = self.score_fitted(self._attributes_of(model))
        if estimator.verbose:  # a line costs the time to write it
            self._say(describe_pass(len(self.history), self.history))
        if estimator._after_pass is not None:
            stop = bool(estimator._after_pass(record, fitted_so_far))
        if record["stage"] != "sgd" or estimator.solver == "sgd":
            stop = self.events.end(fitted_so_far) or stop
            if not stop:
                self.events.begin()
        return stop

    def objective_arguments(
        self, c1: float
    ) -> tuple[ObjectiveOptions, Potentials, int, int]:
        """Return what an objective with a strength of the L1 penalty is made of.

        Returns
        -------
        options : ObjectiveOptions
        potentials : Potentials
        n_rows, n_edge_rows : int
            Rows of weights of state features; combinations of transition features, the
            first of which is the label bigram.
        """
        estimator = self.estimator
        start, allowed, end = self.constraints
        # None: how often the corpus shows a pair does not matter.
        least_seen = estimator._least_seen
        options = ObjectiveOptions(
            c1,
            estimator.c2,
            all_states=estimator.all_pairs in (True, "states"),
            all_transitions=estimator.all_pairs in (True, "transitions"),
            least_seen=0.0 if least_seen is None else least_seen,
            bigram=self.encoder.has_bigram,
            leaves_out_rare=least_seen is not None,
        )
        potentials = Potentials(allowed, start, end, self.cost)
        return options, potentials, self.encoder.n_node_rows, self.encoder.n_edge_rows

    def warn_of_many_labels(self, n_tokens: int, n_shards: int = 0) -> None:
        """Warn if training on so many tokens, in all shards, takes very long or much
        memory.
        """
        estimator = self.estimator
        passes = estimator.sgd_iter * (estimator.solver != "owlqn")
        if estimator.solver != "sgd":
            passes += estimator.max_iter
        n_labels = len(self.labels)
        warn_of_cost(n_labels, n_tokens, passes, estimator.memory, n_shards)

    def new_objective(self, c1: float) -> Objective:
        """Make the objective with a strength of the L1 penalty.

        Releases the encoded corpus, of which the objective has its own encoding.
        """
        n_threads = effective_n_jobs(self.estimator.n_jobs)
        task = self._unreleased_task()
        self.warn_of_many_labels(int(task.token[-1]))
        fields = self.encoder.template_of_row(task)
        objective = CRFObjective(
            task,
            *self.objective_arguments(c1),
            n_threads=n_threads,
            fields=fields,
        )
        self.task = None
        return objective

    def identity(self) -> State:
        """Return what the outcome depends on: facts and arrays, for a checkpoint."""
        estimator = self.estimator
        facts = {
            "class": type(estimator).__name__,
            "parameters": simple_parameters(estimator),
            **self.facts,
            **held_out_facts(self.held_out, estimator.scoring),
            "bigram": self.encoder.has_bigram,
        }
        parts = self.task, self.constraints, self.cost, self.earlier_weights
        return facts, arrays_of((*parts, self.validation), "fit")

    @cached_property
    def earlier_weights(self) -> tuple[SparseWeights, SparseWeights] | None:
        """The weights (nodes, edges) of the earlier model, where they stand in matrices
        with the rows and labels of this run.
        """
        old = self.before
        if old is None:
            return None
        # A key is row * L + y, and a row of transitions e * L + p. Features and
        # combinations e keep their numbers; labels, p and y, may have got new ones.
        L = len(self.labels)
        column = np.array([self.labels.ids[v] for v in old.labels.values], np.int64)
        n_old = len(column)
        keys, values = nonzero_entries(old.nodes)
        rows, y = np.divmod(keys, n_old)
        shape = self.encoder.n_node_rows, L
        nodes = SparseWeights.of(shape, rows * L + column[y], values)
        keys, values = nonzero_entries(old.edges)
        rows, y = np.divmod(keys, n_old)
        rows = rows // n_old * L + column[rows % n_old]
        shape = self.encoder.n_edge_rows * L, L
        edges = SparseWeights.of(shape, rows * L + column[y], values)
        return nodes, edges

    # -- fitted attributes -------------------------------------------------------------
    def attributes(self, result: CRFResult) -> dict[str, Any]:
        """Return the attributes of an estimator that was fitted with this result."""
        return {
            **self._attributes_of(self._model_of(result.nodes, result.edges)),
            **{f"{name}_": getattr(result, name) for name in MEASURES},
            # scikit-learn wants it to be at least 1
            "n_iter_": max(result.n_iter, 1),
        }

    def attributes_so_far(
        self, nodes: SparseWeights, edges: SparseWeights
    ) -> dict[str, Any]:
        """Return the fitted attributes after the passes that led to these weights."""
        last = self.history[-1]
        n_iter = sum(record["stage"] == last["stage"] for record in self.history)
        return {
            **self._attributes_of(self._model_of(nodes, edges)),
            "objective_": last["objective"],
            "optimality_": last["optimality"],
            "n_iter_": n_iter,
            "n_active_features_": last["n_active"],
            "history_": list(self.history),
        }

    def _model_of(self, nodes: SparseWeights, edges: SparseWeights) -> ChainModel:
        """Make the model that predicts with these weights."""
        return ChainModel(
            self.encoder,
            self.labels,
            store_of(nodes),
            store_of(edges),
            self.constraints,
        )

    def _attributes_of(self, model: ChainModel) -> dict[str, Any]:
        """Return the attributes that predictions need."""
        return {"_model": model, "classes_": self.labels.array}


def warn_unless_converged(result: CRFResult, estimator: L1CRF) -> None:
    """Warn if a solver that converges did not."""
    if result.converged or estimator.solver == "sgd":
        return
    what = (
        f"stopped before convergence after {result.n_iter} passes: the line search "
        f"found no descent step"
    )
    if result.n_iter >= estimator.max_iter:
        what = f"did not converge in max_iter={estimator.max_iter} passes"
    warn(f"L1CRF {what} (optimality {result.optimality:.3g})", ConvergenceWarning)


def store_of(weights: SparseWeights, save_memory: bool = False) -> Store:
    """Make a store with the weights of a :class:`SparseWeights`, for prediction.

    With ``save_memory`` it is sparse whenever full rows would take much memory for
    little.
    """
    rows, columns = weights.shape
    few = weights.keys.shape[0] * FEW_LABELS < rows * columns
    few = few and (
        columns > FEW_LABELS or (save_memory and rows * columns > DENSE_WEIGHTS)
    )
    sparse = few or is_sparse(rows, columns)
    store = new_store(rows, columns, READ_ONLY, sparse)
    if sparse:
        return sparse_store(store, weights.keys, weights.values)
    store.value[weights.keys] = weights.values
    return store


def nonzero_entries(store: Store) -> tuple[np.ndarray, np.ndarray]:
    """Return (keys, values) of a store, but for those that are 0 if it is dense."""
    return entries(made_sparse(store))


def sorted_weights(store: Store) -> tuple[np.ndarray, np.ndarray]:
    """Return (keys, weights) of a store, none of them 0, sorted.

    A key is ``row * columns + column``.
    """
    keys, values = nonzero_entries(store)
    use = np.flatnonzero(values)
    use = use[np.argsort(keys[use], kind="stable")]
    return keys[use], values[use]
