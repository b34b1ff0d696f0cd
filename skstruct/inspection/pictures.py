"""Corpora as pictures: segments, tags, words and trees, beside what was predicted."""

from __future__ import annotations

from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

from .._data.elements import spelled
from .._data.inputs import (
    SPANS,
    TREES,
    WORDS,
    as_sequences,
    check_same_lengths,
    flatten,
    lengths_of,
)
from .._data.label_colours import label_style
from .._data.labels import single_labels
from .._data.scheme_rules import LabelTable, are_chunks, check_scheme, read_spans
from .._data.segmented import as_pieces, as_words, word_spans
from .._data.types import Corpus
from ..metrics.tree_scores import split_heads
from .explain_taggers import as_characters, kind_of, tokens_shown
from .html import SHORT, Html, arcs, attribute, box, escaped, note


def render(
    X: Any, y: Corpus, y_pred: Corpus | None = None, *, scheme: str | None = None
) -> Html:
    """Draw sequences: segments as coloured spans, words with their tags, trees as arcs.

    Parameters
    ----------
    X : list of sequences, or of texts
        As of ``predict``; a few of them: each takes one line or more.
    y : list of lists
        What to draw: labels, the words, (word, tag) pairs or spans of texts, (head,
        label) pairs or heads. Labels of a scheme such as BIO are drawn as segments. As
        a rule gold; or what ``predict`` returned.
    y_pred : list of lists, optional
        Predictions to be compared with ``y``. Where both agree, one line is drawn; else
        both, and what is not on the other line is outlined and marked ✗.
    scheme : str, optional
        Of the labels; "IO" draws segments whose labels are types without a prefix.

    Returns
    -------
    Html
        A str that notebooks draw. Written into a file as UTF-8 it is a whole page
        without scripts, light or dark as the reader's system is. Text in it is escaped.
        A label has the same colour in all pictures.

    Raises
    ------
    ValueError
        If the lengths differ (the message names the sequence), or a label is not of the
        scheme.

    Examples
    --------
    >>> from skstruct.inspection import render
    >>> picture = render([["Ada", "Lovelace", "wrote"]], [["B-PER", "I-PER", "O"]], [["B-PER", "O", "O"]])
    >>> picture.count("PER"), picture.count("✗")
    (2, 2)
    """
    parts = drawn(kind_of(X, y), X, y, y_pred, scheme)
    return Html(box("".join(f'<div class="part">{part}</div>' for part in parts)))


def drawn(kind, X, y, y_pred=None, scheme=None, window=lambda *parts: parts):
    """Yield the picture of each sequence; ``window`` cuts out what is shown of its
    tokens and marks.
    """
    if kind == TREES:
        X, y, y_pred = checked(X, y, y_pred)
        for i, tokens in enumerate(X):
            yield arcs(
                tokens,
                tree_of(i, y[i]),
                None if y_pred is None else tree_of(i, y_pred[i]),
            )
    else:
        yield from (
            lines(*window(*parts)) for parts in marked(kind, X, y, y_pred, scheme)
        )


def marked(kind, X, y, y_pred=None, scheme=None):
    """For each sequence tokens, marks of gold, and of predictions or None; ``kind`` is
    not that of trees.
    """
    if kind == WORDS:
        pieces = as_pieces(X)
        X = [list("".join(parts)) for parts in pieces]
        marks = partial(word_marks, pieces)
    else:
        if kind == SPANS:
            scheme = "BIO"
            (X, y, y_pred) = as_characters(X, y, y_pred)
        X, y, y_pred = checked(X, y, y_pred)
        segments_of = segment_reader(flatten([*y, *(y_pred or ())]), scheme)
        marks = partial(map, partial(marks_of, segments_of))
    return zip(X, marks(y), repeat(None) if y_pred is None else marks(y_pred))


def checked(X, y, y_pred):
    """Tokens to show, labels and predicted labels (or None) of sequences that are
    equally long.
    """
    X = tokens_shown(X)
    y = single_labels(y)
    check_same_lengths(lengths_of(X), lengths_of(y))
    if y_pred is not None:
        y_pred = as_sequences(y_pred, "y_pred", "label")
        check_same_lengths(lengths_of(X), lengths_of(y_pred), ("X", "y_pred"))
    return X, y, y_pred


