"""Sequences as lines of HTML: tokens, and below them the tags or the types of their segments."""

from __future__ import annotations

from typing import NamedTuple

from ..data.scheme_rules import LabelTable, read_spans
from .html import SHORT, attribute, colour, escaped


class Mark(NamedTuple):
    """What a line says about the tokens ``start <= t < stop``."""

    start: int
    stop: int
    text: str
    wrong: bool = False


def segments_of(labels):
    """The segments (start, stop, type) of a sequence of chunk labels; None counts as O."""
    return read_spans(["O" if label is None else label for label in labels], LabelTable())


def marks_of(labels, chunks):
    """A mark for each segment, or for each label."""
    if chunks:
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
    shown = [_token(token, limit) for token in tokens]
    gap = "" if all(isinstance(token, str) and len(token) == 1 for token in tokens) else " "
    parts, at = [], 0
    for mark in marks:
        if mark.start > at:
            parts.append(_plain(gap.join(shown[at : mark.start])))
        parts.append(_marked(gap.join(shown[mark.start : mark.stop]), mark))
        at = mark.stop
    if at < len(shown):
        parts.append(_plain(gap.join(shown[at:])))
    return f'<div class="line" dir="auto">{" ".join(parts)}</div>'


def _token(token, limit):
    text = escaped(token, limit)
    whole = attribute(token)
    return f'<span title="{whole}">{text}</span>' if isinstance(token, str) and len(token) > limit else text


def _plain(content):
    # not a block, so that long text fills the lines
    return f'<span class="plain">{content}</span>'


def _marked(content, mark):
    below = escaped(mark.text) if mark.text else ""
    if mark.wrong:
        below = f"{below} ✗" if below else "✗"
    if below:
        below = f'<span class="below">{below}</span>'
    hue, kind = colour(mark.text)
    style = f"background:hsla({hue},75%,50%,.25);border-bottom:3px {kind} hsl({hue},60%,50%)"
    return f'<span class="mark{" wrong" * mark.wrong}" style="{style}">{content}{below}</span>'
