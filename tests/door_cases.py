"""What a string, a container of strings and a container of labels may be, for the table
in ``test_door``.
"""

import enum
import functools

import numpy as np
import pandas
import polars

import skstruct
from skstruct import Segmenter, SpanTagger, StructuredPerceptron
from skstruct.features.patterns import Patterns
from skstruct.inspection import feature_weights

STRINGS = "the dog barks a cat DT NN VB B-PER O Ann sleeps Ann-sleeps".split()


class Member(str, enum.Enum):
    """Strings as typed code has them; ``str(x)`` is ``Member.the``, the string is
    ``the``.
    """

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


SENTENCES = [
    ["the", "dog", "barks"],
    ["a", "cat", "sleeps"],
    ["the", "cat", "barks"],
    ["dog", "the", "a"],
]
TAGS = [["DT", "NN", "VB"], ["DT", "NN", "VB"], ["DT", "NN", "VB"], ["NN", "DT", "DT"]]
PAIRS = [list(zip(*both)) for both in zip(SENTENCES, TAGS)]
TEXTS = ["Ann-sleeps", "Ann", "the", "dog"]
SPANS = [[(0, 3, "NN")], [(0, 3, "NN")], [], [(0, 3, "VB")]]


def each(make, nested):
    """All strings in lists and tuples, made anew."""
    if isinstance(nested, (list, tuple)):
        return type(nested)([each(make, item) for item in nested])
    return make(nested) if isinstance(nested, str) else nested


def dicts(make):
    return [
        [
            {
                make("the"): make(word),
                make("a"): {make("dog"): make(tag)},
                "O": [make(tag)],
                make("B-PER"): True,
            }
            for word, tag in pairs
        ]
        for pairs in PAIRS
    ]


def tagger(features="auto"):
    return StructuredPerceptron(features, max_iter=3, random_state=0)


PLACES = {
    "tokens": lambda make: (tagger(), each(make, SENTENCES), TAGS),
    "columns": lambda make: (tagger(["U0:%x[0,0]/%x[0,1]", "U1:%x[-1,1]", "B"]), each(make, PAIRS), TAGS),
    "lexicons": lambda make: (
        tagger(
            skstruct.FeatureTemplates(
                ["U0:%lex_L[0,0]", "U1:%av2[0,0]", "U2:%suffix2[0,0]", "B"],
                lexicons={"L": [make("dog"), (make("the"), make("cat"))]},
            )
        ),
        each(make, SENTENCES), TAGS,
    ),
    "patterns": lambda make: (
        tagger(Patterns(["U0:%x[0,0]/%x[0,1]", "B"])), each(make, PAIRS), TAGS,
    ),
    "lists of features": lambda make: (tagger(), [[[*p] for p in s] for s in each(make, PAIRS)], TAGS),
    "dicts of features": lambda make: (tagger(), dicts(make), TAGS),
    "labels": lambda make: (tagger(), SENTENCES, each(make, TAGS)),
    "labels' weights": lambda make: (
        tagger().set_params(class_weight={make("NN"): 2.0}), SENTENCES, each(make, TAGS),
    ),
    "labels of spans": lambda make: (SpanTagger(tagger("text")), TEXTS, each(make, SPANS)),
    "texts": lambda make: (SpanTagger(tagger("text")), each(make, TEXTS), SPANS),
    "words": lambda make: (Segmenter(tagger("char")), ["the", "a"], each(make, [["t", "he"], ["a"]])),
}  # fmt: skip
"""Where a string stands -> (model, X, y) with strings made by a function."""


def learned(model):
    """All weights by name."""
    inner = getattr(model, "tagger_", model)
    return sorted(
        (name, str.__str__(label), weight)
        for name, label, weight in feature_weights(inner)
    )


def types_in(nested):
    if isinstance(nested, (list, tuple)):
        return [kind for item in nested for kind in types_in(item)]
    return [type(nested)]
