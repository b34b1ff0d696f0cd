"""The fitted model of a dependency parser: vocabulary, weights and prediction; from
training and back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.codes import NO_AVERAGE
from .._core.feature_table import TableAverage
from .._core.noise import QUIET
from .._core.store import made_sparse, remap_columns
from .._data.elements import exact_strings
from .._data.inputs import TREES, Inputs, lengths_of, offsets_of, take
from .._data.labels import Labels
from .._training import tables
from .._training.chunks import as_writeable_view, map_chunks
from .._training.saved import NamedWeights
from .arc_labels import arcs_of, given_tree
from .atoms import AtomEncoder, check_words
from .dependency_trees import ACTION_NAMES, restore_lifted
from .parser_beam import ParseTask, new_work
from .parser_epoch import are_many
from .parser_epoch import predict as predict_trees
from .parser_fields import PARSER, TABLES, TRAINED, pack_features
from .parser_kbest import best_trees
from .state_templates import column_of, decode_keys
from .states import ARC_PLACES, STATE_PLACES
from .template_sets import Lines

if TYPE_CHECKING:
    from .._core.store import Rule, Store
    from .._data.types import Corpus, Ranked
    from .._training.run import TrainingState
    from .arc_labels import Arc
    from .dependency_trees import Tree
    from .parser_beam import ParseWork
    from .state_features import ParseModel


def make_task(
    atoms: np.ndarray,
    rows: Sequence[str],
    token: np.ndarray,
    actions: np.ndarray | None = None,
    heads: np.ndarray | None = None,
    labels: np.ndarray | None = None,
    weight: np.ndarray | None = None,
) -> ParseTask:
    """Make the arrays that the kernels read; without trees, those of prediction.

    Parameters
    ----------
    atoms : ndarray of shape (A, N), int32
    rows : list of str
        The attribute of each of the A rows, as of :meth:`.AtomEncoder.encode`.
    token : ndarray of shape (n + 1,), int64
        First word of each sentence.
    actions : ndarray of shape (2 N,), int8, optional
    heads, labels : ndarrays of shape (N,), int32, optional
    weight : ndarray of shape (n,), optional
    """
    return ParseTask(
        token=token,
        atoms=atoms,
        n_forms=sum(column_of(name) == 0 for name in rows),
        action=np.zeros(0, np.int8) if actions is None else actions,
        head=np.zeros(0, np.int32) if heads is None else heads,
        label=np.zeros(0, np.int32) if labels is None else labels,
        weight=np.ones(token.shape[0] - 1) if weight is None else weight,
    )


@dataclass
class ParserModel(tables.TableModel):
    """The parts of a dependency parser that prediction needs.

    Attributes
    ----------
    arrays : ParseModel
        Its beam is that of training.
    templates : Lines
    encoder : AtomEncoder
    labels : Labels
        Empty without labels.
    pseudo : bool
        Labels say what was lifted, see :mod:`.dependency_trees`.
    divisor : int
        What weights are integers over, as they are means of so many vectors of
        integers; 0 if that is not known (``_saving.packing``).
    """

    arrays: ParseModel
    templates: Lines
    encoder: AtomEncoder
    labels: Labels
    pseudo: bool = False
    divisor: int = 0

    TABLES = TABLES
    FIELDS = PARSER
    TRAINED = TRAINED
    FACTS = ("stream", "min_count")

    def compressed(self, dtype: str, keep: float) -> ParserModel:
        """Return the model without features that have no weight, and with rounded ones.

        Weights that two bytes each are to hold lose their common divisor: numerators
        take more.
        """
        divisor = 0 if dtype == "float16" else self.divisor
        return replace(super().compressed(dtype, keep), divisor=divisor)

    @property
    def lines(self) -> list[str]:
        """Templates of states."""
        return self.templates.states

    @property
    def label_weights(self) -> Store:
        """The final weights of labels."""
        return self.table("label_").weights

    @property
    def is_joint(self) -> bool:
        """Tell whether labels are part of the search."""
        return self.arrays.joint

    def sizes(self) -> tuple[int | None, int | None, int | None, int | None]:
        """Return the numbers of labels, features and weights that are not zero; of
        transitions there are none.
        """
        return (len(self.labels) or None, *super().sizes()[1:])

    def words_of_training(self) -> frozenset[str] | None:
        """Return the forms that training has met; None if no template reads forms."""
        known = self.encoder.alphabets
        return frozenset(known["w"]) if "w" in known else None

    @property
    def inputs(self) -> Inputs:
        """Return what the model reads and predicts: words of several columns, and
        trees.
        """
        return Inputs(TREES, tuple, self.encoder.width)

    def scorer(self, beam: int | None, rows: list[str]) -> ParseModel:
        """Return the arrays that kernels search under.

        Parameters
        ----------
        beam : int or None
            States kept; None for as many as in training.
        rows : list of str
            The attribute of each row of atoms.
        """
        templates, arcs = self.templates.compiled(rows)
        beam = self.arrays.beam if beam is None else beam
        return as_writeable_view(
            self.arrays._replace(beam=beam, templates=templates, arcs=arcs)
        )

    def predict(
        self, sentences: Corpus, n_jobs: int | None = None, beam: int | None = None
    ) -> tuple[list[Tree], np.ndarray]:
        """Predict the best trees.

        Parameters
        ----------
        sentences : list of sequences of (form, tag, ...)
        n_jobs : int, optional
            Threads.
        beam : int, optional
            States kept; by default as many as in training.

        Returns
        -------
        trees : list of lists
            (head, label) pairs, or heads alone without labels.
        scores : ndarray of shape (n,)
        """

        def trees(
            task: ParseTask, scorer: ParseModel, scratch: ParseWork
        ) -> tuple[list[Tree], np.ndarray]:
            heads, labels = np.zeros((2, task.atoms.shape[1]), np.int32)
            scores = np.empty(task.token.shape[0] - 1)
            predict_trees(
                task, 0, scores.shape[0], scorer, QUIET, scratch, heads, labels, scores
            )
            bounds = zip(task.token[:-1].tolist(), task.token[1:].tolist())
            return [self._tree(heads[a:b], labels[a:b]) for a, b in bounds], scores

        parts = self._predict(trees, sentences, n_jobs, beam)
        scores = np.concatenate([of_part for _, of_part in parts])
        return [tree for found, _ in parts for tree in found], scores

    def predict_kbest(
        self,
        sentences: Corpus,
        k: int,
        n_jobs: int | None = None,
        beam: int | None = None,
    ) -> Ranked:
        """Predict up to k trees of each sentence with their scores, best first, none
        twice; other parameters as of :meth:`predict`.
        """

        def trees(task: ParseTask, scorer: ParseModel, scratch: ParseWork) -> Ranked:
            return best_trees(task, k, scorer, scratch, self._tree)

        return [
            found
            for part in self._predict(trees, sentences, n_jobs, beam)
            for found in part
        ]

    def _predict(
        self,
        predict: Callable[[ParseTask, ParseModel, ParseWork], Any],
        sentences: Corpus,
        n_jobs: int | None,
        beam: int | None,
    ) -> list[Any]:
        """List what ``predict(task, scorer, scratch)`` returns of each chunk of
        sentences.
        """
        token = offsets_of(lengths_of(sentences))
        columns = check_words(sentences, token, self.encoder.width)

        def work(bounds: tuple[int, int, int, int]) -> Any:
            first, last, begin, end = bounds
            atoms, rows = self.encoder.encode([column[begin:end] for column in columns])
            task = make_task(atoms, rows, token[first : last + 1] - begin)
            scorer = self.scorer(beam, rows)
            return predict(task, scorer, new_work(task, scorer, training=False))

        return list(map_chunks(work, token, n_jobs))

    def arcs(
        self,
        sentence: Collection[Any],
        beam: int | None = None,
        tree: Collection[Any] | None = None,
    ) -> list[Arc]:
        """List the arcs of a tree, with the features that speak for each.

        Parameters
        ----------
        sentence : sequence of (form, tag, ...)
        beam : int, optional
        tree : sequence of (head, label), or of heads, optional
            By default the one that is predicted, as the search built it.

        Returns
        -------
        list of Arc
            In the order of words, before what was lifted is put back; [] for an empty
            sentence.
        """

        def arcs(task: ParseTask, scorer: ParseModel, scratch: ParseWork) -> list[Arc]:
            if not len(sentence):
                return []
            if tree is not None:
                given = [
                    exact_strings(arc) if isinstance(arc, (tuple, list)) else arc
                    for arc in tree
                ]
                return arcs_of(
                    scorer, task, *given_tree(self, sentence, given), scratch
                )
            heads, labels = np.full((2, len(sentence)), -1, np.int32)
            score = np.empty(1)
            predict_trees(task, 0, 1, scorer, QUIET, scratch, heads, labels, score)
            path = scratch.path[:-1].tolist()  # without a root step
            return arcs_of(scorer, task, path, heads.tolist(), labels.tolist(), scratch)

        return [
            arc for part in self._predict(arcs, [sentence], None, beam) for arc in part
        ]

    def _tree(self, heads: np.ndarray, labels: np.ndarray) -> Tree:
        tree = heads.tolist()
        if len(self.labels):
            tree = list(zip(tree, map(self.labels.values.__getitem__, labels.tolist())))
        return self.restore_lifted(tree)

    def restore_lifted(self, tree: Tree) -> Tree:
        """Put back what was lifted where the tree's labels say so."""
        return restore_lifted(tree) if self.pseudo else tree

    def features(
        self, prefix: str, rows: np.ndarray | slice = slice(None)
    ) -> list[tuple[str, tuple[str | int, ...]]]:
        """Say in words what the features of a table, or some, are.

        Parameters
        ----------
        prefix : str
            Of the table: "" for states, "label_" for arcs.
        rows : ndarray of int, or slice
            Rows of weights.

        Returns
        -------
        list of (line, values)
            The template's line, and the values of its atoms in the order of the line:
            strings (``<s>`` for what is below the stack, ``NONE`` for a missing child,
            ``</s>`` behind the sentence) or numbers.
        """
        lines = self.templates.arcs if prefix else self.templates.states
        places = ARC_PLACES if prefix else STATE_PLACES
        alphabets = self.encoder.alphabets.items()
        strings = {
            name: ["<s>", "NONE", "</s>", *alphabet] for name, alphabet in alphabets
        }
        strings["r"] = [
            "NONE",
            *take(self.labels.values, np.argsort(self.arrays.symbol)),
        ]
        return decode_keys(self.keys(prefix)[rows], lines, places, strings)

    def named_weights(self) -> list[NamedWeights]:
        """Return the weights of actions and of labels with the names of their
        features.
        """

        def names(prefix: str, rows: np.ndarray) -> list[str]:
            features = self.features(prefix, rows)
            return [
                " ".join(map("{}={}".format, line.split(), values))
                for line, values in features
            ]

        columns = list(ACTION_NAMES), self.labels.values
        return [
            NamedWeights(self.table(prefix).weights, labels, partial(names, prefix))
            for prefix, labels in zip(self.TABLES, columns)
        ]

    @classmethod
    def average(cls, models: Iterable[ParserModel], nonzero: bool) -> ParserModel:
        """Average models that share a vocabulary, taken one at a time.

        ``nonzero``: over the models in which a weight is not zero, else over all. Until
        all are there they are kept as small as in files: the features of all are
        many.
        """
        first: ParserModel | None = None
        waiting: dict[str, list[Any]] = {prefix: [] for prefix in cls.TABLES}
        averages: dict[str, Any] = {}
        for model in models:
            if first is None:
                none: dict[str, Any] = dict.fromkeys(cls.TABLES.values())
                first = replace(model, divisor=0, arrays=model.arrays._replace(**none))
            for prefix, members in waiting.items():
                members.append(pack_features(model, prefix))
            del model  # the next one is trained when it is asked for
        for members, name in zip(waiting.values(), cls.TABLES.values()):
            total = TableAverage(nonzero)
            for row_of in [total.number(keys()) for keys, _ in members]:
                _, weights = members.pop(0)
                total.add_rows(weights(), row_of)
            averages[name] = total.result(by_weight=False)
        assert first is not None, "no model to average"
        return replace(first, arrays=first.arrays._replace(**averages))


