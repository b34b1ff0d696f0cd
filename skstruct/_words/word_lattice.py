"""From the k best analyses of a base model to lattices of nodes, and back to what the
base predicts.

An *adapter* says what the base's sequences are made of: a :class:`TextAdapter` of words
of a text (base: ``Segmenter`` or ``WordSegmenter``), a :class:`TokenAdapter` of tokens
with labels (base: a tagger). Each turns sequences into *candidates*: for each sequence a
list of (score, items), best first, where an item is (begin, end, word, tag) in
characters, or tokens. :func:`make_task` makes lattices.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from functools import partial
from math import log
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

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
from .._taggers.overrides import overridden, says_overridden
from ..metrics import token_accuracy_score
from ..metrics.text_scores import word_f1_score
from .reranker_epoch import ABSENT, HALF, LatticeTask

if TYPE_CHECKING:
    from .._data.corpus import TokenCorpus
    from .._data.types import Corpus, Texts

Item: TypeAlias = tuple[int, int, Any, Any]
"""A word or token: where it begins and ends, its form and its tag."""

Node: TypeAlias = tuple[int, int, Any, Any, float]
"""An item and its margin."""

BLOCK = 500
"""Sequences whose candidates are listed at a time: bounds memory."""

RIGHT = 3
RIGHT_SPAN = 1
"""Grades of a right node: span and tag, or the span alone."""


def bucket(margin: float) -> int:
    """Return the bucket of a margin m >= 0: ⌊2 ln(2 m + 1)⌋.

    Differs from the lattice re-ranker that :mod:`.reranker_epoch` names, which has half
    as many buckets.
    """
    return min(int(2.0 * log(2.0 * max(margin, 0.0) + 1.0)), HALF - 2)


# --------------------------------------------------------------------------------------
# Adapters
# --------------------------------------------------------------------------------------
class Adapter(ABC):
    """The adapter of a base estimator's sequences."""

    finds_words: ClassVar[bool]
    """True if items are words that the base finds, false if they are given tokens."""

    @abstractmethod
    def check(self, X: Any, y: Any) -> tuple[Any, list[Any]]:
        """Check sequences and their analyses, and return both as lists."""

    @abstractmethod
    def check_X(self, X: Any) -> Any:
        """Check sequences, and return them as a list."""

    @abstractmethod
    def lengths(self, X: Any) -> np.ndarray:
        """Return the characters, or tokens, of each sequence, (n,) int64."""

    @abstractmethod
    def items(self, X: Any) -> list[Callable[[Any], list[Item]]]:
        """List for each sequence the function that makes items of an analysis."""

    @abstractmethod
    def tags(self, base: Any) -> set[Any]:
        """Return the tags that a fitted base knows."""

    @abstractmethod
    def decode(self, base: Any, items: list[Item]) -> list[Any]:
        """Write a path as the base's ``predict`` would."""

    @abstractmethod
    def score(self, y: Any, predicted: Any, sample_weight: np.ndarray | None) -> float:
        """Score predictions as the base's ``score`` does."""

    def gold(self, X: Any, y: Any) -> list[list[Item]]:
        """List the right items of each sequence."""
        return [items(analysis) for items, analysis in zip(self.items(X), y)]

    def candidates(
        self, base: Any, X: Any, k: int
    ) -> list[list[tuple[float, list[Item]]]]:
        """List (score, items) of the k best analyses of each sequence, best first; no
        sequence is empty.
        """
        return [
            [(score, items(analysis)) for analysis, score in ranked]
            for items, ranked in zip(self.items(X), base.predict_kbest(X, k))
        ]


