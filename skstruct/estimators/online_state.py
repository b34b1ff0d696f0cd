"""The state of online training between calls: fresh, grown, re-booked, and the model it amounts to.

Place on the ladder: rung 7 over rung 6. ``partial_fit`` and ``warm_start`` go on from a
:class:`.run.TrainingState`; features and labels may have grown since.
"""

import numpy as np

from ..core.codes import L1_CUMULATIVE
from ..core.store import (
    grow_rows,
    new_clock,
    new_store,
    remap_columns,
    weights,
)
from ..structures import chain as structure
from ..structures.chain import Chain
from ..training.online import snapshot
from .chain_model import ChainModel, has_bigram, n_edge_combinations, n_node_rows
from .run import TrainingState

DENSE_WEIGHTS = 2**24
"""Largest number of weights that are stored as full rows when there are many labels."""

FEW_LABELS = 16
"""Up to here rows are always full: a row is then two cache lines at most."""


def is_sparse(rows, columns):
    """Whether a table of this size is stored sparsely."""
    return columns > FEW_LABELS and rows * columns > DENSE_WEIGHTS


def fresh_state(encoder, labels, rule, constraints, cost, key):
    """Zero weights for what the encoder and the labels know."""
    L, rows = len(labels), n_node_rows(encoder)
    edge_rows = n_edge_combinations(encoder) * L
    start, allowed, end = constraints
    chain = Chain(
        nodes=new_store(rows, L, rule, is_sparse(rows, L)),
        edges=new_store(edge_rows, L, rule, is_sparse(edge_rows, L)),
        clock=new_clock(),
        bigram=has_bigram(encoder),
        start=start,
        allowed=allowed,
        end=end,
        cost=cost,
    )
    return TrainingState(chain, rule, key)


def continued_state(before, old_labels, encoder, labels, rule, constraints, cost, stream):
    """A copy of an earlier state, with room for the features and labels that are new.

    The average goes on, with two exceptions. A stream of ``partial_fit`` that begins after a ``fit``
    starts from the averaged weights, and with a new average: the long average of the fit would
    otherwise drown what the new data teaches. And so does training under another rule.
    """
    chain = snapshot(structure, before.model)
    if before.rule != rule or (stream and not before.stream):
        chain = _start_average_anew(chain, before.rule, rule)
    nodes, edges, L = chain.nodes, chain.edges, len(labels)
    if labels.values != old_labels.values:
        new_of_old = np.array([labels.ids[v] for v in old_labels.values], np.int64)
        nodes = remap_columns(nodes, new_of_old, L)
        edges = _remap_edges(edges, new_of_old, len(old_labels), L)
    start, allowed, end = constraints
    chain = chain._replace(
        nodes=grow_rows(nodes, n_node_rows(encoder), rule),
        edges=grow_rows(edges, n_edge_combinations(encoder) * L, rule),
        start=start,
        allowed=allowed,
        end=end,
        cost=cost,
    )
    return TrainingState(chain, rule, before.key, before.epoch, before.closed, stream, [*before.history])


def final_model(chain, rule, encoder, labels, constraints):
    """The model that training so far amounts to, without bookkeeping."""

    def final(store):
        return store._replace(
            value=weights(store, chain.clock, rule),
            moment=np.zeros(0),
            received=np.zeros(0),
            last=np.zeros(0, np.int64),
            first=store.first.copy(),
            count=store.count.copy(),
            room=np.zeros(0, np.int32),
            column=store.column.copy(),
        )

    return ChainModel(encoder, labels, final(chain.nodes), final(chain.edges), constraints)


def _n_rows(store):
    return store.first.shape[0] if store.sparse else store.value.shape[0] // store.columns


def _remap_edges(store, new_of_old, old_L, L):
    """Transition weights under a larger label set: rows e * L + p and columns both move."""
    E = _n_rows(store) // old_L
    rows = (np.arange(E)[:, None] * L + new_of_old[None, :]).ravel()
    store = remap_columns(store, new_of_old, L)

    def spread(array, width=1):
        if array.shape[0] == 0:
            return array
        out = np.zeros((E * L, width), array.dtype)
        out[rows] = array.reshape(-1, width)
        return out.ravel()

    by_row = {name: spread(getattr(store, name)) for name in ("last", "first", "count", "room")}
    if store.sparse:
        return store._replace(**by_row)
    by_place = {name: spread(getattr(store, name), L) for name in ("value", "moment", "received")}
    return store._replace(**by_row, **by_place)


def _start_average_anew(chain, old, new):
    """Go on from the weights that ``old`` amounts to, under the bookkeeping of ``new``."""

    def convert(store):
        fresh = new_store(_n_rows(store), store.columns, new, store.sparse)
        places = store.value.shape[0]
        return store._replace(
            value=weights(store, chain.clock, old),
            moment=np.zeros(places if new.average else 0),
            received=np.zeros(places if new.penalty == L1_CUMULATIVE else 0),
            last=fresh.last,
        )

    return chain._replace(nodes=convert(chain.nodes), edges=convert(chain.edges), clock=new_clock())
