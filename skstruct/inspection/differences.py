"""The differences between gold and predicted labels, segments, words or trees, with the words around each."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import NamedTuple

from ..data.inputs import SPANS, TREES, WORDS
from ..data.segmented import as_pieces, as_words
from .html import readable
from .of_taggers import as_characters, words_of
from .pictures import checked, kind_of, segment_reader, tree_of

NONE = "(none)"
"""What is written where there is no segment."""

AROUND = 3
"""Tokens before and behind an example."""


class Difference(NamedTuple):
    """One error, in a sequence of tokens."""

    gold: str
    predicted: str
    unseen: bool
    sequence: int
    position: int
    stop: int
    tokens: list

    def text(self):
        """The place in [ ], and a few tokens around it."""
        gap = "" if all(isinstance(token, str) and len(token) == 1 for token in self.tokens) else " "
        width = AROUND if gap else 3 * AROUND
        first, last = max(0, self.position - width), min(len(self.tokens), self.stop + width)
        words = [readable(token, 30) for token in self.tokens]
        parts = [
            gap.join(words[first : self.position]),
            f"[{gap.join(words[self.position : self.stop])}]",
            gap.join(words[self.stop : last]),
        ]
        text = gap.join(part for part in parts if part)
        return ("… " if first else "") + text + (" …" if last < len(self.tokens) else "")


def differences(task, X, y, y_pred, known, scheme=None):
    """What differs.

    Parameters
    ----------
    task : {"labels", "words", "spans", "trees"} or None
        What the model predicts; None if it does not say so.
    X, y, y_pred
    known : set of str, or None
    scheme : str, optional
        Of labels.

    Returns
    -------
    kind : {"labels", "segments", "words", "spans", "trees"}
    n_items : int
    n_unseen : int or None
    found : list of Difference
    """
    task = kind_of(X, y) if task is None else task
    if task == WORDS:
        return _words(X, y, y_pred, known)
    if task == SPANS:
        reader = segment_reader((), "BIO")
        return SPANS, *_segments(*as_characters(X, y, y_pred), known, reader, words_of, beside=0)
    X, y, y_pred = checked(X, y, y_pred)
    if task == TREES:
        return _trees(X, y, y_pred, known)
    labels = dict.fromkeys(label for both in (y, y_pred) for labels in both for label in labels)
    segments_of = segment_reader(labels, scheme)
    if segments_of is None:
        return "labels", *_labels(X, y, y_pred, known)
    return "segments", *_segments(X, y, y_pred, known, segments_of)


def _unseen(tokens, known):
    """Whether one of the tokens is a word that is not known."""
    return known is not None and any(_word(token) not in known for token in tokens)


def _word(token):
    return token[0] if isinstance(token, tuple) and token else token if isinstance(token, str) else None


def _labels(X, y, y_pred, known):
    found, n_items, n_unseen = [], 0, 0
    for i, (tokens, gold, predicted) in enumerate(zip(X, y, y_pred)):
        for t, (a, b) in enumerate(zip(gold, predicted)):
            if a is None:
                continue
            unseen = _unseen(tokens[t : t + 1], known)
            n_items, n_unseen = n_items + 1, n_unseen + unseen
            if a != b:
                found.append(Difference(str(a), str(b), unseen, i, t, t + 1, tokens))
    return n_items, None if known is None else n_unseen, found


def _segments(X, y, y_pred, known, segments_of, words_of=list, beside=1):
    """See :func:`differences`; ``beside``: tokens on both sides of a segment that must have labels, too."""
    found, n_items, n_unseen = [], 0, 0
    for i, (tokens, labels, predicted) in enumerate(zip(X, y, y_pred)):
        gold, predicted = segments_of(labels), segments_of(predicted)
        met_by, met_in = _between(predicted), _between(gold)
        for a, b, kind in gold:
            if not _is_known(labels, a, b, beside):
                continue
            unseen = _unseen(words_of(tokens[a:b]), known)
            n_items, n_unseen = n_items + 1, n_unseen + unseen
            met = met_by(a, b)
            if (a, b, kind) not in met:
                other = met[0][2] if len(met) == 1 and met[0][:2] == (a, b) else _elsewhere(met)
                found.append(Difference(kind, other, unseen, i, a, b, tokens))
        for a, b, kind in predicted:
            if _is_known(labels, a, b, beside) and not met_in(a, b):
                found.append(Difference(NONE, kind, _unseen(words_of(tokens[a:b]), known), i, a, b, tokens))
    return n_items, None if known is None else n_unseen, found


def _between(spans):
    """A function of a and b: those of the spans, which are in order, that share a token with a ... b - 1."""
    starts, stops, _ = zip(*spans) if spans else ((), (), ())
    return lambda a, b: spans[bisect_right(stops, a) : bisect_left(starts, b)]


def _is_known(labels, a, b, beside):
    """Whether the tokens a ... b - 1 of a segment, and those beside it, have labels: else it might go on."""
    return None not in labels[max(a - beside, 0) : b + beside]


def _elsewhere(met):
    if not met:
        return NONE
    kinds = " + ".join(kind for _, _, kind in met)
    return f"{kinds} (other boundaries)" if kinds.strip(" +") else "(other boundaries)"


def _words(X, y, y_pred, known):
    pieces = as_pieces(X)
    (gold, gold_tags), (words, tags) = as_words(pieces, y), as_words(pieces, y_pred)
    found, n_items, n_unseen = [], 0, 0
    for i in range(len(pieces)):
        n_items += len(gold[i])
        n_unseen += sum(_unseen([word], known) for word in gold[i])
        for a, b, c, d in _stretches(gold[i], words[i]):
            mine, theirs = list(gold[i][a:b]), list(words[i][c:d])
            if mine != theirs:
                pair = " ".join(mine), " ".join(theirs)
            elif gold_tags and tags and gold_tags[i][a] != tags[i][c]:
                pair = gold_tags[i][a], tags[i][c]
            else:
                continue
            found.append(Difference(*pair, _unseen(mine, known), i, a, b, list(gold[i])))
    return "words", n_items, None if known is None else n_unseen, found


def _stretches(gold, words):
    """Yield (a, b, c, d): the shortest stretches ``gold[a:b]`` and ``words[c:d]`` that spell the same."""
    a = b = c = d = 0
    ahead = 0  # characters that gold[a:b] is longer
    while b < len(gold):
        ahead += len(gold[b])
        b += 1
        while ahead > 0 or (ahead == 0 and d == c):
            ahead -= len(words[d])
            d += 1
        if ahead == 0:
            yield a, b, c, d
            a, c = b, d


def _trees(X, y, y_pred, known):
    found, n_items, n_unseen = [], 0, 0
    for i, (tokens, gold, predicted) in enumerate(zip(X, y, y_pred)):
        pairs = zip(zip(*tree_of(i, gold)), zip(*tree_of(i, predicted)))
        for t, ((head, label), (other, other_label)) in enumerate(pairs):
            unseen = _unseen(tokens[t : t + 1], known)
            n_items, n_unseen = n_items + 1, n_unseen + unseen
            label, other_label = ("" if name is None else str(name) for name in (label, other_label))
            if head != other:
                names = label, f"{other_label} (other head)".strip()
                found.append(Difference(*names, unseen, i, t, t + 1, tokens))
            elif label != other_label and label:
                found.append(Difference(label, other_label, unseen, i, t, t + 1, tokens))
    return "trees", n_items, None if known is None else n_unseen, found
