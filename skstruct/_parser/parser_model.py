"""The fitted model of a dependency parser: vocabulary, weights and prediction; from
training and back.
"""

from dataclasses import dataclass, replace
from functools import partial

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
from . import parser_epoch as structure
from .arc_labels import arcs_of, given_tree
from .atoms import AtomEncoder, check_words
from .dependency_trees import ACTION_NAMES, restored
from .parser_beam import ParseTask, new_work
from .parser_fields import PARSER, TABLES, TRAINED, packed
from .parser_kbest import best_trees
from .state_templates import column_of, decode_keys
from .states import ARC_PLACES, STATE_PLACES
from .template_sets import Lines


def make_task(atoms, rows, token, actions=None, heads=None, labels=None, weight=None):
    """The arrays that the kernels read; without trees, those of prediction.

    ``rows``: see AtomEncoder.
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
    """What prediction needs.

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
        integers; 0 if that is not known. What a file says of them, see
        ``_saving.packing``.
    """

    templates: Lines
    encoder: AtomEncoder
    labels: Labels
    pseudo: bool = False
    divisor: int = 0

    TABLES = TABLES
    FIELDS = PARSER
    TRAINED = TRAINED
    FACTS = ("stream", "min_count")

    def compressed(self, dtype, keep):
        """See ``_training.saved.SavableModel``."""
        divisor = (
            0 if dtype == "float16" else self.divisor
        )  # numerators take more than two bytes
        return replace(super().compressed(dtype, keep), divisor=divisor)

    @property
    def lines(self):
        """Templates of states."""
        return self.templates.states

    @property
    def label_weights(self):
        """The final weights of labels."""
        return self.table("label_").weights

    @property
    def is_joint(self):
        """Whether labels are part of the search."""
        return self.arrays.joint

    def sizes(self):
        """See ``_training.saved.SavableModel``."""
        return (len(self.labels) or None, *super().sizes()[1:])

    def words_of_training(self):
        """See ``_training.saved.SavableModel``; None if no template reads forms."""
        known = self.encoder.alphabets
        return frozenset(known["w"]) if "w" in known else None

    @property
    def inputs(self):
        """See ``_data.inputs.Inputs``."""
        return Inputs(TREES, tuple, self.encoder.width)

    def scorer(self, beam, rows):
        """The arrays that kernels search under: for so many states, and these rows of
        atoms.
        """
        templates, arcs = self.templates.compiled(rows)
        beam = self.arrays.beam if beam is None else beam
        return as_writeable_view(
            self.arrays._replace(beam=beam, templates=templates, arcs=arcs)
        )

    def predict(self, sentences, n_jobs=None, beam=None):
        """Best trees.

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

        def trees(task, scorer, scratch):
            heads, labels = np.zeros((2, task.atoms.shape[1]), np.int32)
            scores = np.empty(task.token.shape[0] - 1)
            structure.predict(
                task, 0, scores.shape[0], scorer, QUIET, scratch, heads, labels, scores
            )
            bounds = zip(task.token[:-1].tolist(), task.token[1:].tolist())
            return [self._tree(heads[a:b], labels[a:b]) for a, b in bounds], scores

        parts = self._predict(trees, sentences, n_jobs, beam)
        return [tree for found, _ in parts for tree in found], np.concatenate(
            [scores for _, scores in parts]
        )

    def predict_kbest(self, sentences, k, n_jobs=None, beam=None):
        """Up to k trees of each sentence with their scores, best first, none twice."""

        def trees(task, scorer, scratch):
            return best_trees(task, k, scorer, scratch, self._tree)

        return [
            found
            for part in self._predict(trees, sentences, n_jobs, beam)
            for found in part
        ]

    def _predict(self, predict, sentences, n_jobs, beam):
        """A list with what ``predict(task, scorer, scratch)`` returns of each chunk of
        sentences.
        """
        token = offsets_of(lengths_of(sentences))
        columns = check_words(sentences, token, self.encoder.width)

        def work(bounds):
            first, last, begin, end = bounds
            atoms, rows = self.encoder.encode([column[begin:end] for column in columns])
            task = make_task(atoms, rows, token[first : last + 1] - begin)
            scorer = self.scorer(beam, rows)
            return predict(task, scorer, new_work(task, scorer, training=False))

        return list(map_chunks(work, token, n_jobs))

    def arcs(self, sentence, beam=None, tree=None):
        """The :class:`.arc_labels.Arc` of a sentence's words, before what was lifted is
        restored.

        Of the tree that is predicted, as the search built it; or of a given one.
        """

        def arcs(task, scorer, scratch):
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
            heads, labels = found = np.full((2, len(sentence)), -1, np.int32)
            structure.predict(task, 0, 1, scorer, QUIET, scratch, *found, np.empty(1))
            path = scratch.path[:-1].tolist()  # without a root step
            return arcs_of(scorer, task, path, heads.tolist(), labels.tolist(), scratch)

        return [
            arc for part in self._predict(arcs, [sentence], None, beam) for arc in part
        ]

    def _tree(self, heads, labels):
        tree = heads.tolist()
        if len(self.labels):
            tree = list(zip(tree, map(self.labels.values.__getitem__, labels.tolist())))
        return self.restored(tree)

    def restored(self, tree):
        """The tree with what was lifted where its labels say."""
        return restored(tree) if self.pseudo else tree

    def features(self, prefix, rows=slice(None)):
        """The features of a table, or some, in words.

        Returns
        -------
        list of (line, values)
            The template's line, and the values of its atoms in the order of the line:
            strings (``<s>`` for what is below the stack, ``NONE`` for a missing child,
            ``</s>`` behind the sentence) or numbers.
        """
        lines, places = (
            (self.templates.arcs, ARC_PLACES)
            if prefix
            else (self.templates.states, STATE_PLACES)
        )
        alphabets = self.encoder.alphabets.items()
        strings = {
            name: ["<s>", "NONE", "</s>", *alphabet] for name, alphabet in alphabets
        }
        strings["r"] = [
            "NONE",
            *take(self.labels.values, np.argsort(self.arrays.symbol)),
        ]
        return decode_keys(self.keys(prefix)[rows], lines, places, strings)

    def named_weights(self):
        """The weights of actions and of labels with the names of their features, as
        NamedWeights.
        """

        def names(prefix, rows):
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
    def average(cls, models, nonzero):
        """The average of models that share a vocabulary, taken one at a time; see
        ``_core.final_weights``.

        Until all are there they are kept as small as in files: the features of all are
        many.
        """
        first = None
        waiting = {prefix: [] for prefix in cls.TABLES}
        averages = {}
        for model in models:
            if first is None:
                none = dict.fromkeys(cls.TABLES.values())
                first = replace(model, divisor=0, arrays=model.arrays._replace(**none))
            for prefix, members in waiting.items():
                members.append(packed(model, prefix))
            del model  # the next one is trained when it is asked for
        for members, name in zip(waiting.values(), cls.TABLES.values()):
            total = TableAverage(nonzero)
            for row_of in [total.number(keys()) for keys, _ in members]:
                _, weights = members.pop(0)
                total.add_rows(weights(), row_of)
            averages[name] = total.result(by_weight=False)
        return replace(first, arrays=first.arrays._replace(**averages))


