"""The common part of estimators that learn example by example."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from .._core.codes import AVERAGES, NO_PENALTY, PENALTIES, PERCEPTRON
from .._core.noise import make_noise
from .._core.store import Rule
from .._core.user_warnings import warn
from .._data.types import History
from .._sklearn import CallbackSupportMixin, InvalidParameterError, check_parameters
from .checkpoint import seed_of_draws
from .held_out import both_or_neither
from .parameters import OnlineParameters
from .run import new_key
from .saved import SavableLearner, training_from_state

if TYPE_CHECKING:
    from .._core.noise import Noise
    from .._data.types import Corpus, Given, Self, Weights
    from .run import Run, TrainingState

STREAM_HISTORY = 1000
"""Calls of ``partial_fit`` that ``history_`` remembers besides the current one."""


LONG = 1000
FEW = 20
"""A corpus of fewer sequences than ``FEW``, which have more tokens than ``LONG`` on
average, is warned of.

The first 40,000 tokens of CoNLL-2000, cut into 40 sequences of 1,000 tokens, give a
perceptron the token accuracy .943 and passive-aggressive learning .947 (ten epochs); 20
of 2,000: .938 and .943; 4 of 10,000: .918 and .911; one: .885 and .867. Cut into
sequences of 100 to 500 tokens they give .935 to .944.
"""


def warn_if_few_are_long(lengths: np.ndarray) -> None:
    """Warn of a corpus that gives too few updates; ``lengths`` (n,) of its sequences,
    in tokens.
    """
    n = np.count_nonzero(lengths)
    total = int(lengths.sum())
    if 0 < n < FEW and total > LONG * n:
        what = (
            f"{n} sequences of {total // n} tokens each"
            if n > 1
            else f"one sequence of {total} tokens"
        )
        warn(
            f"X has {what}: an online learner makes one update a sequence and epoch, "
            f"which are too few here; cut long sequences, at the end of sentences if there "
            f"are any, into parts of 20 to 500 tokens, or use L1CRF, which learns from "
            f"every token"
        )


class Learner(Protocol):
    """The protocol of an estimator for training on shards.

    It is an :class:`OnlineLearner`, or an estimator around one that makes sequences of
    what it is given, as ``Segmenter`` and ``SpanTagger`` do.
    """

    def _learner(self) -> OnlineLearner:
        """Return a learner, not fitted, that trains for this estimator."""

    def _learner_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        """Return what the learner gets of the metadata that the ``fit`` of this
        estimator would get.
        """

    def _prepare_with(
        self,
        learner: OnlineLearner,
        X: Corpus,
        y: Corpus,
        sample_weight: Weights = None,
    ) -> tuple[Run, dict[str, Any]]:
        """Return the learner's run on data as this estimator takes it, and the fitted
        attributes known by then.
        """

    def _agreed(self, known: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the attributes that ``_prepare_with`` knew, from those of all shards.

        Raises
        ------
        ValueError
            If shards differ in what they must share; the message names one.
        """

    def _given_to_learner(
        self, given: tuple[Given, Given] | None
    ) -> tuple[Any, Any] | None:
        """Return the user's (X_val, y_val), or None, as the learner takes them."""

    def _become(self, learned: dict[str, Any], known: dict[str, Any]) -> None:
        """Be fitted.

        Parameters
        ----------
        learned : dict
            The attributes of a fitted learner.
        known : dict
            Those that ``_prepare_with`` knew.
        """


ONE_PENALTY = (
    "L1 and L2 do not combine in learners that go example by example; L1CRF has both, "
    "c1 and c2"
)


