"""The encoder for strings, and tuples of strings: tokens to feature rows, by templates.

Strings become ids (alphabets), ids become *nodes* (combinations of ids, interned
pairwise in one exact hash table) and nodes own weight *rows*, one for each slot of
their compound (see ``templates``). Encoding for training grows all three; encoding for
prediction only looks up, and what is unknown has no feature.
"""

from __future__ import annotations

import copy
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._core.hashing import empty_table, find_rows, intern_pairs, table_of
from .._data.corpus import STRINGS, called_by_kind
from .._data.reads import ModelReads
from .._saving.container import require
from .._saving.fields import (
    Field,
    Table,
    array,
    built,
    each,
    integer,
    knowing,
    string,
    without_last,
)
from .contexts import CONTEXTS, Contexts, context_values, is_context
from .encoded import ALL_ALIVE, NO_BAG, Encoded, Grid
from .encoder_fields import MIN_COUNT, TITLES, TOKENS, has_cutoff, take_titles
from .indexed_encoder import IndexedEncoder
from .template_rows import (
    SIDE,
    TemplateSide,
    members_of_side,
    merge_templates,
    row_names,
)
from .templates import FeatureTemplates, resolve_templates, templates_kind
from .tokens import Alphabet, alphabet, column_function, split_columns, string_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from .._chain.bigram import ChainTask
    from .._data.corpus import TokenCorpus
    from .._data.types import Self
    from .._saving.fields import Members
    from .accessor import AccessorVariety
    from .base import Features, SmallRows
    from .encoded import RowMap
    from .tokens import Channel, Unknown


class Derived(NamedTuple):
    """The values of a function of one token."""

    function: str
    column: int
    values: Alphabet
    # (n_strings + 1,) int32: by string id the value id; the last, -1, serves id -1.
    of_string: np.ndarray


