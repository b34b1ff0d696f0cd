"""Ctrl-C at safe points; at any point for who insists."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

    from .._data.types import Self

KEPT = "training was interrupted; the estimator has the weights that it had reached"
"""The message of an exception after Ctrl-C between two epochs or passes."""

INSISTENT = 3
"""Times that the user has to ask for what runs to be stopped wherever it is."""


class DeferredInterrupt:
    """Context manager that notes Ctrl-C instead of raising it, until its owner asks.

    Outside the main thread, where Python delivers no signals, it does nothing; threads
    that are to stop share that of the main thread. The third Ctrl-C, and each one after
    it, goes to the handler that was there before, which raises: a scorer, a callback or
    a cluster may run for hours before the owner asks. What has been learned may then be
    half written, and is not used.

    Parameters
    ----------
    at_once : bool
        Nothing of what is interrupted will be used, so that there is no point in
        finishing an epoch. The attribute of this name becomes True with the third
        Ctrl-C.

    Attributes
    ----------
    count : int
        How often the user has asked to stop.
    """

    def __init__(self, at_once: bool = False) -> None:
        self.count = 0
        self.at_once = at_once
        self._previous: Any = None  # the handler to restore

    def __enter__(self) -> Self:
        in_main = threading.current_thread() is threading.main_thread()
        # A handler that is no function of Python is not ours to replace.
        if in_main and callable(signal.getsignal(signal.SIGINT)):
            self._previous = signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.stop()
        if self.count >= INSISTENT:
            self.at_once = True
            signal.signal(signal.SIGINT, self._previous)
            self._previous(number, frame)

    def stop(self) -> None:
        """Ask everyone to stop, as the user would."""
        self.count += 1

    def __exit__(self, *exception: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
