"""The hash table against a dict, and the mixing function against its inverse."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct._core.compile import kernel
from skstruct._core.hashing import (
    EMPTY,
    MAX_LOAD,
    empty_table,
    find,
    grown,
    mix64,
    slot_of,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:overflow encountered"
)  # without compilation

MASK = 2**64 - 1


@kernel
def mix_all(x):
    for i in range(x.shape[0]):
        x[i] = mix64(x[i])


@kernel
def insert_all(table, compound, left, right, value):
    for i in range(left.shape[0]):
        key = (np.int64(left[i]) << 32) | np.int64(right[i])
        slot = slot_of(table, compound[i], key)
        table[slot, 0] = key
        table[slot, 1] = (np.int64(compound[i]) << 32) | np.int64(value[i])


@kernel
def find_all(table, compound, left, right, out):
    for i in range(left.shape[0]):
        out[i] = find(table, compound[i], left[i], right[i])


def mixed(values):
    x = np.array(values, dtype=np.uint64)
    mix_all(x)
    return x.tolist()


def reference_mix(x):
    """Stafford's variant 13, the finaliser of splitmix64, in exact integers."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def unshift(x, s):
    """Solve y ^ (y >> s) == x."""
    y = x
    for _ in range(64 // s + 1):
        y = x ^ (y >> s)
    return y


def reference_unmix(x):
    x = unshift(x, 31) * pow(0x94D049BB133111EB, -1, 2**64) & MASK
    x = unshift(x, 27) * pow(0xBF58476D1CE4E5B9, -1, 2**64) & MASK
    return unshift(x, 30)


@given(st.lists(st.integers(0, MASK), min_size=1, max_size=20))
def test_mix64_is_invertible(values):
    out = mixed(values)
    assert out == [reference_mix(v) for v in values]
    assert [reference_unmix(v) for v in out] == values


def test_mix64_spreads_each_input_bit():
    draw = random.Random(0)
    base = [draw.getrandbits(64) for _ in range(60)]
    plain = mixed(base)
    for bit in range(64):
        flipped = mixed([b ^ (1 << bit) for b in base])
        changed = np.mean([bin(a ^ b).count("1") for a, b in zip(plain, flipped)])
        assert 28 < changed < 36


ENTRIES = st.dictionaries(
    st.tuples(
        st.integers(0, 5),
        st.one_of(st.integers(0, 3), st.integers(0, 2**31 - 1)),
        st.one_of(st.integers(0, 3), st.integers(0, 2**31 - 1)),
    ),
    st.integers(0, 2**31 - 1),
    min_size=1,
    max_size=60,
)


def columns(keys):
    return [np.array(c, np.int64) for c in zip(*keys)]


def look_up(table, keys):
    out = np.zeros(len(keys), np.int64)
    find_all(table, *columns(keys), out)
    return out.tolist()


@given(ENTRIES, ENTRIES)
def test_table_is_a_dict(entries, others):
    keys = list(entries)
    table = empty_table(128)
    insert_all(table, *columns(keys), np.array([entries[k] for k in keys], np.int64))
    assert np.count_nonzero(table[:, 1] != EMPTY) == len(entries)
    questions = keys + list(others)
    assert look_up(table, questions) == [entries.get(k, -1) for k in questions]


@given(ENTRIES, st.integers(1, 3000))
def test_growing_keeps_every_entry(entries, n_entries):
    keys = list(entries)
    table = empty_table(64)
    insert_all(table, *columns(keys), np.array([entries[k] for k in keys], np.int64))
    larger = grown(table, n_entries)
    assert larger.shape[0] & (larger.shape[0] - 1) == 0
    assert n_entries <= MAX_LOAD * larger.shape[0]
    assert (larger is table) == (n_entries <= MAX_LOAD * 64)
    assert look_up(larger, keys) == [entries[k] for k in keys]
    assert np.count_nonzero(larger[:, 1] != EMPTY) == len(entries)


def test_capacity_is_rounded_up():
    assert [empty_table(n).shape for n in (1, 2, 3, 64, 65)] == [
        (1, 2),
        (2, 2),
        (4, 2),
        (64, 2),
        (128, 2),
    ]


def test_probing_in_an_almost_full_table():
    keys = [(c, a, b) for c in range(2) for a in range(4) for b in range(4)]
    table = empty_table(32)
    insert_all(table, *columns(keys[:31]), np.arange(31))  # one slot left empty
    assert look_up(table, keys) == [*range(31), -1]
