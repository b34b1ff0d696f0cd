"""What training found: weights as matrices, and the record of the iterations."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np


class SparseWeights(NamedTuple):
    """A matrix of weights, nearly all of them zero."""

    shape: tuple  # rows, columns
    keys: np.ndarray  # (n,) int64: row * columns + column of each that is not; ascending
    values: np.ndarray  # (n,) float64

    @classmethod
    def of(cls, shape, keys, values):
        """The weights with ``values`` at ``keys``, in any order."""
        use = np.flatnonzero(values)
        use = use[np.argsort(keys[use], kind="stable")]
        return cls(shape, keys[use], values[use])

    def at(self, keys):
        """The weights at some keys."""
        if self.keys.shape[0] == 0:
            return np.zeros(keys.shape[0])
        place = np.minimum(np.searchsorted(self.keys, keys), self.keys.shape[0] - 1)
        return np.where(self.keys[place] == keys, self.values[place], 0.0)

    def dense(self):
        """All weights, of shape ``shape``."""
        out = np.zeros(self.shape)
        out.ravel()[self.keys] = self.values
        return out


@dataclass
class CRFResult:
    """What training found.

    Attributes
    ----------
    nodes : SparseWeights of shape (n_rows, L)
        Weights of features and labels.
    edges : SparseWeights of shape (n_edge_rows * L, L)
        Weights of transitions: row e * L + p, column y; the first L rows are the label bigram.
    weights : ndarray
        The same in the order of the objective.
    objective : float
    history : list of dict
        For each iteration: ``stage``, ``objective`` (None within stage one, unless it is all there is),
        ``n_active`` (weights that are not zero), ``optimality`` (norm of the minimal subgradient before
        the step, on the working set; None within stage one), ``seconds`` since the start, and with
        held-out sequences ``validation``, their mean log-probability.
    n_iter : int
        Iterations of the second stage; passes of stage one if there is no second.
    n_passes : int
        Sums over the whole corpus, stochastic passes included.
    converged : bool
    optimality : float
        Norm of the minimal subgradient at the end, on all weights.
    max_violation : float
        Its largest element in magnitude: how far the weight that fits worst is from optimality.
    n_active : int
    gap : float
        How far the objective can be above the optimum, as a share of it; nan if that is not known.
    carry : Carry or None
        For a minimisation with other penalties; see :func:`.active_orthant`.
    """

    nodes: SparseWeights
    edges: SparseWeights
    weights: np.ndarray = field(repr=False)
    objective: float
    history: list = field(repr=False)
    n_iter: int
    n_passes: int
    converged: bool
    optimality: float
    max_violation: float
    n_active: int
    gap: float
    carry: tuple | None = field(default=None, repr=False)


def _keys(objective):
    """Where the weights stand in the matrices (nodes, edges)."""
    o, L = objective, np.int64(objective.n_labels)
    combination, p, y = o.edge_pair.T
    edges = np.concatenate([o.pair[:, 0] * L + o.pair[:, 1], (combination * L + p) * L + y])
    return o.pair_row * L + o.pair_label, edges


def unpack(objective, weights):
    """The weight vector as matrices (nodes, edges)."""
    o, L, n = objective, objective.n_labels, objective.n_pairs
    nodes, edges = _keys(objective)
    return (
        SparseWeights.of((o.n_rows, L), nodes, weights[:n]),
        SparseWeights.of((o.n_edge_rows * L, L), edges, weights[n:]),
    )


def pack(objective, nodes, edges):
    """The opposite of :func:`unpack`; weights that have no place are dropped."""
    return np.concatenate([matrix.at(keys) for matrix, keys in zip((nodes, edges), _keys(objective))])
