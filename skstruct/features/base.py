"""What every encoder has: the contract between features and models, and the weight rows
of features.
"""

import copy
import re
from itertools import compress, repeat

import numpy as np

from .._core.hashing import check_rows
from .._data.corpus import OTHER
from .._data.places import by_sequence
from .._data.reads import Reads
from .._saving import fields
from .._saving.container import require, within
from .._saving.fields import (
    Field,
    Table,
    array,
    built,
    distinct,
    integer,
    via,
    without_last,
)
from .encoded import NOTHING, RowMap, features_listed, grid_listed

_KEY = re.compile("[^:=]*")

MOST_ROWS = 2**31  # of weights
MIN_COUNT = Field("min_count", integer(1))


class Encoder:
    """Turns tokens of one kind into rows of weights; subclasses are listed in
    :mod:`.encoder_choice`.

    A subclass has the constructor ``for_tokens(features, min_count, flat)``, ``flat``
    the corpus' tokens, and

    * ``reads``: a ``_data.reads.Reads``, the tokens that it takes;
    * ``encode(corpus, grow)``: the rows of a corpus that passed ``check``, an
      ``Encoded``;
    * ``n_node_rows``, ``n_edge_rows``, ``has_bigram``, ``n_features``: the weights a
      model needs for it;
    * ``min_count``, ``templates`` (None without), ``token_type`` and ``n_columns``:
      what it reads;
    * ``keep_rows(nodes, edges)``: an encoder with the rows marked True, and each kept
      row's old number;
    * ``row_names(rows)``, and ``edge_names`` of transitions: its features in words;
    * ``merged(encoders, counts, min_count)``: one encoder from those of several shards.
    """

    TOKENS = ()
    """Types of the first token of corpora of lists that are for it."""

    reads = Reads(OTHER)
    """What it reads; of an instance where that depends on training."""

    token_type = None
    """Of tokens, as ``_data.inputs.Inputs`` has it."""

    templates = None
    """Those of features; None if features are ready-made."""

    n_columns = 0
    """Columns of a token that input dropout could mask; 0 if a token is one item."""

    has_bigram = True
    """Whether the label bigram is a feature."""

    bias_row = -1
    """The row of the bias of rows of numbers; -1 if there is none."""

    may_repeat = True
    """Whether a token may have one feature several times."""

    named = "features"
    """What errors call what it makes."""

    def check(self, corpus):
        """Raise unless a corpus is what it reads: once a verb, before the corpus is cut
        into pieces.
        """
        self.reads.check(corpus)

    def copy(self):
        """An encoder that can grow while this one stays as it is."""
        twin = copy.copy(self)
        twin.nodes, twin.edges = self.nodes.copy(), self.edges.copy()
        return twin

    def count_anew(self):
        """Count in the next corpus alone what no count cut-off has let in: it may be
        the last one again.
        """
        if self.min_count > 1:
            self.nodes.count_anew(self.min_count)
            self.edges.count_anew(self.min_count)

    def encode_one(self, tokens):
        """``chain_arguments.rows_of`` a list of tokens; None if it may not read these,
        or transitions do.
        """

    @property
    def n_node_rows(self):
        """Weight rows of the features of labels."""
        return self.nodes.n_rows

    @property
    def n_edge_rows(self):
        """Combinations that own a matrix of transition weights; the label bigram is the
        first.
        """
        return self.edges.n_rows

    @property
    def n_features(self):
        """Number of features in use."""
        return self.n_node_rows

    def row_names(self, rows):
        """The names of rows of label features, {row: name}."""
        return self.nodes.row_names(rows)

    def edge_names(self, rows):
        """The names of rows of transition features, {row: name}."""
        return self.edges.row_names(rows)

    def features_by_token(self, task):
        """The features of an encoded corpus in words; by token, of labels and of
        transitions.

        Returns
        -------
        nodes, edges : list of lists of (row, value, name)
        """
        nodes = features_listed(task, task.token)
        edges = grid_listed(task, task.token, task.edges, task.edge_alive)
        return _named(nodes, self.row_names), _named(edges, self.edge_names)

    def template_of_row(self, encoded):
        """(n_node_rows,) the template, or the key, of each row as a number; None if
        nobody knows.
        """
        return self.nodes.key_of_row()

    def keep_rows(self, nodes, edges):
        """See the class; of features that have names."""
        twin = copy.copy(self)
        twin.nodes, node_rows = self.nodes.kept(nodes, self.min_count)
        twin.edges, edge_rows = self.edges.kept(edges, self.min_count)
        return twin, node_rows, edge_rows

    def merged(self, encoders, counts, min_count):
        """See :func:`.encoder_choice.merge_encoders`: of features that have names."""
        out = copy.copy(self)
        nodes, edges = zip(*((e.nodes, e.edges) for e in encoders))
        out.min_count, counts = (
            min_count,
            [count or RowMap(None, None) for count in counts],
        )
        out.nodes, of_nodes = FeatureIndex.merged(
            nodes, [count.nodes for count in counts], min_count
        )
        out.edges, of_edges = FeatureIndex.merged(
            edges, [count.edges for count in counts], min_count
        )
        return out, list(map(RowMap, of_nodes, of_edges))

    def adapted(self, corpus):
        """The encoder with the statistics of another text, if it has any.

        Raises
        ------
        ValueError
            If it has none.
        """
        raise ValueError(
            f"there is nothing to adapt: {self.named} have no accessor variety"
        )


