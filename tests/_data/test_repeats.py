"""Texts that are there twice, with the same annotation or with another."""

from skstruct._data.repeats import repeats_of


def test_the_same_and_others():
    X = ["a", "b", "a", "c", "b", " ", " "]
    y = [[(0, 1, "X"), (1, 2, "Y")], [], [(1, 2, "Y"), (0, 1, "X")], [], [(0, 1, "X")]]
    assert repeats_of(X, [*y, [], []]) == ([[0, 2]], [[1, 4]])


def test_the_order_of_labels_counts():
    X = [("a", "b")] * 2
    assert repeats_of(X, [["D", "N"], ["N", "D"]], order=True) == ([], [[0, 1]])
    assert repeats_of(X, [["D", "N"], ["N", "D"]]) == ([[0, 1]], [])
