"""One corpus, many penalties: minimisations that start from each other, and the regularisation path."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from copy import copy
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from ..data.types import Corpus
from ..training.held_out import both_or_neither
from .crf_parameters import LARGEST_PENALTY, are_strengths
from .crf_run import warn_unless_converged
from .l1crf import L1CRF
from .solver.bound import Cuts
from .solver.solve import HeldOutLikelihood, Progress, solve

ZERO = 0.1
"""A penalty of zero is as far from the others as this share of the least that is not."""


class Step(NamedTuple):
    """One of the minimisations of a :class:`PenaltyPath`."""

    candidate: int  # its number
    parent: int | None  # the candidate whose weights it starts from
    last: bool  # whether no other one starts from the parent after it


def tree_of_starts(candidates):
    """Which penalties to start from which: a tree of short distances, from the strongest.

    Distance is ``|Δ log c1| / 2 + |Δ log c2|``: the weights change more with the L2 penalty.

    Parameters
    ----------
    candidates : ndarray of shape (n, 2)
        c1 and c2.

    Returns
    -------
    list of Step
        Each parent before its children. It does not depend on the order of the candidates, but for the
        numbers.
    """
    logs = np.empty_like(candidates)
    for k, values in enumerate(candidates.T):
        positive = values > 0.0
        least = values[positive].min() if positive.any() else 1.0
        logs[:, k] = np.log(np.where(positive, values, ZERO * least))
    ordered = sorted(range(len(candidates)), key=lambda i: tuple(-candidates[i]))
    done, waiting, found = [ordered[0]], ordered[1:], [(ordered[0], None)]
    while waiting:
        distance = np.abs(logs[done][:, None] - logs[waiting]) @ np.array([0.5, 1.0])
        i, j = np.unravel_index(distance.argmin(), distance.shape)
        found.append((waiting[j], done[i]))
        done.append(waiting.pop(j))
    last = {parent: child for child, parent in found}
    return [Step(child, parent, last[parent] == child) for child, parent in found]


class PenaltyPath:
    """Minimisations of one objective with several penalties, each from the nearest one before.

    All share one encoding of the corpus and one layout of the weights: what the weakest L1 penalty keeps
    at zero, the stronger ones do too.

    Parameters
    ----------
    run : CRFRun
    candidates : ndarray of shape (n, 2)
        c1 and c2.
    options : SolverOptions
    interrupt : DeferredInterrupt, optional
        Ends a minimisation after a pass.
    """

    def __init__(self, run, candidates, options, interrupt=None):
        self.candidates, self.options, self.seed = candidates, options, run.seed()
        self.interrupt = interrupt
        self.tree = tree_of_starts(candidates)
        self.objective = run.objective(candidates[:, 0].min())
        self.cuts = Cuts(threshold=self.objective.c1) if options.tol is None else None

    def __iter__(self):
        """Yield (number of the candidate, CRFResult); the objective has that candidate's penalties then."""
        o, ends, parents = self.objective, {}, {step.parent for step in self.tree}
        for candidate, parent, last in self.tree:
            o.c1, o.c2 = self.candidates[candidate].tolist()
            weights = carry = None
            if parent is not None:
                weights, carry = ends.pop(parent) if last else ends[parent]
                if carry is not None and not last:
                    carry = carry._replace(memory=copy(carry.memory))  # which `move` gives other arrays
            progress = Progress(o, interrupt=self.interrupt)
            result = solve(
                o, self.options, progress, weights=weights, carry=carry, cuts=self.cuts, seed=self.seed
            )
            if candidate in parents:
                ends[candidate] = result.weights, result.carry
            # Memories are the largest thing here: none may live longer than it is needed.
            carry = result.carry = None
            yield candidate, result

    def close(self):
        """Stop the objective's threads."""
        self.objective.close()


class PathPoint(NamedTuple):
    """One strength of the penalties; see :func:`regularization_path`."""

    c1: float
    objective: float
    n_active: int  # weights that are not zero
    n_iter: int  # passes
    score: float | None  # on the held-out sequences, if there are any
    log_proba: float | None  # their mean log-probability
    model: L1CRF
    c2: float


