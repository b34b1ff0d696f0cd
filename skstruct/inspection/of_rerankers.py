"""The parts that make up the score of one path through the lattice of a re-ranker."""

from __future__ import annotations

from math import fsum, inf

import numpy as np

from ..core.store import READ_ONLY
from ..data.inputs import describe
from ..reranker.epoch import ABSENT, new_work
from ..reranker.lattice import lattices_of, make_task, paths, view_of
from ..reranker.model import choose
from ..reranker.parts import feature_names, parts_of
from .feature_lists import tokens_of, weight_rows
from .lines import are_chunks, segments_of
from .rendering import Explanation, TokenExplanation


def explain_reranker(reranker, X, labels=None):
    """See :func:`explaining.explain`; ``X`` holds one sequence."""
    model, base = reranker._model, reranker.base_
    view = view_of(base)
    X = view.check_X(X)
    (nodes,) = lattices_of(view, base, X, reranker.k)
    length = view.lengths(X)
    if not nodes:
        return Explanation([], 0.0, [])
    kernel_model = model.reranker()
    if labels is None:
        chosen = choose(kernel_model, READ_ONLY, make_task([nodes], length, model.words, model.tags))[0]
        path = np.flatnonzero(chosen)
    else:
        path = _given(view, X, nodes, labels)
    before = np.full(len(nodes), ABSENT, np.int32)
    before[path] = np.append(-1, path[:-1])
    task = make_task([nodes], length, model.words, model.tags)
    at, row = parts_of(kernel_model, task, before, new_work(task))
    listed = {int(c): [] for c in path}
    values = weight_rows(model.weights, row)[:, 0].tolist()
    for c, name, value in zip(at.tolist(), feature_names(model, row), values):
        listed[c].append((name, value))
    score = fsum(value for parts in listed.values() for _, value in parts)
    words = [nodes[c][2] for c in path.tolist()]
    if hasattr(base, "predict_kbest"):
        words = tokens_of(X)
    tokens = []
    for word, c in zip(words, path.tolist()):
        rival, margin = _without(kernel_model, model, nodes, length, c, score)
        tokens.append(TokenExplanation(word, nodes[c][3], listed[c], [], rival, margin))
    labels = [token.label for token in tokens]
    return Explanation(labels, score, tokens, _segments(base, tokens, labels))


def _given(view, X, nodes, labels):
    """The nodes of a path."""
    X, y = view.check(X, [labels])
    place = {node[:4]: c for c, node in enumerate(nodes)}
    (items,) = view.gold(X, y)
    missing = next((item for item in items if item not in place), None)
    if missing is not None:
        what = missing[3] if missing[2] is None else (missing[2], missing[3])
        raise ValueError(f"labels: position {missing[0]}: {describe(what)} is not in the lattice of the base")
    return np.array([place[item] for item in items])


def _without(kernel_model, model, nodes, length, c, score):
    """What the best path without a node has in its place, and by how much it falls behind."""
    begin, end = nodes[c][:2]
    others, reach = [], {0}
    for k, node in enumerate(nodes):
        if k != c and node[0] in reach:
            others.append(node)
            reach.add(node[1])
    if int(length[0]) not in reach:
        return None, inf
    task = make_task([others], length, model.words, model.tags)
    chosen, scores = choose(kernel_model, READ_ONLY, task)
    (items,) = paths([others], chosen)
    there = [(word, tag) for a, b, word, tag in items if a < end and b > begin]
    shown = [tag for _, tag in there] if nodes[c][2] is None else [_shown(word, tag) for word, tag in there]
    if len(there) == 1 and there[0][0] == nodes[c][2]:
        return there[0][1], score - float(scores[0])
    return " ".join(map(str, shown)), score - float(scores[0])


def _shown(word, tag):
    return f"{word}/{tag}" if tag else word


def _segments(base, tokens, labels):
    if hasattr(base, "predict_kbest"):
        return segments_of(labels) if are_chunks(np.asarray(base.classes_).tolist()) else None
    return [(t, t + 1, token.label or "") for t, token in enumerate(tokens)]
