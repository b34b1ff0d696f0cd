"""What an object takes in memory."""

import sys

import numpy as np


def memory_of(value):
    """Bytes of a value and of all that it holds, each object once.

    Arrays count as a whole where a view of them is held. Functions, modules and classes count as nothing.
    """
    total, seen, waiting = 0, set(), [value]
    while waiting:
        value = waiting.pop()
        if id(value) in seen or callable(value) and not hasattr(value, "__dict__") or isinstance(value, type):
            continue
        seen.add(id(value))
        if isinstance(value, np.ndarray):
            if value.base is not None:
                waiting.append(value.base)
                continue
            total += value.nbytes
            if value.dtype.hasobject:
                waiting += value.ravel().tolist()
            continue
        total += sys.getsizeof(value, 0)
        if isinstance(value, dict):
            waiting += value.keys()
            waiting += value.values()
        elif isinstance(value, (list, tuple, set, frozenset)):
            waiting += value
        waiting += getattr(value, "__dict__", {}).values()
    return total
