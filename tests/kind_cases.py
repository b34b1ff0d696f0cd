"""Kinds of corpus: the same sentences in every container and every form of token that
``X`` may have.

Kinds of one *family* hold the same content: what was trained on one of them reads the
others. The first kind of a family is its plain lists; what a verb gives for these is
what it has to give for the others.
"""

import functools
from typing import Any, NamedTuple

import numpy as np
import pandas
import polars
from scipy import sparse
from sklearn.preprocessing import FunctionTransformer

from skstruct import NumericFeatures, SequenceMatrix
from skstruct.features import SequenceUnion, TokenTransformer

SENTENCES = {
    "train": [
        [0, 1, 2],
        [3, 1, 0],
        [2, 2, 4],
        [1, 3, 3],
        [4, 0, 1],
        [0, 3, 2],
        [4, 4, 1],
        [2, 0, 3],
    ],
    "new": [[1, 2, 5], [0, 4, 3], [5, 5, 2], [3, 0, 1]],
    "none": [],
    "empty ones": [[], [1, 2, 5], [], [0, 4, 3]],
    "only empty ones": [[], []],
}
"""Numbers of words. All are as long where 3-D arrays shall hold them; word 5 is in no
training corpus.
"""

TABLE = np.array(
    [
        [1.5, 0, 0, -0.25],
        [0, 2, 0, -0.25],
        [0, 0, 1, 0.5],
        [0.5, 0, -1, 0],
        [0, 1, 0.75, 0],
        [1, 1, 1, 1],
    ]
)
"""A row of numbers for each word. Their sums are exact, so that dense and sparse
columns may take turns.
"""


class Content(NamedTuple):
    """What a corpus holds."""

    sentences: Any  # list of lists of int
    table: Any = TABLE
    numbers: Any = ("x0", "x1", "x2", "x3")  # titles of the columns of the table
    strings: Any = ("word", "class")  # of which a token has these

    def of(self, title, k):
        """A string of a word."""
        return {"word": f"w{k}", "class": f"c{k % 2}", "more": f"m{k}"}[title]

    def rows(self):
        return [self.table[np.array(numbers, int)] for numbers in self.sentences]


FORMS = {
    "as trained": {},
    "fewer columns": {"table": TABLE[:, :3], "numbers": ("x0", "x1", "x2"), "strings": ("word",)},
    "more columns": {
        "table": TABLE[:, [0, 1, 2, 3, 0]], "numbers": ("x0", "x1", "x2", "x3", "x4"),
        "strings": ("word", "class", "more"),
    },
    "swapped columns": {
        "table": TABLE[:, [1, 0, 2, 3]], "numbers": ("x1", "x0", "x2", "x3"), "strings": ("class", "word"),
    },
}  # fmt: skip
"""How new sentences may differ from those of training."""

FEATURES = {
    "words": ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "B"],
    "columns": ["U0:%x[0,0]/%x[0,1]", "U1:%x[-1,1]", "B"],
    "features": "auto",
    "numbers": NumericFeatures(scale=1.0),
    "both": ["U0:%x[0,0]/%x[0,1]", "U1:%x[-1,1]", "B"],
}
"""Family -> what its models learn from."""


def labels(part):
    """The label of a word, which is another one after word 0."""
    return [
        [f"L{(k + (before == 0)) % 3}" for before, k in zip([1, *numbers], numbers)]
        for numbers in SENTENCES[part]
    ]


# -- content as a corpus ---------------------------------------------------------------
def of_tokens(token):
    """The maker of lists of tokens, given the token of a word."""
    return lambda content: [
        [token(content, k) for k in numbers] for numbers in content.sentences
    ]


def three_dimensions(content):
    return (
        np.stack(content.rows())
        if content.sentences
        else np.zeros((0, 3, content.table.shape[1]))
    )


def frame(content, numbers, parts):
    """The tokens of some words as a data frame."""
    titles = (
        content.strings if "strings" in parts else parts if parts == ("word",) else ()
    )
    columns = {title: [content.of(title, k) for k in numbers] for title in titles}
    if "numbers" in parts:
        columns |= dict(zip(content.numbers, content.table[np.array(numbers, int)].T))
    return pandas.DataFrame(columns)


def frames(*parts):
    return lambda content: [
        frame(content, numbers, parts) for numbers in content.sentences
    ]


def table(*parts):
    """The maker of what ``from_frame`` makes of one table."""

    def make(content):
        flat = [k for numbers in content.sentences for k in numbers]
        owner = [i for i, numbers in enumerate(content.sentences) for _ in numbers]
        return SequenceMatrix.from_frame(
            frame(content, flat, parts).assign(sentence=owner), "sentence"
        )

    return make


def stacked(form, named=False):
    """The maker of a ``SequenceMatrix``; ``named``: whether its columns have names."""

    def make(content):
        rows = np.concatenate([content.table[:0], *content.rows()])
        lengths = np.array([*map(len, content.sentences)], int)
        return SequenceMatrix(
            form(rows), lengths, feature_names=content.numbers if named else None
        )

    return make


N_DENSE = 2


