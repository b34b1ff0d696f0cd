"""An explanation as HTML: the sequence, and for each token bars that add up to its score."""

from __future__ import annotations

from math import fsum, inf, isfinite

from .html import CELL, LONG, NUMBER, SHORT, bar, box, escaped, note, table
from .lines import Mark, Numbers, line

TOP = 10
"""Contributions that are listed of a token; the others are one line."""

MOST = 200
"""Tokens whose contributions are listed."""


def explanation_html(explanation):
    """HTML of an :class:`rendering.Explanation`."""
    tokens = explanation.tokens
    if explanation.segments is None:
        marks = [Mark(t, t + 1, str(token.label)) for t, token in enumerate(tokens)]
    else:
        marks = [Mark(*segment) for segment in explanation.segments]
    found = [abs(value) for token in tokens for _, value in _parts(token) if isfinite(value)]
    largest = max(found, default=0.0)
    details = "".join(_details(t, token, largest) for t, token in enumerate(tokens[:MOST]))
    if len(tokens) > MOST:
        details += note(f"{len(tokens) - MOST:,} more tokens; to_frame() has all of them")
    sequence = line([token.token for token in tokens], marks, Numbers())
    return box(sequence + note(f"score {explanation.score:+.3f}") + details)


def _parts(token):
    """All contributions, largest first."""
    parts = [part for part in token.features + token.transitions if part[1] != 0.0]
    return sorted(parts, key=lambda part: -abs(part[1]))


def _details(t, token, largest):
    label = escaped(token.label)
    head = f"{t} {escaped(token.token)} → <b>{label}</b> <span>{token.score:+.3f}</span>"
    if token.margin < inf:
        head += (
            f' <span style="opacity:.75">({escaped(token.runner_up)} instead: {-token.margin:+.3f})</span>'
        )
    note_below = note(f'<div style="margin-left:2em">{_would(token)}</div>')
    return contributions(head, _parts(token), token.score, largest, note_below)


def contributions(head, parts, score, largest, below=""):
    """Bars that add up to a score, under a line that opens them; ``parts``: (name, value), largest first."""
    rows = [(_row(escaped(name, LONG), value, largest)) for name, value in parts[:TOP]]
    if len(parts) > TOP:
        rest = fsum(value for _, value in parts[TOP:])
        rows.append(_row(f"<i>{len(parts) - TOP} more</i>", rest, largest))
    line_above = f"{NUMBER};border-top:1px solid;font-weight:600"
    rows.append((("", CELL), (f"{score:+.3f}", line_above), ("all together", f"{CELL};border-top:1px solid")))
    body = table(rows, style="margin:2px 0 2px 1.5em") + below
    return f'<details style="margin:1px 0"><summary style="cursor:pointer">{head}</summary>{body}</details>'


def _row(name, value, largest):
    return (bar(value, largest), CELL), (f"{value:+.3f}", NUMBER), (name, CELL)


def _would(token):
    """What would have to change, as a sentence."""
    change = token.counterfactual
    if change is None:
        if token.margin < 0:
            return "The model itself says something else here."
        return ""
    names = ", ".join(f"<b>{escaped(name, SHORT)}</b>" for name in change.features[:TOP])
    if len(change.features) > TOP:
        names += f" and {len(change.features) - TOP} more"
    return f"Without {names} it would be {escaped(change.label)}."
