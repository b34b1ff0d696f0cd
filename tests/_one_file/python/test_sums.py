"""Sums as logarithms."""

from math import exp, inf, log

import pytest

from skstruct._one_file.python.sums import log_sum, sums_before


def test_sums_of_logarithms():
    assert log_sum([log(2.0), log(3.0)]) == pytest.approx(log(5.0))
    assert log_sum([1000.0, 1000.0]) == pytest.approx(1000.0 + log(2.0))
    assert log_sum([-inf, -inf]) == -inf
    found = sums_before([0.0, -inf], [[1.0, 5.0], [-1.0, 0.0]], [5.0, 0.0])
    assert list(map(exp, found)) == pytest.approx([exp(1.0), exp(-1.0)])
