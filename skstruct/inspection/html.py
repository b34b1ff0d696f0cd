"""Text, colours and bars as HTML that is complete in itself, without scripts.

A notebook shows fragments: an element with its style sheet inside. Colours are half
transparent over those of the page, and text has the page's colour, so that a fragment
is readable on light and on dark ground. A file holds a whole page (:class:`Html`),
light or dark as the reader's system is. All text goes through :func:`escaped`.

The colour of a label is a function of its name alone (`skstruct._data.label_colours`).
Marks are drawn as on the page of a model that is one file.

Dependency trees are arcs over the words, as SVG.
"""

from __future__ import annotations

import html
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from importlib.resources import files
from itertools import islice, zip_longest
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from .._data.elements import label_text, spelled
from .._data.label_colours import label_style, marks_style

SHORT = 60
LONG = 120
"""Characters shown of a token, and of the name of a feature."""

Tree: TypeAlias = list[tuple[int, str]]
"""Head and label of each token: heads count from 1, 0 is the root; "" is no label."""

BAD = "hsl(5,75%,55%)"
"""The colour of errors."""

_TURNS = {
    "\u200e",
    "\u200f",
    "\u061c",
    *map(chr, range(0x202A, 0x202F)),
    *map(chr, range(0x2066, 0x206A)),
}
"""Characters that turn the direction of what follows them."""


_STYLE = "".join(
    style.replace("\n", "")
    for style in (
        files(__package__).joinpath("style.css").read_text("utf-8"),
        marks_style(),
    )
)

_PAGE = """\
<!DOCTYPE html><html><head><meta charset="utf-8">\
<meta name="viewport" content="width=device-width,initial-scale=1">\
<title>%s</title><style>:root{color-scheme:light dark}\
body{background:#fff;color:#1b1b1b;font:14px/1.5 system-ui,sans-serif;\
max-width:72rem;margin:0 auto;padding:1rem}h1{font-size:1.5em;margin:.3em 0}\
@media(prefers-color-scheme:dark){body{background:#161a1f;color:#e4e4e4}}\
</style></head><body>%s</body></html>"""


class Html(str):
    """A page of HTML, as a str to be written into a file; notebooks show what is on it.

    The file's encoding has to be UTF-8.

    Parameters
    ----------
    fragment : str
        The content of the page.
    title : str, default="skstruct"
        The title of the page.
    """

    fragment: str
    page_title: str

    def __new__(cls, fragment: str, title: str = "skstruct") -> Html:
        """Make a page around a fragment."""
        page = super().__new__(cls, _PAGE % (html.escape(title), fragment))
        page.fragment = fragment
        page.page_title = title
        return page

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return self.fragment, self.page_title

    def _repr_html_(self) -> str:
        return self.fragment


class Shown(ABC):
    """The mixin for the display in notebooks (``_repr_html_``), which a subclass
    writes.
    """

    __slots__ = ()

    _title = "skstruct"
    """The title of the page."""

    _has_heading: ClassVar[bool] = False
    """True if the fragment begins with a heading of its own."""

    @abstractmethod
    def _repr_html_(self) -> str | None:
        """Return a fragment of HTML, as notebooks ask for it; None if there is no
        picture.
        """

    def to_html(self, title: str | None = None) -> Html:
        """Return a whole page of HTML as a str, to be written into a file as UTF-8.

        Parameters
        ----------
        title : str, optional
            The name that browsers show for the page, and its heading.
        """
        fragment = self._repr_html_() or ""
        if title and not self._has_heading:
            fragment = f"<h1>{escaped(title, LONG)}</h1>{fragment}"
        return Html(fragment, title or self._title)


def readable(value: Any, limit: int = SHORT) -> str:
    """Write a token, label or feature as one line of at most ``limit`` characters.

    What does not print is written as an escape sequence, but for the joiners of Arabic
    or Indic letters.
    """
    text = value if isinstance(value, str) else _other(value)
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return "".join(map(_visible, text))


def _other(value: Any) -> str:
    """Write a token that is no str: its first column, or its features."""
    if isinstance(value, tuple) and value and isinstance(value[0], str):
        return value[0]
    if isinstance(value, np.ndarray):
        numbers = " ".join(f"{x:.3g}" for x in value[:6].tolist())
        return f"[{numbers}{' …]' if len(value) > 6 else ']'}"
    if isinstance(value, dict):
        value = [
            f"{spelled(name)}={spelled(x)}" for name, x in islice(value.items(), 6)
        ]
    return ", ".join(map(spelled, value[:6])) if isinstance(value, list) else str(value)


def _visible(c: str) -> str:
    """Return a character, or its escape sequence if it does not print."""
    kept = c.isprintable() or (c not in _TURNS and unicodedata.category(c) == "Cf")
    return c if kept else repr(c)[1:-1]


