"""The encoder for patterns of CRF++ and Wapiti: features are the strings that they write.

Features of labels become a bag, in the order of the patterns, as the tools add them. Each pattern of
transitions that reads tokens is a group of its own, whose combination stands at the token that it speaks of.
"""

import copy

import numpy as np

from ..data.inputs import describe
from .encoded import Bag, Encoded, Grid, RowMap, no_grid
from .names import fields_of
from .patterns import PatternWriter
from .tokens import refuse, split_columns


class NameRows:
    """Names of features, by number, and the weight rows of those that are frequent enough.

    Parameters
    ----------
    first_row : int
        Rows below it are not named.
    """

    def __init__(self, first_row):
        self.first_row = self.n_rows = first_row
        self.ids = {}
        self.row_of = np.full(1, -1, np.int32)  # by number; a last -1 serves number -1
        self.counts = np.zeros(0, np.int64)

    @classmethod
    def of_names(cls, first_row, names):
        """All of some names, each with a row, in their order."""
        rows = cls(first_row)
        rows.find(names, grow=True)
        rows.assign(np.zeros(0, np.int32), 1)
        return rows

    def copy(self):
        """One that can grow while this stays as it is."""
        twin = copy.copy(self)
        twin.ids = dict(self.ids)
        return twin

    def find(self, names, grow):
        """Numbers of names as int32; those that are unknown are added, or -1."""
        ids = self.ids
        if grow:
            return np.fromiter((ids.setdefault(name, len(ids)) for name in names), np.int32, len(names))
        return np.fromiter((ids.get(name, -1) for name in names), np.int32, len(names))

    def assign(self, seen, min_count):
        """Give rows to new names; ``seen`` are the numbers in a corpus, which count."""
        n, old = len(self.ids), self.row_of.shape[0] - 1
        row_of = np.full(n + 1, -1, np.int32)
        row_of[:old] = self.row_of[:-1]
        new = row_of[:-1] < 0
        if min_count > 1:
            counts = np.bincount(seen, minlength=n)
            counts[: self.counts.shape[0]] += self.counts
            self.counts = counts
            new &= counts >= min_count
        n_new = int(np.count_nonzero(new))
        row_of[:-1][new] = self.n_rows + np.arange(n_new, dtype=np.int32)
        self.n_rows += n_new
        self.row_of = row_of

    def keep_rows(self, used, min_count):
        """The names whose rows are in use, and the row that each row was."""
        out, row = type(self)(self.first_row), self.row_of[:-1]
        kept = np.append(used, False)[row]  # False is for row -1
        out.ids = {name: k for k, name in enumerate(n for n, yes in zip(self.ids, kept.tolist()) if yes)}
        rows = np.append(np.arange(self.first_row), row[kept])
        out.n_rows = rows.shape[0]
        out.row_of = np.append(np.arange(self.first_row, out.n_rows, dtype=np.int32), np.int32(-1))
        if min_count > 1:  # beyond the cut-off nobody asks how often
            out.counts = np.minimum(self.counts[kept], min_count)
        return out, rows

    def names(self, rows):
        """The names of rows, {row: name}."""
        return {row: name for row, name in zip(self.row_of.tolist(), self.ids) if row in rows}

    def merged(self, parts, counts, min_count):
        """One from several that have no count cut-off, and what the rows of each have become.

        ``counts`` are the occurrences by row of each, if there is a cut-off.
        """
        out = type(self)(self.first_row)
        numbers = [out.find(list(part.ids), grow=True) for part in parts]
        if min_count > 1:
            out.counts = np.zeros(len(out.ids), np.int64)
            for part, mine, count in zip(parts, numbers, counts):
                out.counts[mine] += np.asarray(count)[part.row_of[:-1]]
        out.assign(np.zeros(0, np.int32), min_count)
        maps = []
        for part, mine in zip(parts, numbers):
            rows = np.zeros(part.n_rows, np.int32)  # row 0 of the transitions stays
            rows[part.row_of[:-1]] = out.row_of[mine]
            maps.append(rows)
        return out, maps


