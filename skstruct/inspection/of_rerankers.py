"""The parts that make up the score of one path through the lattice of a re-ranker."""

from __future__ import annotations

from dataclasses import replace
from math import fsum, inf

import numpy as np

from ..core.store import READ_ONLY
from ..data.inputs import describe
from ..data.scheme_rules import are_chunks
from ..reranker.epoch import ABSENT, new_work
from ..reranker.lattice import lattices_of, make_task, view_of
from ..reranker.model import choose
from ..reranker.parts import feature_names, parts_of
from .feature_lists import tokens_of, weight_rows
from .lines import segments_of
from .removing import Rows, few_rows, without_rows
from .rendering import Counterfactual, Explanation, TokenExplanation


def explain_reranker(reranker, X, labels=None):
    """See :func:`explaining.explain`; ``X`` holds one sequence."""
    model, base = reranker._model, reranker.base_
    view = view_of(base)
    X = view.check_X(X)
    (nodes,) = lattices_of(view, base, X, reranker.k)
    length = view.lengths(X)
    if not nodes:
        return Explanation([], 0.0, [])
    search = _Search(model, length)
    if labels is None:
        path = search.best(nodes)[0]
    else:
        path = _given(view, X, nodes, labels)
    rows = search.rows(nodes, path)
    score = fsum(rows.value.tolist())
    words = [nodes[c][2] for c in path.tolist()] if view.finds_words else tokens_of(X)
    tokens = [_token(search, nodes, path, rows, c, word, score) for c, word in zip(path.tolist(), words)]
    labels = [token.label for token in tokens]
    return Explanation(labels, score, tokens, _segments(view, base, tokens, labels))


class _Search:
    """The search through lattices of one sequence."""

    def __init__(self, model, length):
        self.model, self.length = model, length

    def task(self, nodes):
        """The arrays that kernels read."""
        return make_task([nodes], self.length, self.model.words, self.model.tags)

    def best(self, nodes, gone=()):
        """(nodes of the best path, its score); some weight rows may be gone."""
        model = self.model
        if len(gone):
            model = replace(model, weights=without_rows(model.weights, gone))
        chosen, scores = choose(model.reranker(), READ_ONLY, self.task(nodes))
        return np.flatnonzero(chosen), float(scores[0])

    def rows(self, nodes, path):
        """The weight rows of a path."""
        before = np.full(len(nodes), ABSENT, np.int32)
        before[path] = np.append(-1, path[:-1])
        task = self.task(nodes)
        at, row = parts_of(self.model.reranker(), task, before, new_work(task))
        return Rows(at, row, weight_rows(self.model.weights, row)[:, 0])


def _token(search, nodes, path, rows, c, word, score):
    """The part of one node of the path."""
    here = rows.at == c
    names = dict(zip(rows.row[here].tolist(), feature_names(search.model, rows.row[here])))
    parts = [(names[row], value) for row, value in zip(rows.row[here].tolist(), rows.value[here].tolist())]
    token = TokenExplanation(word, nodes[c][3], parts, [], None, inf)
    others = _without(nodes, c, int(search.length[0]))
    if others is None:
        return token
    rival, other_score = search.best(others)
    margin = score - other_score
    token = token._replace(runner_up=_instead(nodes[c], [others[k] for k in rival]), margin=margin)
    if margin < 0.0 or search.best(nodes)[0].tolist() != path.tolist():
        return token
    gains = rows.gains(search.rows(others, rival))
    removed = few_rows(
        rows.row[here], gains, margin, lambda gone: c not in search.best(nodes, gone)[0].tolist()
    )
    if removed is None:
        return token
    instead = _instead(nodes[c], [nodes[k] for k in search.best(nodes, removed)[0]])
    return token._replace(counterfactual=Counterfactual(instead, [names[row] for row in removed]))


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
    """The nodes but one, and but those that only it led to; None if no path is left."""
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
    return segments_of(labels) if are_chunks(np.asarray(base.classes_).tolist()) else None
