"""Sequences as lines of HTML: tokens, and below them the tags or the types of their segments."""

from __future__ import annotations

from typing import NamedTuple

from ..data.scheme_rules import LabelTable, read_spans
from .html import BAD, SHORT, attribute, escaped, line_colour, tint


class Mark(NamedTuple):
    """What a line says about the tokens ``start <= t < stop``."""

    start: int
    stop: int
    text: str
    wrong: bool = False


class Numbers(dict):
    """Numbers of labels, and so their colours, in the order in which they are asked for."""

    def __missing__(self, text):
        self[text] = number = len(self)
        return number


def are_chunks(labels):
    """Whether labels are those of a scheme such as BIO: whether their sequences are read as segments."""
    labels = [label for label in labels if label is not None]
    if not labels or not all(isinstance(label, str) for label in labels):
        return False
    table = LabelTable()
    try:
        parsed = {table[label] for label in labels}
    except ValueError:
        return False
    if any(kind for _, kind in parsed):
        return True
    prefixes = {prefix for prefix, _ in parsed}
    return "B" in prefixes or ("S" in prefixes and bool(prefixes & {"M", "E"})) or prefixes == {"I", "O"}


def segments_of(labels):
    """The segments (start, stop, type) of a sequence of chunk labels; None counts as O."""
    return read_spans(["O" if label is None else label for label in labels], LabelTable())


def marks_of(labels, chunks):
    """A mark for each segment, or for each label."""
    if chunks:
        return [Mark(*span) for span in segments_of(labels)]
    return [Mark(t, t + 1, str(label)) for t, label in enumerate(labels) if label is not None]


def line(tokens, marks, numbers, limit=SHORT):
    """Tokens with what is said about them, as HTML.

    Parameters
    ----------
    tokens : list
    marks : list of Mark
        In order, not overlapping.
    numbers : Numbers
    """
    shown = [_token(token, limit) for token in tokens]
    gap = "" if all(isinstance(token, str) and len(token) == 1 for token in tokens) else " "
    parts, at = [], 0
    for mark in marks:
        if mark.start > at:
            parts.append(_plain(gap.join(shown[at : mark.start])))
        parts.append(_marked(gap.join(shown[mark.start : mark.stop]), mark, numbers[mark.text]))
        at = mark.stop
    if at < len(shown):
        parts.append(_plain(gap.join(shown[at:])))
    return f'<div dir="auto" style="line-height:1.4;margin:2px 0">{" ".join(parts)}</div>'


def _token(token, limit):
    text = escaped(token, limit)
    whole = attribute(token)
    return f'<span title="{whole}">{text}</span>' if isinstance(token, str) and len(token) > limit else text


_PIECE = "display:inline-block;vertical-align:top;margin:1px 2px;padding:1px 5px"


def _plain(content):
    # not a block, so that long text fills the lines; 2px are a piece's margin and padding
    return f'<span style="position:relative;top:2px;padding:0 5px">{content}</span>'


def _marked(content, mark, number):
    below = escaped(mark.text) if mark.text else ""
    border = f"border-bottom:3px solid {line_colour(number)}"
    if mark.wrong:
        border = f"outline:2px dashed {BAD};{border}"
        below = f"{below} ✗" if below else "✗"
    if below:
        below = f'<span style="display:block;font-size:.7em;opacity:.85;text-align:center">{below}</span>'
    style = f"{_PIECE};background:{tint(number)};border-radius:3px;{border}"
    return f'<span style="{style}">{content}{below}</span>'
