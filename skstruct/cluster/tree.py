"""Sums over shards in a tree.

Rounding makes the order of a sum part of its result. So shards are added up in runs of neighbours, the sums
of these in runs again, and so on: which are added to which depends on the number of shards alone, wherever
they are and whoever is first.
"""

FAN = 4
"""Neighbours that are added up at once."""


def add_neighbours(nodes, n, add):
    """Add up what is complete of a tree over n shards.

    Parameters
    ----------
    nodes : dict of (level, number) to summand
        On level 0 shards; node k of the next level is the sum of the nodes ``FAN k`` to ``FAN k + FAN - 1``.
        Taken over.
    n : int
    add : callable
        Adds up a list of summands. One alone is passed on as it is.
    """
    level = 0
    while n > 1:
        for k in sorted({number // FAN for at, number in nodes if at == level}):
            children = [(level, number) for number in range(FAN * k, min(FAN * (k + 1), n))]
            if all(child in nodes for child in children):
                parts = [nodes.pop(child) for child in children]
                nodes[level + 1, k] = add(parts) if len(parts) > 1 else parts[0]
        n, level = -(-n // FAN), level + 1
    return nodes


def in_tree(items, add):
    """The sum over shards, whose summands are all here; see :func:`add_neighbours`."""
    (total,) = add_neighbours({(0, s): item for s, item in enumerate(items)}, len(items), add).values()
    return total


def add_arrays(arrays):
    """The sum of arrays of one shape, in their order."""
    total = arrays[0].copy()
    for array in arrays[1:]:
        total += array
    return total
