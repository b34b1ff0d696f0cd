"""Arrays come back from every form bit by bit, and no form grows without limit."""

import itertools
import math

import numpy as np
import pytest

from skstruct._saving.container import read_container, write_container
from skstruct._saving.forms import (
    FAST,
    FASTEST,
    FORMS,
    MOST_GROWTH,
    SMALLEST,
    SPARE,
    Packing,
    bytes_in_file,
    may_grow,
    restored,
    smaller,
)

DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
)
RNG = np.random.default_rng(0)


def bits(array):
    return array.dtype.name, array.shape, array.tobytes()


def kept(array, packing=SMALLEST):
    """The form of an array, and whether it comes back."""
    array = np.asarray(array, array.dtype.newbyteorder("<"), order="C")
    data, form = smaller({"a": array}, packing)["a"]
    assert data.dtype == np.uint8 and data.size <= array.nbytes
    shape = list(array.shape)
    if form:
        assert bytes_in_file(form, array.dtype, shape) == data.size
        assert may_grow(array.nbytes, data.size)
        again = restored(data.tobytes(), form, array.dtype, shape)
        assert again.flags.writeable and again.flags.owndata
        assert bits(again) == bits(array)
    else:
        assert data.tobytes() == array.tobytes()
    return form


def arrays_of(dtype):
    """Arrays of a type, by name: sparse and dense, small and large numbers."""
    dtype = np.dtype(dtype)
    size = 3000
    if dtype.kind == "f":
        values = RNG.normal(size=size).astype(dtype)
        odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-5, 6e4], dtype)
        yield "odd", np.resize(odd, size)
        yield "means", (np.arange(size) % 100 / 7).astype(dtype)
        yield "negative zeros", np.where(np.arange(size) % 9, -0.0, 3.0).astype(dtype)
    else:
        limits = np.iinfo("uint8" if dtype.kind == "b" else dtype)
        values = RNG.integers(limits.min, limits.max, size, dtype=limits.dtype)
        values = values > 100 if dtype.kind == "b" else values
        ends = np.array([limits.min, limits.max], limits.dtype)
        yield "ends", np.resize(ends, size).astype(dtype)
    yield "any", values
    yield "few", np.where(np.arange(size) % 50, 0, values).astype(dtype)
    yield "one", np.where(np.arange(size) % size, 0, 1).astype(dtype)
    yield "none", np.zeros(size, dtype)
    yield "table", np.where(np.arange(size) % 9, 0, values).astype(dtype).reshape(-1, 3)
    yield "small", (np.arange(size) % 3).astype(dtype)
    yield "scalar", np.array(1, dtype)
    yield "empty", np.zeros((0, 4), dtype)
    yield "short", np.ones(3, dtype)
    yield "wide", np.zeros((40, 30), dtype)[::2, ::3]
    if dtype.kind in "iu" and dtype.itemsize > 2:
        yield "ascending", np.cumsum(RNG.integers(0, 200, size)).astype(dtype)
        yield "pairs", np.arange(2 * size).astype(dtype).reshape(-1, 2) // 2
        low = np.iinfo(dtype).min
        far = np.array([low, low + 1, np.iinfo(dtype).max], dtype)
        yield "far", np.resize(far, size)


CASES = [
    pytest.param(array, id=f"{dtype}-{name}")
    for dtype in DTYPES.split()
    for name, array in arrays_of(dtype)
]


@pytest.mark.parametrize("array", CASES)
def test_every_bit_comes_back(array, tmp_path):
    for packing in (FASTEST, FAST, SMALLEST, Packing(100, 1, 0.5)):
        form = kept(array, packing)
        assert form.keys() <= set(FORMS) and ("zlib" not in form or packing.room)
    write_container(tmp_path / "m", {"kind": "model"}, {"a": array})
    found = read_container(tmp_path / "m", kind="model")[1]["a"]
    assert bits(found) == bits(array)


def test_which_form():
    sparse = np.zeros(9000)
    sparse[::10] = np.arange(900) / 7
    whole = np.where(np.arange(9000) % 10, 0.0, -3.0)
    assert kept(sparse, FASTEST) == {"held": 899}
    assert kept(whole, FASTEST) == {"held": 900, "as": "int8"}
    assert kept(np.arange(9000.0), FASTEST) == {"as": "uint16"}
    ascending = np.arange(9000) * 200
    assert kept(ascending, FASTEST) == {"as": "uint8", "steps": True}
    # Differences begin with that to zero, which is large here.
    assert kept(ascending[::-1], FASTEST) == {"as": "uint32"}
    assert kept(RNG.normal(size=900), FAST) == {}
    assert kept(np.ones(9000, np.uint8)).keys() == {"zlib"}
    assert kept(-sparse, FASTEST) == {}  # -0.0 has a bit that zero has not


def test_what_zlib_has_no_room_for_stays():
    """What comes first is compressed first, and large arrays are not in the way."""
    text = np.resize(np.frombuffer(b"a feature of a token", np.uint8), 3000)
    arrays = {"a": text[:2000], "b": text, "c": text[:1000]}
    found = smaller(arrays, Packing(4000, 1, 0.0))
    assert [bool(each.form) for each in found.values()] == [True, False, True]
    assert found["b"].data.tobytes() == text.tobytes()


