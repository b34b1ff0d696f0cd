"""Counting instead of timing: how many calls something makes, which is the same on every machine."""

import os
import sys

import pytest

needs_compiled = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "0") != "0",
    reason="plain Python kernels call more",
)


def calls(act):
    """(calls of Python and C functions that ``act()`` makes, what it returns); kernels are one call each."""
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
