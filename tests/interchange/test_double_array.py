"""Double arrays: keys that were put in are all that is in, with their values."""

import random

import pytest

from skstruct._saving.container import ModelFileError
from skstruct.interchange.double_array import build, read_keys
from skstruct.interchange.foreign import ForeignBytes


def in_file(units):
    """A file of units alone."""
    return ForeignBytes(units.tobytes(), "a file")


@pytest.mark.parametrize("seed", range(5))
def test_keys_come_back(seed):
    draw = random.Random(seed)
    keys = {bytes(draw.choices(b"abc\xff", k=draw.randint(1, 6))) for _ in range(200)}
    keys = [(key, number) for number, key in enumerate(sorted(keys))]
    units = build(keys)
    assert sorted(read_keys(in_file(units), 0, units)) == keys


def test_units_that_are_used_twice_are_refused():
    units = build([(b"ab", 0), (b"b", 1)])
    units["base"][units["base"] > 0] = 1
    with pytest.raises(ModelFileError):
        read_keys(in_file(units), 0, units)
