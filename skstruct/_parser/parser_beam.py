"""Beam search for a projective tree, with equivalent states merged.

Words are read from left to right; SHIFT puts the next word on a stack of trees, LEFT
and RIGHT join its first two trees (arc-standard). A tree of n words takes 2 n - 1
actions; with a root step one more, a RIGHT that makes the last tree a child of the
stack's end, by which the choice of the root is scored.

States with equal features have equal futures, so of several only the best is kept
(Huang and Sagae 2010). What lies below the first tree is then not one stack but
several: a state remembers *predictors*, the states before the first word of its first
tree was read. A reduction joins a state q with each of its predictors p, which is what
makes it a dynamic program:

    SHIFT   c' = c(q) + λ_SHIFT(q)                                 v' = 0
    LEFT    c' = c(p) + v(q) + δ,  δ = λ_SHIFT(p) + λ_LEFT(q)      v' = v(p) + v(q) + δ

c is the score of all actions so far, v of those that built the first tree but for the
shift of its first word; λ_a(q) is the score of action a in state q. The step and the
words read give the height of the stack.

Letters: n words, B beam, ℓ step, M states, p and q states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._core.codes import EARLY
from .._core.compile import inline, spliced
from .._core.hashing import mix64
from .._core.rules import Difference, new_difference
from .arc_labels import label_of, label_reductions
from .dependency_trees import LEFT, RIGHT, SHIFT
from .state_features import (
    MOST_FIELDS,
    Lookup,
    ScoreCache,
    new_cache,
    new_lookup,
    score,
)
from .states import (
    FIRST_WORD,
    N_ACTIONS,
    N_ARC,
    N_FIELDS,
    J,
    describe_reduction,
    start_state,
    successor,
)

if TYPE_CHECKING:
    from .._core.rules import Adjustment
    from .state_features import ParseModel
    from .states import Int

REMEMBERED = 2**11
"""Slots for what was computed before in the same sentence."""


class ParseTask(NamedTuple):
    """Sentences as integers; n sentences, N words, A attributes. Read-only."""

    token: np.ndarray  # (n + 1,) int64: first word of each sentence
    atoms: np.ndarray  # (A, N) int32: ids from SPECIAL on; -1: unknown
    # Rows behind the first (tags) that say something about forms; dropout hides these.
    n_forms: int
    # (2 N,) int8: the right actions; those of a sentence start at twice its first word.
    action: np.ndarray
    # (N,) int32: the right heads, 1-based; empty in prediction, as actions and labels.
    head: np.ndarray
    label: np.ndarray  # (N,) int32: the right labels, -1 for not known
    weight: np.ndarray  # (n,) float64: weight of each sentence


class States(NamedTuple):
    """The states of a search, in order of creation; those of a step are neighbours,
    best first.
    """

    row: np.ndarray  # (M, N_FIELDS + 1) int32
    score: np.ndarray  # (M,) float64: c
    inside: np.ndarray  # (M,) float64: v
    gain: np.ndarray  # (M, N_ACTIONS) float64: λ_a
    # (M, N_ACTIONS) int32: that of each reduction, if the search chooses labels.
    label: np.ndarray
    action: np.ndarray  # (M,) int8: what led here
    left: np.ndarray  # (M,) int32: p, of a shifted state the state before
    right: np.ndarray  # (M,) int32: q, -1 for a shifted state
    first: np.ndarray  # (M,) int32: the first link of its list of predictors
    last: np.ndarray  # (M,) int32: the last, of a shifted state
    linked: np.ndarray  # (M,) int32: predictor in a link
    link: np.ndarray  # (M,) int32: the next link, -1 at the end


class Candidates(NamedTuple):
    """Successors of the states of a step; room for all."""

    score: np.ndarray  # (Q,) float64: c
    inside: np.ndarray  # (Q,) float64: v
    action: np.ndarray  # (Q,) int8
    left: np.ndarray  # (Q,) int32: p
    right: np.ndarray  # (Q,) int32: q
    heap: np.ndarray  # (Q,) int32: candidates, the best on top


class ParseWork(NamedTuple):
    """Scratch for sentences of up to n words; belongs to one thread."""

    look: Lookup  # for states and for arcs
    states: States
    candidates: Candidates
    kept: np.ndarray  # (S,) int32: states of the step by hash, -1 where empty
    begin: np.ndarray  # (2 n + 2,) int32: first state of each step
    # (2 n + 1,) int32: the right state of each step, -1 if it is lost.
    alive: np.ndarray
    stack: np.ndarray  # (2 n + 2,) int32: of states or steps
    # (2, 2 n + 1, N_FIELDS + 1) int32: states along right and along predicted actions.
    replay: np.ndarray
    path: np.ndarray  # (2 n,) int8: predicted actions
    # (2 n,) int32: their labels, if they are part of the search.
    path_label: np.ndarray
    gold_label: np.ndarray  # (2 n,) int32: the labels of the right actions
    head: np.ndarray  # (n,) int32: predicted heads
    scores: ScoreCache  # of states: by group of templates what actions score
    pairs: ScoreCache  # of arcs: by group of templates what labels score
    around: np.ndarray  # (7, n + 1) int32: children and siblings, see `arc_labels`
    arc: np.ndarray  # (F,) int32: fields of an arc
    total: np.ndarray  # (L,) float64: scores of labels
    difference: Difference  # of actions
    label_difference: Difference
    # (3,) float64: updates, wrong words, loss since it was last cleared.
    stats: np.ndarray


def new_work(task: ParseTask, model: ParseModel, training: bool = True) -> ParseWork:
    """Make scratch that fits every sentence of ``task``.

    Without ``training`` there is no room for what an example teaches.
    """
    n = int(np.diff(task.token).max(initial=1))
    B = model.beam
    most = 2 * n * B + 2
    successors = B * (1 + 2 * B)
    K = model.templates.slot.shape[0]
    arcs = model.arcs.slot.shape[0]
    n_labels = model.symbol.shape[0]
    slots, labels = (REMEMBERED, most) if model.joint else (1, 1)

    entries = label_entries = 0
    if training:
        entries = 4 * n * K
        label_entries = (4 if model.joint else 2) * n * arcs if n_labels else 0
    return ParseWork(
        look=new_lookup(n, task.atoms.shape[0], model.templates, model.arcs),
        states=_new_states(most, labels),
        candidates=_new_candidates(successors),
        kept=np.full(1 << int(4 * B - 1).bit_length(), -1, np.int32),
        begin=np.zeros(2 * n + 2, np.int32),
        alive=np.zeros(2 * n + 1, np.int32),
        stack=np.zeros(2 * n + 2, np.int32),
        replay=np.zeros((2, 2 * n + 1, N_FIELDS + 1), np.int32),
        path=np.zeros(2 * n, np.int8),
        path_label=np.zeros(2 * n, np.int32),
        gold_label=np.zeros(2 * n, np.int32),
        head=np.zeros(n, np.int32),
        scores=new_cache(slots, MOST_FIELDS, N_ACTIONS),
        pairs=new_cache(slots, MOST_FIELDS, max(n_labels, 1)),
        around=np.zeros((7, n + 1), np.int32),
        arc=np.zeros(N_ARC, np.int32),
        total=np.zeros(max(n_labels, 1)),
        difference=new_difference(entries),
        label_difference=new_difference(label_entries),
        stats=np.zeros(3),
    )


def _new_states(most: int, labels: int) -> States:
    """Make room for so many states, and for the labels of so many."""
    return States(
        row=np.zeros((most, N_FIELDS + 1), np.int32),
        score=np.zeros(most),
        inside=np.zeros(most),
        gain=np.zeros((most, N_ACTIONS)),
        label=np.zeros((labels, N_ACTIONS), np.int32),
        action=np.zeros(most, np.int8),
        left=np.zeros(most, np.int32),
        right=np.zeros(most, np.int32),
        first=np.zeros(most, np.int32),
        last=np.zeros(most, np.int32),
        linked=np.zeros(most, np.int32),
        link=np.zeros(most, np.int32),
    )


def _new_candidates(most: int) -> Candidates:
    """Make room for so many candidates."""
    return Candidates(
        score=np.zeros(most),
        inside=np.zeros(most),
        action=np.zeros(most, np.int8),
        left=np.zeros(most, np.int32),
        right=np.zeros(most, np.int32),
        heap=np.zeros(most, np.int32),
    )


# --------------------------------------------------------------------------------------
# Candidates, best first: by score, then by the score of the first tree, then in order
# of creation
# --------------------------------------------------------------------------------------
@inline
def _before(candidates: Candidates, a: int, b: int) -> bool:
    if candidates.score[a] != candidates.score[b]:
        return candidates.score[a] > candidates.score[b]
    if candidates.inside[a] != candidates.inside[b]:
        return candidates.inside[a] > candidates.inside[b]
    return a < b


@inline
def _sift(candidates: Candidates, at: Int, size: Int) -> None:
    """Let the candidate at a place of the heap sink to where it belongs."""
    heap = candidates.heap
    item = heap[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _before(candidates, heap[child + 1], heap[child]):
            child += 1
        if not _before(candidates, heap[child], item):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = item


@spliced
def _add(
    candidates: Candidates,
    k: Int,
    score: float,
    inside: float,
    action: Int,
    left: Int,
    right: Int,
) -> None:
    candidates.score[k] = score
    candidates.inside[k] = inside
    candidates.action[k] = action
    candidates.left[k] = left
    candidates.right[k] = right
    candidates.heap[k] = k


@spliced
def _expand(
    states: States, begin: Int, end: Int, step: Int, n: Int, candidates: Candidates
) -> Int:
    """List all successors of the states of a step; returns their number."""
    k = np.int64(0)  # as in search
    for q in range(begin, end):
        read = states.row[q, J] - FIRST_WORD
        if read < n:
            _add(
                candidates,
                k,
                states.score[q] + states.gain[q, SHIFT],
                0.0,
                SHIFT,
                q,
                -1,
            )
            k += 1
        height = 2 * read - step
        if height >= 2 or step == 2 * n - 1:
            link = states.first[q]
            while link >= 0:
                p = states.linked[link]
                for action in range(LEFT if height >= 2 else RIGHT, N_ACTIONS):
                    gain = (
                        states.gain[p, SHIFT]
                        + states.gain[q, action]
                        + states.inside[q]
                    )
                    _add(
                        candidates,
                        k,
                        states.score[p] + gain,
                        states.inside[p] + gain,
                        action,
                        p,
                        q,
                    )
                    k += 1
                link = states.link[link]
    return k


@spliced
def slot_of(kept: np.ndarray, states: States, x: Int) -> Int:
    """Return the slot of the kept state that is equivalent to x, or the empty one where
    x belongs.
    """
    mask = kept.shape[0] - 1
    h = np.uint64(0)
    for f in range(N_FIELDS):
        h = h * np.uint64(0x9E3779B97F4A7C15) + np.uint64(states.row[x, f])
    s = np.int64(mix64(h)) & mask
    while kept[s] >= 0:
        y = kept[s]
        f = 0
        while f < N_FIELDS and states.row[x, f] == states.row[y, f]:
            f += 1
        if f == N_FIELDS:
            return s
        s = (s + 1) & mask
    return s


@inline
def _keep(
    model: ParseModel,
    states: States,
    candidates: Candidates,
    k: Int,
    begin: Int,
    n_links: Int,
    kept: np.ndarray,
) -> tuple[Int, Int]:
    """Turn the best of k candidates into the states of the next step, ``begin`` and
    following.

    Returns (end of the step, links in use).
    """
    B = model.beam
    for at in range(k // 2 - 1, -1, -1):
        _sift(candidates, at, k)
    x = begin
    while k > 0 and x < begin + B:
        best = candidates.heap[0]
        k -= 1
        candidates.heap[0] = candidates.heap[k]
        _sift(candidates, np.int64(0), k)
        action = candidates.action[best]
        p = candidates.left[best]
        q = candidates.right[best]
        source = p if action == SHIFT else q
        labelled = model.joint and action != SHIFT
        label = model.symbol[states.label[q, action]] if labelled else np.int32(0)
        successor(
            action,
            label,
            states.row[p],
            states.row[source],
            model.tracked,
            states.row[x],
        )
        y = np.int32(x)  # the state that it becomes, or that it is equivalent to
        if model.merge:
            s = slot_of(kept, states, x)
            y = kept[s] if kept[s] >= 0 else y
            kept[s] = y
        if y == x:
            states.score[x] = candidates.score[best]
            states.inside[x] = candidates.inside[best]
            states.action[x] = action
            states.left[x] = p
            states.right[x] = q
            states.first[x] = n_links if action == SHIFT else states.first[p]
            x += 1
        elif action == SHIFT:  # one more stack below
            states.link[states.last[y]] = n_links
        if action == SHIFT:
            states.last[y] = n_links
            states.linked[n_links] = p
            states.link[n_links] = -1
            n_links += 1
    if model.merge:
        kept[:] = -1
    return x, n_links


@inline
def n_actions(n: Int, model: ParseModel) -> Int:
    """Return how many actions build a tree of n words."""
    return 2 * n if model.root_step else 2 * n - 1


@spliced
def _begin(states: States, work: ParseWork) -> None:
    """Make the state before the first word the only one, and the right one."""
    start_state(states.row[0])
    states.score[0] = states.inside[0] = 0.0
    states.left[0] = states.right[0] = states.first[0] = states.last[0] = -1
    work.begin[0] = 0
    work.begin[1] = 1
    work.alive[0] = 0


@spliced
def _score_states(
    states: States,
    begin: Int,
    end: Int,
    step: Int,
    model: ParseModel,
    adjustment: Adjustment | None,
    work: ParseWork,
) -> None:
    """Score the actions in the states of a step, with the labels that they choose."""
    for x in range(begin, end):
        row = states.row[x]
        gain = states.gain[x]
        score(
            model.templates,
            model.state_features,
            work.scores,
            row,
            adjustment,
            work.look,
            gain,
        )
        if model.joint and 2 * (row[J] - FIRST_WORD) - step >= 2:
            label_reductions(states, x, model, adjustment, work)
        elif model.joint:
            states.label[x, RIGHT] = 0  # that of a root step, which has none


@spliced
def _find_right(
    states: States,
    begin: Int,
    end: Int,
    p: Int,
    q: Int,
    gold: np.ndarray,
    step: Int,
    model: ParseModel,
    work: ParseWork,
) -> Int:
    """Return the state of a step that the right action leads to from p and q, or -1 if
    the beam has lost it, or its label is wrong.
    """
    found: Int = np.int64(-1)
    for x in range(begin, end):
        if (
            states.action[x] == gold[step]
            and states.left[x] == p
            and states.right[x] == q
        ):
            found = x
    if found >= 0 and model.joint and gold[step] != SHIFT:
        if states.label[q, gold[step]] != work.gold_label[step]:
            found = -1
    return found


@inline
def search(
    n: Int,
    gold: np.ndarray,
    model: ParseModel,
    adjustment: Adjustment | None,
    work: ParseWork,
) -> tuple[Int, Int, bool]:
    """Search the sentence of n words in ``work.look``.

    Parameters
    ----------
    gold : (2 n - 1,) int8, with a root step (2 n,)
        The right actions; empty in prediction. With early update the search stops when
        their state is lost.

    Returns
    -------
    m : int
        Actions made.
    best : int
        The best state then.
    lost : bool
        Whether it is not the right one.
    """
    states = work.states
    candidates = work.candidates
    _begin(states, work)
    tracked = gold.shape[0] > 0
    # One type throughout: helpers are compiled once.
    right: Int = np.int64(0)
    depth = np.int64(0)
    n_links: Int = np.int64(0)
    begin: Int = np.int64(0)
    end: Int = np.int64(1)
    steps = n_actions(n, model)
    for step in range(steps):
        _score_states(states, begin, end, step, model, adjustment, work)
        k = _expand(states, begin, end, step, n, candidates)
        begin = end
        end, n_links = _keep(model, states, candidates, k, begin, n_links, work.kept)
        work.begin[step + 1] = begin
        work.begin[step + 2] = end
        if tracked:
            p: Int = right
            q: Int = np.int64(-1)
            found: Int = np.int64(-1)
            if right >= 0:
                if gold[step] == SHIFT:
                    work.stack[depth] = right
                    depth += 1
                else:
                    depth -= 1
                    p = work.stack[depth]
                    q = right
                found = _find_right(states, begin, end, p, q, gold, step, model, work)
            right = found
            work.alive[step + 1] = right
            if right < 0 and model.update == EARLY:
                return step + 1, begin, True
    return steps, begin, right != begin


@inline
def worst_step(
    gold: np.ndarray,
    n: Int,
    model: ParseModel,
    adjustment: Adjustment | None,
    work: ParseWork,
) -> tuple[Int, Int]:
    """Find the step at which the right prefix falls back most: max-violation (Huang,
    Fayong and Guo 2012).

    Returns (m, the best state after m actions); m is 0 if the best state is the right
    one throughout.
    """
    states = work.states
    rows = work.replay[0]
    total = work.states.gain[work.states.gain.shape[0] - 1]
    right = 0.0
    worst = -np.inf
    m = 0
    best = 0
    for step in range(gold.shape[0]):
        row = rows[step]
        score(
            model.templates,
            model.state_features,
            work.scores,
            row,
            adjustment,
            work.look,
            total,
        )
        right += total[gold[step]]
        if model.joint and gold[step] != SHIFT and step < 2 * n - 1:
            describe_reduction(np.int64(gold[step]), row, work.arc)
            label_of(model, adjustment, work)
            right += work.total[work.gold_label[step]]
        x = work.begin[step + 1]
        if x != work.alive[step + 1] and states.score[x] - right >= worst:
            worst = states.score[x] - right
            m = step + 1
            best = x
    return m, best
