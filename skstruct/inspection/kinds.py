"""What a corpus is made of: labelled tokens, texts of words or of spans, or trees."""

from __future__ import annotations

import numpy as np

from ..data.inputs import LABELS, SPANS, TREES, WORDS, as_tokens
from ..data.matrix import SequenceMatrix

__all__ = ["LABELS", "SPANS", "TREES", "WORDS", "kind_of", "tokens_shown"]


def kind_of(X, y):
    """Whether ``y`` holds labels, words, spans or trees.

    Texts are str, and have words, or (word, tag) pairs; or spans, which may all be missing. Trees are
    (head, label) pairs; or heads alone if tokens are tuples and every sequence of ints is a tree.
    """
    if hasattr(X, "__len__") and len(X) and all(isinstance(x, str) for x in X):
        items = [item for each in y for item in each]
        spelled = items or not any(x.strip() for x in X)
        words = all(isinstance(item, str) or len(item) == 2 for item in items[:1])
        return WORDS if spelled and words else SPANS
    tokens = [item for sequence in y for item in sequence]
    if not tokens:
        return LABELS
    if all(isinstance(item, (tuple, list)) and len(item) == 2 and _is_int(item[0]) for item in tokens):
        return TREES
    if all(map(_is_int, tokens)) and all(isinstance(token, tuple) for x in X for token in x):
        return TREES if all(map(_is_tree, y)) else LABELS
    return LABELS


def _is_int(value):
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _is_tree(heads):
    """Whether each token hangs, over others, on the root."""
    heads = [int(head) for head in heads]
    for t in range(1, len(heads) + 1):
        steps = 0
        while t and steps <= len(heads):
            if not 0 <= t <= len(heads):
                return False
            t, steps = heads[t - 1], steps + 1
        if t:
            return False
    return True


def tokens_shown(X):
    """The sequences of ``X`` as lists of tokens; rows of numbers are shown by their position."""
    X = as_tokens(X)
    if isinstance(X, SequenceMatrix):
        return [[str(t) for t in range(n)] for n in X.lengths.tolist()]
    return [list(sequence) for sequence in X]
