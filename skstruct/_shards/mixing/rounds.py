"""The rounds of parameter mixing: training, mixing, their record, and their state on
disk.

The next round needs nothing but the mixed weights, so a checkpoint holds these,
wherever the shards are. One shard alone is not mixed: its own model takes their place.
"""

import time

from sklearn.base import clone

from ..._sklearn import set_fitted
from ..._training.checkpoint import arrays_of, simple_parameters, with_arrays
from ..._training.held_out import held_out_facts
from ..._training.loop import Loop, LoopSettings
from ..pieces import add_changes
from ..shards import Mixture, in_turn, shard_key
from ..weights import NONZERO, mixture


class Rounds(Loop):
    """Rounds over the shards of a crew.

    Parameters
    ----------
    mixer : ParameterMixer
    crew : LocalShards or DaskShards
        Its shards know the features and labels of all (``Shard.join``).
    run : Run
        Makes fitted models of mixed weights; its state has the random key of the whole
        fit.
    known : dict
        Fitted attributes of an estimator around the learner.
    n_examples, n_tokens : int
        Of all shards.
    """

    called = "round"
    surely = True

    def __init__(self, mixer, crew, run, known, n_examples, n_tokens):
        self.mixer = mixer
        self.crew = crew
        self.run = run
        self.known = known
        self.n_examples = n_examples
        self.n_tokens = n_tokens
        self.alone = crew.n_shards == 1
        self.history = []
        zeros = run.fresh(run.state.key).model
        self.mixed = Mixture(
            run.node_halves, zeros, run.state.rule, mixer.mixing == NONZERO
        )
        once = mixer.strategy == "once" and not self.alone
        n = run.estimator.max_iter
        self.n_rounds, self.n_epochs = (1, n) if once else (n, 1)

    def loop_settings(self):
        """See :class:`.training.loop.Loop`."""
        mixer = self.mixer
        return LoopSettings(
            self.run, mixer, self.n_rounds, mixer._stops(), mixer.checkpoint
        )

    def epoch_arguments(self):
        """See :class:`.training.loop.Loop`."""
        return ()

    def run_epoch(self, interrupt):
        """Train and mix once."""
        crew, done = (
            self.crew,
            self.done,
        )  # a step that is taken again asks for the round it belonged to
        began = time.perf_counter()
        sent = crew.sent
        received = crew.received

        def shared(full=True):
            return done, self.n_epochs, None if self.alone else self.mixed.start(full)

        # After a resumption the shards know nothing of the rounds before.
        now = shared(full=done == self.resumed_from)
        answers = crew.step("train", shared=now, anew=shared, adds=self.alone)
        reports = [report for report in answers if report is not None]
        updates = [report.updates for report in reports]
        share = mixture(self.mixer.mixing, updates)
        if not self.alone:
            coefficients = in_turn(answers, self.mixed.coefficients(reports, share))
            changes = crew.total(
                "changes", add_changes, coefficients, self.mixed.nonzero
            )
            self.mixed.mix(changes, len(reports))
        did = {
            "round": self.done + 1,
            "updates": sum(updates),
            "sequence_error": sum(updates) / (self.n_examples * self.n_epochs),
            "token_error": sum(r.wrong_tokens for r in reports)
            / (self.n_tokens * self.n_epochs),
            "loss": sum(report.loss for report in reports),
            "mixture": in_turn(answers, share.tolist(), 0.0),
            "bytes_sent": crew.sent - sent,
            "bytes_received": crew.received - received,
            "seconds": time.perf_counter() - began,
        }
        return did, True

    def record(self, did, complete):
        """See :class:`.training.loop.Loop`."""
        return did

    def report(self):
        """See :class:`.training.loop.Loop`."""
        record = self.history[-1]
        megabytes = (record["bytes_sent"] + record["bytes_received"]) / 1e6
        self.run.tell(f"round {record['round']}", record, f", {megabytes:.1f} MB")

    def in_training(self):
        """See :class:`.training.loop.Loop`."""
        return self.crew.ask("model")[0] if self.alone else self.mixed.result()

    def attributes(self):
        """See :class:`.training.loop.Loop`."""
        estimator = clone(self.mixer._template())
        n_iter = self.done * self.n_epochs
        learned = {
            "_model": self.run.finished(self.best()),
            "n_iter_": n_iter,
            **self.run.fitted(),
        }
        estimator._become(learned, self.known)
        found = {
            "n_iter_": n_iter,
            "history_": list(self.history),
            "estimator_": estimator,
        }
        for one in (learned, {"classes_": getattr(estimator, "classes_", None)}):
            if one.get("classes_") is not None:
                found["classes_"] = one["classes_"]
        if self.checkpoint is not None:
            found["resumed_from_"] = self.resumed_from
        return found

    def set_fitted_attributes(self, for_good=False):
        """See :class:`.training.loop.Loop`."""
        set_fitted(self.mixer, self.attributes(), "classes_", "resumed_from_")

    # -- checkpoints -------------------------------------------------------------------
    def identity(self):
        """See :class:`.training.loop.Loop`."""
        mixer = self.mixer
        run = self.run
        learner = self.run.estimator
        parameters = simple_parameters(learner)
        parameters.pop("random_state")
        facts = {
            "class": type(learner).__name__,
            "parameters": parameters,
            "mixing": mixer.mixing,
            "key": None if mixer.random_state is None else run.state.key,
            "rule": list(run.state.rule),
            "shards": self.crew.ask("fingerprint"),
            "stops": mixer._stops(),
            **held_out_facts(run.held_out, learner.scoring),
        }
        return facts, arrays_of(run.prior(), "fit")

    def checkpoint_state(self):
        """See :class:`.training.loop.Loop`."""
        key = {"key": self.run.state.key}
        if self.alone:
            return key, arrays_of(self.in_training(), "model")
        steps, arrays = self.mixed.state()
        return {**key, "steps": steps}, arrays

    def restore(self, header, arrays):
        """See :class:`.training.loop.Loop`."""
        self.run.state.key = key = header["key"]
        form = self.run.fresh(key).model
        model = None
        if self.alone:
            model = with_arrays(form, "model", arrays)
        else:
            self.mixed.restore(header["steps"], arrays)
        self.crew.step(
            "resume", [shard_key(key, s) for s in range(self.crew.n_shards)], model
        )
        return form
