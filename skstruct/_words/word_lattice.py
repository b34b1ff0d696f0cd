"""From the k best analyses of a base model to lattices of nodes, and back to what the
base predicts.

A *view* says what the base's sequences are made of: a :class:`TextView` of words of a
text (base: ``Segmenter`` or ``WordSegmenter``), a :class:`TokenView` of tokens with
labels (base: a tagger). Each turns sequences into *candidates*: for each sequence a
list of (score, items), best first, where an item is (begin, end, word, tag) in
characters, or tokens. :func:`make_task` makes lattices.
"""

from functools import partial
from math import log

import numpy as np

from .._data.elements import spelled
from .._data.inputs import (
    as_tokens,
    check_X_y,
    describe,
    lengths_of,
    offsets_of,
    renumbered,
)
from .._data.labels import SEVERAL
from .._data.segmented import as_pieces, as_words, with_characters, word_spans
from .._sklearn import safe_indexing
from ..metrics import token_accuracy_score
from ..metrics.text_scores import word_f1_score
from .reranker_epoch import ABSENT, HALF, LatticeTask

BLOCK = 500
"""Sequences whose candidates are listed at a time: bounds memory."""

RIGHT = 3
RIGHT_SPAN = 1
"""How right a node is: span and tag, or the span alone."""


def bucket(margin):
    """⌊2 ln(2 m + 1)⌋: the bucket of a margin m >= 0.

    Differs from the lattice re-ranker that :mod:`.reranker_epoch` names, which has half
    as many buckets.
    """
    return min(int(2.0 * log(2.0 * max(margin, 0.0) + 1.0)), HALF - 2)


# --------------------------------------------------------------------------------------
# Views
# --------------------------------------------------------------------------------------
class _View:
    """What both views have; ``items(X)`` lists the functions that make items of
    analyses.
    """

    def gold(self, X, y):
        """The right items of each sequence."""
        return [items(analysis) for items, analysis in zip(self.items(X), y)]

    def candidates(self, base, X, k):
        """(score, items) of the k best analyses of each sequence, none of which is
        empty.
        """
        return [
            [(score, items(analysis)) for analysis, score in ranked]
            for items, ranked in zip(self.items(X), base.predict_kbest(X, k))
        ]


class TextView(_View):
    """Texts of words, or of words with tags; the base finds words."""

    finds_words = True
    """Whether items are words that the base finds, or tokens that are given."""

    def check(self, X, y):
        """(X, y) as lists, y as lists of words or of (word, tag)."""
        pieces = as_pieces(X)
        words, tags = as_words(pieces, y)
        gold = words if tags is None else [zip(w, t) for w, t in zip(words, tags)]
        with_characters(pieces)
        return self.check_X(X), list(map(list, gold))

    def check_X(self, X):
        """X as a list of texts."""
        return [" ".join(parts) for parts in as_pieces(X)]

    def lengths(self, X):
        """Characters of each text, without white space."""
        return np.array([sum(map(len, text.split())) for text in X], np.int64)

    def items(self, X):
        """For each text the function that makes items of its words."""
        return [word_spans] * len(X)

    def tags(self, base):
        """The tags of words that a fitted base knows; that of words without tags is
        empty.
        """
        tagger = getattr(getattr(base, "estimator_", base), "tagger_", None)
        if tagger is None:
            return {""}
        return {
            spelled(label).partition("-")[2]
            for label in getattr(tagger, "classes_", ())
        }

    def decode(self, base, items):
        """What the base predicts for a path."""
        tagged = getattr(getattr(base, "estimator_", base), "tagged_", False)
        return [(word, tag) if tagged else word for _, _, word, tag in items]

    def score(self, y, predicted, sample_weight):
        """F1 of the words; of words with their tags if both sides have tags."""
        return word_f1_score(y, predicted, sample_weight=sample_weight)


class TokenView(_View):
    """Sequences of tokens with a label each; the base is a tagger."""

    finds_words = False

    def check(self, X, y):
        """(X, y) as lists."""
        X, y, _ = check_X_y(X, y, read=as_tokens)
        return X, list(y)

    def check_X(self, X):
        """X as a list of sequences."""
        return as_tokens(X)

    def lengths(self, X):
        """Tokens of each sequence."""
        return X.lengths

    def items(self, X):
        """For each sequence the function that makes items of its labels."""
        return [partial(_labelled, sequence) for sequence in X.lists()]

    def tags(self, base):
        """The labels that a fitted base knows."""
        return set(np.asarray(base.classes_).tolist())

    def decode(self, base, items):
        """What the base predicts for a path."""
        return [tag for _, _, _, tag in items]

    def score(self, y, predicted, sample_weight):
        """Token accuracy, over the tokens whose label is given."""
        return token_accuracy_score(y, predicted, sample_weight)


def _labelled(sequence, labels):
    """Items of a sequence of tokens; the word of a token is its first column, of other
    tokens none.

    The tag is None where no label is given.
    """
    words = [None] * len(labels)
    if isinstance(sequence, (list, tuple)):
        words = [
            t if isinstance(t, str) else t[0] if isinstance(t, tuple) else None
            for t in sequence
        ]
    return [
        (t, t + 1, word, label) for t, (word, label) in enumerate(zip(words, labels))
    ]


