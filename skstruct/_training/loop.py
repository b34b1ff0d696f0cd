"""The loop over epochs, or over rounds of shards: what is scored, shown and kept after
each, and Ctrl-C.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._saving.container import ModelFileError
from .callbacks import epoch_context
from .held_out import Watch
from .interrupt import KEPT
from .judged import Fit, State, listen

if TYPE_CHECKING:
    from .._data.types import History, Path
    from .interrupt import DeferredInterrupt
    from .run import Run


class LoopSettings(NamedTuple):
    """The settings that a subclass gives to its loop."""

    run: Run  # its estimator and held-out sequences judge the epochs
    owner: Any  # the estimator that is fitted
    n_epochs: int
    stops_early: bool  # whether the epochs may end before
    folder: Path | None  # of checkpoints


class Loop(Fit):
    """Epochs until one is the last; a subclass says what an epoch is.

    Attributes
    ----------
    history : list of dict
    done : int
        Epochs completed.
    resumed_from : int
        Of these, what was read from a checkpoint.
    watch : Watch
    unsaved : bool
        Whether the state after the last epoch is not in the checkpoint: writing takes
        time, so that it is not done after every short epoch.
    """

    history: History
    watch: Watch
    done: int = 0
    resumed_from: int = 0
    unsaved: bool = False
    called: str = "epoch"
    """The name of a turn of the loop in callbacks."""

    surely: bool = False
    """True if the state is written after each epoch, however long that takes; otherwise
    not if writing would take much of the time.
    """

    # -- what a subclass says ----------------------------------------------------------
    @abstractmethod
    def loop_settings(self) -> LoopSettings:
        """Return how many epochs there are, and what judges them."""

    @abstractmethod
    def epoch_arguments(self) -> tuple[Any, ...]:
        """Return what `run_epoch` takes besides the interrupt."""

    @abstractmethod
    def run_epoch(self, *arguments: Any) -> tuple[Any, bool]:
        """Run one epoch.

        Parameters
        ----------
        *arguments
            Those of `epoch_arguments`, and the :class:`.DeferredInterrupt`.

        Returns
        -------
        did : object
            What the epoch did, for `record`.
        complete : bool
            False if Ctrl-C stopped it in the middle.
        """

    @abstractmethod
    def record(self, did: Any, complete: bool) -> dict[str, Any]:
        """Return what ``history_`` says of an epoch."""

    @abstractmethod
    def report(self) -> None:
        """Print the last record if the estimator is verbose."""

    @abstractmethod
    def in_training(self) -> Any:
        """Return the model in training as it is now."""

    @abstractmethod
    def attributes(self) -> dict[str, Any]:
        """Return the fitted attributes as they are now."""

    @abstractmethod
    def set_fitted_attributes(self, for_good: bool = False) -> None:
        """Fit the estimator: set all its fitted attributes at once.

        Parameters
        ----------
        for_good : bool
            The estimator will not be trained further: it gets no training state.
        """

    @abstractmethod
    def checkpoint_state(self) -> State:
        """Return the state that training goes on from."""

    @abstractmethod
    def restore(self, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
        """Go on from a state of `checkpoint_state`.

        Returns
        -------
        NamedTuple
            A model of the form that those in training have.
        """

    # -- the loop ----------------------------------------------------------------------
    def train(
        self,
        X: Any,
        y: Any,
        context: Any = None,
        n_epochs: int | None = None,
        keep_checkpoint: bool = False,
        interrupt: DeferredInterrupt | None = None,
        for_good: bool = False,
    ) -> Any:
        """Run the epochs, and fit the estimator, which is returned.

        Parameters
        ----------
        X, y
            Shown to callbacks.
        context : sklearn.callback.CallbackContext, optional
            Tells scikit-learn's callbacks of the epochs; without one none are told.
        n_epochs : int, optional
            Instead of what the parameters say; such a run writes no checkpoint.
        keep_checkpoint : bool
            Leave the file of a finished run: the caller removes it
            (``self.checkpoint.remove()``).
        interrupt : DeferredInterrupt, optional
            That of the caller, if it is the caller who hears Ctrl-C.
        for_good : bool
            The estimator will not be trained further: it gets no training state, whose
            arrays are let go of.
        """
        run, owner, max_epochs, stops_early, folder = self.loop_settings()
        self.watch = Watch(stops_early)
        ended = False
        if n_epochs is None:
            n_epochs = max_epochs
            ended = folder is not None and self._resume(folder, type(owner).__name__)
        events = epoch_context(context, owner, X, y, self.called)
        began = self.done > 0
        with listen(interrupt) as interrupt:
            try:
                events.begin_fit()
                while not (ended or self.done == n_epochs):
                    events.begin()
                    # In the middle of an epoch there is no state to go on from.
                    self.unsaved = False
                    did, complete = self.run_epoch(*self.epoch_arguments(), interrupt)
                    began = True
                    self.history.append(self.record(did, complete))
                    self.done += complete
                    ended = complete and self._end_epoch(
                        run, events, self.done == n_epochs, keep_checkpoint
                    )
                    if interrupt.count and not ended:
                        raise KeyboardInterrupt(KEPT)
                events.end_fit(self.attributes)
            except BaseException as error:
                try:
                    # The state between two epochs, before what is done at the end.
                    if self.unsaved:
                        self._keep(False, surely=True)
                finally:
                    if (
                        began
                        and isinstance(error, KeyboardInterrupt)
                        and not interrupt.at_once
                    ):
                        self.set_fitted_attributes()
                raise
            self.set_fitted_attributes(for_good)
        if self.checkpoint is not None and not keep_checkpoint:
            self.checkpoint.remove()
        if interrupt.count:  # what comes after the fit is not to begin
            raise KeyboardInterrupt(KEPT)
        return owner

    def _end_epoch(
        self, run: Run, events: Any, last: bool, keep_checkpoint: bool
    ) -> bool:
        """Score, show and keep the result of an epoch, and return whether it was the
        last one.
        """
        stop = self.watch.look(run, self.in_training, self.history[-1])
        after_pass = run.estimator._after_pass
        if after_pass is not None and after_pass(self.history[-1], self.attributes):
            last = True
        self.unsaved = self.checkpoint is not None
        self.report()
        if self.unsaved and (keep_checkpoint or not (stop or last)):
            self._keep(stop, surely=stop or last or self.surely)
        return events.end(self.attributes) or stop or last

    def best(self) -> Any:
        """Return the model in training to keep: that of the best epoch if early
        stopping watches, else the last.
        """
        return self.in_training() if self.watch.best is None else self.watch.best

    def _resume(self, folder: Path, name: str) -> bool:
        """Continue from the checkpoint, if there is one, and return whether early
        stopping had stopped.
        """
        checkpoint = self.open_checkpoint(folder, name)
        found = checkpoint.load()
        if found is None:
            return False
        header, arrays = found
        try:
            self.watch.restore(header, arrays, self.restore(header, arrays))
            self.done = self.resumed_from = header["done"]
            self.history = header["history"]
            return header["stopped"]
        except (KeyError, TypeError, ModelFileError) as error:
            raise checkpoint.refusal(error) from None

    def _keep(self, stopped: bool, surely: bool) -> None:
        """Offer the state to the checkpoint, which there is."""
        assert self.checkpoint is not None
        header, arrays = self.checkpoint_state()
        best, best_arrays = self.watch.state()
        header = {
            "done": self.done,
            "history": list(self.history),
            "stopped": stopped,
            **header,
            **best,
        }
        self.unsaved = not self.checkpoint.offer(
            header, {**arrays, **best_arrays}, surely
        )
