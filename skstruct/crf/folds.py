"""The folds of a search over penalties: what each learns from, and its candidates' scores."""

import time
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from ..chain.chain_model import make_task
from ..data.inputs import offsets_of, renumbered, take
from ..data.labels import Labels, encode_known
from ..metrics import SCORES
from ..taggers.constraints import constraints_of
from ..taggers.labelled_corpus import EncodedPart, class_costs
from ..training.held_out import scored
from .crf_run import CRFRun
from .path import PenaltyPath


class Fold(NamedTuple):
    """One division of the corpus."""

    number: int
    train: np.ndarray  # positions of sequences
    test: np.ndarray


class Tried(NamedTuple):
    """What a candidate came to in one fold."""

    score: float
    objective: float
    n_iter: int
    fit_time: float  # s
    score_time: float  # s


class EncodedCorpus(NamedTuple):
    """A corpus encoded for all folds."""

    run: CRFRun
    position: np.ndarray  # (n,) the sequences that it holds, by their positions in the corpus


def encoded_once(tagger, X, y, weight):
    """The corpus encoded for all folds, or None if features depend on the fold."""
    if tagger.min_count > 1:
        return None
    run = tagger._prepare(X, y, weight)
    if not run.encoder.is_independent:
        return None
    filled = X.lengths > 0
    return EncodedCorpus(run, np.flatnonzero(filled if weight is None else filled & (weight > 0.0)))


class FoldSearch:
    """The candidates on one fold."""

    def __init__(self, search, tagger, fold, X, y, weight, shared, interrupt):
        self.search, self.tagger, self.fold, self.interrupt = search, tagger, fold, interrupt
        self.X, self.y = X.take(fold.test), take(y, fold.test)
        train = fold.train if weight is None else fold.train[weight[fold.train] > 0.0]
        for labels, use in (self.y, "be scored on"), (take(y, train), "learn from"):
            if all(label is None for each in labels for label in each):
                raise ValueError(f"fold {fold.number} has no token with a label to {use}")
        if shared is None:
            with renumbered(train):
                more = None if weight is None else weight[train]
                self.run = tagger._prepare(X.take(train), take(y, train), more)
        else:
            self.run = _restricted(shared, tagger, train, len(X))
        self.held_out = self._encoded_test()

    def _encoded_test(self):
        with renumbered(self.fold.test):
            gold, unseen, _ = encode_known(self.y, self.X.offsets, self.run.labels)
            task = make_task(self.run.encoder, self.X)
        return EncodedPart.of(task, gold, unseen)

    def tried(self, candidates, told):
        """A list of Tried, in the order of the candidates."""
        found = [None] * len(candidates)
        path = PenaltyPath(self.run, candidates, self.run.options(), self.interrupt)
        try:
            results, done = iter(path), 0
            while done < len(candidates) and not self.interrupt.count:
                with told(done):
                    began = time.perf_counter()
                    number, result = next(results)
                    if self.interrupt.count:
                        break
                    fitted = time.perf_counter()
                    score = self._score(result, candidates[number])
                    times = fitted - began, time.perf_counter() - fitted
                found[number] = Tried(score, float(result.objective), result.n_iter, *times)
                done += 1
                if self.search.verbose:
                    self._print(candidates[number], found[number])
        finally:
            path.close()
        return found

    def _score(self, result, candidate):
        scoring, fitted = self.search.scoring, self.run.fitted(result)
        model, (c1, c2) = fitted["_model"], candidate.tolist()
        if scoring is None:
            return self.held_out.accuracy(model)
        try:
            with renumbered(self.fold.test):
                if scoring in SCORES:
                    labels = model.labels.decode(model.best_ids(self.held_out.task), self.held_out.task.token)
                    return float(SCORES[scoring](self.y, labels))
                tagger = clone(self.tagger).set_params(c1=c1, c2=c2)
                return scored(scoring, tagger, fitted, self.X.for_users(), self.y)
        except ValueError as error:
            raise ValueError(f"fold {self.fold.number}, c1={c1:g}, c2={c2:g}: {error}") from error

    def _print(self, candidate, tried):
        c1, c2 = candidate
        print(
            f"fold {self.fold.number}: c1 {c1:g}, c2 {c2:g}, objective {tried.objective:.6g}, "
            f"passes {tried.n_iter}, score {tried.score:.4f}, seconds {tried.fit_time:.3g}",
            flush=True,
        )


def _restricted(shared, tagger, train, n):
    """The run of the sequences at ``train`` alone, of a corpus of ``n``: the others have weight 0.

    Labels, and what follows from them, are those of these sequences.
    """
    whole = shared.run
    chosen = np.zeros(n, bool)
    chosen[train] = True
    chosen = chosen[shared.position]
    task, lengths = whole.task, np.diff(whole.task.token)
    gold = task.gold[np.repeat(chosen, lengths)]
    present = np.unique(gold[gold >= 0])
    labels = Labels([whole.labels.values[k] for k in present.tolist()])
    new_id = np.full(len(whole.labels) + 1, -1, np.int32)  # the last is for tokens without label
    new_id[present] = np.arange(len(present))
    gold = new_id[gold]
    constraints = constraints_of(tagger.constraints, labels, gold, offsets_of(lengths[chosen]))
    cost = class_costs(tagger.class_weight, gold, labels, 0.0, complete=False)
    task = task._replace(gold=new_id[task.gold], weight=np.where(chosen, task.weight, 0.0))
    return CRFRun(tagger, task, whole.encoder, labels, constraints, cost)
