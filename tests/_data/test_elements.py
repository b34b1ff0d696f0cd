"""What elements and containers are read as."""

import enum

import numpy as np
import pytest

from skstruct._data.elements import (
    are_columns,
    columns_in,
    elements,
    exact_strings,
    is_tensor,
    kind_of,
    opened,
    plain_value,
    spelled,
    stored,
)
from skstruct._data.places import PlaceError


class Tag(str, enum.Enum):
    NOUN = "N"


class Broken:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("on another device")


def test_a_subclass_of_str_is_the_string_that_it_holds():
    assert spelled(Tag.NOUN) == "N" and type(spelled(np.str_("a"))) is str
    assert spelled(3) == "3"
    plain = ["a", "b"]
    assert exact_strings(plain) is plain
    found = exact_strings([Tag.NOUN, "b", 3])
    assert found == ["N", "b", 3] and type(found[0]) is str


def test_labels_are_python_values():
    assert type(plain_value(np.int64(3))) is int
    assert type(plain_value(np.array(2.5))) is float
    assert plain_value(Tag.NOUN) is Tag.NOUN
    assert kind_of(True) is bool and kind_of(Tag.NOUN) is str and kind_of(()) is tuple
    assert type(stored(Tag.NOUN)) is str and stored(4) == 4


def test_containers_are_opened():
    assert opened([1]) == [1] and opened("ab") == "ab"
    assert elements(np.array(["a", "b"])) == ["a", "b"]
    assert elements(np.ma.array([1, 2], mask=[0, 1])) == [1, None]
    assert elements(range(2)) == [0, 1]
    assert is_tensor(np.ndarray) and not is_tensor(np.float64)


def test_what_cannot_be_read_is_named():
    with pytest.raises(ValueError, match="X: the Broken cannot be read as an array"):
        opened(Broken(), name="X")
    with pytest.raises(PlaceError, match="X: sequence 2: the Broken cannot be read"):
        opened(Broken(), 2, "X")


def test_arrays_of_strings_have_columns():
    array = np.array([["a", "b"], ["c", "d"]])
    assert are_columns(array) and not are_columns(np.eye(2))
    assert not are_columns(array.tolist())
    assert [column.tolist() for _, column in columns_in(array)] == [
        ["a", "c"],
        ["b", "d"],
    ]
