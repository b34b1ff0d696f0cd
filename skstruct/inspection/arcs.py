"""Dependency trees as arcs over the words, as SVG."""

from __future__ import annotations

import html
import unicodedata
from typing import NamedTuple

from .html import BAD, attribute, readable

WORD_LENGTH, LABEL_LENGTH = 24, 16
"""Characters shown of a word and of a label."""

GAP, STEP, LETTER, SMALL = 18, 22, 8.5, 6.5
"""Pixels between words, between levels of arcs, and of a letter of a word and of a label."""


class Arc(NamedTuple):
    """An arc from a head to its dependent, both counted from 1; head 0 is the root."""

    head: int
    child: int
    label: str
    wrong: bool


def arcs(tokens, gold, found=None):
    """A tree, and below the words what was predicted otherwise.

    Parameters
    ----------
    tokens : list
        Words, or tuples of a word, its tag and other columns.
    gold, found : (heads, labels)
        Labels are None where there are none.

    Returns
    -------
    str
        SVG. Arcs that are only in gold, above, and only predicted, below, are dashed.
    """
    upper = _arcs(gold)
    lower = set() if found is None else _arcs(found) - upper
    missed = set() if found is None else upper - _arcs(found)
    above = [Arc(*arc, arc in missed) for arc in sorted(upper)]
    below = [Arc(*arc, True) for arc in sorted(lower)]
    words = [readable(token, WORD_LENGTH) for token in tokens]
    tags = [_tag(token) for token in tokens]
    centre, width = _places(words, tags, above + below)
    if _turned(words):
        centre = [width - x for x in centre]
    up, down = _levels(above), _levels(below)
    top = STEP * (max(up.values(), default=0) + 1)
    bottom = top + (40 if any(tags) else 24)
    height = bottom + (STEP * (max(down.values(), default=0) + 1) if below else 0) + 4
    parts = [_word(*each, centre[t], top) for t, each in enumerate(zip(tokens, words, tags))]
    parts += [_arc(arc, centre, up[arc], top, -1) for arc in above]
    parts += [_arc(arc, centre, down[arc], bottom, 1) for arc in below]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" style="color:inherit;font-family:system-ui,sans-serif">'
        f"{''.join(parts)}</svg>"
    )


def _arcs(tree):
    heads, labels = tree
    pairs = enumerate(zip(heads, labels), start=1)
    return {(int(head), child, "" if label is None else str(label)) for child, (head, label) in pairs}


def _tag(token):
    if isinstance(token, tuple) and len(token) > 1:
        return readable(str(token[1]), LABEL_LENGTH)
    return ""


def _size(text, letter):
    """The width of a text in pixels; East Asian characters are wide."""
    return letter * sum(1.7 if unicodedata.east_asian_width(c) in "WF" else 1.0 for c in text)


def _places(words, tags, listed):
    """The middle of each word, and the width of the picture.

    An arc between neighbours needs room for its label.
    """
    sizes = [max(_size(word, LETTER), _size(tag, SMALL), 12.0) for word, tag in zip(words, tags)]
    room = [0.0] * (len(words) + 1)  # between word t - 1 and word t
    for arc in listed:
        if arc.head and abs(arc.head - arc.child) == 1:
            t = max(arc.head, arc.child) - 1
            room[t] = max(room[t], _size(arc.label[:LABEL_LENGTH], SMALL) + 14)
    x, centre = 10.0, []
    for t, size in enumerate(sizes):
        if t:
            x += max(GAP, room[t] - (size + sizes[t - 1]) / 2)
        centre.append(x + size / 2)
        x += size
    return centre, x + 10.0


def _turned(words):
    """Whether most letters are written from right to left."""
    kinds = [unicodedata.bidirectional(c) for word in words for c in word]
    right = sum(kind in ("R", "AL") for kind in kinds)
    return right > sum(kind == "L" for kind in kinds)


def _levels(listed):
    """How high each arc is: above those that it spans."""
    levels = {}
    for arc in sorted(listed, key=lambda arc: abs(arc.head - arc.child) if arc.head else 0):
        low, high = sorted((arc.head or arc.child, arc.child))
        inner = [
            level
            for other, level in levels.items()
            if low <= min(other.head or other.child, other.child)
            and max(other.head, other.child) <= high
            and (other.head or not low < other.child < high)
        ]
        levels[arc] = 1 + max(inner, default=0)
    highest = max(levels.values(), default=1)
    return {arc: level if arc.head else highest for arc, level in levels.items()}


def _text(x, y, size, content, style="", title=""):
    title = f"<title>{title}</title>" if title else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="middle" fill="currentColor" '
        f'style="unicode-bidi:isolate;{style}">{title}{html.escape(content)}</text>'
    )


def _word(token, word, tag, x, top):
    out = _text(x, top + 16, 14, word, title=attribute(token))
    return out + (_text(x, top + 31, 10.5, tag, "opacity:.7") if tag else "")


def _arc(arc, centre, level, base, way):
    """An arc on one side of the words; ``way`` is -1 above them, 1 below."""
    end, peak = centre[arc.child - 1], base + way * STEP * level
    colour = BAD if arc.wrong else "currentColor"
    line = f'fill="none" stroke="{colour}" stroke-width="1.3"' + (
        ' stroke-dasharray="4 3"' if arc.wrong else ""
    )
    if arc.head:
        start = centre[arc.head - 1]
        lean = 4 if start < end else -4
        start, end = start + lean, end - lean
        bend = min(12.0, abs(end - start) / 2) * (1 if start < end else -1)
        path = (
            f"M{start:.1f},{base} C{start:.1f},{peak} {start:.1f},{peak} {start + bend:.1f},{peak} "
            f"L{end - bend:.1f},{peak} C{end:.1f},{peak} {end:.1f},{peak} {end:.1f},{base}"
        )
        middle = (start + end) / 2
    else:
        path, middle = f"M{end:.1f},{peak} L{end:.1f},{base}", end
    tip = f"M{end - 3.5:.1f},{base + 6 * way} L{end:.1f},{base} L{end + 3.5:.1f},{base + 6 * way}"
    text = readable(arc.label or ("" if arc.head else "root"), LABEL_LENGTH) + (" ✗" if arc.wrong else "")
    label = _text(middle, peak - 3 if way < 0 else peak + 11, 10.5, text) if text else ""
    return f'<path d="{path}" {line}/><path d="{tip}" fill="none" stroke="{colour}"/>{label}'
