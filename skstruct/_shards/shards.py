"""Shards of a corpus: what one of them does in a round of parameter mixing, and what
mixes them.

A :class:`Shard` lives where its data is, in this process or in another; a
:class:`Mixture` where the results meet, which is the driver. A round goes to and fro
between them:

1. driver: :meth:`Mixture.start` makes a :class:`Start` of the weights that the round
   before has changed (`Weights.news`);
2. shard: :meth:`Shard.train` writes them into its own weights (`take_over`), trains, and
   returns a :class:`Report`;
3. driver: :meth:`Mixture.coefficients` computes the parts of the shards in the mixture
   from the reports of all (`mixture`, `mixed_steps`);
4. shard: :meth:`Shard.changes` returns what its training has changed (`differences`),
   multiplied with its coefficients, as :class:`.pieces.Changes`;
5. on the way, in the processes of some shards: changes are added up in a tree
   (:func:`.pieces.add_changes`);
6. driver: :meth:`Mixture.mix` adds the sum to the mixed weights (`Weights.settle`,
   `Weights.add`).

After the last round the driver makes the model (:meth:`Mixture.result`,
`Weights.store`). So there is a `Weights` on both sides: the driver has the mixed
weights with their moments, and a shard has those that its round began with, without.

A round is a pure function of the shard's data, the mixed weights, the shard's key and
the number of the round: whoever computes it comes to the same bits.
"""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.feature_table import FeatureTable, counters, extended, renumbered
from .._core.hashing import keys_of
from .._core.penalties import has_lazy_penalty
from .._core.store import n_rows, settle
from .._data.inputs import PlaceError
from .._training.checkpoint import arrays_of, fingerprint
from .._training.epochs import run_epoch, stores_of, with_store
from .pieces import Changes, Kind, moved, scaled
from .weights import (
    Steps,
    Weights,
    differences,
    mixed_steps,
    set_clock,
    steps_of,
    take_over,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from .._core.store import Rule
    from .._training.run import Run
    from .pieces import Piece, Seen
    from .vocabulary import Vocabulary
    from .weights import Coefficients


class Met(NamedTuple):
    """The features and labels that a shard met."""

    kind: type[Run]
    vocabulary: Vocabulary
    n_examples: int
    n_tokens: int
    fitted: dict[str, Any] | None  # of an estimator around the learner


@contextmanager
def naming(number: int, positions: Sequence[int] | None = None) -> Iterator[None]:
    """Let errors about the data of a shard name the shard.

    Parameters
    ----------
    number : int
    positions : list of int, optional
        Where its sequences are in the corpus that errors name.
    """
    try:
        yield
    except PlaceError as error:
        error.text = f"shard {number}: {error.text}"
        at: Any = error.sequence  # a number, where there are positions
        error.move(at if positions is None else positions[at])
        raise
    except (ValueError, TypeError) as error:
        raise type(error)(f"shard {number}: {error}") from error


class Start(NamedTuple):
    """The state with which a shard begins a round; lists by store."""

    full: bool  # all weights; else what changed since the round before
    steps: Steps
    keys: list[np.ndarray]  # (K, 3): features that are new
    pieces: list[Piece]


class Round(NamedTuple):
    """The instructions for one round of a shard."""

    epoch: int  # the first
    n_epochs: int
    start: Start | None  # None: it goes on from its own weights


class Report(NamedTuple):
    """The report of a shard at the end of a round, besides :class:`.pieces.Changes`."""

    steps: Steps
    updates: int
    wrong_tokens: int
    loss: float
    seconds: float


def shard_key(key: int, number: int) -> int:
    """Return the random key of a shard; the first one has the key of the whole."""
    if number == 0:
        return key
    return int(np.random.SeedSequence([key, number]).generate_state(1)[0] >> 1)


class Shard:
    """One shard; its methods take what is for it alone, and what is for all (see
    :mod:`.held`).

    Parameters
    ----------
    run : Run
        On the shard's examples, with zero weights; its state has the shard's key.
    fitted : dict
        Of an estimator around the learner.
    place : tuple
        What :func:`naming` takes.

    Attributes
    ----------
    alone : bool
        Whether there is no other shard.
    lengths : ndarray of shape (n,)
        Tokens of each example.
    work : NamedTuple
        Scratch of the kernel.
    base : dict of str to Weights
        By store, what the round began with.
    trained : bool
        Whether weights may be other than zero.
    """

    alone: bool
    lengths: np.ndarray
    work: Any
    base: dict[str, Weights]
    trained: bool

    def __init__(
        self,
        run: Run,
        fitted: dict[str, Any] | None = None,
        place: tuple[Any, ...] = (0,),
    ) -> None:
        self.run = run
        self.fitted = fitted
        self.place = place

    def met(self, _: None, min_count: int) -> Met:
        """Return what the shard met; with counts of features if ``min_count`` > 1."""
        run = self.run
        token = self.run.task.token
        n_examples = int(np.count_nonzero(np.diff(token)))
        return Met(
            type(run),
            run.vocabulary(min_count),
            n_examples,
            int(token[-1]),
            self.fitted,
        )

    def join(self, plan: dict[str, Any] | None, alone: bool) -> None:
        """Translate the run to what all shards met, by a plan, and get ready to train.

        ``alone``: there is no other shard. Then nothing is exchanged, and the rounds
        are epochs.
        """
        run = self.run
        self.alone = alone
        if plan is not None:
            with naming(*self.place):
                run.adopt(plan)
        self.lengths, self.work = np.diff(run.task.token), run.scratch()
        self._forget()

    def _forget(self) -> None:
        """Begin with weights of zero, and without features that others have met."""
        self.trained = False
        state = self.run.state
        stores = stores_of(state.model).items()
        self.base = {
            name: Weights(store, state.rule, moments=False) for name, store in stores
        }

    def fingerprint(self, _: None, __: None) -> str:
        """Return a digest of the shard's examples, as the learner sees them."""
        return fingerprint({}, arrays_of((self.run.task, self.run.visited), "shard"))

    def resume(self, key: int, model: Any) -> None:
        """Go on where another fit was: with its key for this shard, and its model if
        that is alone.
        """
        self.run.state.key = key
        if model is not None:
            self.run.state.model = model

    def train(self, _: None, shared: Round) -> Report:
        """Train the epochs of a round from the weights that it begins with.

        Returns
        -------
        Report
            The changes of the weights stay here: see :meth:`changes`.
        """
        began = time.perf_counter()
        epoch, n_epochs, start = shared
        run = self.run
        if start is not None:
            self._begin(start)
        self.trained = True
        noise = run.estimator._noise(run.state.key)
        totals = np.zeros(3)
        for e in range(epoch, epoch + n_epochs):
            order = run.order(e)
            totals += run_epoch(run, order, self.lengths, noise, self.work)[0][:3]
        clock = run.state.model.clock
        if not self.alone:
            for store in stores_of(run.state.model).values():
                settle(store, clock, run.state.rule)
        updates, wrong, loss = totals.tolist()
        seconds = time.perf_counter() - began
        return Report(steps_of(clock), int(updates), int(wrong), loss, seconds)

    def model(self, _: None, __: None) -> Any:
        """Return the model in training."""
        return self.run.state.model

    def changes(self, coefficients: Coefficients, counted: bool) -> Changes:
        """Return what the round has changed, as it enters the mixture.

        Parameters
        ----------
        coefficients : Coefficients
            Of this shard.
        counted : bool
            Whether to say which weights it has changed.

        Returns
        -------
        Changes
        """
        model = self.run.state.model
        kinds = []
        keys = []
        pieces = []
        seen = []
        halves: Any = self.run.node_halves
        for name, store in stores_of(model).items():
            base = self.base[name]
            rows = n_rows(store)
            new = np.zeros((0, 3), np.int64)
            count = np.zeros(0, np.int32)
            features = getattr(model, name)
            width = 1
            if isinstance(features, FeatureTable):
                rows = int(features.entries[0])
                count = features.seen
                width = counters(features)
                new = keys_of(features.table, rows)[base.known :]
            kinds.append(Kind(store.columns, width, base.known))
            keys.append(new)
            pieces.append(scaled(differences(store, base, rows), coefficients, counted))
            at = np.flatnonzero(count)
            seen.append((at, count[at]))
        return Changes(
            kinds, None if halves is None else halves(model), keys, pieces, seen
        )

    def _begin(self, start: Start) -> None:
        state = self.run.state
        if start.full and self.trained:
            state.model = self.run.fresh(state.key).model
            self._forget()
        rule = state.rule
        model = state.model
        set_clock(model.clock, start.steps)
        for (name, base), keys, piece in zip(
            self.base.items(), start.keys, start.pieces
        ):
            features = getattr(model, name)
            if isinstance(features, FeatureTable):
                features, base.table = renumbered(
                    features, base.table, keys, base.known, rule
                )
                base.known = int(features.entries[0])
                model = model._replace(**{name: features})
            store = stores_of(model)[name]
            store = take_over(store, base, piece, rule, start.steps.visited)
            model = with_store(model, name, store)
        state.model = model


class EmptyShard:
    """A shard without anything to learn from; it takes no part in the mixture.

    Parameters
    ----------
    reason : str
        What the error says if no shard has anything.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def met(self, _: None, __: Any) -> str:
        """Return why there is nothing to learn from, in place of a :class:`Met`."""
        return self.reason

    def fingerprint(self, _: None, __: None) -> str:
        """Return a digest of no examples."""
        return ""

    def _nothing(self, _: Any, __: Any) -> None:
        """Return None: no report, and no changes."""

    join = resume = train = changes = _nothing


@contextmanager
def counting_all(answers: Sequence[Any]) -> Iterator[None]:
    """Let errors inside, which count the shards that are not empty, count all.

    ``answers`` tells which are empty, as in :func:`in_turn`.
    """
    numbers = [s for s, is_empty in enumerate(map(_is_empty, answers)) if not is_empty]
    try:
        yield
    except ValueError as error:
        text = re.sub(
            r"\bshard (\d+)",
            lambda found: f"shard {numbers[int(found[1])]}",
            str(error),
        )
        raise type(error)(text) from error


def _is_empty(answer: Any) -> bool:
    """Tell whether the shard that answered is empty: it says nothing, or why."""
    return answer is None or isinstance(answer, str)


def in_turn(
    answers: Sequence[Any], values: Iterable[Any], otherwise: Any = None
) -> list[Any]:
    """Give the next of ``values`` to each shard that is not empty.

    Parameters
    ----------
    answers : list
        What the shards said: an empty one None, or the reason, a str.
    values : iterable
    otherwise
        What an empty shard is given.

    Returns
    -------
    list
        By shard.
    """
    values = iter(values)
    return [otherwise if _is_empty(answer) else next(values) for answer in answers]


class Mixture:
    """The mixed weights.

    Parameters
    ----------
    node_halves : callable or None
        Tells of a model which halves of its features' keys are rows
        (``_training.run.Run.node_halves``).
    model : NamedTuple
        Of zeros, with everything that is not learned; taken over.
    rule : Rule
    nonzero : bool
        Whether a weight is the mean over the shards that changed it, not over all.
    """

    def __init__(
        self,
        node_halves: Callable[[Any], np.ndarray] | None,
        model: Any,
        rule: Rule,
        nonzero: bool = False,
    ) -> None:
        self.model = model
        self.rule = rule
        self.nonzero = nonzero
        self.lazy = has_lazy_penalty(rule)
        self.halves = None if node_halves is None else node_halves(model)
        self.weights = {
            name: Weights(
                store,
                rule,
                True,
                numbered=isinstance(getattr(model, name), FeatureTable),
            )
            for name, store in stores_of(model).items()
        }
        self.steps = steps_of(model.clock)

    def start(self, full: bool = False) -> Start:
        """Return what the next round begins with: what is new, or all weights."""
        of = self.weights.values()
        keys = [
            keys_of(weights.table, weights.entries[0])[0 if full else weights.known :]
            for weights in of
        ]
        return Start(full, self.steps, keys, [weights.news(full) for weights in of])

    def coefficients(
        self, reports: list[Report], share: np.ndarray
    ) -> list[Coefficients]:
        """Return what the differences of each shard are multiplied with.

        Parameters
        ----------
        reports : list of Report
            In the order of the shards, whoever was first.
        share : ndarray of shape (S,)
            The mixture; see :func:`.weights.mixture`.
        """
        steps = [report.steps for report in reports]
        self.after, coefficients = mixed_steps(self.steps, steps, share, self.lazy)
        return coefficients

    def mix(self, changes: Changes, n_shards: int) -> None:
        """Let the sum of what n shards have changed, with their coefficients, enter the
        mixture.
        """
        self.steps = self.after
        by_store = zip(changes.kinds, changes.keys, changes.pieces, changes.seen)
        for weights, changed in zip(self.weights.values(), by_store):
            weights.settle()
            weights.known = int(weights.entries[0])
            weights.add(self._translated(weights, *changed), n_shards)

    def _translated(
        self, weights: Weights, kind: Kind, keys: np.ndarray, piece: Piece, seen: Seen
    ) -> Piece:
        """Return what was changed, in everyone's numbers; new features are numbered,
        and counted.
        """
        if keys.shape[0]:
            weights.table, rows = extended(
                weights.table, weights.entries, keys, kind.known, self.halves
            )
            piece, seen = moved(kind, rows, piece, seen)
        at, count = seen
        if at.shape[0]:
            size = max(int(at.max()) + 1, int(weights.entries[0]) * kind.counters)
            weights.seen = np.pad(
                weights.seen, (0, max(size - weights.seen.shape[0], 0))
            )
            weights.seen[at] += count
        return piece

    def state(self) -> tuple[list[float], dict[str, np.ndarray]]:
        """Return the mixed weights: numbers that JSON keeps, and arrays by name."""
        arrays = {}
        for name, weights in self.weights.items():
            arrays.update(weights.arrays(name))
        return list(self.steps), arrays

    def restore(self, steps: Sequence[float], arrays: dict[str, np.ndarray]) -> None:
        """Go on from numbers and arrays that :meth:`state` has returned.

        Raises
        ------
        KeyError
            If an array is missing.
        """
        self.steps = Steps(*steps)  # type: ignore[arg-type]  # as `state` gave them
        for name, weights in self.weights.items():
            weights.restore(name, arrays)

    def result(self) -> Any:
        """Return the structure's model with the mixed weights."""
        model = self.model
        set_clock(model.clock, self.steps)
        for name, weights in self.weights.items():
            features = getattr(model, name)
            store = stores_of(model)[name]
            rows = n_rows(store)
            if weights.numbered:
                table = weights.table.copy()
                entries = weights.entries.copy()
                rows = int(entries[0])
                seen = np.zeros(
                    rows * counters(features) if features.min_count > 1 else 0, np.int32
                )
                seen[: weights.seen.shape[0]] = weights.seen
                model = model._replace(
                    **{name: features._replace(table=table, entries=entries, seen=seen)}
                )
            store = weights.store(store, rows, self.rule, self.steps.visited)
            model = with_store(model, name, store)
        return model
