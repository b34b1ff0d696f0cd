"""Dependency trees: what a training tree must be, projectivity, and the actions that
build a tree.

A tree of n words is its heads, 1-based, 0 at the root: exactly one word
has head 0, and every word leads to it.

The parser builds projective trees only. Other trees are *lifted*: the shortest arc that
is not projective moves its dependent one step up, to its head's head, until none is
left.

In pseudo-projective parsing the label of a dependent that was moved says what label its
head has: ``nmod↑obj`` is an ``nmod`` whose head is some ``obj`` below the word it hangs
on now. The paper calls this scheme *Head*. After parsing such a dependent goes to the
first word of that label, searched from the head downwards, level by level and from left
to right; if there is none it stays.

References
----------
J. Nivre and J. Nilsson (2005). Pseudo-projective dependency parsing. ACL.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._data.inputs import PlaceError, describe, flatten, is_int

if TYPE_CHECKING:
    from .._data.types import Corpus

Tree: TypeAlias = list[Any]
"""For each word its (head, label), or its head alone."""

SHIFT = 0
LEFT = 1
RIGHT = 2
"""Actions: SHIFT reads a word; LEFT makes the second tree on the stack a child of the
first, RIGHT the first a child of the second.
"""

ACTION_NAMES = ("SHIFT", "LEFT", "RIGHT")

MARK = "↑"
"""In a label, before that of the head which the word had."""


def split_arcs(
    y: Corpus, labeled: bool
) -> tuple[list[list[Any]], list[list[Any]] | None]:
    """Split the (head, label) pairs of sentences.

    Parameters
    ----------
    y : list of sequences of (head, label)
        If not ``labeled``, also of heads alone.
    labeled : bool

    Returns
    -------
    heads : list of lists
    labels : list of lists, or None
        None if not ``labeled``.

    Raises
    ------
    ValueError
        If something is not a pair; the message names sentence and position.
    """
    for i, sentence in enumerate(y):
        for t, arc in enumerate(sentence):
            is_pair = isinstance(arc, (tuple, list))
            if len(arc) != 2 if is_pair else labeled:
                expected = (
                    "a pair (head, label)"
                    if labeled
                    else "a head or a pair (head, label)"
                )
                hint = "" if is_pair else "; for heads alone, labeled=False"
                raise PlaceError(
                    i, t, f"expected {expected}, got {describe(arc)}{hint}", "y"
                )
    heads = [
        [arc[0] if isinstance(arc, (tuple, list)) else arc for arc in sentence]
        for sentence in y
    ]
    return heads, [[arc[1] for arc in sentence] for sentence in y] if labeled else None


def check_trees(heads: list[list[Any]]) -> np.ndarray:
    """Check that heads make trees, and return them as a flat array.

    Parameters
    ----------
    heads : list of lists

    Returns
    -------
    ndarray of shape (N,), int32

    Raises
    ------
    ValueError
        If a head is no int, out of range or the word itself, if there is not exactly
        one root, or if there is a cycle; the message names sentence and position.
    """
    for i, tree in enumerate(heads):
        n = len(tree)
        for t, head in enumerate(tree):
            if not is_int(head):
                raise PlaceError(
                    i,
                    t,
                    f"a head must be an int, 0 at the root, got {describe(head)}",
                    "y",
                )
            if not 0 <= head <= n:
                raise PlaceError(
                    i, t, f"a head must be in 0 ... {n}, got {int(head)}", "y"
                )
            if head == t + 1:
                raise PlaceError(i, t, "the word is its own head", "y")
        roots = [t for t, head in enumerate(tree) if head == 0]
        if n and len(roots) != 1:
            what = (
                f"positions {roots[0]} and {roots[1]} both have head 0"
                if roots
                else "no word has head 0"
            )
            raise PlaceError(i, None, f"a tree has exactly one root; {what}", "y")
        below = {0}  # words from which the heads lead to the root
        for k in range(1, n + 1):
            way: dict[int, None] = {}
            while k not in below and k not in way:
                way[k] = None
                k = tree[k - 1]
            if k in way:
                raise PlaceError(i, k - 1, "the heads from here on form a cycle", "y")
            below.update(way)
    return np.array(flatten(heads), np.int32)


def actions_of(heads: list[int]) -> list[int] | None:
    """Return the actions that build a tree, or None if it is not projective.

    Left children are attached first, from the inside out; then right children, each
    when it is complete.

    Parameters
    ----------
    heads : list of int

    Returns
    -------
    list of int
        2 n - 1 of SHIFT, LEFT and RIGHT.

    Examples
    --------
    >>> actions_of([2, 0, 2])
    [0, 0, 1, 0, 2]
    """
    n = len(heads)
    need = [0] * (n + 1)
    for head in heads:
        need[head] += 1
    stack = []
    out = []
    for k in range(1, n + 1):
        out.append(SHIFT)
        stack.append(k)
        while len(stack) >= 2:
            a = stack[-2]
            b = stack[-1]
            if heads[a - 1] == b:
                out.append(LEFT)
                need[b] -= 1
                del stack[-2]
            elif heads[b - 1] == a and need[b] == 0:
                out.append(RIGHT)
                need[a] -= 1
                stack.pop()
            else:
                break
    return out if len(out) == max(2 * n - 1, 0) else None


def _rows(heads: list[int], children: list[set[int]]) -> tuple[list[int], list[int]]:
    """Return where the longest row of words begins and ends, by head, that holds the
    head and else only what descends from it.
    """
    n = len(heads)
    order = [0]
    for k in order:
        order.extend(children[k])
    size = [1] * (n + 1)  # of what descends from a word, itself included
    first = [0] * (n + 1)  # where that begins in a walk
    for k in reversed(order[1:]):
        size[heads[k - 1]] += size[k]
    for k in order:
        at = first[k] + 1
        for c in children[k]:
            first[c] = at
            at += size[c]
    begin = [0, *range(1, n + 1)]
    end = [n, *range(1, n + 1)]
    for h in range(1, n + 1):
        while begin[h] > 1 and first[h] <= first[begin[h] - 1] < first[h] + size[h]:
            begin[h] -= 1
        while end[h] < n and first[h] <= first[end[h] + 1] < first[h] + size[h]:
            end[h] += 1
    return begin, end


def lift(heads: list[int]) -> list[int]:
    """Make a tree projective.

    While an arc is not projective, that is, while a word strictly between head and
    dependent does not descend from the head, the shortest such arc (ties: the leftmost
    dependent) is attached to its head's head. Every lift shortens a way to the root.

    Parameters
    ----------
    heads : list of int

    Returns
    -------
    list of int

    Examples
    --------
    >>> lift([0, 4, 1, 1])
    [0, 1, 1, 1]
    """
    heads = list(heads)
    n = len(heads)
    children: list[set[int]] = [set() for _ in range(n + 1)]
    for d, h in enumerate(heads, 1):
        children[h].add(d)
    # An arc is projective if its dependent stands in the row of its head. A lift
    # changes the descendants of one word only, the old head, and takes some away: no
    # arc becomes projective but by being lifted. It costs no more than words that move
    # up, so all lifts together no more than the sum of all depths.
    begin, end = _rows(heads, children)
    crossing = [
        (abs(h - d), d) for d, h in enumerate(heads, 1) if not begin[h] <= d <= end[h]
    ]
    heapify(crossing)
    while crossing:
        d = heappop(crossing)[1]
        h = heads[d - 1]
        heads[d - 1] = up = heads[h - 1]
        children[h].remove(d)
        children[up].add(d)
        if not begin[up] <= d <= end[up]:
            heappush(crossing, (abs(up - d), d))
        below = [d]
        left = begin[h]
        right = end[h]
        for k in below:
            below.extend(children[k])
        begin[h] = max((k + 1 for k in below if left <= k < h), default=left)
        end[h] = min((k - 1 for k in below if h < k <= right), default=right)
        for k in (*range(left, begin[h]), *range(end[h] + 1, right + 1)):
            if heads[k - 1] == h:
                heappush(crossing, (abs(h - k), k))
    return heads


def encode_trees(
    heads: np.ndarray, token: np.ndarray, lifting: bool
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Find the actions for all sentences, and the trees they build.

    Parameters
    ----------
    heads : ndarray of shape (N,), int32
        From :func:`check_trees`.
    token : ndarray of shape (n + 1,), int64
    lifting : bool
        Lift trees that are not projective; else they have no actions.

    Returns
    -------
    actions : ndarray of shape (2 N,), int8
        Those of a sentence start at twice its first token, the last one is that of a
        root step; -1 where there are none.
    heads : ndarray of shape (N,), int32
    skipped : list of int
        Sentences without actions.
    """
    actions = np.full(2 * heads.shape[0], -1, np.int8)
    heads = heads.copy()
    skipped = []
    for i, (a, b) in enumerate(zip(token[:-1].tolist(), token[1:].tolist())):
        if a == b:
            continue
        tree = heads[a:b].tolist()
        found = actions_of(tree)
        if found is None and lifting:
            heads[a:b] = tree = lift(tree)
            found = actions_of(tree)
        if found is None:
            skipped.append(i)
        else:
            actions[2 * a : 2 * b] = [*found, RIGHT]
    return actions, heads, skipped


