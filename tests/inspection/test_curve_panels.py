"""Curves of precision against recall as SVG: read again, they are those of the spans."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from skstruct.inspection.curve_panels import (
    FINEST,
    LEFT,
    MOST_PANELS,
    SIDE,
    TOP,
    panels,
)
from skstruct.inspection.thresholds import precision_recall_curve


def drawn_curves(html):
    """Of each curve the points (recall, precision) that its steps lead to."""
    found = []
    for path in re.findall(r'<path d="([^"]*)" stroke="hsl', html):
        x, y = map(float, re.match(r"M(\S+) ([\d.]+)", path).groups())
        points = []
        for up, along in re.findall(r"V([\d.]+)(?:H([\d.]+))?", path):
            x = float(along or x)
            points.append(((x - LEFT) / SIDE, 1.0 - (float(up) - TOP) / SIDE))
        found.append(points)
    return found


@pytest.mark.parametrize("n", [1, 7, 60, 5000])
def test_the_steps_are_those_of_all_thresholds(n):
    random = np.random.RandomState(n)
    p = random.uniform(0.01, 1.0, n).round(3)
    right = random.uniform(size=n) < p
    n_true = int(right.sum()) + n // 5 + 1
    curve = precision_recall_curve(list(zip(p.tolist(), right.tolist())), n_true)
    html = panels({"PER": curve}, {"PER": n_true}, {"PER": [0.9, 0.5]})
    (points,) = drawn_curves(html)
    assert len(points) <= 3 * SIDE / FINEST + 4
    near = FINEST / SIDE + 0.1 / SIDE
    for r, share in points:
        close = np.abs(curve[1] - r) <= near
        assert np.abs(curve[0][close] - share).min(initial=1.0) < 0.2 / SIDE
    assert points[-1][0] == pytest.approx(curve[1][-1], abs=near)
    assert points[-1][1] == pytest.approx(curve[0][-1], abs=0.2 / SIDE)
    for least in (0.9, 0.5):
        above = p >= least
        if above.any():
            assert (
                f"probability at least {least}: precision {right[above].mean():.3f}, "
                f"recall {right[above].sum() / n_true:.3f}" in html
            )


def test_without_a_candidate_there_are_axes():
    nothing = precision_recall_curve([], 3)
    html = panels({"PER": nothing}, {"PER": 3}, {"PER": [0.5]})
    assert "<circle" not in html and ">precision</text>" in html
    assert drawn_curves(html) == [[]]


def test_of_many_types_the_most_frequent_are_drawn():
    kinds = [f"T{k:02}" for k in range(MOST_PANELS + 5)]
    curve = precision_recall_curve([(0.9, True)], 1)
    counts = {kind: 1 + (kind != "T07") for kind in kinds}
    counts |= dict.fromkeys(kinds[-4:], 1)
    html = panels(dict.fromkeys(kinds, curve), counts, dict.fromkeys(kinds, [0.5]))
    assert html.count("<svg") == MOST_PANELS
    assert f"the {MOST_PANELS} most frequent types" in html
    assert ">T07<" not in html and ">T08<" in html


def test_types_are_no_markup():
    class Reader(HTMLParser):
        labels: list[str] = []

        def handle_starttag(self, tag, attrs):
            assert tag != "b"
            self.labels += [value for name, value in attrs if name == "aria-label"]

    kind = "<b>\"'&"
    curve = precision_recall_curve([(0.9, True)], 1)
    Reader().feed(panels({kind: curve}, {kind: 1}, {kind: [0.5]}))
    (label,) = Reader.labels
    assert label.startswith(f"{kind}: precision against recall; probability at least")
