"""What a transformer remembers of its columns from call to call."""

from skstruct.features.remembered import Remembered


def test_what_is_remembered_is_of_the_same_objects():
    made, remembered = [], Remembered()

    def make():
        made.append(1)
        return len(made)

    a, b = ["a"], ["a"]
    asked = ([a], 1), ([a], 1), ([b], 1), ([b], 2), ([b, b], 2), ([b, b], 2)
    assert [remembered.of(*key, make) for key in asked] == [1, 1, 2, 3, 4, 4]
