"""What training runs share: held-out sequences that judge them, checkpoints, Ctrl-C."""

from types import SimpleNamespace

import numpy as np
import pytest

from skstruct._data.inputs import LABELS
from skstruct._training.held_out import HeldOut
from skstruct._training.interrupt import DeferredInterrupt
from skstruct._training.judged import JudgedRun, listen


class Guess(JudgedRun):
    """A run whose model is the label that it would give to every token."""

    def __init__(self, scoring=None, key=0):
        self.estimator = SimpleNamespace(scoring=scoring)
        self.key = key

    def identity(self):
        return {"key": self.key}, {"weights": np.arange(3)}

    def held_out_part(self, X, y):
        if len(X) != len(y):
            raise ValueError("X and y have different lengths")
        labels = {label for each in y for label in each}
        return HeldOut(self.estimator, LABELS, X, y), sorted(labels - {"A", "B"})

    def held_out_score(self, model):
        labels = [label for each in self.held_out.y for label in each]
        return labels.count(model) / len(labels)

    def explain_unseen(self):
        return ", said the run"


def test_nothing_is_held_out_unless_it_is_given():
    run = Guess()
    run.hold_out(None)
    assert run.held_out is None


def test_the_score_is_the_structures_own_or_that_of_a_scorer():
    run = Guess()
    run.hold_out(([["a", "b"]], [["A", "B"]]))
    assert run.score_fitted({"_model": "A"}) == 0.5
    run.estimator.scoring = lambda model, X, y: (
        10.0 * len(y) + len(vars(model)["_model"])
    )
    assert run.score_fitted({"_model": "A"}) == 11.0
    assert "_model" not in vars(run.estimator)


def test_labels_that_training_lacks_are_warned_of_in_the_words_of_the_run():
    run = Guess()
    with pytest.warns(UserWarning, match="'C'.*said the run"):
        run.hold_out(([["a"]], [["C"]]))


def test_errors_speak_of_the_held_out_part():
    with pytest.raises(ValueError, match="^X_val and y_val have different lengths"):
        Guess().hold_out(([["a"]], []))


def test_fits_of_one_identity_share_a_checkpoint(tmp_path):
    first = Guess().open_checkpoint(tmp_path, "Guess")
    first.offer({"n": 1}, {"w": np.ones(2)}, surely=True)
    state, arrays = Guess().open_checkpoint(tmp_path, "Guess").load()
    assert state == {"n": 1} and arrays["w"].tolist() == [1.0, 1.0]
    other = Guess(key=1)
    assert other.open_checkpoint(tmp_path, "Guess").load() is None
    assert other.checkpoint.path != first.path


def test_the_interrupt_of_a_caller_is_used():
    mine = DeferredInterrupt()
    with listen(mine) as interrupt:
        assert interrupt is mine
    with listen(None) as interrupt:
        assert isinstance(interrupt, DeferredInterrupt) and interrupt.count == 0
