"""A fitted chain model as names and weights, and the reasons why a format cannot express it."""

from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..crf.run import nonzero_entries
from ..data.inputs import describe

FORBIDDEN = -1e4
"""Weight of what constraints forbid: its probability is 0, and sums of it stay finite."""


class NamedModel(NamedTuple):
    """What formats have in common; L labels."""

    labels: list  # str
    names: list  # of the features that have weights, in the order of their rows
    row: np.ndarray  # (n,) int64: number of the name
    column: np.ndarray  # (n,) int64: number of the label; weights are sorted by row and column
    weight: np.ndarray  # (n,) float64, none of them 0
    bigram: np.ndarray  # (L, L) float64 [previous, next]
    conditioned: dict  # combination of an observation-conditioned transition: (L, L) weights
    start: np.ndarray  # (L,) bool: whether a sequence may start with a label
    end: np.ndarray  # (L,) bool


def chain_model(estimator, tool):
    """The ChainModel of a fitted tagger, if a tool may be able to express it.

    Raises
    ------
    TypeError
        If it is not a chain tagger.
    ValueError
        If it cannot be expressed; the message says why.
    """
    check_is_fitted(estimator)
    model = getattr(estimator, "_model", None)
    if not hasattr(model, "chain"):
        hint = "; use its tagger_" if hasattr(estimator, "tagger_") else ""
        raise TypeError(f"a chain tagger is needed, got a {type(estimator).__name__}{hint}")
    if model.order == 2:
        refuse(tool, "transitions that look two labels back (order=2)")
    if not hasattr(model.encoder, "row_names") or model.encoder.kind not in (str, tuple, list, dict):
        refuse(tool, "features that are not named strings, as dense rows of numbers are")
    odd = [label for label in model.labels.values if not isinstance(label, str)]
    if odd:
        refuse(tool, f"labels that are not str, such as {describe(odd[0])}")
    return model


def refuse(tool, what):
    """Raise the error that a tool's format cannot express something."""
    raise ValueError(f"the model cannot be written for {tool}, which has no {what}")


def named_model(model, tool):
    """The names and weights of a ChainModel.

    Raises
    ------
    ValueError
        If two features have the same name, or weights are not finite.
    """
    L = len(model.labels)
    keys, weight = nonzero_entries(model.nodes)
    kept = np.flatnonzero(weight)
    kept = kept[np.argsort(keys[kept], kind="stable")]
    keys, weight = keys[kept], weight[kept]
    rows, row = np.unique(keys // L, return_inverse=True)
    named = model.encoder.row_names(set(rows.tolist()))
    names = [named[r] for r in rows.tolist()]
    if len(set(names)) < len(names):
        seen = set()
        twice = next(name for name in names if name in seen or seen.add(name))
        refuse(tool, f"two features of one name: {twice!r}")
    edge_keys, edge_weight = nonzero_entries(model.edges)
    dense, conditioned = np.zeros((L, L)), {}
    if not (np.isfinite(weight).all() and np.isfinite(edge_weight).all()):
        refuse(tool, "weights that are not finite")
    for e in np.unique(edge_keys // (L * L)).tolist():
        mine = edge_keys // (L * L) == e
        block = dense if e == 0 else conditioned.setdefault(e, np.zeros((L, L)))
        block.ravel()[edge_keys[mine] - e * L * L] = edge_weight[mine]
    if not model.encoder.has_bigram:
        dense[:] = 0.0
    start, allowed, end = (part == 0.0 for part in model.constraints)
    dense[~allowed] = FORBIDDEN
    return NamedModel(
        list(model.labels.values), names, row.reshape(-1), keys % L, weight, dense, conditioned, start, end
    )
