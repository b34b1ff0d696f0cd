"""Online training: epochs of any structure, over any rule, penalty, average and noise.

The model is a ``NamedTuple`` with a ``clock`` and weight stores, or ``()`` in the place
of one. Training updates its arrays in place, and replaces it only when something in it
has to grow. A model that meets features only while it searches has feature tables
(``_core.feature_table``) instead of stores. It may have ``wanted``, the features that
each of them lacked room for when the kernel returned; without it each table grows.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.codes import POOL_FULL, RESCALE, TABLE_FULL
from .._core.feature_table import FeatureTable, copy_table, growth, is_short
from .._core.store import Clock, Store, close_epoch, copy_store, grow_pool, rebase

if TYPE_CHECKING:
    from .interrupt import DeferredInterrupt
    from .run import Run, TrainingState

CHUNK_TOKENS = 50_000
"""Number of tokens processed between checks for Ctrl-C."""

LONG_EPOCH = 1.0
"""Seconds from which an epoch is stopped in the middle by Ctrl-C; a shorter one is
finished first.
"""

EPOCHS = ((200, 20),)
"""Pairs (n, epochs): with fewer than n sequences ``max_iter="auto"`` is ``epochs``, by
the first pair that applies.
"""


class EpochStats(NamedTuple):
    """The statistics of one epoch."""

    updates: int  # examples that changed the weights
    wrong_tokens: int  # tokens wrong in the predictions that updates step away from
    loss: float  # sum of the hinge losses; the perceptron counts 1 for each update
    seconds: float


def epochs_for(max_iter: int | str, n: int) -> int:
    """Return the epochs that a value of ``max_iter`` means for n training sequences.

    A number means itself. ``"auto"`` is twenty below 200 sequences, else ten
    (docs/decisions.md).
    """
    if not isinstance(max_iter, str):
        return max_iter
    return next((epochs for most, epochs in EPOCHS if n < most), 10)


def epoch_order(key: int, epoch: int, n: int, shuffle: bool = True) -> np.ndarray:
    """Return the order of the n examples in an epoch: a pure function of an integer
    key.
    """
    if not shuffle:
        return np.arange(n)
    return np.random.Generator(np.random.PCG64([key, epoch])).permutation(n)


def learned_parts(model: Any, kind: Any = (Store, FeatureTable)) -> dict[str, Any]:
    """Return the stores and feature tables of a model, or those of a kind, by field."""
    return {
        name: part for name, part in zip(model._fields, model) if isinstance(part, kind)
    }


def stores_of(model: Any) -> dict[str, Store]:
    """Return the stores of a model, by the field where they, or their tables, are."""
    parts = learned_parts(model)
    return {
        name: part.weights if isinstance(part, FeatureTable) else part
        for name, part in parts.items()
    }


def with_store(model: Any, name: str, store: Store) -> Any:
    """Return the model with another store at a field; see :func:`stores_of`."""
    part = getattr(model, name)
    return model._replace(
        **{
            name: part._replace(weights=store)
            if isinstance(part, FeatureTable)
            else store
        }
    )


def snapshot(model: Any) -> Any:
    """Copy a model so that the copy shares no mutable array."""
    copies = {
        name: copy_table(part) if isinstance(part, FeatureTable) else copy_store(part)
        for name, part in learned_parts(model).items()
    }
    return model._replace(clock=Clock(*(part.copy() for part in model.clock)), **copies)


def chunks(order: np.ndarray, lengths: np.ndarray) -> list[int]:
    """Divide ``order`` into pieces of about ``CHUNK_TOKENS`` tokens, and return their
    bounds.
    """
    ends = np.cumsum(lengths[order])
    total = int(ends[-1]) if ends.shape[0] else 0
    marks = np.arange(CHUNK_TOKENS, total, CHUNK_TOKENS)
    cuts = np.searchsorted(ends, marks, side="left") + 1
    return np.unique(np.concatenate([[0], cuts, [order.shape[0]]])).tolist()


def _grow_pool(state: TrainingState) -> None:
    """Make room in the sparse store that has the least.

    The kernel does not say which store was full. If it was another one, the kernel
    returns at once, and that one has the least room then.
    """
    stores = stores_of(state.model)
    free: dict[str, int] = {
        name: s.value.shape[0] - int(s.used[0])
        for name, s in stores.items()
        if s.sparse
    }
    name = min(free, key=free.__getitem__)
    state.model = with_store(
        state.model, name, grow_pool(stores[name], state.rule, 4096)
    )


def grow_tables(state: TrainingState) -> None:
    """Make room for more features in the tables that lack it."""
    wanted = getattr(state.model, "wanted", None)
    for k, name in enumerate(learned_parts(state.model, FeatureTable)):
        if wanted is not None and not is_short(
            getattr(state.model, name), int(wanted[k])
        ):
            continue
        for step in growth(state.rule, 0 if wanted is None else int(wanted[k])):
            state.model = state.model._replace(
                **{name: step(getattr(state.model, name))}
            )


def run_epoch(
    run: Run,
    order: np.ndarray,
    lengths: np.ndarray,
    noise: Any,
    work: Any,
    interrupt: DeferredInterrupt | None = None,
) -> tuple[EpochStats, bool]:
    """Visit the examples once, in the given order.

    Parameters
    ----------
    run : Run
        Its ``state`` has the model in training, before and after. Nobody else refers to
        the model, so that the arrays of before go when they have grown.
    order : ndarray
        The examples to visit.
    lengths : ndarray of shape (n,)
        Tokens per example.
    noise : Noise
        As ``OnlineLearner._noise`` returns it.
    work : NamedTuple
        Scratch of the kernel, as ``run.scratch`` returns it; its ``stats`` are counted
        anew.
    interrupt : DeferredInterrupt, optional
        Waits for the end of a short epoch, and stops a long one in the middle.

    Returns
    -------
    stats : EpochStats
    complete : bool
        False if Ctrl-C stopped it in the middle.
    """
    began = time.perf_counter()
    state = run.state
    work.stats[:] = 0.0
    complete = True
    bounds = chunks(order, lengths)
    for begin, end in zip(bounds, bounds[1:]):
        while begin < end:
            task, *more = run.kernel_arguments(noise, work)
            code, begin = run.epoch(task, order, begin, end, *more)
            if code == POOL_FULL:
                _grow_pool(state)
            elif code == RESCALE:
                rebase(stores_of(state.model).values(), state.model.clock)
            elif code == TABLE_FULL:
                grow_tables(state)
        if interrupt is not None and interrupt.count:
            short = interrupt.count == 1 and time.perf_counter() - began < LONG_EPOCH
            if interrupt.at_once or not short:
                complete = end == bounds[-1]
                break
    close_epoch(stores_of(state.model).values(), state.model.clock, state.rule)
    updates, wrong, loss = work.stats.tolist()
    return EpochStats(
        int(updates), int(wrong), loss, time.perf_counter() - began
    ), complete


def left_alone(model: Any) -> tuple[Any, ...]:
    """Return the parts of a model that training never changes: neither weights nor
    their clock.
    """
    learned = {"clock", *learned_parts(model)}
    return tuple(
        part for name, part in zip(model._fields, model) if name not in learned
    )


def as_arrays(value: Any) -> Any:
    """Turn numbers and flags in nested tuples into arrays, so that fingerprints see
    them.
    """
    return (
        tuple(map(as_arrays, value)) if isinstance(value, tuple) else np.asarray(value)
    )
