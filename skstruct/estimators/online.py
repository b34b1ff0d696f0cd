"""Online learning of chain taggers: what perceptron and passive-aggressive share.

Place on the ladder: rung 7 over rung 6. ``fit`` validates and encodes, then lets
``training.online`` run epochs; the fitted attributes are set in one go at the end, so that a failed
fit leaves the estimator as it was.
"""

import os

import numpy as np
from sklearn.utils import check_random_state

from ..core.codes import NO_PENALTY, NOISES, PENALTIES
from ..core.noise import make_noise
from ..data.inputs import flatten, lengths_of, offsets_of
from ..data.labels import Labels, encode_labels
from ..data.templates import FeatureTemplates
from ..structures import chain as structure
from ..structures.chain import new_work
from ..training.interrupt import DeferredInterrupt
from ..training.online import epoch_order, epochs, snapshot
from ._sklearn import (
    CallbackSupportMixin,
    Integral,
    Interval,
    Options,
    Real,
    StrOptions,
    epoch_context,
    with_callbacks,
)
from .base import N_JOBS, POSITIVE, SequenceTagger, take
from .chain_model import (
    check_gold,
    check_same_features,
    constraint_arrays,
    make_task,
    new_encoder,
)
from .online_state import continued_state, final_model, fresh_state

FRACTION = Interval(Real, 0, 1, closed="left")