def test_growth_has_a_limit():
    """Tables of millions of zeros are streams of zlib up to some size, beyond it a bit
    for each element.
    """
    table = np.zeros(1_000_000)
    found = smaller({str(k): table for k in range(5)}, SMALLEST)
    forms = [set(each.form) for each in found.values()]
    assert forms == [{"held", "zlib"}] * 2 + [{"held"}] * 3
    in_file = sum(each.data.size for each in found.values())
    assert may_grow(5 * table.nbytes, in_file)
    assert not may_grow(SPARE + 10 * MOST_GROWTH + 1, 10)
    assert kept(np.arange(300_000), FAST).keys() == {"as", "steps", "zlib"}


@pytest.mark.parametrize("packing", [FASTEST, FAST, SMALLEST])
def test_a_small_file_asks_for_little(packing, tmp_path):
    """What is written can be read, and what asks for more is refused."""
    arrays = {str(k): np.zeros(3_000_000, np.int64) for k in range(3)}
    write_container(tmp_path / "m", {"kind": "model"}, arrays, packing)
    found = read_container(tmp_path / "m", kind="model")[1]
    assert all(
        (array == 0).all() and array.size == 3_000_000 for array in found.values()
    )


SPARSE = np.zeros((100, 8), "<f8")
SPARSE[::7] = np.arange(8.0) / 3
WHOLE = np.arange(800, dtype="<i8").reshape(100, 8) * 40_000
RISING = np.arange(800, dtype="<i8") * 250


@pytest.mark.parametrize(
    ("array", "change", "wrong"),
    [
        (SPARSE, {"held": -1}, "of 800 elements -1 cannot be held"),
        (SPARSE, {"held": True}, "True cannot be held"),
        (SPARSE, {"held": 801}, "801 cannot be held"),
        (SPARSE, {"held": 10**30}, "cannot be held"),
        (SPARSE, {"held": 105.0}, "cannot be held"),
        (SPARSE, {"held": 790}, "6400 bytes are not stored in 6420"),
        (SPARSE, {"steps": True}, "differences of integers"),
        (SPARSE, {"as": "float32"}, "float64 cannot be 'float32'"),
        (SPARSE, {"as": "int64"}, "cannot be 'int64'"),
        (SPARSE, {"as": ["int8"]}, "cannot be"),
        (SPARSE, {"as": None}, "cannot be 'None'"),
        (SPARSE, {"zlib": 0}, "of zlib"),
        (SPARSE, {"zlib": True}, "of zlib"),
        (SPARSE, {"zlib": 10**9}, "of zlib"),
        (WHOLE, {"steps": 1}, "steps are true"),
        (WHOLE, {"held": 10, "steps": True}, "steps are true"),
        (WHOLE, {"as": "uint8", "held": 800}, None),
    ],
)
def test_forms_that_are_none(array, change, wrong):
    form = {**smaller({"a": array}, FASTEST)["a"].form, **change}
    if wrong is None:
        assert bytes_in_file(form, array.dtype, list(array.shape)) == 900
        return
    with pytest.raises(ValueError, match=wrong):
        bytes_in_file(form, array.dtype, list(array.shape))


def test_bytes_that_are_not_of_the_form():
    data, form = smaller({"a": SPARSE}, FASTEST)["a"]
    shape = list(SPARSE.shape)
    spoilt = bytes(data[:-1]) + b"\xff"
    with pytest.raises(ValueError, match="105 elements are held, and 11. are marked"):
        restored(spoilt, form, SPARSE.dtype, shape)
    steps, form = smaller({"a": RISING}, FASTEST)["a"]
    assert form == {"as": "uint8", "steps": True}
    small = np.dtype("<i2")
    with pytest.raises(ValueError, match="numbers beyond int16"):
        restored(bytes(steps), form, small, list(RISING.shape))
    unsigned = np.dtype("<u8")
    with pytest.raises(ValueError, match="numbers beyond uint64"):
        restored(b"\xff" * 100, {"as": "int8"}, unsigned, [100])


@pytest.mark.parametrize("packing", [FASTEST, SMALLEST])
@pytest.mark.parametrize("array", [SPARSE, WHOLE, RISING, SPARSE.round()])
def test_any_bytes_are_refused_or_are_an_array(array, packing):
    data, form = smaller({"a": array}, packing)["a"]
    shape = list(array.shape)
    for _ in range(300):
        wrong = data.copy()
        for place in RNG.integers(wrong.size, size=RNG.integers(1, 4)):
            wrong[place] = RNG.integers(256)
        try:
            found = restored(bytes(wrong), form, array.dtype, shape)
        except ValueError:
            continue
        assert found.dtype == array.dtype and found.shape == array.shape


def test_descriptions_ask_for_no_more_than_the_array_has():
    """Whatever members a description has, what they need on the way is less than the
    array that they make.
    """
    options = {
        "held": (None, 0, 1, 2**20),
        "as": (None, "int8", "uint32"),
        "steps": (None, True),
        "zlib": (None, 1, 100, 2**16),
    }
    shapes = ([2**20], [2**10, 2**10], [2**34], [3])
    accepted = 0
    for values in itertools.product(*options.values(), shapes, ("<i8", "<f8")):
        *chosen, shape, dtype = values
        form = {k: v for k, v in zip(options, chosen) if v is not None}
        try:
            found = bytes_in_file(form, np.dtype(dtype), shape)
        except ValueError:
            continue
        accepted += 1
        assert 0 < found <= math.prod(shape) * 8
    assert accepted > 20
