"""Corpora as pictures: segments, tags, words and trees, beside what was predicted."""

from __future__ import annotations

from typing import Any

from ..data.inputs import as_sequences, check_same_lengths, lengths_of
from ..data.scheme_rules import are_chunks
from ..data.segmented import as_pieces, as_words
from ..data.types import Corpus
from ..metrics.trees import split_heads
from .arcs import arcs
from .html import Html, box, note
from .kinds import SPANS, TREES, WORDS, kind_of, tokens_shown
from .lines import Mark, line, marks_of
from .of_spans import as_characters


def render(X: Any, y: Corpus, y_pred: Corpus | None = None) -> Html:
    """Draw sequences: segments as coloured spans, words with their tags, trees as arcs.

    Parameters
    ----------
    X : list of sequences, or of texts
        As of ``predict``; a few of them: each takes one line or more.
    y : list of lists
        What to draw: labels, the words, (word, tag) pairs or spans of texts, (head, label) pairs or heads.
        Labels of a scheme such as BIO are drawn as segments. As a rule gold; or what ``predict`` returned.
    y_pred : list of lists, optional
        Predictions to be compared with ``y``. Where both agree, one line is drawn; else both, and what is
        not on the other line is outlined and marked ✗.

    Returns
    -------
    Html
        A str that notebooks draw. Written into a file as UTF-8 it is a whole page without scripts, light or
        dark as the reader's system is. Text in it is escaped. A label has the same colour in all pictures.

    Raises
    ------
    ValueError
        If the lengths differ; the message names the sequence.

    Examples
    --------
    >>> from skstruct.inspection import render
    >>> picture = render([["Ada", "Lovelace", "wrote"]], [["B-PER", "I-PER", "O"]], [["B-PER", "O", "O"]])
    >>> picture.count("PER"), picture.count("✗")
    (2, 2)
    """
    kind = kind_of(X, y)
    if kind == WORDS:
        parts = _texts(X, y, y_pred)
    elif kind == SPANS:
        parts = _sequences(*as_characters(X, y, y_pred))
    elif kind == TREES:
        parts = _trees(X, y, y_pred)
    else:
        parts = _sequences(X, y, y_pred)
    return Html(box("".join(f'<div class="part">{part}</div>' for part in parts)))


def _sequences(X, y, y_pred):
    X, y, y_pred = checked(X, y, y_pred)
    given = [label for labels in (*y, *(y_pred or ())) for label in labels]
    chunks = are_chunks(given)
    for i, (tokens, labels) in enumerate(zip(X, y)):
        gold = marks_of(labels, chunks)
        found = None if y_pred is None else marks_of(y_pred[i], chunks)
        yield _both(tokens, gold, found)


def checked(X, y, y_pred):
    """Tokens to show, labels and predicted labels (or None) of sequences that are equally long."""
    X, y = tokens_shown(X), as_sequences(y, "y", "label")
    check_same_lengths(lengths_of(X), lengths_of(y))
    if y_pred is not None:
        y_pred = as_sequences(y_pred, "y_pred", "label")
        check_same_lengths(lengths_of(X), lengths_of(y_pred), ("X", "y_pred"))
    return X, y, y_pred


def _both(tokens, gold, found):
    """Gold alone, or with predictions that differ below it."""
    if found is None or found == gold:
        return line(tokens, gold)
    here, there = set(gold), set(found)
    gold = [mark._replace(wrong=mark not in there) for mark in gold]
    found = [mark._replace(wrong=mark not in here) for mark in found]
    return note("gold") + line(tokens, gold) + note("predicted") + line(tokens, found)


def _texts(X, y, y_pred):
    pieces = as_pieces(X)
    gold = [_word_marks(*both) for both in zip(*_words(pieces, y))]
    found = None if y_pred is None else [_word_marks(*both) for both in zip(*_words(pieces, y_pred))]
    for i, parts in enumerate(pieces):
        yield _both(list("".join(parts)), gold[i], found and found[i])


def _words(pieces, y):
    words, tags = as_words(pieces, y)
    return words, tags if tags is not None else [[""] * len(line) for line in words]


def _word_marks(words, tags):
    marks, at = [], 0
    for word, tag in zip(words, tags):
        marks.append(Mark(at, at + len(word), tag))
        at += len(word)
    return marks


def _trees(X, y, y_pred):
    X, y, y_pred = checked(X, y, y_pred)
    for i, (tokens, tree) in enumerate(zip(X, y)):
        yield arcs(tokens, tree_of(i, tree), None if y_pred is None else tree_of(i, y_pred[i]))


def tree_of(i, tree):
    """(heads, labels) of one tree; labels are None if there are none."""
    heads, labels = split_heads(i, tree)
    return heads, labels if labels is not None else [None] * len(heads)
