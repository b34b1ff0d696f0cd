"""A shard's round is a pure function of its data, the mixed weights, its key and the
round.
"""

import pytest

from skstruct import StructuredPerceptron
from skstruct._data.places import PlaceError
from skstruct._shards.loading import Job, open_shard
from skstruct._shards.shards import (
    EmptyShard,
    Report,
    Round,
    counting_all,
    in_turn,
    naming,
    shard_key,
)

X = [["a", "b"], ["b"], ["a"]]
Y = [["A", "B"], ["B"], ["A"]]


def opened():
    shard = open_shard(Job(1, lambda: (X, Y), StructuredPerceptron(), 5))
    shard.join(None, True)
    return shard


def test_the_first_shard_has_the_key_of_the_whole():
    keys = [shard_key(5, s) for s in range(4)]
    assert keys[0] == 5 and len(set(keys)) == 4


def test_equal_shards_train_to_equal_reports():
    one = opened()
    other = opened()
    first = [shard.train(None, Round(0, 2, None)) for shard in (one, other)]
    assert isinstance(first[0], Report)
    assert first[0]._replace(seconds=0.0) == first[1]._replace(seconds=0.0)
    assert one.fingerprint(None, None) == other.fingerprint(None, None)
    assert first[0].steps.visited == 6 and one.met(None, 1).n_tokens == 4


def test_empty_shards_take_no_part():
    empty = EmptyShard("nothing to learn from")
    assert empty.met(None, 1) == "nothing to learn from"
    assert empty.train(None, None) is None and empty.join(None, False) is None
    assert in_turn(["why", 1, None, 2], "ab", "-") == ["-", "a", "-", "b"]


def test_errors_count_all_shards():
    with pytest.raises(ValueError, match="of shard 3 and shard 1"):
        with counting_all([None, 1, "why", 1]):
            raise ValueError("of shard 1 and shard 0")
    with pytest.raises(PlaceError, match="sequence 8"):
        with naming(2, [8, 9]):
            raise PlaceError(0, None, "is wrong", "y")
    with pytest.raises(TypeError, match="shard 2: no"):
        with naming(2):
            raise TypeError("no")
