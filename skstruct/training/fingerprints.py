"""What tells one fit from another: a digest of parameters, data and scorer, the same in each process."""

import hashlib
import json
import types
from functools import partial

import numpy as np

from .._version import __version__
from ..data.inputs import describe


def fingerprint(facts, arrays):
    """A hexadecimal digest of facts, arrays (name: array) and the version of the package.

    Another version may train in another way, so that a state of one is nothing that the other can go on from.

    Parameters
    ----------
    facts : dict
        What JSON takes, and what :func:`_plain` makes such.
    arrays : dict of str to ndarray

    Raises
    ------
    ValueError
        If nothing tells a value of ``facts`` from others of its type.
    """
    text = json.dumps([__version__, facts], sort_keys=True, default=_plain)
    digest = hashlib.blake2b(text.encode(), digest_size=20)
    for name, array in arrays.items():
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
    return digest.hexdigest()


def _plain(value):
    """What JSON lacks: an array (its ``repr`` leaves out most of it), a set, a number of numpy, an object."""
    if isinstance(value, np.ndarray):
        return [value.dtype.str, value.tolist()]
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))  # their own order differs from process to process
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, types.FunctionType):
        # Not the name alone: all functions written as ``lambda`` in one place have the same.
        outer = [cell.cell_contents for cell in value.__closure__ or ()]
        numbers = {n: value.__globals__.get(n) for n in value.__code__.co_names}
        numbers = {n: v for n, v in numbers.items() if isinstance(v, (bool, int, float, str))}
        return [_name(value), value.__code__, value.__defaults__, value.__kwdefaults__, outer, numbers]
    if isinstance(value, types.CodeType):
        return [value.co_code.hex(), value.co_names, value.co_consts]
    if isinstance(value, types.MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if hasattr(value, "__qualname__"):  # a class, or a function in C
        return _name(value)
    state, call = getattr(value, "__dict__", None), type(value).__call__ if callable(value) else None
    if state or call is not None:
        return [_name(type(value)), state, call if isinstance(call, types.FunctionType) else None]
    text = repr(value)
    if " at 0x" in text:  # an address in memory
        raise ValueError(
            f"checkpoint: nothing tells {describe(value)} from others of its type in another process; give "
            f"the type a __repr__"
        )
    return text


def _name(value):
    return f"{value.__module__}.{value.__qualname__}"


def simple_parameters(estimator):
    """The constructor parameters that are numbers, strings or flags, but for those without effect.

    ``random_state`` counts only if it is an int, ``scoring`` elsewhere, if there is something to score. Other
    parameters (templates, constraints, costs) show in the encoded corpus.
    """
    idle = {"checkpoint", "n_jobs", "scoring", "verbose"}
    return {
        name: value if not isinstance(value, np.generic) else value.item()
        for name, value in sorted(estimator.get_params(deep=False).items())
        if name not in idle and isinstance(value, (bool, int, float, str, type(None), np.generic))
    }
