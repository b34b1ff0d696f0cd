"""The encoder: tokens to feature rows, by templates.

Place on the ladder: rung 2, from tokens to the arrays of rung 3. Strings become ids (alphabets),
ids become *nodes* (combinations of ids, interned pairwise in one exact hash table) and nodes own
weight *rows*, one for each slot of their compound (see ``templates``). Encoding for training grows
all three; encoding for prediction only looks up, and what is unknown has no feature.

The count cut-off works on rows: a feature counts its occurrences over all calls that grow the
encoder, a node gets rows when one of its features reaches the cut-off, and ``alive`` tells which.
"""

import copy
from operator import itemgetter

import numpy as np

from ..core.compile import kernel
from ..core.hashing import empty_table
from ..core.interning import find_pairs, intern_pairs
from ..data.inputs import PLACE, PlaceError, describe, place
from .alphabet import Alphabet
from .columns import column_function
from .contexts import Contexts, context_values, is_context


@kernel
def _count(nodes, left, anchor, token, slots, shifts, first, count):
    """Add the occurrences of each feature to ``count`` (n_nodes, n_slots).

    ``slots`` and ``shifts`` say, use by use, which feature of a node speaks of token anchor + shift.
    Tokens before ``first`` of a sequence have no such features.
    """
    for i in range(anchor.shape[0] - 1):
        T = token[i + 1] - token[i]
        for a in range(anchor[i], anchor[i + 1]):
            if nodes[a] < 0:
                continue
            p = a - anchor[i] - left
            for k in range(slots.shape[0]):
                if first <= p + shifts[k] < T:
                    count[nodes[a], slots[k]] += 1


class _Side:
    """Nodes and rows of the label features, or of the transition features."""

    def __init__(self, plan, compounds, groups, first_row, first_token, offset):
        self.compounds = compounds
        self.groups = groups
        # The atoms of each compound as (function, distance, column of the data).
        self.sources = [
            [(plan.channels[k][0], distance, plan.channels[k][1]) for k, distance in c.atoms]
            for c in compounds
        ]
        self.offset = offset  # compound numbers in the hash table
        self.n_nodes = [0] * len(compounds)
        self.row_of = [np.full(1, -1, np.int32) for _ in compounds]  # a last -1 serves index -1
        self.counts = [np.zeros((0, len(c.slots)), np.int32) for c in compounds]
        self.first_row = first_row
        self.first_token = first_token  # transitions lead into the second token and later ones
        self.n_rows = first_row
        self.alive = np.ones(first_row, np.uint8)
        # By compound: (slot, shift) of each use, and the shifts it must be looked up for.
        self.uses = [
            [(g.slot + s, g.lo + s) for g in groups if g.compound == c for s in range(g.width)]
            for c in range(len(compounds))
        ]
        self.spans = [self._span(c) for c in range(len(compounds))]

    def _span(self, c):
        """Shifts that a compound, or a longer one that starts with it, needs."""
        shifts = {shift for _, shift in self.uses[c]}
        for k, compound in enumerate(self.compounds):
            if compound.prefix == c:
                shifts |= set(self._span(k))
        return tuple(shifts)

    def copy(self):
        """A side that can grow while this one stays as it is."""
        twin = copy.copy(self)
        twin.n_nodes, twin.row_of = list(self.n_nodes), list(self.row_of)
        twin.counts, twin.alive = list(self.counts), self.alive.copy()
        return twin

    def assign_rows(self, c, min_count):
        """Give rows to the nodes of compound ``c`` that have none and deserve them."""
        width = len(self.compounds[c].slots)
        n = self.n_nodes[c]
        row_of = np.full(n + 1, -1, np.int32)
        row_of[: self.row_of[c].shape[0] - 1] = self.row_of[c][:-1]
        if width:
            new = row_of[:-1] < 0
            if min_count > 1:
                enough = self.counts[c] >= min_count
                old = row_of[:-1] >= 0
                if old.any():
                    rows = row_of[:-1][old][:, None] + np.arange(width)
                    self.alive[rows] = enough[old]
                new &= enough.any(axis=1)
                self.alive = np.concatenate([self.alive, enough[new].ravel().astype(np.uint8)])
            n_new = int(np.count_nonzero(new))
            row_of[:-1][new] = self.n_rows + width * np.arange(n_new, dtype=np.int32)
            self.n_rows += width * n_new
        self.row_of[c] = row_of


