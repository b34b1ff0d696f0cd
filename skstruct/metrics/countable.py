"""A check, before training, that a scorer can count held-out sequences.

A scorer sees a model only when an epoch is over, or a fold. So the scorer is called
once before, with a model that needs no training: it predicts every label that the model
to be trained may predict, and else what is true. What the scorer refuses of this it
would refuse of any model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from itertools import cycle, islice
from typing import Any

import numpy as np

from .._core.user_warnings import without_warnings
from .._data.corpus import TokenCorpus
from .._data.inputs import LABELS, SPANS, TREES, PlaceError, describe, flatten
from .._data.labels import SEVERAL, AllBut, check_gold_of_model
from .._sklearn import BaseEstimator
from .checks import in_order
from .scorers import SCORERS, TaskScorer

Scoring = str | Callable[..., Any] | None
"""The parameter ``scoring``."""

PROBABLE = {
    SCORERS["expected_calibration_error"]: "predict_marginals",
    SCORERS["sequence_log_loss"]: "sequence_log_proba",
}
"""Scorers, and the method of a model that they ask."""


def scorer_of(scoring: Scoring) -> Callable[..., Any] | None:
    """Return the scorer that a parameter ``scoring`` means; None for the model's own
    score.

    Raises
    ------
    ValueError
        If it is a metric, which is called with labels.
    """
    scorer: Any = SCORERS[scoring] if isinstance(scoring, str) else scoring
    for name, known in SCORERS.items() if scorer is not None else ():
        if getattr(known, "_score_func", None) is scorer:
            raise ValueError(
                "scoring is called with (estimator, X, y), and a metric with (y_true, "
                f"y_pred): write scoring={name!r}"
            )
    return scorer


def refuse_uncountable(
    estimator: Any, task: str, X: Any, y: Any, known: Iterable[Any] = ()
) -> None:
    """Raise what the scorer of an estimator would raise after its first epoch, whatever
    it has learned by then.

    Callables that are not made of a score of this package are not asked: what they do
    when they are called is not known.

    Parameters
    ----------
    estimator : estimator
        Its ``scoring`` and its class are read; it need not be fitted.
    task : str
        What it predicts, as `Inputs` says of it when it is fitted.
    X, y : sequences, and what is true of them
        As ``score`` takes them.
    known : iterable of labels
        What the estimator may predict; if there is none, what ``y`` holds.

    Raises
    ------
    ValueError
        If something of ``y`` cannot be counted: the message names the place in it. Or
        if some label that may be predicted cannot be.
    TypeError
        If the scorer compares something else than the estimator predicts, or asks what
        it lacks.
    """
    scorer = scorer_of(estimator.scoring)
    if scorer is None or not _is_ours(scorer):
        return
    method = PROBABLE.get(scorer)
    if method is not None and not hasattr(type(estimator), method):
        raise TypeError(
            f"scoring={_named(scorer)} needs the method {method}, which a "
            f"{type(estimator).__name__} lacks; use an L1CRF, or wrap the model "
            "in a CalibratedTagger"
        )
    if isinstance(scorer, TaskScorer):
        scorer.refuse_task(task, type(estimator).__name__)
    if isinstance(X, TokenCorpus):
        X = X.for_users()
    labels = list(known)
    try:
        if task == LABELS:
            check_gold_of_model(y, labels)
        if method is not None and not labels:
            return  # there are no labels yet that could have probabilities
        with without_warnings():
            for predicted in _predictions(task, y, labels):
                scorer(StandIn(predicted, labels), X, y)
    except PlaceError as error:
        if error.name == "y_pred":
            raise ValueError(
                f"scoring={_named(scorer)} cannot count predictions after "
                f"training: {error.text.replace('{place}: ', '')}"
            ) from None
        error.move(error.sequence, {"y_true": "y"}.get(error.name or "", error.name))
        raise


def _is_ours(scorer: Any) -> bool:
    """Tell whether a scorer calls a score of this package, and nothing else."""
    score = getattr(scorer, "_score_func", scorer)
    score = score.func if isinstance(score, partial) else score
    return getattr(score, "__module__", "").startswith("skstruct.metrics.")


def _named(scorer: Any) -> str:
    """Return what a user would write for a scorer."""
    names = (name for name, each in SCORERS.items() if each is scorer)
    return repr(next(names, None)) if scorer in SCORERS.values() else describe(scorer)


def _predictions(task: str, y: Any, known: list[Any]) -> Iterator[list[Any]]:
    """Yield what models may predict for sequences; labels of tokens until all known
    ones were there.
    """
    if task != LABELS:
        yield [_as_predicted(items, task) for items in y]
        return
    if given := Counter(label for label in flatten(y) if _is_one(label)):
        # At first right ones: what is wrong in ``y`` is told before what may be
        # predicted.
        often = given.most_common(1)[0][0]
        yield [[each if _is_one(each) else often for each in items] for items in y]
    classes = known or in_order(labels_in(y)) or [None]
    turn = cycle(classes)
    n_left = len(classes)
    while n_left > 0:
        predicted = [list(islice(turn, len(items))) for items in y]
        yield predicted
        n_left -= max(sum(map(len, predicted)), 1)


def _is_one(label: Any) -> bool:
    """Tell whether something is one label; what cannot be one is refused elsewhere."""
    several = isinstance(label, SEVERAL)
    return label is not None and not several and isinstance(label, Hashable)


def labels_in(y: Any) -> set[Any]:
    """Return the labels of tokens, and those in sets of them."""
    found: set[Any] = set()
    for label in flatten(y):
        if isinstance(label, SEVERAL):
            found.update(label.known if isinstance(label, AllBut) else label)
        elif _is_one(label):
            found.add(label)
    return found


def _as_predicted(items: Any, task: str) -> list[Any]:
    """Return gold items of a sequence as a model would predict them: complete ones."""
    if task == SPANS:
        return [span for span in items if span[2] is not None]
    if task != TREES:
        return list(items)
    pairs = any(isinstance(item, (tuple, list)) for item in items)
    arcs = [item if isinstance(item, (tuple, list)) else (item, None) for item in items]
    whole = [(0 if head is None else head, label) for head, label in arcs]
    return whole if pairs else [head for head, _ in whole]


class StandIn(BaseEstimator):
    """A model that answers what it was told to.

    Parameters
    ----------
    predicted : list
        By sequence.
    known : list of labels
    """

    def __init__(self, predicted: list[Any], known: Sequence[Any]) -> None:
        self.predicted = predicted
        self.known = known

    @property
    def classes_(self) -> list[Any]:
        """The labels that are known."""
        return list(self.known)

    def fit(self, X: Any, y: Any) -> StandIn:
        """Learn nothing: scikit-learn takes what has no ``fit`` for no estimator."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> list[Any]:
        """Return what it was told to."""
        return self.predicted

    def predict_marginals(self, X: Any) -> list[np.ndarray]:
        """Return equal probabilities of all labels."""
        n = len(self.known)
        return [np.full((len(each), n), 1.0 / n) for each in self.predicted]

    def sequence_log_proba(self, X: Any, y: Any) -> np.ndarray:
        """Return 0 for each sequence: all labellings are certain."""
        return np.zeros(len(self.predicted))
