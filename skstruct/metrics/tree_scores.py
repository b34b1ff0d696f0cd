"""Scores of dependency trees: unlabelled and labelled attachment, and whole trees.

Trees are compared token by token, head by head. Tokens whose true head is None do not
count; where only the true label is None, the head does (:mod:`.counting`).

References
----------
S. Buchholz and E. Marsi, "CoNLL-X shared task on multilingual dependency parsing",
CoNLL 2006: attachment scores. D. Zeman et al., "CoNLL 2018 shared task: multilingual
parsing from raw text to universal dependencies", 2018: relations are compared without
their subtypes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._core.user_warnings import warn
from .._data.inputs import PlaceError
from .._data.places import part_of
from .._data.types import Corpus, Weights
from .checks import check_pairs, of_pairs, ratio, warn_undefined
from .counting import has_label, weights_of


class AttachmentScores(NamedTuple):
    """The result of `attachment_scores`."""

    uas: float
    las: float
    complete: float
    n_tokens: int

    def __str__(self) -> str:
        return "UAS {:.4f}  LAS {:.4f}  complete {:.4f}  ({} tokens)".format(*self)


NO_HEADS = "there is nothing to score: no token has a true head, or all are left out"


def split_heads(
    i: int, sentence: Any, partial: bool = False
) -> tuple[Any, list[Any] | None]:
    """Part the arcs of sentence `i` into heads and labels; these may be None.

    Parameters
    ----------
    i : int
    sentence : list of heads, or of (head, label) pairs
    partial : bool, default=False
        Whether heads, or whole arcs, may be None.

    Raises
    ------
    ValueError
        If a head is not an integer, or some arcs are no pairs; the message names the
        sequence.
    """
    labels = None
    heads = sentence
    if (
        partial
        and None in sentence
        and any(isinstance(arc, (tuple, list)) for arc in sentence)
    ):
        sentence = [(None, None) if arc is None else arc for arc in sentence]
    if len(sentence) and isinstance(sentence[0], (tuple, list)):
        heads, labels = of_pairs(i, sentence, "head, label")
    for t, head in enumerate(heads):
        if partial and head is None:
            continue
        if type(head) is not int and not isinstance(head, (int, np.integer)):
            raise PlaceError(i, t, f"a head must be an integer; got {head!r}")
    return heads, labels


def check_gold_tree(i: int, sentence: Any) -> None:
    """Check that the arcs of sentence `i` are those of a tree, or of several.

    Parameters
    ----------
    i : int
    sentence : list of heads, or of (head, label) pairs
        Heads that are None are not known.

    Raises
    ------
    ValueError
        If a head is outside of the sentence, or heads lead back to a word; the message
        names the sequence.
    """
    heads, _ = split_heads(i, sentence, partial=True)
    check_heads(i, heads, "y_true")
    start = first_of_cycle(heads)
    if start is not None:
        wrong = "the heads from here on form a cycle, so that they are no tree"
        raise PlaceError(i, start, wrong, "y_true")


def check_heads(i: int, heads: Sequence[Any], name: str) -> None:
    """Check that the heads of sentence `i` are words of it, or the root.

    Parameters
    ----------
    i : int
    heads : sequence of int or None
        Those that are None are not known.
    name : str
        What errors call the argument.

    Raises
    ------
    ValueError
        If a head is outside of the sentence; the message names the place.
    """
    n = len(heads)
    for t, head in enumerate(heads):
        if head is not None and not 0 <= head <= n:
            raise PlaceError(i, t, f"a head must be in 0 ... {n}, got {head}", name)


def first_of_cycle(heads: Sequence[Any]) -> int | None:
    """Return the position of the first word from which heads lead to a word twice; None
    if there is none.

    Parameters
    ----------
    heads : sequence of int or None
        Within the sentence; 0 is the root, and None is not known.
    """
    below = {0}  # words from which the heads lead to the root, or to what is not known
    for k in range(1, len(heads) + 1):
        way: dict[int | None, None] = {}
        word: int | None = k
        while word is not None and word not in below and word not in way:
            way[word] = None
            word = heads[word - 1]
        if word in way:
            return k - 1
        below.update(way)  # type: ignore[arg-type]
    return None


def attachment_scores(
    y_true: Corpus,
    y_pred: Corpus,
    *,
    punctuation: Corpus | None = None,
    subtypes: bool = False,
    sample_weight: Weights = None,
) -> AttachmentScores:
    """Compute the attachment scores of dependency trees.

    Parameters
    ----------
    y_true, y_pred : sequences of sentences
        A sentence is a list of heads, or of (head, label) pairs, one per token. Tokens
        without true head (None) do not count; those without true label do not count in
        `las`.
    punctuation : sequence of sequences of bool, optional
        True for the tokens to leave out, as a rule those whose true tag is punctuation.
    subtypes : bool, default=False
        Whether ``nmod:poss`` and ``nmod`` are different labels. By default, and in the
        CoNLL 2018 shared task, a label counts up to its first colon.
    sample_weight : array-like of shape (n_sentences,), optional
        Multiplies the counts of a sentence.

    Returns
    -------
    AttachmentScores
        `uas`, the share of tokens with the right head; `las`, with the right head and
        label, NaN if either side has no labels, and 0.0 with a warning if there are
        some but no token has a true one; `complete`, the share of sentences with
        all heads right, among those with a token to score; `n_tokens`, the number of
        tokens scored.

    Raises
    ------
    ValueError
        If lengths differ, a head is not an integer or outside of its sentence, true
        heads form a cycle, or only some sentences have labels (the message names the
        sequence); if a weight is negative or not finite, or there is no token to score.

    Warns
    -----
    UserWarning
        If predicted heads form cycles. Those that are right count nevertheless.

    Examples
    --------
    >>> y_true = [[(2, "nsubj"), (0, "root"), (2, "obl:tmod")]]
    >>> y_pred = [[(2, "nsubj"), (0, "root"), (2, "obl")]]
    >>> attachment_scores(y_true, y_pred, subtypes=True)
    AttachmentScores(uas=1.0, las=0.6666666666666666, complete=1.0, n_tokens=3)
    """
    found, labeled = arc_counts(y_true, y_pred, punctuation, subtypes)
    rows = found.tolist()
    weight = weights_of(sample_weight, [n for n, *_ in rows], NO_HEADS)
    n_tokens, right, n_labeled, right_labeled = (
        sum(w * row[k] for w, row in zip(weight, rows)) for k in range(4)
    )
    scored = [(w, row) for w, row in zip(weight, rows) if w and row[0]]
    n_sentences = sum(w for w, _ in scored)
    complete = sum(w for w, row in scored if row[0] == row[1])
    if labeled and not n_labeled:
        why = "no token that counts has a true label"
        warn_undefined("warn", "las", why, can_be_set=False)
    las = ratio(right_labeled, n_labeled) if labeled else float("nan")
    n_scored = sum(row[0] for _, row in scored)
    return AttachmentScores(
        ratio(right, n_tokens), float(las), ratio(complete, n_sentences), n_scored
    )


def arc_counts(
    y_true: Corpus, y_pred: Corpus, punctuation: Corpus | None, subtypes: bool
) -> tuple[np.ndarray, bool]:
    """Count what `attachment_scores` divides.

    Returns
    -------
    counts : ndarray of shape (n_sentences, 4), int64
        Of each sentence the tokens, right heads, tokens with a label, and right arcs
        that count.
    labeled : bool
        Whether both sides have labels.
    """
    pairs = check_pairs(y_true, y_pred)
    if punctuation is None:
        punctuation = [[False] * len(true) for true, _ in pairs]
    leave_out = [
        out
        for _, out in check_pairs(y_true, punctuation, names=("y_true", "punctuation"))
    ]
    rows = []
    cyclic = []
    labeled = None
    for i, (true, pred) in enumerate(pairs):
        if not has_label(true):
            rows.append((0, 0, 0, 0))
            continue
        check_gold_tree(i, true)
        heads, labels = split_heads(i, true, partial=True)
        heads_pred, labels_pred = split_heads(i, pred)
        check_heads(i, heads_pred, "y_pred")
        if first_of_cycle(heads_pred) is not None:
            cyclic.append(i)
        if labels is None or labels_pred is None:
            with_labels = False
            labels = heads
            labels_pred = heads_pred
        else:
            with_labels = True
        if labeled not in (None, with_labels):
            raise PlaceError(
                i, None, "labels must be there in all sentences or in none"
            )
        labeled = with_labels
        if with_labels and not subtypes:
            labels = main_types(labels)
            labels_pred = main_types(labels_pred)
        rows.append(_counts(zip(heads, heads_pred, labels, labels_pred, leave_out[i])))
    if cyclic:
        some = part_of(len(cyclic), len(pairs), "sentence", "have")
        warn(
            f"y_pred: {some} heads that form a cycle and are no tree, first sentence "
            f"{cyclic[0]}"
        )
    return np.array(rows, np.int64).reshape(-1, 4), bool(labeled)


def _counts(
    tokens: Iterable[tuple[Any, Any, Any, Any, bool]],
) -> tuple[int, int, int, int]:
    """Count tokens, right heads, tokens with a label, and right arcs of a sentence.

    A token is (head, predicted head, label, predicted label, whether it is left out).
    """
    n = right = n_labeled = right_labeled = 0
    for head, head_pred, label, label_pred, out in tokens:
        if out or head is None:
            continue
        n += 1
        right += head == head_pred
        if label is not None:
            n_labeled += 1
            right_labeled += head == head_pred and label == label_pred
    return n, right, n_labeled, right_labeled


def main_types(labels: Iterable[Any]) -> list[Any]:
    """Return labels of arcs up to their first colon: ``nmod`` of ``nmod:poss``."""
    # A label that is nothing but a colon and what follows has no main type to fall
    # back on.
    return [
        label.partition(":")[0] or label if isinstance(label, str) else label
        for label in labels
    ]


def labeled_attachment_score(
    y_true: Corpus, y_pred: Corpus, *, sample_weight: Weights = None
) -> float:
    """Compute the share of tokens with the right head and label.

    That is the `las` of `attachment_scores`, over all tokens.

    Parameters
    ----------
    y_true, y_pred : sequences of sentences
        A sentence is a list of (head, label) pairs.
    sample_weight : array-like of shape (n_sentences,), optional

    Returns
    -------
    float

    Raises
    ------
    ValueError
        As `attachment_scores`, or if there are no labels.

    Examples
    --------
    >>> labeled_attachment_score([[(2, "det"), (0, "root")]], [[(2, "amod"), (0, "root")]])
    0.5
    """
    return _known(attachment_scores(y_true, y_pred, sample_weight=sample_weight).las)


def _known(score: float) -> float:
    """Return a score, unless it is NaN for want of labels."""
    if np.isnan(score):
        raise ValueError(
            "the labeled attachment score needs (head, label) pairs on both sides"
        )
    return score


def unlabeled_attachment_score(
    y_true: Corpus, y_pred: Corpus, *, sample_weight: Weights = None
) -> float:
    """Compute the share of tokens with the right head.

    That is the `uas` of `attachment_scores`, over all tokens.

    Parameters
    ----------
    y_true, y_pred : sequences of sentences
        A sentence is a list of heads, or of (head, label) pairs.
    sample_weight : array-like of shape (n_sentences,), optional

    Returns
    -------
    float

    Raises
    ------
    ValueError
        As `attachment_scores`.

    Examples
    --------
    >>> unlabeled_attachment_score([[2, 0]], [[0, 0]])
    0.5
    """
    return attachment_scores(y_true, y_pred, sample_weight=sample_weight).uas


def _tag(i: int, t: int, token: Any) -> Any:
    if not isinstance(token, (tuple, list)) or len(token) != 2:
        raise PlaceError(
            i,
            t,
            f"punctuation needs (form, tag) tokens; got {token!r:.80}",
            "X",
        )
    return token[1]


def score_trees(
    estimator: Any,
    X: Corpus,
    y: Corpus,
    *,
    score: str,
    punctuation: Collection[str] | None,
    subtypes: bool,
    sample_weight: Weights = None,
) -> float:
    """Compute what the scorers of `attachment_scorer_for` do."""
    leave_out = None
    if punctuation is not None:
        leave_out = [
            [_tag(i, t, token) in punctuation for t, token in enumerate(s)]
            for i, s in enumerate(X)
        ]
    found = attachment_scores(
        y,
        estimator.predict(X),
        punctuation=leave_out,
        subtypes=subtypes,
        sample_weight=sample_weight,
    )
    return _known(getattr(found, score))
