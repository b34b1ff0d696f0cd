"""The state of online training between calls: fresh, grown, re-booked, and the model it amounts to.

``partial_fit`` and ``warm_start`` go on from a ``training.run.TrainingState``; features and labels may have
grown since.
"""

import numpy as np
from scipy import sparse

from ..core.final_weights import entries
from ..core.store import (
    Clock,
    Store,
    grow_rows,
    in_use,
    is_sparse,
    made_sparse,
    n_rows,
    new_clock,
    new_store,
    remap_columns,
    restart_average,
    weights,
)
from ..data.labels import UNLABELLED
from ..features.encoded import features_listed, grid_listed
from ..training.epochs import stores_of
from ..training.run import TrainingState
from .bigram import n_trigram_rows
from .chain_model import ChainModel, new_chain


def order_of(chain):
    """Labels of history that a model in training looks at: 1 or 2."""
    return 2 if chain.trigrams else 1


def store_rows(encoder, n_labels, order):
    """Rows of each store, by name; all have a column for every label."""
    rows = {"nodes": encoder.n_node_rows, "edges": encoder.n_edge_rows * n_labels}
    if order == 2:
        rows["trigrams"] = n_trigram_rows(n_labels)
    return rows


def fresh_state(encoder, labels, rule, constraints, cost, key, order=1):
    """Zero weights for what the encoder and the labels know."""
    L = len(labels)
    stores = {
        name: new_store(rows, L, rule, is_sparse(rows, L))
        for name, rows in store_rows(encoder, L, order).items()
    }
    return TrainingState(new_chain(encoder, stores, new_clock(), constraints, cost), rule, key)


def continued_state(before, old_labels, encoder, labels, rule, constraints, cost, stream):
    """A copy of an earlier state, with room for the features and labels that are new.

    The average goes on, with two exceptions. A stream of ``partial_fit`` that begins after a ``fit``
    starts from the averaged weights, and with a new average: the long average of the fit would
    otherwise drown what the new data teaches. And so does training under another rule.
    """
    order, chain, L = order_of(before.model), before.model, len(labels)
    rows_of = store_rows(encoder, L, order)
    # Before anything grows: full rows with new columns may be what there is no memory for.
    sparse = {name: made_sparse(getattr(chain, name)) for name, rows in rows_of.items() if is_sparse(rows, L)}
    chain = chain._replace(**sparse)
    if before.rule != rule or (stream and not before.stream):
        chain = _start_average_anew(chain, before.rule, rule)
    stores = stores_of(chain)
    if labels.values != old_labels.values:
        new_of_old = np.array([labels.ids[v] for v in old_labels.values], np.int64)
        stores = {name: remap_columns(store, new_of_old, L) for name, store in stores.items()}
        stores["edges"] = _spread_rows(stores["edges"], len(old_labels), new_of_old, L)
        if order == 2:  # rows p * (L + 1) + a + 1: both labels move, the boundary stays
            old_L, with_boundary = len(old_labels), np.append(0, new_of_old + 1)
            moved = _spread_rows(stores["trigrams"], old_L + 1, with_boundary, L + 1)
            rows = new_of_old[:, None] * (L + 1) + np.arange(L + 1)
            stores["trigrams"] = _move_rows(moved, rows.ravel(), n_trigram_rows(L))
    start, allowed, end = constraints
    for name, rows in rows_of.items():
        # What had to grow is new already: the rest is copied only now.
        stores[name] = _unshared(grow_rows(stores[name], rows, rule), getattr(before.model, name))
    chain = chain._replace(
        **stores,
        clock=Clock(*(part.copy() for part in chain.clock)),
        start=start,
        allowed=allowed,
        end=end,
        cost=cost,
    )
    return TrainingState(chain, rule, before.key, before.epoch, before.closed, stream, [*before.history])


def _unshared(store, old):
    """``store`` with copies of the arrays that it has in common with ``old``."""
    return Store(*(a.copy() if a is b and isinstance(a, np.ndarray) else a for a, b in zip(store, old)))


def final_model(chain, rule, encoder, labels, constraints, reuse=False):
    """The model that training so far amounts to, without bookkeeping; ``reuse``: made of its arrays."""

    def final(store):
        store = in_use(store)
        return store._replace(
            value=weights(store, chain.clock, rule, reuse),
            moment=np.zeros(0),
            received=np.zeros(0),
            last=np.zeros(0, np.int64),
            first=store.first.copy(),
            count=store.count.copy(),
            room=np.zeros(0, np.int32),
            column=store.column.copy(),
        )

    stores = {name: final(store) for name, store in stores_of(chain).items()}
    return ChainModel(encoder=encoder, labels=labels, constraints=constraints, **stores)


