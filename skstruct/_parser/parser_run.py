"""A training run of the parser: what epochs, shards and held-out sequences need to know
of it.
"""

from operator import eq

import numpy as np

from .._data.inputs import NothingToLearn, check_X_y
from .._data.labels import UNLABELLED, Labels, encode_known, encode_labels
from .._shards.vocabulary import Vocabulary, merged_labels
from .._training.held_out import NAMES, HeldOut
from .._training.run import Run
from ..metrics.counting import NO_WEIGHT, refuse_nothing
from ..metrics.tree_scores import NO_HEADS, split_heads
from .atoms import AtomEncoder, check_words
from .dependency_trees import check_trees, split_arcs
from .parser_beam import new_work
from .parser_epoch import epoch
from .parser_model import ParserModel, final_model, make_task
from .states import SPECIAL
from .template_sets import lines_of

NO_LABEL = "y holds no label: all are None; for heads alone, labeled=False"


class ParseRun(Run):
    """A training run of a parser."""

    epoch = staticmethod(epoch)
    score_name = "UAS"
    model_class = ParserModel

    def __init__(self, estimator, state, task, lines, encoder, labels, held_out):
        super().__init__(estimator, state, task, held_out)
        self.lines = lines
        self.encoder = encoder
        self.labels = labels

    def finished(self, model, reuse=False):
        """See ``_training.run.Run``."""
        pseudo = self.estimator.projectivize == "pseudo"
        known = self.lines, self.encoder, self.labels, pseudo
        return final_model(model, self.state.rule, *known, reuse, self.ended)

    def fitted(self):
        """See ``_training.run.Run``."""
        return {"classes_": self.labels.array} if len(self.labels) else {}

    def scratch(self):
        """See ``_training.run.Run``."""
        return new_work(self.task, self.state.model)

    def held_out_part(self, X, y):
        """See ``_training.run.Run``."""
        X, y, token = check_X_y(X, y, NAMES)
        check_words(X, token, self.encoder.width)
        heads, arcs = split_arcs(y, len(self.labels) > 0)
        check_trees(heads)
        others = [] if arcs is None else encode_known(arcs, token, self.labels)[2]
        return HeldOut(X, y), others

    def held_out_score(self, model):
        """UAS."""
        X = self.held_out.X
        y = self.held_out.y
        return unlabeled_attachment(y, model.predict(X, self.estimator.n_jobs)[0])

    def fresh(self, key):
        """See ``_training.run.Run``."""
        return self.estimator._fresh_state(self.lines, self.encoder, self.labels, key)

    def vocabulary(self, min_count):
        """See ``_training.run.Run``."""
        return Vocabulary(self.encoder, self.labels)

    @classmethod
    def merged(cls, vocabularies, learner, key):
        """See ``_training.run.Run``."""
        labels = Labels()
        label_maps = [np.full(1, UNLABELLED, np.int32) for _ in vocabularies]
        if learner.labeled:
            labels, label_maps = merged_labels(vocabularies, NO_LABEL)
        encoder, lines, atom_maps = _merged_encoder(
            [v.encoder for v in vocabularies], learner
        )
        state = learner._fresh_state(lines, encoder, labels, key)
        task = make_task(
            np.zeros((len(encoder.rows), 0), np.int32),
            encoder.rows,
            np.zeros(1, np.int64),
        )
        run = cls(learner, state, task, lines, encoder, labels, None)
        known = lines, encoder, labels
        return run, [
            {"known": known, "ids": i, "atoms": a}
            for i, a in zip(label_maps, atom_maps)
        ]

    def adopt(self, plan):
        """See ``_training.run.Run``."""
        before = self.encoder
        (self.lines, self.encoder, self.labels) = plan["known"]
        rows = np.array(self.encoder.rows)
        mine = np.array(before.rows)
        atoms = np.full((len(rows), self.task.atoms.shape[1]), -1, np.int32)
        for name in before.alphabets:
            old = self.task.atoms[mine == name]
            new = np.concatenate(
                [np.full(SPECIAL, -1), plan["atoms"][name] + SPECIAL, [-1]]
            )
            atoms[np.flatnonzero(rows == name)[: len(old)]] = new[old]
        n_forms = make_task(atoms, rows, self.task.token).n_forms
        label = plan["ids"][self.task.label]
        self.task = self.task._replace(atoms=atoms, n_forms=n_forms, label=label)
        self.state = self.fresh(self.state.key)


def _merged_encoder(encoders, learner):
    """The encoder that knows the words of all shards, its lines, and by shard and
    attribute the new ids.
    """
    first = encoders[0]
    for s, encoder in enumerate(encoders):
        if encoder.width != first.width:
            wrong = f"shard {s}: its words have {encoder.width} columns, those of shard 0 have {first.width}"
            raise ValueError(wrong)
    parts = {
        c: max(each.parts.get(c, 0) for each in encoders)
        for encoder in encoders
        for c in encoder.parts
    }
    lines = lines_of(learner.templates, learner.labeled, first.width, parts)
    out = AtomEncoder(lines.attributes(), first.width, parts)
    maps = [{} for _ in encoders]
    for name in out.alphabets:
        for mine, encoder in zip(maps, encoders):
            if name in encoder.alphabets:
                strings = list(encoder.alphabets[name])
                mine[name], out.alphabets[name] = out.alphabets[name].interned(strings)
    out.check_tags()
    return out, lines, maps


def unlabeled_attachment(y, predicted, weight=None):
    """UAS of sentences with weights, over the words with a true head.

    Raises
    ------
    ValueError
        If a head is no integer (the message names the place), or there is no word to
        score.
    """
    true = [split_heads(i, tree, partial=True)[0] for i, tree in enumerate(y)]
    right = [sum(map(eq, a, b)) for a, b in zip(true, split_arcs(predicted, False)[0])]
    counts = np.array(
        [right, [len(heads) - heads.count(None) for heads in true]], float
    )
    right, total = counts.sum(axis=1) if weight is None else counts @ weight
    refuse_nothing(counts, NO_HEADS)
    refuse_nothing(total, NO_WEIGHT)
    return float(right / total)


def trained_on(token, skipped, weight, projectivize):
    """(n,) bool: the sentences to train on; ``token`` (n + 1,) first words, ``skipped``
    their numbers.
    """
    used = np.diff(token) > 0
    used[skipped] = False
    if weight is not None:
        used &= weight > 0.0
    if not used.any():
        raise NothingToLearn(
            "no sentence is left to train on: all are empty, of sample_weight 0, or not projective "
            f"(projectivize={projectivize!r})"
        )
    return used


def learned_labels(arcs, token, used, labels, is_part=False):
    """(ids of labels, (N,) int32; the labels, with those that are new).

    Labels of sentences that are not ``used``, (n,) bool, are as unknown as None:
    nothing is learned of them, and a label without weights scores 0, which wins
    wherever the scores of all others are negative. ``is_part``: other shards may have
    all the labels.
    """
    arcs = [
        names if keep else [None] * len(names)
        for names, keep in zip(arcs, used.tolist())
    ]
    gold, labels = encode_labels(arcs, token, labels, grow=True, with_sets=False)
    if len(labels) == 0 and not is_part:
        raise ValueError(NO_LABEL)
    return gold.ids, labels