# --------------------------------------------------------------------------------------
# Labels that say what was lifted
# --------------------------------------------------------------------------------------
def mark_lifted(labels: list[Any], heads: list[int], lifted: list[int]) -> list[Any]:
    """Write into the labels of a tree where words were lifted from.

    Parameters
    ----------
    labels : list of str or None
    heads, lifted : lists of int
        Before and after; 1-based, 0 at the root.

    Examples
    --------
    >>> mark_lifted(["root", "obj", "nmod"], [0, 1, 2], [0, 1, 1])
    ['root', 'obj', 'nmod↑obj']
    """
    out = list(labels)
    for d, (label, head, new) in enumerate(zip(labels, heads, lifted)):
        if head != new and label is not None and labels[head - 1] is not None:
            out[d] = f"{label}{MARK}{labels[head - 1]}"
    return out


def mark_lifted_trees(
    labels: list[list[Any]], heads: np.ndarray, lifted: np.ndarray, token: np.ndarray
) -> list[list[Any]]:
    """Write into the labels of sentences where words were lifted from.

    Labels are lists by sentence; ``heads`` and ``lifted`` (N,) are flat.

    Raises
    ------
    ValueError
        If a label is no str, or holds the mark; the message names sentence and
        position.
    """
    for i, sentence in enumerate(labels):
        for t, label in enumerate(sentence):
            if label is not None and (not isinstance(label, str) or MARK in label):
                wanted = (
                    f"projectivize='pseudo' needs labels of type str without {MARK!r}"
                )
                raise PlaceError(i, t, f"{wanted}, got {describe(label)}", "y")
    bounds = list(zip(token[:-1].tolist(), token[1:].tolist()))
    return [
        mark_lifted(mine, heads[a:b].tolist(), lifted[a:b].tolist())
        for mine, (a, b) in zip(labels, bounds)
    ]


