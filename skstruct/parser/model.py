"""A dependency parser without scikit-learn around it: vocabulary, weights, prediction, states of training."""

from dataclasses import dataclass, replace

import numpy as np

from ..core.codes import STANDARD
from ..core.feature_table import TableAverage, final, for_reading, restart_average
from ..core.hashing import keys_of
from ..core.noise import QUIET
from ..core.pruning import count_weights
from ..core.store import READ_ONLY, Store, made_sparse, new_clock, remap_columns
from ..data.inputs import TREES, Inputs, lengths_of, offsets_of
from ..data.labels import Labels
from ..features.names import NamedWeights
from ..training.chunks import lend, map_chunks
from ..training.epochs import snapshot
from ..training.run import TrainingState
from ..training.saved import SavableModel
from . import epoch as structure
from .atoms import AtomEncoder, check_words
from .epoch import FEW_LABELS
from .features import ParseModel
from .search import ParseTask, new_work
from .template_sets import ARC_LINES
from .templates import (
    ARC_PLACES,
    ATTRIBUTES,
    STATE_PLACES,
    attributes_of,
    compile_templates,
    decode_keys,
    tracked_fields,
)
from .trees import ACTION_NAMES


def attributes_read(lines, labeled):
    """The attributes that a parser with these templates reads, in order."""
    read = set(attributes_of(lines, STATE_PLACES))
    if labeled:
        read |= set(attributes_of(ARC_LINES, ARC_PLACES))
    return [name for name in ATTRIBUTES if name in read]


def compiled(lines, attributes, labeled):
    """The two sets of templates: of states, and of arcs (none without labels)."""
    return (
        compile_templates(lines, STATE_PLACES, attributes),
        compile_templates(ARC_LINES if labeled else [], ARC_PLACES, attributes),
    )


def make_task(atoms, token, actions=None, heads=None, labels=None, weight=None):
    """The arrays that the kernels read; without trees, those of prediction."""
    return ParseTask(
        token=token,
        atoms=atoms,
        action=np.zeros(0, np.int8) if actions is None else actions,
        head=np.zeros(0, np.int32) if heads is None else heads,
        label=np.zeros(0, np.int32) if labels is None else labels,
        weight=np.ones(token.shape[0] - 1) if weight is None else weight,
    )


