"""Features by templates: which rows of weights apply to which token.

A *channel* is a function of a column of the tokens, such as ``suffix3`` of column 0;
its values have numbers, 0 for what is unknown. A *compound* is some channels at fixed
distances. Its combinations of values are found one value at a time: those that begin
alike stand together, sorted by their last value. A combination stands at an *anchor*,
and is a feature of tokens at some distances from it: each is a *slot*, with a row of
weights.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Any

from .reading import PARTS, Cached, refuse


class Templates:
    """The features of tokens that are str, or tuples of str."""

    def __init__(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.header = header
        self.left = header["left"]
        self.right = header["right"]
        self.first = (
            1 + self.left + self.right
        )  # 0 is unknown, then come the places outside of a sequence
        numbers = [
            {s: self.first + k for k, s in enumerate(strings)}
            for strings in header["values"]
        ]
        contexts = PARTS["contexts"](header, arrays) if "lexicons" in header else {}
        self.functions: list[Any] = [
            {} for _ in range(header["columns"])
        ]  # by column, by channel: (function, numbers)
        self.contexts: list[Any] = []  # (channel, column, function, numbers)
        for k, (name, column) in enumerate(header["channels"]):
            if (name, column) in contexts:
                self.contexts.append((k, column, contexts[name, column], numbers[k]))
            elif name != "const":
                self.functions[column][k] = column_function(name, header), numbers[k]
        self.known = [values_of(mine.values()) for mine in self.functions]
        self.sides = [
            Side(header, arrays, name, self.first) for name in ("nodes", "edges")
        ]

    def rows(self, sequence: Any, i: int) -> tuple[list[list[int]], None, Any]:
        """Return by token the rows of state features, None (their values are all 1),
        and those of transitions.
        """
        if not sequence:
            return [], None, None
        channels = self.channel_values(columns_of(sequence, i, self.header))
        nodes, edges = [
            side.rows(channels, len(sequence)) if side.steps else None
            for side in self.sides
        ]
        return nodes or [[] for _ in sequence], None, edges

    def channel_values(self, columns: list[list[str]]) -> list[list[int]]:
        """Return for each channel its values along a sequence, those outside of it
        included.
        """
        found: dict[Any, Any] = {}
        T = len(columns[0])
        for channels, known, column in zip(self.functions, self.known, columns):
            found.update(zip(channels, zip(*map(known.__getitem__, column))))
        for k, column, function, numbers in self.contexts:
            found[k] = [numbers.get(s, 0) for s in function(columns[column])]
        before = range(self.left, 0, -1)
        behind = range(1 + self.left, self.first)
        constant = [0] * self.left + [1] * T + [0] * self.right
        return [
            [*before, *found[k], *behind] if k in found else constant
            for k in range(len(self.header["channels"]))
        ]

    def name(self, row: int) -> str:
        """Return the state feature of a row, as CRF++ writes it."""
        (literals, order), values = self.sides[0].atoms(row)
        written = {k: self.text(*value) for k, value in zip(order, values)}
        return literals[0] + "".join(
            [written[k] + literal for k, literal in enumerate(literals[1:])]
        )

    def text(self, channel: int, value: int) -> str:
        """Return a value of a channel as a string."""
        name = self.header["channels"][channel][0]
        if name == "const":
            return ""
        if value < self.first:
            return f"_B-{value}" if value <= self.left else f"_B+{value - self.left}"
        found = self.header["values"][channel][value - self.first]
        words = self.header["clusters"].get(found, []) if name == "cluster" else []
        return f"{found} ({', '.join(words[:3])}, ...)" if words else found


PARTS["templates"] = Templates


def columns_of(sequence: Any, i: int, header: dict[str, Any]) -> list[Any]:
    """Return the columns of tokens that are tuples, or the one of str; ``i`` is for
    errors.
    """
    is_tuple = header["token"] == "tuple"
    n = header["columns"]
    if header.get("either"):  # the first token decides
        is_tuple = bool(sequence) and isinstance(sequence[0], (tuple, list))
    if is_tuple:
        for t, token in enumerate(sequence):
            if not isinstance(token, (tuple, list)) or len(token) < n:
                refuse(i, t, f"expected a tuple of {n} str, got {token!r}")
    columns = list(zip(*sequence))[:n] if is_tuple else [sequence]
    for column in columns:
        for t, s in enumerate(column):
            if not isinstance(s, str):
                refuse(i, t, f"expected a str, got {s!r}")
    return columns


def values_of(
    functions: Iterable[tuple[Callable[[str], str], dict[str, int]]],
) -> Cached:
    """Return what remembers for each string the numbers of the values of some
    functions.
    """
    return Cached(
        lambda s: [numbers.get(function(s), 0) for function, numbers in functions]
    )


def column_function(name: str, header: dict[str, Any]) -> Callable[[str], str]:
    """Return the function of a string that a channel names."""
    affix = name[:6]
    n = name[6:]
    if affix == "prefix" and n:
        return lambda s: s[: int(n)]
    if affix == "suffix" and n:
        return lambda s: s[-int(n) :]
    if name == "cluster":
        return PARTS["clusters"](header)
    return (
        (lambda s: s) if name == "x" else PARTS["characters"](name, header["unicode"])
    )


class Side:
    """The compounds of state features, or those of transitions."""

    def __init__(
        self, header: dict[str, Any], arrays: dict[str, Any], name: str, first: int
    ) -> None:
        self.compounds = header[name]["compounds"]
        self.first = (
            1 if name == "edges" else 0
        )  # no transition leads to the first token
        # By compound; None for those of a single channel
        self.tables: list[Combinations | None] = []
        self.first_rows: list[int] = []
        row = self.first  # row 0 of the transitions is the label bigram
        for c, (prefix, channel, _, shifts, _) in enumerate(self.compounds):
            table = Combinations(arrays, f"{name}.{c}") if prefix >= 0 else None
            const = header["channels"][channel][0] == "const"
            n_values = 1 if const else first - 1 + len(header["values"][channel])
            self.tables.append(table)
            self.first_rows.append(row)
            row += (len(table.last) if table else n_values) * len(shifts)
        self.steps = []  # (compound, slots, row, first anchor) in the order in which weights are added
        for c, slot, low, width in header[name]["groups"]:
            slots = len(self.compounds[c][3])
            row = self.first_rows[c] + slot - slots  # combinations count from 1
            self.steps += [
                (c, slots, row + s, header["left"] - low - s)
                for s in range(width - 1, -1, -1)
            ]

    def rows(self, channels: list[list[int]], T: int) -> list[list[int]]:
        """Return by token its rows."""
        out: list[list[int]] = [[] for _ in range(T)]
        found: list[
            list[int]
        ] = []  # by compound its combinations, 0 where there is none
        for (prefix, channel, distance, _, _), table in zip(
            self.compounds, self.tables
        ):
            values = channels[channel]
            found.append(
                table.along(found[prefix], values[distance:]) + [0] * distance
                if table
                else values
            )
        for c, slots, row, first in self.steps:
            for rows, number in zip(out, found[c][first : first + T]):
                if number:
                    rows.append(row + number * slots)
        if self.first:
            out[0] = []
        return out

    def atoms(self, row: int) -> tuple[Any, list[tuple[int, int]]]:
        """Return (how the feature of a row is written, the (channel, value) that it is
        made of).
        """
        c = bisect_right(self.first_rows, row) - 1
        number, slot = divmod(row - self.first_rows[c], len(self.compounds[c][3]))
        form = self.compounds[c][4][slot]
        values: list[Any] = []
        number = number + 1
        while True:
            table = self.tables[c]
            if table is None:
                break
            number, value = table.parts(number)
            values.insert(0, (self.compounds[c][1], value))
            c = self.compounds[c][0]
        return form, [(self.compounds[c][1], number), *values]


class Combinations:
    """A table of combinations: those that begin alike stand together, sorted by their
    last value.
    """

    def __init__(self, arrays: dict[str, Any], name: str) -> None:
        self.start = list(accumulate(arrays[name + ".left"], initial=0))
        self.last = arrays[name + ".right"]

    def along(self, before: Iterable[int], values: Iterable[int]) -> list[int]:
        """Return the combinations of those before with the values behind them, 0 where
        there is none.
        """
        out = []
        start = self.start
        last = self.last
        for shorter, value in zip(before, values):
            number = 0
            if shorter and value:
                stop = start[shorter]
                k = bisect_left(last, value, start[shorter - 1], stop)
                number = k + 1 if k < stop and last[k] == value else 0
            out.append(number)
        return out

    def parts(self, number: int) -> tuple[int, int]:
        """Return (the combination that one begins with, its last value)."""
        return bisect_right(self.start, number - 1), self.last[number - 1]