# --------------------------------------------------------------------------------------
# Training
# --------------------------------------------------------------------------------------
def continued_state(before, lines, encoder, old_labels, labels, settings, rule, stream):
    """A copy of an earlier state; under another rule, or in a stream after a fit, with
    a new average.
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
        store = made_sparse(store) if len(labels) > structure.FEW_LABELS else store
        store = remap_columns(store, new_of_old, len(labels))
        symbol = np.zeros(len(labels), np.int32)
        symbol[new_of_old] = model.symbol
        new = symbol == 0
        symbol[new] = np.arange(1, new.sum() + 1) + len(old_labels)
        model = model._replace(
            symbol=symbol, arc_features=model.arc_features._replace(weights=store)
        )
    templates, arcs = lines.compiled(
        encoder.rows
    )  # words may have more parts than before
    return replace(state, model=model._replace(templates=templates, arcs=arcs))


def final_model(
    model, rule, lines, encoder, labels, pseudo=False, reuse=False, ended=False
):
    """The :class:`ParserModel` with the final weights of a model in training; see
    ``tables.final_arrays``.
    """
    averaged = int(model.clock.step[1]) if rule.average != NO_AVERAGE else 0
    scorer = tables.final_arrays(model, rule, reuse, ended)
    return ParserModel(scorer, lines, encoder, labels, pseudo, averaged or 1)