# --------------------------------------------------------------------------------------
# Training
# --------------------------------------------------------------------------------------
def state_to_continue(
    before: TrainingState,
    lines: Lines,
    encoder: AtomEncoder,
    old_labels: Labels,
    labels: Labels,
    settings: dict[str, Any],
    rule: Rule,
    stream: bool,
) -> TrainingState:
    """Copy an earlier state for further training, with labels that may be new; under
    another rule, or in a stream after a fit, with a new average.

    Parameters
    ----------
    before : TrainingState
    lines : Lines
    encoder : AtomEncoder
    old_labels, labels : Labels
        Those of ``before``, and those from now on, which include them.
    settings : dict
        How to search and what to learn from: members of :class:`.ParseModel`.
    rule : Rule
    stream : bool
        Whether the training is a call of ``partial_fit``.
    """
    lines.check_labels(len(labels))
    state = tables.copy_state(
        before, rule, stream, wanted=np.zeros(2, np.int64), **settings
    )
    # In a model mapped from a disk `wanted` is read-only too, and the templates are
    # (which nobody writes).
    model = as_writeable_view(state.model)
    if labels.values != old_labels.values:
        new_of_old = np.array([labels.ids[v] for v in old_labels.values], np.int64)
        store = model.arc_features.weights
        store = made_sparse(store) if are_many(len(labels)) else store
        store = remap_columns(store, new_of_old, len(labels))
        symbol = np.zeros(len(labels), np.int32)
        symbol[new_of_old] = model.symbol
        new = symbol == 0
        symbol[new] = np.arange(1, new.sum() + 1) + len(old_labels)
        model = model._replace(
            symbol=symbol, arc_features=model.arc_features._replace(weights=store)
        )
    # Words may have more parts than before.
    templates, arcs = lines.compiled(encoder.rows)
    return replace(state, model=model._replace(templates=templates, arcs=arcs))


def final_model(
    model: ParseModel,
    rule: Rule,
    lines: Lines,
    encoder: AtomEncoder,
    labels: Labels,
    pseudo: bool = False,
    reuse: bool = False,
    ended: bool = False,
) -> ParserModel:
    """Make the fitted model with the final weights of a model in training.

    Parameters
    ----------
    model : ParseModel
        In training.
    rule : Rule
    lines, encoder, labels, pseudo
        As of :class:`ParserModel`.
    reuse, ended
        As of ``tables.final_arrays``.
    """
    averaged = int(model.clock.step[1]) if rule.average != NO_AVERAGE else 0
    scorer = tables.final_arrays(model, rule, reuse, ended)
    return ParserModel(scorer, lines, encoder, labels, pseudo, averaged or 1)
