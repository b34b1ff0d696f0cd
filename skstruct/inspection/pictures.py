"""Corpora as pictures: segments, tags, words and trees, beside what was predicted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

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
from .._data.nested import overlapping_pairs
from .._data.scheme_rules import LabelTable, are_chunks, check_scheme, read_spans
from .._data.segmented import as_pieces, as_words, word_spans
from .._data.spans import as_spans, trimmed_spans
from .._data.text import as_texts
from .._data.types import Corpus
from ..metrics.tree_scores import split_heads
from .explain_taggers import as_characters, kind_of, tokens_shown
from .html import SHORT, Html, arcs, attribute, box, escaped, note

if TYPE_CHECKING:
    from .._taggers.probability_tagger import Segment
    from .html import Tree


def render(
    X: Any,
    y: Corpus,
    y_pred: Corpus | None = None,
    *,
    scheme: str | None = None,
    words: Any = None,
) -> Html:
    """Draw sequences: segments as coloured spans, words with their tags, trees as arcs.

    Parameters
    ----------
    X : list of sequences, or of texts
        As of ``predict``; a few of them: each takes one line or more.
    y : list of lists
        The output to draw: labels, the words, (word, tag) pairs or spans of texts,
        (head, label) pairs or heads. Labels of a scheme such as BIO are drawn as
        segments. As a rule gold; or what ``predict`` returned.
    y_pred : list of lists, optional
        Predictions to be compared with ``y``. Where both agree, one line is drawn; else
        both, and what is not on the other line is outlined and marked ✗.
    scheme : str, optional
        Scheme of the labels; "IO" draws segments whose labels are types without a
        prefix.
    words : list of lists of str, optional
        The text to show for each token. By default tokens that are dicts or lists of
        features are shown as the word in them.

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
    parts = drawn(kind_of(X, y), X, y, y_pred, scheme, words=words)
    return Html(box("".join(f'<div class="part">{part}</div>' for part in parts)))


def drawn(
    kind: str,
    X: Any,
    y: Corpus,
    y_pred: Corpus | None = None,
    scheme: str | None = None,
    window: Callable[..., Sequence[Any]] = lambda *parts: parts,
    words: Any = None,
) -> Iterator[str]:
    """Yield the picture of each sequence.

    ``window`` cuts out what is shown of its tokens and marks.
    """
    if kind == TREES:
        X, y, y_pred = checked(X, y, y_pred, words)
        for i, tokens in enumerate(X):
            yield arcs(
                tokens,
                tree_of(i, y[i]),
                None if y_pred is None else tree_of(i, y_pred[i]),
            )
    else:
        yield from (
            lines(*window(*parts))
            for parts in marked(kind, X, y, y_pred, scheme, words)
        )


def marked(
    kind: str,
    X: Any,
    y: Corpus,
    y_pred: Corpus | None = None,
    scheme: str | None = None,
    words: Any = None,
) -> Iterator[tuple[list[Any], list[Mark], list[Mark] | None]]:
    """Find tokens, marks of gold, and marks of predictions or None, by sequence.

    ``kind`` is not that of trees.
    """
    if kind == WORDS:
        pieces = as_pieces(X)
        tokens = [list("".join(parts)) for parts in pieces]
        gold = word_marks(pieces, y)
        found = None if y_pred is None else word_marks(pieces, y_pred)
    else:
        overlapping: list[Any] = [None, None]
        if kind == SPANS:
            scheme = "BIO"
            overlapping = [_left_out(X, y), y_pred and _left_out(X, y_pred, y)]
            X, y, y_pred = as_characters(X, y, y_pred)
            words = None
        tokens, given, predicted = checked(X, y, y_pred, words)
        segments_of = segment_reader(flatten([*given, *(predicted or ())]), scheme)
        gold = [marks_of(segments_of, labels) for labels in given]
        if predicted is None:
            found = None
        else:
            found = [marks_of(segments_of, labels) for labels in predicted]
        gold = _with_marks(gold, overlapping[0])
        found = found and _with_marks(found, overlapping[1])
    return zip(tokens, gold, repeat(None) if found is None else found)


def _left_out(X: Any, y: Corpus, of_gold: Any = None) -> list[list[Mark]]:
    """Return marks of the spans that overlap others, which labels cannot spell."""
    texts = as_texts(X)
    rows = trimmed_spans(texts, y)
    annotated = [None] * len(rows) if of_gold is None else as_spans(of_gold).types
    return [
        sorted(
            {
                Mark(each.start, each.end, str(each.label))
                for pair in overlapping_pairs(spans)
                for each in pair
                if types is None or each.label in types
            }
        )
        for spans, types in zip(rows, annotated)
    ]


