"""The training parameters of CRFsuite: names, types, defaults and what they mean here."""

from math import isnan

NO_LIMIT = 2**31 - 1


def _flag(value):
    return bool(int(value))


_COMMON = {
    "feature.minfreq": (float, 0.0, "The least number of occurrences of a pair of feature and label."),
    "feature.possible_states": (_flag, False, "Weights for all pairs of feature and label."),
    "feature.possible_transitions": (_flag, False, "Weights for all pairs of labels."),
}
_NO_EFFECT = "Accepted, without effect."
_CALIBRATION = {
    "calibration.eta": (float, 0.1, _NO_EFFECT),
    "calibration.rate": (float, 2.0, _NO_EFFECT),
    "calibration.samples": (float, 1000.0, _NO_EFFECT),
    "calibration.candidates": (int, 10, _NO_EFFECT),
    "calibration.max_trials": (int, 20, _NO_EFFECT),
}
_C2 = (float, 1.0, "Coefficient of the L2 penalty.")
_DELTA = "Training stops when the decrease still to be expected is below this share of the objective."


def _iterations(n):
    return {"max_iterations": (int, n, "The most passes over the data.")}


def _epsilon(effect=_NO_EFFECT, default=0.0):
    return {"epsilon": (float, default, effect)}


PARAMETERS = {
    "lbfgs": {
        **_COMMON,
        "c1": (float, 0.0, "Coefficient of the L1 penalty."),
        "c2": _C2,
        **_iterations(NO_LIMIT),
        "num_memories": (int, 6, _NO_EFFECT),
        **_epsilon(default=1e-5),
        "period": (int, 10, _NO_EFFECT),
        "delta": (float, 1e-5, _DELTA),
        "linesearch": (str, "MoreThuente", _NO_EFFECT),
        "max_linesearch": (int, 20, _NO_EFFECT),
    },
    "l2sgd": {
        **_COMMON,
        "c2": _C2,
        **_iterations(1000),
        "period": (int, 10, _NO_EFFECT),
        "delta": (float, 1e-6, _DELTA),
        **_CALIBRATION,
    },
    "averaged-perceptron": {**_COMMON, **_iterations(100), **_epsilon()},
    "passive-aggressive": {
        **_COMMON,
        "type": (int, 1, "0: PA, 1: PA-I, 2: PA-II."),
        "c": (float, 1.0, "Aggressiveness."),
        "error_sensitive": (_flag, True, "A margin that grows with the number of wrong labels."),
        "averaging": (_flag, True, "Average the weights."),
        **_iterations(100),
        **_epsilon(),
    },
    "arow": {
        **_COMMON,
        "variance": (float, 1.0, _NO_EFFECT),
        "gamma": (float, 1.0, "Softness."),
        **_iterations(100),
        **_epsilon(),
    },
}
"""Algorithm -> name -> (type, default, help)."""

ALIASES = {"ap": "averaged-perceptron", "pa": "passive-aggressive"}


def converted(name, kind, value):
    """A value as its type; CRFsuite reads what is no number as 0, here it is an error."""
    try:
        number = kind(float(value)) if kind in (int, _flag) else kind(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be {kind.__name__.strip('_')}, got {value!r:.80}") from None
    if kind is float and isnan(number):
        raise ValueError(f"{name} must be a number, got nan")
    return number
