"""The state of online training between calls: fresh, grown, re-booked, and the model it
amounts to.

``partial_fit`` and ``warm_start`` go on from a ``_training.run.TrainingState``;
features and labels may have grown since.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from .._core.final_weights import entries
from .._core.store import (
    Clock,
    Store,
    grow_rows,
    is_sparse,
    made_sparse,
    n_rows,
    new_clock,
    new_store,
    remap_columns,
    restart_average,
    weights,
    without_spare_places,
)
from .._data.labels import UNLABELLED
from .._training.epochs import stores_of
from .._training.run import TrainingState
from ..features.encoded import features_listed, grid_listed
from .bigram import n_trigram_rows
from .chain_model import ChainModel, new_chain
from .shown_pairs import as_pairs

if TYPE_CHECKING:
    from .._core.store import Rule
    from .._data.labels import Labels
    from ..features.base import Encoder
    from ..features.encoded import Bag
    from .bigram import Chain, ChainTask, Constraints


def order_of(chain: Chain) -> int:
    """Return how many labels of history a model in training looks at: 1 or 2."""
    return 2 if chain.trigrams else 1


def store_rows(encoder: Encoder, n_labels: int, order: int) -> dict[str, int]:
    """Return the rows that each store needs, by name; all have a column for every
    label.
    """
    rows = {"nodes": encoder.n_node_rows, "edges": encoder.n_edge_rows * n_labels}
    if order == 2:
        rows["trigrams"] = n_trigram_rows(n_labels)
    return rows


def fresh_state(
    encoder: Encoder,
    labels: Labels,
    rule: Rule,
    constraints: Constraints,
    cost: np.ndarray,
    key: int,
    order: int = 1,
) -> TrainingState:
    """Return a state with zero weights.

    Parameters
    ----------
    encoder : Encoder
        The one of the corpus: it says how many features there are.
    labels : Labels
    rule : Rule
        The update rule, with penalty and average: what bookkeeping there is.
    constraints : tuple of (start, allowed, end)
    cost : ndarray of shape (L,)
        Of missing a token of each label.
    key : int
        Of orders and noise; see :class:`.TrainingState`.
    order : int
        Labels of history that transitions look at: 1 or 2.
    """
    L = len(labels)
    stores = {
        name: new_store(rows, L, rule, is_sparse(rows, L))
        for name, rows in store_rows(encoder, L, order).items()
    }
    return TrainingState(
        new_chain(encoder, stores, new_clock(), constraints, cost), rule, key
    )


def grow_state(
    before: TrainingState,
    old_labels: Labels,
    encoder: Encoder,
    labels: Labels,
    rule: Rule,
    constraints: Constraints,
    cost: np.ndarray,
    stream: bool,
) -> TrainingState:
    """Return a copy of an earlier state, with room for the features and labels that are
    new.

    The average goes on, with two exceptions. A stream of ``partial_fit`` that begins
    after a ``fit`` starts from the averaged weights, and with a new average: the long
    average of the fit would otherwise drown what the new data teaches. And so does
    training under another rule.

    Parameters
    ----------
    before : TrainingState
        The earlier state; it is not changed.
    old_labels : Labels
        The labels of its columns, all of which are among ``labels``.
    encoder, labels, rule, constraints, cost
        As in :func:`fresh_state`, of the training that begins.
    stream : bool
        Whether that is a call of ``partial_fit``.
    """
    order = order_of(before.model)
    chain = before.model
    L = len(labels)
    rows_of = store_rows(encoder, L, order)
    # Before anything grows: full rows with new columns may be what there is no memory
    # for.
    sparse = {
        name: made_sparse(getattr(chain, name))
        for name, rows in rows_of.items()
        if is_sparse(rows, L)
    }
    chain = chain._replace(**sparse)
    if before.rule != rule or (stream and not before.stream):
        chain = _start_average_anew(chain, before.rule, rule)
    stores = stores_of(chain)
    if labels.values != old_labels.values:
        new_of_old = np.array([labels.ids[v] for v in old_labels.values], np.int64)
        stores = {
            name: remap_columns(store, new_of_old, L) for name, store in stores.items()
        }
        stores["edges"] = _spread_rows(stores["edges"], len(old_labels), new_of_old, L)
        if order == 2:  # rows p * (L + 1) + a + 1: both labels move, the boundary stays
            old_L = len(old_labels)
            with_boundary = np.append(0, new_of_old + 1)
            moved = _spread_rows(stores["trigrams"], old_L + 1, with_boundary, L + 1)
            places = new_of_old[:, None] * (L + 1) + np.arange(L + 1)
            stores["trigrams"] = _move_rows(moved, places.ravel(), n_trigram_rows(L))
    start, allowed, end = constraints
    for name, rows in rows_of.items():
        # What had to grow is new already: the rest is copied only now.
        stores[name] = _unshared(
            grow_rows(stores[name], rows, rule), getattr(before.model, name)
        )
    chain = chain._replace(
        **stores,
        clock=Clock(*(part.copy() for part in chain.clock)),
        start=start,
        allowed=allowed,
        end=end,
        cost=cost,
    )
    return TrainingState(
        chain, rule, before.key, before.epoch, before.closed, stream, [*before.history]
    )


def _unshared(store: Store, old: Store) -> Store:
    """Copy those arrays of ``store`` that it has in common with ``old``."""
    parts: Iterator[Any] = (
        a.copy() if a is b and isinstance(a, np.ndarray) else a
        for a, b in zip(store, old)
    )
    return Store(*parts)


def final_model(
    chain: Chain,
    rule: Rule,
    encoder: Encoder,
    labels: Labels,
    constraints: Constraints,
    reuse: bool = False,
) -> ChainModel:
    """Make the model that training so far amounts to, without bookkeeping.

    ``reuse``: it may be made of the arrays of ``chain``, which is not used any more.
    """

    def final(store: Store) -> Store:
        store = without_spare_places(store)
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

    stores: dict[str, Any] = {
        name: final(store) for name, store in stores_of(chain).items()
    }
    return ChainModel(encoder=encoder, labels=labels, constraints=constraints, **stores)


def _spread_rows(
    store: Store, old_size: int, new_of_old: np.ndarray, size: int
) -> Store:
    """Move the rows e * old_size + p of a store to e * size + new_of_old[p]."""
    E = n_rows(store) // old_size
    rows = np.arange(E)[:, None] * size + new_of_old[None, :]
    return _move_rows(store, rows.ravel(), E * size)


def _move_rows(store: Store, rows: np.ndarray, size: int) -> Store:
    """Return a store with ``size`` rows, in which old row r is row ``rows[r]``."""

    def spread(array: np.ndarray, width: int = 1) -> np.ndarray:
        if array.shape[0] == 0:
            return array
        out = np.zeros((size, width), array.dtype)
        out[rows] = array.reshape(-1, width)
        return out.ravel()

    by_row: dict[str, Any] = {
        name: spread(getattr(store, name))
        for name in ("last", "first", "count", "room")
    }
    if store.sparse:
        return store._replace(**by_row)
    by_place: dict[str, Any] = {
        name: spread(getattr(store, name), store.columns)
        for name in ("value", "moment", "received")
    }
    return store._replace(**by_row, **by_place)


def _start_average_anew(chain: Chain, old: Rule, new: Rule) -> Chain:
    """Go on from the weights that ``old`` amounts to, under the bookkeeping of
    ``new``.
    """
    stores: dict[str, Any] = {
        name: restart_average(store, chain.clock, old, new)
        for name, store in stores_of(chain).items()
    }
    return chain._replace(**stores, clock=new_clock())


def with_pairs(
    task: ChainTask, chain: Chain, all_pairs: bool | str, least: float | None
) -> ChainTask:
    """Restrict a task to the weights of pairs that its labels show, or that have a
    weight already.

    ``all_pairs``: see the estimators; ``least``: see ``TaggerParameters._least_seen``.
    Dense rows of numbers and trigrams of labels keep all their weights.
    """
    L = len(chain.start)
    found: dict[str, Any] = {}
    sets = (
        sparse.csr_matrix(task.sets[:, :L])
        if len(task.sets)
        else sparse.csr_matrix((0, L))
    )
    # Rows of `given`, (N, L): a token's label as 0 and 1, that of a set, or zeros.
    number = np.where(
        task.gold >= 0,
        task.gold,
        np.where(task.gold < UNLABELLED, L - 2 - task.gold, -1),
    )
    given = sparse.vstack(
        [sparse.identity(L), sets, sparse.csr_matrix((1, L))], format="csr"
    )[number]
    often = max(least or 0.0, np.finfo(float).tiny)  # shown at all, or `least` times
    if least is not None or all_pairs not in (True, "states"):
        listed = features_listed(task._replace(dense=()), task.token)
        rows = n_rows(chain.nodes)
        if all_pairs in (True, "states"):
            keys = np.arange(rows * L)
        else:
            row, label = _shown(_matrix(listed, abs(listed.value), rows), given, often)
            keys = np.union1d(row * L + label, _with_weights(chain.nodes))
        if least is not None:
            keys = _without_rare(
                keys, _matrix(listed, listed.value, rows).T @ given, least
            )
        dense = np.arange(task.dense.n_rows * L if task.dense else 0)
        found["node_pairs"] = as_pairs(np.union1d(keys, dense), rows, L)
    if all_pairs not in (True, "transitions"):
        listed = grid_listed(task, task.token, task.edges, task.edge_alive)
        features = _matrix(listed, np.ones(len(listed.row)), n_rows(chain.edges) // L)
        inner = np.setdiff1d(np.arange(len(task.gold)), task.token)
        bigram = np.ones(len(inner)), (inner, np.zeros(len(inner), int))
        # The bigram has the number 0.
        features += sparse.csr_matrix(bigram, shape=features.shape)
        before = given[inner - 1].tocsc()
        shown = [_with_weights(chain.edges)]
        for p in np.flatnonzero(np.diff(before.indptr)).tolist():
            at = inner[before.indices[before.indptr[p] : before.indptr[p + 1]]]
            feature, label = _shown(features[at], given[at], often)
            shown.append((feature * L + p) * L + label)
        keys = np.unique(np.concatenate(shown))
        found["edge_pairs"] = as_pairs(keys, n_rows(chain.edges), L)
    return task._replace(**found)


def _shown(
    features: sparse.spmatrix, labels: sparse.spmatrix, least: float
) -> tuple[np.ndarray, np.ndarray]:
    """Find the pairs of a feature and a label that tokens show at least ``least``
    times.

    Both matrices have a row a token. Returns (features, labels), int64.
    """
    shown = (features.T @ labels).tocoo()
    enough = shown.data >= least
    return shown.row[enough].astype(np.int64), shown.col[enough].astype(np.int64)


def _without_rare(keys: np.ndarray, sums: sparse.spmatrix, least: float) -> np.ndarray:
    """Leave out the pairs, ascending keys, whose ``sums``, (R, L) sparse, are below
    ``least``.
    """
    sums = sums.tocoo()
    place = sums.row.astype(np.int64) * sums.shape[1] + sums.col
    if least > 0.0:
        return keys[np.isin(keys, place[sums.data >= least])]
    return keys[~np.isin(keys, place[sums.data < least])]


def _matrix(bag: Bag, value: np.ndarray, n: int) -> sparse.csr_matrix:
    """Return the (N, n) matrix of the values of n features at each token."""
    return sparse.csr_matrix((value, bag.row, bag.start), shape=(len(bag.start) - 1, n))


def _with_weights(store: Store) -> np.ndarray:
    """Find the weights that are not zero, or have not always been; int64, row * C +
    column.
    """
    used = store.value != 0.0
    if store.moment.shape[0]:
        used |= store.moment != 0.0
    if not store.sparse:
        return np.flatnonzero(used)
    keys, used = entries(store._replace(value=used))
    return keys[used]
