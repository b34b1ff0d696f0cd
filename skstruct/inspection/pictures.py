"""Corpora as pictures: segments, tags, words and trees, beside what was predicted."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..data.inputs import (
    LABELS,
    SPANS,
    TREES,
    WORDS,
    as_sequences,
    as_tokens,
    check_same_lengths,
    is_int,
    lengths_of,
)
from ..data.label_colours import label_style
from ..data.labels import single_labels
from ..data.scheme_rules import LabelTable, are_chunks, check_scheme, read_spans
from ..data.segmented import as_pieces, as_words, word_spans
from ..data.types import Corpus
from ..metrics.tree_scores import split_heads
from .html import SHORT, Html, arcs, attribute, box, escaped, note
from .of_taggers import as_characters


def render(X: Any, y: Corpus, y_pred: Corpus | None = None, *, scheme: str | None = None) -> Html:
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
    scheme : str, optional
        Of the labels; "IO" draws segments whose labels are types without a prefix.

    Returns
    -------
    Html
        A str that notebooks draw. Written into a file as UTF-8 it is a whole page without scripts, light or
        dark as the reader's system is. Text in it is escaped. A label has the same colour in all pictures.

    Raises
    ------
    ValueError
        If the lengths differ (the message names the sequence), or a label is not of the scheme.

    Examples
    --------
    >>> from skstruct.inspection import render
    >>> picture = render([["Ada", "Lovelace", "wrote"]], [["B-PER", "I-PER", "O"]], [["B-PER", "O", "O"]])
    >>> picture.count("PER"), picture.count("✗")
    (2, 2)
    """
    kind = kind_of(X, y)
    if kind == TREES:
        parts = _trees(X, y, y_pred)
    else:
        parts = (lines(*each) for each in marked(kind, X, y, y_pred, scheme))
    return Html(box("".join(f'<div class="part">{part}</div>' for part in parts)))


def marked(kind, X, y, y_pred=None, scheme=None):
    """For each sequence tokens, marks of gold, and of predictions or None; ``kind`` is not that of trees."""
    if kind == WORDS:
        return _texts(X, y, y_pred)
    if kind == SPANS:
        return _sequences(*as_characters(X, y, y_pred), "BIO")
    return _sequences(X, y, y_pred, scheme)


def _sequences(X, y, y_pred, scheme=None):
    X, y, y_pred = checked(X, y, y_pred)
    segments_of = segment_reader((label for labels in (*y, *(y_pred or ())) for label in labels), scheme)
    gold = [marks_of(labels, segments_of) for labels in y]
    found = [None] * len(y) if y_pred is None else [marks_of(labels, segments_of) for labels in y_pred]
    return zip(X, gold, found)


def checked(X, y, y_pred):
    """Tokens to show, labels and predicted labels (or None) of sequences that are equally long."""
    X, y = tokens_shown(X), single_labels(y)
    check_same_lengths(lengths_of(X), lengths_of(y))
    if y_pred is not None:
        y_pred = as_sequences(y_pred, "y_pred", "label")
        check_same_lengths(lengths_of(X), lengths_of(y_pred), ("X", "y_pred"))
    return X, y, y_pred


def lines(tokens, gold, found):
    """Gold alone, or with predictions that differ below it."""
    if found is None or found == gold:
        return line(tokens, gold)
    here, there = set(gold), set(found)
    gold = [mark._replace(wrong=mark not in there) for mark in gold]
    found = [mark._replace(wrong=mark not in here) for mark in found]
    return note("gold") + line(tokens, gold) + note("predicted") + line(tokens, found)


def _texts(X, y, y_pred):
    pieces = as_pieces(X)
    gold, found = (None if words is None else _word_marks(pieces, words) for words in (y, y_pred))
    for i, parts in enumerate(pieces):
        yield list("".join(parts)), gold[i], found and found[i]


