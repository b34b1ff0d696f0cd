"""The fitted model of a re-ranker, features and weights beside those of the base; and a
training run.
"""

from dataclasses import dataclass

import numpy as np

from .._core.noise import QUIET
from .._core.store import new_clock
from .._data.labels import SEVERAL
from .._saving.container import require
from .._saving.fields import Field, Table, inline, value, via
from .._training.chunks import as_writeable_view
from .._training.held_out import HeldOut
from .._training.run import Run
from .._training.saved import NamedWeights
from .._training.tables import TableModel, features_of, final_arrays, training_of
from . import reranker_epoch as structure
from .word_lattice import RIGHT, lattices_of, make_task, paths, view_of


def _are_features(_, keys):
    return (keys >= 0).all() and (keys[:, 0] < structure.N_TEMPLATES).all()


def _ids(values):
    ids = {value: k for k, value in enumerate(values, 1)}
    if not isinstance(values, list) or len(ids) != len(values):
        raise ValueError("a list of distinct values expected")
    return ids


def _arguments(f):
    """Those of :class:`RerankModel`, from a file; the base is a fitted attribute, an
    estimator of its own.
    """
    require(
        all(type(word) is str for word in f["words"]),
        f"{f.where}.words must be strings",
    )
    require(len(f["tags"]) < structure.HALF - 1, f"{f.where}: too many tags")
    try:
        view_of(f["fitted"].get("base_"))
    except (ValueError, TypeError, AttributeError):
        require(
            False, f"{f.where}.base_ must be a segmenter or tagger with k best analyses"
        )
    return dict(
        arrays=structure.Reranker(f["features"], new_clock()),
        words=f["words"],
        tags=f["tags"],
    )


def feature_names(model, rows):
    """The names of weight rows, such as ``"w=图书 t-1=NN"``; ``#`` is the start of a
    sequence.
    """
    keys = model.keys()[np.asarray(rows, np.int64)]
    values = {"w": ["#", *model.words], "t": ["#", *model.tags]}

    def atom(name, value):
        kind = name.partition("-")[0]
        if kind in values:
            value = values[kind][value]
        elif kind == "margin" and value == structure.HALF - 1:
            value = "#"
        return f"{name}={value}"

    out = []
    for template, left, right in keys.tolist():
        atoms = structure.ATOMS[template]
        halves = (left, right)
        if len(atoms) > 2:
            halves = left, *divmod(right, structure.HALF)
        out.append(" ".join(map(atom, atoms, halves)))
    return out


@dataclass
class RerankModel(TableModel):
    """What prediction needs besides the base; see also :class:`.TableModel`.

    Attributes
    ----------
    words, tags : dict
        Ids from 1 on, by value.
    """

    words: dict
    tags: dict

    # Features are stored by their keys, in the order of rows.
    FIELDS = Table(
        "KBestReranker",
        Field("words", via(value, list, _ids)),
        Field("tags", via(value, list, _ids)),
        Field("features", inline(features_of(_are_features, 1)), of=TableModel.stored),
        make=_arguments,
    )
    TRAINED = training_of({"": "features"})
    FACTS = ("min_count",)

    def named_weights(self):
        """The weights with the names of their features, as a list of NamedWeights."""
        return [
            NamedWeights(self.weights, ["path"], lambda rows: feature_names(self, rows))
        ]

    def reranker(self):
        """The arrays that kernels search under."""
        return as_writeable_view(self.arrays)

    def choose(self, task):
        """(nodes on the best paths, scores) of lattices."""
        out = np.zeros(task.begin.shape[0], np.bool_)
        scores = np.empty(task.node.shape[0] - 1)
        work = structure.new_work(task, training=False)
        structure.predict(
            task, 0, scores.shape[0], self.reranker(), QUIET, work, out, scores
        )
        return out, scores


def f1_of(task, chosen, n_items):
    """F1 of chosen nodes against ``n_items`` right ones."""
    right = np.count_nonzero(task.right[chosen] == RIGHT)
    return 2.0 * right / max(np.count_nonzero(chosen) + n_items, 1)


class RerankRun(Run):
    """A training run of a re-ranker."""

    epoch = staticmethod(structure.epoch)
    score_name = "F1"

    def __init__(self, estimator, state, task, words, tags, base, oracle, held_out):
        super().__init__(estimator, state, task, held_out)
        self.words = words
        self.tags = tags
        self.base = base
        self.oracle = oracle

    def finished(self, model, reuse=False):
        """See ``_training.run.Run``."""
        return RerankModel(
            final_arrays(model, self.state.rule, reuse, self.ended),
            self.words,
            self.tags,
        )

    def fitted(self):
        """See ``_training.run.Run``."""
        return {"base_": self.base, "oracle_": self.oracle}

    def scratch(self):
        """See ``_training.run.Run``."""
        return structure.new_work(self.task)

    def held_out_part(self, X, y):
        """See ``_training.run.Run``."""
        base = self.base
        view = view_of(self.base)
        X, y = view.check(X, y)
        known = view.tags(base)
        given = (tag for items in view.gold(X, y) for *_, tag in items)
        others = dict.fromkeys(
            tag for tag in given if tag is not None and not isinstance(tag, SEVERAL)
        )
        lattices = lattices_of(view, base, X, self.estimator.k)
        task = make_task(lattices, view.lengths(X), self.words, self.tags)
        return HeldOut(X, y, (task, None, lattices)), [
            tag for tag in others if tag not in known
        ]

    def held_out_score(self, model):
        """What ``score`` returns; for sequences that ``fit`` has split off, the F1 of
        the nodes chosen.
        """
        task, n_items, lattices = self.held_out.encoded
        chosen = model.choose(task)[0]
        if lattices is None:
            return f1_of(task, chosen, n_items)
        base = self.base
        view = view_of(self.base)
        predicted = [view.decode(base, items) for items in paths(lattices, chosen)]
        return float(view.score(self.held_out.y, predicted, None))
