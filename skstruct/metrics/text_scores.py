"""Scores of spans of characters, and of the words of segmented sentences.

A predicted span is right if start, end and label are. Spans whose label is None in the
true annotation say that nobody looked there: what is predicted there counts neither as
right nor as wrong; nor do predictions of types that a `PartialSpans` does not name.
Predicted spans whose label is None do not count.

Every text counts, also one without spans; a sentence without words does not
(:mod:`.counting`).

Words have an F1, and a recall inside and outside of a vocabulary. A word is known by
where it stops and how long it is, so that comparing two segmentations of one text is
comparing sets.

References
----------
R. Sproat and T. Emerson, "The first international Chinese word segmentation bakeoff",
2003: word scores, and the recall of out-of-vocabulary and in-vocabulary words.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from os.path import commonprefix
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from sklearn.utils import Bunch

from .._data.inputs import PlaceError, check_choice
from .._data.partial_words import PartialWords, Stretch, stretches_of
from .._data.segmented import partly_segmented
from .._data.spans import as_spans, check_annotated, refuse_dicts, trimmed_spans
from .._data.text import as_texts
from .._data.types import Corpus, Texts, Weights
from .checks import (
    ZeroDivision,
    check_pairs,
    f1,
    of_pairs,
    ratio,
    value_of_nothing,
    warn_undefined,
)
from .counting import weights_of
from .label_scores import AVERAGES, Average, f1_of, report_of, report_text

if TYPE_CHECKING:
    from .._data.spans import Span
    from .label_scores import Counts, Labels


@overload
def span_f1_score(
    y_true: Corpus,
    y_pred: Corpus,
    average: Average = ...,
    sample_weight: Weights = ...,
    *,
    texts: Texts | None = ...,
    zero_division: ZeroDivision = ...,
) -> float: ...


@overload
def span_f1_score(
    y_true: Corpus,
    y_pred: Corpus,
    average: None,
    sample_weight: Weights = ...,
    *,
    texts: Texts | None = ...,
    zero_division: ZeroDivision = ...,
) -> dict[str, float]: ...


def span_f1_score(
    y_true: Corpus,
    y_pred: Corpus,
    average: Average | None = "micro",
    sample_weight: Weights = None,
    *,
    texts: Texts | None = None,
    zero_division: ZeroDivision = "warn",
) -> float | dict[str, float]:
    """Compute the F1 of spans of texts.

    Parameters
    ----------
    y_true, y_pred : list of lists of (start, end, label)
        For each text its spans, in any order; those that occur twice count once. Where
        ``y_true`` has spans with the label None, predictions that touch them do not
        count, unless they are right. Spans of ``y_pred`` with the label None say
        nothing, and do not count.
    average : {"micro", "macro", "weighted"} or None, default="micro"
        Over all spans, over labels, over labels weighted by true spans, or none: one F1
        per label.
    sample_weight : array-like of shape (n_texts,), optional
        Multiplies the counts of a text's spans.
    texts : list of str, optional
        The texts. With them white space at the ends of spans does not count, as in
        ``score`` of :class:`skstruct.SpanTagger` and in ``span_f1_scorer``.
    zero_division : {"warn", 0.0, 1.0, np.nan}, default="warn"
        The score if no span is true and none is predicted; "warn" is 0.0 with a
        warning.

    Returns
    -------
    float, or dict of float by label if `average` is None

    Raises
    ------
    ValueError
        If there are not as many lists on both sides, an element is no span (the message
        names the place), there is no text with a weight, spans with the label None hold
        all of the texts, if these are given, or a parameter has a value not named here.

    Examples
    --------
    >>> y_true = [[(0, 3, "PER"), (8, 13, "LOC")], []]
    >>> y_pred = [[(0, 3, "PER"), (8, 12, "LOC")], []]
    >>> span_f1_score(y_true, y_pred)
    0.5
    >>> span_f1_score(y_true, y_pred, average=None)
    {'LOC': 0.0, 'PER': 1.0}
    >>> span_f1_score(y_true, y_pred, texts=["Ann saw Rome once.", ""])
    1.0
    """
    check_choice("average", average, AVERAGES)
    value_of_nothing(zero_division)
    counts = span_counts(y_true, y_pred, sample_weight, texts)
    return f1_of(counts, average, zero_division)


def span_report(
    y_true: Corpus,
    y_pred: Corpus,
    sample_weight: Weights = None,
    *,
    texts: Texts | None = None,
    zero_division: ZeroDivision = "warn",
) -> str:
    """Tabulate precision, recall, F1 and number of spans, by label and on average.

    Parameters
    ----------
    y_true, y_pred, sample_weight, texts
        As for `span_f1_score`.
    zero_division : {"warn", 0.0, 1.0, np.nan}, default="warn"
        What stands where there is nothing to count, such as the precision of a label
        that is never predicted; "warn" is 0.0 with a warning.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        As `span_f1_score`.

    Examples
    --------
    >>> print(span_report([[(0, 3, "PER"), (8, 13, "LOC")]], [[(0, 3, "PER")]]))
                  precision  recall      f1  support
             LOC     0.0000  0.0000  0.0000        1
             PER     1.0000  1.0000  1.0000        1
       micro avg     1.0000  0.5000  0.6667        2
       macro avg     0.5000  0.5000  0.5000        2
    weighted avg     0.5000  0.5000  0.5000        2
    """
    value_of_nothing(zero_division)
    counts = span_counts(y_true, y_pred, sample_weight, texts)
    return report_text(report_of(counts, zero_division), digits=4)


def span_counts(
    y_true: Corpus,
    y_pred: Corpus,
    sample_weight: Weights = None,
    texts: Texts | None = None,
) -> Counts:
    """Count spans by label: correct, true and predicted ones.

    With texts, something in them has to be annotated.
    """
    true, found = both_sides(y_true, y_pred, texts)
    weight = weights_of(sample_weight, [True] * len(true), NO_TEXT)
    if texts is not None:
        check_annotated(as_texts(texts, "texts"), true, weight, "y_true")
    return count_spans(true, found, weight)


Item: TypeAlias = tuple[Any, ...]
"""A word: where it stops, its length, and its tag if tags count."""

NO_TEXT = "there is nothing to score: there is no text"
NO_WORDS = "there is nothing to score: y_true has no words"


def both_sides(
    y_true: Corpus, y_pred: Corpus, texts: Texts | None
) -> list[list[list[Span]]]:
    """Check true and predicted spans, and return both as lists of lists of `Span`."""
    refuse_dicts(y_true, "y_true")
    refuse_dicts(y_pred, "y_pred")
    pairs = check_pairs(y_true, y_pred, same_length=False)
    sides = {
        "y_true": [true for true, _ in pairs],
        "y_pred": [found for _, found in pairs],
    }
    if texts is None:
        return [as_spans(spans, name=name).by_text() for name, spans in sides.items()]
    texts = as_texts(texts, "texts")
    if len(texts) != len(pairs):
        raise ValueError(
            f"texts must hold the text of each list of spans: got {len(texts)} texts "
            f"and {len(pairs)} lists"
        )
    return [trimmed_spans(texts, spans, name) for name, spans in sides.items()]


def count_spans(
    y_true: Iterable[list[Span]],
    y_pred: Iterable[list[Span]],
    weight: Any,
) -> Counts:
    """Count checked spans by label, each times the weight of its text."""
    correct: Counter[Any] = Counter()
    n_true: Counter[Any] = Counter()
    n_pred: Counter[Any] = Counter()
    for true_spans, pred_spans, w in zip(y_true, y_pred, weight):
        true, found = judged(true_spans, pred_spans)
        for counter, spans in (
            (correct, true.intersection(found)),
            (n_true, true),
            (n_pred, set(found)),
        ):
            for span in spans:
                counter[span.label] += w
    return correct, n_true, n_pred


def judged(true: list[Span], found: Iterable[Span]) -> tuple[set[Span], list[Span]]:
    """Return the true spans of a text that count, a set, and the found ones, a list."""
    blank = sorted(span for span in true if span.label is None)
    right = {span for span in true if span.label is not None}
    starts = [span.start for span in blank]
    furthest = list(accumulate([span.end for span in blank], max))

    def is_blank(span: Span) -> bool:
        """Tell whether the span shares a character with a blank one.

        Those begin before its end.
        """
        k = bisect_left(starts, span.end)
        return k > 0 and furthest[k - 1] > span.start

    types = getattr(true, "types", None)
    told = (
        span
        for span in found
        if span.label is not None and (types is None or span.label in types)
    )
    return right, [span for span in told if span in right or not is_blank(span)]


def is_tagged(items: Sequence[Any]) -> bool:
    """Tell whether the items of a sentence are not words alone."""
    return len(items) > 0 and not isinstance(items[0], str)


def _split_tags(i: int, items: Labels, tagged: bool) -> tuple[Labels, list[Any] | None]:
    """Part the items of sentence `i` into words and tags; these may be None."""
    tags = None
    if tagged:
        items, tags = of_pairs(i, items, "word, tag")
    if not all(isinstance(word, str) and word for word in items):
        raise PlaceError(
            i, None, f"expected words, strings that are not empty; got {items!r:.80}"
        )
    return items, tags


def word_spans(
    y_true: Corpus, y_pred: Corpus, tagged: bool | None
) -> Iterator[tuple[Labels, list[Item], list[Item]]]:
    """Yield per sentence (true words, true items, predicted items).

    An item is a word's span, or span and tag: all that has to agree. With `tagged`
    None, tags count if true and predicted items have them.
    """
    pairs = check_pairs(y_true, y_pred, same_length=False)
    partly = set(partly_segmented(y_true))
    true_tagged = any(
        not all(isinstance(each, str) for each in true)
        if i in partly
        else is_tagged(true)
        for i, (true, _) in enumerate(pairs)
    )
    pred_tagged = any(is_tagged(pred) for _, pred in pairs)
    if (
        tagged
        and not (true_tagged and pred_tagged)
        and any(true or pred for true, pred in pairs)
    ):
        raise ValueError(
            "tagged=True needs (word, tag) pairs in y_true and y_pred; got plain words"
        )
    with_tags = true_tagged and pred_tagged if tagged is None else tagged
    for i, (true, pred) in enumerate(pairs):
        stretches = stretches_of(PartialWords(true), i, "y_true") if i in partly else []
        words, tags = (
            ([each.text for each in stretches], [None] * len(stretches))
            if i in partly
            else _split_tags(i, true, true_tagged)
        )
        words_pred, tags_pred = _split_tags(i, pred, pred_tagged)
        texts = "".join(words), "".join(words_pred)
        if texts[0] != texts[1]:
            n = len(commonprefix(texts))  # noqa: RUF071  # of characters
            found = " and ".join(repr(text[n : n + 10]) for text in texts)
            wrong = "the words of y_true and y_pred must spell the same text; from character"
            raise PlaceError(i, None, f"{wrong} {n} on they are {found}")
        items, items_pred = [
            list(zip(accumulate(map(len, w)), map(len, w), *([t] if with_tags else [])))
            for w, t in ((words, tags), (words_pred, tags_pred))
        ]
        if i in partly:
            words, items, items_pred = _of_known(stretches, items, items_pred)
        yield words, items, items_pred


def _of_known(
    stretches: list[Stretch], items: list[Item], found: list[Item]
) -> tuple[list[str], list[Item], list[Item]]:
    """Return the words of stretches whose boundaries are known, their items, and the
    predicted items that count: not those within stretches that may hold boundaries.

    A tag that is one of those that a word may have is taken for its true one.
    """
    whole = [len(each.parts) == 1 for each in stretches]
    tag_at = {item[:2]: item[2] for item in found if len(item) > 2}
    true = []
    for stretch, item, is_whole in zip(stretches, items, whole):
        if not is_whole:
            continue
        if len(item) > 2:
            tag = tag_at.get(item[:2])
            right = stretch.tags is None or tag in stretch.tags
            item = (*item[:2], tag if right else min(stretch.tags or ""))
        true.append(item)
    blank = [(stop - n, stop) for (stop, n, *_), one in zip(items, whole) if not one]
    starts = [start for start, _ in blank]
    told = []
    for item in found:
        k = bisect_left(starts, item[0])
        if k == 0 or blank[k - 1][1] <= item[0] - item[1]:
            told.append(item)
    return [each.text for each, one in zip(stretches, whole) if one], true, told


def _weights_of_words(
    y_true: Corpus, y_pred: Corpus, sample_weight: Weights
) -> list[Any]:
    """Return the weight of each sentence; there must be words with a weight."""
    n_words = [len(true) for true, _ in check_pairs(y_true, y_pred, same_length=False)]
    return weights_of(sample_weight, n_words, NO_WORDS)


def word_f1_score(
    y_true: Corpus,
    y_pred: Corpus,
    *,
    tagged: bool | None = None,
    sample_weight: Weights = None,
) -> float:
    """Compute the F1 of the words of segmented sentences.

    A predicted word is right if it starts and stops where a true word does, and, for
    pairs, has its tag.

    Parameters
    ----------
    y_true, y_pred : sequences of sentences
        A sentence is a list of words or of (word, tag) pairs.
    tagged : bool or None, default=None
        Whether tags count: True gives the F1 of joint segmentation and tagging, False
        that of segmentation whatever the items; None means True if both sides have
        tags.
    sample_weight : array-like of shape (n_sentences,), optional
        Multiplies the words of a sentence.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If true and predicted words spell different texts, items are neither words nor
        pairs (the message names the sequence), a weight is negative or not finite, or
        there are no words with a weight.

    Examples
    --------
    >>> word_f1_score([["我", "喜欢", "图书馆"]], [["我", "喜欢", "图书", "馆"]])
    0.5714285714285714
    """
    check_choice("tagged", tagged, (None, True, False))
    weights = _weights_of_words(y_true, y_pred, sample_weight)
    correct = n_true = n_pred = 0
    for (_, true, pred), weight in zip(word_spans(y_true, y_pred, tagged), weights):
        correct += weight * (
            len(true) if true == pred else len(set(true).intersection(pred))
        )
        n_true += weight * len(true)
        n_pred += weight * len(pred)
    return f1(correct, n_true, n_pred)


class SegmentationReport(Bunch):
    """Scores of a segmentation: a dict whose keys are attributes, and that prints
    well.
    """

    recall: float
    precision: float
    f1: float
    oov_rate: float
    oov_recall: float
    iv_recall: float

    def __str__(self) -> str:
        return "\n".join(
            f"{name.replace('_', ' '):>10}  {value:.4f}" for name, value in self.items()
        )


def segmentation_report(
    y_true: Corpus,
    y_pred: Corpus,
    vocabulary: Iterable[str],
    *,
    sample_weight: Weights = None,
    zero_division: ZeroDivision = "warn",
) -> SegmentationReport:
    """Compute word scores, and recall inside and outside of a vocabulary.

    Parameters
    ----------
    y_true, y_pred : sequences of sentences
        A sentence is a list of words or of (word, tag) pairs; tags are left aside.
    vocabulary : iterable of str
        The known words, as a rule those of the training corpus.
    sample_weight : array-like of shape (n_sentences,), optional
        Multiplies the words of a sentence.
    zero_division : {"warn", 0.0, 1.0, np.nan}, default="warn"
        The recall of unknown words where all are known, and of known ones where none
        is; "warn" is 0.0 with a warning.

    Returns
    -------
    SegmentationReport
        `recall`, `precision` and `f1` of all words; `oov_rate`, the share of true words
        that are not in the vocabulary; `oov_recall` and `iv_recall`, the recall of
        those and of the others.

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
    listed = list(vocabulary)
    if isinstance(vocabulary, str) or not all(isinstance(word, str) for word in listed):
        of_corpus = "of a corpus y: {word for words in y for word in words}"
        raise ValueError(f"vocabulary must be a collection of words; {of_corpus}")
    nothing = value_of_nothing(zero_division)
    known = frozenset(listed)
    weights = _weights_of_words(y_true, y_pred, sample_weight)
    correct = n_true = n_pred = n_oov = correct_oov = 0
    for (true_words, true, pred), weight in zip(
        word_spans(y_true, y_pred, False), weights
    ):
        found = set(pred)
        n_true += weight * len(true)
        n_pred += weight * len(pred)
        correct += weight * len(found.intersection(true))
        unknown = [span for word, span in zip(true_words, true) if word not in known]
        n_oov += weight * len(unknown)
        correct_oov += weight * len(found.intersection(unknown))
    if not n_oov:
        warn_undefined(zero_division, "oov_recall", "all true words are known")
    if n_oov == n_true:
        warn_undefined(zero_division, "iv_recall", "no true word is known")
    return SegmentationReport(
        recall=ratio(correct, n_true),
        precision=ratio(correct, n_pred),
        f1=f1(correct, n_true, n_pred),
        oov_rate=ratio(n_oov, n_true),
        oov_recall=ratio(correct_oov, n_oov, nothing),
        iv_recall=ratio(correct - correct_oov, n_true - n_oov, nothing),
    )