def _word_marks(pieces, y):
    words, tags = as_words(pieces, y)
    items = words if tags is None else [zip(*both) for both in zip(words, tags)]
    return [[Mark(a, b, tag) for a, b, _, tag in word_spans(each)] for each in items]


def _trees(X, y, y_pred):
    X, y, y_pred = checked(X, y, y_pred)
    for i, (tokens, tree) in enumerate(zip(X, y)):
        yield arcs(tokens, tree_of(i, tree), None if y_pred is None else tree_of(i, y_pred[i]))


def tree_of(i, tree):
    """(heads, labels) of one tree; labels are None if there are none."""
    heads, labels = split_heads(i, tree)
    return heads, labels if labels is not None else [None] * len(heads)


# --------------------------------------------------------------------------------------------------
# What a corpus is made of
# --------------------------------------------------------------------------------------------------
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
    if all(isinstance(item, (tuple, list)) and len(item) == 2 and is_int(item[0]) for item in tokens):
        return TREES
    if all(map(is_int, tokens)) and all(isinstance(token, tuple) for x in X for token in x):
        return TREES if all(map(_is_tree, y)) else LABELS
    return LABELS


def _is_tree(heads):
    """Whether the heads lead from every token to the root."""
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
    if X.numbers and X.like is None:
        return [[str(t) for t in range(n)] for n in X.lengths.tolist()]
    return [list(sequence) for sequence in X.lists()]


# --------------------------------------------------------------------------------------------------
# Sequences as lines: tokens, and below them the tags or the types of their segments
# --------------------------------------------------------------------------------------------------
class _End(str):
    """What stands behind the last character of a text."""


END = _End("(end)")
"""The token of a decision that is taken at the end of a text."""


class Mark(NamedTuple):
    """What a line says about the tokens ``start <= t < stop``."""

    start: int
    stop: int
    text: str
    wrong: bool = False


def segment_reader(labels, scheme=None):
    """The function that reads a sequence of labels as segments (start, stop, type); None counts as O.

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
    return lambda labels: read_spans(["O" if label is None else label for label in labels], table)


def marks_of(labels, segments_of):
    """A mark for each segment, or for each label."""
    if segments_of is not None:
        return [Mark(*span) for span in segments_of(labels)]
    return [Mark(t, t + 1, str(label)) for t, label in enumerate(labels) if label is not None]


def line(tokens, marks, limit=SHORT):
    """Tokens with what is said about them, as HTML.

    Parameters
    ----------
    tokens : list
    marks : list of Mark
        In order, not overlapping.
    """
    characters = all(
        isinstance(token, str) and (len(token) == 1 or isinstance(token, _End)) for token in tokens
    )
    run = _text if characters else lambda some: " ".join(_token(token, limit) for token in some)
    parts, at = [], 0
    for mark in marks:
        if mark.start > at:
            parts.append(_plain(run(tokens[at : mark.start])))
        parts.append(_marked(run(tokens[mark.start : mark.stop]), mark))
        at = mark.stop
    if at < len(tokens):
        parts.append(_plain(run(tokens[at:])))
    return f'<div class="line" dir="auto">{" ".join(parts)}</div>'


def _text(characters):
    """Characters as text: letters join, and words go as their script does."""
    return "<br>".join(attribute(part, len(part)) for part in "".join(characters).split("\n"))


def _token(token, limit):
    text = attribute(token, limit)
    return (
        f'<span title="{attribute(token)}">{text}</span>'
        if isinstance(token, str) and len(token) > limit
        else text
    )


def _plain(content):
    # not a block, so that long text fills the lines
    return f'<span class="plain">{content}</span>'


def _marked(content, mark):
    below = escaped(mark.text) if mark.text else ""
    if mark.wrong:
        below = f"{below} ✗" if below else "✗"
    if below:
        below = f'<span class="below">{below}</span>'
    style = label_style(mark.text)
    return f'<span class="mark{" wrong" * mark.wrong}" style="{style}">{content}{below}</span>'
