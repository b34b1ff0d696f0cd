"""Probabilities of the labels of a corpus, by models that did not see the sequence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone

from .._core.user_warnings import warning_once
from .._data.folds import check_groups, folds_of
from .._data.inputs import Sequences, as_tokens, check_jobs, renumbered
from .._data.labels import SEVERAL, Labels
from .._data.types import Corpus
from .._sklearn import Integral, fit_some, safe_indexing
from .._taggers.calibrated_tagger import CalibratedTagger
from .explain_taggers import positions_of, seen_by_tagger, tokens_shown

Found = TypeVar("Found")
"""The result for a test set."""


class OutOfFold(NamedTuple):
    """The out-of-fold results of n sequences."""

    marginals: list[np.ndarray]  # of shape (n_tokens, n_classes)
    labels: list[list[Any]]  # those given, as the tagger learns them
    tokens: list[list[Any]]  # as the tagger sees them
    positions: Sequence[Sequence[int]]  # of the tokens
    classes: NDArray[Any]


def out_of_fold_marginals(
    estimator: Any,
    X: Any,
    y: Corpus,
    *,
    cv: Any = 5,
    groups: Any = None,
    n_jobs: int | None = None,
) -> tuple[list[NDArray[np.float64]], NDArray[Any]]:
    """Compute label probabilities by models that were not trained on the sequence.

    Parameters
    ----------
    estimator : estimator
        A chain tagger, or a ``Segmenter`` or ``SpanTagger`` over one, or a pipeline
        that ends in one of these; it is cloned. A tagger without ``predict_marginals``
        is wrapped in a ``CalibratedTagger``.
    X, y
        As of its ``fit``.
    cv : int, splitter or iterable of (train, test), default=5
        Each sequence must be in one test set. A number makes folds of consecutive
        sequences.
    groups : array-like of shape (n_sequences,), optional
        Sequences of one group, such as those of a document, stay in one fold.
    n_jobs : int, optional
        Folds at the same time, in threads.

    Returns
    -------
    marginals : list of ndarray of shape (n_tokens, n_classes)
        Rows sum to 1. Of a text the tokens are those of the span tagger, or the
        characters of a segmenter that are not white space.
    classes : ndarray of shape (n_classes,)
        The labels of the columns, in every fold the same. The probability of a label
        that the training data of a fold lacks is 0.

    Raises
    ------
    ValueError
        If the input is not as the estimator takes it (the message names the sequence),
        a sequence is not in exactly one test set, or a fold trains on what it tests.
    TypeError
        If the estimator is no tagger.

    Examples
    --------
    >>> from skstruct import L1CRF
    >>> from skstruct.inspection import out_of_fold_marginals
    >>> X, y = [["the", "dog"], ["a", "cat"], ["the", "cat"]] * 4, [["D", "N"]] * 12
    >>> marginals, classes = out_of_fold_marginals(L1CRF(c1=0.1), X, y, cv=3)
    >>> marginals[0].shape, classes.tolist()
    ((2, 2), ['D', 'N'])
    """
    found = predicted_out_of_fold(estimator, X, y, cv, groups, n_jobs)
    return Sequences(found.marginals), found.classes


def predicted_out_of_fold(
    estimator: Any, X: Any, y: Corpus, cv: Any, groups: Any, n_jobs: int | None
) -> OutOfFold:
    """Find the :class:`OutOfFold` of a corpus; see :func:`out_of_fold_marginals`."""
    parts, tests = by_fold(_seen_of, estimator, X, y, cv, groups, n_jobs)
    known = {
        label
        for part in parts
        for labels in part.labels
        for label in labels
        if label is not None
    }
    classes = Labels(known.union(*(part.classes.tolist() for part in parts)))
    joined: dict[int, tuple[Any, ...]] = {}
    for test, part in zip(tests, parts):
        columns = [classes.ids[label] for label in part.classes.tolist()]
        for i, narrow, *rest in zip(test.tolist(), *part[:4]):
            wide = np.zeros((len(narrow), len(classes)))
            wide[:, columns] = np.reshape(
                narrow, (len(narrow), len(columns))
            )  # of a blank text: a list
            joined[i] = wide, *rest
    marginals, labels, tokens, positions = (
        [joined[i][k] for i in range(len(X))] for k in range(4)
    )
    return OutOfFold(marginals, labels, tokens, positions, classes.array)


def by_fold(
    look: Callable[[Any, Any, Any, np.ndarray], Found],
    estimator: Any,
    X: Any,
    y: Corpus,
    cv: Any,
    groups: Any,
    n_jobs: int | None,
) -> tuple[list[Found], list[np.ndarray]]:
    """Fit in each fold, and look at its test set.

    Parameters
    ----------
    look : callable
        ``look(fitted estimator, X, y, test)`` returns what is found in a test set.

    Returns
    -------
    found : list
        By fold.
    tests : list of ndarray
        The test sets.

    Each sequence is once in a test set.
    """
    if len(X) != len(y):
        raise ValueError(
            f"X and y must hold the same number of sequences, got {len(X)} and {len(y)}"
        )
    if groups is not None and isinstance(cv, Integral):
        from sklearn.model_selection import GroupKFold  # slow to import

        groups = list(groups)
        check_groups(groups, len(X))
        n_groups = len(set(groups))
        cv = int(cv)
        if n_groups < cv:
            raise ValueError(
                f"cv={cv} folds need at least as many groups, got {n_groups}"
            )
        cv = GroupKFold(cv) if cv > 1 else cv
    check_jobs(n_jobs)
    folds = folds_of(cv, X, y, groups, once=True)
    estimator = with_marginals(estimator)
    with warning_once():
        parts = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(_one_fold)(look, clone(estimator), X, y, train, test)
            for train, test in folds
        )
    return parts, [test for _, test in folds]


def _one_fold(
    look: Callable[[Any, Any, Any, np.ndarray], Found],
    estimator: Any,
    X: Any,
    y: Corpus,
    train: np.ndarray,
    test: np.ndarray,
) -> Found:
    """Fit an estimator on some sequences, and look at others."""
    fit_some(estimator, X, y, train)
    return look(estimator, safe_indexing(X, test), safe_indexing(y, test), test)


def _seen_of(estimator: Any, X: Any, y: Corpus, test: np.ndarray) -> OutOfFold:
    """Find the `OutOfFold` of a test set."""
    with renumbered(test):
        seen = seen_by_tagger(estimator, X, y)
        marginals = seen.tagger.predict_marginals(seen.X)
    single = [
        [None if isinstance(label, SEVERAL) else label for label in labels]
        for labels in seen.y or ()
    ]
    labels = seen.grouped(single)
    shown = seen.grouped(_tokens_of(X, seen.X))
    positions: Sequence[Sequence[int]]
    positions = positions_of(estimator, X) or [range(len(each)) for each in labels]
    return OutOfFold(seen.grouped(marginals), labels, shown, positions, seen.classes)


def _tokens_of(X: Any, seen: Any) -> list[list[Any]]:
    """Return the tokens that a tagger has seen; those of the user where a pipeline made
    numbers of them.
    """
    corpus = as_tokens(seen)
    if corpus.numbers and not any(isinstance(each, str) for each in X):
        given = tokens_shown(X)
        if list(map(len, given)) == corpus.lengths.tolist():
            return given
    return tokens_shown(seen)


def with_marginals(estimator: Any) -> Any:
    """Return an estimator whose tagger knows marginals, calibrated if need be."""
    if hasattr(estimator, "predict_marginals"):
        return estimator
    if hasattr(estimator, "steps"):
        name, last = estimator.steps[-1]
        return clone(estimator).set_params(**{name: with_marginals(last)})
    name = type(estimator).__name__
    if hasattr(estimator, "predict_sets"):
        raise TypeError(
            f"expected a tagger, got a {name}, which predicts sets of spans; "
            "give the estimator in it"
        )
    kind = getattr(estimator, "explained_as", None)
    if kind in ("spans", "segmenter"):
        inner = estimator._learner()
        if kind == "spans" and hasattr(inner, "steps"):
            raise TypeError(
                f"a {name} over a Pipeline has no probabilities; build it around "
                "the tagger alone"
            )
        return clone(estimator).set_params(tagger=with_marginals(inner))
    return CalibratedTagger(estimator)