def _named(bag, names_of):
    names = names_of(set(bag.row.tolist()))
    values = bag.value if bag.value.size else np.ones(bag.row.shape)
    flat = [
        (row, value, names[row])
        for row, value in zip(bag.row.tolist(), values.tolist())
    ]
    return by_sequence(flat, bag.start)


# --------------------------------------------------------------------------------------
# Numbered features, and the weight rows of those that are frequent enough
# --------------------------------------------------------------------------------------
def with_new_rows(row_of, n, n_rows, deserving=True, width=1):
    """The rows of ``n`` features, of which the first have been given rows before.

    Parameters
    ----------
    row_of : ndarray of int32
        Rows so far by number, -1 if there is none; the last -1 serves number -1.
    n, n_rows : int
        Features, and rows that are given away.
    deserving : ndarray of shape (n,), bool, or True
        Whether a feature without rows gets some.
    width : int
        Rows of a feature, which are neighbours; ``row_of`` has the first.

    Returns
    -------
    row_of : ndarray of shape (n + 1,), int32
    n_rows : int

    Raises
    ------
    ValueError
        If there are more rows than 32 bits can number.
    """
    out = np.full(n + 1, -1, np.int32)
    out[: len(row_of[:-1])] = row_of[:-1]
    new = np.flatnonzero((out[:-1] < 0) & deserving)
    total = n_rows + width * new.shape[0]
    check_rows(total)
    out[new] = n_rows + width * np.arange(new.shape[0])
    return out, total


class RowIndex:
    """The weight rows of features that are numbered in the order in which they were
    met.

    Parameters
    ----------
    first_row : int
        Rows below it belong to no feature.

    Attributes
    ----------
    row_of : ndarray of shape (n + 1,), int32
        By number the row, -1 if there is none; the last -1 serves number -1.
    counts : ndarray of shape (n,), int64
        Occurrences, if there is a count cut-off.
    n_rows : int
    """

    def __init__(self, first_row=0):
        self.first_row = self.n_rows = first_row
        self.row_of = np.full(1, -1, np.int32)
        self.counts = np.zeros(0, np.int64)

    def copy(self):
        """One that can grow while this stays as it is."""
        return copy.copy(self)  # arrays are replaced, never changed

    def give_rows(self, n, seen, min_count, always=NOTHING):
        """Give rows to features that are new, or have become frequent.

        Parameters
        ----------
        n : int
            Features by now.
        seen : ndarray of int
            Their numbers in a corpus, which count; negative ones do not.
        min_count : int
        always : ndarray of int
            Numbers of features that have rows however rare they are.
        """
        enough = True
        if min_count > 1:
            counts = np.bincount(seen[seen >= 0], minlength=n)
            counts[: self.counts.shape[0]] += self.counts
            self.counts = counts
            enough = counts >= min_count
            enough[always] = True
        self.row_of, self.n_rows = with_new_rows(self.row_of, n, self.n_rows, enough)

    def count_anew(self, min_count):
        """See :meth:`Encoder.count_anew`."""
        self.counts = np.where(self.counts < min_count, 0, self.counts)

    def stays(self, used):
        """(n,) whether the row of each feature is ``used``."""
        return np.append(used, False)[self.row_of[:-1]]  # False is for row -1

    def kept(self, used, min_count):
        """An index of the features whose rows are ``used``, and the row that each row
        was.
        """
        out = type(self)(self.first_row)
        stays = self.stays(used)
        rows = np.append(np.arange(self.first_row), self.row_of[:-1][stays])
        out.row_of, out.n_rows = with_new_rows(
            out.row_of, np.count_nonzero(stays), self.first_row
        )
        if min_count > 1:  # beyond the cut-off nobody asks how often
            out.counts = np.minimum(self.counts[stays], min_count)
        return out, rows

    def merge(self, parts, numbers, counts, n, min_count, always=NOTHING):
        """Be the index of several that have no count cut-off.

        Parameters
        ----------
        parts : list of RowIndex
        numbers : list of ndarray
            What the numbers of each part have become.
        counts : list of ndarray
            Occurrences by row of each; looked at if ``min_count`` is above 1.
        n, min_count, always
            Features of all; the others as of :meth:`give_rows`.

        Returns
        -------
        list of ndarray, int32
            What the rows of each part have become.
        """
        if min_count > 1:
            self.counts = np.zeros(n, np.int64)
            for part, mine, count in zip(parts, numbers, counts):
                self.counts[mine] += np.asarray(count)[part.row_of[:-1]]
        self.give_rows(n, NOTHING, min_count, always)
        maps = [
            np.zeros(part.n_rows, np.int32) for part in parts
        ]  # row 0 of the transitions stays
        for part, mine, rows in zip(parts, numbers, maps):
            rows[part.row_of[:-1]] = self.row_of[mine]
        return maps


