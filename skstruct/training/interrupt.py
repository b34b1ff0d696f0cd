"""Ctrl-C at safe points only."""

import signal
import threading


class DeferredInterrupt:
    """Context manager that notes Ctrl-C instead of raising it, until its owner asks.

    Outside the main thread, where Python delivers no signals, it does nothing; threads that are to stop
    share that of the main thread.

    Parameters
    ----------
    at_once : bool
        Nothing of what is interrupted will be used, so that there is no point in finishing an epoch.

    Attributes
    ----------
    count : int
        How often the user has asked to stop.
    """

    def __init__(self, at_once=False):
        self.count, self.at_once = 0, at_once
        self._previous = None

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.getsignal(signal.SIGINT)
            if callable(self._previous):
                signal.signal(signal.SIGINT, self._note)
            else:  # ignored, or handled outside Python: leave it
                self._previous = None
        return self

    def _note(self, number, frame):
        self.stop()

    def stop(self):
        """Ask everyone to stop, as the user would."""
        self.count += 1

    def __exit__(self, *exception):
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
