"""What all estimators share that learn example by example."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from .._sklearn import CallbackSupportMixin, check_parameters
from ..core.codes import AVERAGES, NO_PENALTY, PENALTIES, PERCEPTRON
from ..core.noise import make_noise
from ..core.store import Rule
from ..core.user_warnings import warn
from ..data.types import History
from .held_out import both_or_neither
from .parameters import OnlineParameters
from .run import new_key
from .saved import SavableLearner, training_from_state

STREAM_HISTORY = 1000
"""Calls of ``partial_fit`` that ``history_`` remembers besides the current one."""


LONG, FEW = 1000, 20
"""A corpus of fewer sequences than ``FEW``, which have more tokens than ``LONG`` on average, is warned of.

The first 40,000 tokens of CoNLL-2000, cut into 40 sequences of 1,000 tokens, give a perceptron the token
accuracy .943 and passive-aggressive learning .947 (ten epochs); 20 of 2,000: .938 and .943; 4 of 10,000: .918
and .911; one: .885 and .867. Cut into sequences of 100 to 500 tokens they give .935 to .944.
"""


def warn_if_few_are_long(lengths):
    """Warn of a corpus that gives too few updates; ``lengths`` (n,) of its sequences, in tokens."""
    n, total = np.count_nonzero(lengths), int(lengths.sum())
    if 0 < n < FEW and total > LONG * n:
        what = f"{n} sequences of {total // n} tokens each" if n > 1 else f"one sequence of {total} tokens"
        warn(
            f"X has {what}: an online learner makes one update a sequence and epoch, "
            f"which are too few here; cut long sequences, at the end of sentences if there "
            f"are any, into parts of 20 to 500 tokens, or use L1CRF, which learns from "
            f"every token"
        )


class OnlineLearner(OnlineParameters, CallbackSupportMixin, SavableLearner):
    """Base of the estimators that learn example by example.

    A subclass has ``_prepare(X, y, sample_weight, given, continued, stream)``, which checks and encodes
    everything and returns a :class:`.run.Run`. ``given``: the user's (X_val, y_val), which judge its epochs,
    or None. ``continued``: go on from ``_model`` and ``_training``. ``stream``: the run is one call of
    ``partial_fit``, which may have more arguments. A subclass that is no perceptron has a ``_rule`` of its
    own.

    What trains on shards asks an estimator for ``_learner``, ``_learner_metadata``,
    ``_prepare_with``, ``_agreed``, ``_given_to_learner`` and ``_become``. An estimator around a
    learner, such as ``Segmenter``, has them too.
    """

    n_iter_: int
    history_: History
    resumed_from_: int

    _after_pass = None
    """Called after each epoch with its entry of ``history_`` and a function that returns
    the fitted attributes as they are then; training stops if it returns true."""

    def _learner(self):
        """A learner, not fitted, that trains for this estimator; here the same."""
        return clone(self)

    @cached_property
    def _training(self):
        """What training goes on from where there is only a model, as an average of several is one.

        A fit sets the attribute. This is what a file would give that was saved without a state of training.
        """
        facts = {"closed": False, "stream": False, "min_count": int(getattr(self, "min_count", 1))}
        node = {name: facts[name] for name in self._model.FACTS}
        node.update(key=new_key(self.random_state), epoch=getattr(self, "n_iter_", 0))
        return training_from_state(node, self._model, [], None, "")

    def _learner_metadata(self, metadata):
        """What the learner gets of the metadata that the ``fit`` of this estimator would get."""
        return metadata

    def _prepare_with(self, learner, X, y, sample_weight=None):
        """The learner's run on data as this estimator takes it; and the fitted attributes known by then."""
        return learner._prepare(X, y, sample_weight), {}

    def _agreed(self, known):
        """The attributes that ``_prepare_with`` knew, from those of the shards."""
        return known[0]

    def _given_to_learner(self, given):
        """The user's (X_val, y_val), or None, as the learner takes them."""
        return given

    def _become(self, learned, known):
        """Be fitted: with the attributes of a fitted learner, and those that ``_prepare_with`` knew."""
        vars(self).update(known, **learned)

    _is_part = False
    """Whether the corpus to train on is a shard of another: that one decides what depends on all."""

    def _leave_undecided(self):
        """Let ``_prepare`` leave open what a part of the corpus cannot decide."""
        self._is_part = True

    def _rule(self):
        """The update rule that the parameters ask for."""
        penalty = PENALTIES[self.penalty] if self.alpha > 0 else NO_PENALTY
        return Rule(PERCEPTRON, 0.0, False, penalty, float(self.alpha), AVERAGES[self.average])

    def _beam(self):
        """The states that a beam search keeps in prediction, 0 for all.

        ``beam_size`` may be set after fitting, so it is checked again: kernels check nothing.
        """
        check_parameters(self, "beam_size")
        return int(self.beam_size or 0)

    def _noise(self, key):
        dropout, rate, exponent = map(float, (self.dropout, self.noise_rate, self.zipf_exponent))
        return make_noise(key, dropout, self.feature_noise, self.edge_noise, rate, exponent)

    # -- fitting -----------------------------------------------------------------------------------
    def _callback_context(self):
        """The callbacks' context of a fit."""
        return self._init_callback_context(max_subtasks=self.max_iter)

    def _begin_fit(self, X, y, sample_weight, X_val, y_val, **more):
        """The run of ``fit``, and the callbacks' context."""
        self._validate_params()
        given = both_or_neither(X_val, y_val)
        context = self._callback_context()
        continued = self.warm_start and hasattr(self, "_model")
        return self._prepare(X, y, sample_weight, given, continued, **more), context

    def _partial_fit(self, X, y, sample_weight, **more):
        self._validate_params()
        continued = hasattr(self, "_model")
        run = self._prepare(X, y, sample_weight, None, continued, stream=True, **more)
        run.state.stream = True
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
