"""The loss of old labels by a model that goes on learning."""

from __future__ import annotations

from copy import deepcopy
from math import nan
from typing import Any, NamedTuple

import numpy as np

from .._data.elements import spelled
from .._data.inputs import TREES
from .._data.scheme_rules import LabelTable
from .._data.types import Corpus
from .._sklearn import final_step
from .._taggers.span_chains import chains_of, has_chains
from ..metrics.task_scores import figure, scores_of


class LabelChange(NamedTuple):
    """The scores of a model for a label, or a type, before and after.

    Attributes
    ----------
    label : str
    is_new : bool
        True if the model did not know it before.
    before, after : float
        F1 on held-out sequences; NaN where there is nothing to count.
    support : int
        Number of true occurrences.
    """

    label: str
    is_new: bool
    before: float
    after: float
    support: int


class Forgetting(list[LabelChange]):
    """The labels, and what has changed; prints as a table.

    Attributes
    ----------
    old, new : (float, float)
        The mean F1 of old and of new labels, before and after, weighted by support.
    overall : (float, float)
        The main score of the task, before and after.
    """

    def __init__(
        self, changes: list[LabelChange], overall: tuple[float, float]
    ) -> None:
        super().__init__(changes)
        self.overall = overall
        self.old = self._mean(is_new=False)
        self.new = self._mean(is_new=True)

    def _mean(self, is_new: bool) -> tuple[float, float]:
        mine = [each for each in self if each.is_new is is_new and each.support]
        if not mine:
            return nan, nan
        n = [each.support for each in mine]
        return (
            float(np.average([each.before for each in mine], weights=n)),
            float(np.average([each.after for each in mine], weights=n)),
        )

    def __str__(self) -> str:
        rows = [
            ("all", "", *self.overall),
            *([("old labels", "", *self.old)] if self else []),
            *([("new labels", "", *self.new)] if self else []),
            *((c.label, "new" if c.is_new else "", c.before, c.after) for c in self),
        ]
        width = max(len(str(name)) for name, *_ in rows)
        head = f"{'':<{width}}      {'before':>9}{'after':>9}"
        lines = [
            f"{name:<{width}}  {what:<4}{figure(before):>9}{figure(after):>9}"
            for name, what, before, after in rows
        ]
        return "\n".join([head, *lines])


def forgetting(
    estimator: Any, X: Any, y: Corpus, X_val: Any, y_val: Corpus
) -> Forgetting:
    """Measure what ``partial_fit`` on more sequences gains and loses.

    A copy of the estimator learns; the estimator stays as it is.

    Parameters
    ----------
    estimator : estimator
        Fitted, and with ``partial_fit``.
    X, y
        What it is to go on with.
    X_val, y_val
        Held-out sequences with old labels and with new ones.

    Returns
    -------
    Forgetting
        By label, or by type of segments: F1 before and after.

    Raises
    ------
    AttributeError
        If the estimator has no ``partial_fit``; the message says why.
    ValueError
        If a corpus is not as the estimator takes it.

    Examples
    --------
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.inspection import forgetting
    >>> tagger = StructuredPerceptron(random_state=0)
    >>> tagger = tagger.fit([["the", "dog"], ["a", "cat"]], [["D", "N"], ["D", "N"]])
    >>> X_val, y_val = [["the", "cat", "ran"]], [["D", "N", "V"]]
    >>> found = forgetting(tagger, [["ran"]] * 3, [["V"]] * 3, X_val, y_val)
    >>> [change.label for change in found if change.is_new]
    ['V']
    """
    estimator.partial_fit  # noqa: B018  # an error says why there is none
    before = estimator.predict(X_val)
    further = deepcopy(estimator).partial_fit(X, y)
    known = known_labels(estimator)
    task = final_step(estimator).estimator.inputs.task
    return changes(task, X_val, y_val, (before, further.predict(X_val)), known)


def changes(
    task: str,
    X: Any,
    y: Corpus,
    predicted: tuple[Corpus, Corpus],
    known: set[str],
    scheme: str = "auto",
) -> Forgetting:
    """Compare what was predicted before and after.

    Parameters
    ----------
    task : {"labels", "words", "spans", "trees"}
    X, y
        Held-out sequences.
    predicted : (before, after)
    known : set of str
        Labels and types that were known before, as of ``known_labels``.
    scheme : str, default="auto"
        Of labels, as of `scores_of`.
    """
    before, after = (scores_of(task, X, y, each, scheme=scheme) for each in predicted)
    if scheme == "auto" and before.table != after.table:
        # The labels of one side alone look like segments: scores of another kind.
        return changes(task, X, y, predicted, known, "none")
    found = []
    for label in dict.fromkeys([*after.by_label, *before.by_label]):
        rows = [side.by_label.get(label) for side in (before, after)]
        f1 = [nan if row is None else row["f1"].value for row in rows]
        support = max(row["support"] for row in rows if row is not None)
        found.append(LabelChange(label, label not in known, f1[0], f1[1], support))
    main = after.main
    return Forgetting(found, (before.overall[main].value, after.overall[main].value))


def known_labels(estimator: Any) -> set[str]:
    """Return the labels that a model knows, and the types of those of a scheme; of a
    span tagger with several chains those of all.
    """
    inner = final_step(estimator).estimator
    found: set[str] = set()
    if has_chains(inner):
        return found.union(*map(known_labels, chains_of(inner)))
    while not hasattr(inner, "classes_"):
        following = getattr(inner, "tagger_", getattr(inner, "estimator_", None))
        if following is None:
            return found
        inner = following
    labels = [spelled(label) for label in np.asarray(inner.classes_).tolist()]
    found.update(labels)
    if inner.inputs.task == TREES:  # scores are of main types
        return found.union(label.partition(":")[0] for label in labels)
    table = LabelTable()
    for label in labels:
        try:
            found.add(table[label][1])
        except ValueError:  # a label of no scheme
            continue
    return found