class PatternEncoder:
    """Encodes tokens that are strings, or tuples of strings, by the patterns of a tool.

    Parameters
    ----------
    patterns : Patterns
    min_count : int
        Features seen fewer times in training are left out.
    """

    TOKENS = (str, tuple)
    """Types of tokens it is for."""

    @classmethod
    def for_tokens(cls, features, min_count, flat):
        """The encoder that a ``features`` parameter means for a corpus."""
        if not isinstance(flat[0], cls.TOKENS):
            raise ValueError(
                f"features={describe(features)} are for tokens that are str or tuples of str, got "
                f"{describe(flat[0])}"
            )
        return cls(features, min_count)

    def __init__(self, patterns, min_count=1):
        self.templates = patterns
        self.min_count = min_count
        self.first_type = None  # str or tuple, from the first corpus
        self.nodes, self.edges = NameRows(0), NameRows(1)

    @classmethod
    def of_names(cls, patterns, nodes, edges):
        """An encoder that knows features with these names, row by row in their order."""
        encoder = cls(patterns)
        encoder.nodes, encoder.edges = NameRows.of_names(0, nodes), NameRows.of_names(1, edges)
        return encoder

    def copy(self):
        """An encoder that can grow while this one stays as it is."""
        twin = copy.copy(self)
        twin.nodes, twin.edges = self.nodes.copy(), self.edges.copy()
        return twin

    def encode(self, flat, token, grow, reference_token=None):
        """Encode a corpus.

        Parameters
        ----------
        flat : list of str or of tuple of str
            All N tokens.
        token : ndarray of shape (n + 1,), int64
            Where each sequence starts.
        grow : bool
            Training: new features are added.
        reference_token : str or tuple of str, optional
            The token whose type and width all must have, if that is not the first of ``flat``.

        Returns
        -------
        Encoded
        """
        columns = split_columns(flat, token, self.n_columns, self.first_type, reference_token)
        for c, column in enumerate(columns):
            if set(map(type, column)) - {str} and not all(isinstance(s, str) for s in column):
                refuse(column, token, c, len(columns))
        writer = PatternWriter(self.templates, columns, token.tolist())
        of_labels, of_transitions = self.templates.of_labels, self.templates.of_transitions
        nodes = np.empty((len(flat), len(of_labels)), np.int32)
        for k, pattern in enumerate(of_labels):
            nodes[:, k] = self.nodes.find(writer.write(pattern), grow)
        later = np.ones(len(flat), np.bool_)  # there is no transition into the first token
        later[token[:-1][np.diff(token) > 0]] = False
        edges = np.full((len(of_transitions), len(flat)), -1, np.int32)
        places = np.flatnonzero(later)
        for k, pattern in enumerate(of_transitions):
            written = writer.write(pattern)
            edges[k, places] = self.edges.find([written[t] for t in places.tolist()], grow)
        if grow:
            if flat:
                self.first_type = tuple if isinstance(flat[0], tuple) else str
            self.nodes.assign(nodes.ravel(), self.min_count)
            self.edges.assign(edges[edges >= 0], self.min_count)
        none, G = np.zeros(0, np.uint8), len(of_transitions)
        nothing = np.zeros(0, np.int32)
        grid = Grid(
            self.edges.row_of[edges], np.zeros(G, np.int32), np.ones(G, np.int32), np.zeros(G + 1, np.int32),
            nothing, nothing,
        )  # fmt: skip
        start = np.arange(len(flat) + 1, dtype=np.int64) * len(of_labels)
        return Encoded(
            anchor=token, left=0, n_columns=1, nodes=no_grid(len(flat)), edges=grid,
            bag=Bag(start, self.nodes.row_of[nodes.ravel()], np.zeros(0)), node_alive=none, edge_alive=none,
        )  # fmt: skip

    # -- what models and their readers ask ---------------------------------------------------------
    @property
    def token_type(self):
        """Of tokens; of a model from a file that reads one column, tuples will do as well as str."""
        return self.first_type or (tuple if self.n_columns > 1 else str)

    @property
    def n_features(self):
        """Number of features in use."""
        return self.nodes.n_rows

    @property
    def n_node_rows(self):
        """Weight rows of the features of labels."""
        return self.nodes.n_rows

    @property
    def n_edge_rows(self):
        """Combinations that own a matrix of transition weights; the label bigram is the first."""
        return self.edges.n_rows

    @property
    def has_bigram(self):
        """Whether the label bigram is a feature."""
        return self.templates.bigram

    @property
    def n_columns(self):
        """Columns of a token that are read."""
        return self.templates.n_columns

    def adapted(self, flat, token):
        """Raise: there is nothing to adapt."""
        raise ValueError("there is nothing to adapt: patterns have no accessor variety")

    def template_of_row(self, encoded):
        """(n_node_rows,) the pattern of each feature, as a number."""
        return fields_of(self.nodes.ids, self.nodes.row_of, self.nodes.n_rows)

    def keep_rows(self, nodes, edges):
        """See ``features.choose``."""
        twin = copy.copy(self)
        twin.nodes, node_rows = self.nodes.keep_rows(nodes, self.min_count)
        twin.edges, edge_rows = self.edges.keep_rows(edges, self.min_count)
        return twin, node_rows, edge_rows

    def row_names(self, rows):
        """The names of node rows, {row: name}."""
        return self.nodes.names(rows)

    def features_by_token(self, encoded, sequence):
        """The features of one sequence, encoded; by token, of labels and of transitions.

        Returns
        -------
        nodes, edges : list of lists of (row, value, name)
        """
        out = []
        P = len(self.templates.of_labels)
        for side, rows in (
            (self.nodes, encoded.bag.row.reshape(len(sequence), P)), (self.edges, encoded.edges.row.T),
        ):  # fmt: skip
            names = side.names(set(rows.ravel().tolist()))
            out.append([[(row, 1.0, names[row]) for row in token if row >= 0] for token in rows.tolist()])
        return tuple(out)

    def merged(self, encoders, counts, min_count):
        """See :func:`.merging.merge_encoders`; this is the first of ``encoders``."""
        out = type(self)(self.templates, min_count)
        out.first_type = self.first_type
        maps = []
        for side in ("nodes", "edges"):
            parts = [getattr(encoder, side) for encoder in encoders]
            rows, found = getattr(self, side).merged(
                parts, [getattr(count, side) for count in counts] if min_count > 1 else None, min_count
            )
            setattr(out, side, rows)
            maps.append(found)
        return out, [RowMap(*rows) for rows in zip(*maps)]
