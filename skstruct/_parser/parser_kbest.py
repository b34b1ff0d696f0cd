"""The k best trees of all that a beam search kept, none twice, found only as far as
they are asked for.

States that merged are a *packed forest*: a state stands for every way to build its
first tree. A *way* is a reduction of a state q with one of its predictors p, and all
subtrees of p go with all of q, as no feature tells them apart. The search follows the
best way alone; the others are found again when it has ended, among the states that it
kept.

Each state has a list of its best subtrees, which grows when a longer tree needs the
next one (lazy k best: Huang and Chiang 2005, "Better k-best parsing", algorithm 3).
Differs from the paper: a list holds different subtrees, not different derivations. Many
derivations build one tree, in which left and right children are attached in another
order; the best of them counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._core.compile import kernel
from .._core.noise import QUIET
from .arc_labels import label_tree
from .dependency_trees import LEFT, RIGHT, SHIFT
from .parser_beam import slot_of
from .parser_epoch import predict
from .states import FIRST_WORD, N_ACTIONS, S0, H, I, J, successor

if TYPE_CHECKING:
    from .dependency_trees import Tree
    from .parser_beam import ParseTask, ParseWork
    from .state_features import ParseModel


Way: TypeAlias = tuple[int, int, int]
"""A reduction of a state q with one of its predictors p: (p, q, action)."""

Arcs: TypeAlias = tuple[tuple[int, int], ...]
"""The (head, label) of the words of a subtree, that of its root (0, -1)."""


@kernel
def list_ways(n: int, model: ParseModel, work: ParseWork, ways: np.ndarray) -> int:
    """List the reductions that lead to the states of a search of n words; returns how
    many they are.

    ``ways`` (W, 4) int32 has room for W of them, and further ones are only counted:
    state, p, q and action.
    """
    states = work.states
    kept = work.kept
    spare = states.row.shape[0] - 1
    found = 0
    for step in range(2 * n - 1):
        begin = work.begin[step]
        end = work.begin[step + 1]
        for x in range(end, work.begin[step + 2]):
            kept[slot_of(kept, states, x)] = x
        for q in range(begin, end):
            if 2 * (states.row[q, J] - FIRST_WORD) - step < 2:
                continue
            link = states.first[q]
            while link >= 0:
                p = states.linked[link]
                for action in range(LEFT, N_ACTIONS):
                    label = (
                        model.symbol[states.label[q, action]]
                        if model.joint
                        else np.int32(0)
                    )
                    successor(
                        action,
                        label,
                        states.row[p],
                        states.row[q],
                        model.tracked,
                        states.row[spare],
                    )
                    x = kept[slot_of(kept, states, spare)]
                    if x >= 0:
                        if found < ways.shape[0]:
                            ways[found, 0] = x
                            ways[found, 1] = p
                            ways[found, 2] = q
                            ways[found, 3] = action
                        found += 1
                link = states.link[link]
        kept[:] = -1
    return found


@kernel
def label_trees(
    last: np.ndarray,
    head: np.ndarray,
    model: ParseModel,
    work: ParseWork,
    label: np.ndarray,
) -> None:
    """Choose the labels that the search has not chosen, for k trees of n words.

    ``last`` (k,) int32 are the last states, ``head`` (k, n) int32 the heads; ``label``
    (k, n) int32 is written.
    """
    for r in range(last.shape[0]):
        label_tree(
            work.states.row[last[r]],
            head[r],
            head.shape[1],
            model,
            None,
            work,
            label[r],
        )


class Forest:
    """What the search of a sentence of n words kept.

    Parameters
    ----------
    n : int
    model : ParseModel
    work : ParseWork
        As the search left it.
    """

    def __init__(self, n: int, model: ParseModel, work: ParseWork) -> None:
        states = work.states
        self.begin = work.begin[: 2 * n + 1].tolist()
        kept = slice(self.begin[-1])
        self.inside = states.inside[kept].tolist()
        self.score = states.score[kept].tolist()
        self.gain = states.gain[kept].tolist()
        self.label = states.label[kept].tolist() if model.joint else None
        self.first = states.row[kept, I].tolist()
        self.head = states.row[kept, S0 + H].tolist()
        left = states.left[kept].tolist()
        right = states.right[kept].tolist()
        action = states.action[kept].tolist()
        self.best: list[Way] = list(zip(left, right, action))
        if model.root_step:
            # In the order of sums in which the search scores it.
            for x in range(*self.begin[-2:]):
                self.score[x] = self.score[0] + (
                    self.gain[0][SHIFT] + self.gain[x][RIGHT] + self.inside[x]
                )
        self.ways: defaultdict[int, list[Way]] = defaultdict(list)
        if model.merge:
            n_ways = list_ways(n, model, work, np.empty((0, 4), np.int32))
            ways = np.empty((n_ways, 4), np.int32)
            list_ways(n, model, work, ways)
            for x, p, q, a in ways.tolist():
                self.ways[x].append((p, q, a))
        # By state the best subtrees with their scores; what finds more of them; and the
        # states of which there are no more.
        self.found: defaultdict[int, list[tuple[float, Arcs]]] = defaultdict(list)
        self.searches: dict[int, Iterator[tuple[tuple[int, int], ...]]] = {}
        self.done: set[int] = set()

    def trees(self) -> Iterator[tuple[float, int, Arcs]]:
        """Yield (score, last state, arcs) of all trees, best first."""
        heap = [(-self.score[x], x, 0) for x in range(*self.begin[-2:])]
        heapify(heap)
        while heap:
            negated, x, r = heappop(heap)
            self._find(x, r)
            yield -negated, x, self.found[x][r][1]
            self._find(x, r + 1)
            if len(self.found[x]) > r + 1:
                behind = self.inside[x] - self.found[x][r + 1][0]
                heappush(heap, (behind - self.score[x], x, r + 1))

    def _find(self, x: int, r: int) -> None:
        """Find subtrees of a state up to number r, or all that there are."""
        stack = [(x, r)]  # recursion would be as deep as a sentence is long
        while stack:
            x, r = stack[-1]
            if len(self.found[x]) > r or x in self.done:
                stack.pop()
            else:
                stack += next(self.searches.setdefault(x, self._search(x)))

    def _search(self, x: int) -> Iterator[tuple[tuple[int, int], ...]]:
        """Find the subtrees of a state one by one; yields the (state, number) to be
        found before it goes on.

        Rank (way, i, j) is the i-th subtree of the way's p with the j-th of its q.
        """
        best = self.best[x]
        found = self.found[x]
        others = self.ways[x]
        heap: list[tuple[float, tuple[Way, int, int]]] = []
        seen: set[Arcs] = set()
        waiting = [(best, 0, 0)]
        if best[2] == SHIFT:
            found.append((0.0, ((0, -1),)))
            waiting = []
        while True:
            for way, i, j in waiting:
                p, q, _ = way
                yield (p, i), (q, j)
                if len(self.found[p]) > i and len(self.found[q]) > j:
                    heappush(heap, (-self._score(way, i, j), (way, i, j)))
            if found and others:
                for way in others:
                    if way != best:
                        heap.append((-self._score(way, 0, 0), (way, 0, 0)))
                heapify(heap)
                others = []
            if not heap:
                break
            negated, (way, i, j) = heappop(heap)
            yield (way[0], i), (way[1], j)
            arcs = self._joined(way, i, j)
            if arcs not in seen:
                seen.add(arcs)
                found.append((-negated, arcs))
                yield ()
            waiting = [(way, i + 1, j), (way, i, j + 1)][: 1 if i else 2]
        self.done.add(x)
        yield ()

    def _joined(self, way: Way, i: int, j: int) -> Arcs:
        """Return the arcs of the i-th subtree of p joined with the j-th of q."""
        p, q, action = way
        of_p = self.found[p][i][1]
        of_q = self.found[q][j][1]
        label = self.label[q][action] if self.label else -1
        if action == LEFT:
            k = self.head[p] - self.first[p]
            arc = (self.head[q] - FIRST_WORD + 1, label)
            return of_p[:k] + (arc,) + of_p[k + 1 :] + of_q
        k = self.head[q] - self.first[q]
        arc = (self.head[p] - FIRST_WORD + 1, label)
        return of_p + of_q[:k] + (arc,) + of_q[k + 1 :]

    def _score(self, way: Way, i: int, j: int) -> float:
        """Return the score inside of a joined subtree, as the search computes it."""
        p, q, action = way
        of_p = self.found[p][i][0] if i else self.inside[p]
        of_q = self.found[q][j][0] if j else self.inside[q]
        return of_p + (self.gain[p][SHIFT] + self.gain[q][action] + of_q)


def best_trees(
    task: ParseTask,
    k: int,
    model: ParseModel,
    work: ParseWork,
    read: Callable[[np.ndarray, np.ndarray], Tree],
) -> list[list[tuple[Tree, float]]]:
    """Find up to k different trees of each sentence.

    Parameters
    ----------
    task : ParseTask
    k : int
    model : ParseModel
    work : ParseWork
    read : callable
        ``read(heads, labels)`` makes a tree of two arrays.

    Returns
    -------
    list of lists of (tree, score)
        Best first. The first is that of ``parser_epoch.predict``, and has its score.
    """
    heads, labels = np.zeros((2, task.atoms.shape[1]), np.int32)
    out: list[list[tuple[Tree, float]]] = []
    scores = np.zeros(task.token.shape[0] - 1)
    for i, n in enumerate(np.diff(task.token).tolist()):
        predict(task, i, i + 1, model, QUIET, work, heads, labels, scores)
        if n == 0:
            out.append([(read(heads[:0], labels[:0]), 0.0)])
            continue
        forest = Forest(n, model, work)
        found: dict[tuple[Any, ...], tuple[Tree, float]] = {}
        score = np.inf
        candidates = forest.trees()
        while len(found) < k:
            some = list(islice(candidates, k - len(found)))
            if not some:
                break
            arcs = np.array([arcs for _, _, arcs in some], np.int32)
            head, label = np.ascontiguousarray(arcs.transpose(2, 0, 1))
            if model.arc_features.weights.columns > 0:
                label_trees(
                    np.array([x for _, x, _ in some], np.int32),
                    head,
                    model,
                    work,
                    label,
                )
            for (value, _, _), its_heads, its_labels in zip(some, head, label):
                # Sums in another order may differ in their last digit.
                score = min(score, value)
                tree = read(its_heads, its_labels)
                found.setdefault(tuple(tree), (tree, score))
        out.append(list(found.values()))
        forest.searches.clear()  # they refer to it, which then waits for no collector
    return out
