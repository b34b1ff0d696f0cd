"""Shards of a corpus: what one of them does in a round of parameter mixing, and what mixes them.

A :class:`Shard` lives where its data is, in this
process or in another; a :class:`Mixture` where the results meet. What travels between them are a
:class:`Start` and a :class:`Report`. A round is a pure function of the shard's data, the mixed weights, the
shard's key and the number of the round: whoever computes it comes to the same bits.
"""

import time
from typing import NamedTuple

import numpy as np

from ..core.feature_table import extended
from ..core.hashing import MAX_LOAD, empty_table, grown, keys_of
from ..core.penalties import sums_plainly
from ..core.store import grow_rows, settle
from ..training.checkpoint import arrays_of, fingerprint
from ..training.epochs import run_epoch
from .steps import Steps, mixed_steps, set_clock, steps_of
from .weights import Piece, Weights, differences, take_over


class Part(NamedTuple):
    """Names of a model's arrays: a store, and what numbers its rows if training does."""

    store: str
    table: str | None = None
    entries: str | None = None
    seen: str | None = None


class Start(NamedTuple):
    """What a shard begins a round with; lists by :class:`Part`."""

    full: bool  # all weights; else what changed since the round before
    steps: Steps
    keys: list  # of ndarray (K, 3): features that are new
    pieces: list  # of Piece


class Report(NamedTuple):
    """What a shard ends a round with; lists by :class:`Part`."""

    steps: Steps
    keys: list  # of ndarray (K, 3): features that the shard has numbered
    pieces: list  # of Piece
    seen: list  # of (places, how often they were changed)
    updates: int
    wrong_tokens: int
    loss: float
    seconds: float


def parts_of(structure):
    """The parts of a structure's model."""
    tables = getattr(structure, "TABLES", ())
    if not tables:
        return [Part(store) for store in structure.STORES]
    return [Part(store, *tables[3 * k : 3 * k + 3]) for k, store in enumerate(structure.STORES)]


def shard_key(key, number):
    """The random key of a shard; the first one has the key of the whole."""
    if number == 0:
        return key
    return int(np.random.SeedSequence([key, number]).generate_state(1)[0] >> 1)


def _rows(store):
    if store.sparse:
        return store.count.shape[0]
    return store.value.shape[0] // store.columns if store.columns else 0


