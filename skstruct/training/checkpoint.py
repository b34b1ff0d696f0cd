"""The state of one fit on disk, so that a fit that was killed goes on where it was.

Training is a pure function of the state between two epochs, so that arrays and a few numbers are
all there is to keep. They go into one checked file (``saving.container``) whose name is a fingerprint of
parameters and data: every fit finds its own file and no other. Writing happens on a thread while the next
epoch runs; an epoch that ends before the last state is on disk is not waited for.

Knows arrays, no learner.
"""

import contextlib
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..core.compile import kernel
from ..saving.container import ModelFileError, read_container, write_container

KIND = "checkpoint"

SMALL_BYTES = 2**20
"""States up to this size are written at once, without a thread."""

_SPARSE_FROM = 4096
"""Entries from which an array that is mostly zero is stored by its other entries."""


# --------------------------------------------------------------------------------------------------
# Named tuples of arrays, as flat dictionaries
# --------------------------------------------------------------------------------------------------
def arrays_of(value, name):
    """{path: array} of the arrays in nested named tuples, in order."""
    if isinstance(value, np.ndarray):
        return {name: value}
    if not isinstance(value, tuple):
        return {}
    names = getattr(value, "_fields", range(len(value)))
    out = {}
    for field, part in zip(names, value):
        out.update(arrays_of(part, f"{name}.{field}"))
    return out


def with_arrays(value, name, arrays):
    """``value`` with its arrays replaced by those of :func:`arrays_of`.

    Raises
    ------
    ModelFileError
        If an array is missing, or of another type or number of dimensions.
    """
    if isinstance(value, np.ndarray):
        found = arrays.get(name)
        if found is None or found.dtype != value.dtype or found.ndim != value.ndim:
            raise ModelFileError(f"{name} is not what this fit needs")
        return found
    if not isinstance(value, tuple):
        return value
    names = getattr(value, "_fields", range(len(value)))
    parts = [with_arrays(part, f"{name}.{field}", arrays) for field, part in zip(names, value)]
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)


@kernel
def _pack(bits, places, entries):
    """Collect what is not zero; returns how many, or -1 if there is no room for them."""
    n = 0
    for k in range(bits.shape[0]):
        places[n], entries[n] = k, bits[k]
        n += bits[k] != 0
        if n == places.shape[0]:
            return -1
    return n


