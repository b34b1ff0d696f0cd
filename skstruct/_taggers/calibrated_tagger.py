"""Any tagger's scores as probabilities."""

from __future__ import annotations

from copy import copy
from dataclasses import KW_ONLY, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._core.user_warnings import warn
from .._data.folds import folds_of
from .._data.inputs import Sequences, as_tokens, check_X_y, is_int, renumbered, take
from .._data.types import Corpus, Given, Ranked, Self, Weights
from .._saving.registry import savable
from .._sklearn import (
    CallbackSupportMixin,
    fit_some,
    sample_weights,
    set_fitted,
    with_callbacks,
)
from .._training.callbacks import epoch_context
from .._training.chunks import threads
from .._training.held_out import NAMES, both_or_neither
from .._training.parameters import (
    RunParameters,
    documented,
    inner_estimator,
    parameter,
    parameters_named,
    parametrized,
)
from .constraints import scheme_of
from .meta_learner import FitsAnother, MetaLearner, ShowsTraining
from .overrides import overridden, says_overridden
from .perceptron import StructuredPerceptron
from .probability_tagger import ProbabilityTagger
from .sequence_tagger import SequenceTagger
from .temperature import EncodedFold, encoded_fold, fit_temperature, in_units_of

if TYPE_CHECKING:
    from .._chain.chain_model import ChainModel
    from .._data.corpus import TokenCorpus


Fold: TypeAlias = tuple[np.ndarray, np.ndarray]
"""Positions of the sequences to train on, and of those to test on."""


READ = "predict", "predict_kbest", "decision_function", "encode"
"""What is not called: labels and scores are read off the model."""

NO_TEMPERATURE = (
    "a callback stopped CalibratedTagger.fit before a fold was scored: it has no "
    "temperature, and predicts without probabilities"
)

ENOUGH_TOKENS = 50_000
"""Tokens by which the temperature is found at most: they determine it to half a
percent.
"""

ENOUGH_SEEN = 200
"""Sequences by which the unit of two taggers' scores is compared, at most."""


class TooFewSequences(ValueError):
    """Fewer sequences than the folds by which a temperature is found."""


