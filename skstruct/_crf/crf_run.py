"""One training run of a CRF: the objective, the solver, and the fitted attributes at
its end.
"""

from contextlib import closing, nullcontext
from copy import copy
from dataclasses import dataclass, field

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from .._chain.bigram import ChainTask
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
from .._data.inputs import as_tokens, check_X_y
from .._data.labels import UNLABELLED, Labels, encode_known
from .._sklearn import epoch_context, set_fitted
from .._taggers.constraints import check_known
from .._taggers.labelled_corpus import EncodedPart, count_in_sequences
from .._training.checkpoint import Checkpoint, arrays_of, fingerprint, simple_parameters
from .._training.held_out import (
    NAMES,
    HeldOut,
    held_out_facts,
    of_held_out,
    scored,
    warn_unseen,
)
from .._training.interrupt import DeferredInterrupt
from .._training.run import new_key
from ..metrics.counting import LEAST, LOG_LEAST
from .solver.corpus_sums import Potentials
from .solver.objective import CRFObjective, ObjectiveOptions
from .solver.solve import (
    MEASURES,
    HeldOutLikelihood,
    Progress,
    SolverOptions,
    SparseWeights,
    pack,
    solve,
)


@dataclass(eq=False)
class CRFRun:
    """One training run: the objective, the solver, and the fitted attributes at its
    end.
    """

    estimator: object
    task: ChainTask
    encoder: object
    labels: Labels
    constraints: tuple  # start, allowed, end
    cost: np.ndarray
    before: ChainModel | None = None  # whose weights to start from
    facts: dict = field(
        default_factory=dict
    )  # what tells its corpus from others, where the task does not

    model_class = ChainModel
    checkpoint = validation = held_out = None
    n_judged = 0
    impossible = 0.0
    title = ""
    """Of the lines that ``verbose`` prints."""

    def member(self, estimator, seed, drawn):
        """A run of another estimator on a selection of the sequences, with repetitions."""
        counts = np.bincount(drawn, minlength=self.task.weight.shape[0])
        run = copy(self)
        run.estimator, run.task = (
            estimator,
            self.task._replace(weight=self.task.weight * counts),
        )
        return run

    def hold_out(self, given):
        """Encode the user's (X_val, y_val), which is None if there is no such part."""
        if given is None:
            return
        with of_held_out():
            X, y, token = check_X_y(*given, NAMES, as_tokens)
            self.held_out = HeldOut(X, y)
            gold, unseen, others = encode_known(y, token, self.labels)
            stuck = check_known(gold, unseen, token, self.labels, self.constraints)
            known = (gold.ids != UNLABELLED) | unseen
            n_known, n_unseen = (
                count_in_sequences(flags, token) for flags in (known, unseen)
            )
            weight = np.ones(len(X))
            weight[stuck] = 0.0
            # What no weights make probable: labels that training lacks, and all of a
            # stuck sequence. Where there is no label, the probability is 1.
            self.n_judged = int(np.count_nonzero(n_known))
            self.impossible = LOG_LEAST * float(
                n_unseen @ weight + n_known[stuck].sum()
            )
            judged = X.blanked(stuck)
            gold = gold.at(np.repeat(weight > 0.0, np.diff(token)))
            if judged.offsets[-1]:
                self.validation = make_task(
                    self.encoder, judged, gold, weight, rows_as_features=True
                )
        if not (stuck or self.validation.dense):
            self.held_out.encoded = EncodedPart.of(self.validation, gold, unseen)
        more = f", and have the probability {LEAST:.2g} in the log-probability"
        if stuck:
            more += f"; so have all labels of {len(stuck)} sequences, which constraints leave no labelling"
        warn_unseen(others, more)

    def likelihood(self, objective):
        """The :class:`HeldOutLikelihood` of the user's held-out sequences, or None
        without any.
        """
        if self.held_out is None:
            return None
        return HeldOutLikelihood(
            objective, self.validation, self.n_judged, self.impossible
        )

    def seed(self):
        """Of the order of the sequences."""
        return new_key(self.estimator.random_state)

    def options(self):
        """What the estimator asks of the solver."""
        return SolverOptions(
            *(getattr(self.estimator, name) for name in SolverOptions._fields)
        )

    def train(
        self, X, y, context=None, keep_checkpoint=False, interrupt=None, for_good=False
    ):
        """Minimise; returns the estimator, fitted. See ``_training.run.Run.train``."""
        e = self.estimator
        self.events = epoch_context(context, e, X, y)
        warm = None if self.before is None else self._earlier_weights()
        with (
            DeferredInterrupt()
            if interrupt is None
            else nullcontext(interrupt) as interrupt
        ):
            self.events.begin_fit()
            self.events.begin()
            if e.checkpoint is not None:
                self.checkpoint = self._open_checkpoint(warm)
            with closing(self.objective(e.c1)) as objective:
                held_out = self.likelihood(objective)
                progress = Progress(
                    objective, held_out, self.after_pass, self.checkpoint, interrupt
                )
                self.history = progress.history
                weights = None if warm is None else pack(objective, *warm)
                result = solve(
                    objective,
                    self.options(),
                    progress,
                    weights=weights,
                    seed=self.seed(),
                )
            self.events.end(None)  # of an epoch that was begun and did not run
            fitted = self.fitted(result)
            self.events.end_fit(fitted)
            set_fitted(e, fitted, "resumed_from_")
            if self.checkpoint is not None:
                e.resumed_from_ = progress.n_resumed
                if not (interrupt.count or keep_checkpoint):
                    self.checkpoint.remove()
            if interrupt.count:
                raise KeyboardInterrupt
        if not progress.stopped:
            warn_unless_converged(result, e)
        return e

    def after_pass(self, record, matrices):
        """Score and show what a pass has learned; returns whether a callback asks to
        stop.
        """
        e = self.estimator
        stop = False
        if self.held_out is not None:
            record["validation_score"] = self._score(matrices)
        if e.verbose:
            print(self.title + _line(record), flush=True)
        if e._after_pass is not None:
            stop = bool(e._after_pass(record, lambda: self.fitted_so_far(*matrices())))
        if record["stage"] != "sgd" or e.solver == "sgd":
            stop = self.events.end(lambda: self.fitted_so_far(*matrices())) or stop
            if not stop:
                self.events.begin()
        return stop

    def _score(self, matrices):
        """The score on the user's held-out sequences."""
        scoring = self.estimator.scoring
        X = self.held_out.X
        y = self.held_out.y
        fitted = self._model_of(*matrices())
        if scoring is None and self.held_out.encoded is not None:
            return self.held_out.encoded.accuracy(fitted["_model"])
        return scored(scoring, self.estimator, fitted, X, y)

    def objective_arguments(self, c1):
        """(options, potentials, rows of features, combinations) of the objective."""
        e = self.estimator
        (start, allowed, end) = self.constraints
        options = ObjectiveOptions(
            c1,
            e.c2,
            e.all_pairs in (True, "states"),
            e.all_pairs in (True, "transitions"),
            e._least_seen or 0.0,
            self.encoder.has_bigram,
            e._least_seen is not None,
        )
        potentials = Potentials(allowed, start, end, self.cost)
        return options, potentials, self.encoder.n_node_rows, self.encoder.n_edge_rows

    def objective(self, c1):
        """The objective; releases the encoded corpus, of which it has its own encoding."""
        n_threads = effective_n_jobs(self.estimator.n_jobs)
        fields = self.encoder.template_of_row(self.task)
        objective = CRFObjective(
            self.task, *self.objective_arguments(c1), n_threads=n_threads, fields=fields
        )
        self.task = None
        return objective

    def _open_checkpoint(self, warm):
        e = self.estimator
        facts = {
            "class": type(e).__name__,
            "parameters": simple_parameters(e),
            **self.facts,
        }
        facts.update(
            held_out_facts(self.held_out, e.scoring), bigram=self.encoder.has_bigram
        )
        arrays = arrays_of(
            (self.task, self.constraints, self.cost, warm, self.validation), "fit"
        )
        return Checkpoint(e.checkpoint, type(e).__name__, fingerprint(facts, arrays))

    def _earlier_weights(self):
        """Node and transition weights of the earlier model, with room for what is new."""
        old = self.before
        L = len(self.labels)
        column = np.array([self.labels.ids[v] for v in old.labels.values], np.int64)
        found = []
        for store, n_rows in (
            (old.nodes, self.encoder.n_node_rows),
            (old.edges, self.encoder.n_edge_rows * L),
        ):
            keys, values = nonzero_entries(store)
            rows, y = np.divmod(keys, len(column))
            if store is old.edges:
                rows = rows // len(column) * L + column[rows % len(column)]
            found.append(SparseWeights.of((n_rows, L), rows * L + column[y], values))
        return tuple(found)

    def fitted(self, result):
        """The attributes of a fitted estimator."""
        found = {f"{name}_": getattr(result, name) for name in MEASURES}
        return {
            **self._model_of(result.nodes, result.edges),
            **found,
            "n_iter_": max(result.n_iter, 1),
        }

    def fitted_so_far(self, nodes, edges):
        """The same after some passes."""
        last = self.history[-1]
        n_iter = sum(record["stage"] == last["stage"] for record in self.history)
        found = {
            "objective_": last["objective"],
            "optimality_": last["optimality"],
            "n_iter_": n_iter,
        }
        found.update(n_active_features_=last["n_active"], history_=list(self.history))
        return {**self._model_of(nodes, edges), **found}

    def _model_of(self, nodes, edges):
        model = ChainModel(
            self.encoder,
            self.labels,
            store_of(nodes),
            store_of(edges),
            self.constraints,
        )
        return {"_model": model, "classes_": self.labels.array}


def warn_unless_converged(result, estimator):
    """Say so if a solver that converges did not."""
    if result.converged or estimator.solver == "sgd":
        return
    what = f"stopped before convergence after {result.n_iter} passes: the line search found no descent step"
    if result.n_iter >= estimator.max_iter:
        what = f"did not converge in max_iter={estimator.max_iter} passes"
    warn(f"L1CRF {what} (optimality {result.optimality:.3g})", ConvergenceWarning)


def _line(record):
    """One line of the training log."""
    figures = {k: v for k, v in record.items() if k != "stage" and v is not None}
    return f"{record['stage']}: " + ", ".join(
        f"{k} {v:.6g}" for k, v in figures.items()
    )


def store_of(weights, save_memory=False):
    """A store with the weights of a :class:`SparseWeights`, for prediction.

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


def nonzero_entries(store):
    """(keys, values) of a store, with those that are zero left out if it is dense."""
    return entries(made_sparse(store))


def sorted_weights(store):
    """Return (keys, weights) of a store, none of them 0, sorted.

    A key is ``row * columns + column``.
    """
    return SparseWeights.of(None, *nonzero_entries(store))[1:]
