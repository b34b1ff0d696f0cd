"""The choice of both penalties of a conditional random field by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .._data.folds import folds_of
from .._data.inputs import as_tokens, check_X_y, take
from .._data.labels import distinct_labels
from .._data.places import refuse_number, refuse_str
from .._data.types import Corpus, Self
from .._saving.fields import value, via
from .._saving.registry import savable
from .._saving.values import savable_value
from .._sklearn import (
    CallbackSupportMixin,
    HasMethods,
    sample_weights,
    set_fitted,
    takes_sample_weight,
    with_callbacks,
)
from .._taggers.probability_tagger import ProbabilityTagger
from .._training.callbacks import epoch_context
from .._training.chunks import threads
from .._training.interrupt import DeferredInterrupt
from .._training.parameters import documented, parameter, parametrized
from ..metrics.checks import in_order
from ..metrics.countable import labels_in
from ..metrics.scorers import SCORERS
from .l1crf import L1CRF, CRFParameters, check_strengths
from .path import Fold, FoldSearch
from .solver.solve import MEASURES

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from .._data.corpus import TokenCorpus
    from .._data.types import Given
    from .._saving.values import Reader, Writer
    from .crf_run import CRFRun
    from .path import Tried

ITERABLE = [HasMethods(["__iter__"])]
KEPT = "training was interrupted; the search is kept (best_params_, cv_results_)"
WITH_MODEL = f"{KEPT}, and of the refit the weights that it had reached"
WITHOUT_MODEL = f"{KEPT}, without a model: fit an L1CRF(**search.best_params_)"
"""The message after Ctrl-C in the refit."""


@savable
@documented(
    constraints="""Labellings allowed: the name of a label scheme or (previous, next)
    pairs of labels, as in :class:`StructuredPerceptron`.""",
    class_weight="""A margin, the cost of missing a token of a label, and not
    scikit-learn's weight of a class, as in :class:`L1CRF`.""",
    scoring="""Score that chooses the candidate, on the test part of each fold, and that
    ``score`` returns: None means token accuracy; a str names a scorer of
    ``skstruct.metrics.SCORERS``, such as ``"segment_f1"``; a callable is called as
    ``scoring(estimator, X, y)`` and returns a number. More is better.""",
    n_jobs="""Threads, over folds and then in the passes of each; and in prediction.
    Results do not depend on it.""",
    random_state="Determines the order of sequences in first stages.",
    verbose="Print a line for each candidate in each fold.",
)
@parametrized(kw_only=True)
class L1CRFCV(CRFParameters, CallbackSupportMixin, ProbabilityTagger):
    """Conditional random field whose penalties are chosen by cross-validation.

    Does what ``GridSearchCV(L1CRF(), {"c1": ..., "c2": ...})`` does, with shared work:
    a fold is encoded once, and each candidate starts from the nearest one before.
    Candidates are minimised as far as a choice needs (``selection_tol``); the chosen
    one is then fitted to all sequences as :class:`L1CRF` does it. The result is a
    fitted tagger with all that a fitted :class:`L1CRF` can do.

    Attributes
    ----------
    c1_, c2_ : float
        The penalties chosen: of the best mean score; of several the strongest.
    best_score_ : float
        Their mean score over the folds.
    best_params_ : dict
        Their names and values.
    best_index_ : int
        Their place in ``cv_results_``.
    cv_results_ : dict of lists or arrays, one entry for each candidate
        The keys of ``GridSearchCV``, and for each fold ``split0_objective`` and
        ``split0_n_iter``.
    n_splits_ : int
        Folds.
    best_estimator_ : L1CRF
        The model, with ``refit``; the same one whenever it is asked for.
    classes_, objective_, optimality_, max_violation_, gap_, n_active_features_,
    n_iter_, history_
        As of :class:`L1CRF`, with ``refit``.

    Notes
    -----
    No fold learns from its test part: its labels, its features, clusters of words
    (``words``), its pairs of features and labels, and the weights that candidates start
    from, come from its training part alone. A sequence that a training part holds
    twice, as a bootstrap draws it, counts twice.

    A callback that returns true ends the search. Candidates are compared by the folds
    that were finished; if none was, those tried in one fold are compared by it. The
    penalties chosen are then fitted to all sequences.

    Examples
    --------
    >>> from skstruct import L1CRFCV
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]] * 5
    >>> y = [["D", "N", "V"]] * 15
    >>> search = L1CRFCV(c1s=[0.1, 10], c2s=[0.1], cv=3, random_state=0).fit(X, y)
    >>> search.best_params_
    {'c1': 0.1, 'c2': 0.1}
    >>> search.predict([["a", "dog", "sleeps"]])
    [['D', 'N', 'V']]
    """

    _follows = ("_refitted",)  # see `best_estimator_`

    c1s: Iterable[float] = parameter(
        default=(0.03, 0.1, 0.3, 1.0),
        text="Strengths of the L1 penalty.",
        kind="iterable of float >= 0",
        allowed=ITERABLE,
    )
    c2s: Iterable[float] = parameter(
        default=(0.01, 0.1),
        text="Strengths of the squared L2 penalty; each is tried with each of ``c1s``.",
        kind="iterable of float >= 0",
        allowed=ITERABLE,
    )
    candidates: Iterable[Any] | None = parameter(
        default=None,
        text="""Pairs (c1, c2), or dicts as of scikit-learn's ``ParameterGrid`` and
        ``ParameterSampler``, to try in place of the grid.""",
        kind="iterable or None",
        allowed=[*ITERABLE, None],
    )
    cv: Any = parameter(
        default=None,
        text="""Folds, as of ``GridSearchCV``, over sequences; a number makes stretches.
        None: 5.""",
        kind="int, splitter, iterable or None",
        allowed=["cv_object"],
    )
    selection_tol: float = parameter(
        default=3e-3,
        text="""How near to its optimum a candidate is brought, as a share of the
        objective, extrapolated as by ``tol`` of :class:`L1CRF`.""",
        kind="float > 0",
    )
    refit: bool = parameter(
        default=True,
        text="Fit the chosen penalties to all sequences; without this, nothing can be predicted.",
    )

    _session_parameters: ClassVar = ("cv", "scoring", "candidates")

    c1_: float = field(init=False)
    c2_: float = field(init=False)
    best_score_: float = field(init=False)
    best_params_: dict[str, float] = field(init=False)
    best_index_: int = field(init=False)
    n_splits_: int = field(init=False)
    cv_results_: dict[str, Any] = field(init=False)

    @with_callbacks
    def fit(
        self,
        X: Corpus,
        y: Corpus,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose the penalties, and learn with them.

        Parameters
        ----------
        X, y : lists of sequences
            As of :meth:`L1CRF.fit`.
        sample_weight : array-like of shape (n_sequences,), optional
            Weights in training; scores do not use them. Sequences of weight 0 are in no
            training part.
        groups : array-like of shape (n_sequences,), optional
            For splitters that keep groups together, such as ``GroupKFold``: for
            instance documents.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is not as described, a candidate is no pair of strengths,
            ``solver="sgd"``, a fold has nothing to learn from or to be scored on, or a
            score is not finite.
        TypeError
            If ``c1s``, ``c2s`` or ``candidates`` is a generator, which the first fit
            would use up.
        KeyboardInterrupt
            After Ctrl-C. In the search it leaves the estimator as it was; in the refit
            the search is kept, and the weights that were reached.

        Warns
        -----
        ConvergenceWarning
            As :meth:`L1CRF.fit`, of the model that is refitted.
        """
        search = self._checked(X, y, sample_weight, groups)
        candidates, corpus, labels, weight, folds = search
        shown = corpus.for_users()
        tokens: Any = corpus  # behind the door already
        n_tried = len(folds) * len(candidates)
        context = self._init_callback_context(
            max_subtasks=n_tried + self.refit, sequential_subtasks=False
        )
        events = epoch_context(context, self, shown, labels)
        events.begin_fit()
        found = self._chosen(candidates, corpus, labels, weight, folds, events)
        optional = (*_FITTED, "_refitted", "_scoring_lost")
        if self.refit:
            best = self._tagger(**found["best_params_"])
            try:
                with events.member(best, n_tried, shown, labels):
                    best.fit(tokens, labels, sample_weight)
            except KeyboardInterrupt as error:
                found.update(_fitted_of(best))
                set_fitted(self, found, *optional)
                kept = WITH_MODEL if "_model" in found else WITHOUT_MODEL
                raise KeyboardInterrupt(kept) from error
            found.update(_fitted_of(best))
        events.end_fit(found)
        set_fitted(self, found, *optional)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        if "cv_results_" in vars(self) and "_model" not in vars(self):
            raise NotFittedError(self._why_no_model())
        return super().__sklearn_is_fitted__()

    def _why_no_model(self) -> str:
        """Return what an error says where there is no model."""
        if "cv_results_" not in vars(self):
            return "there is no model before fit"
        why = "after an interrupted refit" if self.refit else "with refit=False"
        return f"{why} there is no model: fit an L1CRF(**search.best_params_)"

    @property
    def best_estimator_(self) -> L1CRF:
        """The fitted :class:`L1CRF`; shares the model."""
        if "_model" not in vars(self):
            raise AttributeError(f"best_estimator_: {self._why_no_model()}")
        if vars(self).get("_refitted", (None,))[0] is not self._model:
            best = self._tagger(**self.best_params_)
            vars(best).update(
                (name, vars(self)[name]) for name in _FITTED if name in vars(self)
            )
            self._refitted = self._model, best
        return self._refitted[1]

    def score(
        self, X: Corpus, y: Corpus, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the score by ``scoring``, as ``GridSearchCV`` does; without it, token
        accuracy.

        Parameters
        ----------
        X, y : lists of sequences
            As of :meth:`fit`.
        sample_weight : array-like of shape (n_sequences,), optional
            If the scorer takes weights.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If ``sample_weight`` is given to a scorer that takes none, or ``scoring``
            was a callable, which the file does not hold that the model was loaded from.
        """
        check_is_fitted(self)
        self._validate_params()  # scoring may have been set after fit
        if self.scoring is None:
            if "_scoring_lost" in vars(self):
                raise ValueError(
                    "scoring was a callable, which a file cannot hold: set it again by "
                    "set_params(scoring=...), or a name such as 'token_accuracy'"
                )
            return super().score(X, y, sample_weight)
        scorer = (
            SCORERS[self.scoring] if isinstance(self.scoring, str) else self.scoring
        )
        if sample_weight is None:
            return scorer(self.best_estimator_, X, y)
        if not takes_sample_weight(scorer):
            raise ValueError(
                f"scoring={self.scoring!r} takes no sample_weight; score without it"
            )
        return scorer(self.best_estimator_, X, y, sample_weight=sample_weight)

    def _to_state(self, writer: Writer, name: str) -> dict[str, Any]:
        state = super()._to_state(writer, name)
        lost = callable(self.scoring) and writer.beside is None
        if state and (lost or "_scoring_lost" in vars(self)):
            state["scoring_lost"] = True
        return state

    @classmethod
    def _from_state(
        cls, node: Any, fitted: dict[str, Any], reader: Reader, where: str
    ) -> dict[str, Any]:
        attributes = super()._from_state(node, fitted, reader, where)
        if "scoring_lost" in node:
            attributes["_scoring_lost"] = True
        return attributes

    def _tagger(self, **parameters: Any) -> L1CRF:
        """Make an L1CRF with the parameters of the search that it has, and others."""
        names = L1CRF().get_params(deep=False)
        shared = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name in names
        }
        return L1CRF(**{**shared, **parameters})

    def _settled(self, X: Any, y: Any, **metadata: Any) -> L1CRF:
        """Search, and return an :class:`L1CRF` with the penalties chosen.

        What trains several members asks for it, so that the search is made once; see
        ``SavableLearner._settled``.
        """
        silent = epoch_context(None, self, X, y)
        checked = self._checked(X, y, **metadata)
        return self._tagger(**self._chosen(*checked, silent)["best_params_"])

    def _prepare(
        self,
        X: Corpus,
        y: Corpus,
        sample_weight: ArrayLike | None,
        given: tuple[Given, Given] | None = None,
    ) -> CRFRun:
        """Search, and return the run of the model with the penalties chosen."""
        settled = self._settled(X, y, sample_weight=sample_weight)
        return settled._prepare(X, y, sample_weight, given)

    # -- the search --------------------------------------------------------------------
    def _checked(
        self,
        X: Corpus,
        y: Corpus,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> tuple[np.ndarray, TokenCorpus, Any, np.ndarray | None, list[Fold]]:
        """Check everything, and return (candidates, X, y, weights, folds) of a search."""
        for name in ("c1s", "c2s"):
            refuse_number(name, getattr(self, name))
        self._validate_params()
        candidates = self._candidates()
        corpus, labels, _ = check_X_y(X, y, read=as_tokens)
        weight = sample_weights(sample_weight, corpus)
        counts = corpus.lengths if weight is None else weight * corpus.lengths
        used = np.flatnonzero(counts)
        found = folds_of(self.cv, X, y, groups, used=used)
        folds = [Fold(k, train, test) for k, (train, test) in enumerate(found)]
        distinct_labels(labels, corpus.offsets)  # errors count the sequences of X
        for fold in folds:
            fold.check(self, corpus, labels, weight)
        for fold in folds:  # only then, since these errors name no place
            known = in_order(labels_in(take(labels, fold.used(weight))))
            fold.check_scoring(self, corpus, labels, known)
        return candidates, corpus, labels, weight, folds

    def _candidates(self) -> np.ndarray:
        """List c1 and c2 of the candidates, (n, 2)."""
        if self.solver == "sgd":
            raise ValueError("a search needs a solver that converges, got solver='sgd'")
        for name in ("c1s", "c2s", "candidates"):
            what = "pairs" if name == "candidates" else "numbers"
            refuse_str(name, getattr(self, name), what)
            if isinstance(getattr(self, name), Iterator):
                raise TypeError(
                    f"{name} is an iterator, which one fit uses up; give a list: "
                    f"list({name})"
                )
        given = self.candidates
        if given is None:
            given = product(self.c1s, self.c2s)
        found = [_pair_of(k, candidate) for k, candidate in enumerate(given)]
        if not found:
            raise ValueError("there are no candidates")
        return np.array(found)

    def _chosen(
        self,
        candidates: np.ndarray,
        X: TokenCorpus,
        y: Any,
        weight: np.ndarray | None,
        folds: list[Fold],
        events: epoch_context,
    ) -> dict[str, Any]:
        """Search, and return the fitted attributes with the choice."""
        distinct, which = np.unique(candidates, axis=0, return_inverse=True)
        n_jobs = effective_n_jobs(self.n_jobs)
        of_fold = max(1, n_jobs // min(n_jobs, len(folds)))
        tagger = self._tagger(tol=self.selection_tol, n_jobs=of_fold, verbose=0)
        with DeferredInterrupt(at_once=True) as interrupt:

            def work(fold: Fold) -> dict[int, Tried]:
                if events.stopped:
                    return {}

                def tell(k: int) -> AbstractContextManager[Any]:
                    number = fold.number * len(candidates) + k
                    return events.member(None, number, X.for_users(), y, "candidate")

                search = FoldSearch(self, tagger, fold, X, y, weight, interrupt)
                return search.try_all(distinct, tell, lambda: events.stopped)

            with threads(self.n_jobs, len(folds)) as map_all:
                tried = list(map_all(work, folds))
            if interrupt.count:
                raise KeyboardInterrupt
        done = [fold for fold in tried if len(fold) == len(distinct)]
        done = done or [max(tried, key=len)]  # a callback has stopped the first fold
        which = which.ravel()
        keep = np.isin(which, list(done[0]))
        table = [[fold[c] for c in which[keep].tolist()] for fold in done]
        return _summarise(candidates[keep], table)


_FITTED = "_model", "classes_", "n_iter_", *(f"{name}_" for name in MEASURES)
"""Attributes that a fitted L1CRF shares with the search."""


def _fitted_of(best: L1CRF) -> dict[str, Any]:
    """Return the attributes of a fitted L1CRF that the search has, too."""
    return {name: value for name, value in vars(best).items() if name in _FITTED}


def _pair_of(k: int, given: Any) -> tuple[float, float]:
    """Read candidate k, a pair (c1, c2) or a dict.

    Raises
    ------
    ValueError
        If it is neither, or a number cannot be a strength.
    """
    pair = given
    if isinstance(given, dict):
        odd = sorted(given.keys() - {"c1", "c2"})
        if odd:
            raise ValueError(
                f"candidate {k} has {odd[0]!r}; a search chooses c1 and c2 only"
            )
        pair = given.get("c1", L1CRF.c1), given.get("c2", L1CRF.c2)
    try:
        # float would read strings
        if isinstance(pair, (str, bytes)) or any(
            isinstance(each, (str, bytes)) for each in pair
        ):
            raise TypeError
        c1, c2 = map(float, pair)
    except (TypeError, ValueError):
        raise ValueError(
            f"candidate {k} must be a pair (c1, c2) or a dict, got {given!r}; c1 and "
            f"c2 are numbers"
        ) from None
    check_strengths(f"candidate {k}: c1 and c2", (c1, c2), given)
    return c1, c2


def _summarise(candidates: np.ndarray, table: list[list[Tried]]) -> dict[str, Any]:
    """Return the attributes of a finished search.

    Parameters
    ----------
    candidates : ndarray of shape (n, 2)
        c1 and c2.
    table : list of list of Tried
        By fold, then by candidate.
    """

    def column(name: str) -> np.ndarray:
        return np.array([[getattr(tried, name) for tried in fold] for fold in table])

    scores = column("score")
    mean = scores.mean(axis=0)
    results: dict[str, Any] = {}
    for name in ("fit_time", "score_time"):
        seconds = column(name)
        results[f"mean_{name}"] = seconds.mean(axis=0)
        results[f"std_{name}"] = seconds.std(axis=0)
    for k, name in enumerate(("c1", "c2")):
        results[f"param_{name}"] = np.ma.MaskedArray(candidates[:, k].copy())
    results["params"] = [{"c1": c1, "c2": c2} for c1, c2 in candidates.tolist()]
    for k, of_fold in enumerate(scores):
        results[f"split{k}_test_score"] = of_fold
    results["mean_test_score"] = mean
    results["std_test_score"] = scores.std(axis=0)
    results["rank_test_score"] = rankdata(-mean, method="min").astype(np.int32)
    for name in ("objective", "n_iter"):
        for k, of_fold in enumerate(column(name)):
            results[f"split{k}_{name}"] = of_fold
    best = min(
        range(len(mean)), key=lambda c: (-mean[c], *(-candidates[c]).tolist(), c)
    )
    c1, c2 = candidates[best].tolist()
    return {
        "c1_": c1,
        "c2_": c2,
        "best_score_": float(mean[best]),
        "best_params_": {"c1": c1, "c2": c2},
        "best_index_": best,
        "n_splits_": len(table),
        "cv_results_": results,
    }


savable_value("$masked", np.ma.MaskedArray, via(value, np.asarray, np.ma.MaskedArray))
