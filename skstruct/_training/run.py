"""One training run of an online learner: epochs, their record, and the fitted
attributes at its end.

``OnlineLearner._prepare`` checks and encodes everything and returns a :class:`Run`,
which only has to train. A structure adds a subclass that says what its fitted model is;
all share the rest: orders, early stopping, callbacks, interrupts, checkpoints.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from .._core.store import Rule
from .._sklearn import set_fitted
from .checkpoint import arrays_of, simple_parameters, with_arrays
from .epochs import as_arrays, epoch_order, left_alone, run_epoch
from .held_out import held_out_facts, of_held_out, scored, warn_unseen
from .loop import Loop


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
        Whether the average is one over calls of ``partial_fit``; else it belongs to a
        ``fit``.
    history : list of dict
    pairs : object
        The weights that there may be because training has shown them, as the structure
        keeps them; None if nothing is known.
    """

    model: NamedTuple
    rule: Rule
    key: int
    epoch: int = 0
    closed: bool = False
    stream: bool = False
    history: list = field(default_factory=list)
    pairs: object = None


def new_key(random_state):
    """The integer that stands for a ``random_state`` from now on."""
    return int(check_random_state(random_state).randint(2**31 - 1))


class Run(Loop):
    """Epochs of an estimator on an encoded corpus.

    A subclass says what its structure is:

    - ``epoch(task, order, begin, end, model, rule, noise, work)``: the kernel, a static
      method. It returns (code, k): DONE and ``end``, or what it needs before it can
      learn from the example ``order[k]``;
    - ``scratch()``: working memory of the kernel;
    - ``model_class``: what a finished run leads to; has ``average``;
    - ``finished(model, reuse=False)``: what prediction would use after the training so
      far. With ``reuse`` it may be made of the arrays of ``model``, which is not used
      any more;
    - ``held_out_part(X, y)``: the user's held-out sequences, checked and encoded, a
      :class:`.HeldOut`, and a list of the labels of ``y`` that training lacks. Errors
      speak of X and y;
    - ``held_out_score(model)``: how good a finished model is on the held-out sequences:
      what ``score`` would return, of which ``score_name`` says what it measures.

    Where its runs may be those of shards that are encoded apart:

    - ``vocabulary(min_count)``: what the run's examples hold, a
      ``_shards.vocabulary.Vocabulary``; with counts if ``min_count`` > 1;
    - ``merged(vocabularies, learner, key)``, a class method: a run without examples
      over what all shards met, in their order, with the random key of the whole, and
      the plan of each shard. A ValueError names a shard that does not go with the
      others;
    - ``adopt(plan)``: translate the run, which has not begun, to what all shards met;
    - ``node_halves(model)``, a static method where halves of keys may be rows, as a
      word is half of a longer feature: by number, whether the left and the right half
      are; (n, 2) bool.

    Parameters
    ----------
    estimator : OnlineLearner
        Its parameters are read, and it is fitted at the end; until then it stays as it
        was.
    state : TrainingState
        Where to start; taken over.
    task : NamedTuple
        The encoded corpus; has ``token`` (n + 1,), where each example starts.
    held_out : HeldOut, optional
        Judges the epochs.
    """

    epoch: ClassVar[Callable]
    model_class: ClassVar[type]
    node_halves = None
    score_name = "accuracy"
    n_iter, work, ended, title = (
        0,
        None,
        False,
        "",
    )  # the title is of the lines that ``verbose`` prints

    def __init__(self, estimator, state, task, held_out=None):
        self.estimator = estimator
        self.state = state
        self.task = task
        self.held_out = held_out
        self.visited = np.flatnonzero(np.diff(task.token) > 0)
        self.history = []

    # -- what a structure may say ------------------------------------------------------
    def kernel_arguments(self, noise, work):
        """What the kernel of an epoch takes: the task, and all that comes after the
        examples to visit.
        """
        return self.task, self.state.model, self.state.rule, noise, work

    def fitted(self):
        """Fitted attributes besides the model and the record of the epochs."""
        return {}

    def at_rest(self, model):
        """The model without its training state."""
        return model

    def fresh(self, key):
        """A :class:`TrainingState` with zero weights for the same task."""
        return self.estimator._fresh_state(key)

    def vocabulary(self, min_count):
        """Raises: not every structure can be encoded in parts."""
        raise ValueError(
            f"{type(self.estimator).__name__} cannot learn from shards that are loaded apart; "
            f"ParameterMixer.fit(X, y), without client, deals one corpus to shards"
        )

    # -- what judges the epochs --------------------------------------------------------
    def hold_out(self, given):
        """Let the epochs be judged by ``given``, the user's (X_val, y_val), if it is
        not None.
        """
        if given is None:
            return
        with of_held_out():
            self.held_out, unseen = self.held_out_part(*given)
        warn_unseen(unseen)

    def score_epoch(self, model):
        """The score of the model in training, on the held-out sequences."""
        scoring = self.estimator.scoring
        finished = self.finished(model)
        if scoring is None:
            return self.held_out_score(finished)
        fitted = {"_model": finished, **self.fitted()}
        return scored(scoring, self.estimator, fitted, self.held_out.X, self.held_out.y)

    # -- training ----------------------------------------------------------------------
    def member(self, estimator, seed, drawn):
        """A run of another estimator on the same task: its own weights, orders and
        examples.
        """
        run = copy(self)
        run.estimator, run.state, run.visited = (
            estimator,
            self.fresh(new_key(seed)),
            drawn,
        )
        run.history = []
        run.n_iter = 0
        run.work = None
        return run

    def order(self, epoch):
        """The examples to visit in an epoch, in order."""
        n = self.visited.shape[0]
        return self.visited[
            epoch_order(self.state.key, epoch, n, self.estimator.shuffle)
        ]

    def about(self):
        """See :class:`.loop.Loop`."""
        e = self.estimator
        return self, e, e.max_iter, e.early_stopping, e.checkpoint

    run_epoch = run_epoch

    def epoch_arguments(self):
        """See :class:`.loop.Loop`."""
        if self.work is None:
            self.work = self.scratch()
        order = self.order(self.state.epoch + self.done)
        lengths = np.diff(self.task.token)
        return order, lengths, self.estimator._noise(self.state.key), self.work

    def record(self, stats, complete):
        """See :class:`.loop.Loop`."""
        return {
            "epoch": self.state.epoch + self.done + 1,
            "updates": stats.updates,
            "sequence_error": stats.updates / self.visited.shape[0],
            "token_error": stats.wrong_tokens
            / int(np.diff(self.task.token)[self.visited].sum()),
            "loss": stats.loss,
            "seconds": stats.seconds,
            "complete": complete,
        }

    def report(self):
        """See :class:`.loop.Loop`."""
        self.tell(f"{self.title}epoch {self.history[-1]['epoch']}", self.history[-1])

    def tell(self, what, record, more=""):
        """Print what is in the record of an epoch, or of a round, if the estimator is
        verbose.
        """
        if not self.estimator.verbose:
            return
        line = f"{what}: {record['updates']} updates, token error {record['token_error']:.4f}{more}, "
        line += f"{record['seconds']:.2f} s"
        if "validation_score" in record:
            name = self.score_name if self.estimator.scoring is None else "score"
            line += f", held-out {name} {record['validation_score']:.4f}"
        print(line, flush=True)

    def in_training(self):
        """See :class:`.loop.Loop`."""
        return self.state.model

    def attributes(self, reuse=False):
        """See :class:`.loop.Loop`; ``reuse`` as of ``finished``."""
        resumed = (
            {} if self.checkpoint is None else {"resumed_from_": self.resumed_from}
        )
        return {
            **resumed,
            "_model": self.finished(self.best(), reuse),
            "n_iter_": self.n_iter + self.done,
            "history_": self.history,
            **self.fitted(),
        }

    def commit(self, for_good=False):
        """See :class:`.loop.Loop`."""
        self.ended, self.task = (
            True,
            None,
        )  # final weights take the place of the task's arrays
        fitted = self.attributes(reuse=for_good)
        state = self.state
        if for_good:
            self.state = self.watch = None
        else:
            state.model = self.at_rest(self.best())
            state.epoch += self.done
            state.history = self.history
            fitted["_training"] = state
        set_fitted(self.estimator, fitted, "classes_", "resumed_from_")

    # -- checkpoints -------------------------------------------------------------------
    def identity(self):
        """See :class:`.loop.Loop`."""
        estimator = self.estimator
        state = self.state
        facts = {
            "class": type(estimator).__name__,
            "parameters": simple_parameters(estimator),
            "key": None if estimator.random_state is None else state.key,
            "epoch": state.epoch,
            "rule": list(state.rule),
            **held_out_facts(self.held_out, estimator.scoring),
        }
        return facts, arrays_of((self.task, self.visited, self.prior()), "fit")

    def prior(self):
        """What the outcome depends on besides simple parameters and examples; arrays in
        tuples.

        Of a model without weights that is all that training leaves alone: constraints,
        costs, templates.
        """
        model = self.state.model
        return as_arrays(left_alone(model)), model if self.state.epoch else ()

    def kept(self):
        """See :class:`.loop.Loop`."""
        return {"key": self.state.key}, arrays_of(self.state.model, "model")

    def take_over(self, header, arrays):
        """See :class:`.loop.Loop`."""
        self.state.key, self.state.model = (
            header["key"],
            with_arrays(self.state.model, "model", arrays),
        )
        return self.state.model