def escaped(value: Any, limit: int = SHORT) -> str:
    """Write a value as :func:`readable` does, as HTML in a direction of its own."""
    return f"<bdi>{html.escape(readable(value, limit))}</bdi>"


def attribute(value: Any, limit: int = 4 * LONG) -> str:
    """Write a value as :func:`readable` does, for an attribute of HTML in quotes."""
    return html.escape(readable(value, limit), quote=True)


def label_html(label: str) -> str:
    """Write a label in its colour."""
    return f'<span class="mark" style="{label_style(label)}">{escaped(label_text(label))}</span>'


def shade(value: float, largest: float) -> str:
    """Return a background as strong as a number is large, green, or red below zero."""
    if not np.isfinite(value):
        return "transparent"
    strength = 0.5 * min(abs(value) / largest, 1.0) if largest > 0.0 else 0.0
    return f"hsla({145 if value > 0 else 5},65%,45%,{strength:.2f})"


def box(content: str) -> str:
    """Put the outermost element of a fragment around its content."""
    return f'<div class="skstruct"><style>{_STYLE}</style>{content}</div>'


def bar(value: float, largest: float) -> str:
    """Draw a number as a bar to the right of a middle line, or to its left."""
    share = float(value == -np.inf)
    if largest > 0.0 and np.isfinite(value):
        share = min(abs(value) / largest, 1.0)
    way = "up" if value > 0 else "down"
    style = f"width:{50 * share:.0f}%"
    return f'<span class="bar"><i class="{way}" style="{style}"></i></span>'


def cell(content: str, classes: str = "", style: str = "", tag: str = "td") -> str:
    """Write a cell of a table."""
    classes = classes and f' class="{classes}"'
    style = style and f' style="{style}"'
    return f"<{tag}{classes}{style}>{content}</{tag}>"


_NUMBER = '<td class="number"'


def table(
    rows: Iterable[Iterable[str]], head: Iterable[str] | None = None, classes: str = ""
) -> str:
    """Write a table of rows of cells; ``head`` names its columns.

    Names of columns of numbers stand to the right, as the numbers do.
    """
    rows = [list(row) for row in rows]
    lines = [f"<tr>{''.join(row)}</tr>" for row in rows]
    if head is not None:
        first = rows[0] if rows else []
        names = [
            cell(name, "number" if one.startswith(_NUMBER) else "", tag="th")
            for name, one in zip_longest(head, first, fillvalue="")
        ]
        lines.insert(0, f'<tr class="head">{"".join(names)}</tr>')
    classes = classes and f' class="{classes}"'
    return f"<table{classes}>{''.join(lines)}</table>"


def note(text: str) -> str:
    """Write a sentence beside a picture."""
    return f'<div class="note">{text}</div>'


WORD_LENGTH = 24
LABEL_LENGTH = 16
"""Characters shown of a word and of a label."""

GAP = 18
STEP = 22
LETTER = 8.5
SMALL = 6.5
"""Pixels between words, between levels of arcs, and of a letter of a word and of a
label.
"""


class Arc(NamedTuple):
    """An arc from a head to its dependent, both counted from 1; head 0 is the root."""

    head: int
    child: int
    label: str
    wrong: bool


def arcs(tokens: Sequence[Any], gold: Tree, found: Tree | None = None) -> str:
    """Draw a tree, and below the words what was predicted otherwise.

    Parameters
    ----------
    tokens : list
        Words, or tuples of a word, its tag and other columns.
    gold, found : list of (int, str)
        Head and label of each token.

    Returns
    -------
    str
        SVG. Arcs that are only in gold, above, and only predicted, below, are dashed.
    """
    upper = _arcs(gold)
    other = _arcs(gold if found is None else found)
    above = [Arc(*arc, arc not in other) for arc in sorted(upper)]
    below = [Arc(*arc, True) for arc in sorted(other - upper)]
    words = [readable(token, WORD_LENGTH) for token in tokens]
    tags = [_tag(token) for token in tokens]
    centre, width = _places(words, tags, above + below)
    if _turned(words):
        centre = [width - x for x in centre]
    up = _levels(above)
    down = _levels(below)
    top = STEP * (max(up.values(), default=0) + 1)
    bottom = top + (40 if any(tags) else 24)
    height = bottom + (STEP * (max(down.values()) + 1) if below else 0) + 4
    parts = [
        _word(*each, centre[t], top) for t, each in enumerate(zip(tokens, words, tags))
    ]
    parts += [_arc(arc, centre, up[arc], top, -1) for arc in above]
    parts += [_arc(arc, centre, down[arc], bottom, 1) for arc in below]
    size = f'width="{width:.0f}" height="{height:.0f}"'
    view = f'viewBox="0 0 {width:.0f} {height:.0f}"'
    style = 'style="color:inherit;font-family:system-ui,sans-serif"'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {view} {style}>'
    return f"{opening}{''.join(parts)}</svg>"


