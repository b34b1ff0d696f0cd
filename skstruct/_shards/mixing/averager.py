"""Shuffle-and-average: one model from many that saw examples in different orders."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import KW_ONLY, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..._data.types import Corpus, Given, Self, Weights
from ..._saving.registry import savable
from ..._sklearn import (
    POSITIVE,
    StrOptions,
    says_what_is_kept,
    set_fitted,
    with_callbacks,
)
from ..._taggers.meta_learner import MetaLearner, inside_has
from ..._taggers.settings import KeepsSettings
from ..._training.callbacks import epoch_context
from ..._training.checkpoint import seed_of_draws
from ..._training.held_out import both_or_neither
from ..._training.interrupt import DeferredInterrupt
from ..._training.parameters import (
    CHECKPOINT,
    documented,
    inner_estimator,
    parameter,
    parametrized,
)
from ..._training.run import new_key

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future

    from ..._training.checkpoint import Checkpoint
    from ..._training.learner import OnlineLearner
    from ..._training.run import Run
    from ..._training.saved import SavableModel

MEMBERS = ((500, 10), (10_000, 5))
"""The values of ``n_estimators="auto"``, by the number of sequences."""


NO_DATA = np.zeros(0)
"""Parameters alone decide the draws: checkpoints of members are told apart by data."""


def members_for(n: int) -> int:
    """Return the members that ``n_estimators="auto"`` means for n sequences.

    The whole then takes at most six times the processor time of one member with 1,000
    sequences, and three times with more than 10,000 (docs/decisions.md).
    """
    return next((members for most, members in MEMBERS if n < most), 3)


@savable
@documented(
    checkpoint="""Folder where the members keep their states, in place of their own
    ``checkpoint``. A fit that was killed goes on with the members as they were; a
    finished one removes all files.""",
    n_jobs="Threads, in training (over members) and prediction. Results do not depend on it.",
    random_state="Determines all members.",
)
@parametrized()
class BaggingShuffleAverager(KeepsSettings, MetaLearner):
    """Average the weights of taggers trained on shuffled or resampled examples.

    The order of the examples decides much of what an online learner learns. Training
    several models that differ only in the order and averaging their weights removes
    that part ([1]_, section 3.2). The result is one model, as fast as each of its
    members; not a vote.

    Attributes
    ----------
    estimator_ : estimator
        The base estimator, fitted with the averaged weights.
    classes_ : ndarray of shape (n_labels,)
        If the estimator has labels.
    n_estimators_ : int
        Members in the average; after Ctrl-C, or if a callback stopped the fit, those
        that were finished.
    n_iter_ : int
        Largest number of epochs of any member.
    history_ : list of dict
        For each epoch of each member what the estimator's own ``history_`` holds, and
        ``member``, counted from 1: first all epochs of the first member. Passes of
        ``partial_fit`` over an average have no ``member``.
    estimators_ : list of estimators
        With ``keep_members`` only.

    References
    ----------
    .. [1] K. Zhang, J. Su, C. Zhou (2014). Regularized structured perceptron: a case
       study on Chinese word segmentation, POS tagging and parsing. EACL.

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
        "The tagger to train; None means ``StructuredPerceptron()``. Its "
        "``random_state`` is overridden."
    )
    n_estimators: int | Literal["auto"] = parameter(
        default=5,
        text="""Members. ``"auto"``: ten below 500 sequences to train on, five below
        10,000, else three; the whole takes at most six times the processor time of one member with
        1,000 sequences, three times with 10,000.""",
        kind='int or "auto"',
        allowed=[POSITIVE, StrOptions({"auto"})],
    )
    _: KW_ONLY
    checkpoint: str | os.PathLike[str] | None = copy(CHECKPOINT)
    average: Literal["nonzero", "all"] = parameter(
        default="nonzero",
        text="""Divide a weight by the number of members in which it is not zero ([1]_,
        equation 8), or by the number of members (equation 7).""",
    )
    bootstrap: bool = parameter(
        default=False,
        text="Draw each member's sequences with replacement; else each member sees a "
        "shuffled selection.",
    )
    max_samples: float = parameter(
        default=1.0,
        text="Sequences drawn for each member, as a fraction.",
        kind="float in (0, 1]",
    )
    keep_members: bool = parameter(
        default=False, text="Keep the fitted members as ``estimators_``."
    )

    n_estimators_: int = field(init=False)
    estimators_: list[Any] = field(init=False)

    @with_callbacks
    def fit(
        self,
        X: Corpus,
        y: Corpus,
        sample_weight: Weights = None,
        *,
        X_val: Given = None,
        y_val: Given = None,
        **params: Any,
    ) -> Self:
        """Train the members and average them.

        Parameters
        ----------
        X, y, sample_weight
            As the estimator's ``fit`` takes them. The corpus is encoded once for all
            members.
        X_val, y_val : optional
            Held-out sequences, on which each member is scored as in the estimator's
            ``fit``; the scores are in ``history_``.
        **params
            Metadata that the estimator asks for, with scikit-learn's metadata routing.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is wrong, or the estimator's models cannot be averaged.
        KeyboardInterrupt
            After Ctrl-C, which stops all members. What is kept, and can be used, is the
            average of those that were finished; if none was, the completed epochs of
            one.
        """
        self._validate_params()
        self._checked_template()  # before anybody asks what it requests
        self._to_fit()
        metadata = self._routed("fit", {"sample_weight": sample_weight, **params})
        members = _Members(self, X, y, metadata, both_or_neither(X_val, y_val))
        context = self._init_callback_context(
            max_subtasks=len(members.all), sequential_subtasks=False
        )
        members.events = events = epoch_context(context, self, X, y)
        events.begin_fit()
        fitted = self._averaged(members)
        if members.stopped_by is None:
            events.end_fit(fitted)
        set_fitted(self, fitted, "classes_", "estimators_")
        self._note_settings()
        if members.stopped_by is not None:
            raise members.stopped_by
        return self

    def _n_members(self, n: int) -> int:
        """Return how many members are trained on n sequences."""
        if isinstance(self.n_estimators, str):
            return members_for(n)
        return self.n_estimators

    @inside_has("partial_fit")
    @says_what_is_kept
    def partial_fit(
        self,
        X: Corpus,
        y: Corpus,
        classes: ArrayLike | None = None,
        sample_weight: Weights = None,
        **params: Any,
    ) -> Self:
        """Go on learning from more sequences: one learner goes on from the average.

        Without a ``fit`` before, the first call makes one pass with each of
        ``n_estimators_`` members, which it decides, and averages them.

        Parameters
        ----------
        X, y, classes, sample_weight
            As the estimator's ``partial_fit`` takes them.
        **params
            Metadata that the estimator asks for, with scikit-learn's metadata routing.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As the estimator's ``partial_fit``.
        """
        self._validate_params()
        self._checked_template()
        if hasattr(self, "estimator_"):
            self._check_further()
        given = {"classes": classes, "sample_weight": sample_weight, **params}
        metadata = self._routed("partial_fit", given, ("classes", "sample_weight"))
        if not hasattr(self, "estimator_"):
            members = _Members(self, X, y, metadata, stream=True)
            set_fitted(self, self._averaged(members), "classes_", "estimators_")
            self._note_settings()
            if members.stopped_by is not None:
                raise members.stopped_by
            return self
        learner = copy(self.estimator_)  # it may be known elsewhere, too
        if "_training" not in vars(learner):
            learner._training.key = new_key(check_random_state(self.random_state))
        try:
            learner.partial_fit(X, y, **metadata)
        finally:  # after Ctrl-C it may have learned something
            if learner._model is not self.estimator_._model:
                self._take_over(learner)
        return self

    def _take_over(self, learner: Any) -> None:
        """Be the learner that has gone on from the average."""
        passes = getattr(learner, "history_", [])
        known = [record for record in self.history_ if "member" in record]
        found = {"n_iter_": learner.n_iter_, "history_": [*known, *passes]}
        if hasattr(learner, "classes_"):
            found["classes_"] = learner.classes_
        vars(self).update(found, estimator_=learner)

    def _averaged(self, members: _Members) -> dict[str, Any]:
        """Train the members, and return the fitted attributes."""
        models = members.models(min(effective_n_jobs(self.n_jobs), len(members.all)))
        with DeferredInterrupt() as members.interrupt:
            try:
                model = members.shared.model_class.average(
                    models, self.average == "nonzero"
                )
            except BaseException as error:
                raise (members.failures or [error])[0] from None
            if members.interrupt.count and members.stopped_by is None:
                members.stopped_by = KeyboardInterrupt()
        if members.stopped_by is not None:
            members.stopped_by.args = (members.kept(),)
        # Not before all are done: a fit that is killed, or interrupted, finds them.
        for checkpoint in members.checkpoints if members.stopped_by is None else ():
            checkpoint.remove()
        taggers = [members.all[number][0] for number in members.used]
        history = [
            {"member": number + 1, **record}
            for number, tagger in zip(members.used, taggers)
            for record in tagger.history_
        ]
        common = {"n_iter_": max(tagger.n_iter_ for tagger in taggers)}
        if hasattr(taggers[0], "classes_"):
            common["classes_"] = taggers[0].classes_
        estimator = clone(members.template)
        vars(estimator).update(common, _model=model)
        if members.stream:
            members.settle(estimator)
        kept = {"estimators_": taggers} if self.keep_members else {}
        return {
            **common,
            **kept,
            "n_estimators_": len(taggers),
            "history_": history,
            "estimator_": estimator,
        }

    def member_scores(
        self, X: Corpus, y: Corpus, sample_weight: Weights = None
    ) -> NDArray[np.float64]:
        """Return the scores of the single members, to compare with the score of their
        average.

        Needs ``keep_members=True``.

        Parameters
        ----------
        X, y
            As of ``fit``; sequences that the members have not seen.
        sample_weight : array-like of shape (n_sequences,), optional

        Returns
        -------
        ndarray of shape (n_estimators,)
            What each member's ``score`` gives, of taggers token accuracy. Their spread
            shows how much a result depends on the order of the examples.

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
        return np.array(
            [member.score(X, y, sample_weight) for member in self.estimators_]
        )


class _Members:
    """The members of an averager, trained as their models are asked for.

    Attributes
    ----------
    template : estimator
        What they are clones of.
    shared : Run
        On the examples of all members.
    all : list of (estimator, seed, examples)
    stream : bool
        Whether each makes one pass, as ``partial_fit`` does.
    events : epoch_context
        Tells callbacks of members.
    interrupt : DeferredInterrupt
        Stops all members.
    used : list of int
        The members whose models are in the average.
    stopped_by : KeyboardInterrupt or None
        What ended the training early, if something of it is kept.
    unfinished : bool
        Whether the one member used was not finished.
    checkpoints : list of Checkpoint
        Those of the members that have finished.
    failures : list of BaseException
        What members raised; the first one stopped the others.
    scratch : list
        Working memory of members that have finished, for those that begin.
    """

    events: epoch_context
    interrupt: DeferredInterrupt
    stopped_by: BaseException | None = None
    unfinished: bool = False

    def __init__(
        self,
        averager: BaggingShuffleAverager,
        X: Corpus,
        y: Corpus,
        metadata: dict[str, Any],
        given: tuple[Given, Given] | None = None,
        stream: bool = False,
    ) -> None:
        self.averager = averager
        self.X = X
        self.y = y
        self.stream = stream
        self.used: list[int] = []
        self.checkpoints: list[Checkpoint] = []
        self.failures: list[BaseException] = []
        self.scratch: list[Any] = []
        self.all: list[tuple[Any, int, np.ndarray]] = []
        self.template = averager._checked_template()._settled(X, y, **metadata)
        kept = averager.checkpoint is not None or self.template.checkpoint is not None
        random = check_random_state(seed_of_draws(averager, NO_DATA, kept))
        prepared = clone(self.template).set_params(random_state=new_key(random))
        prepared._validate_params()
        weight = metadata.get("sample_weight")
        # The groups are for the search that has settled the template.
        handed_on = metadata.keys() - {"sample_weight", "groups"}
        more = {name: metadata[name] for name in handed_on}
        more = {"stream": True, **more} if stream else {}
        self.shared = prepared._prepare(X, y, weight, given, **more)
        nonempty = np.flatnonzero(np.diff(self.shared.task.token) > 0)
        n_drawn = max(1, round(averager.max_samples * nonempty.shape[0]))
        parameters = (
            {} if averager.checkpoint is None else {"checkpoint": averager.checkpoint}
        )
        for _ in range(averager._n_members(nonempty.shape[0])):
            seed = new_key(random)
            drawn = nonempty
            if averager.bootstrap or n_drawn < nonempty.shape[0]:
                drawn = np.sort(
                    random.choice(nonempty, n_drawn, replace=averager.bootstrap)
                )
            member = clone(self.template).set_params(random_state=seed, **parameters)
            self.all.append((member, seed, drawn))

    def models(self, threads: int) -> Iterator[SavableModel]:
        """Train the members, and yield their models, in their order.

        After Ctrl-C these are the models of members that were finished by then; if none
        was, that of one that had completed epochs.
        """
        try:
            for number, model in enumerate(self._all(threads)):
                self.used.append(number)
                yield model
        except KeyboardInterrupt as error:
            self.stopped_by = (self.failures or [error])[0]
            if self.interrupt.at_once:
                raise
            if self.used:
                return
            members = [member for member, _, _ in self.all]
            epochs = [getattr(member, "n_iter_", 0) for member in members]
            best = int(np.argmax(epochs))
            if not epochs[best]:
                raise
            self.used.append(best)
            self.unfinished = True
            yield members[best]._model

    def kept(self) -> str:
        """Return what the exception after Ctrl-C says is kept."""
        what = f"the average of {len(self.used)} of {len(self.all)} members"
        if self.unfinished:
            number = self.used[0]
            n_iter = self.all[number][0].n_iter_
            what = f"member {number + 1} alone, after {n_iter} of its epochs"
        return f"training was interrupted; the estimator has {what}"

    def _all(self, threads: int) -> Iterator[SavableModel]:
        numbers = takewhile(lambda _: not self._is_stopped(), range(len(self.all)))
        if threads == 1:
            yield from map(self.train, numbers)
            return
        with ThreadPoolExecutor(threads) as pool:
            try:
                waiting: deque[Future[SavableModel]] = deque()
                for number in numbers:
                    waiting.append(pool.submit(self.train, number))
                    # No thread begins another one while its model waits.
                    if len(waiting) == threads:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            except BaseException:
                self._stop()
                raise

    def _is_stopped(self) -> bool:
        """Tell whether a callback has asked for no more members."""
        return not self.stream and self.events.stopped

    def _stop(self) -> None:
        """Stop all members, who finish a short epoch if something is to be kept."""
        if not self.interrupt.count or self.interrupt.at_once:
            self.interrupt.stop()

    def settle(self, estimator: OnlineLearner) -> None:
        """Let the average go on as a stream that began with its members."""
        state = estimator._training
        state.key = new_key(check_random_state(self.averager.random_state))
        state.closed = self.shared.state.closed
        state.pairs = self.shared.state.pairs

    def train(self, number: int) -> SavableModel:
        """Train a member and return its model.

        Nothing else holds the model, unless members are kept.
        """
        member, seed, drawn = self.all[number]
        keep = self.averager.keep_members
        try:
            if self.interrupt.count:
                raise KeyboardInterrupt
            run = self.shared.member(member, seed, drawn)
            run.title = f"member {number + 1}, "
            if self.scratch:
                run.work = self.scratch.pop()
            options = {"interrupt": self.interrupt, "for_good": not keep}
            if self.stream:  # of which callbacks are not told
                run.train(self.X, self.y, n_epochs=1, **options)
            else:
                with self.events.member(member, number, self.X, self.y):
                    _train(member, run, self.X, self.y, **options)
        except BaseException as error:
            self.failures.append(error)
            if not isinstance(error, KeyboardInterrupt):
                self.interrupt.at_once = True  # nothing of the others will be used
            self._stop()
            raise
        if run.work is not None:
            self.scratch.append(run.work)
        if run.checkpoint is not None:
            self.checkpoints.append(run.checkpoint)
        return member._model if keep else vars(member).pop("_model")


@with_callbacks
def _train(
    member: OnlineLearner, run: Run, X: Corpus, y: Corpus, **options: Any
) -> None:
    """Train a member under its callbacks, which the decorator closes."""
    context = member._callback_context(run)
    run.train(X, y, context, keep_checkpoint=True, **options)
