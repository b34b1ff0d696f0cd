"""What all estimators share that learn example by example."""

import os

import numpy as np
from sklearn.utils import check_random_state

from skstruct._sklearn import (
    N_JOBS,
    POSITIVE,
    CallbackSupportMixin,
    Interval,
    Real,
    StrOptions,
)
from skstruct.core.codes import NO_PENALTY, NOISES, PENALTIES
from skstruct.core.noise import make_noise

from .saved import SavableLearner

FRACTION = Interval(Real, 0, 1, closed="left")


STREAM_HISTORY = 1000
"""Calls of ``partial_fit`` that ``history_`` remembers besides the current one."""


SHARED_CONSTRAINTS = {
    "max_iter": [POSITIVE],
    "shuffle": ["boolean"],
    "penalty": [StrOptions({p for p in PENALTIES if p}), None],
    "alpha": [FRACTION],
    "dropout": [FRACTION],
    "feature_noise": [StrOptions({n for n in NOISES if n}), None],
    "edge_noise": [StrOptions({"same", *(n for n in NOISES if n)}), None],
    "noise_rate": [FRACTION],
    "zipf_exponent": [Interval(Real, 1, None, closed="neither")],
    "min_count": [POSITIVE],
    "early_stopping": ["boolean"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "n_iter_no_change": [POSITIVE],
    "tol": [Interval(Real, 0, None, closed="left")],
    "warm_start": ["boolean"],
    "checkpoint": [str, os.PathLike, None],
    "n_jobs": N_JOBS,
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}
"""What all online learners accept; see ``sklearn.utils._param_validation``."""


class OnlineLearner(CallbackSupportMixin, SavableLearner):
    """Base of the estimators that learn example by example.

    A subclass has the shared constructor parameters and ``_rule()``, and ``_prepare(X, y, sample_weight,
    continued, stream, classes)``, which checks and encodes everything and returns a
    :class:`.run.Run`. ``continued``: go on from ``_model`` and ``_training``. ``stream``: the run is one
    call of ``partial_fit``.
    """

    def _penalty(self):
        return PENALTIES[self.penalty] if self.alpha > 0 else NO_PENALTY

    def _noise(self, key):
        return make_noise(
            key,
            float(self.dropout),
            self.feature_noise,
            self.edge_noise,
            float(self.noise_rate),
            float(self.zipf_exponent),
        )

    # -- fitting -----------------------------------------------------------------------------------
    def _callback_context(self):
        """The callbacks' context of a fit."""
        return self._init_callback_context(max_subtasks=self.max_iter)

    def _fit(self, X, y, sample_weight):
        self._validate_params()
        context = self._callback_context()
        continued = self.warm_start and hasattr(self, "_model")
        return self._prepare(X, y, sample_weight, continued).train(X, y, context)

    def _partial_fit(self, X, y, sample_weight, classes=None):
        self._validate_params()
        continued = hasattr(self, "_model")
        run = self._prepare(X, y, sample_weight, continued, stream=True, classes=classes)
        run.history = run.state.history[-STREAM_HISTORY:]  # a stream has no end
        run.n_iter = getattr(self, "n_iter_", 0)
        return run.train(X, y, n_epochs=1)

    def _held_out(self, nonempty):
        """Positions of the sequences that early stopping judges by."""
        n = nonempty.shape[0]
        n_test = int(np.ceil(self.validation_fraction * n))
        if n_test >= n:
            raise ValueError(
                f"early_stopping with validation_fraction={self.validation_fraction} leaves none of "
                f"the {n} sequences to train on"
            )
        order = check_random_state(self.random_state).permutation(n)
        return np.sort(nonempty[order[:n_test]]).tolist()
