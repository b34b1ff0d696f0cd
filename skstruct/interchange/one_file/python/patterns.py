"""Patterns of CRF++ and Wapiti: features are the strings that they write from tokens."""

from .reading import PARTS
from .templates import Templates


class Patterns(Templates):
    """The features of tokens by patterns, of which equal strings are one feature."""

    def __init__(self, header, arrays):
        self.header, self.columns = header, header["columns"]
        self.wapiti = header["patterns"]["syntax"] == "wapiti"
        self.lines = header["patterns"]["nodes"], header["patterns"]["edges"]
        self.row = [{name: k for k, name in enumerate(header["names"])}]
        self.row.append({name: k for k, name in enumerate(header["edge_names"], 1)})

    def rows(self, sequence, i):
        """By token the rows of state features, None (their values are all 1), and those of transitions."""
        self.check(sequence, i)
        nodes, edges = [
            [[row[name] for name in names if name in row] for names in written]
            for row, written in zip(self.row, self.written(sequence))
        ]
        return nodes, None, edges if self.lines[1] else None

    def names(self, sequence):
        """The strings that are features, by token: of labels, and of transitions."""
        return [
            [[name for name in names if name in row] for names in written]
            for row, written in zip(self.row, self.written(sequence))
        ]

    def written(self, sequence):
        """All strings of each token: of labels, and from the second token on of transitions."""
        T, columns = len(sequence), self.columns_of(sequence)
        nodes, edges = [
            [[self.write(line, columns, t, T) for line in lines] for t in range(T)] for lines in self.lines
        ]
        return nodes, [[], *edges[1:]][:T]

    def write(self, line, columns, t, T):
        """The string of a pattern at a token."""
        literals, macros = line
        parts = [literals[0]]
        for (position, absolute, column, lower), literal in zip(macros, literals[1:]):
            if absolute:
                at = position if position >= 0 else T + position
            else:
                at = t + position
            value = columns[column][at] if 0 <= at < T else self.outside(at if at < 0 else at - T + 1)
            parts += [ascii_lower(value) if lower else value, literal]
        return "".join(parts)

    def outside(self, distance):
        """What stands for the token so far before (negative) or behind a sequence."""
        if not self.wapiti:
            return f"_B{distance:+d}"
        return f"_x{distance:+d}" if abs(distance) <= 4 else "_x+#" if distance > 0 else "_x-#"


PARTS["patterns"] = Patterns


def ascii_lower(value):
    """A string with the letters A to Z in lower case."""
    return "".join([c.lower() if "A" <= c <= "Z" else c for c in value])
