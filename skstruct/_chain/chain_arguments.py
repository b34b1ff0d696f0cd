"""The arguments of kernels of chains: tuples of all arrays, or of few.

Numba compiles a kernel for the types of its arguments, and leaves out what an empty
tuple among them decides. So there is one text, and a small kernel for what most users
train and predict: weights in full rows, no lazy penalty, no noise but input dropout of
templates, no dense rows of numbers, no transitions that look at the input
(:func:`small_kernel_serves`). Its ``general`` is empty, and so is each array that it does not
read, since each is code to compile: a first use waits half as long. Input dropout has
an argument of its own, and no other kernel. Results are those of the kernel for
everything, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from .._core.codes import NO_NOISE, PERCEPTRON
from .._core.noise import QUIET, Dropout
from .._core.penalties import has_lazy_penalty
from .._core.store import READ_ONLY, Store
from ..features.encoded import Bag, Grid
from .bigram import Chain, ChainTask, ChainWork, General, longest, new_work
from .second_order import Trigrams, read_trigrams

if TYPE_CHECKING:
    from .._core.noise import Noise
    from .._core.store import Rule
    from ..features.encoded import Encoded
    from .bigram import Empty


def has_full_rows(chain: Chain) -> bool:
    """Tell whether no weights are sparse."""
    return not any(
        store.sparse
        for store in (chain.nodes, chain.edges, chain.trigrams or chain.edges)
    )


def has_only_sparse_nodes(x: Encoded | ChainTask) -> bool:
    """Tell whether all features stand in ``nodes`` and ``bag``: tokens are no dense
    rows of numbers, and transitions do not look at the input.
    """
    return not (x.dense or x.edges.row.shape[0])


def has_chosen_pairs(task: ChainTask) -> bool:
    """Tell whether only some pairs of a row and a column may have a weight."""
    return task.node_pairs.start.size > 0 or task.edge_pairs.start.size > 0


def small_kernel_serves(
    task: ChainTask, chain: Chain, rule: Rule, noise: Noise
) -> bool:
    """Tell whether the small kernels can train, or predict, so: see the module."""
    noisy = noise.feature != NO_NOISE or noise.edge != NO_NOISE
    if noise.token_below > 0:
        noisy = noisy or task.bag.start.shape[0] > 1
    return (
        has_full_rows(chain)
        and has_only_sparse_nodes(task)
        and not (noisy or has_lazy_penalty(rule))
    )


_UNREAD = {
    ChainTask: ("n_columns", "edges", "edge_alive", "option"),
    Grid: (),
    Chain: (),
    Store: ("received", "last", "first", "count", "room", "column", "used"),
    ChainWork: ("node_runs", "edge_runs"),
}
"""By type the fields that small kernels of training do not read."""


def _without(named: Any, fields: Iterable[str]) -> Any:
    return named._replace(**dict.fromkeys(fields, ()))


def _small(value: Any) -> Any:
    """Empty the fields of a tuple, and of tuples in it, that small kernels do not
    read.
    """
    if type(value) not in _UNREAD:
        return value
    return _without(type(value)(*map(_small, value)), _UNREAD[type(value)])


def kernel_arguments(
    task: ChainTask, chain: Chain, rule: Rule, noise: Noise, work: ChainWork
) -> tuple[Any, ...]:
    """Return what :func:`.chain_epoch.epoch` takes besides the examples to visit, in
    the form that calls the smallest kernel that serves.

    Parameters
    ----------
    task : ChainTask
        With gold labels.
    chain : Chain
        The weights in training.
    rule : Rule
    noise : Noise
    work : ChainWork

    Returns
    -------
    task, chain, rule
        Where the small kernel serves, arrays that it does not read are ``()``.
    general : General or ()
        ``()`` calls the small kernel.
    dropout : Dropout or ()
        The noise that the small kernel knows, which hides columns of tokens.
    trigrams : Trigrams or ()
        ``()`` in the first order.
    margin : (True,) or ()
        ``()`` leaves out of the kernel what only passive-aggressive learning needs.
    work
        Scratch, without ``trigrams``.
    """
    trigrams = work.trigrams
    margin: tuple[bool] | Empty = (True,)  # a flag that numba sees in the type
    dropout: Dropout | Empty = ()
    general: General | Empty = General(noise)
    work = _without(work, ["trigrams"])
    if small_kernel_serves(task, chain, rule, noise):
        task = _small(task)
        chain = _small(chain)
        dropout = Dropout(noise.seed, noise.token_below)
        general = ()
        work = _small(work)
        if rule.update == PERCEPTRON:
            margin = ()
        if not has_chosen_pairs(task):
            task = _without(task, ["node_pairs", "edge_pairs"])
    return task, chain, rule, general, dropout, trigrams, margin, work


EncodedRows: TypeAlias = Sequence[Any]
"""The arrays that `rows_of` makes of an encoded corpus, the first arguments of
``predict_small``: ``token``, ``anchor`` and ``left`` of a :class:`.ChainTask`, ``row``,
``lo`` and ``width`` of its ``nodes``, and the three arrays of its ``bag``.

