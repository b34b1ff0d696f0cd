"""The fields of an encoder in files, for all kinds of tokens: tables of fields."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .._saving import fields
from .._saving.container import require, within
from .._saving.fields import (
    Field,
    Table,
    array,
    built,
    distinct,
    integer,
    via,
    without_last,
)
from .row_index import FeatureIndex, RowIndex

if TYPE_CHECKING:
    from .._saving.fields import Members
    from .base import Encoder

MOST_ROWS = 2**31  # of weights
MIN_COUNT = Field("min_count", integer(1))

# Of models of other tools: null.
TOKENS = fields.choice({None: None, "str": str, "tuple": tuple})._replace(null=True)
TITLES = Field(
    "titles",
    via(fields.each(fields.string), list, tuple),
    of="reads.titles",
    default=None,
)


def take_titles(encoder: Encoder, f: Members) -> None:
    """Let an encoder of strings read the columns of a data frame that it was trained
    on.
    """
    if f["titles"] is not None:
        encoder.reads = replace(encoder.reads, titles=f["titles"])


def has_cutoff(f: Members) -> bool:
    """Tell whether rare features do not count."""
    return f["min_count"] > 1


def _check_rows(index: RowIndex, f: Members) -> None:
    row = f["row"]
    require(
        within(row[row >= 0], index.first_row, index.n_rows),
        f"{f.where}.row is out of range",
    )


_ROWS = (
    Field("row", without_last(array("int32", "n", low=-1, high="n_rows")), of="row_of"),
    Field("n_rows", integer("first_row", MOST_ROWS)),
    Field(
        "count",
        array("int64", "n", low=0),
        "counts",
        "cut",
        default=lambda _: np.zeros(0, np.int64),
    ),
)

ROWS = Table("Rows of features", *_ROWS, make=built(RowIndex, "first_row", _check_rows))

INDEX = Table(
    "Features by name",
    Field(
        "names",
        via(distinct, list, lambda names: {name: k for k, name in enumerate(names)}),
        of="ids",
    ),
    *_ROWS,
    make=built(FeatureIndex, "first_row", _check_rows),
    n=lambda f: len(f["names"]),
)