SHARED_CONSTRAINTS = {
    "features": [str, os.PathLike, list, tuple, FeatureTemplates],
    "max_iter": [POSITIVE],
    "shuffle": ["boolean"],
    "penalty": [StrOptions({p for p in PENALTIES if p}), None],
    "alpha": [FRACTION],
    "dropout": [FRACTION],
    "feature_noise": [StrOptions({n for n in NOISES if n}), None],
    "edge_noise": [StrOptions({"same", *(n for n in NOISES if n)}), None],
    "noise_rate": [FRACTION],
    "zipf_exponent": [Interval(Real, 1, None, closed="neither")],
    "min_count": [POSITIVE],
    "early_stopping": ["boolean"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "n_iter_no_change": [POSITIVE],
    "tol": [Interval(Real, 0, None, closed="left")],
    "warm_start": ["boolean"],
    "n_jobs": N_JOBS,
    "random_state": ["random_state"],
    "verbose": ["verbose"],
    "order": [Options(Integral, {1})],
    "constraints": [str, list, tuple, set, frozenset, None],
    "class_weight": [dict, StrOptions({"balanced"}), None],
}
"""What the constructors accept; see ``sklearn.utils._param_validation``."""


class OnlineTagger(CallbackSupportMixin, SequenceTagger):
    """Base of the taggers that learn example by example."""

    def _penalty(self):
        return PENALTIES[self.penalty] if self.alpha > 0 else NO_PENALTY

    def _noise(self, key):
        return make_noise(
            key,
            float(self.dropout),
            self.feature_noise,
            self.edge_noise,
            float(self.noise_rate),
            float(self.zipf_exponent),
        )

    # -- fitting -----------------------------------------------------------------------------------
    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Learn from labelled sequences.

        Parameters
        ----------
        X : list of sequences of tokens
            A token is a str, a tuple of str, a dict of features or a list of str; all tokens of one
            kind.
        y : list of sequences of labels
            Labels of one type that sorts (str, int, bool); None marks an unlabelled token, for which
            the best completion under the current weights counts as gold.
        sample_weight : array-like of shape (n_sequences,), optional
            Multiplies a sequence's update. Sequences of weight 0 are left out altogether.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is not as described; the message names sequence and position. The estimator
            is then as it was before.
        KeyboardInterrupt
            After Ctrl-C; the completed epochs are kept, and the model can be used.
        """
        self._validate_params()
        context = self._init_callback_context(max_subtasks=self.max_iter)
        continued = self.warm_start and hasattr(self, "_model")
        run = self._prepare(X, y, sample_weight, continued)
        return run.train(X, y, context)

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """One pass over more data; features, and labels unless ``classes`` closed them, may be new.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`.
        classes : array-like of shape (n_classes,), optional
            All labels there will ever be: other labels are an error from then on.

        Returns
        -------
        self

        Notes
        -----
        The count cut-off ``min_count`` counts over all calls: a feature enters when it has been seen
        often enough. After a ``fit``, the pass starts from the (averaged) weights of the fit and begins
        a new average. ``early_stopping`` and callbacks do not apply.
        """
        self._validate_params()
        continued = hasattr(self, "_model")
        run = self._prepare(X, y, sample_weight, continued, stream=True, classes=classes)
        run.history = run.state.history
        run.n_iter = getattr(self, "n_iter_", 0)
        return run.train(X, y, n_epochs=1)

    def _prepare(self, X, y, sample_weight, continued=False, stream=False, classes=None):
        """Check and encode everything; what is left to do is to train."""
        rule = self._rule()
        sequences, targets, weight = self._check_training_data(X, y, sample_weight)
        before = self._training if continued else None
        labels = self._model.labels if continued else Labels()
        closed = before is not None and before.closed
        if classes is not None:
            closed, labels = True, _closed_labels(classes, before, labels)
        token = offsets_of(lengths_of(sequences))
        gold, labels = encode_labels(targets, token, labels, grow=not closed)
        if len(labels) == 0:
            raise ValueError("y holds no label: all tokens are None")
        constraints = constraint_arrays(self.constraints, labels)
        check_gold(gold, token, labels, constraints)
        cost = class_costs(self.class_weight, gold, labels, 1.0 if rule.hamming else 0.0)

        held_out = None
        if self.early_stopping and not stream:
            test = self._held_out(np.flatnonzero(np.diff(token) > 0))
            held_out = take(sequences, test), take(targets, test)
            for i in test:
                sequences[i] = targets[i] = ()
            gold = gold[np.repeat(~np.isin(np.arange(len(sequences)), test), np.diff(token))]
            token = offsets_of(lengths_of(sequences))

        flat = flatten(sequences)
        if continued:
            encoder = self._model.encoder.copy()  # grows; the model in use must not
            check_same_features(encoder, self.features, self.min_count)
        else:
            encoder = new_encoder(self.features, self.min_count, flat)
        task = make_task(encoder, flat, token, gold, weight, grow=True)
        if continued:
            state = continued_state(
                before, self._model.labels, encoder, labels, rule, constraints, cost, stream
            )
        else:
            key = int(check_random_state(self.random_state).randint(2**31 - 1))
            state = fresh_state(encoder, labels, rule, constraints, cost, key)
        state.closed, state.stream = closed, stream
        return _Run(self, state, task, encoder, labels, constraints, held_out)

    def _held_out(self, nonempty):
        """Positions of the sequences that early stopping judges by."""
        n = nonempty.shape[0]
        n_test = int(np.ceil(self.validation_fraction * n))
        if n_test >= n:
            raise ValueError(
                f"early_stopping with validation_fraction={self.validation_fraction} leaves none of "
                f"the {n} sequences to train on"
            )
        order = check_random_state(self.random_state).permutation(n)
        return np.sort(nonempty[order[:n_test]]).tolist()

    def n_features(self):
        """Number of features of the fitted model; each has a weight for every label."""
        return self._model.encoder.n_features


def class_costs(class_weight, gold, labels, otherwise):
    """(L,) cost of missing a token of each label; ``otherwise`` where ``class_weight`` says nothing."""
    costs = np.full(len(labels), float(otherwise))
    if class_weight is None:
        return costs
    if class_weight == "balanced":
        counts = np.bincount(gold[gold >= 0], minlength=len(labels))
        seen = counts > 0
        costs[seen] = counts.sum() / (np.count_nonzero(seen) * counts[seen])
        return costs
    for label, cost in class_weight.items():
        if not isinstance(cost, Real) or not 0 <= cost < np.inf:
            raise ValueError(f"class_weight[{label!r}] must be a number of at least 0, got {cost!r}")
        if label in labels.ids:
            costs[labels.ids[label]] = float(cost)
    return costs


def _closed_labels(classes, before, labels):
    if isinstance(classes, str):
        raise ValueError(f"classes must be a list of labels, got the str {classes!r}")
    given = Labels(list(classes))
    if len(given) == 0:
        raise ValueError("classes must hold at least one label")
    if before is not None and given.values != labels.values:
        raise ValueError(
            f"classes={given.values!r} differ from those of earlier calls, {labels.values!r}"
        )
    return given


class _Run:
    """One training run of an estimator: epochs, their record, and the fitted attributes at its end."""

    def __init__(self, estimator, state, task, encoder, labels, constraints, held_out):
        self.estimator = estimator
        self.state = state
        self.task = task
        self.encoder = encoder
        self.labels = labels
        self.constraints = constraints
        self.watch = None if held_out is None else _Validation(estimator, *held_out)
        self.visited = np.flatnonzero(np.diff(task.token) > 0)
        self.history = []
        self.n_iter = 0

    def member(self, estimator, seed, drawn):
        """A run of another estimator on the same task: its own weights, orders and examples."""
        state = self.state
        chain = state.chain
        fresh = fresh_state(
            self.encoder,
            self.labels,
            state.rule,
            (chain.start, chain.allowed, chain.end),
            chain.cost,
            int(check_random_state(seed).randint(2**31 - 1)),
        )
        held_out = None if self.watch is None else (self.watch.X, self.watch.labels)
        run = _Run(
            estimator, fresh, self.task, self.encoder, self.labels, self.constraints, held_out
        )
        run.visited = drawn
        return run

    def model(self, chain):
        """What prediction would use after the training so far."""
        return final_model(chain, self.state.rule, self.encoder, self.labels, self.constraints)

    def train(self, X, y, context=None, n_epochs=None):
        """Run the epochs; returns the estimator, fitted."""
        estimator, state, task = self.estimator, self.state, self.task
        n_epochs = estimator.max_iter if n_epochs is None else n_epochs
        lengths = np.diff(task.token)
        n = self.visited.shape[0]
        orders = (
            self.visited[epoch_order(state.key, state.epoch + e, n, estimator.shuffle)]
            for e in range(n_epochs)
        )
        work = new_work(task, len(self.labels))
        events = epoch_context(context, estimator, X, y)
        self.chain, self.done, started = state.chain, 0, False
        with DeferredInterrupt() as interrupt:
            try:
                events.begin_fit()
                events.begin()
                for chain, stats, complete in epochs(
                    structure, task, orders, lengths, state.chain, state.rule,
                    estimator._noise(state.key), work, interrupt,
                ):  # fmt: skip
                    self.chain, started = chain, True
                    if stats is not None:
                        self._record(stats, n, complete)
                    if not complete:
                        continue
                    stop = self.watch is not None and self.watch.look(self, chain)
                    self._report()
                    stop = events.end(self.attributes) or stop
                    if stop or self.done == n_epochs:
                        break
                    events.begin()
                events.end_fit(self.attributes)
            except KeyboardInterrupt:
                if started:
                    self._commit()
                raise
            self._commit()
        return estimator

    def _record(self, stats, n_visited, complete):
        self.done += complete
        self.history.append(
            {
                "epoch": self.state.epoch + self.done + (not complete),
                "updates": stats.updates,
                "sequence_error": stats.updates / n_visited,
                "token_error": stats.wrong_tokens / int(self.task.token[-1]),
                "loss": stats.loss,
                "seconds": stats.seconds,
                "complete": complete,
            }
        )

    def _report(self):
        if self.estimator.verbose:
            record = self.history[-1]
            line = (
                f"epoch {record['epoch']}: {record['updates']} updates, "
                f"token error {record['token_error']:.4f}, {record['seconds']:.2f} s"
            )
            if "validation_score" in record:
                line += f", held-out accuracy {record['validation_score']:.4f}"
            print(line, flush=True)

    def attributes(self):
        """The fitted attributes as they stand."""
        chain = self.chain
        if self.watch is not None and self.watch.best is not None:
            chain = self.watch.best
        return {
            "_model": self.model(chain),
            "classes_": self.labels.array,
            "n_iter_": self.n_iter + self.done,
            "history_": self.history,
        }

    def _commit(self):
        fitted = self.attributes()
        state = self.state
        if self.watch is not None and self.watch.best is not None:
            self.chain = self.watch.best
        state.chain = self.chain._replace(cost=np.zeros(0))
        state.epoch += self.done
        state.history = self.history
        fitted["_training"] = state
        vars(self.estimator).update(fitted)


class _Validation:
    """Early stopping by token accuracy on held-out sequences; keeps the best epoch."""

    def __init__(self, estimator, X, y):
        self.estimator, self.X, self.labels, self.y = estimator, X, y, flatten(y)
        self.best_score, self.wait, self.best = -np.inf, 0, None

    def look(self, run, chain):
        """Score an epoch; whether to stop."""
        predicted, _ = run.model(chain).predict(self.X, n_jobs=self.estimator.n_jobs)
        right = [a == b for a, b in zip(self.y, flatten(predicted)) if a is not None]
        score = float(np.mean(right)) if right else 0.0
        run.history[-1]["validation_score"] = score
        self.wait = 0 if score > self.best_score + self.estimator.tol else self.wait + 1
        if score > self.best_score:
            self.best_score, self.best = score, snapshot(structure, chain)
        return self.wait >= self.estimator.n_iter_no_change
