"""From a shard's callable to an encoded shard, in whatever process.

What loads data is the user's callable, or :class:`Given` where data is there already.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from .._data.corpus import TokenCorpus
from .._data.elements import elements, opened
from .._data.inputs import NothingToLearn, as_tokens, describe, lengths_of, take
from .._sklearn import safe_indexing, sample_weights
from .._training.chunks import no_collection
from .shards import EmptyShard, Shard, naming, shard_key

if TYPE_CHECKING:
    from .._data.types import Corpus, Texts, Weights


Load: TypeAlias = Callable[[], tuple[Any, ...]]
"""A shard's callable: it returns (X, y), or (X, y, sample_weight)."""


class Given:
    """A callable that returns data which is there already.

    Parameters
    ----------
    positions : list of int
        Where its sequences are in the corpus that errors name.
    *data
        X, y, and the sample weights if there are any.
    """

    def __init__(self, positions: list[int], *data: Any) -> None:
        self.positions = positions
        self.data = data

    def __call__(self) -> tuple[Any, ...]:
        return self.data


class Job(NamedTuple):
    """The data needed to begin with a shard, anywhere and any number of times."""

    number: int
    load: Load
    estimator: Any  # a learner, or an estimator around one; not fitted
    key: int  # of all shards


def check_loads(shards: Any) -> list[Load]:
    """Return the callables of shards, as a list.

    Raises
    ------
    ValueError
        If there is none, or one of them cannot be called.
    """
    if not isinstance(shards, (list, tuple)) or not shards:
        raise ValueError(
            f"shards must be a list of at least one callable, got {describe(shards)}"
        )
    for s, load in enumerate(shards):
        if not callable(load):
            raise ValueError(
                f"shard {s}: expected a callable that returns (X, y), got "
                f"{describe(load)}"
            )
    return list(shards)


def place_of(job: Job) -> tuple[int, list[int] | None]:
    """Return the number of a shard, and where its sequences are in the user's corpus.

    They are the arguments of :func:`.shards.naming`; None if the positions are unknown.
    """
    return job.number, getattr(job.load, "positions", None)


def load_shard(job: Job) -> tuple[Any, Any, Any]:
    """Call the loader of a shard, and return (X, y, sample_weight).

    Raises
    ------
    ValueError
        If the callable fails, or what it returns is wrong; the message names the shard.
    """
    s = job.number
    try:
        data = job.load()
    except Exception as error:
        raise ValueError(
            f"shard {s}: its callable raised {type(error).__name__}: {error}"
        ) from error
    if not isinstance(data, tuple) or len(data) not in (2, 3):
        raise ValueError(
            f"shard {s}: its callable must return (X, y), got {describe(data)}"
        )
    return (*data, None)[:3]


@no_collection()  # which takes a third of the time for many lists
def open_shard(job: Job) -> Shard | EmptyShard:
    """Load and encode a shard.

    Returns
    -------
    Shard or EmptyShard

    Raises
    ------
    ValueError
        As :func:`load_shard`, or if the data are wrong; the message names the shard.
    """
    X, y, sample_weight = load_shard(job)
    learner = job.estimator._learner()
    learner.random_state = 0  # the key decides
    learner._leave_undecided()
    place = place_of(job)
    try:
        with naming(*place):
            learner._validate_params()
            run, fitted = job.estimator._prepare_with(
                learner, X, y, sample_weight=sample_weight
            )
    except NothingToLearn as error:  # which the other shards may have
        return EmptyShard(str(error))
    run.state.key = shard_key(job.key, job.number)
    return Shard(run, fitted, place)


def check_number(n_shards: int, n: int) -> None:
    """Raise ValueError if there are more shards than sequences."""
    if n_shards > n:
        raise ValueError(
            f"n_shards={n_shards} is more than the {n} sequences that there are to "
            f"learn from"
        )


def dealt(
    X: Corpus | Texts, y: Corpus, sample_weight: Weights, n_shards: int
) -> list[Load]:
    """Deal the sequences that are not empty to shards, in turn.

    Returns
    -------
    list of Given
        By shard, what returns its data.

    Raises
    ------
    ValueError
        If X and y are of different lengths, or there are too few sequences.
    """
    X = X if isinstance(X, TokenCorpus) else opened(X)
    texts = not hasattr(X, "columns") and all(isinstance(x, str) for x in X)
    held: Any = list(X) if texts else as_tokens(X)
    y = list(elements(y))
    if len(held) != len(y):
        raise ValueError(
            f"X and y must hold the same number of sequences, got {len(held)} and "
            f"{len(y)}"
        )
    lengths = lengths_of([x.split() for x in held]) if texts else held.lengths
    weight = sample_weights(sample_weight, held)
    visited = np.flatnonzero((lengths > 0) & (True if weight is None else weight > 0.0))
    check_number(n_shards, visited.shape[0])
    loads: list[Load] = []
    for s in range(n_shards):
        mine = visited[s::n_shards].tolist()
        data = mine, safe_indexing(held, mine), take(y, mine)
        loads.append(Given(*data) if weight is None else Given(*data, weight[mine]))
    return loads
