"""The rounds of parameter mixing: training, mixing, their record, and their state on disk.

The next round needs nothing but the mixed weights, so a checkpoint holds these, wherever the shards are.
One shard alone is not mixed: its own model takes their place.
"""

import time

from ..cluster.pieces import add_changes
from ..cluster.shards import shard_key
from ..cluster.weights import mixture
from ..saving.container import ModelFileError
from ..training.checkpoint import Checkpoint, arrays_of, fingerprint, with_arrays
from ..training.interrupt import DeferredInterrupt


class Rounds:
    """Rounds over the shards of a crew.

    Parameters
    ----------
    crew : LocalShards or DaskShards
        Its shards know the features and labels of all (``Shard.join``).
    mixed : Mixture
        Its weights are zero.
    run : Run
        Makes fitted models of mixed weights; its state has the random key of the whole fit.
    mixing : str
        See ``cluster.weights.mixture``.
    n_rounds, n_epochs : int
        Rounds, and epochs of each.
    n_examples, n_tokens : int
        Of all shards.
    watch : Watch
        Scores the mixed model after each round.

    Attributes
    ----------
    history : list of dict
    resumed_from : int
        Rounds that were read from a checkpoint.
    """

    def __init__(self, crew, mixed, run, mixing, n_rounds, n_epochs, n_examples, n_tokens, watch):
        self.crew, self.mixed, self.run, self.mixing = crew, mixed, run, mixing
        self.n_rounds, self.n_epochs = n_rounds, n_epochs
        self.n_examples, self.n_tokens = n_examples, n_tokens
        self.alone, self.watch = crew.n_shards == 1, watch
        self.history, self.resumed_from, self.checkpoint = [], 0, None

    def train(self, events, attributes):
        """All rounds; returns whether an interrupt ended them early.

        Parameters
        ----------
        events : epoch_context
            Hears of the rounds, and may stop them.
        attributes : callable
            Returns the fitted attributes after the rounds so far.
        """
        complete = False
        try:
            with DeferredInterrupt() as interrupt:
                events.begin_fit()
                complete = len(self.history) == self.n_rounds
                while not (complete or interrupt.count):
                    events.begin()
                    last = self._round() or len(self.history) == self.n_rounds
                    if self.checkpoint is not None and not last:
                        self._keep()
                    complete = events.end(attributes) or last
                if complete:
                    events.end_fit(attributes)
                return bool(interrupt.count)
        except KeyboardInterrupt:  # a callback's, or one in the midst of a round
            if not self.history or interrupt.at_once:
                raise
            return True
        finally:
            if self.checkpoint is not None and complete:
                self.checkpoint.remove()

    def model(self):
        """The structure's model after the rounds so far."""
        return self.crew.ask("model")[0] if self.alone else self.mixed.result()

    def best(self):
        """The same of the best round, if there is early stopping."""
        return self.model() if self.watch.best is None else self.watch.best

    def _round(self):
        """Train and mix once; returns whether to stop early."""
        crew, done = self.crew, len(self.history)
        began, sent, received = time.perf_counter(), crew.sent, crew.received

        def shared(full=True):
            return done, self.n_epochs, None if self.alone else self.mixed.start(full)

        # After a resumption the shards know nothing of the rounds before.
        now = shared(full=done == self.resumed_from)
        reports = crew.step("train", shared=now, anew=shared, adds=self.alone)
        updates = [report.updates for report in reports]
        share = mixture(self.mixing, updates)
        if not self.alone:
            coefficients = self.mixed.coefficients(reports, share)
            self.mixed.mix(crew.total("changes", add_changes, coefficients, self.mixed.nonzero), len(reports))
        self.history.append(
            {
                "round": done + 1,
                "updates": sum(updates),
                "sequence_error": sum(updates) / (self.n_examples * self.n_epochs),
                "token_error": sum(r.wrong_tokens for r in reports) / (self.n_tokens * self.n_epochs),
                "loss": sum(report.loss for report in reports),
                "mixture": share.tolist(),
                "bytes_sent": crew.sent - sent,
                "bytes_received": crew.received - received,
                "seconds": time.perf_counter() - began,
            }
        )
        record = self.history[-1]
        stop = self.run.held_out is not None and self.watch.look(self.model(), record)
        if self.run.estimator.verbose:
            megabytes = (record["bytes_sent"] + record["bytes_received"]) / 1e6
            print(
                f"round {done + 1}: {record['updates']} updates, token error "
                f"{record['token_error']:.4f}, {megabytes:.1f} MB, {record['seconds']:.2f} s"
                + self.run.held_out_text(record),
                flush=True,
            )
        return stop

    # -- checkpoints -------------------------------------------------------------------------------
    def keep_in(self, folder, facts):
        """Keep the state in a folder after each round, and go on from what it holds.

        Parameters
        ----------
        folder : str or os.PathLike
        facts : dict
            What the outcome depends on, besides the shards and what the run knows.

        Raises
        ------
        ModelFileError
            If the file of this fit is damaged.
        """
        facts = {**facts, "rule": list(self.run.state.rule), "shards": self.crew.ask("fingerprint")}
        arrays = arrays_of(self.run.prior(), "fit")
        self.checkpoint = Checkpoint(folder, "ParameterMixer", fingerprint(facts, arrays))
        found = self.checkpoint.load()
        if found is None:
            return
        header, arrays = found
        try:
            key, history, model = header["key"], header["history"], None
            if self.alone:
                model = with_arrays(self.run.fresh(key).model, "model", arrays)
            else:
                self.mixed.restore(header["steps"], arrays)
            self.watch.restore(header, arrays, self.run.fresh(key).model)
            self.crew.step("resume", [shard_key(key, s) for s in range(self.crew.n_shards)], model)
        except (KeyError, TypeError, ModelFileError) as error:
            raise self.checkpoint.refusal(error) from None
        self.run.state.key = key
        self.history, self.resumed_from = history, len(history)

    def _keep(self):
        """Write the state."""
        best, arrays = self.watch.state()
        header = {"key": self.run.state.key, "history": list(self.history), **best}
        if self.alone:
            arrays.update(arrays_of(self.model(), "model"))
        else:
            header["steps"], mixed = self.mixed.state()
            arrays.update(mixed)
        self.checkpoint.offer(header, arrays, surely=True)