def _packed(arrays, room):
    """Copies of the arrays; those that are mostly zero as (size, places, entries).

    ``room`` keeps their memory from one call to the next, which is a third of the time.
    """
    out = {}
    for name, array in arrays.items():
        size = array.shape[0] if array.ndim == 1 else 0
        if array.dtype.itemsize == 8 and _SPARSE_FROM <= size < 2**31:
            if name not in room or room[name][0].shape[0] != size // 2:
                room[name] = np.empty(size // 2, np.int32), np.empty(size // 2, np.int64)
            places, entries = room[name]
            n = _pack(array.view(np.int64), places, entries)  # the bits: -0.0 is not zero
            if n >= 0:
                out[f"{name}:size"] = np.array([size], np.int64)
                out[f"{name}:places"] = places[:n]
                out[name] = entries[:n].view(array.dtype)
                continue
            del room[name]
        out[name] = array.copy()
    return out


def _unpacked(arrays):
    out = {}
    for name, array in arrays.items():
        if name.endswith((":size", ":places")):
            continue
        if f"{name}:places" in arrays:
            size, places = int(arrays[f"{name}:size"][0]), arrays[f"{name}:places"]
            if array.shape != places.shape or (
                places.size and not (0 <= places.min() and places.max() < size)
            ):
                raise ModelFileError(f"{name} has places out of range")
            full = np.zeros(size, array.dtype)
            full[places] = array
            array = full
        out[name] = array
    return out


# --------------------------------------------------------------------------------------------------
# The file
# --------------------------------------------------------------------------------------------------
class Checkpoint:
    """The file of one fit.

    Parameters
    ----------
    folder : str or os.PathLike
        Created if there is none.
    name : str
        For people: what is trained.
    fingerprint : str
        See :func:`.fingerprints.fingerprint`.
    """

    def __init__(self, folder, name, fingerprint):
        folder = os.fspath(folder)
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, f"{name}-{fingerprint}.checkpoint")
        self._fingerprint = fingerprint
        self._pool = self._writing = None
        self._room, self._over = {}, False
        self._remove_leftovers()

    def _remove_leftovers(self):
        """Temporary files of this fit that a killed process left behind."""
        folder, name = os.path.split(self.path)
        for file in os.listdir(folder):
            if file.startswith(f".{name}.") and file.endswith(".tmp"):
                owner = file[len(name) + 2 : -len(".tmp")].partition(".")[0]
                if not (owner.isdigit() and _is_alive(int(owner))):
                    with contextlib.suppress(OSError):
                        os.unlink(os.path.join(folder, file))

    def load(self):
        """(header, arrays) of the last state written, or None.

        Raises
        ------
        ModelFileError
            If the file is damaged, not this fit's, or from another feature release of numpy: their
            random numbers may differ (NEP 19).
        """
        try:
            header, arrays = read_container(self.path, kind=KIND)
            if header.get("fingerprint") != self._fingerprint:
                raise ModelFileError("it belongs to another fit")
            written = header.get("numpy", np.__version__)
            if _feature_release(written) != _feature_release(np.__version__):
                raise ModelFileError(
                    f"it was written with numpy {written}, and random numbers of numpy {np.__version__} may "
                    f"differ. Install numpy {written} to go on"
                )
            return header["state"], _unpacked(arrays)
        except FileNotFoundError:
            return None
        except (ModelFileError, KeyError) as error:
            raise self.refusal(error) from None

    def refusal(self, reason):
        """The error that says this file cannot be used."""
        return ModelFileError(
            f"the checkpoint {self.path!r} cannot be used: {reason}. Remove it to start from the beginning"
        )

    def offer(self, state, arrays):
        """Write a state, now or on a thread; not at all if the thread is still writing an earlier one.

        Parameters
        ----------
        state : dict
            What JSON gives back unchanged.
        arrays : dict of str to ndarray
            Copied before this returns.

        Returns
        -------
        bool
            Whether the state was taken.
        """
        size = sum(array.nbytes for array in arrays.values())
        if size <= SMALL_BYTES:
            self._write(state, _packed(arrays, self._room))
            return True
        if self._writing is not None and not self._writing.done():
            return False
        self.finish()
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1)
        self._writing = self._pool.submit(self._write, state, _packed(arrays, self._room))
        return True

    def _write(self, state, arrays):
        folder, name = os.path.split(self.path)
        # The same fit may run in another process, or thread, at the same time.
        writer = f"{os.getpid()}.{threading.get_ident()}"
        with contextlib.suppress(_Over):
            write_container(
                self.path,
                {
                    "kind": KIND,
                    "fingerprint": self._fingerprint,
                    "numpy": np.__version__,
                    "state": state,
                },
                arrays,
                temporary=os.path.join(folder, f".{name}.{writer}.tmp"),
                proceed=self._proceed,
            )

    def _proceed(self):
        if self._over:
            raise _Over

    def finish(self):
        """Wait for the thread; errors of writing are raised here."""
        if self._writing is not None:
            writing, self._writing = self._writing, None
            writing.result()

    def close(self):
        """Stop the writer thread. Call it however the fit ends."""
        try:
            self.finish()
        finally:
            if self._pool is not None:
                self._pool.shutdown()
                self._pool = None

    def remove(self):
        """Delete the file and cancel a pending write: the fit is complete."""
        self._over = True
        self.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)


class _Over(Exception):
    """Raised in the writer thread to cancel a write."""


def _feature_release(version):
    """``"2.1"`` of ``"2.1.3"``."""
    return version.split(".")[:2]


def _is_alive(process):
    """Whether a process with this number runs; true if that cannot be known."""
    if sys.platform == "win32":
        return _is_alive_on_windows(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _is_alive_on_windows(process):
    """The same where ``os.kill(process, 0)`` would interrupt it: there 0 is ``signal.CTRL_C_EVENT``."""
    import ctypes

    synchronize, invalid_parameter, timed_out = 0x00100000, 87, 0x102
    kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel32.OpenProcess.restype = ctypes.c_void_p  # a handle has the size of a pointer, not of an int
    handle = kernel32.OpenProcess(synchronize, False, ctypes.c_uint32(process))
    if not handle:  # there is none of this number, or this user may not open it
        return ctypes.get_last_error() != invalid_parameter
    handle = ctypes.c_void_p(handle)
    try:
        return kernel32.WaitForSingleObject(handle, 0) == timed_out  # else it has ended
    finally:
        kernel32.CloseHandle(handle)
