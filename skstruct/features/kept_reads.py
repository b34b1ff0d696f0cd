"""The knowledge of transformers about tokens, in states: what they read, and what they
make of nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from .._data.corpus import DENSE, SPARSE, BlockCorpus, number_block
from .._data.matrix import SequenceMatrix
from .._data.reads import ColumnInfo, FeatureNames, TransformerReads
from .._saving.container import require
from .._saving.fields import (
    Field,
    Members,
    Table,
    array,
    each,
    flag,
    integer,
    optional,
    string,
    strings,
    via,
)

if TYPE_CHECKING:
    from .._data.corpus import Block

names = optional(via(strings, FeatureNames.all, FeatureNames))

_titles = via(each(string), list, tuple)

READS = Table(
    "What is read",
    Field("called", optional(string)),
    Field("width", optional(integer())),
    Field("names", names),
    Field("titles", optional(_titles)),
    Field("of_frames", flag),
    Field("by_place", flag),
    Field("decides", flag),
    make=lambda f: TransformerReads(**f),
)

INFO = Table(
    "Columns that are encoded features",
    Field("bigram", flag),
    Field("template", array("int32", None, low=0)),
    make=lambda f: ColumnInfo(**f),
)


def _parts(block: Block) -> dict[str, Any]:
    """Return what a state has of a block of numbers without rows."""
    rows = block.rows
    return {
        "dtype": rows.dtype.name,
        "columns": rows.shape[1],
        "sparse": block.kind == SPARSE,
        "array": isinstance(rows, sparse.sparray),
        "names": block.names,
        "info": block.info,
    }


def _block(f: Members) -> Block:
    """Make a block without rows."""
    known = f["dtype"] in {"bool", *map(str, (f"int{8 << k}" for k in range(4)))}
    known = known or f["dtype"] in {"float16", "float32", "float64"}
    known = known or f["dtype"] in {f"uint{8 << k}" for k in range(4)}
    require(known, f"{f.where}.dtype is unknown")
    for name, n in (("names", f["names"]), ("info", f["info"])):
        size = None if n is None else len(n.all() if name == "names" else n.template)
        require(size in (None, f["columns"]), f"{f.where}.{name} must fit the columns")
    shape = 0, f["columns"]
    if not f["sparse"]:
        return number_block(np.zeros(shape, f["dtype"]), f["names"], f["info"])
    made = sparse.csr_array if f["array"] else sparse.csr_matrix
    return number_block(made(shape, dtype=f["dtype"]), f["names"], f["info"])


BLOCK = Table(
    "A block of numbers",
    Field("dtype", string),
    Field("columns", integer(0, 2**31)),
    Field("sparse", flag),
    Field("array", flag),
    Field("names", names),
    Field("info", optional(INFO)),
    make=_block,
)


def _corpus(f: Members) -> BlockCorpus:
    kinds = tuple(block.kind for block in f["blocks"])
    require(
        kinds in ((DENSE,), (SPARSE,), (DENSE, SPARSE)), f"{f.where}: no such blocks"
    )
    runs = None if f["runs"] is None else tuple(f["runs"])
    width = sum(block.rows.shape[1] for block in f["blocks"])
    require(runs is None or sum(runs) == width, f"{f.where}.runs must fit the columns")
    kind = SequenceMatrix if f["matrix"] else BlockCorpus
    return kind.of(tuple(f["blocks"]), np.zeros(0, np.int64), runs)


NOTHING = Table(
    "Rows of numbers, of which there are none",
    Field("blocks", each(via(BLOCK, _parts, lambda block: block))),
    Field(
        "runs",
        optional(each(integer())),
        of=lambda X: list(X.runs) if len(X.blocks) > 1 else None,
    ),
    Field("matrix", flag, of=lambda X: isinstance(X, SequenceMatrix)),
    make=_corpus,
)
