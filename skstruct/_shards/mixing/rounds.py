"""The rounds of parameter mixing: training, mixing, their record, and their state on
disk.

The next round needs nothing but the mixed weights, so a checkpoint holds these,
wherever the shards are. One shard alone is not mixed: its own model takes their place.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from ..._sklearn import set_fitted
from ..._training.checkpoint import arrays_of, simple_parameters, with_arrays
from ..._training.epochs import epochs_for
from ..._training.held_out import held_out_facts
from ..._training.loop import Loop, LoopSettings
from ..pieces import add_changes
from ..shards import Mixture, Round, in_turn, shard_key
from ..weights import NONZERO, mixture

if TYPE_CHECKING:
    from ..._training.interrupt import DeferredInterrupt
    from ..._training.loop import State
    from ..._training.run import Run
    from ..held import DaskShards, LocalShards
    from .mixer import ParameterMixer


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

    def __init__(
        self,
        mixer: ParameterMixer,
        crew: LocalShards | DaskShards,
        run: Run,
        known: dict[str, Any],
        n_examples: int,
        n_tokens: int,
    ) -> None:
        self.mixer = mixer
        self.crew = crew
        self.run = run
        self.known = known
        self.n_examples = n_examples
        self.n_tokens = n_tokens
        self.alone = crew.n_shards == 1
        self.history = []
        zeros = run.fresh(run.state.key).model
        halves: Any = run.node_halves
        self.mixed = Mixture(halves, zeros, run.state.rule, mixer.mixing == NONZERO)
        once = mixer.strategy == "once" and not self.alone
        n = epochs_for(run.estimator.max_iter, n_examples)
        self.n_rounds, self.n_epochs = (1, n) if once else (n, 1)

    def loop_settings(self) -> LoopSettings:
        """Return the number of rounds; the run's learner judges them."""
        mixer = self.mixer
        return LoopSettings(
            self.run, mixer, self.n_rounds, mixer._stops(), mixer.checkpoint
        )

    def epoch_arguments(self) -> tuple[Any, ...]:
        """Return nothing: a round needs no more than the interrupt."""
        return ()

    def run_epoch(self, interrupt: DeferredInterrupt) -> tuple[dict[str, Any], bool]:
        """Train all shards once, and mix their weights.

        Returns
        -------
        dict
            What ``history_`` says of the round.
        bool
            True: Ctrl-C acts between rounds.
        """
        crew = self.crew
        done = self.done  # a step that is taken again asks for the round it belonged to
        began = time.perf_counter()
        sent = crew.sent
        received = crew.received

        def shared(full: bool = True) -> Round:
            start = None if self.alone else self.mixed.start(full)
            return Round(done, self.n_epochs, start)

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

    def record(self, did: dict[str, Any], complete: bool) -> dict[str, Any]:
        """Return what `run_epoch` has returned: an entry of ``history_``."""
        return did

    def report(self) -> None:
        """Print the figures of the last round if the learner is verbose."""
        record = self.history[-1]
        megabytes = (record["bytes_sent"] + record["bytes_received"]) / 1e6
        self.run.tell(f"round {record['round']}", record, f", {megabytes:.1f} MB")

    def in_training(self) -> Any:
        """Return the mixed model, or the model of the only shard."""
        return self.crew.ask("model")[0] if self.alone else self.mixed.result()

    def attributes(self) -> dict[str, Any]:
        """Return the fitted attributes of the mixer, with its fitted estimator."""
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

    def set_fitted_attributes(self, for_good: bool = False) -> None:
        """Fit the mixer: set all its fitted attributes at once."""
        set_fitted(self.mixer, self.attributes(), "classes_", "resumed_from_")

    # -- checkpoints -------------------------------------------------------------------
    def identity(self) -> State:
        """Return parameters, shards and start: a fit that shares them may go on."""
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

    def checkpoint_state(self) -> State:
        """Return the random key, and the mixed weights or the only shard's model."""
        key = {"key": self.run.state.key}
        if self.alone:
            return key, arrays_of(self.in_training(), "model")
        steps, arrays = self.mixed.state()
        return {**key, "steps": steps}, arrays

    def restore(self, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
        """Give the random key and the weights of a checkpoint to the shards.

        Returns
        -------
        NamedTuple
            A model of the form that those in training have.
        """
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
