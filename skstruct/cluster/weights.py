"""Parameter mixing: one model from shards of the data, round by round.

McDonald, Hall and Mann (2010) train on each shard from the mixed weights,
mix what comes back, ``w = Σ_i μ_i w_i``, and repeat. Here the *average* of the weights is mixed too. With
``w_{i,n,t}`` the weights of shard i after step t of its n-th round, T_{i,n} steps long, the averaged model is

    (1 / Σ_n T_n) Σ_n T_n Σ_i μ_{i,n} (1 / T_{i,n}) Σ_t w_{i,n,t},    T_n = [Σ_i μ_{i,n} T_{i,n}]

([] rounds to an integer): all weight vectors over rounds, shards and steps count, each shard as much as in
the mixture. With one shard it is the average of the plain learner.

In terms of a store (see ``core.store``), shard i starts a round from value v, moment m, scales (s, S), and
ends with v_i, m_i, (s_i, S_i). With f_i = T_n / T_{i,n}, s' = Σ μ_i s_i and
S' = Σ μ_i (f_i S_i + (1 - f_i) S),

    v' = v + Σ_i μ_i (s_i / s') (v_i - v)
    m' = m + Σ_i μ_i [ f_i (m_i - m) + (v_i - v) (S' s_i / s' - f_i S_i) ]

have the mixed weights ``s' v'`` and the mixed sum ``v' S' - m'``. Weights that no shard touched keep v and m:
only the others are sent. Under L1 penalties m is the plain sum of the weights, and the last term is absent.
The penalty that a weight has received is mixed like the weight (cumulative L1).

A shard starts each round with moments of zero, so that ``m_i - m`` is what it holds in the end, and only v,
and S, go to it.
"""

from typing import NamedTuple

import numpy as np

from ..core.averaging import sparse_store
from ..core.store import sizes
from .messages import Piece, locate, make_piece

UNIFORM, ERRORS, NONZERO = "uniform", "errors", "nonzero"


# --------------------------------------------------------------------------------------------------
# The mixture
# --------------------------------------------------------------------------------------------------
def mixture(mixing, updates):
    """The weights μ of the shards, which sum to 1.

    Parameters
    ----------
    mixing : {"uniform", "errors", "nonzero"}
        All equal, or in proportion to the updates (McDonald, Hall and Mann 2010, section 4: with it the
        rounds until convergence are bounded like the epochs of the plain perceptron). "nonzero" is all equal
        here; see :meth:`Weights.add`.
    updates : sequence of int
        Examples that changed the weights, by shard.
    """
    updates = np.asarray(updates, float)
    if mixing == ERRORS and updates.sum() > 0.0:
        return updates / updates.sum()
    return np.full(updates.shape[0], 1.0 / updates.shape[0])


class Steps(NamedTuple):
    """A clock (``core.store.Clock``) as four numbers."""

    visited: int  # examples
    averaged: int  # weight vectors in the average
    scale: float  # s
    total: float  # S


def steps_of(clock):
    """The numbers of a clock."""
    return Steps(*clock.step.tolist(), *clock.scale.tolist())


def set_clock(clock, steps):
    """Write numbers into a clock."""
    clock.step[:] = steps.visited, steps.averaged
    clock.scale[:] = steps.scale, steps.total


class Coefficients(NamedTuple):
    """What the differences of one shard are multiplied with."""

    value: float  # v_i - v, on its way into v'
    moment: float  # m_i - m, into m'
    shift: float  # v_i - v, into m'
    share: float  # μ_i


