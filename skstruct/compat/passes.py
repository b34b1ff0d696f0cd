"""The log of each pass, written when it ends, in the words of CRFsuite."""

import time
from collections import Counter
from copy import copy
from typing import NamedTuple

import numpy as np

from ..data.corpus import TokenCorpus
from ..data.inputs import as_tokens
from ..features.vectorizer import TokenVectorizer


class HeldOut(NamedTuple):
    """Sequences that each pass is scored on.

    Their tokens are checked here, before training.
    """

    corpus: TokenCorpus
    gold: list  # of lists of labels
    labels: list  # of the model, by their numbers

    @classmethod
    def of(cls, examples, holdout, labels):
        """Those of the group ``holdout`` of (tokens, labels, group); None if there are
        none."""
        chosen = (
            [(x, y) for x, y, group in examples if group == holdout]
            if holdout >= 0
            else []
        )
        if not chosen:
            return None
        corpus = as_tokens([x for x, _ in chosen])
        if corpus.offsets[-1]:
            TokenVectorizer().fit(corpus)  # encoding is what checks values
        return cls(corpus, [y for _, y in chosen], labels)

    def scores(self, model):
        """Lines of the log about what an estimator predicts."""
        found = [[self.labels[int(k)] for k in y] for y in model.predict(self.corpus)]
        pairs = [pair for y, z in zip(self.gold, found) for pair in zip(y, z)]
        match = Counter(y for y, z in pairs if y == z)
        model_count = Counter(z for _, z in pairs)
        reference = Counter(y for y, _ in pairs)
        lines, shares = (
            ["Performance by label (#match, #model, #ref) (precision, recall, F1):"],
            [],
        )
        for label in dict.fromkeys([*self.labels, *reference]):
            n = match[label], model_count[label], reference[label]
            share = (
                _share(n[0], n[1]),
                _share(n[0], n[2]),
                _share(2 * n[0], n[1] + n[2]),
            )
            figures = ", ".join(f"{each:.4f}" if any(n) else "******" for each in share)
            lines.append(f"    {label}: {n} ({figures})")
            shares.append(share)
        macro = ", ".join(f"{each:.6f}" for each in np.mean(shares, axis=0))
        lines.append(f"Macro-average precision, recall, F1: ({macro})")
        right = sum(y == z for y, z in zip(self.gold, found))
        for what, n, of in (
            ("Item", sum(match.values()), len(pairs)),
            ("Instance", right, len(found)),
        ):
            if of:
                lines.append(f"{what} accuracy: {n} / {of} ({n / of:.4f})")
        return lines


def _share(n, of):
    return n / of if of else 0.0


class PassLog:
    """Called after each pass of an estimator: writes its log, and says whether training
    is to stop.

    Parameters
    ----------
    log : callable
        Takes lines.
    algorithm : str
    values : dict
        The parameters of CRFsuite.
    n : int
        Sequences.
    held_out : HeldOut or None

    Attributes
    ----------
    estimator
        That is trained.
    """

    def __init__(self, log, algorithm, values, n, held_out):
        self.log = log
        self.algorithm = algorithm
        self.held_out = held_out
        self.estimator = None
        self.epsilon = values.get("epsilon", 0.0)
        self.n = n
        self.number = 0
        self.before = time.perf_counter()

    def __call__(self, record, attributes):
        """Log a pass, from its entry of ``history_`` and a function that returns the
        fitted attributes."""
        if "objective" not in record:
            return self._online(record, attributes)
        # Passes of SGD, which begin a training, do not measure the loss, which programs
        # read.
        if record["objective"] is not None:
            self._log(self._figures_of_crf(record), attributes)
        return False

    def _online(self, record, attributes):
        fitted = attributes()
        model = fitted["_model"]
        values = model.nodes.value, model.edges.value
        norm = np.sqrt(sum(float(value @ value) for value in values))
        self._log([("Loss", record["loss"]), ("Feature norm", norm)], lambda: fitted)
        if self.algorithm == "averaged-perceptron":
            return record["token_error"] < self.epsilon
        return record["loss"] < self.epsilon * self.n

    def _figures_of_crf(self, record):
        loss, norm = ("Loss", record["objective"]), record["norm"]
        if self.algorithm == "l2sgd":
            return [loss, ("Feature L2-norm", norm)]
        return [
            loss,
            ("Feature norm", norm),
            ("Error norm", record["optimality"]),
            ("Active features", record["n_active"]),
            ("Line search trials", record.get("trials", 0)),
            ("Line search step", float(record.get("step", 0.0))),
        ]

    def _log(self, figures, attributes):
        self.number += 1
        now = time.perf_counter()
        lines = [f"***** Iteration #{self.number} *****"]
        lines += [f"{name}: {figure(value)}" for name, value in figures]
        lines.append(f"Seconds required for this iteration: {now - self.before:.3f}")
        if self.held_out is not None:
            model = copy(self.estimator)
            vars(model).update(attributes())
            self.held_out = self.held_out._replace(
                corpus=model.encode(self.held_out.corpus)
            )
            lines += self.held_out.scores(model)
        self.before = now
        self.log(*lines, "")

    def end(self):
        """Log a training that needed none of the passes that are logged, by what it
        found."""
        e = self.estimator
        if not self.number and getattr(e, "history_", ()):
            record = {
                **e.history_[-1],
                "objective": e.objective_,
                "optimality": e.optimality_,
            }
            self._log(self._figures_of_crf(record), lambda: {})


def figure(value):
    """A number as CRFsuite writes it."""
    if isinstance(value, float):
        return f"{value:.6f}"
    return str(int(value) if isinstance(value, bool) else value)
