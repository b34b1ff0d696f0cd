"""Penalties on the weights: all that tells one from another.

A penalty acts on every weight at every step, but is applied only to the weights that
are touched:

* L2 decay (Zhang, Su and Zhou 2014, equation 10) multiplies one number, the clock's
  scale s: ``w = s * value``.
* L1 truncation (equation 12) and the cumulative L1 penalty (equations 13 to 17, after
  Tsuruoka, Tsujii and Ananiadou 2009) are *lazy*: they shrink a weight linearly until
  it is zero. A row remembers the step at which it was last touched; the shrinkage since
  then, and its sum for the average, have closed forms. Under L1 ``moment`` is the plain
  sum ``Σ_{t <= last} w(t)``.

The store (``_core.store``) asks the functions here; no kernel of a structure knows the
names of penalties.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .codes import EACH_STEP, L1, L1_CUMULATIVE, L2, NO_PENALTY
from .compile import inline, spliced

if TYPE_CHECKING:
    from .store import Clock, Rule, Store


LAZY = (L1, L1_CUMULATIVE)
"""Penalties that a weight pays only when its row is touched."""


# --------------------------------------------------------------------------------------
# Kernels
# --------------------------------------------------------------------------------------
@spliced
def is_lazy(rule: Rule) -> bool:
    """Tell whether stored values lack a part of the penalty; see :func:`due`."""
    return rule.penalty == L1 or rule.penalty == L1_CUMULATIVE


@spliced
def keeps_untouched_weights(rule: Rule) -> bool:
    """Tell whether steps leave the weights alone that they do not touch."""
    return rule.penalty == NO_PENALTY


@spliced
def decay(clock: Clock, rule: Rule) -> None:
    """Apply the part of a step's penalty that is the same factor for all weights."""
    if rule.penalty == L2:
        clock.scale[0] *= 1.0 - rule.alpha


@inline
def remaining(value: float, penalty: float) -> float:
    """``value`` after shrinking its magnitude by ``penalty`` >= 0, never past zero."""
    if value > penalty:
        return value - penalty
    if value < -penalty:
        return value + penalty
    return 0.0


@spliced
def due(store: Store, rule: Rule, row: int, place: int, step: int) -> float:
    """Return the penalty that the weight at ``place`` has yet to pay after ``step``
    steps.
    """
    if rule.penalty == L1_CUMULATIVE:
        return step * rule.alpha - store.received[place]
    return (step - store.last[row]) * rule.alpha


@inline
def read_weight(store: Store, rule: Rule, row: int, place: int, step: int) -> float:
    """Return the weight at ``place`` when ``step`` steps are over, in units of the
    clock's scale.
    """
    if is_lazy(rule):
        return remaining(store.value[place], due(store, rule, row, place, step))
    return store.value[place]


@spliced
def paid_before_update(rule: Rule, step: int) -> float:
    """Return the step up to which a row is brought before step ``step`` + 1 adds to it,
    under a lazy penalty.
    """
    if rule.penalty == L1:
        return step + 1  # equation 12 shrinks, then adds
    return step  # equations 13 to 17 add, then shrink


@inline
def catch_up(store: Store, rule: Rule, row: int, step: int) -> None:
    """Apply to a row the lazy penalties of all steps up to ``step``, and add up its
    average.
    """
    n = step - store.last[row]
    if n <= 0:
        return
    place = row * store.columns
    end = place + store.columns
    if store.sparse:
        place = store.first[row]
        end = place + store.count[row]
    for k in range(place, end):
        w = store.value[k]
        debt = 0.0
        if rule.penalty == L1_CUMULATIVE:
            debt = store.last[row] * rule.alpha - store.received[k]
        if rule.average == EACH_STEP:
            # Σ_{j=1..n} max(0, m - j α): the first `alive` terms are positive.
            m = abs(w) - debt
            if m > 0.0:
                alive = min(float(n), np.floor(m / rule.alpha))
                total = alive * m - rule.alpha * alive * (alive + 1.0) * 0.5
                store.moment[k] += total if w > 0.0 else -total
        debt += n * rule.alpha
        if rule.penalty == L1_CUMULATIVE:
            store.received[k] += min(abs(w), debt)
        store.value[k] = remaining(w, debt)
    store.last[row] = step


# --------------------------------------------------------------------------------------
# The same seen from Python
# --------------------------------------------------------------------------------------
def has_lazy_penalty(rule: Rule) -> bool:
    """As :func:`is_lazy`, outside of kernels.

    If so, moments are plain sums of weights, and rows know the step up to which they
    are current.
    """
    return rule.penalty in LAZY


def sizes(rule: Rule, rows: int, places: int) -> dict[str, int]:
    """Return the lengths of the arrays of a store that the penalty needs; by field."""
    return {
        "received": places if rule.penalty == L1_CUMULATIVE else 0,
        "last": rows if rule.penalty in LAZY else 0,
    }