def _arcs(tree: Tree) -> set[tuple[int, int, str]]:
    """Collect the arcs (head, child, label) of a tree."""
    return {(head, child, label) for child, (head, label) in enumerate(tree, start=1)}


def _tag(token: Any) -> str:
    if isinstance(token, tuple) and len(token) > 1:
        return readable(spelled(token[1]), LABEL_LENGTH)
    return ""


def _size(text: str, letter: float) -> float:
    """Estimate the width of a text in pixels; East Asian characters are wide."""
    return letter * sum(
        1.7 if unicodedata.east_asian_width(c) in "WF" else 1.0 for c in text
    )


def _places(
    words: list[str], tags: list[str], listed: list[Arc]
) -> tuple[list[float], float]:
    """Place the words: the middle of each, and the width of the picture, in pixels.

    An arc between neighbours needs room for its label.
    """
    sizes = [
        max(_size(word, LETTER), _size(tag, SMALL), 12.0)
        for word, tag in zip(words, tags)
    ]
    room = [0.0] * (len(words) + 1)  # between word t - 1 and word t
    for arc in listed:
        if arc.head and abs(arc.head - arc.child) == 1:
            t = max(arc.head, arc.child) - 1
            room[t] = max(room[t], _size(arc.label[:LABEL_LENGTH], SMALL) + 14)
    x = 10.0
    centre = []
    for t, size in enumerate(sizes):
        if t:
            x += max(GAP, room[t] - (size + sizes[t - 1]) / 2)
        centre.append(x + size / 2)
        x += size
    return centre, x + 10.0


def _turned(words: list[str]) -> bool:
    """Tell whether most letters are written from right to left."""
    kinds = [unicodedata.bidirectional(c) for word in words for c in word]
    right = sum(kind in ("R", "AL") for kind in kinds)
    return right > sum(kind == "L" for kind in kinds)


def _levels(listed: list[Arc]) -> dict[Arc, int]:
    """Find how high each arc is: above those that it spans."""
    levels: dict[Arc, int] = {}
    for arc in sorted(
        listed, key=lambda arc: abs(arc.head - arc.child) if arc.head else 0
    ):
        low, high = sorted((arc.head or arc.child, arc.child))
        inner = [0]
        for other, level in levels.items():
            first, last = sorted((other.head or other.child, other.child))
            if (
                low <= first
                and last <= high
                and (other.head or not low < other.child < high)
            ):
                inner.append(level)
        levels[arc] = 1 + max(inner)
    highest = max(levels.values(), default=1)
    return {arc: level if arc.head else highest for arc, level in levels.items()}


def _text(
    x: float, y: float, size: float, content: str, style: str = "", title: str = ""
) -> str:
    title = f"<title>{title}</title>" if title else ""
    look = (
        f'text-anchor="middle" fill="currentColor" style="unicode-bidi:isolate;{style}"'
    )
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}"'
    return f"<text {place} {look}>{title}{html.escape(content)}</text>"


def _word(token: Any, word: str, tag: str, x: float, top: float) -> str:
    out = _text(x, top + 16, 14, word, title=attribute(token))
    return out + (_text(x, top + 31, 10.5, tag, "opacity:.7") if tag else "")


def _arc(arc: Arc, centre: list[float], level: int, base: float, way: int) -> str:
    """Draw an arc on one side of the words; ``way`` is -1 above them, 1 below."""
    end = centre[arc.child - 1]
    peak = base + way * STEP * level
    colour = BAD if arc.wrong else "currentColor"
    dashes = ' stroke-dasharray="4 3"' if arc.wrong else ""
    if arc.head:
        start = centre[arc.head - 1]
        right = 1 if start < end else -1
        start = start + 4 * right
        end = end - 4 * right
        bend = right * min(12.0, abs(end - start) / 2)
        path = (
            f"M{start:.1f},{base} C{start:.1f},{peak} {start:.1f},{peak} "
            f"{start + bend:.1f},{peak} L{end - bend:.1f},{peak} "
            f"C{end:.1f},{peak} {end:.1f},{peak} {end:.1f},{base}"
        )
        middle = (start + end) / 2
    else:
        path = f"M{end:.1f},{peak} L{end:.1f},{base}"
        middle = end
    wing = base + 6 * way
    tip = f"M{end - 3.5:.1f},{wing} L{end:.1f},{base} L{end + 3.5:.1f},{wing}"
    text = readable(arc.label or ("" if arc.head else "root"), LABEL_LENGTH)
    text += " ✗" if arc.wrong else ""
    height = peak - 3 if way < 0 else peak + 11
    label = _text(middle, height, 10.5, text) if text else ""
    line = f'fill="none" stroke="{colour}" stroke-width="1.3"{dashes}'
    head = f'<path d="{tip}" fill="none" stroke="{colour}"/>'
    return f'<path d="{path}" {line}/>{head}{label}'
