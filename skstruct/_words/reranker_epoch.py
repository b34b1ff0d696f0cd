"""Paths through a lattice of words: exact search over adjacent triples, and what an
example teaches.

The k best analyses of a text by a base model are cut into *nodes*: a word or token,
where it begins and ends, its tag, and its *margin*, the score of the best analysis
minus that of the best one that holds the node. What adjoins makes paths, among them all
k analyses and many recombinations. A path scores the sum of the features of its nodes,
of their pairs and of their triples (Zhang, Su and Zhou 2014, section 6, table 4; the
templates are those of the first author's public lattice re-ranker). A state is an
*arc*, two adjacent nodes (p, c), and the best path is found exactly:

    δ(p, c) = node(c) + pair(p, c) + max over arcs (a, p) of δ(a, p) + triple(a, p, c)

Differs from that re-ranker: the search is exact and not a beam; where the lattice lacks
the right path, the path with most right nodes is learned from, and no right words are
inserted.

Letters: a, p, c three adjacent nodes, -1 for the start; M nodes of a sequence, k a
template.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._core.codes import DONE, RESCALE, TABLE_FULL
from .._core.compile import inline, kernel
from .._core.feature_table import FeatureTable, lacks_room, new_table
from .._core.hashing import find
from .._core.noise import QUIET, token_masked
from .._core.penalties import read_weight
from .._core.rules import (
    Difference,
    adjustment_of,
    emit_feature,
    learn,
    new_difference,
    noise_factor,
)
from .._core.store import SMALLEST_SCALE, Clock, new_clock

if TYPE_CHECKING:
    from .._core.noise import Noise
    from .._core.rules import Adjustment
    from .._core.store import Rule
    from .word_features import Int

GROUPS = np.array([0, 6, 16, 20])
"""Where the templates of each group begin: those that look at one node, at two, and at
three.
"""

N_TEMPLATES = int(GROUPS[-1])

HALF = 2**15
"""Tags, lengths and margins are below: two of them share half a key."""

_LISTED = """
w, t, len, w t, len t, margin
w w-1, w t-1, t w-1, t t-1, len w-1, w len-1, len t-1, t len-1, len len-1
margin margin-1
t t-2, t t-1 t-2, len len-2, len len-1 len-2
"""

ATOMS = [names.split() for names in _LISTED.strip().replace("\n", ",").split(",")]
"""Of each template the atom in the left half of its key, and those in the right half,
with how far back they are.
"""


def _atoms(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the column of each template's n-th atom in ``atoms``, -1 for none, and how
    far back it is; both (K,).
    """
    names = [(*names, "", "")[n].partition("-") for names in ATOMS]
    column = {"w": 0, "t": 1, "len": 2, "margin": 3, "": -1}
    columns = np.array([column[kind] for kind, _, _ in names])
    return columns, np.array([int(k or 0) for _, _, k in names])


(_LEFT, _), (_RIGHT, _BACK), (_SECOND, _) = map(_atoms, range(3))


class LatticeTask(NamedTuple):
    """n lattices over N tokens, M nodes, A arcs in all.

    Nodes are sorted by where they begin, arcs by c.
    """

    token: np.ndarray  # (n + 1,) int64: first token of each sequence
    node: np.ndarray  # (n + 1,) int64: first node
    arc: np.ndarray  # (n + 1,) int64: first arc
    begin: np.ndarray  # (M,) int32: first token of a node, in its sequence
    end: np.ndarray  # (M,) int32: behind its last token
    word: np.ndarray  # (M,) int32: id, -1 for unknown ones, 0 only before the start
    tag: np.ndarray  # (M,) int32: the same
    margin: np.ndarray  # (M,) int32: bucket
    # (M,) int32: how right a node is, 0 if not at all; in prediction empty, as targets.
    right: np.ndarray
    left: np.ndarray  # (A,) int32: node p of an arc, in its sequence; -1 for the start
    into: np.ndarray  # (M + 1,) int64: first arc into each node
    weight: np.ndarray  # (n,) float64
    # (M,) int32: node before on the path to learn, -1 start, ABSENT if not on it.
    target: np.ndarray


ABSENT = -2


