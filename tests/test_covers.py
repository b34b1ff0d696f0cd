"""A cover holds all that the whole table holds, with few cells, the same in each run."""

import itertools
import random

import pytest
from covers import cover, slow_beyond

ROWS = {f"row {k}": {("class", k % 5), ("tokens", k % 7)} for k in range(70)}
COLUMNS = [f"column {k}" for k in range(20)]
TABLE = [*itertools.product(ROWS, COLUMNS)]


def held(cell):
    row, column = cell
    return {(trait, column) for trait in ROWS[row]} | {row}


def all_held(cells):
    return set().union(*map(held, cells))


def test_a_cover_holds_all_that_the_table_holds():
    chosen = [TABLE[k] for k in cover(TABLE, held)]
    assert all_held(chosen) == all_held(TABLE)
    # Seven cells a column hold all classes and kinds of tokens.
    assert 7 * len(COLUMNS) <= len(chosen) <= 8 * len(COLUMNS)
    assert cover(TABLE, held) == cover(TABLE, held)


def everything_but(cells, k):
    return set().union(*(some for j, (_, some) in enumerate(cells) if j != k))


@pytest.mark.parametrize("seed", range(5))
def test_no_cell_that_alone_holds_something_is_left_out(seed):
    draw = random.Random(seed)
    cells = [(k, {draw.randrange(40) for _ in range(4)}) for k in range(30)]
    chosen = cover(cells, lambda cell: cell[1])
    assert set().union(*(cells[k][1] for k in chosen)) == set().union(
        *(some for _, some in cells)
    )
    alone = [k for k, (_, some) in enumerate(cells) if some - everything_but(cells, k)]
    assert chosen.issuperset(alone)


def test_rows_take_turns_where_they_hold_as_much():
    cells = [*itertools.product("abcd", range(8))]
    chosen = [cells[k] for k in cover(cells, lambda cell: {cell[1]})]
    assert sorted(row for row, _ in chosen) == sorted("abcd" * 2)


def test_the_others_are_slow():
    made = slow_beyond({("a", 1)}, [("a", 1), ("a", 2)], pytest.mark.xdist_group)
    marks = [[mark.name for mark in each.marks] for each in made]
    assert [each.values for each in made] == [("a", 1), ("a", 2)]
    assert marks == [["xdist_group"], ["xdist_group", "slow"]]
