"""Costs of missing a token, by its label."""

import numpy as np

from .._sklearn import Real
from ..core.user_warnings import warn
from ..data.labels import some_of


def class_costs(class_weight, gold, labels, otherwise, complete=True):
    """(L,) cost of missing a token of each label; ``otherwise`` where ``class_weight`` says nothing.

    ``complete``: no label may come later, so that one which is not among ``labels`` is warned of. It is no
    error: a part of a corpus, as in cross-validation, may lack a rare label.
    """
    costs = np.full(len(labels), float(otherwise))
    if class_weight is None:
        return costs
    if class_weight == "balanced":
        return balanced_costs(np.bincount(gold[gold >= 0], minlength=len(labels)), otherwise)
    for label, cost in class_weight.items():
        if not isinstance(cost, Real) or not 0 <= cost < np.inf:
            raise ValueError(f"class_weight[{label!r}] must be a number of at least 0, got {cost!r}")
        if label in labels.ids:
            costs[labels.ids[label]] = float(cost)
        elif complete:
            warn(
                f"class_weight: {label!r} is no label of y and has no effect; the labels are "
                f"{some_of(labels.values)}"
            )
    return costs


def balanced_costs(counts, otherwise):
    """Costs in inverse proportion to how often labels occur, (L,) int; ``otherwise`` for others."""
    costs, seen = np.full(counts.shape[0], float(otherwise)), counts > 0
    costs[seen] = counts.sum() / (np.count_nonzero(seen) * counts[seen])
    return costs
