"""Online training: epochs of any structure, over any rule, penalty, average and noise.

A *structure* is a module that exports the kernel ``epoch(task, order, begin, end, model, rule, noise,
work)`` and ``STORES``, the names of the model's weight stores. The model is a ``NamedTuple`` with these
stores, or ``()`` in the place of one, and a ``clock``. Training updates the arrays of the model in place, and
replaces the model only when something in it has to grow.

A structure that meets features only while it searches exports ``TABLES`` instead, the names of the model's
feature tables (``core.feature_table``). Its model may have ``wanted``, the features that each of them lacked
room for when the kernel returned; without it each table grows. If halves of its keys may be rows, as a word
is half of a longer feature, it exports ``node_halves(model)`` as well: by number, whether the left and the
right half are; (n, 2) bool.
"""

import time
from typing import NamedTuple

import numpy as np

from ..core.codes import POOL_FULL, RESCALE, TABLE_FULL
from ..core.feature_table import FeatureTable, copy_table, growth, is_short
from ..core.store import Clock, close_epoch, copy_store, grow_pool, rebase

CHUNK_TOKENS = 50_000
"""Number of tokens processed between checks for Ctrl-C."""

LONG_EPOCH = 1.0
"""Seconds from which an epoch is stopped in the middle by Ctrl-C; a shorter one is finished first."""


class EpochStats(NamedTuple):
    """What one epoch did."""

    updates: int  # examples that changed the weights
    wrong_tokens: int  # tokens whose label in the losing prediction was wrong
    loss: float  # sum of the hinge losses (passive-aggressive)
    seconds: float


def epoch_order(key, epoch, n, shuffle=True):
    """The order of the n examples in an epoch: a pure function of an integer key."""
    if not shuffle:
        return np.arange(n)
    return np.random.Generator(np.random.PCG64([key, epoch])).permutation(n)


def stores_of(structure, model):
    """The stores of a model, by the field where they, or their tables, are."""
    stores = {name: getattr(model, name) for name in getattr(structure, "STORES", ()) if getattr(model, name)}
    stores.update((name, getattr(model, name).weights) for name in getattr(structure, "TABLES", ()))
    return stores


def with_store(model, name, store):
    """The model with another store at a field; see :func:`stores_of`."""
    part = getattr(model, name)
    return model._replace(**{name: part._replace(weights=store) if isinstance(part, FeatureTable) else store})


def snapshot(structure, model):
    """A copy of the model that shares no mutable array."""
    copies = {}
    for name in stores_of(structure, model):
        part = getattr(model, name)
        copies[name] = copy_table(part) if isinstance(part, FeatureTable) else copy_store(part)
    return model._replace(clock=Clock(*(part.copy() for part in model.clock)), **copies)


def chunks(order, lengths):
    """Bounds of consecutive pieces of ``order`` with about ``CHUNK_TOKENS`` tokens each."""
    ends = np.cumsum(lengths[order])
    total = int(ends[-1]) if ends.shape[0] else 0
    marks = np.arange(CHUNK_TOKENS, total, CHUNK_TOKENS)
    cuts = np.searchsorted(ends, marks, side="left") + 1
    return np.unique(np.concatenate([[0], cuts, [order.shape[0]]])).tolist()


def _grow_pool(structure, held, rule):
    """Make room in the sparse store that has the least.

    It need not be the one that lacked room; then that one is the next to grow.
    """
    stores = stores_of(structure, held.current)
    free = {name: s.value.shape[0] - int(s.used[0]) for name, s in stores.items() if s.sparse}
    name = min(free, key=free.get)
    held.current = with_store(held.current, name, grow_pool(stores[name], rule, 4096))


def grow_tables(structure, held, rule):
    """Make room for more features in the tables that lack it."""
    wanted = getattr(held.current, "wanted", None)
    for k, name in enumerate(structure.TABLES):
        if wanted is not None and not is_short(getattr(held.current, name), int(wanted[k])):
            continue
        for step in growth(rule, 0 if wanted is None else int(wanted[k])):
            held.current = held.current._replace(**{name: step(getattr(held.current, name))})


def run_epoch(held, structure, task, order, lengths, rule, noise, work, interrupt=None):
    """One pass over the examples in the given order.

    Parameters
    ----------
    held : object
        Has the model in training as ``current``, before and after. Nobody else refers to it, so that the
        arrays of before go when they have grown.
    order : ndarray
        The examples to visit.
    lengths : ndarray of shape (n,)
        Tokens per example.
    interrupt : DeferredInterrupt, optional
        Waits for the end of a short epoch, and stops a long one in the middle.

    Returns
    -------
    stats : EpochStats
    complete : bool
        False if Ctrl-C stopped it in the middle.
    """
    began = time.perf_counter()
    work.stats[:] = 0.0
    complete = True
    bounds = chunks(order, lengths)
    for begin, end in zip(bounds, bounds[1:]):
        while begin < end:
            code, begin = structure.epoch(task, order, begin, end, held.current, rule, noise, work)
            if code == POOL_FULL:
                _grow_pool(structure, held, rule)
            elif code == RESCALE:
                rebase(stores_of(structure, held.current).values(), held.current.clock)
            elif code == TABLE_FULL:
                grow_tables(structure, held, rule)
        if interrupt is not None and interrupt.count:
            short = interrupt.count == 1 and time.perf_counter() - began < LONG_EPOCH
            if interrupt.at_once or not short:
                complete = end == bounds[-1]
                break
    close_epoch(stores_of(structure, held.current).values(), held.current.clock, rule)
    updates, wrong, loss = work.stats.tolist()
    return EpochStats(int(updates), int(wrong), loss, time.perf_counter() - began), complete
