"""Curves of precision against recall, a small picture for each type of spans, as SVG.

Lines and text have the colour of the page, so that they are readable on light and on
dark ground, and a panel is narrow enough for two beside each other on a telephone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from .html import attribute, label_html, note

Curve: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Precision, recall and thresholds, these from high to low."""

MOST_PANELS = 40
"""Types that are drawn, those with the most spans."""

SIDE = 120
LEFT = 40
TOP = 8
"""Pixels: the side of the square that a curve is in, and where the square begins."""

FINEST = 0.5
"""Pixels between two points of a curve at least."""


def panels(
    curves: Mapping[str, Curve],
    n_true: Mapping[str, int],
    marked: Mapping[str, Sequence[float]],
) -> str:
    """Draw the curve of each type.

    Parameters
    ----------
    curves : dict of str to (precision, recall, thresholds)
    n_true : dict of str to int
        How many spans of each type there are.
    marked : dict of str to list of float
        Probabilities whose place on the curve of their type is marked: the first by a
        dot, the second by a ring.
    """
    often = sorted(curves, key=lambda kind: (-n_true[kind], kind))[:MOST_PANELS]
    drawn = [
        f'<div class="part">{label_html(kind or "(no type)")}<br>'
        f"{_panel(kind, curves[kind], marked[kind])}</div>"
        for kind in curves
        if kind in often
    ]
    left_out = len(curves) - len(often)
    said = note(f"the {len(often)} most frequent types") if left_out else ""
    return f'{said}<div class="side">{"".join(drawn)}</div>'


def _panel(kind: str, curve: Curve, marked: Sequence[float]) -> str:
    """Draw one curve with its axes."""
    precision, recall, p = curve
    marks = []
    told = []
    for least, look in zip(marked, ('fill="currentColor"', 'fill="none"')):
        k = int(np.count_nonzero(p >= least)) - 1
        if k < 0:
            continue
        said = (
            f"probability at least {least:.4g}: precision {precision[k]:.3f}, "
            f"recall {recall[k]:.3f}"
        )
        x = _x(recall[k])
        y = _y(precision[k])
        told.append(said)
        marks.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" {look}><title>{said}</title>'
            "</circle>"
        )
    about = attribute("; ".join([f"{kind}: precision against recall", *told]))
    right = LEFT + SIDE
    bottom = TOP + SIDE
    middle = TOP + SIDE / 2
    return (
        f'<svg width="{right + 8}" height="{bottom + 32}" role="img" '
        f'aria-label="{about}" fill="none" stroke="currentColor">'
        f'<path d="M{LEFT} {TOP}H{right}V{bottom}H{LEFT}ZM{LEFT} {middle:g}H{right}'
        f'M{LEFT + SIDE / 2:g} {TOP}V{bottom}" stroke-width=".5" opacity=".6"/>'
        f'<path d="{_line(precision, recall)}" stroke="hsl(210,75%,50%)" '
        f'stroke-width="2"/>{"".join(marks)}'
        '<g fill="currentColor" stroke="none" font-size="11" text-anchor="middle">'
        f"{_scale(bottom)}"
        f'<text x="{LEFT + SIDE / 2:g}" y="{bottom + 28}">recall</text>'
        f'<text transform="translate(11 {middle:g}) rotate(-90)">precision</text>'
        "</g></svg>"
    )


def _x(recall: float) -> float:
    return LEFT + SIDE * recall


def _y(precision: float) -> float:
    return TOP + SIDE * (1.0 - precision)


def _scale(bottom: float) -> str:
    """Write the numbers 0, 0.5 and 1 at both axes."""
    below = [
        f'<text x="{_x(value):g}" y="{bottom + 14}">{value:g}</text>'
        for value in (0.0, 0.5, 1.0)
    ]
    beside = [
        f'<text x="{LEFT - 4}" y="{_y(value) + 4:g}" text-anchor="end">{value:g}</text>'
        for value in (0.0, 0.5, 1.0)
    ]
    return "".join(below + beside)


def _line(precision: np.ndarray, recall: np.ndarray) -> str:
    """Return the steps of a curve: for more recall, spans down to the next threshold
    are needed, with their precision.

    Of steps at one recall, to within `FINEST`, the first and the last are drawn.
    """
    if not len(recall):
        return f"M{LEFT} {TOP + SIDE}"
    column = np.round(SIDE * recall / FINEST)
    first = np.flatnonzero(np.diff(column, prepend=-1.0))
    last = np.append(first[1:], len(column)) - 1
    steps = [f"M{LEFT} {_y(precision[0]):.1f}"]
    for a, b in zip(first.tolist(), last.tolist()):
        steps.append(f"V{_y(precision[a]):.1f}H{_x(recall[a]):.1f}")
        if b > a:
            steps.append(f"V{_y(precision[b]):.1f}")
    return "".join(steps)
