"""What tokens have: lists of features, or the columns of dense rows, which are read
where they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._core.compile import inline, kernel, spliced
from ..._data.places import ranges
from ...features.encoded import Dense

if TYPE_CHECKING:
    from ..._chain.bigram import ChainTask
    from ...features.encoded import Bag, Grid
    from .corpus_sums import Sequences


class DenseFeatures(NamedTuple):
    """Dense rows of numbers as features; R rows of weights, N tokens.

    The last two are scratch.
    """

    rows: Dense
    place: np.ndarray  # (N,) int64: the number of each token in ``rows``
    # (R,) int32: the feature of each row of weights, -1 if it is none
    number: np.ndarray
    item: np.ndarray  # (R + 1,) int32: features of a token
    value: np.ndarray  # (R + 1,) float64


class TokenLists(NamedTuple):
    """Features, weights, or rows of a table, of each of N tokens; or dense rows of
    numbers instead.
    """

    # (N + 1,) int64: where the list of each token begins, and E; (1,) if there are no
    # lists
    start: np.ndarray
    item: np.ndarray  # (E,) int32: numbers of features, weights, or rows
    value: np.ndarray  # (E,) float64: what each counts; empty if all are 1
    dense: DenseFeatures | tuple[()] = ()

    @classmethod
    def new(cls, n_tokens: int, n: int = 0, valued: bool = False) -> TokenLists:
        """Make lists of n items that are still to be written; of none, empty lists."""
        start = np.zeros(n_tokens + 1, np.int64)
        return cls(start, np.empty(n, np.int32), np.empty(n if valued else 0))

    @property
    def signed(self) -> bool:
        """Tell whether there are negative values."""
        if self.dense:
            return self.dense.rows.block.min(initial=0.0) * self.dense.rows.scale < 0.0
        return self.value.min(initial=0.0) < 0.0

    def first(self, n_tokens: int, n: int) -> TokenLists:
        """Copy the lists of the first tokens, which have n items."""
        start = self.start[: n_tokens + 1].copy()
        return TokenLists(start, self.item[:n].copy(), self.value[:n].copy())

    def take(self, tokens: np.ndarray) -> TokenLists:
        """Return the lists of some tokens (n,), in their order."""
        if self.start.shape[0] == 1:
            return self
        start, at = ranges(self.start[tokens], np.diff(self.start)[tokens])
        return TokenLists(
            start, self.item[at], self.value[at] if self.value.shape[0] else self.value
        )


@inline
def features_of(
    lists: TokenLists, dense: DenseFeatures | tuple[()], first: int, t: int, T: int
) -> tuple[Any, Any, np.ndarray, np.ndarray]:
    """Return the features of token t of the T tokens from ``first`` on.

    They are ``items[begin:end]`` with ``values[begin:end]``: (begin, end, items,
    values), where empty values are all 1.

    ``dense`` is that of the lists: what an empty argument rules out is not compiled.
    Features of dense rows are written to their scratch, which has room for one more
    than there can be: what is zero is written, and overwritten by the next.
    """
    if len(dense) > 0:
        x = dense.rows
        number = dense.number
        item = dense.item
        value = dense.value
        n: Any = 0
        row = 0
        F = x.block.shape[1]
        for s in range(x.low, x.high + 1):
            if 0 <= t + s < T:
                at = dense.place[first + t + s]
                for f in range(F):
                    v = x.scale * x.block[at, f]
                    item[n] = number[row + f]
                    value[n] = v
                    n += np.int64(v != 0.0 and number[row + f] >= 0)
            row += F
        if x.bias and number[row] >= 0:
            item[n] = number[row]
            value[n] = 1.0
            n += 1
        return np.int64(0), np.int64(n), item, value
    return lists.start[first + t], lists.start[first + t + 1], lists.item, lists.value


@spliced
def append(lists: TokenLists, n: int, item: int, value: float) -> int:
    """Write an item behind n others, unless it is -1 or there is no room.

    Returns how many there are then.
    """
    if item >= 0 and lists.item.shape[0] > 0:
        lists.item[n] = item
        if lists.value.shape[0] > 0:
            lists.value[n] = value
    more: Any = np.int64(item >= 0)
    return n + more


@kernel
def _list_features(
    token: np.ndarray,
    anchor: np.ndarray,
    left: int,
    grid: Grid,
    bag: Bag,
    order: np.ndarray,
    of_row: np.ndarray,
    lists: TokenLists,
) -> int:
    """List the features of each token; returns their number.

    Without room for items they are only counted.

    The arguments up to the bag are those of a task. ``of_row`` (R,) int32 translates
    rows to features, -1 leaves them out.
    """
    n = 0
    k = 0
    for i in order:
        T = token[i + 1] - token[i]
        first = anchor[i]
        n_anchors = anchor[i + 1] - anchor[i]
        for t in range(T):
            lists.start[k] = n
            k += 1
            for g in range(grid.row.shape[0]):
                for s in range(grid.width[g]):
                    a = t - grid.lo[g] - s + left
                    if 0 <= a < n_anchors and grid.row[g, first + a] >= 0:
                        n = append(lists, n, of_row[grid.row[g, first + a] + s], 1.0)
            if bag.start.shape[0] > 1:
                for e in range(bag.start[token[i] + t], bag.start[token[i] + t + 1]):
                    if bag.row[e] >= 0:
                        value = bag.value[e] if bag.value.shape[0] > 0 else 1.0
                        n = append(lists, n, of_row[bag.row[e]], value)
    lists.start[k] = n
    return n


@kernel
def select(lists: TokenLists, of_item: np.ndarray, new: TokenLists) -> int:
    """Keep the items k with ``of_item[k] >= 0``, which is the new number of each;
    returns how many.

    The new arrays may be the old ones.
    """
    n = 0
    begin = lists.start[0]
    for t in range(lists.start.shape[0] - 1):
        end = lists.start[t + 1]
        new.start[t] = n
        for e in range(begin, end):
            value = lists.value[e] if lists.value.shape[0] > 0 else 1.0
            n = append(new, n, of_item[lists.item[e]], value)
        begin = end
    new.start[lists.start.shape[0] - 1] = n
    return n


def list_rows(
    task: ChainTask, order: np.ndarray, grid: Grid, bag: Bag, of_row: np.ndarray
) -> TokenLists:
    """List the features of each token of a grid and a bag.

    Runs the kernel twice: for sizes, then for content.

    Parameters
    ----------
    task : ChainTask
    order : ndarray of shape (S,)
        The sequences to list.
    grid : Grid
    bag : Bag
    of_row : ndarray of shape (R,)
        int32: the feature of each row, -1 for none.
    """
    place = task.token, task.anchor, task.left, grid, bag, order, of_row
    n_tokens = int(np.diff(task.token)[order].sum())
    lists = TokenLists.new(n_tokens)
    n = _list_features(*place, lists)
    if n:
        lists = TokenLists.new(n_tokens, n, bag.value.shape[0] > 0)
        _list_features(*place, lists)
    return lists


def keep_features(lists: TokenLists, of_item: np.ndarray) -> TokenLists:
    """Keep the features f with ``of_item[f] >= 0``, which is the new number of each.

    The lists are changed in place.
    """
    if lists.dense:
        number = np.append(of_item, np.int32(-1))[lists.dense.number]
        return lists._replace(dense=lists.dense._replace(number=number))
    n = select(lists, of_item, lists)
    lists.item.resize(n, refcheck=False)
    lists.value.resize(n if lists.value.shape[0] else 0, refcheck=False)
    return lists


def alive_rows(n_rows: int, alive: np.ndarray) -> np.ndarray:
    """Number the rows, (n_rows,) int32: -1 for those that a count cut-off left out.

    ``alive`` (n_rows,): 0 for these; empty without a cut-off.
    """
    of_row = np.arange(n_rows, dtype=np.int32)
    if alive.shape[0]:
        of_row[alive == 0] = -1
    return of_row


def number_chosen(n: int, chosen: np.ndarray) -> np.ndarray:
    """Find the place of each k < n in ``chosen``: (n,) int32, -1 if it is not there."""
    number = np.full(n, -1, np.int32)
    number[chosen] = np.arange(chosen.shape[0], dtype=np.int32)
    return number


def features_of_tokens(
    task: ChainTask, sequences: Sequences, of_row: np.ndarray
) -> TokenLists:
    """List the features of the tokens of some sequences.

    Dense rows of numbers alone are not listed: they are read where they are.
    ``of_row`` (R,) int32: the feature of each row of weights, or -1.
    """
    if task.dense and task.bag.start.shape[0] == 1:
        place = ranges(task.token[sequences.order], sequences.lengths)[1]
        n = of_row.shape[0] + 1
        dense = DenseFeatures(
            task.dense, place, of_row, np.zeros(n, np.int32), np.zeros(n)
        )
        return TokenLists.new(0)._replace(dense=dense)
    return list_rows(task, sequences.order, task.nodes, task.bag, of_row)


@kernel
def repetition(token: np.ndarray, lists: TokenLists, count: np.ndarray) -> float:
    """Return the mean over sequences of Σ_f (Σ_t x_tf)² / T: what a token's features
    have in common with those of its whole sequence, on average.

    ``count`` (F,): zeros, and zeros again at the end.
    """
    total = 0.0
    n = 0
    for i in range(token.shape[0] - 1):
        T = token[i + 1] - token[i]
        squares = 0.0
        for t in range(2 * T):  # the second time to clear
            begin, end, which, values = features_of(
                lists, lists.dense, token[i], t % T, T
            )
            for e in range(begin, end):
                if t >= T:
                    count[which[e]] = 0.0
                    continue
                x = values[e] if values.shape[0] > 0 else 1.0
                c = count[which[e]]
                squares += x * (2.0 * c + x)
                count[which[e]] = c + x
        if T > 0:
            total += squares / T
            n += 1
    return total / max(n, 1)
