"""Parameter mixing: training on shards of the data, in threads or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from copy import copy
from dataclasses import KW_ONLY, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import clone

from ..._data.inputs import NothingToLearn
from ..._data.places import describe
from ..._data.types import Corpus, Given, Self, Weights
from ..._saving.registry import savable
from ..._sklearn import InvalidParameterError, with_callbacks
from ..._taggers.meta_learner import TRAINABLE, MetaLearner
from ..._training.checkpoint import seed_of_draws
from ..._training.held_out import both_or_neither
from ..._training.learner import OnlineLearner
from ..._training.parameters import (
    CHECKPOINT,
    documented,
    inner_estimator,
    parameter,
    parameters_named,
    parametrized,
)
from ..._training.run import new_key
from ..held import DaskShards, LocalShards
from ..loading import Job, check_loads, check_number, dealt, open_shard
from ..shards import Met, Shard, counting_all, in_turn, shard_key
from .rounds import Rounds

if TYPE_CHECKING:
    from ..._taggers.inner_tagger import TaggerTraining
    from ..._training.run import Run
    from ..loading import Load


@savable
@documented(
    checkpoint="""Folder where the mixed weights are kept after each round, so that a
    fit that was killed goes on from there; see the learner's parameter. Needs
    ``strategy="iterative"``.""",
    n_jobs="Threads, in training (over shards) and prediction. Results do not depend on it.",
    random_state="Determines orders and noise.",
)
@parametrized()
class ParameterMixer(MetaLearner):
    """Train an online learner on shards of the data, and mix the weights.

    Every shard trains for an epoch from the mixed weights; the weights that come back
    are mixed, and the next round begins [1]_. Shards train at the same time, in threads
    or on a Dask cluster, where each is loaded and encoded by one worker, stays there,
    and only weights travel. The result is one model.

    Attributes
    ----------
    estimator_ : estimator
        The estimator, fitted with the mixed weights.
    classes_ : ndarray of shape (n_labels,)
        If the estimator has labels.
    n_iter_ : int
        Epochs of each shard.
    history_ : list of dict
        For each round: ``updates`` and ``loss`` over all shards, ``sequence_error``,
        ``token_error``, ``mixture`` (the shards' weights), ``bytes_sent`` to the
        shards, ``bytes_received`` of their sum (in threads: what a cluster would have
        to send), ``seconds``, and ``validation_score`` if ``fit`` has held-out
        sequences.
    resumed_from_ : int
        With ``checkpoint`` only: rounds that an earlier fit had completed, 0 if there
        was none.

    Notes
    -----
    The average of the weights is mixed too. With ``w[i,n,t]`` the weights of shard i
    after step t of round n, ``T[i,n]`` steps long, and the mixture ``μ[i,n]``, the
    averaged model is

    .. code-block:: text

        (1 / Σ_n T[n]) Σ_n T[n] Σ_i μ[i,n] (1 / T[i,n]) Σ_t w[i,n,t],    T[n] = round(Σ_i μ[i,n] T[i,n])

    Under the cumulative L1 penalty the penalty received so far is mixed like the
    weights. Each shard draws its own noise. One shard trains like the estimator itself,
    to the bit.

    A step on one of S shards moves the mixed weights by 1/S, so that more shards need
    more rounds: `docs/scaling.md` has measurements.

    What a cluster, or ``fit_shards``, adds to that: every shard numbers the features
    that it meets, and the numberings are united in the order of the shards.
    ``feature_noise`` and ``edge_noise`` draw by these numbers, so that under them
    ``fit`` without ``client``, which numbers the features of ``X`` as a whole, draws
    other noise for the same shards; else the weights are the same. Features that count
    accessor varieties are statistics of a whole text, and work in ``fit`` without
    ``client`` only. A shard without a token to learn from takes no part.

    References
    ----------
    .. [1] R. McDonald, K. Hall, G. Mann (2010). Distributed training strategies for the
       structured perceptron. NAACL.

    Examples
    --------
    >>> from skstruct import ParameterMixer, StructuredPerceptron
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> mixer = ParameterMixer(StructuredPerceptron(max_iter=5), n_shards=3, random_state=0).fit(X, y)
    >>> mixer.predict([["a", "dog", "sleeps"]])
    [['D', 'N', 'V']]

    Data that is nowhere held as a whole: each callable runs where its shard is trained.

    >>> shards = [lambda: (X[:2], y[:2]), lambda: (X[2:], y[2:])]
    >>> mixer.fit_shards(shards).predict([["a", "dog", "sleeps"]])
    [['D', 'N', 'V']]
    """

    estimator: Any = inner_estimator(
        """The learner: any that learns example by example, or a ``Segmenter`` or
        ``SpanTagger`` around one. None means ``StructuredPerceptron()``. Its
        ``max_iter`` is the number of rounds, its ``random_state`` is overridden."""
    )
    n_shards: int = parameter(
        default=2,
        text="Shards that ``fit`` deals the sequences to, in turn. ``fit_shards`` brings "
        "its own.",
    )
    _: KW_ONLY
    checkpoint: str | os.PathLike[str] | None = copy(CHECKPOINT)
    strategy: Literal["iterative", "once"] = parameter(
        default="iterative",
        text="""Mix after every epoch, which separates all data that can be separated
        ([1]_, theorem 3), or let each shard train for ``max_iter`` epochs and mix once,
        which need not ([1]_, theorem 2).""",
    )
    mixing: Literal["uniform", "errors", "nonzero"] = parameter(
        default="uniform",
        text="""Shards count the same, or in proportion to their updates in the round.
        Or each weight is the mean over the shards that changed it in the round: not in
        [1]_ and without its guarantee, but with many shards much better, because
        features that few shards have keep their weight (`docs/scaling.md`).""",
    )
    client: str | None = parameter(
        default=None,
        text="""Address of a Dask scheduler, or "auto" for the client that this process
        has; needs ``skstruct[dask]``. Results do not depend on the workers, even if
        some of them fail.""",
        kind="str or None",
        allowed=[str, None],
    )

    resumed_from_: int = field(init=False)

    def _validate_params(self) -> None:
        """Check the parameters; a client of Dask is refused by :meth:`_refuse_client`."""
        self._refuse_client()
        super()._validate_params()

    def __sklearn_clone__(self) -> Self:
        """Copy without fitted attributes, as `sklearn.base.clone` asks."""
        self._refuse_client()
        return super().__sklearn_clone__()

    def _refuse_client(self) -> None:
        """Raise for a ``client`` that is no str, which could not be copied or saved."""
        if self.client is not None and not isinstance(self.client, str):
            raise InvalidParameterError(
                "The 'client' parameter of ParameterMixer must be a str or None, since "
                f"parameters are copied and saved; got {describe(self.client)}: "
                "client='auto' is the client of this process, and "
                "client.scheduler.address the address of its scheduler"
            )

    # -- fitting -----------------------------------------------------------------------
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
        """Deal the sequences to shards and train.

        Parameters
        ----------
        X, y, sample_weight
            As the estimator's ``fit`` takes them.
        X_val, y_val : optional
            Held-out sequences, on which the mixed model is scored after each round,
            with the learner's ``scoring``. With its ``early_stopping`` they decide when
            to stop and which round to keep.
        **params
            Metadata that the estimator asks for, with scikit-learn's metadata routing.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is wrong, there are fewer sequences than shards, or the
            estimator cannot be mixed.
        ImportError
            If ``client`` is given and Dask is not installed.
        KeyboardInterrupt
            After Ctrl-C; the rounds completed are kept, and the model can be used.
        """
        self._validate_params()
        given = both_or_neither(X_val, y_val)
        estimator, learner = self._checked(given)
        metadata = self._routed("fit", {"sample_weight": sample_weight, **params})
        metadata = estimator._learner_metadata(metadata)
        if odd := sorted(metadata.keys() - {"sample_weight"}):
            raise ValueError(
                f"{odd[0]}: the shards of ParameterMixer are given weights of "
                f"sequences alone"
            )
        if self.client is not None:
            loads = dealt(X, y, metadata.get("sample_weight"), self.n_shards)
            return self._fit_jobs(estimator, learner, loads, X, y, given)
        # Not a copy: a RandomState moves on, as in the learner.
        kept = self.checkpoint is not None
        learner.random_state = seed_of_draws(self, np.array([self.n_shards]), kept)
        data: Any = X  # a corpus, or texts if it is around a tagger
        run, known = estimator._prepare_with(learner, data, y, **metadata)
        n = run.visited.shape[0]
        check_number(self.n_shards, n)

        def member(s: int) -> Shard:
            shard = run.member(learner, 0, run.visited[s :: self.n_shards])
            shard.state.key = shard_key(run.state.key, s)
            return Shard(shard)

        run.hold_out(estimator._given_to_learner(given))
        with closing(LocalShards(self.n_jobs)) as crew:
            crew.make(member, range(self.n_shards))
            crew.step("join", shared=self.n_shards == 1)
            return self._rounds(crew, run, known, n, int(run.task.token[-1]), X, y)

    @with_callbacks
    def fit_shards(self, shards: Sequence[Callable[[], tuple[Any, ...]]]) -> Self:
        """Train on data that each shard loads itself.

        Parameters
        ----------
        shards : list of callables
            Called without arguments where the shard is trained, each returns its ``(X,
            y)``, or ``(X, y, sample_weight)``. They may be called again: after a worker
            was lost. With ``client`` they are sent to the workers, so that they should
            hold names of files and not data.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a callable fails or returns what is wrong (the message names the shard),
            or the shards do not go together.
        RuntimeError
            If one shard's workers are lost again and again.
        """
        self._validate_params()
        estimator, learner = self._checked()
        return self._fit_jobs(estimator, learner, check_loads(shards))

    def _checked(
        self, given: tuple[Given, Given] | None = None
    ) -> tuple[OnlineLearner | TaggerTraining, OnlineLearner]:
        """Return the estimator asked for, and a learner, after a check of both.

        With ``given``, the user's held-out sequences, early stopping is for rounds, and
        shards have none.
        """
        estimator = self._checked_template()
        self._to_fit()
        learner = estimator._learner()
        if self.checkpoint is not None and self.strategy == "once":
            raise ValueError(
                'checkpoint needs strategy="iterative": with "once" there is nothing to keep before the end'
            )
        for inner in (estimator, learner):
            if getattr(inner, "_skl_callbacks", None):
                raise ValueError(
                    f"callbacks of {type(inner).__name__} do not go with "
                    f"ParameterMixer: its shards have no "
                    f"fit of their own; set them on the ParameterMixer, which tells "
                    f"them of its rounds"
                )
        if given is not None:
            stopping = {
                name: False
                for name, stops in parameters_named(estimator, "early_stopping").items()
                if stops
            }
            estimator = clone(estimator).set_params(**stopping)
            learner.early_stopping = False
        for name, hint in (
            ("early_stopping", "; with X_val and y_val in fit it does"),
            ("checkpoint", ""),
        ):
            if getattr(learner, name, None):
                raise ValueError(
                    f"{name}={getattr(learner, name)!r} of {type(learner).__name__} "
                    f"does not go with "
                    f"ParameterMixer: its shards train for max_iter rounds{hint}"
                )
        learner._validate_params()
        return estimator, learner

    def _stops(self) -> bool:
        """Tell whether the learner asks for early stopping."""
        return bool(self._template()._learner().early_stopping)

    def _refusal(self, template: Any) -> str | None:
        around = hasattr(template, "_learner")
        inner = template._learner() if around else template
        if isinstance(inner, OnlineLearner):
            return None
        if around or hasattr(inner, TRAINABLE):
            return (
                f"{type(inner).__name__} does not learn example by example, so that there are no weights to "
                f"mix after an epoch"
            )
        return super()._refusal(template)

    def _fit_jobs(
        self,
        estimator: OnlineLearner | TaggerTraining,
        learner: OnlineLearner,
        loads: list[Load],
        X: Given = None,
        y: Given = None,
        given: tuple[Given, Given] | None = None,
    ) -> Self:
        """Train shards that know how to load their data."""
        key = new_key(self.random_state)
        shipped = clone(estimator)
        with closing(
            LocalShards(self.n_jobs) if self.client is None else DaskShards(self.client)
        ) as crew:
            crew.make(
                open_shard, [Job(s, load, shipped, key) for s, load in enumerate(loads)]
            )
            answers = crew.ask("met", shared=learner.min_count)
            met = [answer for answer in answers if isinstance(answer, Met)]
            if not met:
                raise NothingToLearn(answers[0])
            with counting_all(answers):
                known = estimator._agreed([shard.fitted or {} for shard in met])
                run, plans = met[0].kind.merged(
                    [shard.vocabulary for shard in met], learner, key
                )
            run.hold_out(estimator._given_to_learner(given))
            crew.step("join", in_turn(answers, plans), shared=len(loads) == 1)
            n_examples = sum(shard.n_examples for shard in met)
            n_tokens = sum(shard.n_tokens for shard in met)
            return self._rounds(crew, run, known, n_examples, n_tokens, X, y)

    def _rounds(
        self,
        crew: LocalShards | DaskShards,
        run: Run,
        known: dict[str, Any],
        n_examples: int,
        n_tokens: int,
        X: Given,
        y: Given,
    ) -> Self:
        """Train and mix, and return this object, fitted."""
        rounds = Rounds(self, crew, run, known, n_examples, n_tokens)
        return rounds.train(
            X, y, self._init_callback_context(max_subtasks=rounds.n_rounds)
        )
