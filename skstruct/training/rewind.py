"""What an epoch begins with, so that a model can return to it.

A copy of a model in training would be as large as the model. Here only rows in use are kept, tables of
features not at all (what is numbered later is taken out again), and numbers in single precision where that
loses nothing: weights of perceptrons are integers.
"""

import numpy as np

from ..core.feature_table import FeatureTable, forget_after, in_use, seen_in_use
from ..core.store import Store
from ..core.store import in_use as given_away

PIECE = 2**18
"""Numbers whose precision is looked at together."""


class Rewind:
    """The state of a model, to which :meth:`undo` returns.

    Parameters
    ----------
    model : NamedTuple
        Trained on afterwards; with a ``clock``.
    names : iterable of str
        Its stores and tables of features.
    """

    def __init__(self, model, names):
        self.clock = [part.copy() for part in model.clock]
        self.parts = {}
        for name in names:
            arrays, entries = _arrays(getattr(model, name))
            self.parts[name] = {key: _narrow(array) for key, array in arrays.items()}, entries

    def undo(self, model):
        """Write the state back into the arrays of ``model``, which may be longer by now."""
        for part, before in zip(model.clock, self.clock):
            part[:] = before
        for name, (arrays, entries) in self.parts.items():
            part, store = getattr(model, name), getattr(model, name)
            if isinstance(part, FeatureTable):
                forget_after(part, entries)
                store = part.weights
            for key, pieces in arrays.items():
                array = part.seen if key == "seen" else getattr(store, key)
                end = 0
                for piece in pieces:
                    begin, end = end, end + piece.shape[0]
                    array[begin:end] = piece
                array[end:] = 0


def _arrays(part):
    """({field: what is in use of it}, features) of a store or a table of features."""
    arrays, entries, store = {}, 0, part
    if isinstance(part, FeatureTable):
        arrays, entries, store = {"seen": seen_in_use(part)}, int(part.entries[0]), in_use(part)
    store = given_away(store)
    arrays.update((key, array) for key, array in zip(Store._fields, store) if isinstance(array, np.ndarray))
    return arrays, entries


def _narrow(array):
    """Copies of the pieces of an array, in single precision where that is the same."""
    pieces = []
    for begin in range(0, array.shape[0], PIECE):
        piece = array[begin : begin + PIECE]
        if array.dtype == np.float64:
            with np.errstate(over="ignore"):
                small = piece.astype(np.float32)
            pieces.append(small if (small == piece).all() else piece.copy())
        else:
            pieces.append(piece.copy())
    return pieces
