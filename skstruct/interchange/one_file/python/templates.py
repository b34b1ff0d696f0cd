"""Features by templates: which rows of weights apply to which token.

A *channel* is a function of a column of the tokens, such as ``suffix3`` of column 0; its values have numbers,
0 for what is unknown. A *compound* is some channels at fixed distances. Its combinations of values are found
one value at a time: those that begin alike stand together, sorted by their last value. A combination stands
at an *anchor*, and is a feature of tokens at some distances from it: each is a *slot*, with a row of weights.
"""

from bisect import bisect_left
from itertools import accumulate

from .reading import PARTS, REMEMBERED, refuse


class Templates:
    """The features of tokens that are str, or tuples of str."""

    def __init__(self, header, arrays):
        self.header, self.columns = header, header["columns"]
        self.left, self.right = header["left"], header["right"]
        self.channels = [tuple(channel) for channel in header["channels"]]
        behind = 1 + self.left + self.right  # 0 is unknown, then come the places outside of a sequence
        self.numbers = [{s: behind + k for k, s in enumerate(strings)} for strings in header["values"]]
        self.contexts = PARTS["contexts"](header, arrays) if "contexts" in header["parts"] else {}
        self.functions = []  # by column [(channel, function, numbers of its values)]
        for c in range(self.columns):
            mine = [k for k, channel in enumerate(self.channels) if channel[1] == c]
            mine = [
                k for k in mine if self.channels[k] not in self.contexts and self.channels[k][0] != "const"
            ]
            found = [column_function(self.channels[k][0], header) for k in mine]
            self.functions.append([(k, f, self.numbers[k]) for k, f in zip(mine, found)])
        self.known = [{} for _ in range(self.columns)]  # by column: string -> numbers of its values
        self.sides = [Side(header, arrays, name, self.numbers, behind) for name in ("nodes", "edges")]

    def check(self, sequence, i):
        """Raise unless the tokens are what the model reads."""
        is_tuple = self.are_tuples(sequence)
        for t, token in enumerate(sequence):
            if is_tuple:
                if not isinstance(token, (tuple, list)) or len(token) < self.columns:
                    refuse(i, t, f"expected a tuple of {self.columns} str, got {token!r}")
                for s in token[: self.columns]:
                    if not isinstance(s, str):
                        refuse(i, t, f"expected a str, got {s!r}")
            elif not isinstance(token, str):
                refuse(i, t, f"expected a str, got {token!r}")

    def are_tuples(self, sequence):
        """Whether tokens are tuples; a model that takes str as well goes by the first token."""
        if self.header.get("either"):
            return bool(sequence) and isinstance(sequence[0], (tuple, list))
        return self.header["token"] == "tuple"

    def columns_of(self, sequence):
        """The columns of tokens that are tuples, or the one of str."""
        if self.are_tuples(sequence):
            return list(zip(*(token[: self.columns] for token in sequence)))
        return [sequence]

    def rows(self, sequence, i):
        """By token the rows of state features, None (their values are all 1), and those of transitions."""
        self.check(sequence, i)
        if not sequence:
            return [], None, None
        channels = self.channel_values(sequence)
        nodes, edges = [side.rows(channels, len(sequence)) if side.steps else None for side in self.sides]
        return nodes or [[] for _ in sequence], None, edges

    def channel_values(self, sequence):
        """For each channel its values along the sequence, those outside of it included."""
        before, T = list(range(self.left, 0, -1)), len(sequence)
        behind = list(range(1 + self.left, 1 + self.left + self.right))
        columns = self.columns_of(sequence)
        out = [None] * len(self.channels)
        for functions, known, column in zip(self.functions, self.known, columns):
            found = [known[s] if s in known else self.learn(s, functions, known) for s in column]
            for (k, _, _), values in zip(functions, zip(*found)):
                out[k] = before + list(values) + behind
        for k, channel in enumerate(self.channels):
            if channel[0] == "const":
                out[k] = [0] * self.left + [1] * T + [0] * self.right
            elif channel in self.contexts:
                strings = self.contexts[channel](columns[channel[1]])
                out[k] = before + [self.numbers[k].get(s, 0) for s in strings] + behind
        return out

    def learn(self, string, functions, known):
        """The values of all functions of a string, which are remembered."""
        found = tuple([numbers.get(function(string), 0) for _, function, numbers in functions])
        if len(known) < REMEMBERED:
            known[string] = found
        return found

    def names(self, sequence):
        """The features of each token as strings, in the order of `rows`."""
        T, strings, columns = len(sequence), {}, self.columns_of(sequence)
        for k, channel in enumerate(self.channels):
            if channel[0] == "const":
                strings[k] = [""] * (self.left + T + self.right)
                continue
            column = columns[channel[1]]
            if channel in self.contexts:
                values = self.contexts[channel](column)
            else:
                function = next(f for j, f, _ in self.functions[channel[1]] if j == k)
                values = map(getattr(function, "shown", function), column)
            before = [f"_B-{d}" for d in range(self.left, 0, -1)]
            strings[k] = before + list(values) + [f"_B+{d}" for d in range(1, self.right + 1)]
        channels = self.channel_values(sequence)
        return [side.names(channels, strings, T) for side in self.sides]