def _with_marks(marks: list[list[Mark]], more: Any) -> list[list[Mark]]:
    """Add marks to those of texts, in order."""
    if more is None:
        return marks
    return [
        sorted({*some, *others}, key=lambda mark: (mark.start, -mark.stop, mark.text))
        if others
        else some
        for some, others in zip(marks, more)
    ]


@overload
def checked(
    X: Any, y: Corpus, y_pred: Corpus, words: Any = None
) -> tuple[list[list[Any]], list[list[Any]], list[Any]]: ...


@overload
def checked(
    X: Any, y: Corpus, y_pred: Corpus | None, words: Any = None
) -> tuple[list[list[Any]], list[list[Any]], list[Any] | None]: ...


def checked(
    X: Any, y: Corpus, y_pred: Corpus | None, words: Any = None
) -> tuple[list[list[Any]], list[list[Any]], list[Any] | None]:
    """Return tokens to show, labels, and predictions or None, of equal lengths."""
    tokens = tokens_shown(X, words)
    gold = single_labels(y)
    check_same_lengths(lengths_of(tokens), lengths_of(gold))
    if y_pred is None:
        return tokens, gold, None
    found = as_sequences(y_pred, "y_pred", "label")
    check_same_lengths(lengths_of(tokens), lengths_of(found), ("X", "y_pred"))
    return tokens, gold, found


def lines(tokens: list[Any], gold: list[Mark], found: list[Mark] | None) -> str:
    """Draw a sequence once; where predictions differ, they stand below gold.

    Sequences in which marks overlap are drawn twice, gold first.
    """
    if found is None or found == gold:
        return line(tokens, gold)
    here = set(gold)
    there = set(found)
    gold = [mark._replace(wrong=mark not in there) for mark in gold]
    found = [mark._replace(wrong=mark not in here) for mark in found]
    if _overlap(gold) or _overlap(found):
        first = note("gold") + line(tokens, gold)
        return first + note("predicted") + line(tokens, found)
    drawn = []
    at = 0
    for start, stop in _differing(gold, found):
        drawn += _pieces(tokens, gold, at, start)
        pair = zip(("gold", "predicted"), (gold, found))
        rows = [
            f'<span><span class="side-of">{name}</span>'
            f"{' '.join(_pieces(tokens, marks, start, stop))}</span>"
            for name, marks in pair
        ]
        drawn.append(f'<span class="pair">{"".join(rows)}</span>')
        at = stop
    drawn += _pieces(tokens, gold, at, len(tokens))
    return f'<div class="line" dir="auto">{" ".join(drawn)}</div>'


def _overlap(marks: list[Mark]) -> bool:
    return any(after.start < mark.stop for mark, after in zip(marks, marks[1:]))


def _differing(gold: list[Mark], found: list[Mark]) -> list[tuple[int, int]]:
    """Return the stretches (start, stop) of tokens that are marked differently.

    Stretches that touch are joined; no mark crosses the edge of one.
    """
    stretches: list[tuple[int, int]] = []
    for mark in sorted(mark for mark in (*gold, *found) if mark.wrong):
        if stretches and mark.start <= stretches[-1][1]:
            start, stop = stretches.pop()
            stretches.append((start, max(stop, mark.stop)))
        else:
            stretches.append((mark.start, mark.stop))
    return stretches


def word_marks(pieces: Sequence[Sequence[str]], y: Corpus) -> list[list[Mark]]:
    """Mark the words of each text; places do not count white space."""
    words, tags = as_words(pieces, y)
    items = words if tags is None else [zip(*both) for both in zip(words, tags)]
    return [[Mark(a, b, tag) for a, b, _, tag in word_spans(each)] for each in items]


def tree_of(i: int, tree: Collection[Any]) -> Tree:
    """Return (head, label) of each token; labels are str, "" if there are none."""
    heads, labels = split_heads(i, tree)
    arcs = zip(heads, repeat(None) if labels is None else labels)
    return [
        (int(head), "" if label is None else spelled(label)) for head, label in arcs
    ]


# --------------------------------------------------------------------------------------
# Sequences as lines: tokens, and below them the tags or the types of their segments
# --------------------------------------------------------------------------------------
SegmentReader: TypeAlias = "Callable[[Iterable[Any]], list[Segment]]"
"""Reads a sequence of labels as segments (start, stop, type)."""