It is a plain tuple, since it is made for each short call.
"""


class FinalArrays(NamedTuple):
    """The weights and constraints that ``predict_small`` takes, in its order."""

    nodes: np.ndarray  # (P,) float64, as stored
    scale: float  # what sums of these are multiplied by
    n_labels: int  # L
    limits: np.ndarray  # (2 L + L * L,) float64: start, end and transition of a chain
    trigrams: Trigrams | Empty


class FinalChain(NamedTuple):
    """The final weights that prediction reads, in full rows; the same from call to
    call.
    """

    chain: Chain  # without transitions
    transition: np.ndarray  # (L * L,) float64, constraints included
    trigrams: Trigrams | Empty
    plain: FinalArrays
    cells: int  # elements of ``work`` of ``predict_small`` for each token


def final_chain(chain: Chain) -> FinalChain:
    """Prepare a chain with full rows for the small kernels of prediction."""
    L = chain.start.shape[0]
    scale = float(chain.clock.scale[0])
    transition = scale * chain.edges.value[: L * L] if chain.bigram else np.zeros(L * L)
    small = _without(_small(chain), ("edges", "bigram", "allowed", "cost", "trigrams"))
    transition = transition + chain.allowed.ravel()
    trigrams = read_trigrams(chain.trigrams, scale)
    limits = np.concatenate([chain.start, chain.end, transition])
    plain = FinalArrays(chain.nodes.value, scale, L, limits, trigrams)
    cells = L + (L * L if trigrams else L)
    return FinalChain(small, transition, trigrams, plain, cells)


def rows_of(x: Encoded | ChainTask, token: np.ndarray) -> EncodedRows:
    """Return what small kernels read of an encoded corpus, or a task, whose sequences
    start at ``token``.
    """
    return token, x.anchor, x.left, *x.nodes[:3], *x.bag


def _scratch(
    token: np.ndarray, final: FinalChain
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ``emission``, ``transition``, which is filled, and ``score`` of a
    :class:`.ChainWork` for prediction.
    """
    L = len(final.chain.start)
    T = longest(token)
    return (
        np.empty(T * L),
        final.transition,
        np.empty((1, T * (L * L if final.trigrams else L))),
    )


def for_prediction(
    rows: EncodedRows,
    gold: np.ndarray,
    option: np.ndarray,
    final: FinalChain,
    sets: np.ndarray | Empty = (),
) -> tuple[Any, ...]:
    """Return what a kernel for all kinds of chains takes first, from what
    :func:`rows_of` gives of a corpus.

    Parameters
    ----------
    rows : EncodedRows
    gold : ndarray of shape (N,), int32
        See :class:`.ChainTask`; empty if no labels are given.
    option : ndarray of shape (N, L), bool
        Labels allowed for each token; empty if all are.
    final : FinalChain
    sets : ndarray or ()
        Of ``gold``.

    Returns
    -------
    tuple
        (task, chain, rule, general, trigrams, work)
    """
    token, anchor, left, row, lo, width, *bag = rows
    # These types do not tell of empty tuples for what is not read.
    grid: Any = Grid
    task: Any = ChainTask
    task = task(
        token=token,
        anchor=anchor,
        left=left,
        n_columns=(),
        nodes=grid(row, lo, width, atom=(), offset=(), source=()),
        edges=(),
        bag=Bag(*bag),
        gold=gold,
        weight=(),
        node_alive=(),
        edge_alive=(),
        option=option,
        dense=(),
        sets=sets,
        node_pairs=(),
        edge_pairs=(),
    )
    work = ChainWork(*_scratch(token, final))
    return task, final.chain, READ_ONLY, (), final.trigrams, work


def for_predict_small(
    rows: EncodedRows, option: np.ndarray, final: FinalChain
) -> tuple[Any, ...]:
    """Return what :func:`.chain_epoch.predict_small` takes besides its results."""
    work = np.empty(longest(rows[0]) * final.cells)
    return *rows, option if option.shape[0] else (), *final.plain, work


def prediction_arguments(task: ChainTask, chain: Chain) -> tuple[Any, ...]:
    """Return what a kernel of prediction takes first: (task, chain, rule, general,
    trigrams, work), in the form that calls the smallest kernel that serves.
    """
    if small_kernel_serves(task, chain, READ_ONLY, QUIET):
        return for_prediction(
            rows_of(task, task.token),
            task.gold,
            task.option,
            final_chain(chain),
            task.sets,
        )
    trigrams = read_trigrams(chain.trigrams, chain.clock.scale[0])
    work = new_work(task, chain.start.shape[0], 2 if trigrams else 1, training=False)
    return task, chain, READ_ONLY, General(QUIET), trigrams, work
