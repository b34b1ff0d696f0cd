"""Online learning: what all learners share that learn example by example, and the chain taggers.

Place on the ladder: rung 7 over rung 6. ``fit`` validates and encodes, then a run (:mod:`.run`) goes
through the epochs; the fitted attributes are set in one go at the end, so that a failed fit leaves the
estimator as it was.
"""

import os
import warnings

import numpy as np
from sklearn.utils import check_random_state

from ..core.codes import NO_PENALTY, NOISES, PENALTIES
from ..core.noise import MOST_COLUMNS, make_noise
from ..data.inputs import flatten, lengths_of, offsets_of, renumbered
from ..data.labels import Labels, encode_labels, some_of
from ..data.templates import FeatureTemplates
from ._sklearn import (
    CallbackSupportMixin,
    Integral,
    Interval,
    Options,
    Real,
    StrOptions,
    with_callbacks,
)
from .base import N_JOBS, POSITIVE, SequenceTagger, take
from .chain_model import (
    STRUCTURES,
    ChainModel,
    check_gold,
    check_same_features,
    constraint_arrays,
    make_task,
    new_encoder,
)
from .online_state import continued_state, final_model, fresh_state, order_of
from .run import Run, new_key

FRACTION = Interval(Real, 0, 1, closed="left")

STREAM_HISTORY = 1000
"""Calls of ``partial_fit`` that ``history_`` remembers besides the current one."""

SHARED_CONSTRAINTS = {
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
    "checkpoint": [str, os.PathLike, None],
    "n_jobs": N_JOBS,
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}
"""What all online learners accept; see ``sklearn.utils._param_validation``."""

TAGGER_CONSTRAINTS = {
    **SHARED_CONSTRAINTS,
    "features": [str, os.PathLike, list, tuple, FeatureTemplates],
    "order": [Options(Integral, {1, 2})],
    "constraints": [str, list, tuple, set, frozenset, None],
    "class_weight": [dict, StrOptions({"balanced"}), None],
}
"""What the chain taggers accept besides."""


class OnlineLearner(CallbackSupportMixin):
    """Base of the estimators that learn example by example.

    A subclass has the shared constructor parameters and ``_rule()``, and ``_prepare(X, y, sample_weight,
    continued, stream, classes)``, which checks and encodes everything and returns a
    :class:`.run.Run`. ``continued``: go on from ``_model`` and ``_training``. ``stream``: the run is one
    call of ``partial_fit``.
    """

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
    def _callback_context(self):
        """The callbacks' context of a fit."""
        return self._init_callback_context(max_subtasks=self.max_iter)

    def _fit(self, X, y, sample_weight):
        self._validate_params()
        context = self._callback_context()
        continued = self.warm_start and hasattr(self, "_model")
        return self._prepare(X, y, sample_weight, continued).train(X, y, context)

    def _partial_fit(self, X, y, sample_weight, classes=None):
        self._validate_params()
        continued = hasattr(self, "_model")
        run = self._prepare(X, y, sample_weight, continued, stream=True, classes=classes)
        run.history = run.state.history[-STREAM_HISTORY:]  # a stream has no end
        run.n_iter = getattr(self, "n_iter_", 0)
        return run.train(X, y, n_epochs=1)

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


