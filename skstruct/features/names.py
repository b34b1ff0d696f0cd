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

from ..core.interning import pairs_of
from ..core.store import Store


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
    plan, names = encoder.plan, {}
    wanted = np.zeros(side.n_rows, np.bool_)
    wanted[list(rows)] = True
    pairs, strings = {}, {}  # by compound, (left, right) by node; by channel its values, boundaries first

    def text(k, value):
        name, column = plan.channels[k]
        if name == "const":
            return ""
        if k not in strings:
            before = [symbol(-d) for d in range(1, plan.left + 1)]
            behind = [symbol(d) for d in range(1, plan.right + 1)]
            strings[k] = before + behind + list(encoder.values_of((name, column)))
        return strings[k][value]

    def values(c, n):
        compound = side.compounds[c]
        if compound.prefix < 0:
            return [text(compound.channel, n)]
        if c not in pairs:
            pairs[c] = pairs_of(encoder.table, side.offset + c)
        left, right = pairs[c][n].tolist()
        return [*values(compound.prefix, left), text(compound.channel, right)]

    for c, compound in enumerate(side.compounds):
        first = side.row_of[c][:-1]
        known = np.flatnonzero(first >= 0)
        for slot, form in enumerate(compound.forms):
            for n in known[wanted[first[known] + slot]].tolist():
                names[int(first[n]) + slot] = _write(form, values(c, n))
    return names
