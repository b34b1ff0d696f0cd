"""Shuffle-and-average: one model from many that saw the examples in different orders."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._sklearn import Interval, Real, epoch_context, member_context, with_callbacks
from ..data.types import Corpus, Given, History, Self, Weights
from ..saving.registry import savable
from ..taggers.meta_learner import MetaLearner
from ..training.held_out import both_or_neither
from ..training.interrupt import DeferredInterrupt
from ..training.parameters import CHECKPOINT, documented, inner_estimator, parameter


@savable
@documented(
    checkpoint="""Folder where the members keep their states, in place of their own ``checkpoint``. A fit that
    was killed goes on with the members as they were; a finished one removes all files.""",
    n_jobs="Threads, in training (over members) and prediction. Results do not depend on it.",
    random_state="Determines all members.",
)
@dataclass(eq=False, repr=False)
class BaggingShuffleAverager(MetaLearner):
    """Average the weights of taggers trained on shuffled or resampled examples.

    The order of the examples decides much of what an online learner learns. Training several models
    that differ only in the order and averaging their weights removes that part ([1]_, section 3.2).
    The result is one model, as fast as each of its members; not a vote.

    Attributes
    ----------
    estimator_ : estimator
        The base estimator, fitted with the averaged weights.
    classes_ : ndarray of shape (n_labels,)
        If the estimator has labels.
    n_iter_ : int
        Largest number of epochs of any member.
    history_ : list of dict
        For each epoch of each member what the estimator's own ``history_`` holds, and ``member``, counted
        from 1: first all epochs of the first member.
    estimators_ : list of estimators
        With ``keep_members`` only.

    References
    ----------
    .. [1] K. Zhang, J. Su, C. Zhou (2014). Regularized structured perceptron: a case study on Chinese
       word segmentation, POS tagging and parsing. EACL.

    Examples
    --------
    >>> from skstruct import BaggingShuffleAverager, StructuredPerceptron
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> base = StructuredPerceptron(max_iter=5)
    >>> averager = BaggingShuffleAverager(base, n_estimators=3, random_state=0).fit(X, y)
    >>> averager.predict([["a", "dog", "sleeps"]])
    [['D', 'N', 'V']]
    """

    estimator: Any = inner_estimator(
        "The tagger to train; None means ``StructuredPerceptron()``. Its ``random_state`` is overridden."
    )
    n_estimators: int = parameter(5, "Members.")
    _: KW_ONLY
    checkpoint: str | os.PathLike[str] | None = copy(CHECKPOINT)
    average: Literal["nonzero", "all"] = parameter(
        "nonzero",
        """Divide a weight by the number of members in which it is not zero ([1]_, equation 8), or by the
        number of members (equation 7).""",
    )
    bootstrap: bool = parameter(
        False, "Draw each member's sequences with replacement; else each member sees a shuffled selection."
    )
    max_samples: float = parameter(
        1.0,
        "Sequences drawn for each member, as a fraction.",
        "float in (0, 1]",
        [Interval(Real, 0, 1, closed="right")],
    )
    keep_members: bool = parameter(False, "Keep the fitted members as ``estimators_``.")

    estimators_: list[Any] = field(init=False)
    history_: History = field(init=False)

    @with_callbacks
    def fit(
        self, X: Corpus, y: Corpus, sample_weight: Weights = None, *, X_val: Given = None, y_val: Given = None
    ) -> Self:
        """Train the members and average them.

        Parameters
        ----------
        X, y, sample_weight
            As the estimator's ``fit`` takes them. The corpus is encoded once for all members.
        X_val, y_val : optional
            Held-out sequences, on which each member is scored as in the estimator's ``fit``; the scores are
            in ``history_``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is wrong, or the estimator's models cannot be averaged.
        KeyboardInterrupt
            After Ctrl-C, which stops all members; the estimator is then as it was before.
        """
        self._validate_params()
        context = self._init_callback_context(max_subtasks=self.n_estimators, sequential_subtasks=False)
        events = epoch_context(context, self, X, y)
        events.begin_fit()
        training = _Training(self, X, y, sample_weight, both_or_neither(X_val, y_val), context)
        fitted = self._averaged(training)
        events.end_fit(fitted)
        for name in ("classes_", "estimators_"):
            vars(self).pop(name, None)
        vars(self).update(fitted)
        return self

    def _averaged(self, training):
        """The fitted attributes; trains the members."""
        models = training.models(min(effective_n_jobs(self.n_jobs), self.n_estimators))
        with DeferredInterrupt(at_once=True) as training.interrupt:
            try:
                model = training.shared.model_class.average(models, self.average == "nonzero")
            except BaseException as error:
                raise (training.failures or [error])[0] from None
            if training.interrupt.count:
                raise KeyboardInterrupt
        for checkpoint in training.checkpoints:  # not before all are done: a fit that is killed finds them
            checkpoint.remove()
        members = [member for member, _, _ in training.members]
        history = [
            {"member": number, **record}
            for number, member in enumerate(members, start=1)
            for record in member.history_
        ]
        common = {"n_iter_": max(member.n_iter_ for member in members)}
        if hasattr(members[0], "classes_"):
            common["classes_"] = members[0].classes_
        estimator = clone(training.template)
        vars(estimator).update(common, _model=model)
        kept = {"estimators_": members} if self.keep_members else {}
        return {**common, **kept, "history_": history, "estimator_": estimator}

    def _members(self, X, y, sample_weight, given):
        """The members' estimator, what they share (a ``Run``), and each one's clone, seed and examples."""
        template = self._trainable()._settled(X, y, sample_weight)
        random = check_random_state(self.random_state)
        prepared = clone(template).set_params(random_state=int(random.randint(2**31 - 1)))
        prepared._validate_params()
        shared = prepared._prepare(X, y, sample_weight, given)
        nonempty = np.flatnonzero(np.diff(shared.task.token) > 0)
        n_drawn = max(1, round(self.max_samples * nonempty.shape[0]))
        members = []
        for _ in range(self.n_estimators):
            seed = int(random.randint(2**31 - 1))
            drawn = nonempty
            if self.bootstrap:
                drawn = np.sort(random.choice(nonempty, n_drawn, replace=True))
            elif n_drawn < nonempty.shape[0]:
                drawn = np.sort(random.choice(nonempty, n_drawn, replace=False))
            member = clone(template).set_params(random_state=seed)
            if self.checkpoint is not None:
                member.set_params(checkpoint=self.checkpoint)
            members.append((member, seed, drawn))
        return template, shared, members

    def member_scores(
        self, X: Corpus, y: Corpus, sample_weight: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Scores of the members alone, to set beside the score of their average.

        Needs ``keep_members=True``.

        Parameters
        ----------
        X, y
            As of ``fit``; sequences that the members have not seen.
        sample_weight : array-like of shape (n_sequences,), optional

        Returns
        -------
        ndarray of shape (n_estimators,)
            What each member's ``score`` gives, of taggers token accuracy. Their spread shows how much a
            result depends on the order of the examples.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If there are no members yet.
        ValueError
            If the members were not kept.
        """
        check_is_fitted(self)
        if not hasattr(self, "estimators_"):
            raise ValueError("member_scores needs a fit with keep_members=True")
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        return np.array([member.score(X, y, **given) for member in self.estimators_])


