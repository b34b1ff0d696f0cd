"""The features that make up the score of one path through a lattice, and their names."""

import numpy as np

from ..core.compile import kernel
from ..core.hashing import find, keys_of
from ..core.noise import QUIET
from .epoch import ABSENT, HALF, N_TEMPLATES, PAIR, TRIPLE, list_keys, load

# The atoms of the left and of the right half of a key, by template; `epoch.list_keys` has the same order.
_ATOMS = (
    ("w",), ("t",), ("len",), ("w", "t"), ("len", "t"), ("margin",),
    ("w", "w-1"), ("w", "t-1"), ("t", "w-1"), ("t", "t-1"), ("len", "w-1"), ("w", "len-1"),
    ("len", "t-1"), ("t", "len-1"), ("len", "len-1"), ("margin", "margin-1"),
    ("t", "t-2"), ("t", "t-1 t-2"), ("len", "len-2"), ("len", "len-1 len-2"),
)  # fmt: skip


@kernel
def list_parts(task, path, model, noise, work, out):
    """The features of the nodes of ``path`` (M,) through the first lattice.

    Writes rows (node, row) of ``out`` and returns how many there are.
    """
    atoms, keys, n = work.atoms, work.keys, 0
    load(task, 0, noise, np.int64(0), atoms)
    for c in range(path.shape[0]):
        if path[c] == ABSENT:
            continue
        p = np.int64(path[c])
        a = np.int64(path[p]) if p >= 0 else p
        for group in range(3):
            begin = np.int64(0 if group == 0 else PAIR if group == 1 else TRIPLE)
            list_keys(atoms, a, p, c, begin, keys)
            for k in range(begin, PAIR if group == 0 else TRIPLE if group == 1 else N_TEMPLATES):
                if keys[k, 0] >= 0:
                    row = find(model.features.table, k, keys[k, 0], keys[k, 1])
                    if row >= 0:
                        out[n, 0], out[n, 1] = c, row
                        n += 1
    return n


def parts_of(model, task, path, work):
    """(node, row) arrays of the known features of one path through the only lattice of a task."""
    out = np.empty((N_TEMPLATES * path.shape[0], 2), np.int64)
    n = list_parts(task, path, model, QUIET, work, out)
    return out[:n].T


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
