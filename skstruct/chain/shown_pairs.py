"""The pairs that training has shown, which alone have weights where ``all_pairs`` says so.

They are a fact about a corpus, as its features and labels are: decided before the first
epoch, kept in the state of training, and united where a corpus is in shards.
"""

from typing import NamedTuple

import numpy as np

from .bigram import ALL_PAIRS


class Pairs(NamedTuple):
    """Keys of weights, ascending; None of a kind of which nothing is known."""

    nodes: np.ndarray | None = None  # (K,) int64: row * L + label
    edges: np.ndarray | None = (
        None  # (K,) int64: (combination * L + previous label) * L + label
    )


_FIELDS = {"nodes": "node_pairs", "edges": "edge_pairs"}
"""By store the field of a task that marks its pairs."""


def add_known(task, known):
    """Let a task that marks the pairs of its own corpus mark those of earlier calls, too.

    Parameters
    ----------
    task : ChainTask
        Its marks, if it has any, are changed.
    known : Pairs or None

    Returns
    -------
    Pairs or None
        All that the task marks, and what is known of a kind of which it marks none.
    """
    found = known or Pairs()
    for name, field in _FIELDS.items():
        marks, before = getattr(task, field), getattr(found, name)
        if not marks.shape[0]:
            continue
        if before is not None:
            marks[before] = 1
        found = found._replace(**{name: np.flatnonzero(marks)})
    return None if all(keys is None for keys in found) else found


def marked(task, pairs, n_node_rows, n_edge_rows, n_labels):
    """A task that marks given pairs, of so many rows, combinations and labels."""
    sizes = {
        "nodes": n_node_rows * n_labels,
        "edges": n_edge_rows * n_labels * n_labels,
    }
    for name, field in _FIELDS.items():
        keys, marks = None if pairs is None else getattr(pairs, name), ALL_PAIRS
        if keys is not None:
            marks = np.zeros(sizes[name], np.uint8)
            marks[keys] = 1
        task = task._replace(**{field: marks})
    return task


def translated(pairs, ids, n_labels, rows=None):
    """Pairs under other labels, and other rows.

    Parameters
    ----------
    pairs : Pairs or None
    ids : ndarray of int
        What each label has become; as many as there were.
    n_labels : int
        Labels there are.
    rows : features.encoded.RowMap, optional
        What each row has become, -1 if nothing; by default they stay.

    Returns
    -------
    Pairs or None
    """
    if pairs is None:
        return None
    nodes, edges = pairs
    ids, n = np.asarray(ids, np.int64), max(len(ids), 1)
    if nodes is not None:
        row, label = nodes // n, ids[nodes % n]
        row = row if rows is None else rows.nodes[row].astype(np.int64)
        nodes = np.sort((row * n_labels + label)[row >= 0])
    if edges is not None:
        row, before, label = edges // (n * n), ids[edges // n % n], ids[edges % n]
        row = row if rows is None else rows.edges[row].astype(np.int64)
        edges = np.sort(((row * n_labels + before) * n_labels + label)[row >= 0])
    return Pairs(nodes, edges)


def united(parts):
    """The pairs of several corpora under the same rows and labels; None if none has any."""
    parts = [part for part in parts if part is not None]
    found = {}
    for name in _FIELDS:
        keys = [
            getattr(part, name) for part in parts if getattr(part, name) is not None
        ]
        found[name] = np.unique(np.concatenate(keys)) if keys else None
    return Pairs(**found) if parts else None
