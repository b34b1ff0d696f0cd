"""Parameter mixing: the share of each shard, and the clock after a round; ``weights`` has the equations."""

from typing import NamedTuple

import numpy as np

UNIFORM, ERRORS, NONZERO = "uniform", "errors", "nonzero"


def mixture(mixing, updates):
    """The weights μ of the shards, which sum to 1.

    Parameters
    ----------
    mixing : {"uniform", "errors", "nonzero"}
        All equal, or in proportion to the updates (McDonald, Hall and Mann 2010, section 4: with it the
        rounds until convergence are bounded like the epochs of the plain perceptron). "nonzero" is all equal
        here; see ``Weights.add``.
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
