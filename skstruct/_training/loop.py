"""The loop over epochs, or over rounds of shards: what is scored, shown and kept after
each, and Ctrl-C.
"""

from contextlib import nullcontext

from .._saving.container import ModelFileError
from .._sklearn import epoch_context
from .checkpoint import Checkpoint, fingerprint
from .held_out import Watch
from .interrupt import DeferredInterrupt


class Loop:
    """Epochs until one is the last.

    A subclass has

    - ``about()``: the :class:`.run.Run` whose estimator and held-out sequences judge
      the epochs; the estimator that is fitted; the number of epochs; whether they may
      stop early; the folder of checkpoints;
    - ``run_epoch(*epoch_arguments(), interrupt)``: one epoch; returns what it did and
      whether that was all;
    - ``record(did, complete)``: the same as ``history`` has it; and ``report()``, which
      prints it;
    - ``in_training()``: the model as it is now;
    - ``attributes()``: the fitted attributes as they are now; ``commit(for_good)`` sets
      them;
    - ``identity()``: facts and arrays that the outcome depends on (see
      :func:`.checkpoint.fingerprint`);
    - ``kept()``: the state as (header, arrays); ``take_over(header, arrays)`` goes on
      from it, and returns a model of the form that those in training have.

    Attributes
    ----------
    history : list of dict
    done : int
        Epochs completed.
    resumed_from : int
        Of these, what was read from a checkpoint.
    watch : Watch
    checkpoint : Checkpoint or None
    unsaved : bool
        Whether it was too early to write the state that was offered last.
    """

    done = 0
    resumed_from = 0
    checkpoint = None
    unsaved = False
    called = "epoch"
    surely = False
    """Whether the state is written after each epoch, however long that takes."""

    def train(
        self,
        X,
        y,
        context=None,
        n_epochs=None,
        keep_checkpoint=False,
        interrupt=None,
        for_good=False,
    ):
        """Run the epochs; returns the estimator, fitted.

        Parameters
        ----------
        X, y
            Shown to callbacks.
        context : optional
            Of the callbacks.
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
        run, owner, most, stops, folder = self.about()
        self.watch = Watch(stops)
        ended = False
        if n_epochs is None:
            n_epochs = most
            ended = folder is not None and self._resume(folder, type(owner).__name__)
        events = epoch_context(context, owner, X, y, self.called)
        began = self.done > 0
        with (
            DeferredInterrupt()
            if interrupt is None
            else nullcontext(interrupt) as interrupt
        ):
            try:
                events.begin_fit()
                while not (ended or self.done == n_epochs):
                    events.begin()
                    self.unsaved = (
                        False  # what was offered last is then no state to go on from
                    )
                    did, complete = self.run_epoch(*self.epoch_arguments(), interrupt)
                    began = True
                    self.history.append(self.record(did, complete))
                    self.done += complete
                    ended = complete and self._end_epoch(
                        run, events, self.done == n_epochs, keep_checkpoint
                    )
                    if interrupt.count and not ended:
                        raise KeyboardInterrupt
                events.end_fit(self.attributes)
            except BaseException as error:
                try:
                    if self.unsaved:  # the state between two epochs, before what is done to it at the end
                        self._keep(False, surely=True)
                finally:
                    if (
                        began
                        and isinstance(error, KeyboardInterrupt)
                        and not interrupt.at_once
                    ):
                        self.commit()
                raise
            self.commit(for_good)
        if self.checkpoint is not None and not keep_checkpoint:
            self.checkpoint.remove()
        if interrupt.count:  # what comes after the fit is not to begin
            raise KeyboardInterrupt
        return owner

    def _end_epoch(self, run, events, last, keep_checkpoint):
        """Score, show and keep what an epoch has learned; returns whether it was the
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

    def best(self):
        """The model in training to keep: that of the best epoch if early stopping
        watches, else the last.
        """
        return self.in_training() if self.watch.best is None else self.watch.best

    def _resume(self, folder, name):
        """Go on from the checkpoint, if there is one; whether early stopping had
        stopped.
        """
        self.checkpoint = Checkpoint(folder, name, fingerprint(*self.identity()))
        found = self.checkpoint.load()
        if found is None:
            return False
        header, arrays = found
        try:
            self.watch.restore(header, arrays, self.take_over(header, arrays))
            self.done = self.resumed_from = header["done"]
            self.history = header["history"]
            return header["stopped"]
        except (KeyError, TypeError, ModelFileError) as error:
            raise self.checkpoint.refusal(error) from None

    def _keep(self, stopped, surely):
        """Offer the state to the checkpoint."""
        (header, arrays), (best, best_arrays) = self.kept(), self.watch.state()
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
