"""Weights as numbers of a file: integers over a common denominator, floats, or rounded integers."""

import math
from fractions import Fraction

import numpy as np

WEIGHTS = ("exact", "int16", "int8")

_SAMPLE = 200
_LARGEST_DENOMINATOR = 2**40


def as_numbers(tables, weights):
    """Weights as they are written.

    Parameters
    ----------
    tables : list of ndarray of float64
    weights : {"exact", "int16", "int8"}

    Returns
    -------
    tables : list of ndarray
        int64, float32 or float64, all of one type.
    divisor : int
        What integers are divided by.
    step : float
        What scores, sums of these numbers, are multiplied by.
    """
    every = np.concatenate(tables)
    if weights != "exact":
        most = 32767 if weights == "int16" else 127
        step = float(np.abs(every).max(initial=0.0)) / most or 1.0
        return [np.rint(table / step).astype(np.int64) for table in tables], 1, step
    divisor = common_denominator(every)
    if divisor is not None:
        return [np.rint(table * divisor).astype(np.int64) for table in tables], divisor, 1.0
    narrow = every.astype(np.float32)
    kind = np.float32 if np.array_equal(narrow.astype(np.float64), every) else np.float64
    return [table.astype(kind) for table in tables], 1, 1.0


def common_denominator(weights):
    """The int d for which every weight is the float64 nearest to an integer over d; None if there is none.

    Averages over n steps are such: d is n, or a part of it.
    """
    some = weights[:: max(1, weights.shape[0] // _SAMPLE)]
    d = 1
    for w in some.tolist():
        found = Fraction(w)
        for limit in (10**3, 10**5, 10**7):
            near = Fraction(w).limit_denominator(limit)
            if near.numerator / near.denominator == w:
                found = near
                break
        d = math.lcm(d, found.denominator)
        if d > _LARGEST_DENOMINATOR:
            return None
    whole = np.rint(weights * d)
    if np.abs(whole).max(initial=0.0) >= 2**31:  # twice as much has to fit into four bytes
        return None
    return d if np.array_equal(whole / d, weights) else None
