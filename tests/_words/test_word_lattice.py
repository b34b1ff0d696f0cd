"""From the k best analyses to lattices of nodes, and back."""

import math

from skstruct._words.reranker_epoch import ABSENT
from skstruct._words.word_lattice import RIGHT, lattice, make_task, paths


def test_lattice_margins_and_targets():
    candidates = [
        (5.0, [(0, 2, "ab", "X"), (2, 3, "c", "Z")]),
        (4.0, [(0, 1, "a", "X"), (1, 2, "b", "Y"), (2, 3, "c", "Z")]),
        (1.5, [(0, 1, "a", "X"), (1, 3, "bc", "Y")]),
    ]
    nodes = lattice(candidates)
    assert nodes == [
        (0, 2, "ab", "X", 0.0), (0, 1, "a", "X", 1.0), (1, 2, "b", "Y", 1.0), (1, 3, "bc", "Y", 3.5),
        (2, 3, "c", "Z", 0.0),
    ]  # fmt: skip
    gold = [[(0, 1, "a", "Y"), (1, 2, "b", "Y"), (2, 3, "c", "Q")]]
    task = make_task([nodes], [3], {}, {}, gold)
    assert task.right.tolist() == [0, 1, RIGHT, 0, 1]
    (path,) = paths([nodes], task.target != ABSENT)
    assert path == [(0, 1, "a", "X"), (1, 2, "b", "Y"), (2, 3, "c", "Z")]
    assert task.margin.tolist() == [
        0,
        *[int(2 * math.log(2 * m + 1)) for m in (1.0, 1.0, 3.5)],
        0,
    ]