def view_of(base):
    """The view that suits a base estimator.

    Raises
    ------
    ValueError
        If the base is nothing that has k best analyses.
    """
    if hasattr(base, "predict_kbest"):
        if getattr(base, "accepts_allowed", False):  # not a parser
            return TokenView()
        if getattr(base, "accepts_dictionary", False):
            return TextView()
    elif hasattr(base, "tagger"):
        kind = type(base).__name__
        tagger = type(base.tagger).__name__
        raise ValueError(
            f"base: the tagger of the {kind}, a {tagger}, has no predict_kbest"
        )
    wrong = f"base must be a Segmenter, a WordSegmenter or a tagger with predict_kbest, got {describe(base)}"
    raise ValueError(wrong)


# --------------------------------------------------------------------------------------
# Lattices
# --------------------------------------------------------------------------------------
def lattice(candidates):
    """The nodes of one sequence: (begin, end, word, tag, margin), sorted by begin, then
    by rank.
    """
    nodes = {}
    for score, items in candidates:
        for item in items:
            if item not in nodes:
                nodes[item] = candidates[0][0] - score
    return sorted(
        ((*item, margin) for item, margin in nodes.items()), key=lambda node: node[0]
    )


def lattices_of(view, base, X, k):
    """The lattice of each sequence; [] for an empty one."""
    filled = np.flatnonzero(view.lengths(X)).tolist()
    found = [[] for _ in range(len(X))]
    for start in range(0, len(filled), BLOCK):
        block = filled[start : start + BLOCK]
        with renumbered(block):
            ranked = view.candidates(base, safe_indexing(X, block), k)
        for i, candidates in zip(block, ranked):
            found[i] = lattice(candidates)
    return found


def _ids(values, known, grow):
    """Ids from 1 on; new values are numbered if ``grow``, else -1. None has no id."""
    if grow:
        for value in (value for value in values if value is not None):
            known.setdefault(value, len(known) + 1)
    return np.array([known.get(value, -1) for value in values], np.int32)


def make_task(lattices, lengths, words, tags, gold=None, weight=None):
    """The arrays that kernels read; with ``gold``, words and tags grow, and targets are
    found.

    Parameters
    ----------
    lattices : list of lists of nodes
    lengths : ndarray of shape (n,)
        Tokens or characters of each sequence.
    words, tags : dict
        Ids by value.
    gold : list of lists of items, optional
    weight : ndarray of shape (n,), optional
    """
    left = []
    into = [0]
    arc = [0]
    right = []
    target = []
    grow = gold is not None
    for i, nodes in enumerate(lattices):
        ending = {0: [(0.0, -1)]}
        before = []
        for j, (begin, end, _, _, margin) in enumerate(nodes):
            before.append(
                [p for _, p in sorted(ending[begin])]
            )  # nodes that end where this one begins
            left += before[-1]
            into.append(len(left))
            ending.setdefault(end, []).append((margin, j))
        arc.append(len(left))
        if grow:
            found = list(_rightness(nodes, gold[i]))
            right += found
            target += _target(found, before, [p for _, p in ending.get(lengths[i], ())])
    flat = [node for nodes in lattices for node in nodes]
    begin, end, word, tag, margin = zip(*flat) if flat else ((),) * 5
    task = LatticeTask(
        token=offsets_of(np.asarray(lengths)),
        node=offsets_of(lengths_of(lattices)),
        arc=np.array(arc, np.int64),
        begin=np.array(begin, np.int32),
        end=np.array(end, np.int32),
        word=_ids(word, words, grow),
        tag=_ids(tag, tags, grow),
        margin=np.array([bucket(m) for m in margin], np.int32),
        right=np.array(right, np.int32),
        left=np.array(left, np.int32),
        into=np.array(into, np.int64),
        weight=np.ones(len(lattices)) if weight is None else weight,
        target=np.array(target, np.int32),
    )
    if grow and len(tags) >= HALF - 1:
        raise ValueError(
            f"y: at most {HALF - 2} different tags can be re-ranked, got {len(tags)}"
        )
    return task


def _rightness(nodes, items):
    tags = {(begin, end): tag for begin, end, _, tag in items}
    for begin, end, _, tag, _ in nodes:
        if (begin, end) not in tags:
            yield 0
        else:
            true = tags[begin, end]
            fits = (
                tag in true
                if isinstance(true, SEVERAL)
                else true is None or true == tag
            )
            yield RIGHT if fits else RIGHT_SPAN


def _target(right, before, ends):
    """The path to learn: the one whose nodes are right most; see
    ``LatticeTask.target``.

    Ties go to fewer nodes, then to smaller margins. ``before`` are the nodes before
    each one, sorted by margin; ``ends`` are those at the end of the sequence.
    """
    value = {-1: 0}
    back = {}
    target = [ABSENT] * len(right)
    for j, some in enumerate(before):
        back[j] = max(some, key=value.__getitem__)
        value[j] = value[back[j]] + right[j] * 65536 - 1
    j = max(ends, key=value.__getitem__, default=-1)
    while j >= 0:
        target[j] = back[j]
        j = back[j]
    return target


def paths(lattices, chosen):
    """The items (begin, end, word, tag) of the nodes chosen, sequence by sequence."""
    flags = iter(chosen.tolist())
    return [[node[:4] for node in nodes if next(flags)] for nodes in lattices]