class FeatureIndex(RowIndex):
    """The weight rows of features that have names; ``ids`` has the numbers of these."""

    def __init__(self, first_row=0):
        super().__init__(first_row)
        self.ids = {}

    @classmethod
    def of_names(cls, names, first_row=0):
        """All of some names, each with a row, in their order."""
        index = cls(first_row)
        index.find(list(names), grow=True)
        index.assign(NOTHING, 1)
        return index

    def copy(self):
        """One that can grow while this stays as it is."""
        twin = super().copy()
        twin.ids = dict(self.ids)
        return twin

    def number(self, name, grow):
        """The number of a name; one that is unknown is added, or -1."""
        return (
            self.ids.setdefault(name, len(self.ids)) if grow else self.ids.get(name, -1)
        )

    def find(self, names, grow):
        """Numbers of names as int32; those that are unknown are added, or -1."""
        ids = self.ids
        found = map(self.ids.get, names, repeat(-1))
        if grow:
            found = (ids.setdefault(name, len(ids)) for name in names)
        return np.fromiter(found, np.int32, len(names))

    def assign(self, seen, min_count):
        """Give rows to new names; ``seen`` are the numbers in a corpus, which count."""
        self.give_rows(len(self.ids), seen, min_count)

    def kept(self, used, min_count):
        """The names whose rows are in use, and the row that each row was."""
        out, rows = super().kept(used, min_count)
        out.find(list(compress(self.ids, self.stays(used).tolist())), grow=True)
        return out, rows

    def row_names(self, rows):
        """The names of rows, {row: name}."""
        return {
            row: name
            for row, name in zip(self.row_of.tolist(), self.ids)
            if row in rows
        }

    def key_of_row(self):
        """(n_rows,) the key of each feature as a number: its name up to a colon or
        equals sign.
        """
        numbers = {}
        of_row = np.zeros(self.n_rows, np.int32)
        for name, row in zip(self.ids, self.row_of.tolist()):
            if row >= 0:
                of_row[row] = numbers.setdefault(_KEY.match(name).group(), len(numbers))
        return of_row

    @classmethod
    def merged(cls, parts, counts, min_count):
        """One from several, and what the rows of each have become; see
        :meth:`RowIndex.merge`.
        """
        out = cls(parts[0].first_row)
        numbers = [out.find(list(part.ids), grow=True) for part in parts]
        return out, out.merge(parts, numbers, counts, len(out.ids), min_count)


# --------------------------------------------------------------------------------------
# In files
# --------------------------------------------------------------------------------------
TOKENS = fields.choice({None: None, "str": str, "tuple": tuple})._replace(
    null=True
)  # of foreign models
TITLES = Field(
    "titles",
    via(fields.each(fields.string), list, tuple),
    of="reads.titles",
    default=None,
)


def take_titles(encoder, f):
    """Let an encoder of strings read the columns of a data frame that it was trained
    on.
    """
    if f["titles"] is not None:
        encoder.reads = encoder.reads._replace(titles=f["titles"])


def has_cutoff(f):
    """Whether features that are rare do not count."""
    return f["min_count"] > 1


def _check_rows(index, f):
    row = f["row"]
    require(
        within(row[row >= 0], index.first_row, index.n_rows),
        f"{f.where}.row is out of range",
    )


_ROWS = (
    Field("row", without_last(array("int32", "n", low=-1, high="n_rows")), of="row_of"),
    Field("n_rows", integer("first_row", MOST_ROWS)),
    Field(
        "count",
        array("int64", "n", low=0),
        "counts",
        "cut",
        default=lambda _: np.zeros(0, np.int64),
    ),
)

ROWS = Table("Rows of features", *_ROWS, make=built(RowIndex, "first_row", _check_rows))

INDEX = Table(
    "Features by name",
    Field(
        "names",
        via(distinct, list, lambda names: {name: k for k, name in enumerate(names)}),
        of="ids",
    ),
    *_ROWS,
    make=built(FeatureIndex, "first_row", _check_rows),
    n=lambda f: len(f["names"]),
)
