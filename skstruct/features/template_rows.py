"""Nodes and rows of a template encoder: the features of labels, or those of
transitions.

A feature counts its occurrences over all calls that grow the encoder, a node gets rows
when one of its features reaches the count cut-off, and ``alive`` tells which.

References
----------
T. Kudo, "CRF++: yet another CRF toolkit", 2005: templates and their expansions, which
name rows here.
"""

from __future__ import annotations

import copy
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from .._core.hashing import check_rows, pairs_of
from .._data.inputs import lengths_of, offsets_of
from .._saving.container import require, within
from .._saving.fields import Field, Table, array, each, exactly, integer, without_last
from .encoded import NOTHING, RowMap, count_grid
from .encoder_fields import MOST_ROWS
from .patterns import CRFPP, boundary
from .row_index import with_new_rows
from .tokens import Alphabet
from .word_clusters import CLUSTER

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .._data.types import Self
    from .._saving.fields import Members
    from .template_encoder import TemplateEncoder
    from .templates import Compound, Form, Group, Plan
    from .tokens import Channel


class TemplateSide:
    """Nodes and rows of the label features, or of the transition features."""

    def __init__(
        self,
        plan: Plan,
        compounds: Sequence[Compound],
        groups: Sequence[Group],
        first_row: int,
        first_token: int,
        offset: int,
    ) -> None:
        self.compounds = compounds
        self.groups = groups
        # By group (distance, column of the data) of its atoms; a bias reads no input
        # that could be masked.
        atoms = [
            [
                (distance, plan.channels[k][1])
                for k, distance in c.atoms
                if plan.channels[k][0] != "const"
            ]
            for c in (compounds[group.compound] for group in groups)
        ]
        listed = list(chain.from_iterable(atoms))
        distances, columns = np.array(listed, np.int32).reshape(-1, 2).T.copy()
        lo, width = (
            np.array([(g.lo, g.width) for g in groups], np.int32)
            .reshape(-1, 2)
            .T.copy()
        )
        starts = offsets_of(lengths_of(atoms)).astype(np.int32)
        # Of a Grid, behind the rows.
        self.layout = lo, width, starts, distances, columns
        self.offset = offset  # compound numbers in the hash table
        self.n_nodes = [0] * len(compounds)
        # By compound; a last -1 serves index -1.
        self.row_of = [np.full(1, -1, np.int32) for _ in compounds]
        self.counts = [np.zeros((0, len(c.slots)), np.int32) for c in compounds]
        self.first_row = first_row
        self.n_rows = first_row
        # Transitions lead into the second token and later ones.
        self.first_token = first_token
        self.alive = np.ones(first_row, np.uint8)
        self.uses = [  # by compound, (slot, shift) of each use
            [
                (g.slot + s, g.lo + s)
                for g in groups
                if g.compound == c
                for s in range(g.width)
            ]
            for c in range(len(compounds))
        ]
        spans = [{shift for _, shift in uses} for uses in self.uses]
        for compound, span in reversed(list(zip(compounds, spans))):
            if compound.prefix >= 0:  # a longer one starts with it
                spans[compound.prefix] |= span
        # For `find_rows`, which writes channels, then compounds of several atoms:
        # these, and where each is. Anchor p speaks of tokens p + shift: p >=
        # -max(shift), p <= T - 1 - min(shift).
        pairs: list[tuple[int, ...]] = []
        self.source: list[int] = []
        for c, (compound, span) in enumerate(zip(compounds, spans)):
            where = compound.channel
            if compound.prefix >= 0:
                where = len(plan.channels) + len(pairs)
                left = self.source[compound.prefix]
                left_out = max(0, plan.left - max(span)), max(0, plan.right + min(span))
                pairs.append(
                    (offset + c, left, compound.channel, compound.distance, *left_out)
                )
            self.source.append(where)
        self.pairs = np.array(pairs, np.int64).reshape(-1, 6)
        self._joined: tuple[np.ndarray, np.ndarray] | None = None  # see `joined`

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_joined": None}  # which follows from the rest

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        # From a memory map they come read-only, which kernels would be compiled for.
        lo, width, starts, distances, columns = map(np.array, self.layout)
        self.layout = lo, width, starts, distances, columns
        self.pairs = np.array(self.pairs)

    @property
    def may_repeat(self) -> bool:
        """Tell whether templates share a name: one row may speak of a token twice then."""
        return any(len({slot for slot, _ in uses}) < len(uses) for uses in self.uses)

    def joined(self) -> tuple[np.ndarray, np.ndarray]:
        """Join what ``_core.hashing.find_rows`` takes: ``row_of`` as one array, and
        ``groups``.
        """
        joined = self._joined
        if joined is None:
            row_of = np.concatenate(self.row_of)
            begin = offsets_of(lengths_of(self.row_of))
            groups = np.array(
                [
                    (self.source[g.compound], begin[g.compound], g.slot)
                    for g in self.groups
                ]
            )
            self.row_of = np.split(row_of, begin[1:-1])  # which take no further memory
            joined = self._joined = row_of, groups
        return joined

    def all_pairs(self, table: np.ndarray) -> list[np.ndarray]:
        """List the nodes of each compound, from the hash table.

        Returns
        -------
        list of ndarray of shape (n_nodes, 2), int32
            By compound (node of all atoms but the last, value); empty for single atoms.
        """
        return [pairs_of(table, self.offset + c) for c in range(len(self.compounds))]

    def copy(self) -> Self:
        """Make a side that can grow while this one stays as it is."""
        twin = copy.copy(self)
        twin.n_nodes = list(self.n_nodes)
        twin.row_of = list(self.row_of)
        twin.counts = list(self.counts)
        twin.alive = self.alive.copy()
        return twin

    def count_anew(self, min_count: int) -> None:
        """Forget how often features occurred that are still below ``min_count``."""
        self.counts = [
            np.where(count < min_count, np.int32(0), count) for count in self.counts
        ]

    def assign_rows(self, c: int, min_count: int) -> None:
        """Give rows to the nodes of compound ``c`` that have none and deserve them."""
        width = len(self.compounds[c].slots)
        enough = self.counts[c] >= min_count
        deserving: np.ndarray | bool = width > 0
        if deserving and min_count > 1:
            deserving = np.asarray(enough.any(axis=1))
        row_of, self.n_rows = with_new_rows(
            self.row_of[c], self.n_nodes[c], self.n_rows, deserving, width
        )
        self.row_of[c] = row_of
        self._joined = None
        if min_count > 1 and width:
            alive = np.zeros(self.n_rows, np.uint8)
            alive[: self.alive.shape[0]] = self.alive
            has = row_of[:-1] >= 0
            alive[row_of[:-1][has, None] + np.arange(width)] = enough[has]
            self.alive = alive

    def grow(
        self,
        nodes: list[np.ndarray],
        left: int,
        anchor: np.ndarray,
        token: np.ndarray,
        min_count: int,
    ) -> None:
        """Count the features of a corpus, and give rows to new ones.

        Parameters
        ----------
        nodes : list of ndarray of shape (A,), int32
            By compound, the node at each anchor.
        left : int
            Anchors before the first token of a sequence.
        anchor, token : ndarray of shape (n + 1,), int64
            Where the anchors, and the tokens, of each sequence start.
        min_count : int
        """
        for c, compound in enumerate(self.compounds):
            n_slots = len(compound.slots)
            if min_count > 1 and n_slots:
                check_rows(self.n_nodes[c] * n_slots, "counters for min_count")
                count = np.zeros((self.n_nodes[c], n_slots), np.int32)
                count[: self.counts[c].shape[0]] = self.counts[c]
                mine = [g for g, group in enumerate(self.groups) if group.compound == c]
                rows = np.stack(
                    [
                        nodes[c] * np.int32(n_slots) + np.int32(self.groups[g].slot)
                        for g in mine
                    ]
                )
                lo, width = (each[mine] for each in self.layout[:2])
                count_grid(
                    rows,
                    lo,
                    width,
                    left,
                    anchor,
                    token,
                    self.first_token,
                    count.ravel(),
                )
                self.counts[c] = count
            self.assign_rows(c, min_count)

    def used_nodes(
        self, pairs: list[np.ndarray], used: np.ndarray
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Tell which nodes have rows that are used.

        Parameters
        ----------
        pairs, used
            As of :meth:`keep_rows`.

        Returns
        -------
        has_rows, kept : list of ndarray of bool
            By compound and node: whether its own rows are used; and whether they are,
            or a longer combination that is used begins with it.
        """
        has_rows = []
        for row_of, compound in zip(self.row_of, self.compounds):
            has = row_of[:-1] >= 0
            has[has] = used[
                row_of[:-1][has, None] + np.arange(len(compound.slots))
            ].any(axis=1)
            has_rows.append(has)
        kept = [has.copy() for has in has_rows]
        for c, compound in reversed([*enumerate(self.compounds)]):
            if compound.prefix >= 0:
                kept[compound.prefix][pairs[c][kept[c], 0]] = True
        return has_rows, kept

    def keep_rows(
        self, pairs: list[np.ndarray], used: np.ndarray, min_count: int
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """Forget the nodes without rows in use, but for those that a longer combination
        starts with.

        Parameters
        ----------
        pairs : list of ndarray
            See :meth:`all_pairs`.
        used : ndarray of shape (n_rows,), bool
        min_count : int

        Returns
        -------
        pairs : list of ndarray
            Of what is left, in the new numbers of nodes.
        rows : ndarray
            The row that each one was; there is no other use for rows that were lost.
        """
        has_rows, kept = self.used_nodes(pairs, used)
        old_rows = [np.arange(self.first_row)]
        new_pairs = []
        self.n_rows = self.first_row
        self._joined = None
        for c, compound in enumerate(self.compounds):
            width = len(compound.slots)
            own = pairs[c]
            if compound.prefix < 0:
                kept[c][:] = True  # single atoms stay
            else:
                own = own[kept[c]]
                own[:, 0] = (np.cumsum(kept[compound.prefix]) - 1)[own[:, 0]]
            new_pairs.append(own)
            had = has_rows[c][kept[c]]
            rows = self.row_of[c][:-1][has_rows[c]]
            old_rows.append((rows[:, None] + np.arange(width)).ravel())
            self.n_nodes[c] = had.shape[0]
            self.row_of[c], self.n_rows = with_new_rows(
                NOTHING, had.shape[0], self.n_rows, had, width
            )
            if min_count > 1 and width:  # beyond the cut-off nobody asks how often
                self.counts[c] = np.minimum(
                    self.counts[c][kept[c]], np.int32(min_count)
                )
        rows = np.concatenate(old_rows)
        self.alive = (
            self.alive[rows] if min_count > 1 else np.ones(self.first_row, np.uint8)
        )
        return new_pairs, rows

    def rows(self, nodes: list[np.ndarray], n_anchors: int) -> np.ndarray:
        """Look up the rows of a corpus, (G, A) int32.

        Parameters
        ----------
        nodes : list of ndarray of shape (A,), int32
            By compound, the node at each anchor.
        n_anchors : int
        """
        row = np.empty((len(self.groups), n_anchors), np.int32)
        for g, group in enumerate(self.groups):
            first = self.row_of[group.compound][nodes[group.compound]]
            row[g] = np.where(first < 0, np.int32(-1), first + np.int32(group.slot))
        return row


# --------------------------------------------------------------------------------------
# One encoder from those of several shards
# --------------------------------------------------------------------------------------
def merge_templates(
    out: TemplateEncoder,
    encoders: Sequence[TemplateEncoder],
    counts: Sequence[RowMap | None],
) -> list[RowMap]:
    """Let a new template encoder know all that those of several shards know.

    Parameters
    ----------
    out : TemplateEncoder
        Changed; it has read nothing yet.
    encoders : list of TemplateEncoder
    counts : list of RowMap or None
        Occurrences of each row; needed with a count cut-off.

    Returns
    -------
    list of RowMap
        What the rows of each shard have become.

    Raises
    ------
    ValueError
        If templates look at a text as a whole, or shards have been read differently.
    """
    first = encoders[0]
    plan = out.plan
    if first.contexts.longest and len(encoders) > 1:
        raise ValueError(
            "accessor varieties are statistics of a whole text: shards cannot count "
            "them"
        )
    out.token_type = first.token_type
    out.contexts = copy.copy(first.contexts)
    if any(
        encoder.contexts.characters != first.contexts.characters for encoder in encoders
    ):
        raise ValueError(
            "lexicons: some shards consist of characters and others of words"
        )
    for c in range(plan.n_columns):
        for encoder in encoders:
            _, out.alphabets[c] = out.alphabets[c].interned(list(encoder.alphabets[c]))
    for channel in out.derived:
        out.derive(channel)
    channels = [_channel_maps(out, encoders, channel) for channel in plan.channels]
    sides = [
        _merge_side(out, name, encoders, channels, counts)
        for name in ("nodes", "edges")
    ]
    return [RowMap(*maps) for maps in zip(*sides)]


def _channel_maps(
    out: TemplateEncoder, encoders: Sequence[TemplateEncoder], channel: Channel
) -> list[np.ndarray]:
    """By shard, what the ids of a channel have become, boundaries included."""
    if channel[0] == "const":
        return [np.zeros(1, np.int32) for _ in encoders]
    outside = np.arange(out.plan.left + out.plan.right, dtype=np.int32)
    values = Alphabet(out.values_of(channel))
    n = np.int32(outside.shape[0])
    return [
        np.append(outside, values.lookup(list(e.values_of(channel))) + n)
        for e in encoders
    ]


def _merge_side(
    out: TemplateEncoder,
    name: str,
    encoders: Sequence[TemplateEncoder],
    channels: list[list[np.ndarray]],
    counts: Sequence[RowMap | None],
) -> list[np.ndarray]:
    """Fill one side of the merged encoder; the row map of each shard."""
    side = getattr(out, name)
    sides = [getattr(encoder, name) for encoder in encoders]
    # Row 0 of the transitions stays.
    maps = [np.zeros(mine.n_rows, np.int32) for mine in sides]
    nodes = []  # by compound and shard: the node that each node has become
    for c, compound in enumerate(side.compounds):
        last = channels[compound.channel]
        if compound.prefix < 0:
            side.n_nodes[c] = out.n_values(compound.channel)
            nodes.append(last)
        else:
            nodes.append([])
            for encoder, left, right in zip(encoders, nodes[compound.prefix], last):
                pair = pairs_of(encoder.table, side.offset + c)
                places = np.array([0, pair.shape[0]])
                nodes[c].append(
                    out.intern(side, c, left[pair[:, 0]], right[pair[:, 1]], places)
                )
        slots = np.arange(len(compound.slots))
        rows = [mine.row_of[c][:-1, None] + slots for mine in sides]
        if out.min_count > 1 and slots.size:
            side.counts[c] = np.zeros((side.n_nodes[c], slots.size), np.int32)
            for old, became, count in zip(rows, nodes[c], counts):
                side.counts[c][became] += np.asarray(getattr(count, name))[
                    old
                ]  # no repeats
        side.assign_rows(c, out.min_count)
        for old, became, new_of in zip(rows, nodes[c], maps):
            new = side.row_of[c][became][:, None]
            new_of[old] = np.where(new < 0, -1, new + slots)
    return maps


# --------------------------------------------------------------------------------------
# Rows back to strings: the expansions that CRF++ would write, such as ``U05:the/dog``
# for ``U05:%x[-1,0]/%x[0,0]``. Training and prediction never need them.
# --------------------------------------------------------------------------------------
def _write(form: Form, values: Sequence[str]) -> str:
    """Return the expansion of a template; ``values`` are those of the compound's atoms,
    in its order.

    ``form`` is the (literals, order) of a slot: literals surround the atoms as written,
    and ``order[j]`` is where the compound's atom j stands among them.
    """
    literals, order = form
    written = dict(zip(order, values))
    return literals[0] + "".join(
        written[k] + literals[k + 1] for k in range(len(literals) - 1)
    )


def row_names(
    encoder: TemplateEncoder, side: TemplateSide, rows: set[int], syntax: str = CRFPP
) -> dict[int, str]:
    """Name rows, {row: name}, by what the encoder has interned.

    Parameters
    ----------
    encoder : TemplateEncoder
    side : TemplateSide
        The encoder's ``nodes`` or ``edges``; row 0 of these has no name.
    rows : set of int
    syntax : str
        Of the tool whose symbols stand for tokens outside of a sequence.
    """
    plan = encoder.plan
    names = {}
    wanted = np.zeros(side.n_rows, np.bool_)
    wanted[list(rows)] = True

    @cache
    def strings(k: int) -> list[str]:
        """List the values of a channel, by id."""
        if plan.channels[k][0] == "const":
            return [""]
        before = range(-1, -plan.left - 1, -1)
        behind = range(1, plan.right + 1)
        known = list(encoder.values_of(plan.channels[k]))
        words = encoder.templates.words
        if plan.channels[k][0] == CLUSTER and words is not None:
            known = words.described(known)
        return [
            *(boundary(syntax, distance) for distance in (*before, *behind)),
            *known,
        ]

    @cache
    def pairs(c: int) -> np.ndarray:
        """Look up the nodes of a compound of several atoms."""
        return pairs_of(encoder.table, side.offset + c)

    def values(c: int, n: int) -> list[str]:
        """List the values of the atoms of a node."""
        compound = side.compounds[c]
        if compound.prefix < 0:
            return [strings(compound.channel)[n]]
        left, right = pairs(c)[n].tolist()
        return [*values(compound.prefix, left), strings(compound.channel)[right]]

    for c, compound in enumerate(side.compounds):
        first = side.row_of[c][:-1]
        known = np.flatnonzero(first >= 0)
        for slot, form in enumerate(compound.forms):
            for n in known[wanted[first[known] + slot]].tolist():
                names[int(first[n]) + slot] = _write(form, values(c, n))
    return names


# --------------------------------------------------------------------------------------
# In files. What follows from the templates is compiled anew on loading and must agree
# with the file
# --------------------------------------------------------------------------------------
def _compiled(encoder: TemplateEncoder, side: TemplateSide, c: int) -> dict[str, Any]:
    """Return what follows from the templates: atoms of a combination, (its row, shift)
    by template, sizes.
    """
    compound = side.compounds[c]
    return {
        "compiled atoms": [
            [*encoder.plan.channels[k], distance] for k, distance in compound.atoms
        ],
        "compiled uses": [list(use) for use in side.uses[c]],
        "several": compound.prefix >= 0,
        "slots": len(compound.slots),
    }


def members_of_side(encoder: TemplateEncoder, side: TemplateSide) -> dict[str, Any]:
    """Tell what a file has of one side, by name."""
    compounds = [
        {
            **_compiled(encoder, side, c),
            "pairs": pairs,
            "row": side.row_of[c],
            "count": side.counts[c],
        }
        for c, pairs in enumerate(side.all_pairs(encoder.table))
    ]
    return {"n_rows": side.n_rows, "compounds": compounds, "alive": side.alive}


def _known(f: Members, done: list[Any]) -> dict[str, Any]:
    """Return what the members of the next combination are compared with."""
    encoder = f["encoder"]
    side = f["side"]
    compound = f["side"].compounds[len(done)]
    return {
        **_compiled(encoder, side, len(done)),
        "combinations of the rest": done[compound.prefix]["n"]
        if compound.prefix >= 0
        else 0,
        "values": encoder.n_values(compound.channel),
    }


def _compound(f: Members) -> dict[str, Any]:
    row = f["row"]
    ok = within(row[row >= 0], f["side"].first_row, f["n_rows"] - f["slots"] + 1)
    require(ok, f"{f.where}.row is out of range")
    return {"n": f["n"], **f}


_PAIRS = array("int32", None, 2, low=0, high=("combinations of the rest", "values"))
_ROW = without_last(array("int32", "n", low=-1))
_COUNT = array("int32", "n", "slots", low=0)
_WHY = "this version compiles the templates in another way"

COMPOUND = Table(
    "Combinations of `nodes` and `edges`",
    Field("atoms", exactly("compiled atoms", _WHY), of="compiled atoms"),
    Field("uses", exactly("compiled uses", _WHY), of="compiled uses"),
    Field(
        "pairs", _PAIRS, when="several", default=lambda _: np.zeros((0, 2), np.int32)
    ),
    Field(
        "row", _ROW, when="slots", default=lambda f: np.full(f["n"] + 1, -1, np.int32)
    ),
    Field(
        "count",
        _COUNT,
        when="counted",
        default=lambda f: np.zeros((0, f["slots"]), np.int32),
    ),
    make=_compound,
    n=lambda f: len(f["pairs"]) if f["several"] else f["values"],
    counted=lambda f: f["slots"] and f["cut"],
)


def _side(f: Members) -> list[np.ndarray]:
    """Fill the side of the encoder, and return the pairs of each combination."""
    side = f["side"]
    compounds = f["compounds"]
    side.n_rows = f["n_rows"]
    side.alive = f["alive"]
    side.n_nodes, side.row_of, side.counts = (
        [c[name] for c in compounds] for name in ("n", "row", "count")
    )
    return [c["pairs"] for c in compounds]


SIDE = Table(
    "`nodes` and `edges` of templates",
    Field("n_rows", integer("first row", MOST_ROWS)),
    Field(
        "compounds",
        each(COMPOUND, lambda f, k, item: k, "compounds of the templates", _known),
        stem="",
    ),
    Field(
        "alive",
        array("uint8", "n_rows", low=0, high=2),
        when="cut",
        default=lambda f: f["side"].alive,
    ),
    make=_side,
    **{
        "first row": lambda f: f["side"].first_row,
        "compounds of the templates": lambda f: f["side"].compounds,
    },
)
