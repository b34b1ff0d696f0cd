"""Chain taggers that learn example by example.

``fit`` validates and encodes, then a :class:`ChainRun` goes through the epochs; the
fitted attributes are set in one go at the end, so that a failed fit leaves the
estimator as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._chain.bigram import lists_rows, new_work
from .._chain.chain_arguments import kernel_arguments
from .._chain.chain_epoch import epoch
from .._chain.chain_model import ChainModel, make_task, renumbered_labels
from .._chain.shown_pairs import add_known, marked, translated, united
from .._chain.state import (
    final_model,
    fresh_state,
    grow_state,
    order_of,
    with_pairs,
)
from .._core.noise import MOST_COLUMNS
from .._data.inputs import LABELS, as_tokens, check_X_y, renumbered
from .._data.labels import Gold, Labels, check_kept, encode_known, some_of
from .._data.types import Corpus, Given, Self, Weights
from .._sklearn import with_callbacks
from .._training.held_out import NAMES, HeldOut
from .._training.learner import OnlineLearner, warn_if_few_are_long
from .._training.parameters import parameter, parametrized
from .._training.run import Run, new_key
from .constraints import check_gold, check_known
from .labelled_corpus import (
    EncodedPart,
    class_costs,
    count_in_sequences,
    encoder_for,
    merged,
    read_corpus,
    vocabulary_of,
)
from .sequence_tagger import SequenceTagger, TaggerParameters

if TYPE_CHECKING:
    from .._chain.bigram import Chain, ChainTask, ChainWork
    from .._chain.shown_pairs import ShownPairs
    from .._shards.vocabulary import Vocabulary
    from .._training.run import TrainingState
    from ..features.base import Encoder
    from .constraints import ConstraintArrays


@parametrized(kw_only=True)
class OnlineTagger(TaggerParameters, OnlineLearner, SequenceTagger):
    """Base of the chain taggers that learn example by example."""

    order: Literal[1, 2] = parameter(
        default=1,
        text="""Label history: 1 for bigrams of labels, 2 for trigrams besides (Collins
        2002; the first two labels make one with the start of the sequence). Decoding is
        exact with both; with 2 its time grows with the third power of the number of
        labels at worst, and with the second as a rule.""",
    )

    @with_callbacks
    def fit(
        self,
        X: Corpus,
        y: Corpus,
        sample_weight: Weights = None,
        *,
        X_val: Given = None,
        y_val: Given = None,
    ) -> Self:
        """Learn from labelled sequences.

        Parameters
        ----------
        X : list of sequences of tokens
            A token is a str, a tuple of str, a dict of features, a list of str, or a
            row of numbers; all tokens are of one kind, but for dicts and lists of str,
            which may mix.
        y : list of sequences of labels
            Labels of one type that sorts (str, int, bool, float, or tuples of these);
            None marks an unlabelled token, for which the best completion under the
            current weights counts as gold.
        sample_weight : array-like of shape (n_sequences,), optional
            Multiplies a sequence's update, and the costs and margins it is learned
            with. Sequences of weight 0 are left out altogether.
        X_val, y_val : lists of sequences, optional
            Held-out sequences, on which the model is scored after each epoch
            (``scoring``); the scores are ``validation_score`` in ``history_``. With
            ``early_stopping`` they decide when to stop and which epoch to keep, in
            place of a part of ``X``; otherwise they have no influence on the model.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is not as described; the message names sequence and position.
            The estimator is then as it was before.
        KeyboardInterrupt
            After Ctrl-C; the completed epochs are kept, and the model can be used.

        Warns
        -----
        UserWarning
            If ``y_val`` has labels that training lacks; once, naming them. They count
            as wrong. If there are fewer than 20 sequences, of more than 1,000 tokens on
            average: these are too few updates. If the costs in ``class_weight`` are
            below 1, as if they were weights.
        """
        run, callback_context = self._begin_fit(X, y, sample_weight, X_val, y_val)
        return run.train(X, y, callback_context)

    def partial_fit(
        self,
        X: Corpus,
        y: Corpus,
        classes: ArrayLike | None = None,
        sample_weight: Weights = None,
    ) -> Self:
        """One pass over more data; features, and labels unless ``classes`` closed them,
        may be new.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`.
        classes : array-like of shape (n_classes,), optional
            All labels there will ever be, in any order: other labels are an error from
            then on. May be given in any call, if it holds all labels seen so far; later
            calls may repeat it.

        Returns
        -------
        self

        Notes
        -----
        The count cut-off ``min_count`` counts over all calls: a feature enters when it
        has been seen often enough. A ``fit`` under ``warm_start``, whose corpus may be
        the same again, counts in that alone. Of pairs that ``all_pairs`` leaves to the
        data, a call knows those shown so far. After a ``fit``, the pass starts from the
        (averaged) weights of the fit and begins a new average. ``early_stopping`` and
        callbacks do not apply. ``history_`` remembers the last calls only, about a
        thousand.

        ``class_weight`` may name labels that are still to come. ``"balanced"`` counts
        the labels of each call alone, so that the weights depend on how the data is cut
        and ordered; costs that should not are given as a dict. Noise of features
        depends on it, too: it is drawn by their numbers, and those of a call stand
        behind those of earlier calls.
        """
        return self._partial_fit(X, y, sample_weight, classes=classes)

    def _leave_undecided(self) -> None:
        super()._leave_undecided()
        # Which features are frequent enough, and what labels there are, is known when
        # all are counted.
        self.min_count = 1
        self.class_weight = None  # costs depend on the counts of all labels

    def _prepare(
        self,
        X: Corpus,
        y: Corpus,
        sample_weight: Weights,
        given: tuple[Given, Given] | None = None,
        continued: bool = False,
        stream: bool = False,
        classes: ArrayLike | None = None,
    ) -> ChainRun:
        """Check and encode everything; what is left to do is to train.

        ``classes``: all labels there will ever be, as of :meth:`partial_fit`; the other
        arguments are those of ``OnlineLearner._prepare``.
        """
        rule = self._rule()
        model, before = (self._model, self._training) if continued else (None, None)
        labels = Labels() if model is None else model.labels
        closed = before is not None and before.closed
        if classes is not None:
            labels = _closed_labels(classes, before, labels)
            closed = True
        corpus = read_corpus(
            self,
            X,
            y,
            sample_weight,
            labels,
            grow=not closed,
            is_part=self._is_part,
        )
        labels = corpus.labels
        held_out: list[int] = []
        if self.early_stopping and not stream and given is None:
            labelled = corpus.gold.is_labelled()
            held_out = self._held_out(
                np.flatnonzero(count_in_sequences(labelled, corpus.token))
            )
        train = corpus.without(held_out) if held_out else corpus
        cost = class_costs(
            self.class_weight,
            train.gold.ids,
            labels,
            otherwise=float(rule.hamming),  # 1 for each wrong token, or 0
            complete=not stream,
        )
        scaled = None if self._is_part else True  # None: all shards together decide
        with renumbered(train.positions):
            encoder = encoder_for(self, train.X, model, scaled=scaled, stream=stream)
            task = make_task(encoder, train.X, train.gold, train.weight, grow=True)
        if model is not None and self.order != model.order:
            raise ValueError(
                f"order={self.order} differs from that of the training so far, "
                f"{model.order}; a fit that "
                f"continues cannot change it"
            )
        self._check_columns(task)
        setting = encoder, labels, rule, corpus.constraints, cost
        if model is not None:
            assert before is not None
            state = grow_state(before, model.labels, *setting, stream)
        else:
            state = fresh_state(*setting, new_key(self.random_state), self.order)
        state.closed = closed
        state.stream = stream
        task, state.pairs = self._with_pairs(task, state.model, before, model, labels)
        run = ChainRun(self, state, task, encoder, labels, corpus.constraints)
        if not stream:
            warn_if_few_are_long(np.diff(task.token))
        if held_out:
            run.hold_out_some(corpus.X, corpus.y, held_out, corpus.positions)
        run.hold_out(given)
        return run

    def _check_columns(self, task: ChainTask) -> None:
        """Raise an error if dropout cannot mask all columns of a token."""
        if self.dropout > 0 and task.n_columns > MOST_COLUMNS:
            raise ValueError(
                f"dropout={self.dropout} masks at most {MOST_COLUMNS} columns of a "
                f"token, but the templates "
                f"read column {task.n_columns - 1}, which makes {task.n_columns} "
                f"columns; use dropout=0"
            )

    def _with_pairs(
        self,
        task: ChainTask,
        chain: Chain,
        before: TrainingState | None,
        model: ChainModel | None,
        labels: Labels,
    ) -> tuple[ChainTask, ShownPairs | None]:
        """Mark in a task the pairs, of a feature and a label or of two labels, that may
        have weights; also returns these pairs, None if nothing is known.

        ``before`` and ``model`` are of the training so far, its state and what it led
        to; both None without one. ``chain`` has the weights to go on from. Pairs are
        marked before the first epoch: later, a fit that goes on from a checkpoint could
        not tell pairs that the corpus shows from those that have a weight by then.
        """
        known = None
        if before is not None and model is not None:
            new_of_old = [labels.ids[label] for label in model.labels.values]
            known = translated(before.pairs, new_of_old, len(labels))
        if len(labels) and (self.all_pairs is not True or self._least_seen is not None):
            task = with_pairs(task, chain, self.all_pairs, self._least_seen)
        return add_known(task, known, len(labels))


def _closed_labels(
    classes: Any, before: TrainingState | None, labels: Labels
) -> Labels:
    """Return the label set that ``classes``, of ``partial_fit``, fixes.

    Parameters
    ----------
    classes : array-like
    before : TrainingState or None
        The training so far; it may have fixed a set, which has to be the same.
    labels : Labels
        All that were seen so far, which ``classes`` must hold.
    """
    if isinstance(classes, str):
        raise ValueError(f"classes must be a list of labels, got the str {classes!r}")
    classes = list(classes)
    if any(isinstance(each, list) for each in classes):
        raise ValueError(
            "classes must be a list of labels, got a list of lists; of a corpus y: "
            "sorted({label for labels in y for label in labels})"
        )
    given = Labels(list(classes))
    check_kept(given.values, "classes")
    if len(given) == 0:
        raise ValueError("classes must hold at least one label")
    if before is not None and before.closed and given.values != labels.values:
        raise ValueError(
            f"classes={given.values!r} differ from those of earlier calls, "
            f"{labels.values!r}"
        )
    missing = [label for label in labels.values if label not in given.ids]
    if missing:
        raise ValueError(
            f"classes must hold all labels seen so far; {some_of(missing)} missing in "
            f"{given.values!r}"
        )
    return given


class WeightRows(NamedTuple):
    """Numbers of rows of weights that an encoder needs.

    A shard is told no more of the encoder that all shards share.
    """

    n_node_rows: int
    n_edge_rows: int
    has_bigram: bool


class ChainRun(Run):
    """A training run of a chain tagger.

    Parameters
    ----------
    estimator : OnlineTagger
    state : TrainingState
        Its model is a :class:`skstruct._chain.chain_model.ChainModel`.
    task : ChainTask
        With gold labels.
    encoder : Encoder
        The one that encoded ``task``.
    labels : Labels
    constraints : tuple of ndarray
        As :func:`.constraint_arrays` returns them.
    """

    estimator: OnlineTagger
    task: ChainTask
    encoder: Encoder  # what `adopt` leaves of it is a `WeightRows`

    epoch = staticmethod(epoch)
    model_class = ChainModel

    def __init__(
        self,
        estimator: OnlineTagger,
        state: TrainingState,
        task: ChainTask,
        encoder: Encoder,
        labels: Labels,
        constraints: ConstraintArrays,
    ) -> None:
        super().__init__(estimator, state, task)
        self.encoder = encoder
        self.labels = labels
        self.constraints = constraints

    def kernel_arguments(self, noise: Any, work: ChainWork) -> tuple[Any, ...]:
        """Return what the kernel takes; types of these tuples choose its variant."""
        return kernel_arguments(
            self.task, self.state.model, self.state.rule, noise, work
        )

    def finished(self, model: Chain, reuse: bool = False) -> ChainModel:
        """Return a :class:`.ChainModel` with the final weights of the training so far.

        ``reuse``: it may be made of the arrays of ``model``.
        """
        return final_model(
            model, self.state.rule, self.encoder, self.labels, self.constraints, reuse
        )

    def fitted(self) -> dict[str, Any]:
        """Return ``classes_``, the labels in their order."""
        return {"classes_": self.labels.array}

    def scratch(self) -> ChainWork:
        """Return working memory for the longest sequence of the task."""
        model = self.state.model
        listed = lists_rows(
            model, self.state.rule, self.estimator._noise(self.state.key)
        )
        return new_work(self.task, len(self.labels), order_of(model), listed=listed)

    def held_out_part(self, X: Any, y: Corpus) -> tuple[HeldOut, list[Any]]:
        """Check and encode held-out sequences; also returns the labels new in them."""
        X, y, token = check_X_y(X, y, NAMES, as_tokens)
        gold, unseen, others = encode_known(y, token, self.labels)
        check_known(gold, unseen, token, self.labels, self.constraints)
        part = EncodedPart.of(make_task(self.encoder, X), gold, unseen)
        known = self.labels.values
        return HeldOut(self.estimator, LABELS, X, y, part, known), others

    def held_out_score(self, model: ChainModel) -> float:
        """Return token accuracy, over the tokens whose label is given."""
        held_out = self.held_out
        return held_out.encoded.accuracy(model)  # type: ignore[union-attr]  # it is there

    def without_bookkeeping(self, model: Chain) -> Chain:
        """Return the model without the costs of labels, which are those of one fit."""
        return model._replace(cost=np.zeros(0))

    def fresh(self, key: int) -> TrainingState:
        """Return a state with zero weights for the features and labels of this run."""
        rule = self.state.rule
        model = self.state.model
        setting = self.encoder, self.labels, rule, self.constraints, model.cost
        state = fresh_state(*setting, key, order_of(model))
        state.pairs = self.state.pairs
        return state

    def vocabulary(self, min_count: int) -> Vocabulary:
        """Return encoder, labels and pairs; counts of features if ``min_count`` > 1."""
        return vocabulary_of(self, min_count)._replace(pairs=self.state.pairs)

    @classmethod
    def merged(
        cls, vocabularies: list[Vocabulary], learner: Any, key: int
    ) -> tuple[ChainRun, list[dict[str, Any]]]:
        """Unite the features and labels of all shards.

        Returns
        -------
        ChainRun
            Without examples.
        list of dict
            By shard the plan that :meth:`adopt` carries out.
        """
        rule = learner._rule()
        encoder, labels, constraints, cost, ids, rows = merged(
            vocabularies, learner, float(rule.hamming)
        )
        task = make_task(encoder, as_tokens([]))
        state = fresh_state(
            encoder, labels, rule, constraints, cost, key, learner.order
        )
        of_shards = zip(vocabularies, ids, rows)
        state.pairs = united(
            [translated(v.pairs, new[:-1], len(labels), of) for v, new, of in of_shards]
        )
        run = cls(learner, state, task, encoder, labels, constraints)
        shared = {
            "labels": labels,
            "constraints": constraints,
            "cost": cost,
            "encoder": WeightRows(
                encoder.n_node_rows, encoder.n_edge_rows, encoder.has_bigram
            ),
            "alive": (task.node_alive, task.edge_alive),
            "scale": getattr(encoder, "scale", None),  # of rows of numbers
            "pairs": state.pairs,
        }
        return run, [{**shared, "ids": new, "map": of} for new, of in zip(ids, rows)]

    def adopt(self, plan: dict[str, Any]) -> None:
        """Renumber features and labels of this shard by a plan of :meth:`merged`."""
        task = self.task
        rows = plan["map"]
        if plan["scale"] is not None:
            rescaled = self.encoder.rescaled  # type: ignore[attr-defined]  # of numbers
            task = rescaled(task, plan["scale"])

        def mapped(old: np.ndarray, new: np.ndarray) -> np.ndarray:
            return np.append(new, np.int32(-1))[old]

        node_alive, edge_alive = plan["alive"]
        task = renumbered_labels(task, plan["ids"], len(plan["labels"]))._replace(
            nodes=task.nodes._replace(row=mapped(task.nodes.row, rows.nodes)),
            edges=task.edges._replace(row=mapped(task.edges.row, rows.edges)),
            bag=task.bag._replace(row=mapped(task.bag.row, rows.nodes)),
            node_alive=node_alive,
            edge_alive=edge_alive,
        )
        self.encoder = plan["encoder"]
        self.labels = plan["labels"]
        self.constraints = plan["constraints"]
        sizes = self.encoder.n_node_rows, self.encoder.n_edge_rows, len(self.labels)
        self.task = marked(task, plan["pairs"], *sizes)
        self.state.pairs = plan["pairs"]
        check_gold(
            Gold(task.gold, task.sets), task.token, self.labels, self.constraints
        )
        self.state.model = self.state.model._replace(cost=plan["cost"])
        self.state = self.fresh(self.state.key)
