"""From keys and blocks of weights, which CRF++ and Wapiti have in common, to a tagger.

A key of a feature of labels owns L weights; one of transitions L * L, by previous and by next label. Keys of
transitions that every token has make up the label bigram.
"""

from typing import NamedTuple

import numpy as np

from ..crf.given_weights import ready_crf
from ..crf.result import SparseWeights
from ..data.labels import Labels
from ..features.pattern_encoder import PatternEncoder
from ..features.patterns import Patterns
from ..saving.container import ModelFileError
from .reading import as_text


class Keys(NamedTuple):
    """Keys of one kind, and where in the weights of the file their blocks begin."""

    names: list  # bytes
    first: np.ndarray  # (n,) int64


def patterns_of(file, lines, syntax):
    """The :class:`Patterns` of a file."""
    try:
        return Patterns([as_text(line) for line in lines], syntax)
    except ValueError as error:
        raise ModelFileError(f"{file.name}: {error}") from None


def pattern_crf(patterns, labels, nodes, edges, weights_at):
    """A fitted :class:`L1CRF` with patterns.

    Parameters
    ----------
    patterns : Patterns
    labels : list of bytes
    nodes, edges : Keys
        Of features of labels and of transitions.
    weights_at : callable
        ``(first, size) -> (block, place, weight)``: of blocks of a size, the weights that are not zero, and
        their places in their block.

    Returns
    -------
    L1CRF
    """
    L = len(labels)
    block, place, weight = weights_at(nodes.first, L)
    node_weights = SparseWeights.of((len(nodes.names), L), block * L + place, weight)
    fixed = [p.literals[0] for p in patterns.patterns if p.transition and not p.macros]
    names = [as_text(name) for name in edges.names]
    times = np.array([fixed.count(name) if name in fixed else 0 for name in names], np.int64)
    others = np.flatnonzero(times == 0)
    block, place, weight = weights_at(edges.first[others], L * L)
    keys, values = [(block + 1) * L * L + place], [weight]
    bigram = np.zeros(L * L)
    for k in np.flatnonzero(times).tolist():
        _, place, weight = weights_at(edges.first[k : k + 1], L * L)
        bigram[place] += weight * times[k]
    keys.append(np.flatnonzero(bigram))
    values.append(bigram[keys[-1]])
    encoder = PatternEncoder.of_names(
        patterns, [as_text(name) for name in nodes.names], [names[k] for k in others.tolist()]
    )
    shape = (encoder.n_edge_rows * L, L)
    edge_weights = SparseWeights.of(shape, np.concatenate(keys), np.concatenate(values))
    labels = Labels([as_text(label) for label in labels], in_order=True)
    return ready_crf(encoder, labels, node_weights, edge_weights, features=patterns)
