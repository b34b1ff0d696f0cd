"""One training run of an online learner: epochs, their record, and the fitted attributes at its end.

``OnlineLearner._prepare`` checks and encodes everything and returns a :class:`Run`, which only has to train.
A structure adds a subclass that says what its fitted model is; all share the rest: orders, early stopping,
callbacks, interrupts, checkpoints.
"""

from collections.abc import Callable
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from .._sklearn import epoch_context
from ..core.store import Rule
from ..saving.container import ModelFileError
from .checkpoint import Checkpoint, arrays_of, fingerprint, simple_parameters, with_arrays
from .epochs import as_arrays, epoch_order, left_alone, run_epoch
from .held_out import Watch, held_out_facts, of_held_out, scored, warn_unseen
from .interrupt import DeferredInterrupt


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
    held_out : HeldOut, optional
        Judges the epochs.
    """

    epoch: ClassVar[Callable]
    """``epoch(task, order, begin, end, model, rule, noise, work)``: the kernel, a static method.

    Returns (code, k): DONE and ``end``, or what it needs before it can learn from the example ``order[k]``.
    """

    node_halves = None
    """A static method, where halves of keys may be rows, as a word is half of a longer feature.

    ``node_halves(model)``: by number, whether the left and the right half are; (n, 2) bool."""

    model_class = None
    """What a finished run leads to; has ``average``."""

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
        self.ended = False
        self.title = ""  # of the lines that ``verbose`` prints

    # -- what a structure says ---------------------------------------------------------------------
    def kernel_arguments(self, noise, work):
        """What the kernel of an epoch takes: the task, and all that comes after the examples to visit."""
        return self.task, self.state.model, self.state.rule, noise, work

    def finished(self, model, reuse=False):
        """What prediction would use after the training so far.

        With ``reuse`` it may be made of the arrays of ``model``, which is not used any more.
        """
        raise NotImplementedError

    def fitted(self):
        """Fitted attributes besides the model and the record of the epochs."""
        return {}

    def scratch(self):
        """Working memory of the epoch kernel."""
        raise NotImplementedError

    def held_out_part(self, X, y):
        """Check and encode the user's held-out sequences.

        Returns
        -------
        HeldOut
        labels : list
            Those of ``y`` that training lacks.

        Raises
        ------
        ValueError
            If the input is not as ``fit`` takes it; the message speaks of X and y.
        """
        raise NotImplementedError

    def held_out_score(self, model):
        """How good a finished model is on the held-out sequences: what ``score`` would return."""
        raise NotImplementedError

    def at_rest(self, model):
        """The model without its training state."""
        return model

    def fresh(self, key):
        """A :class:`TrainingState` with zero weights for the same task."""
        return self.estimator._fresh_state(key)

    # -- what a structure says whose runs may be those of shards ------------------------------------
    def vocabulary(self, min_count):
        """What the run's examples hold, a ``cluster.vocabulary.Vocabulary``; counts if ``min_count`` > 1."""
        raise ValueError(
            f"{type(self.estimator).__name__} cannot learn from shards that are loaded apart; "
            f"ParameterMixer.fit(X, y), without client, deals one corpus to shards"
        )

    @classmethod
    def merged(cls, vocabularies, learner, key):
        """A run without examples over what all shards met, and the plan of each shard.

        Parameters
        ----------
        vocabularies : list of Vocabulary
            In the order of the shards.
        learner : estimator
        key : int
            The random key of the whole.

        Raises
        ------
        ValueError
            If the shards do not go together; the message names one.
        """
        raise NotImplementedError

    def adopt(self, plan):
        """Translate the run, which has not begun, to what all shards met."""
        raise NotImplementedError

    # -- what judges the epochs --------------------------------------------------------------------
    def hold_out(self, given):
        """Let the epochs be judged by ``given``, the user's (X_val, y_val), if it is not None."""
        if given is None:
            return
        with of_held_out():
            self.held_out, unseen = self.held_out_part(*given)
        warn_unseen(unseen)

    def score_epoch(self, model):
        """The score of the model in training, on the held-out sequences."""
        scoring, finished = self.estimator.scoring, self.finished(model)
        if scoring is None:
            return self.held_out_score(finished)
        fitted = {"_model": finished, **self.fitted()}
        return scored(scoring, self.estimator, fitted, self.held_out.X, self.held_out.y)

    # -- training ----------------------------------------------------------------------------------
    def member(self, estimator, seed, drawn):
        """A run of another estimator on the same task: its own weights, orders and examples."""
        run = copy(self)
        run.estimator, run.state, run.visited = estimator, self.fresh(new_key(seed)), drawn
        run.history, run.n_iter = [], 0
        return run

    def order(self, epoch):
        """The examples to visit in an epoch, in order."""
        n = self.visited.shape[0]
        return self.visited[epoch_order(self.state.key, epoch, n, self.estimator.shuffle)]

    def train(self, X, y, context=None, n_epochs=None, keep_checkpoint=False, interrupt=None, for_good=False):
        """Run the epochs; returns the estimator, fitted.

        Parameters
        ----------
        X, y
            Shown to callbacks.
        context : optional
            Of the callbacks.
        n_epochs : int, optional
            Instead of ``max_iter``; such a run writes no checkpoint.
        keep_checkpoint : bool
            Leave the file of a finished run: the caller removes it (``self.checkpoint.remove()``).
        interrupt : DeferredInterrupt, optional
            That of the caller, if it is the caller who hears Ctrl-C.
        for_good : bool
            The estimator will not be trained further: it gets no training state, whose arrays are let go of.
        """
        estimator, state = self.estimator, self.state
        self.watch = None if self.held_out is None else Watch(self, estimator.early_stopping)
        self.done = self.resumed_from = 0
        stopped, self.checkpoint, self.unsaved = False, None, False
        if n_epochs is None:
            n_epochs = estimator.max_iter
            if getattr(estimator, "checkpoint", None) is not None:
                self.checkpoint = self._open_checkpoint()
                stopped = self._resume()
        began, lengths = self.done > 0, np.diff(self.task.token)
        noise, work = estimator._noise(state.key), self.scratch()
        events = epoch_context(context, estimator, X, y)
        with DeferredInterrupt() if interrupt is None else nullcontext(interrupt) as interrupt:
            try:
                events.begin_fit()
                for epoch in range(n_epochs if stopped else self.done, n_epochs):
                    events.begin()
                    self.unsaved = False  # what was offered last is then no state to go on from
                    order = self.order(state.epoch + epoch)
                    stats, complete = run_epoch(self, order, lengths, noise, work, interrupt)
                    began = True
                    self._record(stats, complete)
                    if complete and self._end_epoch(events, self.done == n_epochs, keep_checkpoint):
                        break
                    if interrupt.count:
                        raise KeyboardInterrupt
                events.end_fit(self.attributes)
            except BaseException as error:
                try:
                    if self.unsaved:  # the state between two epochs, before what is done to it at the end
                        self._keep(False, surely=True)
                finally:
                    if began and isinstance(error, KeyboardInterrupt) and not interrupt.at_once:
                        self._commit()
                raise
            self.task = None  # nobody else holds the arrays now; final weights take their place
            self._commit(for_good)
        if self.checkpoint is not None and not keep_checkpoint:
            self.checkpoint.remove()
        return estimator

    def _end_epoch(self, events, last, keep_checkpoint):
        """Score, show and keep what an epoch has learned; returns whether it was the last one."""
        last = last or self.estimator._has_enough(self.history[-1])
        stop = self.watch is not None and self.watch.look(self.state.model, self.history[-1])
        self.unsaved = self.checkpoint is not None
        self._report()
        if keep_checkpoint or not (stop or last):
            self._keep(stop, surely=stop or last)
        return events.end(self.attributes) or stop or last

    # -- checkpoints -------------------------------------------------------------------------------
    def _open_checkpoint(self):
        estimator, state = self.estimator, self.state
        facts = {
            "class": type(estimator).__name__,
            "parameters": simple_parameters(estimator),
            "key": None if estimator.random_state is None else state.key,
            "epoch": state.epoch,
            "rule": list(state.rule),
            **held_out_facts(self.held_out, estimator.scoring),
        }
        arrays = arrays_of((self.task, self.visited, self.prior()), "fit")
        return Checkpoint(estimator.checkpoint, type(estimator).__name__, fingerprint(facts, arrays))

    def prior(self):
        """What the outcome depends on besides simple parameters and examples; arrays in tuples.

        Of a model without weights that is all that training leaves alone: constraints, costs, templates.
        """
        model = self.state.model
        return as_arrays(left_alone(model)), model if self.state.epoch else ()

    def _resume(self):
        """Go on from the file, if there is one; whether early stopping had stopped."""
        found = self.checkpoint.load()
        if found is None:
            return False
        header, arrays = found
        try:
            model = with_arrays(self.state.model, "model", arrays)
            before, after = (arrays_of(left_alone(each), "given") for each in (self.state.model, model))
            if any(array.shape != after[name].shape for name, array in before.items()):
                raise ModelFileError("what training leaves alone has another shape")
            self.state.model = model
            self.done = self.resumed_from = header["done"]
            self.state.key = header["key"]
            self.history = header["history"]
            if self.watch is not None:
                self.watch.restore(header, arrays, self.state.model)
        except (KeyError, ModelFileError) as error:
            raise self.checkpoint.refusal(error) from None
        return header["stopped"]

    def _keep(self, stopped, surely=False):
        """Offer the state to the checkpoint; ``unsaved`` then says whether it was too early to write it."""
        if self.checkpoint is None:
            return
        header = {
            "done": self.done,
            "key": self.state.key,
            "history": list(self.history),
            "stopped": bool(stopped),
        }
        arrays = arrays_of(self.state.model, "model")
        if self.watch is not None:
            best, best_arrays = self.watch.state()
            header.update(best)
            arrays.update(best_arrays)
        self.unsaved = not self.checkpoint.offer(header, arrays, surely)

    def _record(self, stats, complete):
        self.done += complete
        self.history.append(
            {
                "epoch": self.state.epoch + self.done + (not complete),
                "updates": stats.updates,
                "sequence_error": stats.updates / self.visited.shape[0],
                "token_error": stats.wrong_tokens / int(np.diff(self.task.token)[self.visited].sum()),
                "loss": stats.loss,
                "seconds": stats.seconds,
                "complete": complete,
            }
        )

    def _report(self):
        if self.estimator.verbose:
            record = self.history[-1]
            line = (
                f"{self.title}epoch {record['epoch']}: {record['updates']} updates, "
                f"token error {record['token_error']:.4f}, {record['seconds']:.2f} s"
            )
            print(line + self.held_out_text(record), flush=True)

    def held_out_text(self, record):
        """What ``verbose`` prints of the held-out sequences, if there are any."""
        if "validation_score" not in record:
            return ""
        name = self.score_name if self.estimator.scoring is None else "score"
        return f", held-out {name} {record['validation_score']:.4f}"

    def _best(self):
        """The weights to keep: those of the best epoch if early stopping watches, else the last."""
        best = None if self.watch is None else self.watch.best
        return self.state.model if best is None else best

    def attributes(self, reuse=False):
        """The fitted attributes as they stand; for ``reuse`` see :meth:`finished`."""
        resumed = {} if self.checkpoint is None else {"resumed_from_": self.resumed_from}
        return {
            **resumed,
            "_model": self.finished(self._best(), reuse),
            "n_iter_": self.n_iter + self.done,
            "history_": self.history,
            **self.fitted(),
        }

    def _commit(self, for_good=False):
        self.ended = True
        fitted, state = self.attributes(reuse=for_good), self.state
        if for_good:
            self.state = self.watch = None
        else:
            state.model = self.at_rest(self._best())
            state.epoch += self.done
            state.history = self.history
            fitted["_training"] = state
        for name in ("classes_", "resumed_from_"):  # of an earlier fit
            vars(self.estimator).pop(name, None)
        vars(self.estimator).update(fitted)
