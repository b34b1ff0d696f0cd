"""The state of one fit on disk, so that a fit that was killed goes on where it was.

Training is a pure function of the state between two epochs, so that arrays and a few
numbers are all there is to keep. They go into one checked file (``_saving.container``)
whose name is a fingerprint of parameters and data, the same in each process: every fit
finds its own file and no other. A large state is written only if training has taken
much longer since the last one than writing takes, so that a fit costs hardly more.

Knows arrays, no learner.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
import os
import secrets
import time
import types
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._data.inputs import describe
from .._saving.container import ModelFileError, read_container, write_container
from .._saving.forms import FASTEST
from .._version import __version__
from .chunks import with_arrays_changed

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from .._data.types import Path
    from .loop import State

KIND = "checkpoint"

SMALL_BYTES = 2**20
"""States up to this size are written whenever they are offered."""

MOST_TIME = 0.02
"""Share of the time that writing larger states may take."""

OLD_SECONDS = 3600.0
"""Age from which a temporary file belongs to nobody any more."""


# --------------------------------------------------------------------------------------
# Named tuples of arrays, as flat dictionaries
# --------------------------------------------------------------------------------------
def arrays_of(value: Any, name: str) -> dict[str, np.ndarray]:
    """Collect the arrays in nested named tuples, in order, by their path of fields,
    which begins with ``name``.
    """
    found: dict[str, np.ndarray] = {}
    with_arrays_changed(value, found.setdefault, name)
    return found


def with_arrays(value: Any, name: str, arrays: dict[str, np.ndarray]) -> Any:
    """Replace the arrays in nested named tuples by those that :func:`arrays_of` gave.

    Raises
    ------
    ModelFileError
        If an array is missing, or of another type or number of dimensions.
    """

    def kept(name: str, array: np.ndarray) -> np.ndarray:
        found = arrays.get(name)
        if found is None or found.dtype != array.dtype or found.ndim != array.ndim:
            raise ModelFileError(f"{name} is not what this fit needs")
        return found

    return with_arrays_changed(value, kept, name)


# --------------------------------------------------------------------------------------
# The file
# --------------------------------------------------------------------------------------
class Checkpoint:
    """The file of one fit.

    Parameters
    ----------
    folder : str or os.PathLike
        Created if there is none.
    name : str
        For people: what is trained.
    fingerprint : str
        See :func:`fingerprint`.
    """

    def __init__(self, folder: Path, name: str, fingerprint: str) -> None:
        folder = os.fspath(folder)
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, f"{name}-{fingerprint}.checkpoint")
        self._fingerprint = fingerprint
        self._ended = -np.inf  # when the last state was written
        self._seconds = 0.0  # and how long that took
        self._remove_leftovers()

    def _remove_leftovers(self) -> None:
        """Delete temporary files of this fit that a killed process left behind."""
        folder, name = os.path.split(self.path)
        for file in os.scandir(folder):
            if file.name.startswith(f".{name}.") and file.name.endswith(".tmp"):
                with contextlib.suppress(OSError):
                    if time.time() - file.stat().st_mtime > OLD_SECONDS:
                        os.unlink(file)

    def load(self) -> State | None:
        """Read the last state written: (header, arrays), or None if there is no file.

        Raises
        ------
        ModelFileError
            If the file is damaged, not this fit's, or from another feature release of
            numpy: their random numbers may differ (NEP 19).
        """
        try:
            header, arrays = read_container(self.path, kind=KIND)
            if header.get("fingerprint") != self._fingerprint:
                raise ModelFileError("it belongs to another fit")
            written = header.get("numpy", np.__version__)
            release = written.split(".")[:2]
            if release != np.__version__.split(".")[:2]:
                raise ModelFileError(
                    f"it was written with numpy {written}, and random numbers of numpy "
                    f"{np.__version__} may differ. Install numpy {written} to go on"
                )
            return header["state"], arrays
        except FileNotFoundError:
            return None
        except (ModelFileError, KeyError) as error:
            raise self.refusal(error) from None

    def refusal(self, reason: object) -> ModelFileError:
        """Return the error that says this file cannot be used."""
        return ModelFileError(
            f"the checkpoint {self.path!r} cannot be used: {reason}. Remove it to start "
            f"from the beginning"
        )

    def offer(
        self, state: dict[str, Any], arrays: dict[str, np.ndarray], surely: bool = False
    ) -> bool:
        """Write a state, unless it is a large one and the last was written a short
        while ago.

        Parameters
        ----------
        state : dict
            What JSON gives back unchanged.
        arrays : dict of str to ndarray
        surely : bool
            Write it in any case.

        Returns
        -------
        bool
            Whether the state was written.
        """
        began = time.perf_counter()
        small = sum(array.nbytes for array in arrays.values()) <= SMALL_BYTES
        if not (surely or small or (began - self._ended) * MOST_TIME >= self._seconds):
            return False
        folder, name = os.path.split(self.path)
        header = {
            "kind": KIND,
            "fingerprint": self._fingerprint,
            "numpy": np.__version__,
            "state": state,
        }
        # The same fit may run in another process, or thread, at the same time.
        temporary = os.path.join(folder, f".{name}.{secrets.token_hex(8)}.tmp")
        write_container(self.path, header, arrays, FASTEST, temporary)
        self._ended = time.perf_counter()
        self._seconds = self._ended - began
        return True

    def remove(self) -> None:
        """Delete the file: the fit is complete."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)


