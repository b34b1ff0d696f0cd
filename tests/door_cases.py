"""What a string, a container of strings and a container of labels may be, for the table in ``test_door``."""

import enum
import functools

import numpy as np
import pandas
import polars

STRINGS = "the dog barks a cat DT NN VB B-PER O Ann sleeps Ann-sleeps".split()


class Member(str, enum.Enum):
    """Strings as typed code has them; ``str(x)`` is ``Member.the``, the string is ``the``."""

    THE, DOG, BARKS, A, CAT, DT, NN, VB, B_PER, O, ANN, SLEEPS, ANN_SLEEPS = STRINGS  # noqa: E741


class Spoken(str):
    """Strings that say themselves otherwise, in each way that Python has."""

    def __str__(self):
        return "spoken"

    __format__ = __repr__ = lambda self, *_: "spoken"


ELEMENTS = {
    "str": str,
    "member of an enumeration": Member,
    "subclass": Spoken,
    "numpy.str_": np.str_,
}
"""Kind of string -> its maker."""


def object_array(items):
    out = np.empty(len(items), object)
    out[:] = items
    return out


def _pyarrow():
    import pytest

    return pytest.importorskip("pyarrow")


CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "array of objects": object_array,
    "array of strings": lambda items: np.array(items, str),
    "Series": pandas.Series,
    "Series of categories": lambda items: pandas.Series(items, dtype="category"),
    "Index": pandas.Index,
    "array of pandas": lambda items: pandas.array(items, dtype="string"),
    "polars Series": lambda items: polars.Series(items),
    "polars categories": lambda items: polars.Series(items, dtype=polars.Categorical),
    "pyarrow array": lambda items: _pyarrow().array(items),
    "pyarrow chunked array": lambda items: _pyarrow().chunked_array([items]),
    "pyarrow dictionary": lambda items: _pyarrow().array(items).dictionary_encode(),
    "pandas over pyarrow": lambda items: pandas.Series(
        items, dtype=pandas.ArrowDtype(_pyarrow().string())
    ),
}
"""Kind of container -> its maker, from a list of str."""

if hasattr(np.dtypes, "StringDType"):
    CONTAINERS["array of variable strings"] = functools.partial(
        np.array, dtype=np.dtypes.StringDType()
    )


def _frame(rows):
    return pandas.DataFrame(rows, columns=["word", "tag"])


TABLES = {
    "tuples": list,
    "arrays of objects": lambda rows: _frame(rows).to_numpy(),
    "arrays of strings": lambda rows: np.array(rows, str),
    "frames": _frame,
    "frames of categories": lambda rows: _frame(rows).astype("category"),
    "polars frames": lambda rows: polars.DataFrame(
        rows, schema=["word", "tag"], orient="row"
    ),
    "pyarrow tables": lambda rows: _pyarrow().table(
        dict(zip(["word", "tag"], map(list, zip(*rows))))
    ),
    "lists of records": lambda rows: np.array(
        rows, dtype=[("word", "U9"), ("tag", "U9")]
    ),
}
"""Kind of table -> its maker, from a list of tuples of two str."""
