"""The parts that make up the score of one segmentation by beam search."""

from __future__ import annotations

from math import fsum, inf

import numpy as np

from ..core.codes import FREE, INSIDE, START
from ..core.noise import QUIET
from ..data.segmented import as_pieces, as_words
from ..words.boundaries import decisions_of_words, white_space_limits
from ..words.keys import feature_names, features
from ..words.model import make_task
from ..words.parts import parts_of
from ..words.search import new_work
from .feature_lists import weight_rows
from .rendering import Explanation, TokenExplanation

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
    parts = _parts(model, characters, limit, path)
    score = fsum(value for listed in parts for _, value in listed)
    margins = _margins(segmenter, characters, limit, path, score)
    labels = [_NAMES[d] for d in path.tolist()]
    tokens = [
        TokenExplanation(token, label, listed, [], _other(label, margin), margin)
        for token, label, listed, margin in zip([*characters, END], labels, parts, margins)
    ]
    ends = np.flatnonzero(path == START).tolist()
    return Explanation(labels, score, tokens, [(a, b, "") for a, b in zip(ends, ends[1:])])


def _parts(model, characters, limit, path):
    """(name, contribution) of the features of each decision."""
    task = make_task([characters], limit)
    decision, row, column = parts_of(model.scorer(model.beam), task, path, QUIET, new_work(task, model.beam))
    names = _names(model, row)
    values = weight_rows(model.weights, row)[np.arange(row.shape[0]), column]
    listed = [[] for _ in path]
    for i, name, value in zip(decision.tolist(), names, values.tolist()):
        listed[i].append((name, value))
    return listed


def _names(model, rows):
    all_names = feature_names(model.templates, features(model.templates, model.keys()))
    return [all_names[row] for row in rows.tolist()]


def _margins(segmenter, characters, limit, path, score):
    """By how much the best segmentation with the opposite decision falls behind; inf if none is possible."""
    free = np.flatnonzero(limit == FREE)
    margins = np.full(path.shape[0], inf)
    if free.shape[0]:
        flipped = np.tile(limit, free.shape[0])
        at = np.arange(free.shape[0]) * len(characters) + free
        flipped[at] = np.where(path[free] == START, INSIDE, START)
        beam = segmenter.beam_size or 0
        texts = [[characters]] * free.shape[0]
        margins[free] = score - segmenter._model.predict(texts, flipped, segmenter.n_jobs, beam)[1]
    return margins.tolist()


def _other(label, margin):
    return None if margin == inf else "inside" if label == "start" else "start"