class Shard:
    """One shard.

    Parameters
    ----------
    run : Run
        On the shard's examples, with zero weights; its state has the shard's key.
    alone : bool
        Whether there is no other: then nothing is exchanged, and the rounds are epochs.
    """

    def __init__(self, run, alone):
        self.run, self.alone, self.model = run, alone, run.state.model
        self.parts = parts_of(run.structure)
        self.lengths = np.diff(run.task.token)
        self.work = run.scratch()
        self.noise = run.estimator._noise(run.state.key)
        self._forget()

    def _forget(self):
        """Begin with nothing."""
        self.trained = False
        stores = [getattr(self.model, part.store) for part in self.parts]
        self.base = [Weights(store, moments=False) for store in stores]
        self.tables = [empty_table() for _ in self.parts]
        self.known = [0 for _ in self.parts]

    def fingerprint(self):
        """A digest of the shard's examples, as the learner sees them."""
        return fingerprint({}, arrays_of((self.run.task, self.run.visited), "shard"))

    def resume(self, key, model=None):
        """Go on where another fit was: with its key for this shard, and its model if that is alone."""
        self.run.state.key = key
        self.noise = self.run.estimator._noise(key)
        if model is not None:
            self.model = model

    def train(self, epoch, n_epochs, start=None):
        """A round: ``n_epochs`` epochs from the weights of ``start`` on.

        Returns
        -------
        Report
        """
        began = time.perf_counter()
        run, rule = self.run, self.run.state.rule
        if start is not None:
            self._begin(start)
        self.trained = True
        totals = np.zeros(3)
        for e in range(epoch, epoch + n_epochs):
            self.model, stats, _ = run_epoch(
                run.structure, run.task, run.order(e), self.lengths, self.model, rule, self.noise, self.work
            )
            totals += stats[:3]
        keys, pieces, seen = [], [], []
        for k, part in enumerate(self.parts if not self.alone else ()):
            store = getattr(self.model, part.store)
            settle(store, self.model.clock, rule)
            rows, new = _rows(store), np.zeros((0, 3), np.int64)
            if part.table is not None:
                rows = int(getattr(self.model, part.entries)[0])
                new = keys_of(getattr(self.model, part.table), rows)[self.known[k] :]
            keys.append(new)
            pieces.append(differences(store, self.base[k], rows))
            count = getattr(self.model, part.seen) if part.seen else np.zeros(0, np.int32)
            at = np.flatnonzero(count)
            seen.append((at, count[at]))
        updates, wrong, loss = totals.tolist()
        seconds = time.perf_counter() - began
        return Report(steps_of(self.model.clock), keys, pieces, seen, int(updates), int(wrong), loss, seconds)

    def _begin(self, start):
        rule, model = self.run.state.rule, self.model
        if start.full and self.trained:
            self.model = model = self.run.fresh(self.run.state.key).model
            self._forget()
        set_clock(model.clock, start.steps)
        for k, part in enumerate(self.parts):
            store = getattr(model, part.store)
            if part.table is not None:
                model, store = self._take_features(model, part, k, start.keys[k])
            store = take_over(store, self.base[k], start.pieces[k], rule, start.steps.visited)
            model = model._replace(**{part.store: store})
        self.model = model

    def _take_features(self, model, part, k, keys):
        """Number the features as everyone does; those of the shard's own count no longer."""
        table, store = self.tables[k], getattr(model, part.store)
        entries = np.array([self.known[k]], np.int64)
        # As many slots as before: stores and tables grow together.
        table = grown(table, int(MAX_LOAD * getattr(model, part.table).shape[0]))
        table, _ = extended(table, entries, keys, self.known[k])
        if store.sparse:
            store.count[self.known[k] :] = 0
        else:
            store.value[self.known[k] * store.columns :] = 0.0
            store.received[self.known[k] * store.columns :] = 0.0
        old_rows, seen = _rows(store), getattr(model, part.seen)
        rows = max(old_rows, int(MAX_LOAD * table.shape[0])) if store.columns else 0
        width = seen.shape[0] // old_rows if old_rows else 0
        store = grow_rows(store, rows, self.run.state.rule)
        self.tables[k], self.known[k] = table, int(entries[0])
        changed = {
            part.store: store,
            part.table: table.copy(),
            part.entries: entries,
            part.seen: np.zeros(rows * width, seen.dtype),
        }
        return model._replace(**changed), store