class _Training:
    """The members of an averager, trained as their models are asked for.

    Attributes
    ----------
    shared : Run
        On the examples of all members.
    members : list of (estimator, seed, examples)
    interrupt : DeferredInterrupt
        Stops all members.
    checkpoints : list of Checkpoint
        Those of the members that have finished.
    failures : list of BaseException
        What members raised; the first one stopped the others.
    """

    def __init__(self, averager, X, y, sample_weight, given, context):
        self.averager, self.X, self.y, self.context = averager, X, y, context
        self.template, self.shared, self.members = averager._members(X, y, sample_weight, given)
        self.interrupt, self.checkpoints, self.failures = None, [], []

    def models(self, threads):
        """The models of the members, in their order."""
        numbers = range(len(self.members))
        if threads == 1:
            yield from map(self.train, numbers)
            return
        with ThreadPoolExecutor(threads) as pool:
            try:
                waiting = deque()
                for number in numbers:
                    waiting.append(pool.submit(self.train, number))
                    if len(waiting) == threads:  # no thread begins another one while its model waits
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            except BaseException:
                self.interrupt.stop()
                raise

    def train(self, number):
        """Train a member; nothing else holds the model that it returns, unless members are kept."""
        member, seed, drawn = self.members[number]
        keep = self.averager.keep_members
        try:
            if self.interrupt.count:
                raise KeyboardInterrupt
            run = self.shared.member(member, seed, drawn)
            run.title = f"member {number + 1}, "
            with member_context(self.context, self.averager, member, number, self.X, self.y):
                _train(member, run, self.X, self.y, interrupt=self.interrupt, for_good=not keep)
        except BaseException as error:
            self.failures.append(error)
            self.interrupt.stop()
            raise
        if run.checkpoint is not None:
            self.checkpoints.append(run.checkpoint)
        return member._model if keep else vars(member).pop("_model")


@with_callbacks
def _train(member, run, X, y, **options):
    """Train a member under its callbacks, which the decorator closes."""
    run.train(X, y, member._callback_context(), keep_checkpoint=True, **options)
