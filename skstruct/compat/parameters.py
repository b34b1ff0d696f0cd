"""The training parameters of CRFsuite: names, types, defaults and what they mean here."""

from math import isnan

NO_LIMIT = 2**31 - 1


def _flag(value):
    return bool(int(value))


_NO_EFFECT = "Accepted, without effect."
MEANINGS = {
    "feature.minfreq": (float, "The least number of occurrences of a pair of feature and label."),
    "feature.possible_states": (_flag, "Weights for all pairs of feature and label."),
    "feature.possible_transitions": (_flag, "Weights for all pairs of labels."),
    "c1": (float, "Coefficient of the L1 penalty."),
    "c2": (float, "Coefficient of the L2 penalty."),
    "max_iterations": (int, "The most passes over the data."),
    "num_memories": (int, _NO_EFFECT),
    "epsilon": (float, "Training example by example stops when the loss is below; else without effect."),
    "period": (int, _NO_EFFECT),
    "delta": (float, "Training stops when the decrease still to be expected is below this share."),
    "linesearch": (str, _NO_EFFECT),
    "max_linesearch": (int, _NO_EFFECT),
    "calibration.eta": (float, _NO_EFFECT),
    "calibration.rate": (float, _NO_EFFECT),
    "calibration.samples": (float, _NO_EFFECT),
    "calibration.candidates": (int, _NO_EFFECT),
    "calibration.max_trials": (int, _NO_EFFECT),
    "type": (int, "0: PA, 1: PA-I, 2: PA-II."),
    "c": (float, "Aggressiveness."),
    "error_sensitive": (_flag, "A margin that grows with the number of wrong labels."),
    "averaging": (_flag, "Average the weights."),
    "variance": (float, "The longest step is in proportion to it."),
    "gamma": (float, "Softness."),
}
"""Name -> (type, help)."""

_COMMON = {"feature.minfreq": 0.0, "feature.possible_states": False, "feature.possible_transitions": False}
_ONLINE = {"max_iterations": 100, "epsilon": 0.0}
DEFAULTS = {
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

ALIASES = {"ap": "averaged-perceptron", "pa": "passive-aggressive"}


def converted(name, value):
    """A value as its type; CRFsuite reads what is no number as 0, here it is an error."""
    kind = MEANINGS[name][0]
    try:
        number = kind(float(value)) if kind in (int, _flag) else kind(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be {kind.__name__.strip('_')}, got {value!r:.80}") from None
    if kind is float and isnan(number):
        raise ValueError(f"{name} must be a number, got nan")
    return number
