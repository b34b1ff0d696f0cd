"""Rows of numbers of several transformers, side by side in one corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from .._data.corpus import DENSE, SPARSE, number_block
from .._data.matrix import SequenceMatrix, assembled
from .._data.reads import ColumnInfo, FeatureNames, joined_runs
from .numeric import side_by_side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._data.corpus import Block, TokenCorpus
    from .remembered import Remembered


class Joined(NamedTuple):
    """The facts about joined columns that do not depend on the tokens."""

    # Which are dense, as ``_data.reads.runs_of`` has it; None if all are of one kind.
    runs: tuple[int, ...] | None
    # By kind of block: the names of its columns, and what else is known of them.
    by_kind: dict[str, tuple[FeatureNames, ColumnInfo | None]]


def join_columns(
    parts: Sequence[TokenCorpus],
    weights: Sequence[float | None],
    prefixes: Sequence[str],
    remembered: Remembered,
) -> SequenceMatrix:
    """Put the columns of all parts side by side: dense ones in one block, sparse ones
    in another.

    Parameters
    ----------
    parts : list of TokenCorpus
        Rows of numbers of the same tokens.
    weights : list of float or None
        What the values of a part are multiplied by.
    prefixes : list of str
        What the names of columns begin with.
    remembered : Remembered
        Keeps what does not change from call to call.

    Returns
    -------
    SequenceMatrix
    """
    are_sparse = any(any(part.runs[1::2]) for part in parts)
    weighted = [
        _times(part, weight, are_sparse) for part, weight in zip(parts, weights)
    ]
    blocks = [block for part in parts for block in part.numbers]
    objects = [known for block in blocks for known in (block.names, block.info)]
    rest = zip(prefixes, weights, (part.runs for part in parts))
    facts = tuple((prefix, weight is None, runs) for prefix, weight, runs in rest)
    joined = remembered.of(objects, facts, lambda: _joined(parts, weighted, prefixes))
    found = []
    for kind, (names, info) in joined.by_kind.items():
        rows = [block.rows for part in weighted if (block := part.block(kind))]
        found.append(number_block(side_by_side(rows), names, info))
    return SequenceMatrix.of(tuple(found), parts[0].lengths, joined.runs)


def _times(part: TokenCorpus, weight: float | None, are_sparse: bool) -> TokenCorpus:
    """Multiply a part by its weight.

    Dense columns that have one become sparse if others are: no model scales them.
    """
    if weight is None:
        return part
    matrix = part.matrix
    dtype = np.result_type(matrix.dtype, np.float32)  # sparse integers become floats
    matrix = matrix.astype(dtype) * dtype.type(weight)
    if are_sparse:
        matrix = sparse.csr_matrix(matrix)
    return assembled(matrix, part.lengths, part.names)


def _joined(
    parts: Sequence[TokenCorpus],
    weighted: Sequence[TokenCorpus],
    prefixes: Sequence[str],
) -> Joined:
    """Join weighted parts to a :class:`Joined`."""
    are_dense = any(any(part.runs[::2]) for part in parts)
    by_kind = {}
    for kind in (DENSE, SPARSE):
        blocks = [part.block(kind) for part in weighted]
        mine = {k: block for k, block in enumerate(blocks) if block}
        if not mine:
            continue
        widths = [block.rows.shape[1] for block in mine.values()]
        names = [_names_of(weighted[k], block) for k, block in mine.items()]
        infos = [
            _info_of(parts[k], weighted[k], kind, width)
            for k, width in zip(mine, widths)
        ]
        info = None
        encoded = any(each is not None for each in infos)
        if kind == SPARSE and (are_dense or encoded):
            info = column_info(list(zip(widths, infos)))
        named = list(zip([prefixes[k] for k in mine], names, widths))
        by_kind[kind] = FeatureNames(parts=named), info
    runs = joined_runs([part.runs for part in weighted]) if len(by_kind) > 1 else None
    return Joined(runs, by_kind)


def _names_of(part: TokenCorpus, block: Block) -> FeatureNames | None:
    """Return the names of the columns of a block.

    Without names, columns of two blocks have the numbers that these have in both.
    """
    if block.names is not None or len(part.numbers) == 1:
        return block.names
    columns = np.flatnonzero(part.is_dense == (block.kind == DENSE))
    return FeatureNames([f"x{c}" for c in columns.tolist()])


def _info_of(
    part: TokenCorpus, weighted: TokenCorpus, kind: str, width: int
) -> ColumnInfo | None:
    """Return what is known of the columns of a block.

    Under a weight, the columns of two blocks become one template.
    """
    if weighted is part:
        block = part.block(kind)
        assert block is not None, kind
        return block.info
    info = part.numbers[-1].info
    if info is None or len(part.numbers) == 1:
        return info
    return info._replace(template=np.zeros(width, np.int32))


def column_info(known: Sequence[tuple[int, ColumnInfo | None]]) -> ColumnInfo:
    """Join what is known of sparse columns beside dense ones, or encoded before.

    Parameters
    ----------
    known : list of (number of columns, ColumnInfo or None)
    """
    templates = []
    first = 0
    for n, info in known:
        mine = np.zeros(n, np.int32) if info is None else info.template
        templates.append(mine + np.int32(first))
        first += int(mine.max(initial=-1)) + 1
    bigrams = [info.bigram for _, info in known if info is not None]
    return ColumnInfo(any(bigrams) if bigrams else True, np.concatenate(templates))


def with_boundaries(known: Sequence[tuple[int, ColumnInfo]], n_ends: int) -> ColumnInfo:
    """Join what is known of the columns of neighbours, with ``n_ends`` columns of
    boundaries behind.
    """
    info = known[0][1]._replace(template=np.arange(n_ends, dtype=np.int32))
    return column_info([*known, (n_ends, info)])