class TemplateEncoder(IndexedEncoder):
    """Encodes tokens that are strings, or tuples of strings, by feature templates.

    Parameters
    ----------
    templates : FeatureTemplates
    min_count : int
        Features seen fewer times in training are left out.
    """

    TOKENS = (str, tuple)
    reads = ModelReads(called_by_kind(STRINGS))
    token_type: type | None = None
    """str or tuple, from the first corpus."""

    templates: FeatureTemplates
    nodes: TemplateSide
    edges: TemplateSide

    @classmethod
    def for_tokens(
        cls,
        features: Features,
        min_count: int,
        corpus: TokenCorpus,
        scaled: bool | None = True,
    ) -> Self:
        """Make an encoder of the templates that ``features`` means for such tokens.

        Raises
        ------
        ValueError
            If it is neither a preset, nor a file of templates, nor a list of them.
        """
        flat = corpus.tokens
        return cls(resolve_templates(features, flat[0], flat), min_count)

    def __init__(self, templates: FeatureTemplates, min_count: int = 1) -> None:
        self.templates = templates
        self.min_count = min_count
        self.plan = plan = templates.compile()
        self.has_bigram = plan.bigram
        self.n_columns = plan.n_columns
        self.alphabets = [Alphabet() for _ in range(plan.n_columns)]
        self.derived: dict[Channel, Derived] = {}
        for channel in plan.channels:
            if channel[0] not in ("x", "const") and not is_context(channel[0]):
                # Raises where there are no clusters.
                column_function(channel[0], templates.words)
                name, column = channel
                nothing = np.full(1, -1, np.int32)
                self.derived[channel] = Derived(name, column, Alphabet(), nothing)
        self.contexts = Contexts(plan.channels, templates.lexicons)
        self.table = empty_table()
        self.entries = np.zeros(1, np.int64)
        self.nodes = TemplateSide(plan, plan.nodes, plan.node_groups, 0, 0, 0)
        # Combination 0 of the transitions is the label bigram itself.
        self.edges = TemplateSide(
            plan, plan.edges, plan.edge_groups, 1, 1, len(plan.nodes)
        )

    def copy(self) -> Self:
        """Make an encoder that can grow while this one stays as it is."""
        twin = super().copy()
        twin.alphabets = list(self.alphabets)
        twin.derived = dict(self.derived)
        twin.contexts = copy.copy(self.contexts)
        twin.table = self.table.copy()
        twin.entries = self.entries.copy()
        return twin

    # -- strings to ids ----------------------------------------------------------------
    def _columns(self, corpus: TokenCorpus) -> list[list[str]]:
        return split_columns(corpus, self.plan.n_columns, self.token_type)

    def _value_ids(
        self, columns: list[list[str]], token: np.ndarray, grow: bool
    ) -> list[np.ndarray | None]:
        """By channel the value ids of all tokens, -1 unknown; no boundaries yet.

        Raises TypeError if an element is not a string; then no alphabet has learned
        anything.
        """
        unknown: list[Unknown] = [None] * len(columns)
        ids: list[np.ndarray] = []
        if grow:
            pairs = zip(self.alphabets, columns)
            grown = [alphabet.interned(column) for alphabet, column in pairs]
            ids = [found for found, _ in grown]
            self.alphabets = [longer for _, longer in grown]
        else:
            for c, column in enumerate(columns):
                found, unknown[c] = self.alphabets[c].numbered(column)
                ids.append(found)
        known: dict[Channel, np.ndarray | None] = {("const", 0): None}
        known |= {("x", c): column for c, column in enumerate(ids)}
        known |= self.contexts.ids(columns, token)
        return [
            known[channel]
            if channel in known
            else self._derived_ids(channel, ids, unknown, grow)
            for channel in self.plan.channels
        ]

    def _derived_ids(
        self,
        channel: Channel,
        ids: list[np.ndarray],
        unknown: list[Unknown],
        grow: bool,
    ) -> np.ndarray:
        """Value ids of a function of one token."""
        name, c = channel
        if grow:
            self.derive(channel)
        _, _, values, of_string = self.derived[channel]
        out = of_string.take(ids[c], mode="wrap")
        mine = unknown[c]
        if mine is not None:
            strings, places, numbers = mine
            fresh = values.lookup(
                list(map(column_function(name, self.templates.words), strings))
            )
            out[places] = fresh.take(numbers)
        return out

    def derive(self, channel: Channel) -> None:
        """Compute a function of one token for the strings that an alphabet has got."""
        name, c, values, of_string = self.derived[channel]
        strings = list(self.alphabets[c])[of_string.shape[0] - 1 :]
        fresh, values = values.interned(
            list(map(column_function(name, self.templates.words), strings))
        )
        of_string = np.concatenate([of_string[:-1], fresh, of_string[-1:]])
        self.derived[channel] = Derived(name, c, values, of_string)

    # -- ids to nodes to rows ----------------------------------------------------------
    def _on_anchors(
        self,
        values: list[np.ndarray | None],
        token: np.ndarray,
        anchor: np.ndarray,
        more: int = 0,
    ) -> np.ndarray:
        """(K + more, A) int32: by channel and anchor its ids 0 ... left - 1 | left ...
        | the tokens.

        The last rows are for nodes.
        """
        left = self.plan.left
        right = self.plan.right
        K = len(values)
        n = token.shape[0] - 1
        constant = [k for k in range(K) if values[k] is None]
        ids = np.zeros((K, token[-1]), np.int32)
        for k in range(K):
            if values[k] is not None:
                ids[k] = values[k]
        np.add(ids, left + right, out=ids, where=ids >= 0)
        slots = slice(left, left + ids.shape[1])
        if n > 1:
            slots = np.arange(token[-1]) + np.repeat(
                left + (left + right) * np.arange(n), np.diff(token)
            )
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

    def _nodes_of(
        self, side: TemplateSide, channels: np.ndarray, anchor: np.ndarray
    ) -> list[np.ndarray]:
        """In training, the int32 nodes by anchor of each compound of a side."""
        nodes = list(channels)
        for c, compound in enumerate(side.compounds):
            if compound.prefix < 0:
                side.n_nodes[c] = self.n_values(compound.channel)
        for number, left, right, *where in side.pairs.tolist():
            nodes.append(
                self.intern(
                    side,
                    number - side.offset,
                    nodes[left],
                    nodes[right],
                    anchor,
                    *where,
                )
            )
        return [nodes[k] for k in side.source]

    def intern(
        self,
        side: TemplateSide,
        c: int,
        left: np.ndarray,
        right: np.ndarray,
        anchor: np.ndarray,
        distance: int = 0,
        *span: int,
    ) -> np.ndarray:
        """Number the nodes of a compound; new ones are added.

        Parameters
        ----------
        side : TemplateSide
        c : int
            The compound.
        left, right : ndarray of int32
            The nodes of all atoms but the last, and of the last.
        anchor, distance, span
            See :func:`skstruct._core.hashing.intern_pairs`.

        Returns
        -------
        ndarray of int32
            By anchor the node, -1 for none.
        """
        out = np.full(anchor[-1], -1, np.int32)
        n_nodes = np.array([side.n_nodes[c]])
        self.table = intern_pairs(
            self.table,
            self.entries,
            side.offset + c,
            left,
            right,
            distance,
            np.array(span or (0, 0)),
            anchor,
            out,
            n_nodes,
        )
        side.n_nodes[c] = int(n_nodes[0])
        return out

    def _grown(
        self, values: list[np.ndarray | None], token: np.ndarray, anchor: np.ndarray
    ) -> Iterator[np.ndarray]:
        """Return the rows (G, A) of label and of transition features in training; new
        features are entered.
        """
        channels = self._on_anchors(values, token, anchor)
        for side in (self.nodes, self.edges):
            nodes = self._nodes_of(side, channels, anchor)
            side.grow(nodes, self.plan.left, anchor, token, self.min_count)
            yield side.rows(nodes, anchor[-1])

    def _found(
        self, values: list[np.ndarray | None], token: np.ndarray, anchor: np.ndarray
    ) -> Iterator[np.ndarray]:
        """Return the rows (G, A) of label and of transition features in prediction;
        unknown features have none.
        """
        for side in (self.nodes, self.edges):
            rows = np.empty((len(side.groups), anchor[-1]), np.int32)
            if side.groups:
                nodes = self._on_anchors(values, token, anchor, len(side.pairs))
                find_rows(
                    self.table,
                    side.pairs,
                    *side.joined(),
                    len(values),
                    anchor,
                    nodes,
                    rows,
                )
            yield rows

    def n_values(self, k: int) -> int:
        """Return the number of ids of a channel, boundaries included."""
        channel = self.plan.channels[k]
        if channel[0] == "const":
            return 1
        return self.plan.left + self.plan.right + len(self.values_of(channel))

    def values_of(self, channel: Channel) -> Alphabet | tuple[str, ...]:
        """Return the values of a channel, by id without boundaries."""
        name, c = channel
        if name == "x":
            return self.alphabets[c]
        return (
            context_values(name) if is_context(name) else self.derived[channel].values
        )

    def adapted(self, corpus: TokenCorpus | None) -> Self:
        """Make an encoder with the accessor varieties of another text, or for None with
        those of the training text.

        It shares everything else with this one, which stays as it is.

        Raises
        ------
        ValueError
            If no template reads accessor varieties.
        """
        if not self.contexts.longest:
            text = (
                "there is nothing to adapt: none of the feature templates reads "
                "accessor varieties; "
            )
            raise ValueError(
                f"{text}features='char-av' do, or templates such as 'U:%av2[0,0]'"
            )
        twin = copy.copy(self)
        statistics: dict[int, AccessorVariety] | None = None
        if corpus is not None:
            columns = string_columns(corpus, self.plan.n_columns, self.token_type)
            statistics = self.contexts.statistics(columns, corpus.offsets)
        twin.contexts = copy.copy(self.contexts)
        twin.contexts.adapted = statistics
        return twin

    def encode(self, corpus: TokenCorpus, grow: bool) -> Encoded:
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
        columns = self._columns(corpus)
        token = corpus.offsets
        try:
            if grow and token[-1]:
                self.token_type = tuple if isinstance(corpus.like, tuple) else str
                self.contexts.learn(columns, token)
            anchor, nodes, edges = self._rows(columns, token, grow)
        except TypeError:
            # Names the place of what is no string.
            string_columns(corpus, self.plan.n_columns, self.token_type)
            raise
        cuts = self.min_count > 1
        return Encoded(
            anchor,
            self.plan.left,
            self.plan.n_columns,
            Grid(nodes, *self.nodes.layout),
            Grid(edges, *self.edges.layout),
            NO_BAG,
            self.nodes.alive if cuts else ALL_ALIVE,
            self.edges.alive if cuts else ALL_ALIVE,
        )

    def _rows(
        self, columns: list[list[str]], token: np.ndarray, grow: bool = False
    ) -> tuple[np.ndarray, ...]:
        """Anchors, and the rows (G, A) of features of labels and of transitions;
        ``grow`` as of `encode`.
        """
        values = self._value_ids(columns, token, grow)
        anchor = token + (self.plan.left + self.plan.right) * np.arange(token.shape[0])
        return anchor, *(self._grown if grow else self._found)(values, token, anchor)

    def encode_one(self, tokens: list[Any]) -> SmallRows | None:
        """Look up the rows of a sentence of str, or of tuples of as many str.

        See :meth:`.base.Encoder.encode_one`; None too if templates of transitions read
        tokens.
        """
        tokens = [*tokens]  # which another thread may change meanwhile
        kinds = set(map(type, tokens))
        columns: list[Any] = [tokens]
        lo, width = self.nodes.layout[:2]
        if kinds != {self.token_type} or self.edges.groups:
            return None
        if self.token_type is tuple:
            kinds = set(map(type, chain.from_iterable(tokens)))
            widths = set(map(len, tokens))
            if kinds != {str} or len(widths) > 1 or min(widths) < self.n_columns:
                return None
            columns = list(zip(*tokens))[: self.n_columns]
        token = np.array([0, len(tokens)], np.int64)
        anchor, rows, _ = self._rows(columns, token)
        return token, anchor, self.plan.left, rows, lo, width, *NO_BAG

    @property
    def may_repeat(self) -> bool:
        """Tell whether templates share a name: one row may speak of a token twice then."""
        return self.nodes.may_repeat

    @property
    def n_features(self) -> int:
        """Number of features: combinations times the templates they serve.

        Without a count cut-off this includes places next to the ends of sequences that
        never occurred.
        """
        return int(self.nodes.alive.sum()) if self.min_count > 1 else self.nodes.n_rows

    # -- what models and their readers ask ---------------------------------------------
    def keep_rows(
        self, nodes: np.ndarray, edges: np.ndarray
    ) -> tuple[Self, np.ndarray, np.ndarray]:
        """Make an encoder that knows the combinations of some rows only.

        See :meth:`.base.Encoder.keep_rows`.
        """
        twin = self.copy()
        pairs: list[np.ndarray] = []
        rows: list[np.ndarray] = []
        for side, used in ((twin.nodes, nodes), (twin.edges, edges)):
            own, kept = side.keep_rows(side.all_pairs(self.table), used, self.min_count)
            pairs += own
            rows.append(kept)
        twin.table, _ = table_of(pairs)
        twin.entries = np.array([sum(map(len, pairs))], np.int64)
        return twin, rows[0], rows[1]

    def template_of_row(self, encoded: Encoded | ChainTask) -> np.ndarray:
        """Number the templates: (n_node_rows,) int32, the template of each row.

        See :meth:`.base.Encoder.template_of_row`.
        """
        of_row = np.zeros(self.n_node_rows, np.int32)
        n = 0
        for rows, width in zip(encoded.nodes.row, encoded.nodes.width.tolist()):
            slots = np.arange(width)
            of_row[rows[rows >= 0, None] + slots] = n + slots
            n += width
        return of_row

    def row_names(self, rows: set[int]) -> dict[int, str]:
        """Name rows of features of labels by their expansions, {row: name}."""
        return row_names(self, self.nodes, rows)

    def edge_names(self, rows: set[int]) -> dict[int, str]:
        """Name rows of features of transitions by their expansions, {row: name}."""
        return row_names(self, self.edges, rows)

    def merged(
        self, encoders: Sequence[Self], counts: Sequence[RowMap | None], min_count: int
    ) -> tuple[Self, list[RowMap]]:
        """Make one encoder of all combinations that those of several shards know.

        See :meth:`.base.Encoder.merged`; this is the first of ``encoders``.
        """
        empty = type(self)(self.templates, min_count)
        empty.reads = self.reads
        return empty, merge_templates(empty, encoders, counts)


