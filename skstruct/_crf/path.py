"""One corpus, many penalties: minimisations that start from each other, the
regularisation path, and what a search does on a fold.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from contextlib import closing
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from .._chain.chain_model import make_task
from .._data.inputs import LABELS, renumbered, take
from .._data.labels import encode_known
from .._data.places import PlaceError, refuse_number, refuse_str
from .._data.types import Corpus
from .._taggers.labelled_corpus import EncodedPart
from .._training.held_out import both_or_neither, scored
from ..metrics import SCORES
from ..metrics.countable import refuse_uncountable
from .crf_run import warn_unless_converged
from .l1crf import L1CRF, check_strengths
from .solver.bound import Cuts
from .solver.solve import Progress, solve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from .._data.corpus import TokenCorpus
    from .._training.interrupt import DeferredInterrupt
    from .crf_run import CRFRun
    from .l1crf_cv import L1CRFCV
    from .solver.solve import CRFResult, SolverOptions
    from .solver.working_set import Carry

ZERO = 0.1
"""A penalty of zero is as far from the others as this share of the least other one."""


class Step(NamedTuple):
    """One of the minimisations of a :class:`PenaltyPath`."""

    candidate: int  # its number
    parent: int | None  # the candidate whose weights it starts from
    last: bool  # whether no other one starts from the parent after it


def plan_starts(candidates: np.ndarray) -> list[Step]:
    """Plan which penalties to start from which: a tree of short distances.

    Its root are the strongest penalties.

    Distance is ``|Δ log c1| / 2 + |Δ log c2|``: the weights change more with the L2
    penalty.

    Parameters
    ----------
    candidates : ndarray of shape (n, 2)
        c1 and c2.

    Returns
    -------
    list of Step
        Each parent before its children. It does not depend on the order of the
        candidates, but for the numbers.
    """
    logs = np.empty_like(candidates)
    for k, values in enumerate(candidates.T):
        positive = values > 0.0
        least = values[positive].min() if positive.any() else 1.0
        logs[:, k] = np.log(np.where(positive, values, ZERO * least))
    ordered = sorted(range(len(candidates)), key=lambda i: tuple(-candidates[i]))
    done = [ordered[0]]
    waiting = ordered[1:]
    found: list[tuple[int, int | None]] = [(ordered[0], None)]
    while waiting:
        distance = np.abs(logs[done][:, None] - logs[waiting]) @ np.array([0.5, 1.0])
        i, j = np.unravel_index(distance.argmin(), distance.shape)
        found.append((waiting[j], done[i]))
        done.append(waiting.pop(j))
    last = {parent: child for child, parent in found}
    return [Step(child, parent, last[parent] == child) for child, parent in found]


class PenaltyPath:
    """Minimisations of one objective with several penalties, each from the nearest one
    before.

    All share one encoding of the corpus and one layout of the weights: what the weakest
    L1 penalty keeps at zero, the stronger ones do too.

    Parameters
    ----------
    run : CRFRun
    candidates : ndarray of shape (n, 2)
        c1 and c2.
    options : SolverOptions
    interrupt : DeferredInterrupt, optional
        Ends a minimisation after a pass.
    gaps : bool
        Whether to find how far from its optimum each minimisation ended, if ``tol`` is
        a number.
    """

    def __init__(
        self,
        run: CRFRun,
        candidates: np.ndarray,
        options: SolverOptions,
        interrupt: DeferredInterrupt | None = None,
        gaps: bool = True,
    ) -> None:
        self.candidates = candidates
        self.options = options
        self.interrupt = interrupt
        self.tree = plan_starts(candidates)
        self.seed = run.draw_seed()
        self.objective = run.new_objective(candidates[:, 0].min())
        self.cuts: Cuts | Literal[False] | None = None if gaps else False
        if options.tol is None:
            self.cuts = Cuts(threshold=self.objective.c1)

    def __iter__(self) -> Iterator[tuple[int, CRFResult]]:
        """Yield (number of the candidate, CRFResult).

        The objective has that candidate's penalties then.
        """
        objective = self.objective
        ends: dict[int | None, tuple[np.ndarray | None, Carry | None]] = {
            None: (None, None)
        }
        parents = {step.parent for step in self.tree}
        for candidate, parent, last in self.tree:
            objective.c1, objective.c2 = self.candidates[candidate].tolist()
            weights, carry = ends.pop(parent) if last else ends[parent]
            if carry is not None and not last:
                # which this minimisation moves and fills
                carry = carry._replace(memory=carry.memory.copy())
            result = solve(
                objective,
                self.options,
                Progress(objective, interrupt=self.interrupt),
                weights=weights,
                carry=carry,
                cuts=self.cuts,
                seed=self.seed,
            )
            if candidate in parents:
                ends[candidate] = result.weights, result.carry
            # Memories are the largest thing here: none may live longer than it is
            # needed.
            carry = result.carry = None
            yield candidate, result

    def close(self) -> None:
        """Stop the objective's threads."""
        self.objective.close()