class Reranker(NamedTuple):
    """Everything that scores; one row of one weight for each feature."""

    features: FeatureTable
    clock: Clock


class RerankWork(NamedTuple):
    """Scratch for one sequence at a time."""

    score: np.ndarray  # (A,) float64
    back: np.ndarray  # (A,) int64: best arc before
    # (M,) int32: node before on the predicted path, ABSENT if not on it.
    path: np.ndarray
    # (M + 1, 4) int64: word, tag, length and margin; row 0 is the start, then nodes.
    atoms: np.ndarray
    # (N_TEMPLATES, 2) int64: left and right; left is -1 for features that are off.
    keys: np.ndarray
    difference: Difference
    stats: np.ndarray  # (3,) float64


def new_work(task: LatticeTask, training: bool = True) -> RerankWork:
    """Make scratch that fits every lattice of ``task``.

    Without ``training`` there is no room for what an example teaches.
    """
    M, A, T = (
        int(np.diff(part).max(initial=1)) for part in (task.node, task.arc, task.token)
    )
    return RerankWork(
        score=np.empty(A),
        back=np.empty(A, np.int64),
        path=np.empty(M, np.int32),
        atoms=np.zeros((M + 1, 4), np.int64),
        keys=np.empty((N_TEMPLATES, 2), np.int64),
        difference=new_difference(2 * T * N_TEMPLATES if training else 0),
        stats=np.zeros(3),
    )


# --------------------------------------------------------------------------------------
# Features. The start has word, tag and length 0 and a margin of its own.
# --------------------------------------------------------------------------------------
@inline
def load(task: LatticeTask, i: Int, noise: Noise, step: Int, atoms: np.ndarray) -> None:
    """Write the atoms of sequence i; input dropout hides words, which then have the id
    -1.
    """
    first = task.node[i]
    for j in range(task.node[i + 1] - first):
        begin = np.int64(task.begin[first + j])
        masked = token_masked(noise, step, begin, np.int64(0))
        atoms[j + 1, 0] = -1 if masked else task.word[first + j]
        atoms[j + 1, 1] = task.tag[first + j]
        atoms[j + 1, 2] = min(task.end[first + j] - begin, HALF - 1)
        atoms[j + 1, 3] = task.margin[first + j]
    atoms[0, 0] = atoms[0, 1] = atoms[0, 2] = 0
    atoms[0, 3] = HALF - 1


@inline
def list_keys(a: Int, p: Int, c: Int, group: Int, work: RerankWork) -> None:
    """Write the keys of one node c (group 0), of the pair (p, c) (1) or of the triple
    (a, p, c) (2).

    Features of unknown words or tags are off.
    """
    atoms = work.atoms
    keys = work.keys
    for k in range(GROUPS[group], GROUPS[group + 1]):
        right = np.int64(0)
        if _RIGHT[k] >= 0:
            node = c if _BACK[k] == 0 else p if _BACK[k] == 1 else a
            right = atoms[node + 1, _RIGHT[k]]
        if _SECOND[k] >= 0:
            second = atoms[a + 1, _SECOND[k]]
            right = right * HALF + second if min(right, second) >= 0 else np.int64(-1)
        keys[k, 0] = atoms[c + 1, _LEFT[k]] if right >= 0 else np.int64(-1)
        keys[k, 1] = right


@inline
def _is_edge(k: Int) -> bool:
    """Return whether a template is one of transitions: those of tags alone are."""
    return k == 9 or k == 16 or k == 17


@inline
def weigh(
    model: Reranker,
    adjustment: Adjustment | None,
    a: Int,
    p: Int,
    c: Int,
    group: Int,
    work: RerankWork,
) -> float:
    """Sum the weights of the features of one group, as of :func:`list_keys`."""
    list_keys(a, p, c, group, work)
    features = model.features
    keys = work.keys
    total = 0.0
    step = model.clock.step[0]
    for k in range(GROUPS[group], GROUPS[group + 1]):
        row = (
            find(features.table, k, keys[k, 0], keys[k, 1])
            if keys[k, 0] >= 0
            else np.int64(-1)
        )
        if row < 0:
            continue
        if adjustment is None:
            total += features.weights.value[row]
        elif features.min_count <= 1 or features.seen[row] >= features.min_count:
            w = read_weight(features.weights, adjustment.rule, row, row, step)
            total += w * noise_factor(
                adjustment, _is_edge(k), step, k, (keys[k, 0] << 32) | keys[k, 1]
            )
    return total * model.clock.scale[0]


