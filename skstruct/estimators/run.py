"""One training run of an online learner: epochs, their record, and the fitted attributes at its end.

Place on the ladder: rung 7 over rung 6. ``OnlineLearner._prepare`` checks and encodes everything and
returns a :class:`Run`, which only has to train. A structure adds a subclass that says what its fitted
model is; chain, word segmenter and parser share the rest: orders, early stopping, callbacks,
interrupts, checkpoints.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from ..core.store import Rule
from ..training.interrupt import DeferredInterrupt
from ..training.online import epoch_order, epochs, snapshot
from ._sklearn import epoch_context


@dataclass
class TrainingState:
    """What it takes to go on training.

    Attributes
    ----------
    model : NamedTuple
        Weights with their bookkeeping, as the structure's kernels take them.
    rule : Rule
    key : int
        Drawn from ``random_state`` once; orders and noise are functions of it.
    epoch : int
        Epochs run since the weights were zero.
    closed : bool
        Whether ``partial_fit`` fixed the label set.
    stream : bool
        Whether the average is one over calls of ``partial_fit``; else it belongs to a ``fit``.
    history : list of dict
    """

    model: NamedTuple
    rule: Rule
    key: int
    epoch: int = 0
    closed: bool = False
    stream: bool = False
    history: list = field(default_factory=list)


def new_key(random_state):
    """The integer that stands for a ``random_state`` from now on."""
    return int(check_random_state(random_state).randint(2**31 - 1))


class Run:
    """Epochs of an estimator on an encoded corpus.

    Parameters
    ----------
    estimator : OnlineLearner
        Its parameters are read, and it is fitted at the end; until then it stays as it was.
    state : TrainingState
        Where to start; taken over.
    task : NamedTuple
        The encoded corpus; has ``token`` (n + 1,), where each example starts.
    held_out : tuple of (X, y), optional
        Judges the epochs, for early stopping.
    """

    structure = None
    """The structure module; see ``training.online``."""

    score_name = "accuracy"
    """What :meth:`held_out_score` measures."""

    def __init__(self, estimator, state, task, held_out=None):
        self.estimator = estimator
        self.state = state
        self.task = task
        self.held_out = held_out
        self.visited = np.flatnonzero(np.diff(task.token) > 0)
        self.history = []
        self.n_iter = 0

    # -- what a structure says ---------------------------------------------------------------------
    def finished(self, model):
        """What prediction would use after the training so far."""
        raise NotImplementedError

    def fitted(self):
        """Fitted attributes besides the model and the record of the epochs."""
        return {}

    def scratch(self):
        """Working memory of the epoch kernel."""
        raise NotImplementedError

    def held_out_score(self, model):
        """How good a finished model is on the held-out part; more is better."""
        raise NotImplementedError

    def at_rest(self, model):
        """``model`` without what the next training would bring along itself."""
        return model

    def fresh(self, key):
        """A :class:`TrainingState` with zero weights for the same task."""
        raise NotImplementedError

    # -- training ----------------------------------------------------------------------------------
    def member(self, estimator, seed, drawn):
        """A run of another estimator on the same task: its own weights, orders and examples."""
        run = object.__new__(type(self))
        vars(run).update(vars(self))
        run.estimator, run.state, run.visited = estimator, self.fresh(new_key(seed)), drawn
        run.history, run.n_iter = [], 0
        return run

    def order(self, epoch):
        """The examples to visit in an epoch, in order."""
        n = self.visited.shape[0]
        return self.visited[epoch_order(self.state.key, epoch, n, self.estimator.shuffle)]

    def train(self, X, y, context=None, n_epochs=None):
        """Run the epochs; returns the estimator, fitted."""
        estimator, state = self.estimator, self.state
        n_epochs = estimator.max_iter if n_epochs is None else n_epochs
        watch = None if self.held_out is None else _Watch(self)
        self.watch = watch
        orders = (self.order(state.epoch + e) for e in range(n_epochs))
        events = epoch_context(context, estimator, X, y)
        self.current, self.done, started = state.model, 0, False
        with DeferredInterrupt() as interrupt:
            try:
                events.begin_fit()
                events.begin()
                for model, stats, complete in epochs(
                    self.structure, self.task, orders, np.diff(self.task.token), state.model,
                    state.rule, estimator._noise(state.key), self.scratch(), interrupt,
                ):  # fmt: skip
                    self.current, started = model, True
                    if stats is not None:
                        self._record(stats, complete)
                    if not complete:
                        continue
                    stop = watch is not None and watch.look(model)
                    self._report()
                    stop = events.end(self.attributes) or stop
                    if stop or self.done == n_epochs:
                        break
                    events.begin()
                events.end_fit(self.attributes)
            except KeyboardInterrupt:
                if started:
                    self._commit()
                raise
            self._commit()
        return estimator

    def _record(self, stats, complete):
        self.done += complete
        self.history.append(
            {
                "epoch": self.state.epoch + self.done + (not complete),
                "updates": stats.updates,
                "sequence_error": stats.updates / self.visited.shape[0],
                "token_error": stats.wrong_tokens / int(self.task.token[-1]),
                "loss": stats.loss,
                "seconds": stats.seconds,
                "complete": complete,
            }
        )

    def _report(self):
        if self.estimator.verbose:
            record = self.history[-1]
            line = (
                f"epoch {record['epoch']}: {record['updates']} updates, "
                f"token error {record['token_error']:.4f}, {record['seconds']:.2f} s"
            )
            if "validation_score" in record:
                line += f", held-out {self.score_name} {record['validation_score']:.4f}"
            print(line, flush=True)

    def _best(self):
        """The weights to keep: those of the best epoch if early stopping watches, else the last."""
        best = None if self.watch is None else self.watch.best
        return self.current if best is None else best

    def attributes(self):
        """The fitted attributes as they stand."""
        return {
            "_model": self.finished(self._best()),
            "n_iter_": self.n_iter + self.done,
            "history_": self.history,
            **self.fitted(),
        }

    def _commit(self):
        fitted = self.attributes()
        state = self.state
        state.model = self.at_rest(self._best())
        state.epoch += self.done
        state.history = self.history
        fitted["_training"] = state
        vars(self.estimator).update(fitted)


class _Watch:
    """Early stopping by the score on the held-out part; keeps the best epoch."""

    def __init__(self, run):
        self.run = run
        self.best_score, self.wait, self.best = -np.inf, 0, None

    def look(self, model):
        """Score an epoch; whether to stop."""
        run, estimator = self.run, self.run.estimator
        score = run.held_out_score(run.finished(model))
        run.history[-1]["validation_score"] = score
        self.wait = 0 if score > self.best_score + estimator.tol else self.wait + 1
        if score > self.best_score:
            self.best_score, self.best = score, snapshot(run.structure, model)
        return self.wait >= estimator.n_iter_no_change
