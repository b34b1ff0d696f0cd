"""The encoder for strings, and tuples of strings: tokens to feature rows, by templates.

Strings become ids (alphabets), ids become *nodes* (combinations of ids, interned pairwise in one exact hash
table) and nodes own weight *rows*, one for each slot of their compound (see ``templates``). Encoding for
training grows all three; encoding for prediction only looks up, and what is unknown has no feature.
"""

import copy
from itertools import chain
from typing import NamedTuple

import numpy as np

from ..core.hashing import empty_table, find_rows, intern_pairs, table_of
from ..data.corpus import STRINGS, called_by_kind
from ..data.reads import Reads
from ..saving.container import require
from ..saving.fields import Field, Table, array, built, each, integer, knowing, string, without_last
from .base import MIN_COUNT, TITLES, TOKENS, Encoder, has_cutoff, take_titles
from .contexts import CONTEXTS, Contexts, context_values, is_context
from .encoded import ALL_ALIVE, NO_BAG, Encoded, Grid
from .template_rows import SIDE, TemplateSide, merge_templates, row_names, stored
from .templates import resolve_templates, templates_kind
from .tokens import Alphabet, alphabet, column_function, split_columns, string_columns


class Derived(NamedTuple):
    """The values of a function of one token."""

    function: str
    column: int
    values: Alphabet
    of_string: np.ndarray  # int32: by string id the value id; the last, -1, serves id -1


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
        self.derived = {}  # channel -> Derived
        for channel in plan.channels:
            if channel[0] not in ("x", "const") and not is_context(channel[0]):
                column_function(channel[0], templates.words)  # raises where clusters lack
                self.derived[channel] = Derived(*channel, Alphabet(), np.full(1, -1, np.int32))
        self.contexts = Contexts(plan.channels, templates.lexicons)
        self.table = empty_table()
        self.entries = np.zeros(1, np.int64)
        self.nodes = TemplateSide(plan, plan.nodes, plan.node_groups, 0, 0, 0)
        # Combination 0 of the transitions is the label bigram itself.
        self.edges = TemplateSide(plan, plan.edges, plan.edge_groups, 1, 1, len(plan.nodes))
        self.token_type = None  # str or tuple, from the first corpus

    def copy(self):
        """An encoder that can grow while this one stays as it is."""
        twin = super().copy()
        twin.alphabets, twin.derived = list(self.alphabets), dict(self.derived)
        twin.contexts = copy.copy(self.contexts)
        twin.table, twin.entries = self.table.copy(), self.entries.copy()
        return twin

    # -- strings to ids ----------------------------------------------------------------------------
    def _columns(self, corpus):
        return split_columns(corpus, self.plan.n_columns, self.token_type)

    def _value_ids(self, columns, token, grow):
        """By channel the value ids of all tokens, -1 unknown; no boundaries yet. None if it is constant.

        Raises TypeError if an element is not a string; then no alphabet has learned anything.
        """
        known = zip(self.alphabets, columns)
        found = [each.interned(column) if grow else each.numbered(column) for each, column in known]
        ids, others = map(list, zip(*found))
        if grow:
            self.alphabets, others = others, [None] * len(columns)
        known = {("x", c): column for c, column in enumerate(ids)} | {("const", 0): None}
        known |= self.contexts.ids(columns, token)
        return [
            known[channel] if channel in known else self._derived_ids(channel, ids, others, grow)
            for channel in self.plan.channels
        ]

    def _derived_ids(self, channel, ids, unknown, grow):
        """Value ids of a function of one token."""
        name, c = channel
        if grow:
            self.derive(channel)
        _, _, values, of_string = self.derived[channel]
        out = of_string.take(ids[c], mode="wrap")
        if unknown[c]:
            strings, places, numbers = unknown[c]
            fresh = values.lookup(list(map(column_function(name, self.templates.words), strings)))
            out[places] = fresh.take(numbers)
        return out

    def derive(self, channel):
        """Let the values of a function of one token follow the alphabet."""
        name, c, values, of_string = self.derived[channel]
        strings = list(self.alphabets[c])[of_string.shape[0] - 1 :]
        fresh, values = values.interned(list(map(column_function(name, self.templates.words), strings)))
        of_string = np.concatenate([of_string[:-1], fresh, of_string[-1:]])
        self.derived[channel] = Derived(name, c, values, of_string)

    # -- ids to nodes to rows ----------------------------------------------------------------------
    def _on_anchors(self, values, token, anchor, more=0):
        """(K + more, A) int32: by channel and anchor its ids 0 ... left - 1 | left ... | the tokens.

        The last rows are for nodes.
        """
        left, right, K, n = self.plan.left, self.plan.right, len(values), token.shape[0] - 1
        constant, ids = [k for k in range(K) if values[k] is None], np.zeros((K, token[-1]), np.int32)
        for k in range(K):
            if values[k] is not None:
                ids[k] = values[k]
        np.add(ids, left + right, out=ids, where=ids >= 0)
        slots = slice(left, left + ids.shape[1])
        if n > 1:
            slots = np.arange(token[-1]) + np.repeat(left + (left + right) * np.arange(n), np.diff(token))
        out = np.empty((K + more, anchor[-1]), np.int32)
        out[:K, slots] = ids
        for d in range(left):
            out[:K, anchor[:-1] + (left - 1 - d)] = d
        for d in range(right):
            out[:K, anchor[1:] - (right - d)] = left + d
        for k in constant:  # which is nowhere outside
            out[k] = -1
            out[k, slots] = 0
        return out

    def _nodes_of(self, side, channels, anchor):
        """In training, one int32 array of nodes by anchor for each compound of a side."""
        nodes = list(channels)
        for c, compound in enumerate(side.compounds):
            if compound.prefix < 0:
                side.n_nodes[c] = self.n_values(compound.channel)
        for number, left, right, *where in side.pairs.tolist():
            nodes.append(self.intern(side, number - side.offset, nodes[left], nodes[right], anchor, *where))
        return [nodes[k] for k in side.source]

    def intern(self, side, c, left, right, anchor, distance=0, *span):
        """The nodes of a compound, from those of all atoms but the last, and the last; new ones are added.

        For parameters see :func:`skstruct.core.hashing.intern_pairs`.
        """
        out, n_nodes = np.full(anchor[-1], -1, np.int32), np.array([side.n_nodes[c]])
        self.table = intern_pairs(
            self.table, self.entries, side.offset + c, left, right, distance, np.array(span or (0, 0)),
            anchor, out, n_nodes,
        )  # fmt: skip
        side.n_nodes[c] = int(n_nodes[0])
        return out

    def _grown(self, values, token, anchor):
        """The rows (G, A) of label and of transition features in training: all that is new is entered."""
        channels = self._on_anchors(values, token, anchor)
        for side in (self.nodes, self.edges):
            nodes = self._nodes_of(side, channels, anchor)
            side.grow(nodes, self.plan.left, anchor, token, self.min_count)
            yield side.rows(nodes, anchor[-1])

    def _found(self, values, token, anchor):
        """The same in prediction: what is known."""
        for side in (self.nodes, self.edges):
            rows = np.empty((len(side.groups), anchor[-1]), np.int32)
            if side.groups:
                nodes = self._on_anchors(values, token, anchor, len(side.pairs))
                find_rows(self.table, side.pairs, *side.joined(), len(values), anchor, nodes, rows)
            yield rows

    def n_values(self, k):
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
        return context_values(name) if is_context(name) else self.derived[channel].values

    def adapted(self, corpus):
        """This encoder with the accessor varieties of another text, or for None of the training text.

        It shares everything else with this one, which stays as it is.

        Raises
        ------
        ValueError
            If no template reads accessor varieties.
        """
        if not self.contexts.longest:
            text = "there is nothing to adapt: none of the feature templates reads accessor varieties; "
            raise ValueError(f"{text}features='char-av' do, or templates such as 'U:%av2[0,0]'")
        twin, statistics = copy.copy(self), None
        if corpus is not None:
            columns = string_columns(corpus, self.plan.n_columns, self.token_type)
            statistics = self.contexts.statistics(columns, corpus.offsets)
        twin.contexts = copy.copy(self.contexts)
        twin.contexts.adapted = statistics
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
        try:
            if grow and token[-1]:
                self.token_type = tuple if isinstance(corpus.like, tuple) else str
                self.contexts.learn(columns, token)
            anchor, *rows = self._rows(columns, token, grow)
        except TypeError:
            string_columns(corpus, self.plan.n_columns, self.token_type)  # names the place
            raise
        sides = self.nodes, self.edges
        grids = [Grid(each, *side.layout) for each, side in zip(rows, sides)]
        alive = [side.alive if self.min_count > 1 else ALL_ALIVE for side in sides]
        return Encoded(anchor, self.plan.left, self.plan.n_columns, *grids, NO_BAG, *alive)

    def _rows(self, columns, token, grow=False):
        """Anchors, and the rows (G, A) of features of labels and of transitions; ``grow`` as of `encode`."""
        values = self._value_ids(columns, token, grow)
        anchor = token + (self.plan.left + self.plan.right) * np.arange(token.shape[0])
        return anchor, *(self._grown if grow else self._found)(values, token, anchor)

    def encode_one(self, tokens):
        """See :class:`.base.Encoder`: of str, or of tuples of as many str."""
        kinds, columns, (lo, width, *_) = set(map(type, tokens)), [tokens], self.nodes.layout
        if kinds != {self.token_type} or self.edges.groups:
            return None
        if self.token_type is tuple:
            kinds, widths = set(map(type, chain.from_iterable(tokens))), set(map(len, tokens))
            if kinds != {str} or len(widths) > 1 or min(widths) < self.n_columns:
                return None
            columns = list(zip(*tokens))[: self.n_columns]
        token = np.array([0, len(tokens)], np.int64)
        anchor, rows, _ = self._rows(columns, token)
        return token, anchor, self.plan.left, rows, lo, width, *NO_BAG

    @property
    def may_repeat(self):
        """See :class:`.base.Encoder`."""
        return self.nodes.may_repeat

    @property
    def n_features(self):
        """Number of features: combinations times the templates they serve.

        Without a count cut-off this includes places next to the ends of sequences that never occurred.
        """
        return int(self.nodes.alive.sum()) if self.min_count > 1 else self.nodes.n_rows

    # -- what models and their readers ask ---------------------------------------------------------
    def keep_rows(self, nodes, edges):
        """See :class:`.base.Encoder`."""
        twin, pairs, rows = self.copy(), [], []
        for side, used in ((twin.nodes, nodes), (twin.edges, edges)):
            own, kept = side.keep_rows(side.all_pairs(self.table), used, self.min_count)
            pairs += own
            rows.append(kept)
        twin.table, _ = table_of(pairs)
        twin.entries = np.array([sum(map(len, pairs))], np.int64)
        return twin, *rows

    def template_of_row(self, encoded):
        """(n_node_rows,) the template of each node row, as a number, from a corpus that has them all."""
        of_row, n = np.zeros(self.n_node_rows, np.int32), 0
        for rows, width in zip(encoded.nodes.row, encoded.nodes.width.tolist()):
            slots = np.arange(width)
            of_row[rows[rows >= 0, None] + slots] = n + slots
            n += width
        return of_row

    def row_names(self, rows):
        """The names of node rows, {row: name}."""
        return row_names(self, self.nodes, rows)

    def edge_names(self, rows):
        """The names of rows of transition features, {row: name}."""
        return row_names(self, self.edges, rows)

    def merged(self, encoders, counts, min_count):
        """See :func:`.choose.merge_encoders`; this is the first of ``encoders``."""
        empty = type(self)(self.templates, min_count)
        empty.reads = self.reads
        return empty, merge_templates(empty, encoders, counts)