# --------------------------------------------------------------------------------------
# In files. The hash table is stored as its entries, so that no file holds one in which
# a search never ends
# --------------------------------------------------------------------------------------
def _new_encoder(f: Members) -> TemplateEncoder:
    """Return the encoder without its combinations."""
    # Before the encoder is built: it makes an alphabet for every column.
    columns = f["columns"]
    encoder = TemplateEncoder(f["templates"], f["min_count"])
    encoder.token_type = f["tokens"]
    encoder.alphabets = columns
    found = {(item.function, item.column): item for item in f["derived"]}
    missing = encoder.derived.keys() - found
    unknown = found.keys() - encoder.derived.keys()
    require(not missing, f"{f.where}.derived lacks {missing}")
    require(not unknown, f"{f.where}.derived: {unknown} is in no template")
    encoder.derived.update(found)
    return encoder


def _encoder(f: Members) -> TemplateEncoder:
    encoder = f["encoder"]
    pairs = [*f["nodes"], *f["edges"]]
    require(f["contexts"] or not encoder.contexts.are_read, f"{f.where} lacks contexts")
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
    Field(
        "of_string",
        without_last(array("int32", "strings of the column", low=0, high="values")),
    ),
    make=built(Derived, "function column values of_string"),
    **{"strings of the column": lambda f: f["columns"][f["column"]]},
)

_DERIVED = each(DERIVED, lambda f, k, item: f"{item.function}.{item.column}")

TEMPLATE_ENCODER = Table(
    "Encoder `templates`",
    Field("tokens", TOKENS, of="token_type"),
    Field("templates", templates_kind),
    MIN_COUNT,
    Field(
        "columns",
        each(alphabet, lambda f, k, item: k, "columns of the templates"),
        of="alphabets",
    ),
    Field(
        "derived", _DERIVED, of=lambda encoder: list(encoder.derived.values()), stem=""
    ),
    Field(
        "nodes",
        knowing(SIDE, lambda f: {"side": f["encoder"].nodes}),
        of=lambda e: members_of_side(e, e.nodes),
    ),
    Field(
        "edges",
        knowing(SIDE, lambda f: {"side": f["encoder"].edges}),
        of=lambda e: members_of_side(e, e.edges),
    ),
    Field(
        "contexts",
        CONTEXTS,
        of=lambda e: e.contexts if e.contexts.are_read else None,
        default=None,
    ),
    TITLES,
    make=_encoder,
    cut=has_cutoff,
    encoder=_new_encoder,
    **{"columns of the templates": lambda f: f["templates"].n_columns},
)