class OnlineTagger(OnlineLearner, SequenceTagger):
    """Base of the chain taggers that learn example by example."""

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
        return self._fit(X, y, sample_weight)

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """One pass over more data; features, and labels unless ``classes`` closed them, may be new.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`.
        classes : array-like of shape (n_classes,), optional
            All labels there will ever be, in any order: other labels are an error from then on. May be
            given in any call, if it holds all labels seen so far; later calls may repeat it.

        Returns
        -------
        self

        Notes
        -----
        The count cut-off ``min_count`` counts over all calls: a feature enters when it has been seen
        often enough. After a ``fit``, the pass starts from the (averaged) weights of the fit and begins
        a new average. ``early_stopping`` and callbacks do not apply. ``history_`` remembers the last calls
        only, about a thousand.

        ``class_weight`` may name labels that are still to come. ``"balanced"`` counts the labels of each
        call alone, so that the weights depend on how the data is cut and ordered; costs that should not are
        given as a dict.
        """
        return self._partial_fit(X, y, sample_weight, classes)

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
        cost = class_costs(self.class_weight, gold, labels, 1.0 if rule.hamming else 0.0, not stream)

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
            if self.order != self._model.order:
                raise ValueError(
                    f"order={self.order} differs from that of the training so far, {self._model.order}; a "
                    f"fit that continues cannot change it"
                )
        else:
            encoder = new_encoder(self.features, self.min_count, flat)
        task = make_task(encoder, flat, token, gold, weight, grow=True)
        if held_out is not None:  # what is wrong there should not come up after the first epoch
            with renumbered(test):
                make_task(encoder, flatten(held_out[0]), offsets_of(lengths_of(held_out[0])))
        if self.dropout > 0 and task.n_columns > MOST_COLUMNS:
            raise ValueError(
                f"dropout={self.dropout} masks at most {MOST_COLUMNS} columns of a token, but the templates "
                f"read column {task.n_columns - 1}, which makes {task.n_columns} columns; use dropout=0"
            )
        if continued:
            state = continued_state(
                before, self._model.labels, encoder, labels, rule, constraints, cost, stream
            )
        else:
            key = new_key(self.random_state)
            state = fresh_state(encoder, labels, rule, constraints, cost, key, self.order)
        state.closed, state.stream = closed, stream
        return ChainRun(self, state, task, encoder, labels, constraints, held_out)


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
            warnings.warn(
                f"class_weight: {label!r} is no label of y and has no effect; the labels are "
                f"{some_of(labels.values)}",
                UserWarning,
            )
    return costs


def balanced_costs(counts, otherwise):
    """Costs in inverse proportion to how often labels occur, (L,) int; ``otherwise`` for others."""
    costs, seen = np.full(counts.shape[0], float(otherwise)), counts > 0
    costs[seen] = counts.sum() / (np.count_nonzero(seen) * counts[seen])
    return costs


def _closed_labels(classes, before, labels):
    if isinstance(classes, str):
        raise ValueError(f"classes must be a list of labels, got the str {classes!r}")
    given = Labels(list(classes))
    if len(given) == 0:
        raise ValueError("classes must hold at least one label")
    if before is not None and before.closed and given.values != labels.values:
        raise ValueError(f"classes={given.values!r} differ from those of earlier calls, {labels.values!r}")
    missing = [label for label in labels.values if label not in given.ids]
    if missing:
        raise ValueError(
            f"classes must hold all labels seen so far; {some_of(missing)} missing in {given.values!r}"
        )
    return given


class ChainRun(Run):
    """A training run of a chain tagger."""

    model_class = ChainModel

    def __init__(self, estimator, state, task, encoder, labels, constraints, held_out):
        super().__init__(estimator, state, task, held_out)
        self.structure = STRUCTURES[order_of(state.model)]
        self.encoder = encoder
        self.labels = labels
        self.constraints = constraints

    def finished(self, model, reuse=False):
        """See :class:`.run.Run`."""
        return final_model(model, self.state.rule, self.encoder, self.labels, self.constraints, reuse)

    def fitted(self):
        """See :class:`.run.Run`."""
        return {"classes_": self.labels.array}

    def scratch(self):
        """See :class:`.run.Run`."""
        return self.structure.new_work(self.task, len(self.labels))

    def held_out_score(self, model):
        """Token accuracy, over the tokens whose label is given."""
        X, y = self.held_out
        predicted, _ = model.predict(X, n_jobs=self.estimator.n_jobs)
        right = [a == b for a, b in zip(flatten(y), flatten(predicted)) if a is not None]
        return float(np.mean(right)) if right else 0.0

    def at_rest(self, model):
        """See :class:`.run.Run`."""
        return model._replace(cost=np.zeros(0))

    def fresh(self, key):
        """See :class:`.run.Run`."""
        rule, model = self.state.rule, self.state.model
        order = order_of(model)
        return fresh_state(self.encoder, self.labels, rule, self.constraints, model.cost, key, order)
