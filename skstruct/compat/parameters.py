"""The training parameters of CRFsuite: names, types, defaults and what they mean
here.
"""

from __future__ import annotations

from math import isnan
from typing import Any

NO_LIMIT = 2**31 - 1


HELP = {
    "feature.minfreq": "The least number of occurrences of a pair of feature and label.",
    "feature.possible_states": "Weights for all pairs of feature and label.",
    "feature.possible_transitions": "Weights for all pairs of labels.",
    "c1": "Coefficient of the L1 penalty.",
    "c2": "Coefficient of the L2 penalty.",
    "max_iterations": "The most passes over the data.",
    "epsilon": "Training example by example stops when the loss is below; else without effect.",
    "delta": "Training stops when the decrease still to be expected is below this share.",
    "type": "0: PA, 1: PA-I, 2: PA-II.",
    "c": "Aggressiveness.",
    "error_sensitive": "A margin that grows with the number of wrong labels.",
    "averaging": "Average the weights.",
    "variance": "Steps are in proportion to it.",
    "gamma": "Softness.",
}
"""The parameters that have an effect."""

_COMMON = {
    "feature.minfreq": 0.0,
    "feature.possible_states": False,
    "feature.possible_transitions": False,
}
_ONLINE = {"max_iterations": 100, "epsilon": 0.0}
DEFAULTS: dict[str, dict[str, Any]] = {
    "lbfgs": {
        **_COMMON, "c1": 0.0, "c2": 1.0, "max_iterations": NO_LIMIT, "num_memories": 6, "epsilon": 1e-5,
        "period": 10, "delta": 1e-5, "linesearch": "MoreThuente", "max_linesearch": 20,
    },
    "l2sgd": {
        **_COMMON, "c2": 1.0, "max_iterations": 1000, "period": 10, "delta": 1e-6, "calibration.eta": 0.1,
        "calibration.rate": 2.0, "calibration.samples": 1000.0, "calibration.candidates": 10,
        "calibration.max_trials": 20,
    },
    "averaged-perceptron": {**_COMMON, **_ONLINE},
    "passive-aggressive": {
        **_COMMON, "type": 1, "c": 1.0, "error_sensitive": True, "averaging": True, **_ONLINE,
    },
    "arow": {**_COMMON, "variance": 1.0, "gamma": 1.0, **_ONLINE},
}  # fmt: skip
"""Algorithm -> name -> default."""

TITLES = {
    "lbfgs": "L-BFGS optimization",
    "l2sgd": "L-BFGS optimization, of the objective of l2sgd",
    "averaged-perceptron": "Averaged perceptron",
    "passive-aggressive": "Passive Aggressive",
    "arow": "Passive Aggressive, in place of AROW",
}
"""The name of an algorithm in the log."""

CHOICES = {"type": (0, 1, 2)}
"""Values that are all there are; CRFsuite takes others for one of them."""

ALIASES = {"ap": "averaged-perceptron", "pa": "passive-aggressive"}


_CALLED = {"type": "type (pa_type)"}


def _listed(name: str) -> str:
    """Return the choices of a parameter, with what they mean."""
    return f"{', '.join(map(str, CHOICES[name]))} ({HELP[name].rstrip('.')})"


def converted(name: str, value: Any, kind: type) -> Any:
    """Return a value as its type; CRFsuite reads what is no number as 0, here it is an
    error.
    """
    try:
        value = value if kind is str else float(value)
        number = kind(int(value)) if kind is bool else kind(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be {kind.__name__}, got {value!r:.80}") from None
    if kind is float and isnan(number):
        raise ValueError(f"{name} must be a number, got nan")
    if number not in CHOICES.get(name, (number,)):
        raise ValueError(
            f"{_CALLED.get(name, name)} must be one of {_listed(name)}, got {value:g}"
        )
    return number
