"""Parameters of CRFsuite: values become their type, or an error."""

import pytest

from skstruct.compat.parameters import ALIASES, DEFAULTS, TITLES, converted


def test_values_become_their_type():
    assert converted("c1", "0.5", float) == 0.5
    assert converted("max_iterations", 7.9, int) == 7
    assert converted("averaging", "0", bool) is False
    assert converted("linesearch", "StrongBacktracking", str) == "StrongBacktracking"


def test_what_is_no_value_is_an_error():
    for value, kind, wrong in (
        ("x", float, "c1 must be float, got 'x'"),
        (float("nan"), float, "c1 must be a number, got nan"),
        (float("inf"), int, "c1 must be int"),
    ):
        with pytest.raises(ValueError, match=wrong):
            converted("c1", value, kind)
    with pytest.raises(ValueError, match=r"type \(pa_type\) must be one of 0, 1, 2"):
        converted("type", 3, int)


def test_each_algorithm_has_a_title():
    assert TITLES.keys() == DEFAULTS.keys()
    assert set(ALIASES.values()) <= set(DEFAULTS)
