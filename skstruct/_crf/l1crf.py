"""The L1-regularised conditional random field."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._chain.chain_model import ChainModel, make_task
from .._data.inputs import is_between, renumbered
from .._data.types import Corpus, Given, History, Self, Weights
from .._saving.registry import savable
from .._sklearn import CallbackSupportMixin, Interval, Real, StrOptions, with_callbacks
from .._taggers.constraints import constraint_arrays
from .._taggers.labelled_corpus import class_costs, encoder_for, read_corpus
from .._taggers.probability_tagger import ProbabilityTagger
from .._taggers.sequence_tagger import PAIRS, TaggerParameters
from .._training.held_out import both_or_neither
from .._training.parameters import (
    CHECKPOINT,
    WARM_START,
    TrainingParameters,
    documented,
    parameter,
    parametrized,
)
from .crf_run import CRFRun, store_of
from .sharded import sharded_run

if TYPE_CHECKING:
    from .._data.corpus import TokenCorpus
    from .._data.labels import Labels
    from ..features.base import Encoder
    from .solver.solve import SparseWeights

LARGEST_PENALTY = 1e100
"""With larger strengths, twice a strength times a weight could be infinite."""


def check_strengths(what: str, values: Iterable[float], shown: Any) -> None:
    """Check that numbers can be the strengths of penalties; nan cannot.

    Parameters
    ----------
    what : str
        What the error calls them.
    values : iterable of float
    shown : object
        What the error says was given instead.

    Raises
    ------
    ValueError
    """
    if not all(is_between(value, 0.0, LARGEST_PENALTY) for value in values):
        raise ValueError(f"{what} must be from 0 to {LARGEST_PENALTY:g}, got {shown!r}")


@parametrized(kw_only=True)
class CRFParameters(TaggerParameters, TrainingParameters):
    """Parameters of an objective, its weights and its minimisation."""

    solver: Literal["two-stage", "owlqn", "sgd"] = parameter(
        default="two-stage",
        text="""Both stages, or the textbook method of each alone: OWL-QN from zero, or
        ``sgd_iter`` passes of SGD.""",
    )
    sgd_iter: int = parameter(default=4, text="Passes of the first stage.")
    eta0: float | Literal["auto"] = parameter(
        default="auto",
        text="""Learning rate of pass k is ``eta0 * decay ** k`` (Zhou et al. 2011,
        equation 12). ``"auto"``: 0.3, or less where features repeat so often within a
        sequence that such steps would overshoot.""",
        kind='float or "auto"',
        allowed=[Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
    )
    decay: float = parameter(
        default=0.7,
        text="""Learning rate of pass k is ``eta0 * decay ** k`` (Zhou et al. 2011,
        equation 12).""",
        kind="float in (0, 1]",
    )
    line_search: bool = parameter(
        default=False,
        text="Try several learning rates for each sequence (Zhou et al. 2011, algorithm 1).",
    )
    max_trials: int = parameter(default=3, text="Rates tried.")
    memory: int = parameter(
        default=80, text="Steps that quasi-Newton methods remember; often 10."
    )
    max_iter: int = parameter(
        default=1000, text="Maximum number of full passes after the first stage."
    )
    tol: float | None = parameter(
        default=None,
        text="""Tolerance of the stop. With a number, training stops when the expected
        further decrease, extrapolated from the last twenty passes as a geometric
        series, is below ``tol`` times the objective. That is an estimate; decreases of
        up to five times as much have been seen. With None, it stops when the objective
        is certainly at most 0.1 % above the optimum (``gap_``), or as with
        ``tol=2e-5``, whichever is first. Without such a bound (``c2=0``, or labels of
        None), or with one above 1 % (small ``c2``), it stops as with ``tol=2e-4``.""",
        kind="float >= 0 or None",
    )
    all_pairs: bool | Literal["states", "transitions"] = parameter(
        default="transitions", text=PAIRS.text, kind=PAIRS.kind, allowed=PAIRS.allowed
    )


@savable
@documented(
    constraints="""Labellings allowed: the name of a label scheme or (previous, next)
    pairs of labels, as in :class:`StructuredPerceptron`; those they forbid have
    probability 0.""",
    class_weight="""A margin, the cost of missing a token of a label, and not
    scikit-learn's weight of a class: ``{"O": 0.1}`` makes ``O`` more frequent, not
    less. It is added to its rivals' scores in training: softmax-margin [4]_. A dict
    maps labels to costs; ``"balanced"`` is inverse to frequency.""",
    warm_start="""Start ``fit`` from the weights of the last one, without the first
    stage.""",
    checkpoint="""Folder where ``fit`` keeps its state every few iterations, under a
    name made from parameters and data. A fit that finds its own state goes on from
    there (``resumed_from_`` says after how many entries of ``history_``) and ends as if
    it had never stopped; a finished fit removes its file.""",
    n_jobs="""Threads in training and prediction; results do not depend on it. Training
    uses eight at most. It uses two at most in passes that need the gradient of all
    features, on dense rows of numbers, and where most weights are in use, as with
    ``c1=0``: the corpus is summed in so many parts, which are the same for any number
    of threads.""",
    random_state="Determines the order of sequences in the first stage.",
    verbose="Print a line for each pass.",
)
@parametrized(kw_only=True)
class L1CRF(CRFParameters, CallbackSupportMixin, ProbabilityTagger):
    """Conditional random field with L1 and L2 penalties, trained to the optimum.

    Minimises ``Σ -log p(y|x) + c1 ‖λ‖₁ + c2 ‖λ‖²``. The default solver has two stages
    ([1]_, section 3.4): stochastic gradient descent with cumulative L1 penalty [2]_,
    then a quasi-Newton method. The second stage differs from the paper: OWL-QN [3]_
    steps run on a working set of nonzero weights only, with a long L-BFGS memory and a
    diagonal scaling. A full gradient is computed only to add weights to the set and to
    check the optimum. The weights are in :func:`skstruct.inspection.feature_weights` and
    :func:`skstruct.inspection.transition_weights`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
    objective_ : float
        The objective reached.
    optimality_ : float
        Norm of the subgradient of least norm: 0 at the exact optimum.
    max_violation_ : float
        Largest violation of the optimality conditions over all weights: by how much
        ``|gradient|`` exceeds ``c1`` where a weight is zero, and differs from it where
        it is not.
    gap_ : float
        How far ``objective_`` can be above the optimum, as a share of it: a bound that
        holds for certain. nan where none is known: with ``c2 = 0``, or labels of None.
    n_active_features_ : int
        Weights that are not zero, of (feature, label) pairs and transitions.
    n_iter_ : int
        Passes after the first stage (of SGD, if it is alone).
    history_ : list of dict
        For each pass ``stage`` (``"sgd"`` or ``"batch"``), ``seconds`` since training
        began, ``n_active`` (weights that are not zero), ``norm`` of the weights,
        ``objective`` (None in the first of two stages), ``optimality`` (as above, but
        before the pass, and of the weights that it works on; None in SGD), ``trials``
        and ``step`` (objectives computed in the line search, and the length that it
        took; not in SGD), and, if ``fit`` has held-out sequences, ``validation`` and
        ``validation_score``.

    References
    ----------
    .. [1] J. Zhou, X. Qiu, X. Huang (2011). A fast accurate two-stage training
       algorithm for L1-regularized CRFs with heuristic line search strategy. IJCNLP.
    .. [2] Y. Tsuruoka, J. Tsujii, S. Ananiadou (2009). Stochastic gradient descent
       training for L1-regularized log-linear models with cumulative penalty. ACL.
    .. [3] G. Andrew, J. Gao (2007). Scalable training of L1-regularized log-linear
       models. ICML.
    .. [4] K. Gimpel, N. Smith (2010). Softmax-margin CRFs: training log-linear models
       with cost functions. NAACL.

    Examples
    --------
    >>> from skstruct import L1CRF
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]] * 5
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]] * 5
    >>> crf = L1CRF(c1=0.1, random_state=0).fit(X, y)
    >>> crf.predict([["a", "dog", "sleeps"]])
    [['D', 'N', 'V']]
    >>> crf.predict_marginals([["a", "dog"]])[0].shape
    (2, 3)
    """

    c1: float = parameter(
        default=0.1, text="Strength of the L1 penalty.", kind="float in [0, 1e100]"
    )
    c2: float = parameter(
        default=0.1,
        text="Strength of the squared L2 penalty.",
        kind="float in [0, 1e100]",
    )
    warm_start: bool = copy(WARM_START)
    checkpoint: str | os.PathLike[str] | None = copy(CHECKPOINT)

    objective_: float = field(init=False)
    optimality_: float = field(init=False)
    max_violation_: float = field(init=False)
    gap_: float = field(init=False)
    n_active_features_: int = field(init=False)
    n_iter_: int = field(init=False)
    history_: History = field(init=False)
    resumed_from_: int = field(init=False)

    _after_pass = None
    """Called after each pass with its entry of ``history_`` and a function that returns
    the fitted attributes as they are then; training stops if it returns true.
    """

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
    ) -> Self:
        """Learn from labelled sequences.

        Parameters
        ----------
        X : list of sequences of tokens
            As in :meth:`StructuredPerceptron.fit`.
        y : list of sequences of labels
            None marks an unlabelled token: the likelihood then sums over its labels.
        sample_weight : array-like of shape (n_sequences,), optional
            Multiplies a sequence's log-likelihood. Sequences of weight 0 are left out
            altogether.
        X_val, y_val : lists of sequences, optional
            Held-out sequences. They do not influence training; ``history_`` then has
            ``validation``, their mean log-probability after each pass, and
            ``validation_score``, the model's score on them (``scoring``). Sequences
            without any label do not count; a label that training lacks has the
            probability 2.2e-16 in the former, as in
            :func:`skstruct.metrics.sequence_log_loss`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is not as described; the message names sequence and position.
            Likewise if ``solver="sgd"`` overflows, because ``eta0`` is too high. The
            estimator is then as before.
        KeyboardInterrupt
            After Ctrl-C; the weights that were reached are kept, and the model can be
            used.

        Warns
        -----
        UserWarning
            If ``y_val`` has labels that training lacks; once, naming them. Where the
            constraints then leave a sequence no labelling, all its labels have that
            probability.
            Before training begins, if so many labels take very long or much memory.
        ConvergenceWarning
            If ``max_iter`` passes were not enough, or no step lowers the objective
            though one should.
        """
        self._validate_params()
        given = both_or_neither(X_val, y_val)
        context = self._callback_context()
        self._prepare(X, y, sample_weight, given).train(X, y, context)
        return self

    @with_callbacks
    def fit_shards(
        self, shards: Sequence[Callable[[], tuple[Any, ...]]], *, client: Any = None
    ) -> Self:
        """Learn from data that each shard loads itself.

        Minimises the same objective as :meth:`fit` does with all sequences together.
        Shards are loaded and encoded at the same time, and stay where they are; in a
        pass they add up objective and gradient, of the weights in use alone. The result
        depends on the shards, and not on the workers, even if some of them fail.

        Parameters
        ----------
        shards : list of callables
            Called without arguments where the shard is held, each returns its ``(X,
            y)``, or ``(X, y, sample_weight)``. They may be called again: after a worker
            was lost. With ``client`` they are sent to the workers, so that they should
            hold names of files and not data.
        client : distributed.Client or str, optional
            A Dask client, the address of a scheduler, or ``"auto"`` for the client that
            this process has; needs ``skstruct[dask]``. None: in ``n_jobs`` threads of
            this process.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a callable fails or returns what is wrong (the message names the shard),
            the shards do not go together, or ``solver="sgd"``, which has no sum over
            shards. Likewise with ``warm_start=True`` after another fit.
        ImportError
            If ``client`` is given and Dask is not installed.
        RuntimeError
            If one shard's workers are lost again and again.
        KeyboardInterrupt
            After Ctrl-C; the weights that were reached are kept, and the model can be
            used.

        Warns
        -----
        UserWarning
            Before training begins, if so many labels take very long or much memory.
        ConvergenceWarning
            As :meth:`fit`.

        Notes
        -----
        In the first stage each shard descends over its own sequences, and after a pass
        the weights are averaged. ``history_`` has ``bytes_sent`` and ``bytes_received``
        besides, of all shards since the entry before (in threads: what a cluster would
        have to send).
        """
        self._validate_params()
        context = self._callback_context()
        with sharded_run(self, shards, client) as run:
            run.train(None, None, context)
        return self

    def _callback_context(self, run: Any = None) -> Any:
        """Return the callbacks' context of a fit."""
        # How many passes it takes is not known before.
        return self._init_callback_context(max_subtasks=None)

    def _prepare(
        self,
        X: Corpus | TokenCorpus,
        y: Corpus,
        sample_weight: Weights,
        given: tuple[Given, Given] | None = None,
        is_part: bool = False,
    ) -> CRFRun:
        """Check and encode everything; what is left to do is to train.

        Parameters
        ----------
        X, y, sample_weight
            As of :meth:`fit`.
        given : tuple (X_val, y_val) or None
            The user's held-out sequences.
        is_part : bool
            Whether the corpus is one shard of several.
        """
        before = self._model if self.warm_start and hasattr(self, "_model") else None
        corpus = read_corpus(
            self,
            X,
            y,
            sample_weight,
            None if before is None else before.labels,
            is_part=is_part,
        )
        cost = class_costs(self.class_weight, corpus.gold.ids, corpus.labels, 0.0)
        with renumbered(corpus.positions):
            encoder = encoder_for(self, corpus.X, before, scaled=False)
            task = make_task(
                encoder,
                corpus.X,
                corpus.gold,
                corpus.weight,
                grow=True,
                rows_as_features=True,
            )
        run = CRFRun(
            self, task, encoder, corpus.labels, corpus.constraints, cost, before
        )
        run.hold_out(given)
        return run


def ready_crf(
    encoder: Encoder,
    labels: Labels,
    nodes: SparseWeights,
    edges: SparseWeights,
    **parameters: Any,
) -> L1CRF:
    """Make an :class:`L1CRF` with given weights.

    It predicts, and goes on learning under ``warm_start``; attributes about a training,
    such as ``objective_``, it has only after a ``fit``.

    Parameters
    ----------
    encoder : Encoder
    labels : Labels
    nodes, edges : SparseWeights
        As in :class:`.solver.solve.CRFResult`.
    **parameters
        Of the estimator.
    """
    crf = L1CRF(**parameters)
    model = ChainModel(
        encoder,
        labels,
        store_of(nodes, save_memory=True),
        store_of(edges, save_memory=True),
        constraint_arrays(None, labels),
    )
    n_active = int(np.count_nonzero(nodes.values) + np.count_nonzero(edges.values))
    vars(crf).update(
        {"_model": model, "classes_": labels.array, "n_active_features_": n_active}
    )
    return crf
