"""Models of CRF++, written: the binary file that the tool reads, or the text."""

import os
import struct

import numpy as np

from ..data.types import Path
from ..features.patterns import CRFPP
from ..saving.atomic import atomic_write
from .crfpp import VERSION
from .double_array import LONGEST, MOST_TIMES, build
from .exporting import chain_model, refuse
from .pattern_export import keyed_model
from .reading import as_bytes


def save_crfpp(model: object, path: Path, text: bool = False) -> None:
    """Write a fitted tagger as a model of CRF++.

    Parameters
    ----------
    model : L1CRF, StructuredPerceptron or another chain tagger
        With templates that read tokens, ``%x``, no more than 8 rows away; also an average or a mixture.
    path : str or os.PathLike
        Written whole or not at all; what was there before is replaced.
    text : bool, default=False
        Write the text that ``crf_learn -t`` writes, with weights in double precision, instead of the binary
        file, in which they have single precision.

    Raises
    ------
    TypeError
        If it is no chain tagger.
    ValueError
        If the format has no place for a part of the model: ``order=2``, ready-made features, functions of
        tokens, white space in tokens, labels that are not str, dense rows of numbers; in the binary file
        features of more than 4,096 bytes. The message says which.
    OSError
        If the file cannot be written.

    Notes
    -----
    What constraints forbid gets the weight -10000; labels that must not be the first or the last by templates
    that read one row before and behind.
    """
    patterns, named = keyed_model(chain_model(model, "CRF++"), CRFPP)
    data = (_text if text else _binary)(patterns, named.labels, *_weights(named))
    with atomic_write(os.fspath(path)) as file:
        file.write(data)


def _weights(named):
    """(keys with the numbers of their first weights, sorted; all weights)."""
    blocks = np.zeros((len(named.names), len(named.labels)))
    blocks[named.row, named.column] = named.weight
    block_of = dict(zip(map(as_bytes, named.names), blocks))
    block_of.update((as_bytes(name), block.ravel()) for name, block in named.transitions.items())
    keys, values, first = [], [np.zeros(0)], 0
    for key in sorted(block_of):
        keys.append((key, first))
        values.append(block_of[key])
        first += block_of[key].shape[0]
    if first >= 2**31:
        refuse("CRF++", f"more than {2**31 - 1} weights; the model has {first}")
    return keys, np.concatenate(values)


def _binary(patterns, labels, keys, weights):
    single = weights.astype("<f4")
    if not np.isfinite(single).all():
        refuse("CRF++", "weights beyond single precision")
    units = build(keys)
    _check_size([key for key, _ in keys], units)
    labels = b"".join(as_bytes(label) + b"\0" for label in labels)
    lines = b"".join(as_bytes(line) + b"\0" for line in _ordered(patterns))
    lines += bytes(-(len(labels) + len(lines)) % 4)
    return b"".join((
        struct.pack("<IidIII", VERSION, 0, 1.0, weights.shape[0], patterns.n_columns, units.nbytes),
        struct.pack("<I", len(labels)), labels, struct.pack("<I", len(lines)), lines,
        units.tobytes(), single.tobytes(),
    ))  # fmt: skip


def _check_size(keys, units):
    """Raise if `load_crfpp` would refuse the keys, as those of a file made to exhaust memory."""
    longest = max(keys, key=len, default=b"")
    wrong = None
    if len(longest) > LONGEST:
        shown = longest[:40].decode(errors="replace")
        wrong = f"a feature has {len(longest):,} bytes, more than {LONGEST:,}: {shown!r} ..."
    elif sum(map(len, keys)) > MOST_TIMES * units.nbytes:
        wrong = f"its features are too long: together more than {MOST_TIMES} times as long as their index"
    if wrong is not None:
        raise ValueError(f"the model cannot be written as a binary file of CRF++: {wrong}; as text it can")


def _text(patterns, labels, keys, weights):
    rows = [
        f"version: {VERSION}", "cost-factor: 1", f"maxid: {weights.shape[0]}",
        f"xsize: {patterns.n_columns}", "",
    ]  # fmt: skip
    head = "\n".join(rows).encode()
    parts = [
        head, *map(as_bytes, labels), b"", *map(as_bytes, _ordered(patterns)), b"",
        *(b"%d %s" % (number, key) for key, number in keys), b"",
        *(b"%.16f" % weight for weight in weights.tolist()), b"",
    ]  # fmt: skip
    return b"\n".join(parts)


def _ordered(patterns):
    """The lines, those of labels first."""
    return sorted(patterns.lines, key=lambda line: line.startswith("B"))
