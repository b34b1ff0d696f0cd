"""What this Python says of all code points, as tables for the functions of characters of a file.

A table lists the places at which being in it begins, ends, begins ...: the first, and then how far it is to
the next. Other versions of Python, and JavaScript, know other versions of Unicode.
"""

import functools
import unicodedata

import numpy as np

N_CODES = 0x110000

FUNCTIONS = {
    "lower": ("cased", "ignorable", "mapping"),
    "cluster": ("cased", "ignorable", "mapping"),  # of the lower-cased form, where the form has none
    "shape": ("upper", "lower", "digit"),
    "type": ("digit", "punctuation"),
    "digit": ("digit",),
    "upper": ("upper",),
    "hyphen": (),
}
"""The tables that each function reads."""

_TESTS = {
    "upper": str.isupper,
    "lower": str.islower,
    "digit": str.isdigit,
    "punctuation": lambda c: unicodedata.category(c)[0] in "PS",
    # A capital sigma is final behind a cased letter; what is ignorable between the two does not matter.
    "cased": lambda c: (c + "\u03a3").lower()[-1] == "\u03c2",
    "ignorable": lambda c: ("a" + c + "\u03a3").lower()[-1] == "\u03c2" and not _TESTS["cased"](c),
}


@functools.cache
def table(name):
    """The table of a property, or the mapping to lower case."""
    if name == "mapping":
        return _lower_case()
    inside = np.fromiter(map(_TESTS[name], map(chr, range(N_CODES))), np.bool_, N_CODES)
    return gaps(np.flatnonzero(np.diff(inside, prepend=False)))


def gaps(places):
    """Ascending places as the first and the distances from each to the next."""
    return np.diff(places, prepend=0).tolist()


def _lower_case():
    """Runs (first, last, step, difference) of the mapping of single characters, and what becomes two."""
    runs, longer = [], {}
    for code in range(N_CODES):
        to = chr(code).lower()
        if to == chr(code) or code == 0x3A3:  # of sigma the file has the rule
            continue
        if len(to) > 1:
            longer[chr(code)] = to
            continue
        difference = ord(to) - code
        if runs and runs[-1][3] == difference and code - runs[-1][1] in (1, 2):
            first, last, step, _ = runs[-1]
            if first == last or code - last == step:
                runs[-1] = [first, code, code - last, difference]
                continue
        runs.append([code, code, 1, difference])
    return {"runs": runs, "long": longer}


def tables_for(functions):
    """The tables that functions of templates read, by name."""
    names = {name for function in functions for name in FUNCTIONS.get(function, ())}
    return {name: table(name) for name in sorted(names)}
