"""What becomes of a user's spans in training, as a list that can be read, printed and sorted."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

from .spans import PROBLEMS, TRIMMED, Span

SHOWN = 20
"""Changed spans that are printed."""


def counts_of(given, aligned):
    """The ``counts`` of an :class:`AlignmentReport`."""
    labelled = [span.label is not None for span in given.spans]
    numbers = np.bincount(aligned.problem[labelled], minlength=len(PROBLEMS)).tolist()
    return {"spans": sum(numbers), **dict(zip(PROBLEMS[1:], numbers[1:]))}


class AlignmentReport:
    """What becomes of spans in training; ``print`` lists those that change, notebooks show a table.

    Attributes
    ----------
    counts : dict of str to int
        "spans": those with a label; and how many of them were "trimmed", "empty", "duplicate", "overlap",
        "moved", "unknown", "dropped" and "crowded". Each span counts once, as the last of these that fits.
    reachable : float
        Share of the spans, duplicates aside, that are whole tokens as they are, white space at their ends
        aside: predictions can equal no others.
    moves : list of (text, position, span, problem, result)
        The spans that change: the number of the text, the place in its list, the span as it was given, what
        is wrong with it (one of the names in ``counts``), and the span it becomes, or None.
    """

    def __init__(self, tokens, given, aligned):
        self.counts = counts_of(given, aligned)
        distinct = self.counts["spans"] - self.counts["duplicate"]
        changed = sum(self.counts[name] for name in PROBLEMS[TRIMMED + 1 :]) - self.counts["duplicate"]
        self.reachable = 1.0 - changed / distinct if distinct else 1.0
        changed = np.flatnonzero(aligned.problem)
        text = np.searchsorted(given.first, changed, side="right") - 1
        places = changed - given.first[text]
        result = self._results(tokens, given, aligned)
        self.moves = [
            (i, k, given.spans[s], PROBLEMS[aligned.problem[s]], result.get(s))
            for s, i, k in zip(changed.tolist(), text.tolist(), places.tolist())
        ]
        self._tokens = tokens

    def _results(self, tokens, given, aligned):
        changed = aligned.problem[aligned.of] > 0
        of = aligned.of[changed]
        shift = tokens.offset[np.searchsorted(given.first, of, side="right") - 1]
        start = tokens.start[aligned.start[changed]] - shift
        end = tokens.end[aligned.stop[changed] - 1] - shift
        places = zip(of.tolist(), start.tolist(), end.tolist())
        return {s: Span(a, b, given.spans[s].label) for s, a, b in places}

    def _words(self, text, span):
        """What a span covers, or what a result of None says."""
        if span is None:
            return "nothing"
        shift = int(self._tokens.offset[text])
        return f"{tuple(span)!r} {self._tokens.text[shift + span.start : shift + span.end]!r:.60}"

    def _rows(self):
        for text, position, span, problem, result in self.moves:
            yield text, position, problem, self._words(text, span), self._words(text, result)

    def summary(self) -> str:
        """How many spans there are, and what changes, in one sentence."""
        changed = [f"{n:,} {name}" for name, n in self.counts.items() if n and name != "spans"]
        found = f"{self.counts['spans']:,} spans, {self.reachable:.1%} of them whole tokens"
        return f"{found}; {', '.join(changed) or 'none changes'}"

    def __str__(self) -> str:
        lines = [
            f"  text {text}, position {position}: {problem}: {before} -> {after}"
            for text, position, problem, before, after in list(self._rows())[:SHOWN]
        ]
        if len(self.moves) > SHOWN:
            lines.append(f"  {len(self.moves) - SHOWN:,} more")
        return "\n".join([self.summary(), *lines])

    def __repr__(self) -> str:
        return f"<AlignmentReport: {self.summary()}>"

    def to_frame(self) -> Any:
        """A pandas DataFrame, one row for each change.

        Columns are ``text``, ``position``, ``start``, ``end``, ``label``, ``problem``, and ``new_start`` and
        ``new_end``, which are missing where nothing is left.
        """
        import pandas

        names = "text position start end label problem new_start new_end".split()
        rows = [
            (text, position, *span, problem, *(result or (None, None))[:2])
            for text, position, span, problem, result in self.moves
        ]
        frame = pandas.DataFrame(rows, columns=names)
        return frame.astype({"new_start": "Int64", "new_end": "Int64"})

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("text", "position", "problem", "span", "becomes"))
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
            for row in list(self._rows())[:SHOWN]
        )
        more = f"<p>{len(self.moves) - SHOWN:,} more</p>" if len(self.moves) > SHOWN else ""
        table = f"<table><tr>{head}</tr>{rows}</table>{more}" if rows else ""
        return f"<div><b>{html.escape(self.summary())}</b>{table}</div>"