@savable
@documented(
    n_jobs="Threads, over parts in training, and in prediction. Results do not depend on it.",
    random_state="""Determines which sequences the temperature is found by, if they have
    over 50,000 tokens; not the estimator.""",
)
@parametrized()
class CalibratedTagger(  # type: ignore[override]  # its model is that of its tagger
    ShowsTraining, FitsAnother, RunParameters, CallbackSupportMixin, ProbabilityTagger
):
    """Probabilities from the scores of a tagger.

    Scores divided by a temperature are the log-probabilities of a conditional random
    field, up to a constant: ``p(y|x) = exp(score(y) / temperature) / Z(x)`` [1]_.
    Predictions stay those of the tagger.

    The temperature is the one under which labels that the tagger was not trained on are
    most likely: the corpus is divided into ``cv`` folds, and a clone trained on the
    others scores each of them. The tagger that predicts is trained on everything. Its
    scores may be larger than those of the clones; by how much shows on sequences that
    both were trained on, and the temperature is in its unit.

    Attributes
    ----------
    estimator_ : estimator
        The tagger, trained on everything; or the one that was frozen.
    temperature_ : float, if a fold was scored before a callback stopped the fit
        What scores are divided by. 1 if it makes no difference, since there is but one
        labelling; inf if the labels of the folds are no more likely under the scores
        than by chance.
    classes_ : ndarray of shape (n_labels,)
    history_ : list of dict
        That of ``estimator_``.
    n_iter_ : int
        Epochs of ``estimator_``.

    Notes
    -----
    A label that the training data of a fold lacks counts as not given in the fold.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun, K. Weinberger (2017). On calibration of modern
       neural networks. ICML.

    Examples
    --------
    >>> from skstruct import CalibratedTagger, StructuredPerceptron
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]] * 5
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]] * 5
    >>> tagger = CalibratedTagger(StructuredPerceptron(random_state=0), random_state=0).fit(X, y)
    >>> tagger.predict([["a", "dog", "sleeps"]])
    [['D', 'N', 'V']]
    >>> ((labels, log_proba),) = tagger.predict_kbest([["a", "dog", "sleeps"]], k=1)[0]
    >>> labels, -1.0 < log_proba < 0.0
    (['D', 'N', 'V'], True)
    """

    estimator: Any = inner_estimator(
        """The tagger, which may be an average or a mixture; None means
        ``StructuredPerceptron()``. A ``sklearn.frozen.FrozenEstimator`` around a fitted
        one is not trained again: all sequences given to ``fit`` are then for the
        temperature, and should be others than it was trained on."""
    )
    _: KW_ONLY
    method: Literal["temperature"] = parameter(
        default="temperature", text="One temperature for all scores."
    )
    cv: Any = parameter(
        default=5,
        text="""Parts of the corpus. A number makes parts of consecutive sequences, or
        of consecutive groups if ``fit`` is given some, None five of them:
        neighbours are often of one document, and new texts are of others. The positions
        of a splitter or an iterable refer to ``X``. A frozen estimator needs none.""",
        kind="int, splitter, iterable of (train, test) or None",
        allowed=["cv_object"],
    )

    estimator_: Any = field(init=False)
    temperature_: float = field(init=False)

    _hands_on = False
    _not_combinable = "its temperature is that of one model; use {} inside of it"
    """The reason why averages and mixtures do not take it."""

    @property
    def _scheme(self) -> str | None:
        return scheme_of(self.estimator_)

    @property
    def _distribution(self) -> ChainModel:
        if "temperature_" not in vars(self):
            raise NotFittedError(NO_TEMPERATURE)
        return replace(self._model, scale=1.0 / self.temperature_)

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
        groups: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Train the tagger, and find its temperature.

        Parameters
        ----------
        X, y
            As the estimator's ``fit`` takes them.
        sample_weight : array-like of shape (n_sequences,), optional
            Multiplies a sequence's log-likelihood in the choice of the temperature; and
            handed to the estimator, with metadata routing if it asks for it.
        X_val, y_val : lists of sequences, optional
            Held-out sequences, handed to the ``fit`` of the tagger that predicts. The
            clones by which the temperature is found do not see them.
        groups : array-like of shape (n_sequences,), optional
            For instance documents: for splitters that keep groups together, such as
            ``GroupKFold``; a number as ``cv`` cuts none of them either. With metadata
            routing handed to the estimator, if it asks for them.
        **params
            Metadata that the estimator asks for, with scikit-learn's metadata routing.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is not as the estimator takes it (the message names the place),
            or there are fewer sequences, or groups, than folds. This estimator is then as it was
            before.
        TypeError
            If the estimator is no chain tagger.
        KeyboardInterrupt
            After Ctrl-C; this estimator is then as it was before.

        Warns
        -----
        UserWarning
            If the labels of the folds are no more likely under the scores than by
            chance; or if a callback stopped the fit before a fold was scored.
        """
        self._validate_params()
        template = self._to_fit()
        _check_tagger(template)
        given = both_or_neither(X_val, y_val)
        shown = X, y
        corpus, y, _ = check_X_y(X, y, read=as_tokens)
        weight = sample_weights(sample_weight, corpus)
        metadata = self._routed(
            "fit", {"sample_weight": weight, **params}, shared={"groups": groups}
        )
        used = np.flatnonzero(
            (corpus.lengths > 0) & (True if weight is None else weight > 0.0)
        )
        if frozen := isinstance(template, FrozenEstimator):
            trained = template.estimator
            check_is_fitted(trained)
            if given is not None:
                raise ValueError("X_val and y_val: a frozen estimator is not trained")
        folds = [(used[:0], used)] if frozen else self._folds(used, *shown, groups)
        n_trained = 0 if frozen else 1 + len(folds)
        context = self._init_callback_context(
            max_subtasks=n_trained, sequential_subtasks=False
        )
        events = epoch_context(context, self, corpus.for_users(), y)
        events.begin_fit()
        each = np.ones(len(corpus)) if weight is None else weight
        members = _Members(template, corpus, y, each, metadata, events)
        if not frozen:
            held_out = dict(zip(NAMES, given or ()))
            trained = members.train(
                0, clone(template), np.arange(len(corpus)), **held_out
            )
        folds = self._drawn(folds, corpus.lengths)

        def part(number: int) -> EncodedFold | None:
            if events.stopped:
                return None
            return members.scored_fold(number, folds[number], trained._model)

        with threads(self.n_jobs, len(folds)) as map_all:
            parts = [each for each in map_all(part, range(len(folds))) if each]
        found = {"estimator_": trained, "classes_": trained.classes_}
        if parts:
            found["temperature_"] = fit_temperature(parts, self.n_jobs)
        else:
            warn(NO_TEMPERATURE)
        events.end_fit(found)
        set_fitted(self, found, "temperature_")
        return self

    def _folds(
        self, used: np.ndarray, X: Corpus, y: Corpus, groups: ArrayLike | None
    ) -> list[Fold]:
        """Return [(train, test)]: positions of sequences with tokens and a weight.

        ``used`` has all of these.
        """
        cv = 5 if self.cv is None else self.cv
        if is_int(cv):
            if len(used) < cv:
                raise TooFewSequences(
                    f"cv={cv} folds need at least as many sequences that are not "
                    f"empty, got {len(used)}; with a FrozenEstimator all sequences "
                    "are for the temperature"
                )
        folds = folds_of(cv, X, y, groups, apart=True, used=used)
        folds = [(train, test) for train, test in folds if len(test)]
        if not folds or not all(len(train) for train, _ in folds):
            raise ValueError(
                "cv leaves no sequence that is not empty to train on, or to test on"
            )
        return folds

    def _drawn(self, folds: list[Fold], lengths: np.ndarray) -> list[Fold]:
        """Cut the folds down to as many sequences as one number needs."""
        scored = np.unique(np.concatenate([test for _, test in folds]))
        order = check_random_state(self.random_state).permutation(scored)
        before = np.cumsum(lengths[order]) - lengths[order]
        chosen = np.isin(np.arange(len(lengths)), order[before < ENOUGH_TOKENS])
        return [(train, test[chosen[test]]) for train, test in folds]

    def adapt(self, X: Corpus | None) -> Self:
        """Count accessor varieties anew, on unlabelled text; see the estimator's
        ``adapt``.

        Parameters
        ----------
        X : list of sequences, or None

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the estimator was frozen: it stays as it is. And as the estimator's
            ``adapt``.
        """
        check_is_fitted(self)
        self._refuse_frozen("adapt")
        adapted = copy(self.estimator_)
        adapted.adapt(X)
        self.estimator_ = adapted
        return self

    # -- prediction --------------------------------------------------------------------
    def predict_kbest(self, X: Corpus, k: int = 5, allowed: Given = None) -> Ranked:
        """Return the k most probable labellings of each sequence.

        Parameters
        ----------
        X : list of sequences of tokens
        k : int, default=5
        allowed : list of lists, optional
            As in :meth:`predict`. Probabilities are those among all labellings, not
            among those allowed.

        Returns
        -------
        list of lists of (labels, log-probability)
            For each sequence up to k distinct labellings, best first; fewer if there
            are no more.
        """
        found = super().predict_kbest(X, k, allowed)
        scale = self._distribution.scale
        log_z = self._log_partitions(X)[0].tolist()
        return Sequences(
            [(labels, min(score * scale - z, 0.0)) for labels, score in ranked]
            for ranked, z in zip(found, log_z)
        )


class _Members(NamedTuple):
    """The tagger that predicts, and its clones, which score a fold each."""

    template: Any  # what they are clones of
    X: TokenCorpus
    y: Corpus
    weight: np.ndarray  # (n,) of the sequences
    metadata: dict[str, Any]
    events: Any  # for callbacks

    def train(self, number: int, tagger: Any, keep: np.ndarray, **given: Any) -> Any:
        """Train a tagger on some of the sequences."""
        X = self.X.take(keep).for_users()
        with self.events.member(tagger, number, X, take(self.y, keep)):
            return fit_some(tagger, self.X, self.y, keep, self.metadata, **given)

    def scored_fold(self, number: int, fold: Fold, model: ChainModel) -> EncodedFold:
        """Encode a fold for a clone trained on the others, in the unit of ``model``.

        Without sequences to train on, the fold is for ``model`` itself.
        """
        train, test = fold
        X = self.X
        y = self.y
        if len(train):
            # The lines of a clone that prints some would look like those of the tagger.
            silent = clone(self.template).set_params(
                **dict.fromkeys(parameters_named(self.template, "verbose"), 0)
            )
            member = self.train(number + 1, silent, train)._model
            n_seen = min(len(train), ENOUGH_SEEN)
            seen = train[np.linspace(0, len(train) - 1, n_seen).astype(np.int64)]
            model = in_units_of(model, member, X.take(seen), take(y, seen))
        with renumbered(test):
            return encoded_fold(model, X.take(test), take(y, test), self.weight[test])


def _check_tagger(template: Any) -> None:
    """Raise unless an estimator is a chain tagger, or an average or mixture of one."""
    inner: Any = template
    layers = [inner]
    while isinstance(inner, (FrozenEstimator, MetaLearner)):
        inner = StructuredPerceptron() if inner.estimator is None else inner.estimator
        layers.append(inner)
    if isinstance(inner, SequenceTagger) and not isinstance(inner, CalibratedTagger):
        for layer in layers:
            method = overridden(layer, *READ)
            if method is not None:
                raise TypeError(says_overridden(layer, method, "CalibratedTagger"))
        return
    hint = ""
    if hasattr(inner, "tagger"):
        hint = f"; put it inside: {type(inner).__name__}(CalibratedTagger(tagger))"
    elif hasattr(inner, "steps"):
        hint = "; put it into the last step of the pipeline"
    kind = type(inner).__name__
    raise TypeError(
        f"CalibratedTagger needs a tagger whose scores are sums over a chain, got a "
        f"{kind}{hint}"
    )