PARTS["templates"] = Templates


def column_function(name, header):
    """The function of a string that a channel names."""
    affix, n = name[:6], name[6:]
    if affix == "prefix" and n:
        return lambda s: s[: int(n)]
    if affix == "suffix" and n:
        return lambda s: s[-int(n) :]
    if name == "cluster":
        return PARTS["clusters"](header)
    return (lambda s: s) if name == "x" else PARTS["characters"](name, header["unicode"])


class Side:
    """The compounds of state features, or those of transitions."""

    def __init__(self, header, arrays, name, numbers, behind):
        self.compounds, self.groups = header[name]["compounds"], header[name]["groups"]
        self.first = 1 if name == "edges" else 0  # no transition leads to the first token
        self.base, self.found_by = [], []
        row, left = self.first, header["left"]  # row 0 of the transitions is the label bigram
        for c, (prefix, channel, _, shifts, _) in enumerate(self.compounds):
            if prefix < 0:
                n = 1 if header["channels"][channel][0] == "const" else behind + len(numbers[channel]) - 1
                self.found_by.append(None)
            else:
                counts = arrays[f"{name}.{c}.left"]
                last = arrays[f"{name}.{c}.right"]
                self.found_by.append((list(accumulate(counts, initial=0)), last))
                n = len(last)
            self.base.append(row - len(shifts))  # combinations count from 1
            row += n * len(shifts)
        self.steps = [  # (compound, slots, first row, first anchor) in the order in which weights are added
            (c, len(self.compounds[c][3]), self.base[c] + slot + s, left - low - s)
            for c, slot, low, width in self.groups
            for s in range(width - 1, -1, -1)
        ]

    def combinations(self, channels):
        """For each compound its combinations along the sequence, 0 where there is none."""
        found = []
        for (prefix, channel, distance, _, _), table in zip(self.compounds, self.found_by):
            values = channels[channel]
            if table is not None:
                start, last = table
                values = [
                    find(start, last, before, value) if before and value else 0
                    for before, value in zip(found[prefix], values[distance:])
                ] + [0] * distance
            found.append(values)
        return found

    def rows(self, channels, T):
        """By token its rows."""
        out, found = [[] for _ in range(T)], self.combinations(channels)
        for c, slots, row, first in self.steps:
            for rows, number in zip(out, found[c][first : first + T]):
                if number:
                    rows.append(row + number * slots)
        if self.first and T:
            out[0] = []
        return out

    def names(self, channels, strings, T):
        """By token the names of its features, as CRF++ writes them."""
        out, found = [[] for _ in range(T)], self.combinations(channels)
        for c, _, row, first in self.steps:
            literals, order = self.compounds[c][4][row - self.base[c]]
            atoms, at = [], c
            while at >= 0:
                prefix, channel, distance = self.compounds[at][:3]
                atoms.insert(0, (channel, distance))
                at = prefix
            for t in range(self.first, T):
                if found[c][first + t]:
                    written = {k: strings[ch][first + t + d] for k, (ch, d) in zip(order, atoms)}
                    parts = [written[k] + literals[k + 1] for k in range(len(literals) - 1)]
                    out[t].append(literals[0] + "".join(parts))
        return out


def find(start, last, before, value):
    """The number of the combination of the one numbered ``before`` and a value, 0 if there is none."""
    stop = start[before]
    k = bisect_left(last, value, start[before - 1], stop)
    return k + 1 if k < stop and last[k] == value else 0