class OnlineLearner(OnlineParameters, CallbackSupportMixin, SavableLearner, ABC):
    """Base of the estimators that learn example by example; each is a :class:`Learner`.

    A subclass says how its data are prepared. One that is no perceptron has a ``_rule``
    of its own.
    """

    n_iter_: int
    history_: History
    resumed_from_: int

    _after_pass: Callable[[dict[str, Any], Callable[[], Any]], bool] | None = None
    """Called after each epoch with its entry of ``history_`` and a function that
    returns the fitted attributes as they are then; training stops if it returns true.
    """

    if TYPE_CHECKING:
        beam_size: Any  # where there is a beam search

    _is_part = False
    """True if the corpus to train on is one of several shards. Decisions that depend on
    all of them, such as costs of labels, are then made where the shards are combined.
    """

    def _validate_params(self) -> None:
        """Check the parameters; who asks for two penalties at once is told who has
        them.
        """
        try:
            super()._validate_params()  # type: ignore[misc]  # of BaseEstimator
        except InvalidParameterError as error:
            if not str(error).startswith("The 'penalty' parameter"):
                raise
            text = f"{str(error).rstrip('.')}; {ONE_PENALTY}"
            raise InvalidParameterError(text) from None

    # -- what a subclass says ----------------------------------------------------------
    @abstractmethod
    def _prepare(
        self,
        X: Corpus,
        y: Corpus,
        sample_weight: Weights,
        given: tuple[Given, Given] | None = None,
        continued: bool = False,
        *,
        stream: bool = False,
    ) -> Run:
        """Check and encode everything, and change nothing of the estimator.

        Parameters
        ----------
        X, y, sample_weight
            Those of ``fit``.
        given : tuple, optional
            The user's held-out sequences, (X_val, y_val), which judge the epochs; None
            if the user gave none.
        continued : bool
            Go on from ``_model`` and ``_training``.
        stream : bool
            The run is one call of ``partial_fit``, which may have more arguments.

        Returns
        -------
        Run
            It only has to train.

        Raises
        ------
        ValueError
            If the data are wrong.
        """

    def _rule(self) -> Rule:
        """Return the update rule that the parameters ask for."""
        penalty = PENALTIES[self.penalty] if self.alpha > 0 else NO_PENALTY
        return Rule(
            PERCEPTRON, 0.0, False, penalty, float(self.alpha), AVERAGES[self.average]
        )

    # -- as a `Learner` ----------------------------------------------------------------
    def _learner(self) -> OnlineLearner:
        """Return a copy that is not fitted: this estimator itself learns."""
        return clone(self)

    def _learner_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        """Return all metadata of ``fit``: they are the learner's own."""
        return metadata

    def _prepare_with(
        self,
        learner: OnlineLearner,
        X: Corpus,
        y: Corpus,
        sample_weight: Weights = None,
    ) -> tuple[Run, dict[str, Any]]:
        """Return the learner's run; no attributes are known by then."""
        return learner._prepare(X, y, sample_weight), {}

    def _agreed(self, known: list[dict[str, Any]]) -> dict[str, Any]:
        """Return what the first shard knew, which is what all know."""
        return known[0]

    def _given_to_learner(
        self, given: tuple[Given, Given] | None
    ) -> tuple[Any, Any] | None:
        """Return (X_val, y_val) as they are: this estimator itself reads them."""
        return given

    def _become(self, learned: dict[str, Any], known: dict[str, Any]) -> None:
        """Take the attributes of a fitted learner."""
        vars(self).update(known, **learned)

    def _leave_undecided(self) -> None:
        """Let ``_prepare`` leave open what a part of the corpus cannot decide."""
        self._is_part = True

    # -- what training reads -----------------------------------------------------------
    @cached_property
    def _training(self) -> TrainingState:
        """Return what training goes on from where there is only a model, as an average
        of several is one.

        A fit sets the attribute. This is what a file would give that was saved without
        a state of training.
        """
        facts = {
            "closed": False,
            "stream": False,
            "min_count": int(getattr(self, "min_count", 1)),
        }
        node = {name: facts[name] for name in self._model.FACTS}
        node.update(key=new_key(self.random_state), epoch=getattr(self, "n_iter_", 0))
        return training_from_state(node, self._model, [], None, "")

    def _beam(self) -> int:
        """Return the states that a beam search keeps in prediction, 0 for all.

        ``beam_size`` may be set after fitting, so it is checked again: kernels check
        nothing.
        """
        check_parameters(self, "beam_size")
        return int(self.beam_size or 0)

    def _noise(self, key: int) -> Noise:
        """Return the noise that the parameters ask for, drawn by an integer key."""
        return make_noise(
            key,
            float(self.dropout),
            self.feature_noise,
            self.edge_noise,
            float(self.noise_rate),
            float(self.zipf_exponent),
        )

    # -- fitting -----------------------------------------------------------------------
    def _callback_context(self, run: Run | None = None) -> Any:
        """Return the callbacks' context of a fit.

        Without a run, which knows its sequences, ``max_iter="auto"`` is an unknown
        number of epochs.
        """
        n_epochs = None if isinstance(self.max_iter, str) else self.max_iter
        if run is not None:
            n_epochs = run.n_epochs()
        return self._init_callback_context(max_subtasks=n_epochs)

    def _begin_fit(
        self,
        X: Corpus,
        y: Corpus,
        sample_weight: Weights,
        X_val: Given,
        y_val: Given,
        **more: Any,
    ) -> tuple[Run, Any]:
        """Check parameters and data, as the first half of ``fit``.

        Parameters
        ----------
        X, y, sample_weight, X_val, y_val
            Those of ``fit``.
        **more
            What the ``_prepare`` of a subclass takes besides.

        Returns
        -------
        run : Run
            Its ``train`` is the second half.
        callback_context : sklearn.callback.CallbackContext or None
            For ``run.train``, which tells scikit-learn's callbacks of each epoch; None
            if this version of scikit-learn has none.
        """
        self._validate_params()
        given = both_or_neither(X_val, y_val)
        callback_context = self._callback_context()
        continued = self.warm_start and hasattr(self, "_model")
        run = self._prepare(X, y, sample_weight, given, continued, **more)
        return run, callback_context

    def _partial_fit(
        self, X: Corpus, y: Corpus, sample_weight: Weights, **more: Any
    ) -> Self:
        """Train for one more epoch on data that may be new, and return the estimator.

        ``more`` is what the ``_prepare`` of a subclass takes besides, such as
        ``classes``.
        """
        self._validate_params()
        continued = hasattr(self, "_model")
        run = self._prepare(X, y, sample_weight, None, continued, stream=True, **more)
        run.state.stream = True
        run.history = run.state.history[-STREAM_HISTORY:]  # a stream has no end
        run.n_iter = getattr(self, "n_iter_", 0)
        return run.train(X, y, n_epochs=1)

    def _held_out(self, eligible: np.ndarray) -> list[int]:
        """Draw the sequences that early stopping judges by, and return their positions.

        ``eligible`` (n,) int: the positions of sequences that could be scored.
        """
        n = eligible.shape[0]
        n_test = int(np.ceil(self.validation_fraction * n))
        if n_test >= n:
            raise ValueError(
                f"early_stopping with validation_fraction={self.validation_fraction} "
                f"leaves none of the {n} sequences to train on"
            )
        seed = seed_of_draws(self, eligible, self.checkpoint is not None)
        order = check_random_state(seed).permutation(n)
        return np.sort(eligible[order[:n_test]]).tolist()