class PathPoint(NamedTuple):
    """One strength of the penalties, as :func:`regularization_path` returns it."""

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

    Costs much less than as many fits: the corpus is encoded once, and each model starts
    from the nearest one before, from the strongest penalties, under which few weights
    are not zero, to the weakest.

    Parameters
    ----------
    estimator : L1CRF
        All other parameters; not changed. Its solver must not be ``"sgd"``, which
        converges to nothing. ``warm_start``, ``checkpoint`` and ``verbose`` are for
        single fits, and have no effect here.
    X, y, sample_weight
        As in :meth:`L1CRF.fit`.
    c1s : iterable of float >= 0
        In any order; repetitions count once.
    c2s : iterable of float >= 0, optional
        Likewise; each with each of ``c1s``. None: the estimator's own ``c2``.
    X_val, y_val : lists of sequences, optional
        Held-out sequences to score, as in :meth:`L1CRF.fit`; labels that training lacks
        are wrong.

    Returns
    -------
    list of PathPoint
        From the largest ``c1`` to the smallest, and for each from the largest ``c2`` to
        the smallest: ``c1``, ``objective``, ``n_active``, ``n_iter``, ``score`` (what
        ``model.score`` gives for the held-out sequences) and ``log_proba`` (their mean
        log-probability), both None without such sequences, ``model``, a fitted clone,
        and ``c2``.

    Raises
    ------
    ValueError, TypeError
        As :meth:`L1CRF.fit`, or if ``c1s`` or ``c2s`` is empty, or holds a number that
        cannot be a strength.

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
    strengths = [
        _strengths("c1s", c1s),
        _strengths("c2s", [estimator.c2] if c2s is None else c2s),
    ]
    if estimator.solver == "sgd":
        raise ValueError("a path needs a solver that converges, got solver='sgd'")
    candidates = np.array(list(product(*strengths)))
    first = clone(estimator)
    first._validate_params()
    run = first._prepare(X, y, sample_weight, both_or_neither(X_val, y_val))
    points: dict[int, PathPoint] = {}
    with closing(PenaltyPath(run, candidates, run.solver_options())) as path:
        held_out = run.held_out_likelihood(path.objective)
        for number, result in path:
            warn_unless_converged(result, first)
            c1, c2 = candidates[number].tolist()
            model = clone(estimator).set_params(c1=c1, c2=c2)
            vars(model).update(run.attributes(result))
            score = None if X_val is None else model.score(X_val, y_val)
            log_proba = None if held_out is None else held_out.score(result.weights)
            facts = result.objective, result.n_active_features, result.n_iter
            points[number] = PathPoint(c1, *facts, score, log_proba, model, c2)
    return [points[number] for number in range(len(candidates))]


def _strengths(name: str, values: Iterable[float]) -> list[float]:
    """List the distinct strengths of a penalty, the largest first."""
    refuse_str(name, values, "numbers")
    refuse_number(name, values)
    values = list(values)
    # which numpy would read
    if any(isinstance(value, (str, bytes)) for value in values):
        raise ValueError(f"{name} must hold numbers, got {values!r}")
    found = np.unique(np.asarray(values, dtype=float))[::-1]
    if found.size == 0:
        raise ValueError(f"{name} is empty")
    check_strengths(name, found, found.tolist())
    return found.tolist()


# -- the folds of a search -------------------------------------------------------------
class Fold(NamedTuple):
    """One division of the corpus."""

    number: int
    train: np.ndarray  # positions of sequences
    test: np.ndarray

    def used(self, weight: np.ndarray | None) -> np.ndarray:
        """Return the positions of the sequences to learn from, which have a weight."""
        return self.train if weight is None else self.train[weight[self.train] > 0.0]

    def check(
        self, search: L1CRFCV, X: TokenCorpus, y: Any, weight: np.ndarray | None
    ) -> None:
        """Raise unless there is something to learn from, and the test part can be
        scored by what is in it.
        """
        train = take(y, self.used(weight))
        test = take(y, self.test)
        for labels, use in (test, "be scored on"), (train, "learn from"):
            if all(label is None for each in labels for label in each):
                raise ValueError(
                    f"fold {self.number} has no token with a label to {use}"
                )
        self.check_scoring(search, X, y)

    def check_scoring(
        self, search: L1CRFCV, X: TokenCorpus, y: Any, known: Collection[Any] = ()
    ) -> None:
        """Raise unless the scorer can count the test part, and ``known`` labels, which
        may be predicted.
        """
        if search.scoring is None:
            return
        try:
            with renumbered(self.test):
                test = X.take(self.test), take(y, self.test)
                refuse_uncountable(search, LABELS, *test, known)
        except ValueError as error:
            raise ValueError(f"fold {self.number}: {error}") from error


