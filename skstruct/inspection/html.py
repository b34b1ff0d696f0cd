"""Text, colours and bars as HTML that is complete in itself.

Everything is a fragment with its styles inside, without scripts and without a page around it: a notebook
shows it as it is. Colours are half transparent over the page's own, and text has the page's colour, so that
the same fragment is readable on light and on dark ground. All text goes through :func:`escaped`.
"""

from __future__ import annotations

import html
import unicodedata

import numpy as np

SHORT, LONG = 60, 120
"""Characters shown of a token, and of the name of a feature."""

GOOD, BAD = "hsl(145,55%,42%)", "hsl(5,75%,55%)"
"""Of what adds to a score, and of what takes from it or is wrong."""

_TURNS = {"\u200e", "\u200f", "\u061c", *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}
"""Characters that turn the direction of what follows them."""


class Html(str):
    """HTML as a str that notebooks show."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


def readable(value, limit=SHORT):
    """A token, label or feature as text of at most ``limit`` characters on one line.

    What does not print is written as an escape sequence, but for the joiners of Arabic or Indic letters.
    """
    text = value if isinstance(value, str) else _other(value)
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return "".join(map(_visible, text))


def _other(value):
    """The text of a token that is no str: its first column, or its features."""
    if isinstance(value, tuple) and value and isinstance(value[0], str):
        return value[0]
    if isinstance(value, np.ndarray):
        return "[" + " ".join(f"{x:.3g}" for x in value[:6].tolist()) + (" …]" if len(value) > 6 else "]")
    if isinstance(value, dict):
        return ", ".join(f"{name}={x}" for name, x in list(value.items())[:6])
    if isinstance(value, list):
        return ", ".join(map(str, value[:6]))
    return str(value)


def _visible(c):
    if c.isprintable():
        return c
    if c not in _TURNS and unicodedata.category(c) == "Cf":
        return c
    return repr(c)[1:-1]


def escaped(value, limit=SHORT):
    """:func:`readable` as HTML, in a direction of its own."""
    return f"<bdi>{html.escape(readable(value, limit))}</bdi>"


def attribute(value, limit=4 * LONG):
    """:func:`readable` inside of an attribute's quotes."""
    return html.escape(readable(value, limit), quote=True)


def hue(number):
    """A hue for each number, far from those of its neighbours."""
    return round(210 + number * 137.508) % 360


def tint(number, strength=0.25):
    """A background for a label's number."""
    return f"hsla({hue(number)},75%,50%,{strength})"


def line_colour(number):
    """A line for a label's number, visible on light and on dark ground."""
    return f"hsl({hue(number)},60%,50%)"


def shade(value, largest):
    """A background as strong as a number is large: green above zero, red below."""
    if not np.isfinite(value):
        return "transparent"
    strength = 0.75 * min(abs(value) / largest, 1.0) if largest > 0.0 else 0.0
    return f"hsla({145 if value > 0 else 5},65%,45%,{strength:.2f})"


def box(content, style=""):
    """The outermost element of a fragment."""
    return (
        '<div class="skstruct" style="font-family:system-ui,sans-serif;font-size:14px;line-height:1.5;'
        f'color:inherit;overflow-x:auto;{style}">{content}</div>'
    )


def bar(value, largest, width=120):
    """A number as a bar to the right of a middle line, or to its left."""
    share = 0.0 if largest <= 0.0 or not np.isfinite(value) else min(abs(value) / largest, 1.0)
    if value == -np.inf:
        share = 1.0
    size, half = round(share * width / 2), width // 2
    at = f"left:{half}px" if value > 0 else f"right:{half}px"
    return (
        f'<span style="display:inline-block;position:relative;width:{width}px;height:0.8em;'
        f'vertical-align:middle"><span style="position:absolute;{at};top:0;bottom:0;width:{size}px;'
        f'background:{GOOD if value > 0 else BAD};opacity:.75"></span><span style="position:absolute;'
        f'left:{half}px;top:-2px;bottom:-2px;border-left:1px solid currentColor;opacity:.4"></span></span>'
    )


CELL = "padding:1px 8px;text-align:left;border:none;background:transparent"
NUMBER = (
    "padding:1px 8px;text-align:right;border:none;background:transparent;font-variant-numeric:tabular-nums"
)


def table(rows, head=None, style=""):
    """A table of cells, each HTML or (HTML, style)."""

    def cells(row, tag):
        pairs = (cell if isinstance(cell, tuple) else (cell, CELL) for cell in row)
        return "".join(f'<{tag} style="{css}">{text}</{tag}>' for text, css in pairs)

    lines = [f"<tr>{cells(row, 'td')}</tr>" for row in rows]
    if head is not None:
        lines.insert(0, f'<tr style="border-bottom:1px solid">{cells(head, "th")}</tr>')
    return f'<table style="border-collapse:collapse;color:inherit;{style}">{"".join(lines)}</table>'


def note(text):
    """A sentence beside a picture."""
    return f'<div style="opacity:.75;font-size:.9em">{text}</div>'
