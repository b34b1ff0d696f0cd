"""Features that are names, in a file: those of dicts and lists, and those that patterns write."""

import numpy as np

from .sections import check_spellings


def sorted_names(index, used):
    """The names of a ``FeatureIndex`` whose rows are used, sorted, and their rows."""
    names = sorted(
        (name, row) for name, row in zip(index.ids, index.row_of.tolist()) if row >= 0 and used[row]
    )
    return [name for name, _ in names], np.array([row for _, row in names], np.int64)


def row_map(n_rows, rows, first=0):
    """(new row by row, -1 without; how many): rows in their new order, behind the ``first`` that stay."""
    out = np.full(n_rows, -1, np.int64)
    out[:first] = np.arange(first)
    out[rows] = first + np.arange(rows.shape[0])
    return out, first + rows.shape[0]


class NameKeys:
    """The keys of a ``BagEncoder``."""

    parts = ("names",)

    def __init__(self, encoder, used):
        self.known = encoder.nodes.ids
        self.names, self.rows = sorted_names(encoder.nodes, used[0])
        self.n_rows = encoder.n_node_rows

    def header(self, sections):
        """What the header of a file says of them."""
        return {"features": "names", "names": self.names}

    def check_spellings(self):
        """Raise if JavaScript would take a name for another one."""
        check_spellings(self.known, set(self.names))

    def write(self, sections):
        """For each side (new row by row, how many)."""
        return [row_map(self.n_rows, self.rows), row_map(1, np.zeros(0, np.int64), 1)]


class PatternKeys:
    """The keys of a ``PatternEncoder``."""

    parts = ("templates", "patterns")

    def __init__(self, encoder, used):
        self.patterns, self.takes_both = encoder.templates, encoder.takes_both
        self.known = encoder.nodes.ids, encoder.edges.ids
        self.names, self.rows = zip(*map(sorted_names, (encoder.nodes, encoder.edges), used))
        self.n_rows = encoder.n_node_rows, encoder.n_edge_rows

    def header(self, sections):
        """What the header of a file says of them."""
        nodes, edges = (
            [[p.literals, [[m.position, m.absolute, m.column, m.lower] for m in p.macros]] for p in lines]
            for lines in (self.patterns.of_labels, self.patterns.of_transitions)
        )
        either = {"either": True} if self.takes_both else {}  # tokens: str, or tuples
        return {
            "features": "patterns",
            **either,
            "patterns": {"syntax": self.patterns.syntax, "nodes": nodes, "edges": edges},
            "names": self.names[0],
            "edge_names": self.names[1],
        }

    def check_spellings(self):
        """Raise if JavaScript would take a name for another one."""
        for known, written in zip(self.known, self.names):
            check_spellings(known, set(written))

    def write(self, sections):
        """For each side (new row by row, how many)."""
        return [row_map(self.n_rows[0], self.rows[0]), row_map(self.n_rows[1], self.rows[1], 1)]
