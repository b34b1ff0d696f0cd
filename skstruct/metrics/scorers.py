"""Scores as scorers of scikit-learn.

They are for ``GridSearchCV`` and for the parameter ``scoring``. Those of segments and
spans give 1.0 where nothing is to be found and nothing was found (``zero_division=1``),
so that on held-out sequences without any, an epoch or a candidate that finds nothing is
better than one that finds something.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Literal, TypeAlias

from sklearn import metrics

from .._data.inputs import LABELS, SPANS, TREES, WORDS, check_choice
from .._data.scheme_rules import check_scheme
from .._sklearn import final_step
from . import confidence, label_scores, text_scores, token_scores, tree_scores
from .checks import as_list

Scorer: TypeAlias = Callable[..., float]
"""``scorer(estimator, X, y) -> float``"""


TASKS: dict[Callable[..., Any], tuple[str, ...]] = {
    label_scores.token_accuracy_score: (LABELS, TREES),
    label_scores.sequence_accuracy_score: (LABELS, TREES),
    label_scores.segment_f1_score: (LABELS,),
    token_scores.token_f1_score: (LABELS,),
    text_scores.word_f1_score: (WORDS,),
    text_scores.span_f1_score: (SPANS,),
    tree_scores.unlabeled_attachment_score: (TREES,),
    tree_scores.labeled_attachment_score: (TREES,),
}
"""The things that a score compares."""

ADVISED = {
    LABELS: "'token_accuracy', 'token_f1' or 'segment_f1'",
    WORDS: "'word_f1'",
    SPANS: "'span_f1'",
    TREES: "'attachment' or 'labeled_attachment'",
}
"""The names of the scorers for what models predict."""


class TaskScorer(type(metrics.make_scorer(len))):  # type: ignore[misc]
    """A scorer that refuses an estimator of this package that predicts something else
    than the score compares.
    """

    def _score(
        self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **metadata: Any
    ) -> Any:
        model = final_step(estimator).estimator
        task = getattr(getattr(model, "inputs", None), "task", None)
        if task is not None:
            self.refuse_task(task, type(model).__name__)
        return super()._score(method_caller, estimator, X, y_true, **metadata)

    def refuse_task(self, task: str, name: str) -> None:
        """Raise if the score does not compare what the class ``name`` predicts."""
        if task not in TASKS[self._score_func]:
            raise TypeError(
                f"{self._score_func.__name__} compares "
                f"{' or '.join(TASKS[self._score_func])}, and a "
                f"{name} predicts {task}: the scorers of these are {ADVISED[task]}"
            )


def _made_of(score: Callable[..., Any], **options: Any) -> Scorer:
    """Make the scorer of a score of what ``predict`` returns."""
    return TaskScorer(score, 1, options, "predict")


class TextScorer(TaskScorer):
    """A scorer whose score is handed the texts that the model reads, too, as
    ``texts``.
    """

    def _score(
        self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **metadata: Any
    ) -> Any:
        texts = final_step(estimator, X).X
        if all(isinstance(text, str) for text in texts):
            metadata["texts"] = texts
        return super()._score(method_caller, estimator, X, y_true, **metadata)


class ModelScorer(type(metrics.make_scorer(len))):  # type: ignore[misc]
    """A scorer whose score asks the model itself: it is called with (estimator, X, y).

    Metadata is routed to it as to all scorers of scikit-learn.
    """

    def _score(
        self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **metadata: Any
    ) -> Any:
        return self._score_func(estimator, X, y_true, **self._kwargs, **metadata)


def _asking(score: Callable[..., Any], /, **options: Any) -> Scorer:
    """Make the scorer of a score that asks the model itself."""
    return ModelScorer(score, 1, options, "predict")


def segment_f1_scorer_for(
    scheme: str,
    average: label_scores.Average = "micro",
    mode: label_scores.Mode = "conlleval",
) -> Scorer:
    """Make a scorer of `segment_f1_score` for a scheme, for ``GridSearchCV``.

    Parameters
    ----------
    scheme, mode
        As for `segment_f1_score`.
    average : {"micro", "macro", "weighted"}, default="micro"

    Returns
    -------
    callable
        ``scorer(estimator, X, y) -> float``

    Raises
    ------
    ValueError
        If a parameter has a value not named here.

    Examples
    --------
    >>> scorer = segment_f1_scorer_for("BIOES", average="macro", mode="strict")
    """
    scheme = check_scheme(scheme)
    check_choice("average", average, label_scores.AVERAGES[:-1])
    check_choice("mode", mode, label_scores.MODES)
    return _made_of(
        label_scores.segment_f1_score,
        scheme=scheme,
        average=average,
        mode=mode,
        zero_division=1.0,
    )


def token_f1_scorer_for(
    labels: token_scores.ChosenLabels = None,
    average: label_scores.Average = "macro",
) -> Scorer:
    """Make a scorer of `token_f1_score` for some labels, for ``GridSearchCV``.

    Parameters
    ----------
    labels : list of labels, optional
        As for `token_f1_score`: those that count, such as all but ``"O"``.
    average : {"macro", "micro", "weighted"}, default="macro"

    Returns
    -------
    callable
        ``scorer(estimator, X, y) -> float``

    Raises
    ------
    ValueError
        If ``labels`` is no list, or average has a value not named here.

    Examples
    --------
    >>> scorer = token_f1_scorer_for(["NOUN", "VERB"], average="micro")
    """
    check_choice("average", average, label_scores.AVERAGES[:-1])
    if labels is not None:
        labels = list(as_list(labels, "labels"))
    return _made_of(token_scores.token_f1_score, labels=labels, average=average)


def attachment_scorer_for(
    score: Literal["uas", "las", "complete"] = "uas",
    punctuation: Collection[str] | None = None,
    subtypes: bool = False,
) -> Scorer:
    """Make a scorer of `attachment_scores` for parsers, for ``GridSearchCV``.

    Parameters
    ----------
    score : {"uas", "las", "complete"}, default="uas"
        Unlabeled or labeled attachment score, or the share of sentences with all heads
        right.
    punctuation : collection of str, optional
        Tags whose tokens are left out. A token of X is then a (form, tag) pair; its tag
        counts, not a predicted one.
    subtypes : bool, default=False
        As for `attachment_scores`.

    Returns
    -------
    callable
        ``scorer(estimator, X, y) -> float``

    Raises
    ------
    ValueError
        If a parameter has a value not named here.

    Examples
    --------
    >>> scorer = attachment_scorer_for("las", punctuation={",", ".", ":", "``", "''", "-LRB-", "-RRB-"})
    """
    check_choice("score", score, ("uas", "las", "complete"))
    if punctuation is not None:
        if isinstance(punctuation, str) or not all(
            isinstance(tag, str) for tag in punctuation
        ):
            raise ValueError(
                f"punctuation must be a collection of tags; got {punctuation!r}"
            )
        punctuation = frozenset(punctuation)
    return _asking(
        tree_scores.score_trees,
        score=score,
        punctuation=punctuation,
        subtypes=bool(subtypes),
    )


token_accuracy_scorer: Scorer = _made_of(label_scores.token_accuracy_score)
sequence_accuracy_scorer: Scorer = _made_of(label_scores.sequence_accuracy_score)
segment_f1_scorer: Scorer = _made_of(label_scores.segment_f1_score, zero_division=1.0)
token_f1_scorer: Scorer = _made_of(token_scores.token_f1_score)
word_f1_scorer: Scorer = _made_of(text_scores.word_f1_score)
span_f1_scorer: Scorer = TextScorer(
    text_scores.span_f1_score, 1, {"zero_division": 1.0}, "predict"
)
attachment_scorer: Scorer = _made_of(tree_scores.unlabeled_attachment_score)
labeled_attachment_scorer: Scorer = _made_of(tree_scores.labeled_attachment_score)
expected_calibration_error_scorer: Scorer = _asking(confidence.score_calibration)
sequence_log_loss_scorer: Scorer = _asking(confidence.score_log_loss)

SCORERS: dict[str, Scorer] = {
    name.removesuffix("_scorer"): scorer
    for name, scorer in globals().items()
    if name.endswith("_scorer")
}
"""Name -> scorer, as the parameter ``scoring`` of the estimators takes it."""
