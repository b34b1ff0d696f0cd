"""Few of many cells that hold each pair which the cells hold.

A table of two long lists has a cell for each pair of entries. Most faults are of a pair
of what entries *are*: of a class and a verb, of a kind of token and a verb. `cover`
chooses cells that hold each such pair. The others are tried under the mark ``slow``,
once a week.
"""

import heapq

import pytest


def cover(cells, holds):
    """Choose cells that hold all that any cell holds: the greedy cover.

    Parameters
    ----------
    cells : sequence
    holds : function
        What a cell holds, as a set.

    Returns
    -------
    set of int
        The numbers of the chosen cells. One whose first element was chosen least often
        comes first among those that hold as much, and then the earlier one. So the
        choice is the same in each process.
    """
    held = [frozenset(holds(cell)) for cell in cells]
    there = set().union(*held)
    chosen, times = set(), dict.fromkeys((cell[0] for cell in cells), 0)

    def rank(number):
        return -len(held[number] & there), times[cells[number][0]], number

    queue = [rank(number) for number in range(len(cells))]
    heapq.heapify(queue)
    while there:
        number = heapq.heappop(queue)[-1]
        now = rank(number)
        if queue and now > queue[0]:
            heapq.heappush(queue, now)
            continue
        chosen.add(number)
        times[cells[number][0]] += 1
        there -= held[number]
    return chosen


def slow_beyond(chosen, cells, mark=None):
    """Make parameters of all cells of a table; those that are not chosen are slow.

    Parameters
    ----------
    chosen : set of tuple
    cells : list of tuple
    mark : function, optional
        The mark of each cell, given its elements.

    Returns
    -------
    list of pytest.param
    """
    return [
        pytest.param(
            *cell,
            marks=[
                *([] if mark is None else [mark(*cell)]),
                *([] if cell in chosen else [pytest.mark.slow]),
            ],
        )
        for cell in cells
    ]
