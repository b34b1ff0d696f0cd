"""How features of a table are read and emitted where a weight counts other than it is stored.

A pending penalty makes a weight smaller, noise multiplies it, and a cut-off leaves out what few updates
changed. Without any of them scores are plain sums: the adjustment is then None, for which numba compiles
kernels that have no trace of it.
"""

from typing import NamedTuple

from .codes import NO_NOISE
from .compile import inline
from .feature_table import count_updates
from .hashing import intern
from .noise import Noise, factor_of_key
from .penalties import has_lazy_penalty
from .rules import emit, finish_plain_visit, finish_visit
from .store import Rule


class Adjustment(NamedTuple):
    """What weights are read under."""

    rule: Rule
    noise: Noise


def adjustment_of(features, rule, noise):
    """The :class:`Adjustment` of a feature table, or None if scores are sums of what is stored."""
    quiet = noise.feature == NO_NOISE and noise.edge == NO_NOISE
    plain = quiet and not has_lazy_penalty(rule) and features.min_count <= 1
    return None if plain else Adjustment(rule, noise)


@inline
def noise_factor(adjustment, edge, step, compound, key):
    """What a feature is multiplied by at a step; ``edge``: it is one of transitions."""
    if adjustment is None:
        return 1.0
    return factor_of_key(adjustment.noise, edge, step, compound, key)


@inline
def emit_feature(features, adjustment, edge, step, compound, left, right, column, amount, difference):
    """Emit a feature by its key; one that is new is numbered, for which the table must have room."""
    x = noise_factor(adjustment, edge, step, compound, (left << 32) | right)
    if x != 0.0:
        emit(difference, intern(features.table, features.entries, compound, left, right), column, x * amount)


@inline
def learn(features, difference, clock, rule, adjustment, weight):
    """End the visit of an example: count the updates, and take a step of the perceptron."""
    count_updates(features, difference)
    if adjustment is None:
        finish_plain_visit(difference, features.weights, clock, rule, 1.0, weight)
    else:
        finish_visit((difference,), (features.weights,), clock, rule, 1.0, weight)
