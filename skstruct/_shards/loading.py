"""From a shard's callable to an encoded shard, in whatever process.

What is asked of an estimator is in ``_training.learner.OnlineLearner``, of its run in
``_training.run.Run``.
"""

from typing import NamedTuple

import numpy as np

from .._data.corpus import TokenCorpus
from .._data.elements import elements, opened
from .._data.inputs import NothingToLearn, as_tokens, describe, lengths_of, take
from .._sklearn import safe_indexing, sample_weights
from .._training.chunks import no_collection
from .shards import EmptyShard, Shard, naming, shard_key


class Given:
    """A callable that returns data which is there already.

    Parameters
    ----------
    positions : list of int
        Where its sequences are in the corpus that errors name.
    *data
        X, y, and the sample weights if there are any.
    """

    def __init__(self, positions, *data):
        self.positions = positions
        self.data = data

    def __call__(self):
        return self.data


class Job(NamedTuple):
    """What it takes to begin with a shard, anywhere and any number of times."""

    number: int
    load: object  # () -> (X, y) or (X, y, sample_weight)
    estimator: object  # not fitted
    key: int  # of all shards


def check_loads(shards):
    """The callables of shards, as a list; raises ValueError if they are none."""
    if not isinstance(shards, (list, tuple)) or not shards:
        raise ValueError(
            f"shards must be a list of at least one callable, got {describe(shards)}"
        )
    for s, load in enumerate(shards):
        if not callable(load):
            raise ValueError(
                f"shard {s}: expected a callable that returns (X, y), got {describe(load)}"
            )
    return list(shards)


def place_of(job):
    """What :func:`.shards.naming` takes."""
    return job.number, getattr(job.load, "positions", None)


def load_shard(job):
    """(X, y, sample_weight) of a shard.

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
def open_shard(job):
    """Load and encode a shard; a :class:`.shards.Shard`, or an ``EmptyShard``.

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


def check_number(n_shards, n):
    """Raise ValueError if there are more shards than sequences."""
    if n_shards > n:
        raise ValueError(
            f"n_shards={n_shards} is more than the {n} sequences that there are to learn from"
        )


def dealt(X, y, sample_weight, n_shards):
    """Callables that return every ``n_shards``-th sequence, of those that are not
    empty.
    """
    X = X if isinstance(X, TokenCorpus) else opened(X)
    texts = not hasattr(X, "columns") and all(isinstance(x, str) for x in X)
    X = list(X) if texts else as_tokens(X)
    y = list(elements(y))
    if len(X) != len(y):
        raise ValueError(
            f"X and y must hold the same number of sequences, got {len(X)} and {len(y)}"
        )
    lengths = lengths_of([x.split() for x in X]) if texts else X.lengths
    weight = sample_weights(sample_weight, X)
    visited = np.flatnonzero((lengths > 0) & (True if weight is None else weight > 0.0))
    check_number(n_shards, visited.shape[0])
    loads = []
    for s in range(n_shards):
        mine = visited[s::n_shards].tolist()
        data = mine, safe_indexing(X, mine), take(y, mine)
        loads.append(Given(*data) if weight is None else Given(*data, weight[mine]))
    return loads
