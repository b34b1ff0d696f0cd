"""The features that make up the score of one path through a lattice, and their names."""

import numpy as np

from ..core.compile import kernel
from ..core.hashing import grown, keys_of
from ..core.noise import QUIET
from ..core.rules import clear
from .reranker_epoch import ABSENT, HALF, N_TEMPLATES, emit_node, load

# The atoms of the left and of the right half of a key, by template; `epoch.list_keys` has the same order.
_ATOMS = (
    ("w",), ("t",), ("len",), ("w", "t"), ("len", "t"), ("margin",),
    ("w", "w-1"), ("w", "t-1"), ("t", "w-1"), ("t", "t-1"), ("len", "w-1"), ("w", "len-1"),
    ("len", "t-1"), ("t", "len-1"), ("len", "len-1"), ("margin", "margin-1"),
    ("t", "t-2"), ("t", "t-1 t-2"), ("len", "len-2"), ("len", "len-1 len-2"),
)  # fmt: skip


@kernel
def list_features(task, path, model, noise, work, out):
    """The features of the nodes of ``path`` (M,) through the first lattice.

    Writes rows (node, row) of ``out`` and returns how many there are. New features are numbered.
    """
    n = 0
    load(task, 0, noise, np.int64(0), work.atoms)
    for c in range(path.shape[0]):
        if path[c] != ABSENT:
            for group in range(3):
                emit_node(path, c, group, model, None, 1.0, work)
            for entry in range(work.difference.size[0]):
                out[n, 0], out[n, 1] = c, work.difference.row[entry]
                n += 1
            clear(work.difference)
    return n


def features_of_path(model, task, path, work):
    """(node, row) arrays of the known features of one path through the only lattice of a task."""
    features = model.features
    known, out = int(features.entries[0]), np.empty((N_TEMPLATES * path.shape[0], 2), np.int64)
    table = grown(features.table.copy(), known + out.shape[0])
    model = model._replace(features=features._replace(table=table, entries=features.entries.copy()))
    out = out[: list_features(task, path, model, QUIET, work, out)]
    return out[out[:, 1] < known].T


def feature_names(model, rows):
    """The names of weight rows, such as ``"w=图书 t-1=NN"``; ``#`` is the start of a sequence."""
    keys = keys_of(model.table, model.entries)[np.asarray(rows, np.int64)]
    values = {"w": ["#", *model.words], "t": ["#", *model.tags]}

    def atom(name, value):
        kind = name.partition("-")[0]
        if kind in values:
            value = values[kind][value]
        elif kind == "margin" and value == HALF - 1:
            value = "#"
        return f"{name}={value}"

    out = []
    for template, left, right in keys.tolist():
        parts = [atom(_ATOMS[template][0], left)]
        if len(_ATOMS[template]) > 1:
            names = _ATOMS[template][1].split()
            halves = [right] if len(names) == 1 else divmod(right, HALF)
            parts += map(atom, names, halves)
        out.append(" ".join(parts))
    return out
