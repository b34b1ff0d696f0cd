"""Groups of sequences that are summed side by side, and the arrays for it."""

from typing import NamedTuple

import numpy as np

from ...core.compile import kernel
from .corpus_sums import row_width

WIDTH = 32
"""Sequences in a group: enough to vectorise, few enough to stay in the cache."""
PLACES = 2048
"""Tokens × sequences of a group, unless a single sequence is longer."""


class Lattice(NamedTuple):
    """Scratch of one thread."""

    x: np.ndarray  # (row_width(L) * P,) float64: exp(emission), then what x becomes in `_backward`
    a: np.ndarray  # (row_width(L) * P,) float64: forward
    b: np.ndarray  # (row_width(L) * P,) float64: backward, then marginals
    inverse: np.ndarray  # (P,) float64: 1 / scale of each token
    top: np.ndarray  # (P,) float64: largest emission of each token
    scratch: np.ndarray  # (P,) float64
    bits: np.ndarray  # (P,) int64: the same memory
    row: np.ndarray  # (L,) float64: what belongs to one token
    step: np.ndarray  # (L * L,) float64: transitions into one token


@kernel
def width_of(n):
    """Room for n sequences: whole vectors, unless there are few."""
    return n if n < 8 else (n + 15) // 16 * 16


def form_groups(lengths):
    """(G + 1,) int64: first sequence of each group; ``lengths`` must descend."""
    group = [0]
    n = lengths.shape[0]
    while group[-1] < n:
        size = min(WIDTH, PLACES // max(int(lengths[group[-1]]), 1))
        group.append(min(n, group[-1] + max(size // 16 * 16 if size > 16 else size, 1)))
    return np.array(group, np.int64)


def new_lattice(corpora, n_labels):
    """Scratch for every group of some corpora, each given as its (token, group); see ``Corpus``.

    A group whose first and longest sequence has T tokens takes ``P = (T | 1) * W`` places for each label,
    with W the room for its sequences: no kernel goes further. A part of a corpus may have wider groups than
    the whole, where longer sequences make them narrower. So give all that are walked with the scratch.
    """
    places = 16
    for token, group in corpora:
        for q, stop in zip(group[:-1], group[1:]):
            places = max(places, (int(token[q + 1] - token[q]) | 1) * width_of(int(stop - q)))
    scratch = np.zeros(places)
    size = row_width(n_labels) * places  # rows of tables have so many labels
    return Lattice(
        np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(places), np.zeros(places),
        scratch, scratch.view(np.int64), np.zeros(n_labels), np.zeros(n_labels * n_labels),
    )  # fmt: skip