class Tried(NamedTuple):
    """The result of a candidate in one fold."""

    score: float
    objective: float
    n_iter: int
    fit_time: float  # s
    score_time: float  # s


class FoldSearch:
    """The candidates on one fold.

    A fold is encoded by itself, as a fit to its training part would do it: all that is
    learned of a corpus (labels, features, clusters of words, costs of classes) is
    learned of that part, and a sequence that is in it twice counts twice.
    """

    def __init__(
        self,
        search: L1CRFCV,
        tagger: L1CRF,
        fold: Fold,
        X: TokenCorpus,
        y: Any,
        weight: np.ndarray | None,
        interrupt: DeferredInterrupt,
    ) -> None:
        self.search = search
        self.tagger = tagger
        self.fold = fold
        self.interrupt = interrupt
        self.X = X.take(fold.test)
        self.y = take(y, fold.test)
        train = fold.used(weight)
        with renumbered(train):
            more = None if weight is None else weight[train]
            self.run = tagger._prepare(X.take(train), take(y, train), more)
        with renumbered(fold.test):
            gold, unseen, _ = encode_known(self.y, self.X.offsets, self.run.labels)
            task = make_task(self.run.encoder, self.X)
        self.held_out = EncodedPart.of(task, gold, unseen)

    def try_all(
        self,
        candidates: np.ndarray,
        tell: Callable[[int], AbstractContextManager[Any]],
        is_stopped: Callable[[], bool],
    ) -> dict[int, Tried]:
        """Minimise with all candidates, and score what comes of each.

        Parameters
        ----------
        candidates : ndarray of shape (n, 2)
            c1 and c2.
        tell : callable
            ``tell(k)`` is the context of the k-th minimisation.
        is_stopped : callable
            Says whether a callback has asked for no more candidates.

        Returns
        -------
        dict of int to Tried
            By the numbers of candidates; fewer after an interrupt, or if a callback
            stopped the search.
        """
        found: dict[int, Tried] = {}
        options = self.run.solver_options()
        with closing(
            PenaltyPath(self.run, candidates, options, self.interrupt, gaps=False)
        ) as path:
            results = iter(path)
            for k in range(len(candidates)):
                if self.interrupt.count or is_stopped():
                    break
                with tell(k):
                    began = time.perf_counter()
                    number, result = next(results)
                    if self.interrupt.count:
                        break
                    fitted = time.perf_counter()
                    score = self._score(result, candidates[number])
                    times = fitted - began, time.perf_counter() - fitted
                found[number] = Tried(score, result.objective, result.n_iter, *times)
                if self.search.verbose:
                    self._print(candidates[number], found[number])
        return found

    def _score(self, result: CRFResult, candidate: np.ndarray) -> float:
        scoring = self.search.scoring
        fitted = self.run.attributes(result)
        model = fitted["_model"]
        c1, c2 = candidate.tolist()
        if scoring is None:
            return self.held_out.accuracy(model)
        try:
            with renumbered(self.fold.test):
                if scoring in SCORES:
                    labels = model.labels.decode(
                        model.best_ids(self.held_out.task), self.held_out.task.token
                    )
                    return float(SCORES[scoring](self.y, labels))
                tagger = clone(self.tagger).set_params(c1=c1, c2=c2)
                return scored(scoring, tagger, fitted, self.X.for_users(), self.y)
        except ValueError as error:
            if isinstance(error, PlaceError) and error.name == "y_true":
                error.move(error.sequence, "y")
            raise ValueError(
                f"fold {self.fold.number}, c1={c1:g}, c2={c2:g}: {error}"
            ) from error

    def _print(self, candidate: np.ndarray, tried: Tried) -> None:
        c1, c2 = candidate
        text = (
            f"fold {self.fold.number}: c1 {c1:g}, c2 {c2:g}, objective "
            f"{tried.objective:.6g}, passes {tried.n_iter}, score {tried.score:.4f}, "
            f"seconds {tried.fit_time:.3g}"
        )
        print(text, flush=True)
