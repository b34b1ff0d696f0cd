"""Counting instead of timing: how many calls something makes, which is the same on
every machine.
"""

import os
import sys
import tracemalloc

import pytest

needs_compiled = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "0") != "0",
    reason="plain Python kernels call more",
)


def calls(act):
    """(calls of Python and C functions that ``act()`` makes, what it returns); kernels
    are one call each.
    """
    n = 0

    def count(frame, event, argument):
        nonlocal n
        n += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        result = act()
    finally:
        sys.setprofile(before)
    return n, result


def allocated(act):
    """Bytes that ``act()`` allocates, freed ones too: between any two calls what is
    most at a time.
    """
    total = before = 0

    def look(frame, event, argument):
        nonlocal total, before
        now, peak = tracemalloc.get_traced_memory()
        total += max(0, peak - before)
        before = now
        tracemalloc.reset_peak()

    profile = sys.getprofile()
    tracemalloc.start()
    sys.setprofile(look)
    try:
        act()
    finally:
        sys.setprofile(profile)
        tracemalloc.stop()
    return total