END = "(end)"
"""The token of a decision that is taken at the end of a text."""


class Mark(NamedTuple):
    """A mark on the tokens ``start <= t < stop``."""

    start: int
    stop: int
    text: str
    wrong: bool = False


def segment_reader(
    labels: Iterable[Any], scheme: str | None = None
) -> SegmentReader | None:
    """Make the function that reads a sequence of labels as segments; None counts as O.

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
    if scheme is not None:
        return scheme_reader(labels, scheme)
    return _reader(LabelTable(None, strict=False)) if are_chunks(labels) else None


def scheme_reader(labels: Iterable[Any], scheme: str) -> SegmentReader:
    """Make the function that reads sequences of labels of a scheme as segments.

    Parameters
    ----------
    labels : iterable
        All that there are.
    scheme : str
        Theirs.

    Raises
    ------
    ValueError
        If one does not belong to the scheme.
    """
    table = LabelTable(check_scheme(scheme), strict=False)
    for label in labels:
        if label is not None:
            table[label]  # parses it
    return _reader(table)


def _reader(table: LabelTable) -> SegmentReader:
    """The function that reads labels under a table of what they mean."""

    def segments_of(labels: Iterable[Any]) -> list[Segment]:
        return read_spans(["O" if label is None else label for label in labels], table)

    return segments_of


def marks_of(segments_of: SegmentReader | None, labels: Iterable[Any]) -> list[Mark]:
    """Mark each segment of a sequence of labels; without a reader each label."""
    if segments_of is not None:
        return [Mark(*span) for span in segments_of(labels)]
    return [
        Mark(t, t + 1, spelled(label))
        for t, label in enumerate(labels)
        if label is not None
    ]


def line(tokens: Sequence[Any], marks: Iterable[Mark]) -> str:
    """Draw tokens with what is said about them, as HTML.

    Parameters
    ----------
    tokens : list
    marks : list of Mark
        In order; those that overlap others stand in lines of their own.
    """
    flat: list[Mark] = []
    below: list[Mark] = []
    at = 0
    for mark in marks:
        (below if mark.start < at else flat).append(mark)
        at = max(at, flat[-1].stop)
    parts = _pieces(tokens, flat, 0, len(tokens))
    drawn = f'<div class="line" dir="auto">{" ".join(parts)}</div>'
    return drawn + line(tokens, below) if below else drawn


def _pieces(
    tokens: Sequence[Any], marks: Iterable[Mark], start: int, stop: int
) -> list[str]:
    """Draw the tokens ``start <= t < stop`` with the marks that begin among them.

    Marks do not overlap, and end before ``stop``.
    """
    spell = _text if are_characters(tokens) else _words
    parts = []
    at = start
    for mark in marks:
        if not start <= mark.start < stop:
            continue
        if mark.start > at:
            parts.append(_plain(spell(tokens[at : mark.start])))
        parts.append(_marked(spell(tokens[mark.start : mark.stop]), mark))
        at = mark.stop
    if at < stop:
        parts.append(_plain(spell(tokens[at:stop])))
    return parts


def are_characters(tokens: Iterable[Any]) -> bool:
    """Tell whether tokens are those of a text."""
    return all(
        isinstance(token, str) and (len(token) == 1 or token == END) for token in tokens
    )


def _text(characters: Iterable[str]) -> str:
    """Write characters as text: letters join, and words go as their script does."""
    return "<br>".join(
        attribute(part, len(part)) for part in "".join(characters).split("\n")
    )


def _words(tokens: Iterable[Any]) -> str:
    """Write tokens between spaces; long ones are cut."""
    texts = []
    for token in tokens:
        texts.append(attribute(token, SHORT))
        if isinstance(token, str) and len(token) > SHORT:
            texts[-1] = f'<span title="{attribute(token)}">{texts[-1]}</span>'
    return " ".join(texts)


def _plain(content: str) -> str:
    # not a block, so that long text fills the lines
    return f'<span class="plain">{content}</span>'


def _marked(content: str, mark: Mark) -> str:
    text = escaped(mark.text) if mark.text else ""
    below = f"{text}{' ✗' if mark.wrong else ''}".strip()
    below = below and f'<span class="below">{below}</span>'
    classes = "mark wrong" if mark.wrong else "mark"
    style = label_style(mark.text)
    return f'<span class="{classes}" style="{style}">{content}{below}</span>'
