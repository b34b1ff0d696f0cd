"""The fitted model of a re-ranker, features and weights beside those of the base; and a
training run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
from .reranker_epoch import ATOMS, HALF, N_TEMPLATES, Reranker, epoch, new_work
from .reranker_epoch import predict as predict_paths
from .word_lattice import RIGHT, adapter_of, lattices_of, make_task, paths

if TYPE_CHECKING:
    from .._data.types import Corpus
    from .._saving.fields import Members
    from .._training.run import TrainingState
    from .kbest_reranker import KBestReranker
    from .reranker_epoch import LatticeTask, RerankWork


def _are_features(_: Members, keys: np.ndarray) -> bool:
    return bool((keys >= 0).all() and (keys[:, 0] < N_TEMPLATES).all())


def _ids(values: Any) -> dict[Any, int]:
    ids = {value: k for k, value in enumerate(values, 1)}
    if not isinstance(values, list) or len(ids) != len(values):
        raise ValueError("a list of distinct values expected")
    return ids


def _arguments(f: Members) -> dict[str, Any]:
    """Read the arguments of :class:`RerankModel` from a file; the base is a fitted
    attribute, an estimator of its own.
    """
    require(
        all(type(word) is str for word in f["words"]),
        f"{f.where}.words must be strings",
    )
    require(len(f["tags"]) < HALF - 1, f"{f.where}: too many tags")
    try:
        adapter_of(f["fitted"].get("base_"))
    except (ValueError, TypeError, AttributeError):
        require(
            False, f"{f.where}.base_ must be a segmenter or tagger with k best analyses"
        )
    arrays = Reranker(f["features"], new_clock())
    return {"arrays": arrays, "words": f["words"], "tags": f["tags"]}


def feature_names(model: RerankModel, rows: np.ndarray) -> list[str]:
    """Name weight rows, such as ``"w=图书 t-1=NN"``; ``#`` is the start of a
    sequence.
    """
    keys = model.keys()[np.asarray(rows, np.int64)]
    values = {"w": ["#", *model.words], "t": ["#", *model.tags]}

    def atom(name: str, value: int) -> str:
        kind = name.partition("-")[0]
        if kind in values:
            return f"{name}={values[kind][value]}"
        if kind == "margin" and value == HALF - 1:
            return f"{name}=#"
        return f"{name}={value}"

    out = []
    for template, left, right in keys.tolist():
        atoms = ATOMS[template]
        halves: tuple[int, ...] = (left, right)
        if len(atoms) > 2:
            halves = (left, *divmod(right, HALF))
        out.append(" ".join(map(atom, atoms, halves)))
    return out


@dataclass
class RerankModel(TableModel):
    """The parts of a re-ranker that prediction needs besides the base.

    Attributes
    ----------
    arrays : Reranker
    words, tags : dict
        Ids from 1 on, by value.
    """

    arrays: Reranker
    words: dict[Any, int]
    tags: dict[Any, int]

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

    def named_weights(self) -> list[NamedWeights]:
        """Return the weights with the names of their features."""
        return [
            NamedWeights(self.weights, ["path"], lambda rows: feature_names(self, rows))
        ]

    def reranker(self) -> Reranker:
        """Return the arrays that kernels search under."""
        return as_writeable_view(self.arrays)

    def choose(self, task: LatticeTask) -> tuple[np.ndarray, np.ndarray]:
        """Find the best path through each of n lattices of M nodes in all.

        Returns
        -------
        chosen : ndarray of shape (M,), bool
            The nodes on the best paths.
        scores : ndarray of shape (n,)
        """
        out = np.zeros(task.begin.shape[0], np.bool_)
        scores = np.empty(task.node.shape[0] - 1)
        work = new_work(task, training=False)
        predict_paths(
            task, 0, scores.shape[0], self.reranker(), QUIET, work, out, scores
        )
        return out, scores


def f1_of(task: LatticeTask, chosen: np.ndarray, n_items: int) -> float:
    """Return the F1 of chosen nodes, (M,) bool, against ``n_items`` right ones."""
    right = int(np.count_nonzero(task.right[chosen] == RIGHT))
    return 2.0 * right / max(int(np.count_nonzero(chosen)) + n_items, 1)


class RerankRun(Run):
    """A training run of a re-ranker.

    Parameters
    ----------
    estimator, state, task, held_out
        As of :class:`.Run`.
    words, tags : dict
        Ids by value.
    base : estimator
        Trained on everything.
    oracle : float
        F1 of the paths to learn.
    """

    estimator: KBestReranker
    epoch = staticmethod(epoch)
    score_name = "F1"
    model_class = RerankModel

    def __init__(
        self,
        estimator: KBestReranker,
        state: TrainingState,
        task: LatticeTask,
        words: dict[Any, int],
        tags: dict[Any, int],
        base: Any,
        oracle: float,
        held_out: HeldOut | None,
    ) -> None:
        super().__init__(estimator, state, task, held_out)
        self.words = words
        self.tags = tags
        self.base = base
        self.oracle = oracle

    def finished(self, model: Reranker, reuse: bool = False) -> RerankModel:
        """Return the :class:`RerankModel` that prediction would use by now."""
        arrays = final_arrays(model, self.state.rule, reuse, self.ended)
        return RerankModel(arrays, self.words, self.tags)

    def fitted(self) -> dict[str, Any]:
        """Return the trained base, and what perfect re-ranking would reach."""
        return {"base_": self.base, "oracle_": self.oracle}

    def scratch(self) -> RerankWork:
        """Return scratch for the largest lattice of the task."""
        return new_work(self.task)

    def fresh(self, key: int) -> TrainingState:
        """Return a state without features and weights."""
        return self.estimator._fresh_state(key)

    def held_out_part(self, X: Corpus, y: Corpus) -> tuple[HeldOut, list[Any]]:
        """Check held-out sequences, and make their lattices with the base.

        Returns them, and the tags that the base does not know.
        """
        base = self.base
        adapter = adapter_of(self.base)
        X, y = adapter.check(X, y)
        known = adapter.tags(base)
        given = (tag for items in adapter.gold(X, y) for *_, tag in items)
        others = dict.fromkeys(
            tag for tag in given if tag is not None and not isinstance(tag, SEVERAL)
        )
        lattices = lattices_of(adapter, base, X, self.estimator.k)
        task = make_task(lattices, adapter.lengths(X), self.words, self.tags)
        return HeldOut(self.estimator, None, X, y, (task, None, lattices)), [
            tag for tag in others if tag not in known
        ]

    def held_out_score(self, model: RerankModel) -> float:
        """Return what the estimator's ``score`` would; for sequences that ``fit`` has
        split off, the F1 of the nodes chosen.
        """
        assert self.held_out is not None
        task, n_items, lattices = self.held_out.encoded
        chosen = model.choose(task)[0]
        if lattices is None:
            return f1_of(task, chosen, n_items)
        base = self.base
        adapter = adapter_of(self.base)
        predicted = [adapter.decode(base, items) for items in paths(lattices, chosen)]
        return float(adapter.score(self.held_out.y, predicted, None))