def restore_lifted(tree: Tree) -> Tree:
    """Put lifted dependents back where their labels say.

    Parameters
    ----------
    tree : list of (head, label)

    Returns
    -------
    list of (head, label)
        Labels are plain. It is a tree again: no word goes below itself.

    Examples
    --------
    >>> restore_lifted([(0, "root"), (1, "obj"), (1, "nmod↑obj")])
    [(0, 'root'), (1, 'obj'), (2, 'nmod')]
    """
    if not any(MARK in label for _, label in tree):
        return tree
    heads = [head for head, _ in tree]
    labels = [label.partition(MARK)[0] for _, label in tree]
    children: list[list[int]] = [[] for _ in range(len(tree) + 1)]
    for d, head in enumerate(heads, 1):
        children[head].append(d)
    # From the root downwards: where a head belongs is known before.
    for d in _levels(0, children, None):
        wanted = tree[d - 1][1].partition(MARK)[2]
        if wanted:
            below = _levels(heads[d - 1], children, d)
            found = next((k for k in below if labels[k - 1] == wanted), None)
            if found is not None:
                children[heads[d - 1]].remove(d)
                heads[d - 1] = found
                children[found] = sorted([*children[found], d])
    return list(zip(heads, labels))


def _levels(top: int, children: list[list[int]], without: int | None) -> list[int]:
    """List the words below ``top``, level by level, but for those from ``without``
    downwards.
    """
    out: list[int] = []
    level = [top]
    while level:
        level = [c for k in level for c in children[k] if c != without]
        out += level
    return out
