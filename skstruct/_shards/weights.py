"""Parameter mixing: weights on their way between shards, and their mixture.

McDonald, Hall and Mann (2010) train on each shard from the mixed weights, mix what
comes back, ``w = Σ_i μ_i w_i``, and repeat. Here the *average* of the weights is mixed
too. With ``w_{i,n,t}`` the weights of shard i after step t of its n-th round, T_{i,n}
steps long, the averaged model is

    (1 / Σ_n T_n) Σ_n T_n Σ_i μ_{i,n} (1 / T_{i,n}) Σ_t w_{i,n,t},    T_n = [Σ_i μ_{i,n} T_{i,n}]

([] rounds to an integer): all weight vectors over rounds, shards and steps count, each
shard as much as in the mixture. With one shard it is the average of the plain learner.

In terms of a store (see ``_core.store``), shard i starts a round from value v, moment
m, scales (s, S), and ends with v_i, m_i, (s_i, S_i). With f_i = T_n / T_{i,n}, s' = Σ
μ_i s_i and S' = Σ μ_i (f_i S_i + (1 - f_i) S),

    v' = v + Σ_i μ_i (s_i / s') (v_i - v)
    m' = m + Σ_i μ_i [ f_i (m_i - m) + (v_i - v) (S' s_i / s' - f_i S_i) ]

have the mixed weights ``s' v'`` and the mixed sum ``v' S' - m'``. Weights that no shard
touched keep v and m: only the others travel. Under L1 penalties m is the plain sum of
the weights, and the last term is absent. The penalty that a weight has received is
mixed like the weight (cumulative L1).

A shard starts each round with moments of zero, so that ``m_i - m`` is what it holds in
the end, and only v, and S, go to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._core.compile import kernel
from .._core.final_weights import sparse_store
from .._core.hashing import empty_table
from .._core.store import grow_pool, insert, place_of, places_needed, sizes
from .pieces import NOTHING, Piece, any_nonzero, smaller_piece, taken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.store import Clock, Rule, Store


UNIFORM = "uniform"
ERRORS = "errors"
NONZERO = "nonzero"


def mixture(mixing: str, updates: Sequence[int]) -> np.ndarray:
    """Return the weights μ of the shards, which sum to 1.

    Parameters
    ----------
    mixing : {"uniform", "errors", "nonzero"}
        All equal, or in proportion to the updates (McDonald, Hall and Mann 2010,
        section 4: with it the rounds until convergence are bounded like the epochs of
        the plain perceptron). "nonzero" is all equal here; see ``Weights.add``.
    updates : sequence of int
        Examples that changed the weights, by shard.
    """
    counts = np.asarray(updates, float)
    if mixing == ERRORS and counts.sum() > 0.0:
        return counts / counts.sum()
    return np.full(counts.shape[0], 1.0 / counts.shape[0])


class Steps(NamedTuple):
    """A clock (``_core.store.Clock``) as four numbers."""

    visited: int  # examples
    averaged: int  # weight vectors in the average
    scale: float  # s
    total: float  # S


def steps_of(clock: Clock) -> Steps:
    """Read the numbers of a clock."""
    return Steps(*clock.step.tolist(), *clock.scale.tolist())


def set_clock(clock: Clock, steps: Steps) -> None:
    """Write numbers into a clock."""
    clock.step[:] = steps.visited, steps.averaged
    clock.scale[:] = steps.scale, steps.total


class Coefficients(NamedTuple):
    """What the differences of one shard are multiplied with."""

    value: float  # v_i - v, on its way into v'
    moment: float  # m_i - m, into m'
    shift: float  # v_i - v, into m'
    share: float  # μ_i


def mixed_steps(
    start: Steps, ends: list[Steps], share: np.ndarray, lazy: bool
) -> tuple[Steps, list[Coefficients]]:
    """Return the clock after a round, and the coefficients of each shard.

    Parameters
    ----------
    start : Steps
        All shards' clock before the round.
    ends : list of Steps
    share : ndarray of shape (S,)
        The mixture μ.
    lazy : bool
        Whether moments are plain sums (L1 penalties).
    """
    averaged = np.array([end.averaged - start.averaged for end in ends], float)
    visited = np.array([end.visited - start.visited for end in ends], float)
    scale, total = np.array([end[2:] for end in ends]).T
    steps = round(float(share @ averaged))
    f = np.divide(steps, averaged, out=np.ones_like(averaged), where=averaged > 0)
    s = float(share @ scale)
    S = float(share @ (f * total + (1.0 - f) * start.total))
    after = Steps(
        start.visited + round(float(share @ visited)), start.averaged + steps, s, S
    )
    r = scale / s
    shift = np.zeros_like(f) if lazy else share * (r * S - f * total)
    return after, [
        Coefficients(*row)
        for row in np.stack([share * r, share * f, shift, share], 1).tolist()
    ]


# --------------------------------------------------------------------------------------
# Weights
# --------------------------------------------------------------------------------------
@kernel
def _locate(
    known: np.ndarray, keys: np.ndarray, at: np.ndarray, new: np.ndarray
) -> int:
    """Find where ascending ``keys`` stand in, or belong into, ascending ``known``.

    Writes the places to ``at``, and to ``new`` whether a key is not there yet; returns
    how many are new.
    """
    place = 0
    n_new = 0
    for k in range(keys.shape[0]):
        while place < known.shape[0] and known[place] < keys[k]:
            place += 1
        at[k] = place
        new[k] = place == known.shape[0] or known[place] != keys[k]
        n_new += new[k]
    return n_new


class Weights:
    """Mixed weights of one store, as the driver and, without moments, the shards keep
    them.

    Parameters
    ----------
    store : Store
        Of zeros.
    rule : Rule
        What is kept besides the weights.
    moments : bool
        Whether moments are kept, if the rule averages.
    numbered : bool
        Whether rows are features, which get numbers as they are met.

    Attributes
    ----------
    keys : ndarray of int64, ascending, or None
        Of a sparse store, the weights present.
    value, moment, received : ndarray of float64
        By key, or by place in ``keys``; the last two are empty if they are not among
        ``names``.
    names : list of str
    changed : ndarray of bool
        Since the last call of :meth:`settle`.
    table, entries, seen : ndarray
        As of a ``_core.feature_table.FeatureTable``, but for what grows when; empty
        unless ``numbered``.
    known : int
        Features when the round began.
    """

    def __init__(
        self, store: Store, rule: Rule, moments: bool, numbered: bool = False
    ) -> None:
        needed = sizes(rule, 1, 1)
        self.columns = store.columns
        self.keys = np.zeros(0, np.int64) if store.sparse else None
        kept = {
            "value": True,
            "moment": moments and needed["moment"],
            "received": needed["received"],
        }
        self.names = [name for name, is_kept in kept.items() if is_kept]
        self.value = np.zeros(0)
        self.moment = NOTHING
        self.received = NOTHING
        self.numbered = numbered
        self.known = 0
        self.table = empty_table()
        self.entries = np.zeros(1, np.int64)
        self.seen = np.zeros(0, np.int64)
        self.changed = np.zeros(0, np.bool_)
        self._resize(0 if store.sparse else store.value.shape[0])

    def _resize(self, size: int, rows: np.ndarray | None = None) -> None:
        """Make arrays longer; old weights stand at ``rows`` in them, or in front."""
        for name in (*self.names, "changed"):
            old = getattr(self, name)
            new = np.zeros(size, old.dtype)
            new[slice(old.shape[0]) if rows is None else rows] = old
            setattr(self, name, new)

    def places(self, keys: np.ndarray | None, size: int = 0) -> np.ndarray | slice:
        """Return where weights stand, after making room for those that are new.

        Parameters
        ----------
        keys : ndarray or None
            Ascending if the store is sparse.
        size : int
            With no keys, how many weights there are.
        """
        if keys is None:
            if self.keys is not None:
                return self.places(np.arange(size))
            if size > self.value.shape[0]:
                self._resize(size)
            return slice(size)
        keys = keys.astype(np.int64, copy=False)
        if self.keys is None:
            size = int(keys.max(initial=-1)) + 1
            if size > self.value.shape[0]:
                self._resize(size)
            return keys
        at = np.empty(keys.shape[0], np.int64)
        new = np.empty(keys.shape[0], np.bool_)
        if _locate(self.keys, keys, at, new):
            # Shift old entries right by the number of insertions before them.
            old = np.arange(self.keys.shape[0])
            old += np.cumsum(np.bincount(at[new], minlength=old.shape[0] + 1))[
                : old.shape[0]
            ]
            united = np.insert(self.keys, at[new], keys[new])
            at += np.cumsum(new) - new
            self._resize(united.shape[0], old)
            self.keys = united
        return at

    def add(self, piece: Piece, n_shards: int) -> None:
        """Let the sum of what n shards have changed enter the mixture.

        If it has counts, a weight becomes the mean over the shards that changed it, and
        the others are left out (as in equation 8 of Zhang, Su and Zhou 2014 for
        shuffle-and-average).
        """
        at = self.places(piece.keys, piece.value.shape[0])
        factor = n_shards / np.maximum(piece.count, 1) if piece.count.shape[0] else 1.0
        for name in self.names:
            getattr(self, name)[at] += factor * getattr(piece, name)
        self.changed[at] = True

    def put(self, piece: Piece) -> np.ndarray | slice:
        """Overwrite the weights of a piece; returns where they stand."""
        at = self.places(piece.keys, piece.value.shape[0])
        for name in self.names:
            getattr(self, name)[at] = getattr(piece, name)
        return at

    def news(self, everything: bool = False) -> Piece:
        """Return what changed since :meth:`settle`, or ``everything`` but zeros."""
        fields = self.value, NOTHING, self.received
        at = np.flatnonzero(any_nonzero(fields) if everything else self.changed)
        if self.keys is None:
            return smaller_piece(at, self.value.shape[0], fields)
        return Piece(self.keys[at], *taken(fields, at))

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        """Return all that is to be kept between two rounds, as {path: array}.

        Paths begin with the ``name`` of the store.
        """
        fields = [*self.names, *["keys"] * (self.keys is not None)]
        fields += ["table", "entries", "seen"] if self.numbered else []
        return {f"{name}.{field}": getattr(self, field) for field in fields}

    def restore(self, name: str, arrays: dict[str, np.ndarray]) -> None:
        """Set the arrays that :meth:`arrays` has returned.

        Raises
        ------
        KeyError
            If one is missing.
        """
        for path in self.arrays(name):
            setattr(self, path.rpartition(".")[2], arrays[path])
        self.changed = np.zeros(self.value.shape[0], np.bool_)

    def settle(self) -> None:
        """Reset the change flags for the next round."""
        self.changed[:] = False

    def store(self, like: Store, rows: int, rule: Rule, step: int) -> Store:
        """Return a store with the mixed weights and their moments.

        Parameters
        ----------
        like : Store
            Says what kind of store, and has all other fields.
        rows : int
        rule : Rule
        step : int
            Up to which the weights are current.
        """
        last = np.full(sizes(rule, rows, 0)["last"], step, np.int64)
        if self.keys is None:
            self._resize(max(rows * self.columns, self.value.shape[0]))
            return like._replace(
                value=self.value, moment=self.moment, received=self.received, last=last
            )
        empty = like._replace(
            first=np.zeros(rows, np.int64), count=np.zeros(rows, np.int32)
        )
        packed = sparse_store(empty, self.keys, self.value)
        return packed._replace(
            moment=self.moment,
            received=self.received,
            last=last,
            room=packed.count.copy(),
        )


# --------------------------------------------------------------------------------------
# The shard's side
# --------------------------------------------------------------------------------------
@kernel
def _put(
    store: Store, keys: np.ndarray, value: np.ndarray, received: np.ndarray, begin: int
) -> int:
    """Overwrite weights of a sparse store, from entry ``begin`` of ``keys`` on.

    Returns the entry before which the pool of the store was too full.
    """
    for k in range(begin, keys.shape[0]):
        row = keys[k] // store.columns
        column = keys[k] % store.columns
        place = place_of(store, row, column)
        if place < 0:
            if store.used[0] + places_needed(store, row) > store.value.shape[0]:
                return k
            place = insert(store, row, column)
        store.value[place] = value[k]
        if received.shape[0] > 0:
            store.received[place] = received[k]
    return keys.shape[0]


def take_over(
    store: Store, base: Weights, piece: Piece, rule: Rule, step: int
) -> Store:
    """Write the mixed weights that a round begins with into a shard's store.

    Parameters
    ----------
    store : Store
        With room for all rows; changed.
    base : Weights
        What the round before began with; brought up to date.
    piece : Piece
        What changed since, or everything that is not zero if ``base`` is new.
    rule : Rule
    step : int
        Up to which the weights are current.

    Returns
    -------
    Store
    """
    at = base.put(piece)
    if store.sparse:
        keys = base.keys[at]  # type: ignore[index]  # a sparse store has keys
        done = 0
        while done < keys.shape[0]:
            done = _put(store, keys, piece.value, piece.received, done)
            if done < keys.shape[0]:
                store = grow_pool(store, rule, 8 * (keys.shape[0] - done))
    else:
        for name in base.names:
            getattr(store, name)[at] = getattr(piece, name)
    store.moment[:] = 0.0
    store.last[:] = step
    return store


@kernel
def _by_key(store: Store, rows: int, keys: np.ndarray, places: np.ndarray) -> None:
    """Write keys and places of the weights of a sparse store, by ascending key.

    Those of a row are sorted by insertion: they are few.
    """
    n = 0
    for row in range(rows):
        begin = n
        first = store.first[row]
        for place in range(first, first + store.count[row]):
            key = row * store.columns + store.column[place]
            at = n
            while at > begin and keys[at - 1] > key:
                keys[at], places[at] = keys[at - 1], places[at - 1]
                at -= 1
            keys[at] = key
            places[at] = place
            n += 1


def differences(store: Store, base: Weights, rows: int) -> Piece:
    """Return the piece with what a round has changed.

    Parameters
    ----------
    store : Store
        After the round, settled.
    base : Weights
        What the round began with.
    rows : int
        Rows in use.
    """
    places: np.ndarray | slice
    before: np.ndarray | slice
    known: np.ndarray | slice
    size = int(store.count[:rows].sum()) if store.sparse else rows * store.columns
    if store.sparse:
        keys = np.empty(size, np.int64)
        places = np.empty(size, np.int64)
        _by_key(store, rows, keys, places)
        at = np.empty(size, np.int64)
        new = np.empty(size, np.bool_)
        _locate(base.keys, keys, at, new)
        known = ~new
        before = at[~new]
    else:
        places = before = slice(size)
        known = slice(None)
        base.places(None, size)
    fields = [store.value[places].copy(), NOTHING, NOTHING]
    fields[0][known] -= base.value[before]
    if store.moment.shape[0]:
        fields[1] = store.moment[places]
    if "received" in base.names:
        fields[2] = store.received[places].copy()
        fields[2][known] -= base.received[before]
    at = np.flatnonzero(any_nonzero(fields))
    if store.sparse:
        return Piece(keys[at], *taken(fields, at))
    return smaller_piece(at, size, fields)