def regularization_path(
    estimator: L1CRF,
    X: Corpus,
    y: Corpus,
    c1s: Iterable[float],
    *,
    c2s: Iterable[float] | None = None,
    sample_weight: ArrayLike | None = None,
    X_val: Corpus | None = None,
    y_val: Corpus | None = None,
) -> list[PathPoint]:
    """Fit an :class:`L1CRF` for several values of ``c1``, and of ``c2``.

    Costs much less than as many fits: the corpus is encoded once, and each model starts from the nearest one
    before, from the strongest penalties, under which few weights are not zero, to the weakest.

    Parameters
    ----------
    estimator : L1CRF
        All other parameters; not changed. Its solver must not be ``"sgd"``, which converges to nothing.
        ``warm_start``, ``checkpoint`` and ``verbose`` are for single fits, and have no effect here.
    X, y, sample_weight
        As in :meth:`L1CRF.fit`.
    c1s : iterable of float >= 0
        In any order; repetitions count once.
    c2s : iterable of float >= 0, optional
        Likewise; each with each of ``c1s``. None: the estimator's own ``c2``.
    X_val, y_val : lists of sequences, optional
        Held-out sequences to score; labels that training lacks are wrong in ``score``, and in ``log_proba``
        as in :meth:`L1CRF.fit`.

    Returns
    -------
    list of PathPoint
        From the largest ``c1`` to the smallest, and for each from the largest ``c2`` to the smallest: ``c1``,
        ``objective``, ``n_active``, ``n_iter``, ``score`` (what ``model.score`` gives for the held-out
        sequences) and ``log_proba`` (their mean log-probability), both None without such sequences,
        ``model``, a fitted clone, and ``c2``.

    Raises
    ------
    ValueError, TypeError
        As :meth:`L1CRF.fit`, or if ``c1s`` or ``c2s`` is empty, or holds a number that cannot be a strength.

    Examples
    --------
    >>> from skstruct import L1CRF, regularization_path
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]] * 5
    >>> y = [["D", "N", "V"]] * 15
    >>> path = regularization_path(L1CRF(random_state=0), X, y, [0.1, 1, 10], X_val=X, y_val=y)
    >>> [point.c1 for point in path]
    [10.0, 1.0, 0.1]
    >>> max(path, key=lambda point: point.score).score
    1.0
    """
    if not isinstance(estimator, L1CRF):
        raise TypeError(f"estimator must be an L1CRF, got {type(estimator).__name__}")
    strengths = [_strengths("c1s", c1s), _strengths("c2s", [estimator.c2] if c2s is None else c2s)]
    if estimator.solver == "sgd":
        raise ValueError("a path needs a solver that converges, got solver='sgd'")
    candidates = np.array(list(product(*strengths)))
    first = clone(estimator)
    first._validate_params()
    run = first._prepare(X, y, sample_weight, both_or_neither(X_val, y_val))
    points, held_out = [None] * len(candidates), None
    with closing(PenaltyPath(run, candidates, run.options())) as path:
        if run.validation is not None:
            held_out = HeldOutLikelihood(path.objective, run.validation)
        for number, result in path:
            warn_unless_converged(result, first)
            c1, c2 = candidates[number].tolist()
            model = clone(estimator).set_params(c1=c1, c2=c2)
            vars(model).update(run.fitted(result))
            score = log_proba = None
            if X_val is not None:
                score = model.score(X_val, y_val)
            if held_out is not None:
                log_proba = held_out.score(result.weights)
            points[number] = PathPoint(
                c1, model.objective_, result.n_active, result.n_iter, score, log_proba, model, c2
            )
    return points


def _strengths(name, values):
    """Distinct strengths of a penalty, the largest first."""
    found = np.unique(np.asarray(list(values), dtype=float))[::-1]
    if found.size == 0:
        raise ValueError(f"{name} is empty")
    if not are_strengths(found):
        raise ValueError(f"{name} must be from 0 to {LARGEST_PENALTY:g}, got {found.tolist()}")
    return found.tolist()
