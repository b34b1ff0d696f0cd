"""Arrays and tables of weights, as the programs of one file read them."""

import struct

import pytest

from skstruct._one_file.python.reading import Cached, Weights, read_array, refuse


@pytest.mark.parametrize("kind", ["u1", "u2", "u3", "u4", "f4", "f8"])
def test_bytes_of_equal_rank_stand_together(kind):
    numbers = [0, 1, 200, 255] if kind == "u1" else [0, 1, 258, 65000]
    size = int(kind[1])
    if kind[0] == "f":
        raw = [struct.pack("<f" if size == 4 else "<d", n) for n in numbers]
    else:
        raw = [n.to_bytes(size, "little") for n in numbers]
    planes = b"".join(bytes(each[k] for each in raw) for k in range(size))
    assert list(read_array(planes, kind, 4)) == numbers


def test_rows_of_weights():
    arrays = {
        "n.count": read_array(bytes([2, 0, 3]), "u1", 3),
        "n.column": read_array(bytes([0, 2, 0, 1, 2]), "u1", 5),
        "n.weight": read_array(bytes([1, 2, 3, 4, 5]), "z1", 5),
    }
    weights = Weights({"divisor": 2}, arrays, "n")
    assert weights[0] == ((0, -0.5), (2, 0.5))
    assert weights[1] == ()
    assert Weights({"divisor": 2}, arrays, "n", 3)[2] == [-1.0, 1.0, -1.5]


def test_answers_are_remembered():
    asked = []
    memory = Cached(lambda key: asked.append(key) or len(key))
    assert [memory["ab"], memory["ab"]] == [2, 2]
    assert asked == ["ab"]


def test_errors_name_the_place():
    with pytest.raises(ValueError, match="^X: sequence 2, position 0: no$"):
        refuse(2, 0, "no")
    with pytest.raises(ValueError, match="^X: sequence 2: no$"):
        refuse(2, None, "no")