@inline
def emit_node(
    path: np.ndarray,
    c: Int,
    group: Int,
    model: Reranker,
    adjustment: Adjustment | None,
    amount: float,
    work: RerankWork,
) -> None:
    """Emit the features of one group of a node of ``path``."""
    p = np.int64(path[c])
    list_keys(np.int64(path[p]) if p >= 0 else p, p, c, group, work)
    for k in range(GROUPS[group], GROUPS[group + 1]):
        if work.keys[k, 0] >= 0:
            emit_feature(
                model.features,
                adjustment,
                _is_edge(k),
                model.clock.step[0],
                k,
                work.keys[k, 0],
                work.keys[k, 1],
                np.int64(0),
                amount,
                work.difference,
            )


# --------------------------------------------------------------------------------------
# Search
# --------------------------------------------------------------------------------------
@inline
def search(
    task: LatticeTask,
    i: Int,
    model: Reranker,
    noise: Noise,
    adjustment: Adjustment | None,
    work: RerankWork,
) -> float:
    """Find the best path through lattice i: writes ``work.path``, returns its score.

    Ties go to the earlier arc.
    """
    first = task.node[i]
    M = task.node[i + 1] - task.node[i]
    first_arc = task.arc[i]
    T = task.token[i + 1] - task.token[i]
    load(task, i, noise, model.clock.step[0], work.atoms)
    zero = np.int64(0)
    start = np.int64(-1)
    best = -np.inf
    last: Int = start  # the last arc
    end: Int = zero  # and the node that it leads to
    for c in range(M):
        work.path[c] = ABSENT
        own = weigh(model, adjustment, start, start, c, zero, work)
        for arc in range(task.into[first + c], task.into[first + c + 1]):
            p = np.int64(task.left[arc])
            score = own + weigh(model, adjustment, start, p, c, zero + 1, work)
            before = -np.inf
            arg: Int = start
            # The start is one arc, of score 0, before itself.
            stop = task.into[first + p + 1] if p >= 0 else zero + 1
            for previous in range(task.into[first + p] if p >= 0 else zero, stop):
                a = np.int64(task.left[previous]) if p >= 0 else start
                x = weigh(model, adjustment, a, p, c, zero + 2, work)
                if p >= 0:
                    x += work.score[previous - first_arc]
                if x > before:
                    before = x
                    arg = previous if p >= 0 else start
            work.score[arc - first_arc] = score + before
            work.back[arc - first_arc] = arg
            if task.end[first + c] == T and score + before > best:
                best = score + before
                last = arc
                end = c
    while last >= 0:
        p = np.int64(task.left[last])
        work.path[end] = p
        end = p
        last = work.back[last - first_arc]
    return best


@inline
def emit_path(
    task: LatticeTask,
    i: Int,
    model: Reranker,
    adjustment: Adjustment | None,
    path: np.ndarray,
    other: np.ndarray,
    amount: float,
    work: RerankWork,
) -> None:
    """Emit the features of ``path`` (M,), without those that ``other`` has too."""
    for c in range(task.node[i + 1] - task.node[i]):
        if path[c] == ABSENT:
            continue
        p = np.int64(path[c])
        for group in range(GROUPS.shape[0] - 1):
            shared = other[c] != ABSENT
            if group > 0:
                shared = other[c] == p
            if group > 1 and p >= 0:
                shared = shared and other[p] == path[p]
            if not shared:
                emit_node(path, c, group, model, adjustment, amount, work)


