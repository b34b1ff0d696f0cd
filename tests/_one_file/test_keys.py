"""Tables of what this Python says of all code points."""

import itertools

from skstruct._one_file.keys import FUNCTIONS, N_CODES, gaps, table, tables_for


def test_a_table_says_what_python_says():
    bounds = list(itertools.accumulate(table("upper")))
    inside = set()
    for begin, end in itertools.zip_longest(
        bounds[::2], bounds[1::2], fillvalue=N_CODES
    ):
        inside.update(range(begin, end))
    assert inside == {code for code in range(N_CODES) if chr(code).isupper()}


def test_functions_have_the_tables_that_they_read():
    assert set(tables_for(["shape", "x"])) == {"upper", "lower", "digit"}
    assert set(FUNCTIONS["lower"]) == set(tables_for(["lower"]))
    assert gaps([2, 5, 9]) == [2, 3, 4]
