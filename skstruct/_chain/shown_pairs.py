"""The pairs that training has shown, which alone have weights where ``all_pairs`` says
so.

They are a fact about a corpus, as its features and labels are: decided before the first
epoch, kept in the state of training, and united where a corpus is in shards.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.rules import Pairs
from .._data.places import offsets_of
from .bigram import ALL_PAIRS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..features.encoded import RowMap
    from .bigram import ChainTask


class ShownPairs(NamedTuple):
    """Keys of weights, ascending; None of a kind of which nothing is known.

    p is the previous label.
    """

    nodes: np.ndarray | None = None  # (K,) int64: row * L + label
    edges: np.ndarray | None = None  # (K,) int64: (combination * L + p) * L + label


_FIELDS = {"nodes": "node_pairs", "edges": "edge_pairs"}
"""By store the field of a task that has its pairs."""


def as_pairs(keys: np.ndarray, rows: int, columns: int) -> Pairs:
    """Turn ascending numbers ``row * columns + column`` into the :class:`.Pairs` that
    kernels read.
    """
    start = offsets_of(np.bincount(keys // columns, minlength=rows))
    return Pairs(start, (keys % columns).astype(np.int32))


def keys_of(pairs: Pairs, columns: int) -> np.ndarray:
    """Turn pairs into ascending numbers ``row * columns + column``, int64."""
    row = np.repeat(np.arange(len(pairs.start) - 1), np.diff(pairs.start))
    return row * columns + pairs.column


def add_known(
    task: ChainTask, known: ShownPairs | None, n_labels: int
) -> tuple[ChainTask, ShownPairs | None]:
    """Let a task that has the pairs of its own corpus have those of earlier calls, too.

    Parameters
    ----------
    task : ChainTask
    known : ShownPairs or None
    n_labels : int

    Returns
    -------
    task : ChainTask
    found : ShownPairs or None
        All that the task has, and what is known of a kind of which it has none.
    """
    found = known or ShownPairs()
    for name, field in _FIELDS.items():
        pairs = getattr(task, field)
        before = getattr(found, name)
        n = len(pairs.start) - 1
        if n < 0:
            continue
        keys = keys_of(pairs, n_labels)
        if before is not None:
            keys = np.union1d(keys, before)
            changed: dict[str, Any] = {field: as_pairs(keys, n, n_labels)}
            task = task._replace(**changed)
        found = found._replace(**{name: keys})
    return task, None if all(keys is None for keys in found) else found


def marked(
    task: ChainTask,
    shown: ShownPairs | None,
    n_node_rows: int,
    n_edge_rows: int,
    n_labels: int,
) -> ChainTask:
    """Return a task with the given pairs, of so many rows, combinations and labels."""
    rows = {"nodes": n_node_rows, "edges": n_edge_rows * n_labels}
    for name, field in _FIELDS.items():
        keys = None if shown is None else getattr(shown, name)
        pairs = ALL_PAIRS if keys is None else as_pairs(keys, rows[name], n_labels)
        changed: dict[str, Any] = {field: pairs}
        task = task._replace(**changed)
    return task


def translated(
    pairs: ShownPairs | None, ids: ArrayLike, n_labels: int, rows: RowMap | None = None
) -> ShownPairs | None:
    """Return pairs under other labels, and other rows.

    Parameters
    ----------
    pairs : ShownPairs or None
    ids : ndarray of int
        What each label has become; as many as there were.
    n_labels : int
        Labels there are.
    rows : features.encoded.RowMap, optional
        What each row has become, -1 if nothing; by default they stay.

    Returns
    -------
    ShownPairs or None
    """
    if pairs is None:
        return None
    nodes, edges = pairs
    ids = np.asarray(ids, np.int64)
    n = max(len(ids), 1)
    if nodes is not None:
        row = nodes // n
        label = ids[nodes % n]
        row = row if rows is None else rows.nodes[row].astype(np.int64)
        nodes = np.sort((row * n_labels + label)[row >= 0])
    if edges is not None:
        row = edges // (n * n)
        before = ids[edges // n % n]
        label = ids[edges % n]
        row = row if rows is None else rows.edges[row].astype(np.int64)
        edges = np.sort(((row * n_labels + before) * n_labels + label)[row >= 0])
    return ShownPairs(nodes, edges)


def united(parts: Iterable[ShownPairs | None]) -> ShownPairs | None:
    """Unite the pairs of several corpora under the same rows and labels; None if none
    has any.
    """
    parts = [part for part in parts if part is not None]
    found = {}
    for name in _FIELDS:
        keys = [
            getattr(part, name) for part in parts if getattr(part, name) is not None
        ]
        found[name] = np.unique(np.concatenate(keys)) if keys else None
    return ShownPairs(**found) if parts else None
