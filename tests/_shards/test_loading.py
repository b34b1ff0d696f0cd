"""From a shard's callable to an encoded shard."""

import pytest

from skstruct import StructuredPerceptron
from skstruct._shards.loading import (
    Given,
    Job,
    check_loads,
    check_number,
    dealt,
    load_shard,
    open_shard,
    place_of,
)
from skstruct._shards.shards import EmptyShard, Shard, shard_key

X = [["a"], [], ["b", "a"], ["c"]]
Y = [["A"], [], ["B", "A"], ["C"]]


def job(load, number=1):
    return Job(number, load, StructuredPerceptron(), 5)


def test_sequences_are_dealt_in_turn_without_empty_ones():
    first, second = dealt(X, Y, [1.0, 1.0, 2.0, 3.0], 2)
    x, y, weight = first()
    assert [list(each) for each in x] == [["a"], ["c"]]
    assert list(y) == [["A"], ["C"]] and weight.tolist() == [1.0, 3.0]
    assert place_of(job(second)) == (1, [2])
    with pytest.raises(ValueError, match="n_shards=4 is more than the 3 sequences"):
        dealt(X, Y, None, 4)
    with pytest.raises(ValueError, match="same number of sequences, got 4 and 3"):
        dealt(X, Y[:3], None, 2)
    check_number(3, 3)


@pytest.mark.parametrize(
    "shards, message",
    [([], "at least one callable"), ([3], "shard 0: expected a callable")],
)
def test_what_is_no_list_of_callables(shards, message):
    with pytest.raises(ValueError, match=message):
        check_loads(shards)


def test_errors_name_the_shard_and_the_users_sequence():
    def fails():
        raise OSError("no file")

    with pytest.raises(
        ValueError, match="shard 1: its callable raised OSError: no file"
    ):
        load_shard(job(fails))
    with pytest.raises(ValueError, match=r"shard 1: its callable must return \(X, y\)"):
        load_shard(job(lambda: X))
    assert load_shard(job(lambda: (X, Y))) == (X, Y, None)
    wrong = Given([7, 9], [["a"], ["b"]], [["A"], ["A", "B"]])
    with pytest.raises(ValueError, match=r"sequence 9.*shard 1|shard 1.*sequence 9"):
        open_shard(job(wrong))


def test_a_shard_is_opened_or_empty():
    shard = open_shard(job(lambda: (X, Y)))
    assert isinstance(shard, Shard) and shard.run.state.key == shard_key(5, 1)
    assert isinstance(open_shard(job(lambda: ([[]], [[]]))), EmptyShard)
