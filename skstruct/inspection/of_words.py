"""What each feature contributes to the score of a segmentation by beam search."""

from __future__ import annotations

from math import fsum, inf

import numpy as np

from ..core.codes import INSIDE, START
from ..data.segmented import as_pieces, as_words
from ..words.boundaries import decisions_of_words, white_space_limits
from ..words.word_beam import new_work
from ..words.word_model import make_task
from ..words.word_paths import features_of_path, rival_scores
from .explanations import Explanation, TokenExplanation
from .feature_lists import weight_rows
from .pictures import END

_NAMES = {START: "start", INSIDE: "inside"}


def explain_words(segmenter, X, words=None):
    """See :func:`explaining.explain`; a decision is listed with the character before which it is taken."""
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
    at, row, value = _weights(model, characters, limit, path)
    used = np.unique(row)
    names = dict(zip(used.tolist(), model.named_weights()[0].names(used)))
    contributions = [[] for _ in path]
    for i, r, x in zip(at.tolist(), row.tolist(), value.tolist()):
        contributions[i].append((names[r], x))
    score = fsum(value.tolist())
    rivals, _ = rival_scores(model.scorer(segmenter._beam()), make_task([characters], limit), path)
    labels, tokens = [_NAMES[d] for d in path.tolist()], []
    for i, (token, label, listed) in enumerate(zip([*characters, END], labels, contributions)):
        rival, margin = None, inf
        if i in rivals:
            rival, margin = _NAMES[START + INSIDE - path[i]], score - rivals[i]
        tokens.append(TokenExplanation(token, label, listed, [], rival, margin))
    ends = np.flatnonzero(path == START).tolist()
    return Explanation(labels, score, tokens, [(a, b, "") for a, b in zip(ends, ends[1:])])


def _weights(model, characters, limit, path):
    """(decision, weight row, weight) arrays of a segmentation, an entry for each use of a weight."""
    task = make_task([characters], limit)
    at, row, column = features_of_path(model.scorer(model.beam), task, path, new_work(task, model.beam))
    return at, row, weight_rows(model.weights, row)[np.arange(row.shape[0]), column]
