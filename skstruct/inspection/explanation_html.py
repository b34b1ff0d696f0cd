"""An explanation as HTML: the sequence, and for each token bars that add up to its score."""

from __future__ import annotations

from itertools import groupby
from math import fsum, inf, isfinite

from .html import LONG, SHORT, bar, box, cell, escaped, note, table
from .lines import Mark, line

TOP = 10
"""Contributions that are listed of a token; the others are one line."""

MOST = 200
"""Tokens whose contributions are listed."""


def explanation_html(explanation):
    """HTML of an :class:`rendering.Explanation`."""
    tokens, chunks = explanation.tokens, explanation.segments is not None
    if chunks:
        marks = [Mark(*segment) for segment in explanation.segments]
    else:
        marks = [Mark(t, t + 1, str(token.label)) for t, token in enumerate(tokens)]
    found = [abs(value) for token in tokens for _, value in _parts(token) if isfinite(value)]
    largest, details = max(found, default=0.0), ""
    listed = enumerate(tokens[:MOST])
    for outside, run in groupby(listed, lambda each: chunks and each[1].label == "O"):
        run = list(run)
        lines = "".join(_details(t, token, largest) for t, token in run)
        details += _folded(run, lines) if outside and len(run) > 1 else lines
    if len(tokens) > MOST:
        details += note(f"{len(tokens) - MOST:,} more tokens; to_frame() has all of them")
    sequence = line([token.token for token in tokens], marks)
    return box(sequence + note(f"score {explanation.score:+.3f}") + details)


def _folded(run, lines):
    """Tokens of no segment, which are shown on demand."""
    words = " ".join(escaped(token.token, SHORT // 4) for _, token in run[:TOP]) + " …" * (len(run) > TOP)
    return f"<details><summary>{run[0][0]}–{run[-1][0]} {words} → <b>O</b></summary>{lines}</details>"


def _parts(token):
    """All contributions, largest first."""
    parts = [part for part in token.features + token.transitions if part[1] != 0.0]
    return sorted(parts, key=lambda part: -abs(part[1]))


def _details(t, token, largest):
    head = f"{t} {escaped(token.token)} → <b>{escaped(token.label)}</b> {token.score:+.3f}"
    if token.margin < inf:
        head += f" ({escaped(token.runner_up)} instead: {-token.margin:+.3f})"
    would = _would(token)
    return contributions(head, _parts(token), token.score, largest, note(would) if would else "")


def contributions(head, parts, score, largest, below=""):
    """Bars that add up to a score, under a line that opens them; ``parts``: (name, value), largest first."""
    rows = [_row(escaped(name, LONG), value, largest) for name, value in parts[:TOP]]
    if len(parts) > TOP:
        rest = fsum(value for _, value in parts[TOP:])
        rows.append(_row(f"<i>{len(parts) - TOP} more</i>", rest, largest))
    total = [cell(""), cell(f"<b>{score:+.3f}</b>", "number"), cell("all together")]
    return f"<details><summary>{head}</summary>{table([*rows, total])}{below}</details>"


def _row(name, value, largest):
    return cell(bar(value, largest)), cell(f"{value:+.3f}", "number"), cell(name)


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