def fingerprint(facts: Any, arrays: dict[str, np.ndarray]) -> str:
    """Digest facts, arrays and the version of the package, and return hexadecimal
    digits.

    Another version may train in another way, so that a state of one is nothing that the
    other can go on from.

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
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _plain(value: Any) -> Any:
    """Write what JSON lacks in what it has: an array (its ``repr`` leaves out most of
    it), a set, a number of numpy, an object.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        return [value.dtype.str, value.tolist()]
    if isinstance(value, (set, frozenset)):
        # Their own order differs from process to process.
        return sorted(map(repr, value))
    if isinstance(value, types.FunctionType):
        # Not the name alone: all functions written as ``lambda`` in one place have the
        # same.
        outer = inspect.getclosurevars(value)
        numbers = {
            n: v
            for n, v in outer.globals.items()
            if isinstance(v, (bool, int, float, str))
        }
        defaults = value.__defaults__, value.__kwdefaults__
        return [_name(value), value.__code__, defaults, outer.nonlocals, numbers]
    if isinstance(value, types.CodeType):
        return [value.co_code.hex(), value.co_names, value.co_consts]
    if isinstance(value, types.MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if hasattr(value, "__qualname__"):  # a class, or a function in C
        return _name(value)
    state = getattr(value, "__dict__", None)
    call = type(value).__call__ if callable(value) else None
    if state or call is not None:
        return [
            _name(type(value)),
            state,
            call if isinstance(call, types.FunctionType) else None,
        ]
    text = repr(value)
    if " at 0x" in text:  # an address in memory
        raise ValueError(
            f"checkpoint: nothing tells {describe(value)} from others of its type in "
            f"another process; give the type a __repr__"
        )
    return text


def _name(value: Any) -> str:
    """Name a class or a function in full."""
    return f"{value.__module__}.{value.__qualname__}"


def seed_of_draws(estimator: Any, drawn_from: np.ndarray, kept: bool) -> Any:
    """Return what a fit draws its data from, such as its held-out sequences.

    It is ``random_state``. Without one, a fit whose state is ``kept`` in a checkpoint
    has a seed that its parameters and data decide: another draw would be another fit,
    which finds no state to go on from.

    Parameters
    ----------
    estimator : estimator
    drawn_from : ndarray
        What tells these data from others, such as the sequences to draw from.
    kept : bool
    """
    if estimator.random_state is not None or not kept:
        return estimator.random_state
    return seed_of_data(estimator, drawn_from)


def seed_of_data(estimator: Any, drawn_from: np.ndarray) -> int:
    """Return a seed that an estimator's parameters and data decide."""
    facts = type(estimator).__name__, simple_parameters(estimator)
    return int(fingerprint(facts, {"drawn_from": drawn_from})[:8], 16)


def simple_parameters(estimator: BaseEstimator) -> dict[str, Any]:
    """Return the constructor parameters that are numbers, strings or flags, but for
    those without effect.

    ``random_state`` counts only if it is an int, ``scoring`` elsewhere, if there is
    something to score. Other parameters (templates, constraints, costs) show in the
    encoded corpus.
    """
    idle = {"checkpoint", "n_jobs", "scoring", "verbose"}
    return {
        name: value if not isinstance(value, np.generic) else value.item()
        for name, value in sorted(estimator.get_params(deep=False).items())
        if name not in idle
        and isinstance(value, (bool, int, float, str, type(None), np.generic))
    }
