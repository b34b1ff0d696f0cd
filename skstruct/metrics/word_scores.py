"""Scores of segmented sentences: word F1, and recall inside and outside of a vocabulary.

A word is known by where it stops and how long it is, so that comparing two segmentations of one
text is comparing sets.

References
----------
R. Sproat and T. Emerson, "The first international Chinese word segmentation bakeoff", 2003: word
scores, and the recall of out-of-vocabulary and in-vocabulary words.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate, repeat

from numpy.typing import ArrayLike
from sklearn.utils import Bunch

from ..data.inputs import PlaceError
from ..data.types import Corpus
from .checks import check_choice, check_pairs, check_weight, f1, ratio


def is_tagged(items):
    """Whether the items of a sentence are not words alone."""
    return len(items) > 0 and not isinstance(items[0], str)


def _split_tags(i, items, tagged):
    """Words and tags of sentence `i`: (list of str, list of tags or None)."""
    tags = None
    if tagged:
        try:
            items, tags = [word for word, _ in items], [tag for _, tag in items]
        except (TypeError, ValueError):
            raise PlaceError(i, None, f"expected (word, tag) pairs; got {items!r:.80}") from None
    if not all(isinstance(word, str) and word for word in items):
        raise PlaceError(i, None, f"expected words, strings that are not empty; got {items!r:.80}")
    return items, tags


def word_spans(y_true, y_pred, tagged):
    """Yield per sentence (true words, true items, predicted items).

    An item is a word's span, or span and tag: all that has to agree. With `tagged` None, tags count if
    true and predicted items have them.
    """
    pairs = check_pairs(y_true, y_pred, same_length=False)
    true_tagged = any(is_tagged(true) for true, _ in pairs)
    pred_tagged = any(is_tagged(pred) for _, pred in pairs)
    if tagged and not (true_tagged and pred_tagged) and any(true or pred for true, pred in pairs):
        raise ValueError("tagged=True needs (word, tag) pairs in y_true and y_pred; got plain words")
    with_tags = true_tagged and pred_tagged if tagged is None else tagged
    for i, (true, pred) in enumerate(pairs):
        words, tags = _split_tags(i, true, true_tagged)
        words_pred, tags_pred = _split_tags(i, pred, pred_tagged)
        text, text_pred = "".join(words), "".join(words_pred)
        if text != text_pred:
            n = next((t for t, (a, b) in enumerate(zip(text, text_pred)) if a != b), None)
            n = min(len(text), len(text_pred)) if n is None else n
            found = f"{text[n : n + 10]!r} and {text_pred[n : n + 10]!r}"
            wrong = "the words of y_true and y_pred must spell the same text; from character"
            raise PlaceError(i, None, f"{wrong} {n} on they are {found}")
        items, items_pred = [
            list(zip(accumulate(map(len, w)), map(len, w), *([t] if with_tags else [])))
            for w, t in ((words, tags), (words_pred, tags_pred))
        ]
        yield words, items, items_pred


def word_f1_score(
    y_true: Corpus, y_pred: Corpus, *, tagged: bool | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """F1 of the words of segmented sentences.

    A predicted word is right if it starts and stops where a true word does, and, for pairs, has its tag.

    Parameters
    ----------
    y_true, y_pred : sequences of sentences
        A sentence is a list of words or of (word, tag) pairs.
    tagged : bool or None, default=None
        Whether tags count: True gives the F1 of joint segmentation and tagging, False that of
        segmentation whatever the items; None means True if both sides have tags.
    sample_weight : array-like of shape (n_sentences,), optional
        Multiplies the words of a sentence.

    Returns
    -------
    float
        1.0 if there are no words on either side.

    Raises
    ------
    ValueError
        If true and predicted words spell different texts, items are neither words nor pairs (the message
        names the sequence), or a weight is negative or not finite.

    Examples
    --------
    >>> word_f1_score([["我", "喜欢", "图书馆"]], [["我", "喜欢", "图书", "馆"]])
    0.5714285714285714
    """
    check_choice("tagged", tagged, (None, True, False))
    weights = repeat(1) if sample_weight is None else check_weight(sample_weight, len(y_true)).tolist()
    correct = n_true = n_pred = 0
    for (_, true, pred), weight in zip(word_spans(y_true, y_pred, tagged), weights):
        correct += weight * (len(true) if true == pred else len(set(true).intersection(pred)))
        n_true += weight * len(true)
        n_pred += weight * len(pred)
    return f1(correct, n_true, n_pred)


class SegmentationReport(Bunch):
    """What `segmentation_report` returns: a dict whose keys are attributes too, and that prints well."""

    recall: float
    precision: float
    f1: float
    oov_rate: float
    oov_recall: float
    iv_recall: float

    def __str__(self) -> str:
        return "\n".join(
            f"{name.replace('_', ' '):>10}  {self[name]:.4f}"
            for name in ("recall", "precision", "f1", "oov_rate", "oov_recall", "iv_recall")
        )


def segmentation_report(y_true: Corpus, y_pred: Corpus, vocabulary: Iterable[str]) -> SegmentationReport:
    """Word scores, and recall inside and outside of a vocabulary.

    Parameters
    ----------
    y_true, y_pred : sequences of sentences
        A sentence is a list of words or of (word, tag) pairs; tags are left aside.
    vocabulary : iterable of str
        The known words, as a rule those of the training corpus.

    Returns
    -------
    SegmentationReport
        `recall`, `precision` and `f1` of all words; `oov_rate`, the share of true words that are not in
        the vocabulary; `oov_recall` and `iv_recall`, the recall of those and of the others.

    Raises
    ------
    ValueError
        As `word_f1_score`, or if `vocabulary` is not made of words.

    Examples
    --------
    >>> y_true, y_pred = [["我", "喜欢", "图书馆"]], [["我", "喜欢", "图书", "馆"]]
    >>> print(segmentation_report(y_true, y_pred, {"我", "喜欢"}))
        recall  0.6667
     precision  0.5000
            f1  0.5714
      oov rate  0.3333
    oov recall  0.0000
     iv recall  1.0000
    """
    known = _check_vocabulary(vocabulary)
    correct = n_true = n_pred = n_oov = correct_oov = 0
    for true_words, true, pred in word_spans(y_true, y_pred, False):
        found = set(pred)
        n_true += len(true)
        n_pred += len(pred)
        correct += len(found.intersection(true))
        unknown = [span for word, span in zip(true_words, true) if word not in known]
        n_oov += len(unknown)
        correct_oov += len(found.intersection(unknown))
    return SegmentationReport(
        recall=ratio(correct, n_true),
        precision=ratio(correct, n_pred),
        f1=f1(correct, n_true, n_pred),
        oov_rate=ratio(n_oov, n_true),
        oov_recall=ratio(correct_oov, n_oov),
        iv_recall=ratio(correct - correct_oov, n_true - n_oov),
    )


def _check_vocabulary(vocabulary):
    if not isinstance(vocabulary, str):
        known = list(vocabulary)
        if all(isinstance(word, str) for word in known):
            return frozenset(known)
    raise ValueError(
        "vocabulary must be a collection of words; of a corpus y: {word for words in y for word in words}"
    )
