"""The encoder for strings, and tuples of strings: tokens to feature rows, by templates.

Strings become ids (alphabets), ids become *nodes* (combinations of ids, interned pairwise in one exact hash
table) and nodes own weight *rows*, one for each slot of their compound (see ``templates``). Encoding for
training grows all three; encoding for prediction only looks up, and what is unknown has no feature.
"""

import copy

import numpy as np

from ..core.hashing import empty_table
from ..core.interning import find_pairs, intern_pairs, pairs_of, table_of
from ..data.corpus import STRINGS, called_by_kind
from ..data.reads import Reads
from .base import Encoder
from .contexts import Contexts, context_values, is_context
from .encoded import ALL_ALIVE, Encoded, no_bag
from .names import row_names
from .template_rows import TemplateSide, merge_templates
from .templates import resolve_templates
from .tokens import Alphabet, column_function, refuse, split_columns


class TemplateEncoder(Encoder):
    """Encodes tokens that are strings, or tuples of strings, by feature templates.

    Parameters
    ----------
    templates : FeatureTemplates
    min_count : int
        Features seen fewer times in training are left out.
    """

    TOKENS = (str, tuple)
    reads = Reads(called_by_kind(STRINGS))

    @classmethod
    def for_tokens(cls, features, min_count, flat):
        """The encoder that a ``features`` parameter means for a corpus."""
        return cls(resolve_templates(features, flat[0], flat), min_count)

    def __init__(self, templates, min_count=1):
        self.templates = templates
        self.min_count = min_count
        self.plan = plan = templates.compile()
        self.has_bigram, self.n_columns = plan.bigram, plan.n_columns
        self.alphabets = [Alphabet() for _ in range(plan.n_columns)]
        self.derived = {}  # channel -> (Alphabet of values, int32 value id by string id)
        for channel in plan.channels:
            if channel[0] not in ("x", "const") and not is_context(channel[0]):
                self.derived[channel] = (Alphabet(), np.zeros(0, np.int32))
        self.contexts = Contexts(plan.channels, templates.lexicons)
        self.table = empty_table()
        self.entries = np.zeros(1, np.int64)
        self.nodes = TemplateSide(plan, plan.nodes, plan.node_groups, 0, 0, 0)
        # Combination 0 of the transitions is the label bigram itself.
        self.edges = TemplateSide(plan, plan.edges, plan.edge_groups, 1, 1, len(plan.nodes))
        self.token_type = None  # str or tuple, from the first corpus

    @property
    def is_independent(self):
        """See :class:`.base.Encoder`; accessor variety is a statistic of all sequences."""
        return not self.contexts.longest

    def copy(self):
        """An encoder that can grow while this one stays as it is."""
        twin = super().copy()
        twin.alphabets, twin.derived = list(self.alphabets), dict(self.derived)
        twin.contexts = self.contexts.copy()
        twin.table, twin.entries = self.table.copy(), self.entries.copy()
        return twin

    # -- strings to ids ----------------------------------------------------------------------------
    def _columns(self, corpus):
        return split_columns(corpus, self.plan.n_columns, self.token_type)

    def _intern(self, columns, offsets):
        """Ids of each column; the alphabets grow, all or none."""
        ids, grown = [], []
        for c, column in enumerate(columns):
            try:
                found, alphabet = self.alphabets[c].interned(column)
            except TypeError:
                refuse(column, offsets, c, len(columns))
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
                refuse(column, offsets, c, len(columns))
            extra = {}
            for k in np.flatnonzero(found < 0).tolist():
                token = column[k]
                if not isinstance(token, str):
                    refuse(column, offsets, c, len(columns))
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
    def _on_anchors(self, channel, anchor, slots):
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

    def _nodes_of(self, side, channels, anchor, grow):
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
        channel = self.plan.channels[k]
        if channel[0] == "const":
            return 1
        return self.plan.left + self.plan.right + len(self.values_of(channel))

    def values_of(self, channel):
        """The values of a channel, by id without boundaries: an alphabet, or a tuple of str."""
        name, c = channel
        if name == "x":
            return self.alphabets[c]
        return context_values(name) if is_context(name) else self.derived[channel][0]

    def adapted(self, corpus):
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
        columns, token = (None, None) if corpus is None else (self._columns(corpus), corpus.offsets)
        for c in self.contexts.longest if columns is not None else ():
            if set(map(type, columns[c])) - {str} and not all(isinstance(s, str) for s in columns[c]):
                refuse(columns[c], token, c, len(columns))
        twin = copy.copy(self)
        twin.contexts = self.contexts.copy()
        twin.contexts.adapt(columns, token)
        return twin

    def encode(self, corpus, grow):
        """Encode a corpus.

        Parameters
        ----------
        corpus : TokenCorpus
            Of str, or of tuples of str.
        grow : bool
            Training: new strings, combinations and features are added.

        Returns
        -------
        Encoded
        """
        columns, token = self._columns(corpus), corpus.offsets
        if grow:
            ids, unknown = self._intern(columns, token), [[] for _ in columns]
            if token[-1]:
                self.token_type = tuple if isinstance(corpus.like, tuple) else str
                self.contexts.learn(columns, token)
        else:
            ids, unknown = self._lookup(columns, token)
        values = self._channel_ids(ids, unknown, self.contexts.ids(columns, token), grow)
        n = token.shape[0] - 1
        padding = self.plan.left + self.plan.right
        anchor = token + padding * np.arange(n + 1)
        slots = np.arange(token[-1]) + np.repeat(self.plan.left + padding * np.arange(n), np.diff(token))
        channels = [self._on_anchors(v, anchor, slots) for v in values]
        nodes, edges = [self._nodes_of(side, channels, anchor, grow) for side in (self.nodes, self.edges)]
        if grow:
            self.nodes.grow(nodes, self.plan.left, anchor, token, self.min_count)
            self.edges.grow(edges, self.plan.left, anchor, token, self.min_count)
        return Encoded(
            anchor=anchor,
            left=self.plan.left,
            n_columns=self.plan.n_columns,
            nodes=self.nodes.grid(nodes, anchor[-1]),
            edges=self.edges.grid(edges, anchor[-1]),
            bag=no_bag(),
            node_alive=self.nodes.alive if self.min_count > 1 else ALL_ALIVE,
            edge_alive=self.edges.alive if self.min_count > 1 else ALL_ALIVE,
        )

    @property
    def n_features(self):
        """Number of features: combinations times the templates they serve.

        Without a count cut-off this includes places next to the ends of sequences that never occurred.
        """
        if self.min_count > 1:
            return int(self.nodes.alive.sum())
        return self.nodes.n_rows

    # -- what models and their readers ask ---------------------------------------------------------
    def keep_rows(self, nodes, edges):
        """See :class:`.base.Encoder`."""
        twin, pairs, rows = self.copy(), [], []
        for side, used in ((twin.nodes, nodes), (twin.edges, edges)):
            own = [pairs_of(self.table, side.offset + c) for c in range(len(side.compounds))]
            own, kept = side.keep_rows(own, used, self.min_count)
            pairs += own
            rows.append(kept)
        twin.table, _ = table_of(pairs)
        twin.entries = np.array([sum(map(len, pairs))], np.int64)
        return twin, *rows

    def template_of_row(self, encoded):
        """(n_node_rows,) the template of each node row, as a number, from a corpus that has them all."""
        of_row, n = np.zeros(self.n_node_rows, np.int32), 0
        for rows, width in zip(encoded.nodes.row, encoded.nodes.width.tolist()):
            rows = rows[rows >= 0]
            for k in range(width):
                of_row[rows + k] = n + k
            n += width
        return of_row

    def row_names(self, rows):
        """The names of node rows, {row: name}."""
        return row_names(self, self.nodes, rows)

    def edge_names(self, rows):
        """The names of rows of transition features, {row: name}."""
        return row_names(self, self.edges, rows)

    def merged(self, encoders, counts, min_count):
        """See :func:`.base.merge_encoders`; this is the first of ``encoders``."""
        empty = type(self)(self.templates, min_count)
        return empty, merge_templates(empty, encoders, counts)
