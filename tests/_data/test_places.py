"""Places in a corpus: errors that name them, and the arithmetic of offsets."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from skstruct._data.places import (
    PLACE,
    PlaceError,
    as_objects,
    by_sequence,
    counted,
    describe,
    in_sequence,
    is_sequence,
    numbered,
    offsets_of,
    part_of,
    place,
    ranges,
    refuse_number,
    refuse_str,
)


def test_an_error_says_where():
    assert str(PlaceError(3, 1, "wrong", "X")) == "X: sequence 3, position 1: wrong"
    assert str(PlaceError(3, None, "wrong")) == "sequence 3: wrong"
    assert str(PlaceError(3, None, f"in {PLACE} it ends", "y")) == (
        "in y: sequence 3 it ends"
    )


def test_an_error_can_be_moved_and_pickled():
    error = PlaceError(None, 2, "wrong")
    error.move(7, "X_val")
    assert str(error) == "X_val: sequence 7, position 2: wrong"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert error.told("text") == "X_val: text 7, position 2: wrong"


def test_errors_inside_are_about_the_sequence_outside():
    with pytest.raises(PlaceError, match=r"^y: sequence 4, position 1: wrong$"):
        with in_sequence(4, "y"):
            raise PlaceError(None, 1, "wrong")


def test_offsets_there_and_back():
    lengths = np.array([2, 0, 3])
    offsets = offsets_of(lengths)
    assert offsets.tolist() == [0, 2, 2, 5]
    flat = list("abcde")
    parts = by_sequence(flat, offsets)
    assert parts == [["a", "b"], [], ["c", "d", "e"]]
    for k, letter in enumerate(flat):
        i, t = place(offsets, k)
        assert parts[i][t] == letter


def test_ranges_one_after_the_other():
    offsets, numbers = ranges(np.array([10, 3, 5]), np.array([2, 0, 3]))
    assert offsets.tolist() == [0, 2, 2, 5]
    assert numbers.tolist() == [10, 11, 5, 6, 7]


def test_items_are_numbered_by_first_occurrence():
    ids, numbers = numbered(["b", "a", "b", "c"], {"a": 0})
    assert ids.dtype == np.int32 and ids.tolist() == [1, 0, 1, 2]
    assert numbers == {"a": 0, "b": 1, "c": 2}


def test_what_has_elements_by_position():
    for value in ([], (), np.zeros(2), range(3)):
        assert is_sequence(value)
    for value in ("ab", b"ab", {}, np.float64(1), np.array(1), sparse.eye(2), iter([])):
        assert not is_sequence(value)


def test_lists_of_one_length_stay_objects():
    found = as_objects([[1, 2], [3, 4]])
    assert found.shape == (2,) and found[1] == [3, 4]


def test_words_of_errors():
    assert counted(1, "token") == "1 token" and counted(2000, "row") == "2,000 rows"
    assert describe("a") == "str 'a'" and describe("a" * 99).endswith("aaa...")
    with pytest.raises(ValueError, match="words must be a list of words, got str 'ab'"):
        refuse_str("words", "ab", "words")
    refuse_str("words", ["ab"], "words")


def test_verbs_agree_with_numbers():
    assert part_of(1, 3, "line", "have") == "1 of 3 lines has"
    assert part_of(2, 3, "line", "are") == "2 of 3 lines are"
    assert part_of(1, 1, "record", "do") == "1 of 1 record does"


def test_a_number_is_no_list_of_them():
    refuse_number("c1s", [0.1])
    with pytest.raises(ValueError, match=r"got 0.1; write c1s=\[0.1\]"):
        refuse_number("c1s", 0.1)
