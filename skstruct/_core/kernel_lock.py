"""One process compiles a kernel; others that need it meanwhile wait and load it.

Workers of a search, of a cluster or of a test run start together and need the same
kernels at the same moment. Without a lock each of them compiles for seconds what one of
them is about to save.

A lock is advice. Where none can be had (no ``fcntl``, no folder to write to, a process
that does not end) a kernel is compiled twice, and nothing else changes.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import IO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LONGEST_WAIT = 60.0
"""Seconds after which a process compiles by itself, whatever the other one does."""

_PAUSE = 0.02
"""Seconds between two looks at a lock that another process holds."""


class KernelLock:
    """The right to compile one kernel, which one process has at a time.

    The operating system takes it from a process that ends. Processes wait for one
    another only along the calls of kernels, from a caller to its helper, so that no two
    of them can wait for each other.
    """

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None

    def acquire(self, path: str) -> bool:
        """Take the lock that belongs to the file of a kernel.

        Parameters
        ----------
        path : str
            Where the compiled kernel will be saved.

        Returns
        -------
        bool
            Whether another process had the lock: the kernel may be there now.
        """
        self.release()
        if fcntl is None:
            return False
        waited = False
        with suppress(OSError):
            file = open(f"{path}.lock", "wb")
            try:
                until = time.monotonic() + LONGEST_WAIT
                while not _take(file):
                    waited = True
                    if time.monotonic() > until:
                        return True
                    time.sleep(_PAUSE)
                self._file = file
            finally:
                if self._file is not file:
                    file.close()
        return waited

    def release(self) -> None:
        """Let others have it; nothing happens if it is not held."""
        file = self._file
        if file is None:
            return
        self._file = None
        with suppress(OSError):
            os.unlink(file.name)
        # A process that was forked meanwhile has the file open, too: closing it here
        # would not be enough.
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)
        file.close()


def _take(file: IO[bytes]) -> bool:
    """Return whether the lock could be taken at once."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