class TextAdapter(Adapter):
    """Texts of words, or of words with tags; the base finds words."""

    finds_words = True

    def check(self, X: Texts, y: Corpus) -> tuple[list[str], list[Any]]:
        """Check texts and their words, or (word, tag) pairs, and return both as lists."""
        pieces = as_pieces(X)
        words, tags = as_words(pieces, y)
        with_characters(pieces)
        if tags is None:
            return self.check_X(X), list(map(list, words))
        return self.check_X(X), [list(zip(w, t)) for w, t in zip(words, tags)]

    def check_X(self, X: Texts) -> list[str]:
        """Check texts; their pieces are joined by single spaces."""
        return [" ".join(parts) for parts in as_pieces(X)]

    def lengths(self, X: list[str]) -> np.ndarray:
        """Count the characters of each text, without white space."""
        return np.array([sum(map(len, text.split())) for text in X], np.int64)

    def items(self, X: list[str]) -> list[Callable[[Any], list[Item]]]:
        """List for each text the function that makes items of its words."""
        return [word_spans] * len(X)

    def tags(self, base: Any) -> set[Any]:
        """Return the tags of words that a fitted base knows; that of words without
        tags is empty.
        """
        tagger = getattr(getattr(base, "estimator_", base), "tagger_", None)
        if tagger is None:
            return {""}
        return {
            spelled(label).partition("-")[2]
            for label in getattr(tagger, "classes_", ())
        }

    def decode(self, base: Any, items: list[Item]) -> list[Any]:
        """Write a path as words, or as (word, tag) pairs if the base tags words."""
        tagged = getattr(getattr(base, "estimator_", base), "tagged_", False)
        return [(word, tag) if tagged else word for _, _, word, tag in items]

    def score(self, y: Any, predicted: Any, sample_weight: np.ndarray | None) -> float:
        """Return the F1 of words; of words with their tags if both sides have tags."""
        return word_f1_score(y, predicted, sample_weight=sample_weight)


class TokenAdapter(Adapter):
    """Sequences of tokens with a label each; the base is a tagger."""

    finds_words = False

    def check(self, X: Corpus, y: Corpus) -> tuple[TokenCorpus, list[Any]]:
        """Check sequences of tokens and their labels."""
        tokens, labels, _ = check_X_y(X, y, read=as_tokens)
        return tokens, list(labels)

    def check_X(self, X: Corpus) -> TokenCorpus:
        """Check sequences of tokens, of any kind that a tagger takes."""
        return as_tokens(X)

    def lengths(self, X: TokenCorpus) -> np.ndarray:
        """Count the tokens of each sequence."""
        return X.lengths

    def items(self, X: TokenCorpus) -> list[Callable[[Any], list[Item]]]:
        """List for each sequence the function that makes items of its labels."""
        return [partial(_labelled, sequence) for sequence in X.lists()]

    def tags(self, base: Any) -> set[Any]:
        """Return the labels that a fitted base knows."""
        return set(np.asarray(base.classes_).tolist())

    def decode(self, base: Any, items: list[Item]) -> list[Any]:
        """Write a path as the labels of its tokens."""
        return [tag for _, _, _, tag in items]

    def score(self, y: Any, predicted: Any, sample_weight: np.ndarray | None) -> float:
        """Return the token accuracy, over the tokens whose label is given."""
        return token_accuracy_score(y, predicted, sample_weight)


def _labelled(sequence: Any, labels: Collection[Any]) -> list[Item]:
    """Make the items of a sequence of tokens.

    The word of a token is the token itself or its first column; others, such as rows of
    numbers, have none. The tag is None where no label is given.
    """
    tokens = sequence if isinstance(sequence, (list, tuple)) else [None] * len(labels)
    items: list[Item] = []
    for t, (token, label) in enumerate(zip(tokens, labels)):
        word = token if isinstance(token, str) else None
        if isinstance(token, tuple):
            word = token[0]
        items.append((t, t + 1, word, label))
    return items


def adapter_of(base: Any) -> Adapter:
    """Choose the adapter that suits a base estimator.

    Raises
    ------
    ValueError
        If the base is nothing that has k best analyses.
    TypeError
        If it has a method of its own that would not be called.
    """
    if overridden(base, "predict") and not overridden(base, "predict_kbest"):
        raise TypeError(says_overridden(base, "predict", "KBestReranker"))
    if hasattr(base, "predict_kbest"):
        if getattr(base, "accepts_allowed", False):  # not a parser
            return TokenAdapter()
        if getattr(base, "accepts_dictionary", False):
            return TextAdapter()
    elif hasattr(base, "tagger"):
        kind = type(base).__name__
        tagger = type(base.tagger).__name__
        raise ValueError(
            f"base: the tagger of the {kind}, a {tagger}, has no predict_kbest"
        )
    raise ValueError(
        "base must be a Segmenter, a WordSegmenter or a tagger with predict_kbest, got "
        f"{describe(base)}"
    )


# --------------------------------------------------------------------------------------
# Lattices
# --------------------------------------------------------------------------------------
def lattice(candidates: list[tuple[float, list[Item]]]) -> list[Node]:
    """Cut the k best analyses of a sequence, best first, into nodes.

    These are sorted by where they begin, then by rank.
    """
    nodes: dict[Item, float] = {}
    for score, items in candidates:
        for item in items:
            if item not in nodes:
                nodes[item] = candidates[0][0] - score
    return sorted(
        ((*item, margin) for item, margin in nodes.items()), key=lambda node: node[0]
    )


