"""Taggers from keys and blocks of weights, which CRF++ and Wapiti have in common.

A key of a state feature has L weights, by label. One of a transition feature has L * L, by previous and by
next label. Keys of transitions that every token has are summed to the label bigram.
"""

from typing import NamedTuple

import numpy as np

from ..crf.l1crf import ready_crf
from ..crf.solver.solve import SparseWeights
from ..data.labels import Labels
from ..features.pattern_encoder import PatternEncoder
from ..features.patterns import Patterns
from ..saving.container import ModelFileError
from .reading import as_text


class Keys(NamedTuple):
    """Keys of one kind, and where in the weights of the file their blocks begin."""

    names: list  # bytes
    first: np.ndarray  # (n,) int64, ascending

    def weights(self, index, weight, size):
        """(block, place in the block, weight) of those that are not zero; ``index`` is where each stands."""
        block = np.searchsorted(self.first, index, side="right") - 1
        place = index - np.append(self.first, 0)[block]
        mine = (block >= 0) & (place < size) & (weight != 0.0)
        return block[mine], place[mine], weight[mine]


def patterns_of(file, lines, syntax):
    """The :class:`Patterns` of a file."""
    try:
        return Patterns([as_text(line) for line in lines], syntax)
    except ValueError as error:
        raise ModelFileError(f"{file.name}: {error}") from None


def pattern_crf(patterns, labels, nodes, edges, index, weight):
    """A fitted :class:`L1CRF` with patterns.

    Parameters
    ----------
    patterns : Patterns
    labels : list of bytes
    nodes, edges : Keys
        Of features of labels and of transitions.
    index : ndarray of shape (n,), int64
        Places of weights in the file, ascending.
    weight : ndarray of shape (n,)

    Returns
    -------
    L1CRF
    """
    L = len(labels)
    fixed = [p.literals[0] for p in patterns.patterns if p.transition and not p.macros]
    names = list(map(as_text, edges.names))
    times = np.array([fixed.count(name) for name in names], np.int64)
    block, place, value = edges.weights(index, weight, L * L)
    bigram, always = np.zeros(L * L), times[block] > 0
    np.add.at(bigram, place[always], (value * times[block])[always])
    keys = np.cumsum(times == 0)[block] * L * L + place
    encoder = PatternEncoder.of_names(
        patterns, list(map(as_text, nodes.names)), [name for name, n in zip(names, times) if not n]
    )
    edge_weights = SparseWeights.of(
        (encoder.n_edge_rows * L, L),
        np.concatenate([keys[~always], np.arange(L * L)]),
        np.concatenate([value[~always], bigram]),
    )
    node_weights = weights_of_labels(nodes, L, index, weight)
    labels = Labels(list(map(as_text, labels)), in_order=True)
    return ready_crf(encoder, labels, node_weights, edge_weights, features=patterns)


def weights_of_labels(nodes, L, index, weight):
    """The :class:`SparseWeights` of features of labels."""
    block, place, value = nodes.weights(index, weight, L)
    return SparseWeights.of((len(nodes.names), L), block * L + place, value)
