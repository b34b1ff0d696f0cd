"""Thresholds of probabilities with a promise: of the recall of spans above them, or of
the precision.

The first is conformal risk control (A. Angelopoulos et al., "Conformal risk control",
ICLR 2024), whose loss is the share of a document's gold spans below the threshold. The
second is Learn-then-Test (A. Angelopoulos et al., "Learn then test", Annals of Applied
Statistics, 2025).
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, lcm
from typing import Any

import numpy as np

from .._core.user_warnings import warn
from .._data.places import agreeing, counted, numbered


def offering_threshold(
    p: np.ndarray, document: np.ndarray, recall: float, what: str = "spans"
) -> float:
    """Find the largest λ such that spans with ``p >= λ`` have an expected ``recall``.

    Each gold span weighs 1 / (n m), with n documents and m gold spans in its own. With
    ``α = 1 - recall`` a new document loses at most α, expected, if the weight of those
    below λ does not exceed ``(α (n + 1) - 1) / n``. Weights are compared as integers,
    exactly.

    Parameters
    ----------
    p : ndarray of shape (S,)
        Probabilities of the gold spans.
    document : ndarray of shape (S,), int
        The document of each.
    recall : float
        Expected share of a new document's spans.
    what : str
        What errors call the spans.

    Raises
    ------
    ValueError
        If there are too few documents, or too many spans have the probability 0.
    """
    alpha = 1 - Fraction(repr(float(recall)))
    _, document, size = np.unique(document, return_inverse=True, return_counts=True)
    n = size.shape[0]
    least = ceil(1 / alpha - 1)
    if n < least:
        raise ValueError(
            f"recall={recall} needs at least {least} documents with {what}, got {n}"
        )
    if n < 5 / alpha:
        warn(
            f"{counted(n, 'document')} with {what} {agreeing(n, 'are')} few for "
            f"recall={recall}: more is offered than would be needed with {ceil(5 / alpha)}"
        )
    whole = lcm(*size.tolist())
    weight = [whole // m for m in size.tolist()]
    bound = (alpha * (n + 1) - 1) * whole
    total = 0
    order = np.argsort(p, kind="stable")
    found = next(
        s for s in order.tolist() if (total := total + weight[document[s]]) > bound
    )
    if p[found] == 0.0:
        raise ValueError(
            f"recall={recall} cannot be promised: {float((p == 0.0).mean()):.1%} of "
            f"the {what} cannot be "
            f"offered, since they are not whole tokens, or have a type that a fold "
            f"lacks"
        )
    return float(p[found])


def certain_threshold(
    p: np.ndarray,
    wrong: np.ndarray,
    document: np.ndarray,
    n_documents: int,
    precision: float,
    confidence: float,
) -> float:
    """Find the smallest threshold above which spans are right with ``precision``.

    It is inf if no threshold tested has the precision. Thresholds are tested from
    strict to loose, each at the level 1 - ``confidence``, until one fails.

    Parameters
    ----------
    p : ndarray of shape (S,)
        Probabilities of spans.
    wrong : ndarray of shape (S,)
        1 if they are wrong, else 0.
    document : ndarray of shape (S,)
        The document of each.
    n_documents : int
        Those without a span count, too.
    precision, confidence : float
    """
    from scipy.stats import binom, t  # slow to import, and not needed to predict

    risk = 1.0 - precision
    order = np.argsort(-p, kind="stable")
    p = p[order]
    wrong = wrong[order]
    document = document[order]
    loss = wrong - risk
    n = np.arange(1, p.shape[0] + 1)
    # The sum of squares of what documents lose grows with each span by (x + loss)^2 -
    # x^2, x its document's sum before.
    by_document = np.argsort(document, kind="stable")
    sums = np.cumsum(loss[by_document])
    first = np.searchsorted(document[by_document], document[by_document])
    before = np.empty_like(loss)
    before[by_document] = (
        sums - loss[by_document] - np.where(first > 0, sums[first - 1], 0.0)
    )
    mean = np.cumsum(loss) / n_documents
    squares = np.cumsum(loss * (2.0 * before + loss))
    spread = np.sqrt(
        np.maximum(squares / n_documents - mean**2, 1e-300) / max(n_documents - 1, 1)
    )
    level = np.maximum(
        binom.cdf(np.cumsum(wrong), n, risk),
        t.cdf(mean / spread, max(n_documents - 1, 1)),
    )
    tested = np.flatnonzero((np.append(p[1:], -1.0) < p) & (n >= 5.0 / risk))
    failed = level[tested] > 1.0 - confidence
    passed = tested[: int(failed.argmax()) if failed.any() else len(tested)]
    return float(p[passed[-1]]) if passed.size else np.inf


def numbered_documents(groups: Any, n: int, used: np.ndarray) -> np.ndarray:
    """Return (n,) the number of each sequence's document, in the order of the corpus;
    -1 for sequences that are not among the positions ``used``.
    """
    groups = range(n) if groups is None else list(groups)
    if len(groups) != n:
        raise ValueError(
            f"groups must name a document for each of the {n} sequences, got "
            f"{len(groups)}"
        )
    found = np.full(n, -1, np.int64)
    found[used] = numbered([groups[i] for i in used.tolist()])[0]
    return found
