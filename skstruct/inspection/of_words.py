"""The parts that make up the score of one segmentation by beam search."""

from __future__ import annotations

from dataclasses import replace
from math import fsum, inf

import numpy as np

from ..core.codes import FREE, INSIDE, START
from ..core.noise import QUIET
from ..data.segmented import as_pieces, as_words
from ..words.boundaries import decisions_of_words, white_space_limits
from ..words.model import make_task
from ..words.parts import parts_of
from ..words.search import new_work
from .feature_lists import weight_rows
from .removing import Rows, few_rows, without_rows
from .rendering import Counterfactual, Explanation, TokenExplanation

END = "(end)"
"""Stands behind the last character."""

_NAMES = {START: "start", INSIDE: "inside"}


def explain_words(segmenter, X, words=None):
    """See :func:`explaining.explain`; the parts of a decision belong to the character before which it is."""
    pieces = as_pieces(X)
    if words is None:
        (words,) = segmenter.predict(X)
    else:
        (words,), tags = as_words(pieces, [words])
        if tags is not None:
            raise ValueError("labels: expected words, got (word, tag) pairs: WordSegmenter knows no tags")
    if not words:
        return Explanation([], 0.0, [], [])
    model, characters = segmenter._model, "".join(words)
    limit = white_space_limits(pieces)
    path = np.append(decisions_of_words([words]), np.int8(START))
    rows = _rows(model, characters, limit, path)
    used = np.unique(rows.row)
    names = dict(zip(used.tolist(), model.named_weights()[0].names(used)))
    parts = [[] for _ in path]
    for i, row, value in zip(rows.at.tolist(), rows.row.tolist(), rows.value.tolist()):
        parts[i].append((names[row], value))
    score = fsum(rows.value.tolist())
    best = _predicted(segmenter, characters, limit)
    rivals = _rivals(segmenter, characters, limit, path)
    labels, tokens = [_NAMES[d] for d in path.tolist()], []
    for i, (token, label, listed) in enumerate(zip([*characters, END], labels, parts)):
        rival, change, margin = None, None, inf
        if i in rivals:
            rival, margin = _NAMES[START + INSIDE - path[i]], score - rivals[i][1]
        if i in rivals and best[i] == path[i]:
            other = _rows(model, characters, limit, rivals[i][0])
            removed = few_rows(
                rows.row[rows.at == i], rows.gains(other), margin,
                lambda gone, i=i: _predicted(segmenter, characters, limit, gone)[i] != path[i],
            )  # fmt: skip
            change = removed and Counterfactual(rival, [names[row] for row in removed])
        tokens.append(TokenExplanation(token, label, listed, [], rival, margin, change))
    ends = np.flatnonzero(path == START).tolist()
    return Explanation(labels, score, tokens, [(a, b, "") for a, b in zip(ends, ends[1:])])


def _rows(model, characters, limit, path):
    """The weight rows of a segmentation."""
    task = make_task([characters], limit)
    at, row, column = parts_of(model.scorer(model.beam), task, path, QUIET, new_work(task, model.beam))
    return Rows(at, row, weight_rows(model.weights, row)[np.arange(row.shape[0]), column])


def _predicted(segmenter, characters, limit, gone=()):
    """The decisions of the best segmentation, (n + 1,) int8; some weight rows may be gone."""
    model = segmenter._model
    if len(gone):
        model = replace(model, weights=without_rows(model.weights, gone))
    words = model.predict([[characters]], limit, None, segmenter._beam())[0]
    return np.append(decisions_of_words(words), np.int8(START))


def _rivals(segmenter, characters, limit, path):
    """The best segmentation with the opposite decision, and its score, by character that leaves a choice."""
    free = np.flatnonzero(limit == FREE).tolist()
    if not free:
        return {}
    flipped = np.tile(limit, len(free))
    at = np.arange(len(free)) * len(characters) + free
    flipped[at] = START + INSIDE - path[free]
    texts, beam = [[characters]] * len(free), segmenter._beam()
    words, scores = segmenter._model.predict(texts, flipped, segmenter.n_jobs, beam)
    paths = (np.append(decisions_of_words([each]), np.int8(START)) for each in words)
    return dict(zip(free, zip(paths, scores.tolist())))