def lattices_of(adapter: Adapter, base: Any, X: Any, k: int) -> list[list[Node]]:
    """Make the lattice of each sequence; [] for an empty one.

    Parameters
    ----------
    adapter : Adapter
    base : estimator
        Fitted.
    X : list of sequences
        As `Adapter.check_X` returns it.
    k : int
        Analyses of a sequence.
    """
    filled = np.flatnonzero(adapter.lengths(X)).tolist()
    found: list[list[Node]] = [[] for _ in range(len(X))]
    for start in range(0, len(filled), BLOCK):
        block = filled[start : start + BLOCK]
        with renumbered(block):
            ranked = adapter.candidates(base, safe_indexing(X, block), k)
        for i, candidates in zip(block, ranked):
            found[i] = lattice(candidates)
    return found


def _ids(values: Collection[Any], known: dict[Any, int], grow: bool) -> np.ndarray:
    """Translate values to ids from 1 on; new ones are numbered if ``grow``, else -1.

    None has no id.
    """
    if grow:
        for value in (value for value in values if value is not None):
            known.setdefault(value, len(known) + 1)
    return np.array([known.get(value, -1) for value in values], np.int32)


def make_task(
    lattices: list[list[Node]],
    lengths: np.ndarray,
    words: dict[Any, int],
    tags: dict[Any, int],
    gold: list[list[Item]] | None = None,
    weight: np.ndarray | None = None,
) -> LatticeTask:
    """Make the arrays that kernels read; with ``gold``, words and tags grow, and
    targets are found.

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
    left: list[int] = []
    into = [0]
    arc = [0]
    right: list[int] = []
    target: list[int] = []
    for i, nodes in enumerate(lattices):
        ending: dict[int, list[tuple[float, int]]] = {0: [(0.0, -1)]}
        before: list[list[int]] = []
        for j, (begin, end, _, _, margin) in enumerate(nodes):
            # Nodes that end where this one begins.
            before.append([p for _, p in sorted(ending[begin])])
            left += before[-1]
            into.append(len(left))
            ending.setdefault(end, []).append((margin, j))
        arc.append(len(left))
        if gold is not None:
            found = list(_rightness(nodes, gold[i]))
            right += found
            target += _target(found, before, [p for _, p in ending.get(lengths[i], ())])
    flat = [node for nodes in lattices for node in nodes]
    grow = gold is not None
    task = LatticeTask(
        token=offsets_of(np.asarray(lengths)),
        node=offsets_of(lengths_of(lattices)),
        arc=np.array(arc, np.int64),
        begin=np.array([node[0] for node in flat], np.int32),
        end=np.array([node[1] for node in flat], np.int32),
        word=_ids([node[2] for node in flat], words, grow),
        tag=_ids([node[3] for node in flat], tags, grow),
        margin=np.array([bucket(node[4]) for node in flat], np.int32),
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


def _rightness(nodes: list[Node], items: list[Item]) -> Iterator[int]:
    """Yield how right each node is: 0, RIGHT_SPAN or RIGHT."""
    tags = {(begin, end): tag for begin, end, _, tag in items}
    for begin, end, _, tag, _ in nodes:
        if (begin, end) not in tags:
            yield 0
            continue
        true = tags[begin, end]
        if isinstance(true, SEVERAL):
            fits = tag in true
        else:
            fits = true is None or true == tag
        yield RIGHT if fits else RIGHT_SPAN


def _target(right: list[int], before: list[list[int]], ends: list[int]) -> list[int]:
    """Find the path to learn, the one whose nodes are right most, as
    ``LatticeTask.target`` has it.

    Ties go to fewer nodes, then to smaller margins. ``before`` are the nodes before
    each one, sorted by margin; ``ends`` are those at the end of the sequence.
    """
    value = {-1: 0}
    back: dict[int, int] = {}
    target = [ABSENT] * len(right)
    for j, some in enumerate(before):
        back[j] = max(some, key=value.__getitem__)
        value[j] = value[back[j]] + right[j] * 65536 - 1
    j = max(ends, key=value.__getitem__, default=-1)
    while j >= 0:
        target[j] = back[j]
        j = back[j]
    return target


def paths(lattices: list[list[Node]], chosen: np.ndarray) -> list[list[Item]]:
    """List the items of the nodes that are chosen, (M,) bool, sequence by sequence."""
    flags = iter(chosen.tolist())
    return [[node[:4] for node in nodes if next(flags)] for nodes in lattices]
