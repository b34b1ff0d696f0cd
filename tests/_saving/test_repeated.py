"""What is made for the second time is kept, as long as what it was made of."""

import gc

from skstruct._saving.repeated import MOST, Repeated


class Owner:
    pass


def test_the_second_one_is_kept():
    repeated = Repeated()
    assert repeated.find("a") is None
    repeated.made("a", 1)
    assert repeated.find("a") is None
    repeated.made("a", 2)
    assert repeated.find("a") == 2


def test_it_goes_with_its_owner():
    repeated, owner = Repeated(), Owner()
    for _ in range(2):
        repeated.made("a", 1, [owner])
        repeated.made("b", 2)
    del owner
    gc.collect()
    assert repeated.find("a") is None and repeated.find("b") == 2


def test_few_are_kept():
    repeated = Repeated()
    for key in range(MOST + 1):
        repeated.made(key, key)
        repeated.made(key, key)
    assert repeated.find(0) is None
    assert [repeated.find(key) for key in range(1, MOST + 1)] == [*range(1, MOST + 1)]