@dataclass
class ParserModel(SavableModel):
    """What prediction needs.

    Attributes
    ----------
    lines : list of str
        Templates of states.
    encoder : AtomEncoder
    labels : Labels
        Empty without labels.
    beam : int
    merge : bool
    weights : Store
        Final weights of actions; row r belongs to the r-th feature.
    table : ndarray of shape (capacity, 2), int64
    entries : int
    label_weights : Store
    label_table : ndarray of shape (capacity', 2), int64
    label_entries : int
    """

    lines: list
    encoder: AtomEncoder
    labels: Labels
    beam: int
    merge: bool
    weights: Store
    table: np.ndarray
    entries: int
    label_weights: Store
    label_table: np.ndarray
    label_entries: int

    @property
    def n_features(self):
        """Number of features, of states and of arcs."""
        return self.entries + self.label_entries

    def sizes(self):
        """See ``training.saved.SavableModel``."""
        n = sum(map(count_weights, (self.weights, self.label_weights)))
        return len(self.labels) or None, self.n_features, n, None

    @property
    def inputs(self):
        """See ``data.inputs.Inputs``."""
        return Inputs(TREES, tuple, 2)

    def scorer(self):
        """The arrays that kernels search under."""
        templates, arcs = compiled(self.lines, self.encoder.attributes, len(self.labels) > 0)
        return lend(
            ParseModel(
                beam=self.beam,
                merge=self.merge,
                update=STANDARD,
                tracked=tracked_fields(templates),
                templates=templates,
                arcs=arcs,
                state_features=for_reading(self.weights, self.table, self.entries),
                arc_features=for_reading(self.label_weights, self.label_table, self.label_entries),
                wanted=np.zeros(2, np.int64),
                clock=new_clock(),
            )
        )

    def predict(self, sentences, n_jobs=None):
        """Best trees.

        Parameters
        ----------
        sentences : list of sequences of (form, tag)
        n_jobs : int, optional
            Threads.

        Returns
        -------
        trees : list of lists
            (head, label) pairs, or heads alone without labels.
        scores : ndarray of shape (n,)
        """
        token = offsets_of(lengths_of(sentences))
        forms, tags = check_words(sentences, token)
        scorer = self.scorer()

        def work(bounds):
            first, last, begin, end = bounds
            atoms = self.encoder.encode(forms[begin:end], tags[begin:end])
            task = make_task(atoms, token[first : last + 1] - begin)
            heads, labels = np.zeros((2, end - begin), np.int32)
            scores = np.empty(last - first)
            scratch = new_work(task, scorer, training=False)
            structure.predict(
                task, 0, last - first, scorer, READ_ONLY, QUIET, scratch, heads, labels, scores
            )  # fmt: skip
            return self._trees(heads, labels, task.token.tolist()), scores

        parts = list(map_chunks(work, sentences, n_jobs))
        return [tree for trees, _ in parts for tree in trees], np.concatenate([s for _, s in parts])

    def _trees(self, heads, labels, bounds):
        flat = heads.tolist()
        if len(self.labels):
            flat = list(zip(flat, map(self.labels.values.__getitem__, labels.tolist())))
        return [flat[a:b] for a, b in zip(bounds, bounds[1:])]

    def features(self, rows=(slice(None), slice(None))):
        """The features of rows, of states and of arcs, in words.

        Parameters
        ----------
        rows : pair of slices or of int arrays, optional
            Which ones, of states and of arcs; all by default.

        Returns
        -------
        features, label_features : lists of (line, values)
            The template's line, and the values of its atoms in the order of the line: strings (``<s>`` for
            what is below the stack, ``NONE`` for a missing child, ``</s>`` behind the sentence) or numbers.
        """
        labeled = len(self.labels) > 0
        strings = [["<s>", "NONE", "</s>", *alphabet.strings()] for alphabet in self.encoder.alphabets]
        return tuple(
            decode_keys(keys_of(table, entries)[some], lines, places, self.encoder.attributes, strings)
            for some, table, entries, lines, places in (
                (rows[0], self.table, self.entries, self.lines, STATE_PLACES),
                (rows[1], self.label_table, self.label_entries, ARC_LINES if labeled else [], ARC_PLACES),
            )
        )

    def named_weights(self):
        """The weights of actions and of labels with the names of their features, as NamedWeights."""

        def named(which):
            def names(rows):
                none = np.zeros(0, np.int64)
                features = self.features((none, rows) if which else (rows, none))[which]
                return [" ".join(map("{}={}".format, line.split(), values)) for line, values in features]

            return names

        return [
            NamedWeights(self.weights, list(ACTION_NAMES), named(0)),
            NamedWeights(self.label_weights, self.labels.values, named(1)),
        ]

    @classmethod
    def average(cls, models, nonzero):
        """The average of models that share a vocabulary, taken one at a time; see ``core.averaging``."""
        first, totals = None, (TableAverage(nonzero), TableAverage(nonzero))
        for model in models:
            if first is None:
                nothing = dict.fromkeys(("weights", "table", "label_weights", "label_table"))
                first = replace(model, **nothing)
            totals[0].add(model.weights, model.table, model.entries)
            totals[1].add(model.label_weights, model.label_table, model.label_entries)
            del model  # the next one is trained when it is asked for
        weights, table, entries = totals[0].result()
        label_weights, label_table, label_entries = totals[1].result()
        return replace(
            first,
            weights=weights,
            table=table,
            entries=entries,
            label_weights=label_weights,
            label_table=label_table,
            label_entries=label_entries,
        )


# --------------------------------------------------------------------------------------------------
# Training
# --------------------------------------------------------------------------------------------------
def fresh_state(lines, encoder, labels, settings, rule, key):
    """No features, no weights.

    Parameters
    ----------
    settings : dict
        ``beam``, ``merge``, ``update`` and ``min_count``.
    """
    templates, arcs = compiled(lines, encoder.attributes, len(labels) > 0)
    return TrainingState(structure.new_model(templates, arcs, len(labels), rule=rule, **settings), rule, key)


def continued_state(before, old_labels, labels, settings, rule, stream):
    """A copy of an earlier state; under another rule, or in a stream after a fit, with a new average."""
    # In a model mapped from a disk `wanted` is read-only too, and the templates are (which nobody writes).
    model = lend(snapshot(structure, before.model)._replace(wanted=np.zeros(2, np.int64), **settings))
    tables = {name: getattr(model, name) for name in structure.TABLES}
    if before.rule != rule or (stream and not before.stream):
        for name, features in tables.items():
            tables[name] = restart_average(features, model.clock, before.rule, rule)
        model = model._replace(clock=new_clock())
    if labels.values != old_labels.values:
        new_of_old = np.array([labels.ids[v] for v in old_labels.values], np.int64)
        store = tables["arc_features"].weights
        store = made_sparse(store) if len(labels) > FEW_LABELS else store
        store = remap_columns(store, new_of_old, len(labels))
        tables["arc_features"] = tables["arc_features"]._replace(weights=store)
    model = model._replace(**tables)
    return TrainingState(model, rule, before.key, before.epoch, False, stream, [*before.history])


def final_model(model, rule, lines, encoder, labels, reuse=False):
    """The :class:`ParserModel` that training so far amounts to, without bookkeeping.

    ``reuse``: training ends here, and the model may be made of its arrays.
    """
    parts = [final(getattr(model, name), model.clock, rule, reuse) for name in structure.TABLES]
    return ParserModel(lines, encoder, labels, model.beam, model.merge, *parts[0], *parts[1])
