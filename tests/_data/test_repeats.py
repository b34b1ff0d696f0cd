"""Texts that are there twice, with the same annotation or with another."""

from skstruct import PartialSpans
from skstruct._data.repeats import repeats_of


def test_the_same_and_others():
    X = ["a", "b", "a", "c", "b", " ", " "]
    y = [[(0, 1, "X"), (1, 2, "Y")], [], [(1, 2, "Y"), (0, 1, "X")], [], [(0, 1, "X")]]
    assert repeats_of(X, [*y, [], []]) == ([[0, 2]], [[1, 4]])


def test_the_order_of_labels_counts():
    X = [("a", "b")] * 2
    assert repeats_of(X, [["D", "N"], ["N", "D"]], order=True) == ([], [[0, 1]])
    assert repeats_of(X, [["D", "N"], ["N", "D"]]) == ([[0, 1]], [])


def test_annotations_of_other_types_do_not_contradict_each_other():
    X = ["Ann in Rome"] * 2
    per, loc = [(0, 3, "PER")], [(7, 11, "LOC")]
    both = [PartialSpans(per, ["PER"]), PartialSpans(loc, ["LOC"])]
    assert repeats_of(X, both) == ([], [])
    assert repeats_of(X, [PartialSpans(per, ["PER"]), per + loc]) == ([], [])
    assert repeats_of(X, [PartialSpans([], ["PER"]), per + loc]) == ([], [[0, 1]])
    assert repeats_of(X, [PartialSpans(per, ["PER"])] * 2) == ([[0, 1]], [])


def test_what_nobody_has_annotated_contradicts_nothing():
    X = ["Ann in Rome"] * 2
    per, loc = (0, 3, "PER"), (7, 11, "LOC")
    assert repeats_of(X, [[per, (4, 11, None)], [per, loc]]) == ([[0, 1]], [])
    assert repeats_of(X, [[(4, 11, None)], [per, loc]]) == ([], [[0, 1]])


def test_sequences_of_features():
    X = [[{"w": "a", "n": 1.0}], [{"n": 1.0, "w": "a"}], [{"w": "b"}]]
    assert repeats_of(X, [["D"], ["N"], ["D"]], order=True) == ([], [[0, 1]])
