"""Feature rows back to strings: the expansions that CRF++ would write.

A row of the encoder is a combination of values in a slot of its compound; written into the
template of that slot it is a string such as ``U05:the/dog`` for ``U05:%x[-1,0]/%x[0,0]``. Positions
before and behind a sequence are ``_B-1`` and ``_B+1``, as in CRF++. Bags of features bring their own
names. Training and prediction never need these strings.

References
----------
T. Kudo, "CRF++: yet another CRF toolkit", 2005: templates and their expansions.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..core.interning import pairs_by_compound
from ..core.store import Store
from .columns import column_function


class NamedWeights(NamedTuple):
    """The weights of one kind of feature."""

    store: Store
    labels: list  # by column
    names: Callable  # ``names(rows)`` lists the names of weight rows, given as an array


def _write(form, values):
    """The expansion of a template; ``values`` are those of the compound's atoms, in its order.

    ``form`` is the (literals, order) of a slot: literals surround the atoms as written, and ``order[j]`` is
    where the compound's atom j stands among them.
    """
    literals, order = form
    written = dict(zip(order, values))
    middle = (written[k] + literals[k + 1] for k in range(len(literals) - 1))
    return literals[0] + "".join(middle)


def symbol(distance):
    """What stands for the token that is ``distance`` before (negative) or behind a sequence, as in CRF++."""
    return f"_B{distance:+d}"


def _boundary(position, T):
    return symbol(position if position < 0 else position - T + 1)


def expanded(encoder, side, grid, sequence):
    """The features of one sequence that have rows, named from the strings of its tokens.

    Parameters
    ----------
    encoder : TemplateEncoder
    side : TemplateSide
        The encoder's ``nodes`` or ``edges``.
    grid : Grid
        The rows of this sequence alone.
    sequence : list of tokens

    Returns
    -------
    list of lists of (row, value, name)
        By token.
    """
    T, left = len(sequence), encoder.plan.left
    found = [[] for _ in range(T)]
    in_context = encoder.context_strings(sequence)

    def value(source, a):
        name, distance, column = source
        position = a - left + distance
        if name == "const":
            return ""
        if not 0 <= position < T:
            return _boundary(position, T)
        if (name, column) in in_context:
            return in_context[name, column][position]
        token = sequence[position]
        return column_function(name)(token if isinstance(token, str) else token[column])

    for g, group in enumerate(side.groups):
        sources = side.sources[group.compound]
        for a in np.flatnonzero(grid.row[g] >= 0).tolist():
            values = None
            for s in range(group.width):
                t, row = a - left + group.lo + s, int(grid.row[g, a]) + s
                if not 0 <= t < T or (encoder.min_count > 1 and not side.alive[row]):
                    continue
                if values is None:
                    values = [value(source, a) for source in sources]
                form = side.compounds[group.compound].forms[group.slot + s]
                found[t].append((row, 1.0, _write(form, values)))
    return found


def row_names(encoder, side, rows, symbol=symbol):
    """The names of rows, {row: name}, from the encoder's tables alone.

    Parameters
    ----------
    encoder : TemplateEncoder
    side : TemplateSide
        The encoder's ``nodes`` or ``edges``; row 0 of these has no name.
    rows : set of int
    symbol : callable
        What stands for tokens outside of a sequence.
    """
    plan = encoder.plan
    owner = np.full(side.n_rows, -1, np.int64)
    node = np.full(side.n_rows, -1, np.int64)
    for c, compound in enumerate(side.compounds):
        for slot in range(len(compound.slots)):
            known = np.flatnonzero(side.row_of[c][:-1] >= 0)
            owner[side.row_of[c][known] + slot] = c * 2**32 + slot
            node[side.row_of[c][known] + slot] = known
    pairs = {}  # compound -> (left, right) by node

    def pair(c, n):
        if not pairs:
            pairs.update(pairs_by_compound(encoder.table))
        return pairs[side.offset + c][n].tolist()

    strings = {}  # channel -> its values, boundaries first

    def text(k, value):
        name, column = plan.channels[k]
        if name == "const":
            return ""
        if k not in strings:
            before = [symbol(-d) for d in range(1, plan.left + 1)]
            behind = [symbol(d) for d in range(1, plan.right + 1)]
            strings[k] = before + behind + encoder.strings_of((name, column))
        return strings[k][value]

    def values(c, n):
        compound = side.compounds[c]
        if compound.prefix < 0:
            return [text(compound.channel, n)]
        left, right = pair(c, n)
        return [*values(compound.prefix, left), text(compound.channel, right)]

    names = {}
    for row in rows:
        c, slot = divmod(int(owner[row]), 2**32)
        names[row] = _write(side.compounds[c].forms[slot], values(c, int(node[row])))
    return names


def named_bag(bag, row_names):
    """The features of each token of a ``Bag``, as lists of (row, value, name); ``row_names`` names rows."""
    names = row_names(set(bag.row.tolist()))
    values = bag.value if bag.value.size else np.ones(bag.row.shape[0])
    parts = [
        (row, value, names[row]) if row >= 0 else None
        for row, value in zip(bag.row.tolist(), values.tolist())
    ]
    return [list(filter(None, parts[a:b])) for a, b in zip(bag.start, bag.start[1:])]