@kernel
def _epoch(
    task: LatticeTask,
    order: np.ndarray,
    begin: int,
    end: int,
    model: Reranker,
    rule: Rule,
    noise: Noise,
    adjustment: Adjustment | None,
    work: RerankWork,
) -> tuple[int, int]:
    """Visit the lattices ``order[begin:end]`` in turn: search, step, tick.

    Returns (code, k): DONE and ``end``, or why it stopped before lattice ``order[k]``
    was learned: TABLE_FULL (grow the model and call again from k) or RESCALE (rebase
    the store).
    """
    difference = work.difference
    for k in range(begin, end):
        i = order[k]
        if model.clock.scale[0] < SMALLEST_SCALE:
            return RESCALE, k
        search(task, i, model, noise, adjustment, work)
        first = task.node[i]
        stop = task.node[i + 1]
        target = task.target[first:stop]
        wrong = 0
        nodes = 0
        for c in range(stop - first):
            nodes += (target[c] != ABSENT) + (work.path[c] != ABSENT)
            if work.path[c] != ABSENT and target[c] == ABSENT:
                wrong += task.end[first + c] - task.begin[first + c]
        if wrong > 0:
            if lacks_room(model.features, nodes * N_TEMPLATES):
                return TABLE_FULL, k
            emit_path(task, i, model, adjustment, target, work.path, 1.0, work)
            emit_path(task, i, model, adjustment, work.path, target, -1.0, work)
            work.stats[0] += 1.0
            work.stats[1] += wrong
            work.stats[2] += 1.0
        learn(model.features, difference, model.clock, rule, adjustment, task.weight[i])
    return DONE, end


@kernel
def predict(
    task: LatticeTask,
    begin: int,
    end: int,
    model: Reranker,
    noise: Noise,
    work: RerankWork,
    out: np.ndarray,
    score: np.ndarray,
) -> None:
    """Find the best paths of the lattices ``begin <= i < end``.

    Writes ``out`` (M,) bool, whether a node is on its sequence's path, and ``score``
    (n,) float64.
    """
    for i in range(begin, end):
        first = task.node[i]
        stop = task.node[i + 1]
        score[i] = 0.0
        if stop > first:
            score[i] = search(task, i, model, noise, None, work)
            for c in range(stop - first):
                out[first + c] = work.path[c] != ABSENT


def epoch(
    task: LatticeTask,
    order: np.ndarray,
    begin: int,
    end: int,
    model: Reranker,
    rule: Rule,
    noise: Noise,
    work: RerankWork,
) -> tuple[int, int]:
    """Visit the lattices ``order[begin:end]`` in turn and learn from each.

    Returns (code, k) of :func:`_epoch`: DONE and ``end``, or what is needed before
    lattice ``order[k]`` can be learned.
    """
    adjustment = adjustment_of(model.features, rule, noise)
    return _epoch(task, order, begin, end, model, rule, noise, adjustment, work)


def new_model(min_count: int, rule: Rule) -> Reranker:
    """Make a model without features."""
    return Reranker(new_table(1, rule, min_count), new_clock())


@kernel
def list_features(
    task: LatticeTask,
    path: np.ndarray,
    model: Reranker,
    noise: Noise,
    work: RerankWork,
    out: np.ndarray,
) -> int:
    """List the known features of the nodes of ``path`` (M,) through the first lattice.

    Writes rows (node, row) of ``out`` and returns how many there are.
    """
    n = 0
    load(task, 0, noise, np.int64(0), work.atoms)
    for c in range(path.shape[0]):
        if path[c] == ABSENT:
            continue
        p = np.int64(path[c])
        for group in range(GROUPS.shape[0] - 1):
            list_keys(np.int64(path[p]) if p >= 0 else p, p, c, np.int64(group), work)
        for k in range(N_TEMPLATES):
            row = find(model.features.table, k, work.keys[k, 0], work.keys[k, 1])
            if work.keys[k, 0] >= 0 and row >= 0:
                out[n, 0] = c
                out[n, 1] = row
                n += 1
    return n


def features_of_path(
    model: Reranker, task: LatticeTask, path: np.ndarray, work: RerankWork
) -> np.ndarray:
    """List the known features of one path through the only lattice of a task.

    Parameters
    ----------
    model : Reranker
    task : LatticeTask
    path : ndarray of shape (M,), int32
        As ``LatticeTask.target``.
    work : RerankWork

    Returns
    -------
    ndarray of shape (2, m), int64
        The node that each feature speaks for, and its row.
    """
    out = np.empty((N_TEMPLATES * path.shape[0], 2), np.int64)
    n = list_features(task, path, model, QUIET, work, out)
    return out[:n].T