class Mixture:
    """The mixed weights.

    Parameters
    ----------
    structure : module
    model : NamedTuple
        Of zeros, with everything that is not learned; taken over.
    rule : Rule
    nonzero : bool
        Whether a weight is the mean over the shards that changed it, not over all.
    """

    def __init__(self, structure, model, rule, nonzero=False):
        self.model, self.rule, self.parts = model, rule, parts_of(structure)
        self.nonzero = nonzero
        self.lazy = sums_plainly(rule)
        halves = getattr(structure, "node_halves", None)
        self.halves = None if halves is None else halves(model)
        self.weights = [
            Weights(store, moments=bool(rule.average))
            for store in (getattr(model, part.store) for part in self.parts)
        ]
        self.tables = [
            None if part.table is None else (empty_table(), np.zeros(1, np.int64)) for part in self.parts
        ]
        self.seen = [np.zeros(0, np.int64) for _ in self.parts]
        self.known = [0 for _ in self.parts]
        self.steps = steps_of(model.clock)

    def start(self, full=False):
        """What the next round begins with: what is new since the last one, or all of it."""
        keys = []
        for k, table in enumerate(self.tables):
            new = np.zeros((0, 3), np.int64)
            if table is not None:
                new = keys_of(table[0], table[1][0])[0 if full else self.known[k] :]
            keys.append(new)
        return Start(full, self.steps, keys, [weights.news(full) for weights in self.weights])

    def mix(self, reports, share):
        """Mix the results of a round.

        Parameters
        ----------
        reports : list of Report
            In the order of the shards, whoever was first.
        share : ndarray of shape (S,)
            The mixture; see :func:`cluster.steps.mixture`.
        """
        self.steps, coefficients = mixed_steps(
            self.steps, [report.steps for report in reports], share, self.lazy
        )
        for k, weights in enumerate(self.weights):
            weights.settle()
            if self.tables[k] is not None:
                self.known[k] = int(self.tables[k][1][0])
            pieces = [self._translated(k, report) for report in reports]
            factors = weights.shares(pieces) if self.nonzero else [1.0] * len(pieces)
            for piece, coefficient, factor in zip(pieces, coefficients, factors):
                weights.add(piece, coefficient, factor)

    def _translated(self, k, report):
        """What a shard has changed, in everyone's numbers; its new features are numbered, and counted."""
        weights, piece, (at, count) = self.weights[k], report.pieces[k], report.seen[k]
        if self.tables[k] is not None:
            (table, entries), known = self.tables[k], self.known[k]
            table, rows = extended(table, entries, report.keys[k], known, self.halves)
            self.tables[k] = table, entries

            def moved(keys, width):
                row = keys // width
                new = row >= known
                row[new] = rows[row[new] - known]
                return row * width + keys % width

            keys = np.arange(piece.value.shape[0]) if piece.keys is None else piece.keys.astype(np.int64)
            if keys.shape[0]:
                keys = moved(keys, weights.columns)
                order = np.argsort(keys, kind="stable")
                fields = (field[order] if field.shape[0] else field for field in piece[1:])
                piece = Piece(keys[order], *fields)
            if at.shape[0]:
                at = moved(at, self._seen_width(k))
                size = max(int(at.max()) + 1, int(entries[0]) * self._seen_width(k))
                if size > self.seen[k].shape[0]:
                    longer = np.zeros(size, np.int64)
                    longer[: self.seen[k].shape[0]] = self.seen[k]
                    self.seen[k] = longer
                self.seen[k][at] += count
        return piece

    def _seen_width(self, k):
        """Counters for each row."""
        part = self.parts[k]
        store = getattr(self.model, part.store)
        return getattr(self.model, part.seen).shape[0] // max(1, _rows(store))

    def state(self):
        """The mixed weights: numbers that JSON gives back unchanged, and arrays by name."""
        arrays = {}
        for k, part in enumerate(self.parts):
            arrays.update(self.weights[k].arrays(part.store))
            if self.tables[k] is not None:
                table, entries = self.tables[k]
                arrays.update({part.table: table, part.entries: entries, part.seen: self.seen[k]})
        return list(self.steps), arrays

    def restore(self, steps, arrays):
        """Take over what :meth:`state` returned.

        Raises
        ------
        KeyError
            If an array is missing.
        """
        self.steps = Steps(*steps)
        for k, part in enumerate(self.parts):
            self.weights[k].restore(part.store, arrays)
            if self.tables[k] is not None:
                self.tables[k] = arrays[part.table], arrays[part.entries]
                self.seen[k] = arrays[part.seen]

    def result(self):
        """The structure's model with the mixed weights."""
        model = self.model
        set_clock(model.clock, self.steps)
        for k, part in enumerate(self.parts):
            store = getattr(model, part.store)
            rows = _rows(store)
            if part.table is not None:
                table, entries = self.tables[k]
                width, rows = self._seen_width(k), int(entries[0])
                seen = np.zeros(rows * width, np.int32)
                seen[: self.seen[k].shape[0]] = self.seen[k]
                model = model._replace(
                    **{part.table: table.copy(), part.entries: entries.copy(), part.seen: seen}
                )
            store = self.weights[k].store(store, rows, self.rule, self.steps.visited)
            model = model._replace(**{part.store: store})
        return model
