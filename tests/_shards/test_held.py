"""Objects that hold a shard each: steps, questions and sums, in threads and as results
of tasks.
"""

import pytest

from skstruct._shards.held import Held, LocalShards
from skstruct._shards.tasks import Missing


class Counter:
    """Adds up what it is told."""

    def __init__(self, job):
        self.value = 1 / job

    def add(self, mine, shared):
        self.value += (mine or 0) + (shared or 0)
        return self.value

    def told(self, mine, shared):
        return self.value


def test_steps_questions_and_sums_in_threads():
    crew = LocalShards(2)
    crew.make(Counter, [1, 2, 4])
    assert crew.step("add", [1, 2, 3], 10) == [12.0, 12.5, 13.25]
    assert crew.ask("told") == [12.0, 12.5, 13.25]
    assert crew.total("told", sum) == 37.75
    crew.close()
    assert crew.objects == []


def test_an_object_is_used_only_after_the_steps_that_are_known():
    held = Held(Counter, 1, 2, [("add", 1, None), ("add", None, 5)])
    assert held.after(2, 0).value == 7.0
    with pytest.raises(Missing) as missing:
        held.after(3, 0)
    assert missing.value.args == (0,)


def test_an_error_of_the_maker_is_kept_for_who_asks():
    held = Held(Counter, 0, 0, [])
    with pytest.raises(ZeroDivisionError):
        held.after(0, 0)
