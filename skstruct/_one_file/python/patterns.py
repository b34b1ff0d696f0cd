"""Patterns of CRF++ and Wapiti: features are the strings that they write from tokens."""

from __future__ import annotations

from typing import Any

from .reading import PARTS
from .templates import columns_of


class Patterns:
    """The features of tokens by patterns, of which equal strings are one feature."""

    def __init__(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.header = header
        self.wapiti = header["patterns"]["syntax"] == "wapiti"
        self.name = header["names"].__getitem__  # of a row
        self.sides = [  # (patterns, rows of what they write): of labels, and of transitions
            (
                header["patterns"][side],
                {name: k for k, name in enumerate(header[names], first)},
            )
            for side, names, first in (
                ("nodes", "names", 0),
                ("edges", "edge_names", 1),
            )
        ]

    def rows(self, sequence: Any, i: int) -> tuple[list[list[int]], None, Any]:
        """Return by token the rows of state features, None (their values are all 1),
        and those of transitions.
        """
        columns = columns_of(sequence, i, self.header)
        T = len(sequence)
        nodes, edges = self.sides
        found = [self.found(nodes, columns, t, T) for t in range(T)]
        if not edges[0]:
            return found, None, None
        return (
            found,
            None,
            [self.found(edges, columns, t, T) if t else [] for t in range(T)],
        )

    def found(self, side: Any, columns: list[list[str]], t: int, T: int) -> list[int]:
        """Return the rows of what patterns write at a token."""
        lines, row_of = side
        written = [self.write(line, columns, t, T) for line in lines]
        return [row_of[s] for s in written if s in row_of]

    def write(self, line: Any, columns: list[list[str]], t: int, T: int) -> str:
        """Return the string of a pattern at a token."""
        literals, macros = line
        parts = [literals[0]]
        for (position, absolute, column, lower), literal in zip(macros, literals[1:]):
            at = t + position
            if absolute:
                at = position if position >= 0 else T + position
            value = (
                columns[column][at]
                if 0 <= at < T
                else self.outside(at if at < 0 else at - T + 1)
            )
            parts += [ascii_lower(value) if lower else value, literal]
        return "".join(parts)

    def outside(self, distance: int) -> str:
        """Return what stands for the token so far before (negative) or behind a
        sequence.
        """
        if not self.wapiti:
            return f"_B{distance:+d}"
        return (
            f"_x{distance:+d}"
            if abs(distance) <= 4
            else "_x+#"
            if distance > 0
            else "_x-#"
        )


PARTS["patterns"] = Patterns


def ascii_lower(value: str) -> str:
    """Return a string with the letters A to Z in lower case."""
    return "".join([c.lower() if "A" <= c <= "Z" else c for c in value])
