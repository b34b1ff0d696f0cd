"""What each feature contributes to the score of a path through the lattice of a re-ranker."""

from __future__ import annotations

from math import fsum, inf

import numpy as np

from ..data.inputs import describe
from ..reranker.lattice import lattices_of, make_task, view_of
from ..reranker.reranker_epoch import ABSENT, features_of_path, new_work
from ..reranker.reranker_model import feature_names
from ..taggers.constraints import scheme_of
from .explanations import Explanation, TokenExplanation
from .feature_lists import tokens_of, weight_rows
from .pictures import segment_reader


def explain_reranker(reranker, X, labels=None):
    """See :func:`explaining.explain`; ``X`` holds one sequence."""
    model, base = reranker._model, reranker.base_
    view = view_of(base)
    X = view.check_X(X)
    (nodes,) = lattices_of(view, base, X, reranker.k)
    length = view.lengths(X)
    if not nodes:
        return Explanation([], 0.0, [])
    path = _best(model, nodes, length)[0] if labels is None else _given(view, X, nodes, labels)
    at, row, value = _weights(model, nodes, length, path)
    score = fsum(value.tolist())
    words = [nodes[c][2] for c in path.tolist()] if view.finds_words else tokens_of(X)
    tokens = []
    for c, word in zip(path.tolist(), words):
        names = feature_names(model, row[at == c])
        contributions = list(zip(names, value[at == c].tolist()))
        rival, margin = None, inf
        others = _without(nodes, c, int(length[0]))
        if others is not None:
            best, other_score = _best(model, others, length)
            rival, margin = _instead(nodes[c], [others[k] for k in best]), score - other_score
        tokens.append(TokenExplanation(word, nodes[c][3], contributions, [], rival, margin))
    labels = [token.label for token in tokens]
    return Explanation(labels, score, tokens, _segments(view, base, tokens, labels))


def _best(model, nodes, length):
    """(nodes of the best path, its score)."""
    chosen, scores = model.choose(make_task([nodes], length, model.words, model.tags))
    return np.flatnonzero(chosen), float(scores[0])


def _weights(model, nodes, length, path):
    """(node, weight row, weight) arrays of a path, an entry for each use of a weight."""
    before = np.full(len(nodes), ABSENT, np.int32)
    before[path] = np.append(-1, path[:-1])
    task = make_task([nodes], length, model.words, model.tags)
    at, row = features_of_path(model.reranker(), task, before, new_work(task))
    return at, row, weight_rows(model.weights, row)[:, 0]


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


def _without(nodes, c, length):
    """The nodes without one, and without those that only it leads to; None if no path is left."""
    others, reach = [], {0}
    for k, node in enumerate(nodes):
        if k != c and node[0] in reach:
            others.append(node)
            reach.add(node[1])
    return others if length in reach else None


def _instead(node, path):
    """What another path has in the place of a node: its tag, or words."""
    begin, end, word, _, _ = node
    there = [(w, tag) for a, b, w, tag, _ in path if a < end and b > begin]
    if len(there) == 1 and there[0][0] == word:
        return there[0][1]
    return " ".join(_shown(w, tag) for w, tag in there)


def _shown(word, tag):
    return f"{word}/{tag}" if tag else word


def _segments(view, base, tokens, labels):
    if view.finds_words:
        return [(t, t + 1, token.label or "") for t, token in enumerate(tokens)]
    segments_of = segment_reader(np.asarray(base.classes_).tolist(), scheme_of(base))
    return None if segments_of is None else segments_of(labels)