def mixed_steps(start, ends, share, lazy):
    """The clock after a round, and the :class:`Coefficients` of each shard.

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
    after = Steps(start.visited + round(float(share @ visited)), start.averaged + steps, s, S)
    r = scale / s
    shift = np.zeros_like(f) if lazy else share * (r * S - f * total)
    return after, [Coefficients(*row) for row in np.stack([share * r, share * f, shift, share], 1).tolist()]


# --------------------------------------------------------------------------------------------------
# The mixed weights
# --------------------------------------------------------------------------------------------------
class Weights:
    """Mixed weights of one store, as the driver and, without moments, the shards keep them.

    Parameters
    ----------
    store : Store
        Of zeros; taken over if it is dense.
    moments : bool
        Whether moments are kept.

    Attributes
    ----------
    keys : ndarray of int64, ascending, or None
        Of a sparse store, the weights present.
    value, moment, received : ndarray of float64
        By key, or by place in ``keys``; the last two may be empty.
    """

    def __init__(self, store, moments):
        self.columns = store.columns
        self.keys = np.zeros(0, np.int64) if store.sparse else None
        self.value = np.zeros(0 if store.sparse else store.value.shape[0])
        self.moment = np.zeros_like(self.value) if moments else np.zeros(0)
        self.received = np.zeros_like(self.value)
        self.has_moment, self.has_received = moments, store.received.shape[0] > 0
        if not self.has_received:
            self.received = np.zeros(0)
        self.changed = np.zeros(self.value.shape[0], np.bool_)

    def _arrays(self):
        yield "value"
        yield "changed"
        if self.has_moment:
            yield "moment"
        if self.has_received:
            yield "received"

    def _resize(self, size, rows=None):
        """Longer arrays; the old weights stand at ``rows`` in them, or in front."""
        for name in self._arrays():
            old = getattr(self, name)
            new = np.zeros(size, old.dtype)
            new[slice(old.shape[0]) if rows is None else rows] = old
            setattr(self, name, new)

    def places(self, keys, size=0):
        """Where weights stand, after making room for those that are new.

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
        at, new = np.empty(keys.shape[0], np.int64), np.empty(keys.shape[0], np.bool_)
        if locate(self.keys, keys, at, new):
            # Position by position what was there moves behind what is inserted before it.
            old = np.arange(self.keys.shape[0])
            old += np.cumsum(np.bincount(at[new], minlength=old.shape[0] + 1))[: old.shape[0]]
            united = np.insert(self.keys, at[new], keys[new])
            at += np.cumsum(new) - new
            self._resize(united.shape[0], old)
            self.keys = united
        return at

    def shares(self, pieces):
        """For each piece, how many shards there are to one that changed the weight.

        With these as ``factor`` a weight becomes the mean over the shards that changed it, and the others are
        left out (as in equation 8 of Zhang, Su and Zhou 2014 for shuffle-and-average).
        """
        for piece in pieces:
            self.places(piece.keys, piece.value.shape[0])  # room for all: places do not change any more
        count, touched = np.zeros(self.value.shape[0], np.int32), []
        for piece in pieces:
            at = self.places(piece.keys, piece.value.shape[0])
            changed = piece.value != 0.0
            for field in (piece.moment, piece.received):
                if field.shape[0]:
                    changed |= field != 0.0
            count[at] += changed
            touched.append(at)
        return [len(pieces) / np.maximum(count[at], 1) for at in touched]

    def add(self, piece, coefficients, factor=1.0):
        """Let the differences of a shard enter the mixture; ``factor`` multiplies its part, by weight."""
        at = self.places(piece.keys, piece.value.shape[0])
        self.value[at] += coefficients.value * factor * piece.value
        if self.has_moment:
            moment = coefficients.moment * piece.moment + coefficients.shift * piece.value
            self.moment[at] += factor * moment
        if self.has_received:
            self.received[at] += coefficients.share * factor * piece.received
        self.changed[at] = True

    def put(self, piece):
        """Overwrite weights; returns where they stand."""
        at = self.places(piece.keys, piece.value.shape[0])
        self.value[at] = piece.value
        if self.has_received:
            self.received[at] = piece.received
        return at

    def news(self, everything=False):
        """The :class:`Piece` with what changed since the last call, or with all that is not zero."""
        if everything:
            alive = self.value != 0.0
            if self.has_received:
                alive |= self.received != 0.0
            at = np.flatnonzero(alive)
        else:
            at = np.flatnonzero(self.changed)
        nothing = np.zeros(0)
        if self.keys is None:
            return make_piece(at, self.value.shape[0], (self.value, nothing, self.received))
        received = self.received[at] if self.has_received else nothing
        return Piece(self.keys[at], self.value[at], nothing, received)

    def arrays(self, name):
        """Everything there is to know between two rounds; {path: array}."""
        fields = [field for field in self._arrays() if field != "changed"]
        if self.keys is not None:
            fields.append("keys")
        return {f"{name}.{field}": getattr(self, field) for field in fields}

    def restore(self, name, arrays):
        """Take over what :meth:`arrays` returned; raises KeyError if one is missing."""
        for path in self.arrays(name):
            setattr(self, path.rpartition(".")[2], arrays[path])
        self.changed = np.zeros(self.value.shape[0], np.bool_)

    def settle(self):
        """Reset the change flags for the next round."""
        self.changed[:] = False

    def store(self, like, rows, rule, step):
        """A store of ``rows`` rows with the mixed weights and their moments; ``like`` says its kind."""
        last = np.full(sizes(rule, rows, 0)["last"], step, np.int64)
        if self.keys is None:
            self._resize(max(rows * self.columns, self.value.shape[0]))
            return like._replace(value=self.value, moment=self.moment, received=self.received, last=last)
        empty = like._replace(first=np.zeros(rows, np.int64), count=np.zeros(rows, np.int32))
        packed = sparse_store(empty, self.keys, self.value)
        return packed._replace(
            moment=self.moment, received=self.received, last=last, room=packed.count.copy()
        )