def lines(tokens, gold, found):
    """Gold alone, or with predictions that differ below it."""
    if found is None or found == gold:
        return line(tokens, gold)
    here = set(gold)
    there = set(found)
    gold = [mark._replace(wrong=mark not in there) for mark in gold]
    found = [mark._replace(wrong=mark not in here) for mark in found]
    return note("gold") + line(tokens, gold) + note("predicted") + line(tokens, found)


def word_marks(pieces, y):
    """For each text a mark for each word; places are those of characters that are no
    white space.
    """
    words, tags = as_words(pieces, y)
    items = words if tags is None else [zip(*both) for both in zip(words, tags)]
    return [[Mark(a, b, tag) for a, b, _, tag in word_spans(each)] for each in items]


def tree_of(i, tree):
    """The (head, label) of each token; labels are str, and empty if there are none."""
    heads, labels = split_heads(i, tree)
    arcs = zip(heads, repeat(None) if labels is None else labels)
    return [
        (int(head), "" if label is None else spelled(label)) for head, label in arcs
    ]


# --------------------------------------------------------------------------------------
# Sequences as lines: tokens, and below them the tags or the types of their segments
# --------------------------------------------------------------------------------------
END = "(end)"
"""The token of a decision that is taken at the end of a text."""


class Mark(NamedTuple):
    """What a line says about the tokens ``start <= t < stop``."""

    start: int
    stop: int
    text: str
    wrong: bool = False


def segment_reader(labels, scheme=None):
    """The function that reads a sequence of labels as segments (start, stop, type);
    None counts as O.

    Parameters
    ----------
    labels : iterable
        All that there are.
    scheme : str, optional
        Theirs.

    Returns
    -------
    function, or None if no scheme is given and they do not look like those of one

    Raises
    ------
    ValueError
        If one does not belong to the scheme.
    """
    if scheme is None and not are_chunks(labels):
        return None
    table = LabelTable(None if scheme is None else check_scheme(scheme), strict=False)
    for label in labels if scheme is not None else ():
        if label is not None:
            table[label]  # parses it
    return lambda labels: read_spans(
        ["O" if label is None else label for label in labels], table
    )


def marks_of(segments_of, labels):
    """A mark for each segment of a sequence of labels; without a reader for each label."""
    if segments_of is not None:
        return [Mark(*span) for span in segments_of(labels)]
    return [
        Mark(t, t + 1, spelled(label))
        for t, label in enumerate(labels)
        if label is not None
    ]


def line(tokens, marks):
    """Tokens with what is said about them, as HTML.

    Parameters
    ----------
    tokens : list
    marks : list of Mark
        In order, not overlapping.
    """
    spell = _text if are_characters(tokens) else _words
    parts = []
    at = 0
    for mark in marks:
        if mark.start > at:
            parts.append(_plain(spell(tokens[at : mark.start])))
        parts.append(_marked(spell(tokens[mark.start : mark.stop]), mark))
        at = mark.stop
    if at < len(tokens):
        parts.append(_plain(spell(tokens[at:])))
    return f'<div class="line" dir="auto">{" ".join(parts)}</div>'


def are_characters(tokens):
    """Whether tokens are those of a text."""
    return all(
        isinstance(token, str) and (len(token) == 1 or token == END) for token in tokens
    )


def _text(characters):
    """Characters as text: letters join, and words go as their script does."""
    return "<br>".join(
        attribute(part, len(part)) for part in "".join(characters).split("\n")
    )


def _words(tokens):
    """Tokens between spaces; long ones are cut."""
    texts = []
    for token in tokens:
        texts.append(attribute(token, SHORT))
        if isinstance(token, str) and len(token) > SHORT:
            texts[-1] = f'<span title="{attribute(token)}">{texts[-1]}</span>'
    return " ".join(texts)


def _plain(content):
    # not a block, so that long text fills the lines
    return f'<span class="plain">{content}</span>'


def _marked(content, mark):
    below = (
        f"{escaped(mark.text) if mark.text else ''}{' ✗' if mark.wrong else ''}".strip()
    )
    below = below and f'<span class="below">{below}</span>'
    style = label_style(mark.text)
    return f'<span class="mark{" wrong" * mark.wrong}" style="{style}">{content}{below}</span>'