def columns_of(some, form=np.asarray):
    """A transformer that takes some columns, and keeps their names."""
    take = FunctionTransformer(
        lambda rows: form(rows[:, some]), feature_names_out=lambda _, names: names[some]
    )
    return TokenTransformer(take)


def union(content):
    """The first columns dense, the others sparse."""
    dense, others = (
        columns_of(slice(N_DENSE)),
        columns_of(slice(N_DENSE, None), sparse.csr_matrix),
    )
    rows = stacked(np.asarray, named=True)
    fitted = SequenceUnion(
        [("dense", dense), ("sparse", others)], verbose_feature_names_out=False
    )
    fitted.fit(rows(content._replace(sentences=SENTENCES["train"])))
    return fitted.transform(rows(content))


def object_array(sequences):
    out = np.empty(len(sequences), dtype=object)
    for i, sequence in enumerate(sequences):
        out[i] = sequence
    return out


def series(sequences):
    """A pandas Series whose index does not count from 0."""
    return pandas.Series(sequences, index=range(5, 5 + len(sequences)), dtype=object)


class Tensor:
    """What the tensors of other libraries have of an array, and no more: it is no
    ndarray.
    """

    def __init__(self, array):
        self.array = np.asarray(array)
        self.shape, self.ndim, self.dtype = (
            self.array.shape,
            self.array.ndim,
            self.array.dtype,
        )

    def __len__(self):
        return len(self.array)

    def __getitem__(self, key):
        return Tensor(self.array[key])

    def __iter__(self):
        return map(Tensor, self.array)

    def __eq__(self, other):
        return Tensor(self.array == getattr(other, "array", other))

    __hash__ = object.__hash__

    def __array__(self, dtype=None, copy=None):
        return self.array if dtype is None else self.array.astype(dtype)

    def __repr__(self):
        return f"tensor({self.array.tolist()})"


def arrays_of_strings(content):
    """A list of arrays of objects with a column for each string of a token."""
    tokens = FAMILIES["columns"]["tuples"](content)
    return [
        np.array(each, object).reshape(len(each), len(content.strings))
        for each in tokens
    ]


def words(content):
    return [[content.of("word", k) for k in numbers] for numbers in content.sentences]


FAMILIES = {
    "words": {
        "str": words,
        "object array": lambda content: object_array(words(content)),
        "Series": lambda content: series(words(content)),
        "frames of words": frames("word"),
    },
    "columns": {
        "tuples": of_tokens(
            lambda content, k: tuple(content.of(title, k) for title in content.strings)
        ),
        "frames of strings": frames("strings"),
        "table of strings": table("strings"),
        "arrays of strings": arrays_of_strings,
    },
    "features": {
        "lists": of_tokens(lambda _, k: [f"w:w{k}", f"odd:{k % 2}", "all"]),
        "dicts": of_tokens(lambda _, k: {"w": f"w{k}", "odd": str(k % 2), "all": True}),
    },
    "numbers": {
        "lists of numbers": lambda content: [rows.tolist() for rows in content.rows()],
        "3-D": three_dimensions,
        "2-D": Content.rows,
        "tensors": lambda content: [*map(Tensor, content.rows())],
        "CSR": lambda content: [*map(sparse.csr_array, content.rows())],
        "SequenceMatrix": stacked(np.asarray),
        "sparse SequenceMatrix": stacked(sparse.csr_matrix),
        "frames of numbers": frames("numbers"),
        "table of numbers": table("numbers"),
        "union": union,
    },
    "both": {
        "frames of both": frames("strings", "numbers"),
        "table of both": table("strings", "numbers"),
    },
}

ORDINARY = [kind for kinds in FAMILIES.values() for kind in kinds]
"""The kinds that every run tries."""

CONTAINERS = {"object array of": object_array, "Series of": series}


def contained(form, make):
    return lambda content: form(make(content))


def of_polars(make):
    """The maker of lists of polars' frames, given that of pandas'."""
    return lambda content: [
        polars.DataFrame({c: x[c].tolist() for c in x}) for x in make(content)
    ]


for family, kinds in FAMILIES.items():
    lists = {
        kind: make for kind, make in kinds.items() if type(make(Content([[0]]))) is list
    }
    for name, form in CONTAINERS.items() if family != "words" else ():
        kinds |= {
            f"{name} {kind}": contained(form, make) for kind, make in lists.items()
        }
    kinds |= {
        f"polars {kind}": of_polars(lists[kind])
        for kind in lists
        if kind.startswith("frames")
    }

FAMILIES["words"]["polars Series"] = lambda content: polars.Series(
    words(content), dtype=polars.List(polars.String)
)

KINDS = {kind: family for family, kinds in FAMILIES.items() for kind in kinds}
"""Kind -> family; those that are lists in other containers, too."""

PLAIN = {family: next(iter(kinds)) for family, kinds in FAMILIES.items()}


@functools.cache
def corpus(kind, part, form="as trained"):
    """The sentences of a part, as a kind."""
    return FAMILIES[KINDS[kind]][kind](Content(SENTENCES[part], **FORMS[form]))
