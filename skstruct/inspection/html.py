"""Text, colours and bars as HTML that is complete in itself, without scripts.

A notebook shows fragments: an element with its style sheet inside. Colours are half transparent over those of
the page, and text has the page's colour, so that a fragment is readable on light and on dark ground. A file
holds a whole page (:class:`Html`), light or dark as the reader's system is. All text goes through
:func:`escaped`.

The colour of a label is a function of its name alone (`skstruct.data.label_colours`). Marks are drawn as on
the page of a model that is one file.
"""

from __future__ import annotations

import html
import unicodedata
from importlib.resources import files

import numpy as np

from ..data.label_colours import label_style

SHORT, LONG = 60, 120
"""Characters shown of a token, and of the name of a feature."""

BAD = "hsl(5,75%,55%)"
"""Of what is wrong."""

_TURNS = {"\u200e", "\u200f", "\u061c", *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}
"""Characters that turn the direction of what follows them."""


_STYLE = "".join(
    (files(f"skstruct.{folder}") / name).read_text("utf-8").replace("\n", "")
    for folder, name in (("inspection", "style.css"), ("interchange.one_file", "page/marks.css"))
)

_PAGE = """\
<!DOCTYPE html><html><head><meta charset="utf-8">\
<meta name="viewport" content="width=device-width,initial-scale=1">\
<title>skstruct</title><style>:root{color-scheme:light dark}\
body{background:#fff;color:#1b1b1b}\
@media(prefers-color-scheme:dark){body{background:#161a1f;color:#e4e4e4}}</style></head><body>%s</body></html>"""


class Html(str):
    """A page of HTML as a str to be written into a file (as UTF-8); notebooks show what is on it.

    Parameters
    ----------
    fragment : str
        What is on the page.
    """

    fragment: str

    def __new__(cls, fragment: str) -> Html:
        page = super().__new__(cls, _PAGE % fragment)
        page.fragment = fragment
        return page

    def __getnewargs__(self) -> tuple[str]:
        return (self.fragment,)

    def _repr_html_(self) -> str:
        return self.fragment


class Shown:
    """What notebooks show by ``_repr_html_``, which a subclass writes."""

    __slots__ = ()

    def to_html(self) -> Html:
        """A whole page of HTML as a str, to be written into a file as UTF-8."""
        return Html(self._repr_html_())  # type: ignore[attr-defined]


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


def label_html(label):
    """A label in its colour."""
    return f'<span class="mark" style="{label_style(label)}">{escaped(label)}</span>'


def shade(value, largest):
    """A background as strong as a number is large: green above zero, red below."""
    if not np.isfinite(value):
        return "transparent"
    strength = 0.5 * min(abs(value) / largest, 1.0) if largest > 0.0 else 0.0
    return f"hsla({145 if value > 0 else 5},65%,45%,{strength:.2f})"


def box(content):
    """The outermost element of a fragment."""
    return f'<div class="skstruct"><style>{_STYLE}</style>{content}</div>'


def bar(value, largest):
    """A number as a bar to the right of a middle line, or to its left."""
    share = 0.0 if largest <= 0.0 or not np.isfinite(value) else min(abs(value) / largest, 1.0)
    if value == -np.inf:
        share = 1.0
    way = "up" if value > 0 else "down"
    return f'<span class="bar"><i class="{way}" style="width:{50 * share:.0f}%"></i></span>'


def cell(content, classes="", style="", tag="td"):
    """A cell of a table."""
    classes, style = classes and f' class="{classes}"', style and f' style="{style}"'
    return f"<{tag}{classes}{style}>{content}</{tag}>"


def table(rows, head=None, classes=""):
    """A table of rows of cells; ``head``: names of the columns."""
    lines = [f"<tr>{''.join(row)}</tr>" for row in rows]
    if head is not None:
        lines.insert(0, f'<tr class="head">{"".join(cell(name, tag="th") for name in head)}</tr>')
    classes = classes and f' class="{classes}"'
    return f"<table{classes}>{''.join(lines)}</table>"


def note(text):
    """A sentence beside a picture."""
    return f'<div class="note">{text}</div>'