class TemplateEncoder:
    """Encodes tokens that are strings, or tuples of strings, by feature templates.

    Parameters
    ----------
    templates : FeatureTemplates
    min_count : int
        Features seen fewer times in training are left out.
    """

    def __init__(self, templates, min_count=1):
        self.templates = templates
        self.min_count = min_count
        self.plan = plan = templates.compile()
        self.alphabets = [Alphabet() for _ in range(plan.n_columns)]
        self.derived = {}  # channel -> (Alphabet of values, int32 value id by string id)
        for channel in plan.channels:
            if channel[0] not in ("x", "const") and not is_context(channel[0]):
                self.derived[channel] = (Alphabet(), np.zeros(0, np.int32))
        self.contexts = Contexts(plan.channels, templates.lexicons)
        self.table = empty_table()
        self.entries = np.zeros(1, np.int64)
        self.nodes = _Side(plan, plan.nodes, plan.node_groups, 0, 0, 0)
        # Combination 0 of the transitions is the label bigram itself.
        self.edges = _Side(plan, plan.edges, plan.edge_groups, 1, 1, len(plan.nodes))

        self.kind = None  # str or tuple, from the first corpus

    def copy(self):
        """An encoder that can grow while this one stays as it is."""
        twin = copy.copy(self)
        twin.alphabets, twin.derived = list(self.alphabets), dict(self.derived)
        twin.contexts = self.contexts.copy()
        twin.table, twin.entries = self.table.copy(), self.entries.copy()
        twin.nodes, twin.edges = self.nodes.copy(), self.edges.copy()
        return twin

    # -- strings to ids ----------------------------------------------------------------------------
    def _split_columns(self, flat, offsets, like=None):
        """The columns of the tokens, as sequences of strings; errors name the place. See :meth:`encode`."""
        n_columns = self.plan.n_columns
        if not flat:
            return [[] for _ in range(n_columns)]
        like = flat[0] if like is None else like
        kind = tuple if isinstance(like, tuple) else str
        if self.kind is not None and kind is not self.kind:
            i, t = place(offsets, 0)
            raise PlaceError(
                i,
                t,
                f"expected a token of type {self.kind.__name__} as in training, got {describe(flat[0])}",
                "X",
            )
        if kind is str:
            if n_columns > 1:
                raise PlaceError(
                    place(offsets, 0)[0],
                    0,
                    f"the templates read column {n_columns - 1}, but the tokens are plain strings "
                    f"(column 0 only); {PLACE} is {describe(flat[0])}",
                )
            return [flat]
        kinds = set(map(type, flat))
        if kinds - {tuple} and not all(issubclass(kind, tuple) for kind in kinds):
            k = next(k for k, token in enumerate(flat) if not isinstance(token, tuple))
            i, t = place(offsets, k)
            raise PlaceError(
                i, t, f"expected a tuple of strings like the first token, got {describe(flat[k])}", "X"
            )
        widths, width = set(map(len, flat)), len(like)
        if widths != {width} or width < n_columns:
            k = next((k for k, token in enumerate(flat) if len(token) != width), 0)
            i, t = place(offsets, k)
            if len(flat[k]) < n_columns:
                raise PlaceError(
                    i,
                    t,
                    f"the templates read column {n_columns - 1}, "
                    f"but the token has {len(flat[k])} columns: {describe(flat[k])}",
                    "X",
                )
            raise PlaceError(
                i,
                t,
                f"expected {width} columns like the first token, got {len(flat[k])}: {describe(flat[k])}",
                "X",
            )
        return [list(map(itemgetter(c), flat)) for c in range(n_columns)]

    @staticmethod
    def _refuse(column, offsets, c, n_columns):
        """Raise for the first element of a column that is not a string."""
        k = next(k for k, token in enumerate(column) if not isinstance(token, str))
        i, t = place(offsets, k)
        what = "the type str" if n_columns == 1 else f"a str in column {c}"
        raise PlaceError(i, t, f"expected a token of {what}, got {describe(column[k])}", "X")

    def _intern(self, columns, offsets):
        """Ids of each column; the alphabets grow, all or none."""
        ids, grown = [], []
        for c, column in enumerate(columns):
            try:
                found, alphabet = self.alphabets[c].interned(column)
            except TypeError:
                self._refuse(column, offsets, c, len(columns))
            ids.append(found)
            grown.append(alphabet)
        self.alphabets = grown
        return ids

    def _lookup(self, columns, offsets):
        """Ids of each column, the unknown strings numbered after the known; and those strings."""
        ids, unknown = [], []
        for c, column in enumerate(columns):
            alphabet = self.alphabets[c]
            try:
                found = alphabet.lookup(column)
            except TypeError:
                self._refuse(column, offsets, c, len(columns))
            extra = {}
            for k in np.flatnonzero(found < 0).tolist():
                token = column[k]
                if not isinstance(token, str):
                    self._refuse(column, offsets, c, len(columns))
                found[k] = len(alphabet) + extra.setdefault(token, len(extra))
            ids.append(found)
            unknown.append(list(extra))
        return ids, unknown

    def _channel_ids(self, ids, unknown, in_context, grow):
        """Value ids per channel and token: -1 unknown; only real tokens, no boundaries yet."""
        out = []
        for channel in self.plan.channels:
            name, c = channel
            if name == "const":
                out.append(None)
                continue
            if channel in in_context:
                out.append(in_context[channel])
                continue
            if name == "x":
                n = len(self.alphabets[c])
                out.append(np.where(ids[c] < n, ids[c], np.int32(-1)) if unknown[c] else ids[c])
                continue
            function = column_function(name)
            values, of_string = self.derived[channel]
            if grow:
                strings = self.alphabets[c].strings()[of_string.shape[0] :]
                fresh, values = values.interned([function(s) for s in strings])
                of_string = np.concatenate([of_string, fresh])
                self.derived[channel] = (values, of_string)
            elif unknown[c]:
                fresh = values.lookup([function(s) for s in unknown[c]])
                of_string = np.concatenate([of_string, fresh])
            out.append(of_string[ids[c]])
        return out

    # -- ids to nodes to rows ----------------------------------------------------------------------
    def _on_anchors(self, channel, token, anchor, slots):
        """A channel with boundary ids, by anchor: 0 ... left - 1 | left ... | the tokens."""
        left, right = self.plan.left, self.plan.right
        if channel is None:
            out = np.full(anchor[-1], -1, np.int32)
            out[slots] = 0
            return out
        out = np.empty(anchor[-1], np.int32)
        shifted = channel + np.int32(left + right)
        shifted[channel < 0] = -1
        out[slots] = shifted
        for d in range(1, left + 1):
            out[anchor[:-1] + (left - d)] = d - 1
        for d in range(1, right + 1):
            out[anchor[1:] - (right - d) - 1] = left + d - 1
        return out

    def _nodes_of(self, side, channels, token, anchor, grow):
        """One int32 array of nodes by anchor for each compound of a side."""
        left, right = self.plan.left, self.plan.right
        out = []
        for c, compound in enumerate(side.compounds):
            shifts = side.spans[c]
            # Anchor p speaks of tokens p + shift: p >= -max(shift), p <= T - 1 - min(shift).
            span = np.array([max(0, left - max(shifts)), max(0, right + min(shifts))])
            right_channel = channels[compound.channel]
            if compound.prefix < 0:
                nodes = right_channel
                if grow:
                    side.n_nodes[c] = self._n_values(compound.channel)
            else:
                nodes = np.full(anchor[-1], -1, np.int32)
                prefix, number = out[compound.prefix], side.offset + c
                if grow:
                    n_nodes = np.array([side.n_nodes[c]])
                    self.table = intern_pairs(
                        self.table, self.entries, number, prefix, right_channel,
                        compound.distance, span, anchor, nodes, n_nodes,
                    )  # fmt: skip
                    side.n_nodes[c] = int(n_nodes[0])
                else:
                    find_pairs(
                        self.table, number, prefix, right_channel,
                        compound.distance, span, anchor, nodes,
                    )  # fmt: skip
            out.append(nodes)
        return out

    def _n_values(self, k):
        """Number of ids of a channel, boundaries included."""
        name, c = self.plan.channels[k]
        if name == "const":
            return 1
        boundaries = self.plan.left + self.plan.right
        if name == "x":
            return boundaries + len(self.alphabets[c])
        if is_context(name):
            return boundaries + len(context_values(name))
        return boundaries + len(self.derived[(name, c)][0])

    def strings_of(self, channel):
        """The values of a channel as strings, by id without boundaries."""
        name, c = channel
        if name == "x":
            return self.alphabets[c].strings()
        return list(context_values(name)) if is_context(name) else self.derived[channel][0].strings()

    def _rows_of(self, side, nodes, token, anchor, grow):
        """The (G, A) matrix of rows."""
        if grow:
            for c, compound in enumerate(side.compounds):
                if self.min_count > 1 and compound.slots:
                    old = side.counts[c]
                    count = np.zeros((side.n_nodes[c], len(compound.slots)), np.int32)
                    count[: old.shape[0]] = old
                    slots, shifts = np.array(side.uses[c], np.int64).reshape(-1, 2).T.copy()
                    _count(nodes[c], self.plan.left, anchor, token, slots, shifts, side.first_token, count)
                    side.counts[c] = count
                side.assign_rows(c, self.min_count)
        out = np.empty((len(side.groups), anchor[-1]), np.int32)
        for g, group in enumerate(side.groups):
            rows = side.row_of[group.compound][nodes[group.compound]]
            if group.slot:
                rows = np.where(rows < 0, np.int32(-1), rows + np.int32(group.slot))
            out[g] = rows
        return out

    def context_strings(self, sequence):
        """The values of the functions of a context for each token: {(function, column): list of str}."""
        token = np.array([0, len(sequence)])
        ids = self.contexts.ids(self._split_columns(list(sequence), token), token)
        return {channel: [context_values(channel[0])[v] for v in values] for channel, values in ids.items()}

    def adapted(self, flat, token):
        """This encoder with the accessor varieties of another text, or for None of the training text.

        It shares everything else with this one, which stays as it is.

        Raises
        ------
        ValueError
            If no template reads accessor varieties.
        """
        if not self.contexts.longest:
            raise ValueError(
                "there is nothing to adapt: none of the feature templates reads accessor varieties; "
                "features='char-av' do, or templates such as 'U:%av2[0,0]'"
            )
        columns = None if flat is None else self._split_columns(flat, token)
        for c in self.contexts.longest if columns is not None else ():
            if set(map(type, columns[c])) - {str} and not all(isinstance(s, str) for s in columns[c]):
                self._refuse(columns[c], token, c, len(columns))
        twin = copy.copy(self)
        twin.contexts = self.contexts.copy()
        twin.contexts.adapt(columns, token)
        return twin

    def encode(self, flat, token, grow, like=None):
        """Encode a corpus.

        Parameters
        ----------
        flat : list of str or of tuple of str
            All N tokens.
        token : ndarray of shape (n + 1,), int64
            Where each sequence starts.
        grow : bool
            Training: new strings, combinations and features are added.
        like : str or tuple of str, optional
            The token whose type and width all must have, if that is not the first of ``flat``.

        Returns
        -------
        anchor : ndarray of shape (n + 1,), int64
        node_rows, edge_rows : ndarray of shape (G, A), int32
        """
        columns = self._split_columns(flat, token, like)
        if grow:
            ids, unknown = self._intern(columns, token), [[] for _ in columns]
            if flat:
                self.kind = tuple if isinstance(flat[0], tuple) else str
                self.contexts.learn(columns, token)
        else:
            ids, unknown = self._lookup(columns, token)
        values = self._channel_ids(ids, unknown, self.contexts.ids(columns, token), grow)
        n = token.shape[0] - 1
        padding = self.plan.left + self.plan.right
        anchor = token + padding * np.arange(n + 1)
        slots = np.arange(token[-1]) + np.repeat(self.plan.left + padding * np.arange(n), np.diff(token))
        channels = [self._on_anchors(v, token, anchor, slots) for v in values]
        rows = []
        for side in (self.nodes, self.edges):
            nodes = self._nodes_of(side, channels, token, anchor, grow)
            rows.append(self._rows_of(side, nodes, token, anchor, grow))
        return anchor, rows[0], rows[1]

    @property
    def n_features(self):
        """Number of features: combinations times the templates they serve.

        Without a count cut-off this includes places next to the ends of sequences that never occurred.
        """
        if self.min_count > 1:
            return int(self.nodes.alive.sum())
        return self.nodes.n_rows
