"""One training run of an online learner: epochs, their record, and the fitted
attributes at its end.

``OnlineLearner._prepare`` checks and encodes everything and returns a :class:`Run`,
which only has to train. A structure adds a subclass that says what its fitted model is;
all share the rest: orders, early stopping, callbacks, interrupts, checkpoints.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from .._core.store import Rule
from .._sklearn import set_fitted
from .checkpoint import arrays_of, simple_parameters, with_arrays
from .epochs import (
    EpochStats,
    as_arrays,
    epoch_order,
    epochs_for,
    left_alone,
    run_epoch,
)
from .held_out import held_out_facts
from .judged import JudgedRun
from .loop import Loop, LoopSettings, State

if TYPE_CHECKING:
    from .._chain.shown_pairs import ShownPairs
    from .._shards.vocabulary import Vocabulary
    from .held_out import HeldOut
    from .learner import OnlineLearner
    from .saved import SavableModel


@dataclass
class TrainingState:
    """The training state, from which training can continue.

    Attributes
    ----------
    model : NamedTuple
        Weights with their bookkeeping, as the structure's kernels take them.
    rule : Rule
    key : int
        Drawn from ``random_state`` once; orders and noise are functions of it.
    epoch : int
        Epochs run since the weights were zero, those of the present run not counted
        before its end.
    closed : bool
        Whether ``partial_fit`` fixed the label set.
    stream : bool
        Whether the average is one over calls of ``partial_fit``; else it belongs to a
        ``fit``.
    history : list of dict
    pairs : ShownPairs or None
        The weights that there may be because training has shown them, as the structure
        keeps them; None if nothing is known.
    """

    model: Any  # a NamedTuple of the structure
    rule: Rule
    key: int
    epoch: int = 0
    closed: bool = False
    stream: bool = False
    history: list[dict[str, Any]] = field(default_factory=list)
    pairs: ShownPairs | None = None


def new_key(random_state: Any) -> int:
    """Draw the integer that stands for a ``random_state`` from now on."""
    return int(check_random_state(random_state).randint(2**31 - 1))


class Run(Loop, JudgedRun):
    """Epochs of an estimator on an encoded corpus.

    A subclass says what its structure is: its kernel, its scratch, its model, how it is
    scored. Where its runs may be those of shards that are encoded apart, it also has
    `vocabulary`, `merged` and `adopt`.

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

    Attributes
    ----------
    visited : ndarray of int
        The examples to learn from: all that are not empty, unless `member` drew others.
    """

    estimator: OnlineLearner

    epoch: ClassVar[Callable[..., tuple[int, int]]]
    """The kernel ``epoch(task, order, begin, end, *kernel_arguments)``, with what the
    method `kernel_arguments` returns; for chains :func:`._chain.chain_epoch.epoch`.

    It visits some examples, part of an epoch in the sense of all else here, and
    returns (code, k): DONE and ``end``, or what it needs before it can learn from
    the example ``order[k]``.
    """

    model_class: ClassVar[type[SavableModel]]
    """The result of a finished run."""

    node_halves: ClassVar[Callable[[Any], np.ndarray] | None] = None
    """A function for models whose keys of features may consist of two others, as the
    key of a word bigram consists of two words. It takes ``state.model``, and returns by
    template whether the left and the right half of a key are such features; (n, 2)
    bool.

    Shards number features in their own order, so that these halves are renumbered, too.
    """

    score_name: ClassVar[str] = "accuracy"
    """The measure of `held_out_score`."""

    n_iter: int = 0
    """Epochs of earlier calls, which ``partial_fit`` adds to its own: this and ``done``
    make ``n_iter_``. 0 for ``fit``.
    """

    ended: bool = False
    """True once training is over, so that final weights may be made in place."""

    def __init__(
        self,
        estimator: OnlineLearner,
        state: TrainingState,
        task: Any,
        held_out: HeldOut | None = None,
    ) -> None:
        self.estimator = estimator
        self.state = state
        self.task = task
        self.held_out = held_out
        self.visited = np.flatnonzero(np.diff(task.token) > 0)
        self.history = []

    # -- what a structure says ---------------------------------------------------------
    @abstractmethod
    def scratch(self) -> Any:
        """Return the working memory of the kernel."""

    @abstractmethod
    def finished(self, model: Any, reuse: bool = False) -> Any:
        """Return what prediction would use after the training so far.

        Parameters
        ----------
        model : NamedTuple
            A model in training.
        reuse : bool
            What is returned may be made of the arrays of ``model``, which is not used
            any more.

        Returns
        -------
        SavableModel
            An instance of ``model_class``.
        """

    @abstractmethod
    def fresh(self, key: int) -> TrainingState:
        """Return a state with zero weights for the same task, under another random
        key.
        """

    def kernel_arguments(self, noise: Any, work: Any) -> tuple[Any, ...]:
        """Return the task, and all that the kernel takes after the examples to
        visit.
        """
        return self.task, self.state.model, self.state.rule, noise, work

    def fitted(self) -> dict[str, Any]:
        """Return fitted attributes besides the model and the record of the epochs."""
        return {}

    def without_bookkeeping(self, model: Any) -> Any:
        """Return the model without what only this training needs, such as costs."""
        return model

    # -- shards that are encoded apart -------------------------------------------------
    def vocabulary(self, min_count: int) -> Vocabulary:
        """Return what the run's examples hold; with counts if ``min_count`` > 1.

        Raises
        ------
        ValueError
            If the structure cannot be encoded in parts.
        """
        raise ValueError(
            f"{type(self.estimator).__name__} cannot learn from shards that are loaded "
            f"apart; ParameterMixer.fit(X, y), without client, deals one corpus to "
            f"shards"
        )

    @classmethod
    def merged(
        cls, vocabularies: list[Vocabulary], learner: OnlineLearner, key: int
    ) -> tuple[Run, list[dict[str, Any]]]:
        """Unite what all shards met.

        Parameters
        ----------
        vocabularies : list of Vocabulary
            By shard.
        learner : OnlineLearner
        key : int
            The random key of the whole fit.

        Returns
        -------
        Run
            Without examples, over what all shards met, in their order.
        list of dict
            By shard the plan that `adopt` carries out there.

        Raises
        ------
        ValueError
            If shards do not go together; the message names one.
        """
        raise ValueError(f"{learner} cannot learn from shards that are loaded apart")

    def adopt(self, plan: dict[str, Any]) -> None:
        """Translate the run, which has not begun, to what all shards met."""
        raise ValueError("a run without a vocabulary cannot adopt that of all shards")

    # -- what judges the epochs --------------------------------------------------------
    def score_epoch(self, model: Any) -> float:
        """Score the model in training on the held-out sequences."""
        return self.score_fitted({"_model": self.finished(model), **self.fitted()})

    # -- training ----------------------------------------------------------------------
    def member(self, estimator: OnlineLearner, seed: Any, drawn: np.ndarray) -> Run:
        """Make a run of another estimator on this task, with weights and orders of its
        own.

        Parameters
        ----------
        estimator : OnlineLearner
        seed : int or RandomState
            Decides its orders and noise.
        drawn : ndarray of int
            The examples that it visits.
        """
        run = copy(self)
        run.estimator = estimator
        run.state = self.fresh(new_key(seed))
        run.visited = drawn
        run.history = []
        run.n_iter = 0
        run.work = None
        return run

    def order(self, epoch: int) -> np.ndarray:
        """Return the examples to visit in an epoch, in order."""
        n = self.visited.shape[0]
        return self.visited[
            epoch_order(self.state.key, epoch, n, self.estimator.shuffle)
        ]

    def n_epochs(self) -> int:
        """Return the epochs that the estimator asks for with the examples visited."""
        return epochs_for(self.estimator.max_iter, self.visited.shape[0])

    def loop_settings(self) -> LoopSettings:
        """Return the settings of the estimator; this run itself judges the epochs."""
        own = self.estimator
        return LoopSettings(
            run=self,
            owner=own,
            n_epochs=self.n_epochs(),
            stops_early=own.early_stopping,
            folder=own.checkpoint,
        )

    run_epoch = run_epoch
    """`run_epoch` as a method: a call fewer on the way to the kernel."""

    def epoch_arguments(self) -> tuple[Any, ...]:
        """Return the order of the examples, their lengths, the noise and the
        scratch.
        """
        if self.work is None:
            self.work = self.scratch()
        order = self.order(self.state.epoch + self.done)
        lengths = np.diff(self.task.token)
        return order, lengths, self.estimator._noise(self.state.key), self.work

    def record(self, did: EpochStats, complete: bool) -> dict[str, Any]:
        """Return the figures of an epoch, as ``history_`` has them."""
        n_tokens = int(np.diff(self.task.token)[self.visited].sum())
        return {
            "epoch": self.state.epoch + self.done + 1,
            "updates": did.updates,
            "sequence_error": did.updates / self.visited.shape[0],
            "token_error": did.wrong_tokens / n_tokens,
            "loss": did.loss,
            "seconds": did.seconds,
            "complete": complete,
        }

    def report(self) -> None:
        """Print the figures of the last epoch if the estimator is verbose."""
        self.tell(f"{self.title}epoch {self.history[-1]['epoch']}", self.history[-1])

    def tell(self, what: str, record: dict[str, Any], more: str = "") -> None:
        """Print what is in the record of an epoch, or of a round, if the estimator is
        verbose.
        """
        if not self.estimator.verbose:
            return
        line = f"{what}: {record['updates']} updates, token error "
        line += f"{record['token_error']:.4f}{more}, {record['seconds']:.2f} s"
        if "validation_score" in record:
            name = self.score_name if self.estimator.scoring is None else "score"
            line += f", held-out {name} {record['validation_score']:.4f}"
        print(line, flush=True)

    def in_training(self) -> Any:
        """Return the model of the state."""
        return self.state.model

    def attributes(self, reuse: bool = False) -> dict[str, Any]:
        """Return the fitted attributes as they are now; ``reuse`` as of `finished`."""
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

    def set_fitted_attributes(self, for_good: bool = False) -> None:
        """Fit the estimator, with its training state unless it is ``for_good``."""
        self.ended = True
        self.task = None  # final weights take the place of the task's arrays
        fitted = self.attributes(reuse=for_good)
        state = self.state
        if for_good:
            del self.state, self.watch
        else:
            state.model = self.without_bookkeeping(self.best())
            state.epoch += self.done
            state.history = self.history
            fitted["_training"] = state
        set_fitted(self.estimator, fitted, "classes_", "resumed_from_")

    # -- checkpoints -------------------------------------------------------------------
    def identity(self) -> State:
        """Return parameters, corpus and first weights: a fit that shares them goes on
        from the checkpoint of this one.
        """
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

    def prior(self) -> tuple[Any, ...]:
        """Return what the outcome depends on besides simple parameters and examples, as
        arrays in tuples.

        These are the parts of the model that training does not change (constraints,
        costs, templates) and, if it goes on from earlier training, the model.
        """
        model = self.state.model
        return as_arrays(left_alone(model)), model if self.state.epoch else ()

    def checkpoint_state(self) -> State:
        """Return the random key and the arrays of the model in training."""
        return {"key": self.state.key}, arrays_of(self.state.model, "model")

    def restore(self, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
        """Take the key and the arrays of a checkpoint, and return the model."""
        self.state.key = header["key"]
        self.state.model = with_arrays(self.state.model, "model", arrays)
        return self.state.model