# --------------------------------------------------------------------------------------------------
# In files. The hash table is stored as its entries, so that no file holds one in which a search never ends
# --------------------------------------------------------------------------------------------------
def _new_encoder(f):
    """The encoder without its combinations."""
    columns = f["columns"]  # before the encoder is built: it makes an alphabet for every column
    encoder = TemplateEncoder(f["templates"], f["min_count"])
    encoder.token_type, encoder.alphabets = f["tokens"], columns
    found = {(item.function, item.column): item for item in f["derived"]}
    missing, unknown = encoder.derived.keys() - found, found.keys() - encoder.derived.keys()
    require(not missing, f"{f.where}.derived lacks {missing}")
    require(not unknown, f"{f.where}.derived: {unknown} is in no template")
    encoder.derived.update(found)
    return encoder


def _encoder(f):
    encoder, pairs = f["encoder"], [*f["nodes"], *f["edges"]]
    require(f["contexts"] or not encoder.contexts.in_use, f"{f.where} lacks contexts")
    encoder.table, is_distinct = table_of(pairs)
    require(is_distinct, f"{f.where}: a combination occurs twice")
    encoder.entries = np.array([sum(map(len, pairs))], np.int64)
    take_titles(encoder, f)
    return encoder


DERIVED = Table(
    "`derived` of templates",
    Field("function", string),
    Field("column", integer(0, "columns")),
    Field("values", alphabet),
    Field("of_string", without_last(array("int32", "strings of the column", low=0, high="values"))),
    make=built(Derived, "function column values of_string"),
    **{"strings of the column": lambda f: f["columns"][f["column"]]},
)

_DERIVED = each(DERIVED, lambda f, k, item: f"{item.function}.{item.column}")

TEMPLATE_ENCODER = Table(
    "Encoder `templates`",
    Field("tokens", TOKENS, of="token_type"),
    Field("templates", templates_kind),
    MIN_COUNT,
    Field("columns", each(alphabet, lambda f, k, item: k, "columns of the templates"), of="alphabets"),
    Field("derived", _DERIVED, of=lambda encoder: list(encoder.derived.values()), stem=""),
    Field("nodes", knowing(SIDE, lambda f: {"side": f["encoder"].nodes}), of=lambda e: stored(e, e.nodes)),
    Field("edges", knowing(SIDE, lambda f: {"side": f["encoder"].edges}), of=lambda e: stored(e, e.edges)),
    Field("contexts", CONTEXTS, of=lambda e: e.contexts if e.contexts.in_use else None, default=None),
    TITLES,
    make=_encoder,
    cut=has_cutoff,
    encoder=_new_encoder,
    **{"columns of the templates": lambda f: f["templates"].n_columns},
)