def _spread_rows(store, old_size, new_of_old, size):
    """Weights whose rows e * old_size + p become e * size + new_of_old[p]."""
    E = n_rows(store) // old_size
    rows = np.arange(E)[:, None] * size + new_of_old[None, :]
    return _move_rows(store, rows.ravel(), E * size)


def _move_rows(store, rows, size):
    """``store`` with ``size`` rows, in which old row r is row ``rows[r]``."""

    def spread(array, width=1):
        if array.shape[0] == 0:
            return array
        out = np.zeros((size, width), array.dtype)
        out[rows] = array.reshape(-1, width)
        return out.ravel()

    by_row = {name: spread(getattr(store, name)) for name in ("last", "first", "count", "room")}
    if store.sparse:
        return store._replace(**by_row)
    by_place = {name: spread(getattr(store, name), store.columns) for name in ("value", "moment", "received")}
    return store._replace(**by_row, **by_place)


def _start_average_anew(chain, old, new):
    """Go on from the weights that ``old`` amounts to, under the bookkeeping of ``new``."""
    stores = {name: restart_average(store, chain.clock, old, new) for name, store in stores_of(chain).items()}
    return chain._replace(**stores, clock=new_clock())


def with_pairs(task, chain, all_pairs, least):
    """A task that learns the weights of pairs that its labels show, or that have a weight already.

    ``all_pairs``: see the estimators; ``least``: see ``SequenceTagger._least_seen``. Dense
    rows of numbers and trigrams of labels keep all their weights.
    """
    L, found = len(chain.start), {}
    sets = task.sets[:, :L] if len(task.sets) else np.zeros((0, L))
    number = np.where(task.gold >= 0, task.gold, np.where(task.gold < UNLABELLED, L - 2 - task.gold, -1))
    given = sparse.csr_matrix(np.vstack([np.eye(L), sets, np.zeros((1, L))]))[number]

    def add(pairs, features, labels, rows):
        shown = (features.T @ labels).tocoo()
        enough = shown.data >= max(least or 0.0, np.finfo(float).tiny)
        pairs[rows(shown.row[enough]) * L + shown.col[enough]] = 1

    if least is not None or all_pairs not in (True, "states"):
        found["node_pairs"] = pairs = _with_weights(chain.nodes)
        listed = features_listed(task._replace(dense=()), task.token)
        if all_pairs in (True, "states"):
            pairs[:] = 1
        else:
            features = _matrix(listed, abs(listed.value), n_rows(chain.nodes))
            add(pairs, features, given, lambda row: row)
        if least is not None:
            signed = _matrix(listed, listed.value, n_rows(chain.nodes))
            _leave_out_rare(pairs, signed.T @ given, least)
        pairs[: task.dense.n_rows * L if task.dense else 0] = 1
    if all_pairs not in (True, "transitions"):
        found["edge_pairs"] = pairs = _with_weights(chain.edges)
        listed = grid_listed(task, task.token, task.edges, task.edge_alive)
        features = _matrix(listed, np.ones(len(listed.row)), n_rows(chain.edges) // L)
        inner = np.setdiff1d(np.arange(len(task.gold)), task.token)
        bigram = np.ones(len(inner)), (inner, np.zeros(len(inner), int))
        features += sparse.csr_matrix(bigram, shape=features.shape)  # the bigram has the number 0
        before = given[inner - 1].tocsc()
        for p in range(L):
            at = inner[before[:, [p]].nonzero()[0]]
            add(pairs, features[at], given[at], lambda row, p=p: row * L + p)
    return task._replace(**found)


def _leave_out_rare(pairs, sums, least):
    """Rule out the pairs whose ``sums``, (R, L) sparse, are below ``least``; what is not there is 0."""
    sums = sums.tocoo()
    place = sums.row.astype(np.int64) * sums.shape[1] + sums.col
    if least > 0.0:
        enough = np.zeros(pairs.shape, np.bool_)
        enough[place[sums.data >= least]] = True
        pairs[~enough] = 0
    else:
        pairs[place[sums.data < least]] = 0


def _matrix(bag, value, n):
    """(N, n) matrix of the values of n features at each token."""
    return sparse.csr_matrix((value, bag.row, bag.start), shape=(len(bag.start) - 1, n))


def _with_weights(store):
    """(R * C,) uint8: the weights that are not zero, or have not always been."""
    used = store.value != 0.0
    if store.moment.shape[0]:
        used |= store.moment != 0.0
    if not store.sparse:
        return used.astype(np.uint8)
    found = np.zeros(len(store.count) * store.columns, np.uint8)
    keys, used = entries(store._replace(value=used))
    found[keys] = used
    return found
