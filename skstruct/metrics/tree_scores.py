"""Scores of dependency trees: unlabelled and labelled attachment, and whole trees.

Trees are compared token by token, head by head.

References
----------
S. Buchholz and E. Marsi, "CoNLL-X shared task on multilingual dependency parsing", CoNLL 2006:
attachment scores.
D. Zeman et al., "CoNLL 2018 shared task: multilingual parsing from raw text to universal
dependencies", 2018: relations are compared without their subtypes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..data.inputs import PlaceError
from ..data.types import Corpus
from .checks import check_pairs, of_pairs, ratio


class AttachmentScores(NamedTuple):
    """What `attachment_scores` returns."""

    uas: float
    las: float
    complete: float
    n_tokens: int

    def __str__(self) -> str:
        return "UAS {:.4f}  LAS {:.4f}  complete {:.4f}  ({} tokens)".format(*self)


def split_heads(i, sentence):
    """Heads and labels of sentence `i`: (list of int, list of labels or None).

    Raises
    ------
    ValueError
        If a head is not an integer, or some arcs are no pairs; the message names the sequence.
    """
    labels = None
    heads = sentence
    if len(sentence) and isinstance(sentence[0], (tuple, list)):
        heads, labels = of_pairs(i, sentence, "head, label")
    for t, head in enumerate(heads):
        if type(head) is not int and not isinstance(head, (int, np.integer)):
            raise PlaceError(i, t, f"a head must be an integer; got {head!r}")
    return heads, labels


def attachment_scores(
    y_true: Corpus, y_pred: Corpus, *, punctuation: Corpus | None = None, subtypes: bool = False
) -> AttachmentScores:
    """Attachment scores of dependency trees.

    Parameters
    ----------
    y_true, y_pred : sequences of sentences
        A sentence is a list of heads, or of (head, label) pairs, one per token.
    punctuation : sequence of sequences of bool, optional
        True for the tokens to leave out, as a rule those whose true tag is punctuation.
    subtypes : bool, default=False
        Whether ``nmod:poss`` and ``nmod`` are different labels. By default, and in the CoNLL 2018 shared
        task, a label counts up to its first colon.

    Returns
    -------
    AttachmentScores
        `uas`, the share of tokens with the right head; `las`, with the right head and label, NaN if
        either side has no labels; `complete`, the share of sentences with all heads right, among those
        with a token to score; `n_tokens`, the number of tokens scored.

    Raises
    ------
    ValueError
        If lengths differ, a head is not an integer, or only some sentences have labels; the message
        names the sequence.

    Examples
    --------
    >>> y_true = [[(2, "nsubj"), (0, "root"), (2, "obl:tmod")]]
    >>> y_pred = [[(2, "nsubj"), (0, "root"), (2, "obl")]]
    >>> attachment_scores(y_true, y_pred, subtypes=True)
    AttachmentScores(uas=1.0, las=0.6666666666666666, complete=1.0, n_tokens=3)
    """
    pairs = check_pairs(y_true, y_pred)
    if punctuation is None:
        punctuation = [[False] * len(true) for true, _ in pairs]
    leave_out = [out for _, out in check_pairs(y_true, punctuation, names=("y_true", "punctuation"))]
    n_tokens = right = right_labeled = n_sentences = complete = 0
    labeled = None
    for i, (true, pred) in enumerate(pairs):
        if not true:
            continue
        (heads, labels), (heads_pred, labels_pred) = split_heads(i, true), split_heads(i, pred)
        with_labels = labels is not None and labels_pred is not None
        if labeled not in (None, with_labels):
            raise PlaceError(i, None, "labels must be there in all sentences or in none")
        labeled = with_labels
        if not with_labels:
            labels, labels_pred = heads, heads_pred
        elif not subtypes:
            labels, labels_pred = map(_main_types, (labels, labels_pred))
        tokens = zip(heads, heads_pred, labels, labels_pred, leave_out[i])
        found = [(h == h_pred, h == h_pred and a == b) for h, h_pred, a, b, out in tokens if not out]
        if found:
            n_sentences += 1
            n_tokens += len(found)
            right += sum(head for head, _ in found)
            right_labeled += sum(both for _, both in found)
            complete += all(head for head, _ in found)
    las = float("nan") if labeled is False else ratio(right_labeled, n_tokens)
    return AttachmentScores(ratio(right, n_tokens), las, ratio(complete, n_sentences), n_tokens)


def _main_types(labels):
    # A label that is nothing but a colon and what follows has no main type to fall back on.
    return [label.partition(":")[0] or label if isinstance(label, str) else label for label in labels]


def labeled_attachment_score(y_true: Corpus, y_pred: Corpus) -> float:
    """Share of tokens with the right head and label: the `las` of `attachment_scores`, over all tokens.

    Parameters
    ----------
    y_true, y_pred : sequences of sentences
        A sentence is a list of (head, label) pairs.

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
    return _known(attachment_scores(y_true, y_pred).las)


def _known(score):
    """A score, unless it is NaN for want of labels."""
    if np.isnan(score):
        raise ValueError("the labeled attachment score needs (head, label) pairs on both sides")
    return score


def unlabeled_attachment_score(y_true: Corpus, y_pred: Corpus) -> float:
    """Share of tokens with the right head: the `uas` of `attachment_scores`, over all tokens.

    Parameters
    ----------
    y_true, y_pred : sequences of sentences
        A sentence is a list of heads, or of (head, label) pairs.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        As `attachment_scores`.

    Examples
    --------
    >>> unlabeled_attachment_score([[2, 0]], [[2, 1]])
    0.5
    """
    return attachment_scores(y_true, y_pred).uas


def _tag(i, t, token):
    if not isinstance(token, (tuple, list)) or len(token) != 2:
        raise PlaceError(i, t, f"punctuation goes by tags, in (form, tag) tokens; got {token!r:.80}", "X")
    return token[1]


def score_trees(estimator, X, y, *, score, punctuation, subtypes):
    """What the scorers of `attachment_scorer_for` compute."""
    leave_out = None
    if punctuation is not None:
        leave_out = [[_tag(i, t, token) in punctuation for t, token in enumerate(s)] for i, s in enumerate(X)]
    found = attachment_scores(y, estimator.predict(X), punctuation=leave_out, subtypes=subtypes)
    return _known(getattr(found, score))
