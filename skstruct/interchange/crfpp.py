"""Models of CRF++: the binary file, and the text that ``crf_learn -t`` writes beside
it.

References
----------
T. Kudo, "CRF++: yet another CRF toolkit", 2005.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from .._crf.l1crf import L1CRF
from .._data.types import Path
from .._saving.atomic import write_whole
from .._saving.container import ModelFileError
from ..features.patterns import CRFPP
from .double_array import LONGEST, MOST_TIMES, UNIT, build, read_keys
from .foreign import as_bytes, as_text, labels_in_order, read_source, refuse
from .pattern_models import keyed_model, pattern_crf, patterns_of

if TYPE_CHECKING:
    from ..features.patterns import Patterns
    from .foreign import ForeignBytes, NamedModel


VERSION = 100
HEADER = 28
_HEAD = "<IidIII"
"""Bytes of version, type, cost factor, and three sizes: those of weights, columns and
double array.
"""

_KEY = re.compile(rb"(\d{1,10}) (.*)\n")
TEXT_START = b"version: "
BINARY_START = struct.pack("<Ii", VERSION, 0)


def load_crfpp(source: Any, encoding: str = "utf-8") -> L1CRF:
    """Read a model of CRF++, binary or text.

    Parameters
    ----------
    source : str, os.PathLike or bytes
        A model file, or its bytes.
    encoding : str, default="utf-8"
        Of the strings in the file, such as ``"euc_jp"``: that of the data that the tool
        was trained on. It keeps bytes and knows of no encoding.

    Returns
    -------
    L1CRF
        Fitted, with the file's templates as
        :class:`skstruct.features.patterns.Patterns`. Tokens are tuples of the columns
        that CRF++ reads, or str if the templates read the first only. ``classes_`` are
        in the order of the file. To go on learning, set ``warm_start=True`` before
        ``fit``.

    Raises
    ------
    ModelFileError
        If the file is damaged, or not such a model, or its strings are not in the
        encoding; a ``ValueError``, which names the file and the place.
    OSError
        If it cannot be read.

    Warns
    -----
    UserWarning
        If strings should be UTF-8 and are not.

    Notes
    -----
    Weights of text are rounded to single precision, as in the binary file. CRF++ adds
    the weights of a token in single precision too, which here are added in double
    precision: scores differ by about 1e-7 of their size. The cost factor of the file is
    not used by the tool either.
    """
    file = read_source(source, encoding)
    return (_load_text if file.data.startswith(TEXT_START) else _load_binary)(file)


def _load_binary(file: ForeignBytes) -> L1CRF:
    file.require(len(file.data) >= HEADER, 0, "not a CRF++ model: it is too short")
    version, kind, _, n_weights, _, n_units = struct.unpack_from(_HEAD, file.data)
    file.require(
        version // 100 == 1, 0, f"not a CRF++ model of version 100: found {version}"
    )
    file.require(kind == 0, 4, f"expected the type 0, found {kind}")
    labels, at = _strings(file, HEADER, "labels")
    lines, at = _strings(file, at, "templates")
    units = file.array(at, n_units // UNIT.itemsize, UNIT, "the double array")
    end = at + n_units + 4 * n_weights
    fits = end == len(file.data) and n_units % UNIT.itemsize == 0
    file.require(fits, 16, f"the parts end at byte {end}, the file at {len(file.data)}")
    weights = file.array(at + n_units, n_weights, "<f4", "the weights").astype(
        np.float64
    )
    return _crf_of(file, labels, lines, read_keys(file, at, units), weights)


def _strings(file: ForeignBytes, at: int, what: str) -> tuple[list[bytes], int]:
    """Read strings that end in NUL, padded by more; return them, and the byte
    behind.
    """
    size = int(file.array(at, 1, "<u4", what)[0])
    end = at + 4 + size
    file.require(
        end <= len(file.data), at, f"{size} bytes of {what} are more than the file has"
    )
    raw = file.data[at + 4 : end]
    file.require(
        raw.endswith(b"\0") or not raw, end - 1, f"no NUL at the end of the {what}"
    )
    return [part for part in raw.split(b"\0") if part], end


def _load_text(file: ForeignBytes) -> L1CRF:
    file.require(
        file.data.endswith(b"\n"),
        len(file.data),
        "no line feed at its end: it is cut off",
    )
    file.match(rb"version: 1\d\d\n", "version 100")
    file.match(rb"cost-factor: .*\n", "a cost factor")
    n_weights = int(file.match(rb"maxid: (\d{1,10})\n", "a number of maxid")[1])
    file.match(rb"xsize: \d{1,10}\n", "a number of xsize")
    labels, lines = (
        file.match(rb"(?ms)\n(.*?)^(?=\n)", "an empty line before the {}", what)[
            1
        ].split(b"\n")[:-1]
        for what in ("labels", "templates")
    )
    file.match(b"\n", "an empty line before the keys")
    keys = []
    weights = []
    while not file.data.startswith(b"\n", file.at):
        number, key = file.match(_KEY, "a number and a key").groups()
        keys.append((key, int(number)))
    file.at += 1
    found = file.data.count(b"\n", file.at)
    file.require(
        found == n_weights, file.at, f"expected {n_weights} weights, found {found}"
    )
    for line in file.data[file.at :].split(b"\n")[:-1]:
        try:
            weights.append(float(line))
        except ValueError:
            file.expected("a weight")
        file.at += len(line) + 1
    with np.errstate(over="ignore"):
        single = np.array(weights).astype(np.float32).astype(np.float64)
    return _crf_of(file, labels, lines, keys, single)


def _crf_of(
    file: ForeignBytes,
    spelled: list[bytes],
    lines: list[bytes],
    keys: list[tuple[bytes, int]],
    weights: np.ndarray,
) -> L1CRF:
    """Return the fitted :class:`L1CRF` of what both kinds of file hold."""
    labels = labels_in_order(list(map(file.text, spelled)), file.name)
    patterns = patterns_of(file, lines, CRFPP)
    L = len(labels)
    if not np.isfinite(weights).all():
        raise ModelFileError(
            f"{file.name}: weight {int(np.argmin(np.isfinite(weights)))} is not finite"
        )
    if len({key for key, _ in keys}) < len(keys):
        raise ModelFileError(f"{file.name}: a key occurs twice")
    nodes: list[tuple[bytes, int]] = []
    edges: list[tuple[bytes, int]] = []
    end = 0
    for key, number in sorted(keys, key=lambda pair: pair[1]):
        size, mine = (L, nodes) if key[:1] == b"U" else (L * L, edges)
        if key[:1] not in (b"U", b"B") or number < end or number + size > weights.size:
            place = f"{file.name}: the key {as_text(key)!r:.60} has the number {number}"
            raise ModelFileError(
                f"{place}, which does not fit {weights.size} weights of {L} labels"
            )
        end = number + size
        mine.append((key, number))
    index = np.arange(weights.size)
    return pattern_crf(file, patterns, labels, nodes, edges, index, weights)


# --------------------------------------------------------------------------------------
# Writing
# --------------------------------------------------------------------------------------
def save_crfpp(model: object, path: Path, text: bool = False) -> None:
    """Write a fitted tagger as a model of CRF++.

    Parameters
    ----------
    model : L1CRF, StructuredPerceptron or another chain tagger
        With templates that read tokens, ``%x``, no more than 8 rows away; also an
        average or a mixture.
    path : str or os.PathLike
        Written whole or not at all; what was there before is replaced.
    text : bool, default=False
        Write the text that ``crf_learn -t`` writes, with weights in double precision,
        instead of the binary file, in which they have single precision.

    Raises
    ------
    TypeError
        If it is no chain tagger.
    ValueError
        If the format has no place for a part of the model: ``order=2``, ready-made
        features, functions of tokens, white space in tokens, labels that are not str,
        dense rows of numbers; in the binary file features of more than 4,096 bytes. The
        message says which.
    OSError
        If the file cannot be written.

    Notes
    -----
    What constraints forbid gets the weight -10000; labels that must not be the first or
    the last by templates that read one row before and behind.
    """
    patterns, named = keyed_model(model, CRFPP)
    write_whole(
        path, (_text if text else _binary)(patterns, named.labels, *_weights(named))
    )


def _weights(named: NamedModel) -> tuple[list[tuple[bytes, int]], np.ndarray]:
    """Return (keys with the numbers of their first weights, sorted; all weights)."""
    blocks = np.zeros((len(named.names), len(named.labels)))
    blocks[named.row, named.column] = named.weight
    block_of = dict(zip(map(as_bytes, named.names), blocks))
    block_of.update(
        (as_bytes(name), block.ravel()) for name, block in named.transitions.items()
    )
    keys = sorted(block_of)
    first = np.cumsum([0, *(block_of[key].size for key in keys)]).tolist()
    if first[-1] >= 2**31:
        refuse("CRF++", f"more than {2**31 - 1} weights; the model has {first[-1]}")
    return list(zip(keys, first)), np.concatenate(
        [np.zeros(0), *(block_of[key] for key in keys)]
    )


def _binary(
    patterns: Patterns,
    labels: list[str],
    keys: list[tuple[bytes, int]],
    weights: np.ndarray,
) -> bytes:
    single = weights.astype("<f4")
    if not np.isfinite(single).all():
        refuse("CRF++", "weights beyond single precision")
    units = build(keys)
    _check_size([key for key, _ in keys], units)
    names = b"".join(as_bytes(label) + b"\0" for label in labels)
    lines = b"".join(as_bytes(line) + b"\0" for line in _ordered(patterns))
    lines += bytes(-(len(names) + len(lines)) % 4)
    return b"".join((
        struct.pack(_HEAD, VERSION, 0, 1.0, weights.shape[0], patterns.n_columns, units.nbytes),
        struct.pack("<I", len(names)), names, struct.pack("<I", len(lines)), lines,
        units.tobytes(), single.tobytes(),
    ))  # fmt: skip


def _check_size(keys: list[bytes], units: np.ndarray) -> None:
    """Raise if `load_crfpp` would refuse the keys, as those of a file made to exhaust
    memory.
    """
    longest = max(keys, key=len, default=b"")
    wrong = None
    if len(longest) > LONGEST:
        shown = longest[:40].decode(errors="replace")
        wrong = f"a feature has {len(longest):,} bytes, more than {LONGEST:,}: {shown!r} ..."
    elif sum(map(len, keys)) > MOST_TIMES * units.nbytes:
        wrong = f"its features are too long: together more than {MOST_TIMES} times as long as their index"
    if wrong is not None:
        raise ValueError(
            f"the model cannot be written as a binary file of CRF++: {wrong}; as text it can"
        )


def _text(
    patterns: Patterns,
    labels: list[str],
    keys: list[tuple[bytes, int]],
    weights: np.ndarray,
) -> bytes:
    head = f"version: {VERSION}\ncost-factor: 1\nmaxid: {weights.shape[0]}\nxsize: {patterns.n_columns}\n"
    parts = [
        head.encode(), *map(as_bytes, labels), b"", *map(as_bytes, _ordered(patterns)), b"",
        *(b"%d %s" % (number, key) for key, number in keys), b"",
        *(b"%.16f" % weight for weight in weights.tolist()), b"",
    ]  # fmt: skip
    return b"\n".join(parts)


def _ordered(patterns: Patterns) -> list[str]:
    """Return the lines, those of labels first."""
    return sorted(patterns.lines, key=lambda line: line.startswith("B"))
