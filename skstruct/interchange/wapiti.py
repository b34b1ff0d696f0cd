"""Models of Wapiti: a text file whose strings have their length in front.

References
----------
T. Lavergne, O. Cappé, F. Yvon (2010). Practical very large scale CRFs. ACL.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.final_weights import LARGEST_WEIGHT
from .._crf.l1crf import L1CRF, ready_crf
from .._crf.solver.solve import SparseWeights
from .._data.types import Path
from .._saving.atomic import write_whole
from .._saving.container import ModelFileError
from ..features.bag_encoder import BagEncoder
from ..features.patterns import WAPITI
from .foreign import as_bytes, as_text, labels_in_order, read_source
from .pattern_models import keyed_model, label_weights, pattern_crf, patterns_of

if TYPE_CHECKING:
    from ..features.patterns import Patterns
    from .foreign import ForeignBytes, NamedModel


MAGIC = b"#mdl#"
_LENGTH = re.compile(rb"([1-9]\d{0,9}):")
_BEHIND = re.compile(rb",\r?\n")
_WEIGHT = re.compile(rb"(\d{1,15})=([^\r\n]*)\r?\n")


def load_wapiti(source: Any, encoding: str = "utf-8") -> L1CRF:
    """Read a model of Wapiti.

    Parameters
    ----------
    source : str, os.PathLike or bytes
        A model file, or its bytes.
    encoding : str, default="utf-8"
        Of the strings in the file, such as ``"euc_jp"``: that of the data that the tool
        was trained on. It keeps bytes and knows of no encoding.
        Patterns with ``%t`` or ``%m`` match bytes, and are read as UTF-8 only.

    Returns
    -------
    L1CRF
        Fitted, with the file's patterns as
        :class:`skstruct.features.patterns.Patterns`. Tokens are tuples of the columns
        that Wapiti reads, or str if the patterns read the first only. ``classes_`` are
        in the order of the file. Of a model without patterns tokens are lists of
        observations. To go on learning, set ``warm_start=True`` before ``fit``.

    Raises
    ------
    ModelFileError
        If the file is damaged, or not such a model, or a maximum entropy Markov model,
        which is no CRF, or its strings are not in the encoding; a ``ValueError``, which
        names the file and the place.
    OSError
        If it cannot be read.

    Warns
    -----
    UserWarning
        If strings should be UTF-8 and are not.
    """
    file = read_source(source, encoding)
    kind, n_active = _numbers(file, rb"#mdl#(?:(\d{1,10})#)?(\d{1,10})")
    if kind not in (None, 0, 2):
        what = "a maximum entropy Markov model" if kind == 1 else f"of type {kind}"
        file.fail(0, f"the model is {what}; expected a CRF or maximum entropy")
    n_patterns, _, auto = _numbers(file, rb"#rdr#(\d{1,10})/(\d{1,10})(?:/(\d{1,10}))?")
    lines = _strings(file, n_patterns, "patterns")
    spelled = _strings(file, _numbers(file, rb"#qrk#(\d{1,10})")[0], "labels")
    labels = labels_in_order(list(map(file.text, spelled)), file.name)
    at = file.at
    names = _strings(file, _numbers(file, rb"#qrk#(\d{1,10})")[0], "observations")
    file.require(len(set(names)) == len(names), at, "an observation occurs twice")
    at = file.at
    index, weight = _weights(file, n_active)
    nodes, edges, end = _layout(file, names, len(labels))
    highest = int(index.max(initial=-1))
    file.require(
        highest < end, at, f"the weight {highest} is above the {end} that there can be"
    )
    file.require(np.unique(index).size == index.size, at, "an index occurs twice")
    order = np.argsort(index)
    index = index[order]
    weight = weight[order]
    if lines:
        patterns = patterns_of(file, lines, WAPITI)
        return pattern_crf(file, patterns, labels, nodes, edges, index, weight)
    file.require(
        not edges,
        0,
        "observations of transitions in its data, without patterns: not supported",
    )
    # With the reader's third number the tool itself puts the u in front.
    read = [file.text(name[bool(auto) :]) for name, _ in nodes]
    file.warn_of_bytes([*labels.values, *read])
    encoder = BagEncoder.of_names(read)
    nothing = SparseWeights.of((len(labels),) * 2, np.zeros(0, np.int64), np.zeros(0))
    return ready_crf(
        encoder, labels, label_weights(nodes, len(labels), index, weight), nothing
    )


def _numbers(file: ForeignBytes, form: bytes) -> list[Any]:
    """Return the numbers in the next line; None for those that it lacks."""
    found = file.match(
        form + rb"\r?\n", "{} and numbers of a Wapiti model", form[:5].decode()
    )
    return [None if number is None else int(number) for number in found.groups()]


def _strings(file: ForeignBytes, n: int, what: str) -> list[bytes]:
    """Read so many strings: length, colon, bytes, comma, line feed."""
    out = []
    for k in range(n):
        size = int(
            file.match(_LENGTH, "the length of string {} of {} {}", k, n, what)[1]
        )
        out.append(file.data[file.at : file.at + size])
        file.at += size
        file.match(
            _BEHIND,
            "a comma behind the {} bytes of string {} of {} {}",
            size,
            k,
            n,
            what,
        )
    return out


def _weights(file: ForeignBytes, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Read so many lines ``index=weight``, up to the end of the file."""
    data = file.data
    index = []
    weight = []
    file.require(
        data.endswith(b"\n"), len(data), "no line feed at its end: it is cut off"
    )
    for _ in range(n):
        at = file.at
        found = file.match(_WEIGHT, "index=weight")
        index.append(int(found[1]))
        weight.append(_number(found[2]))
        if weight[-1] is None:
            file.at = at
            file.expected(
                f"index=weight, a number of at most {LARGEST_WEIGHT:g} in size"
            )
    file.require(file.at == len(data), file.at, f"more than {n} weights")
    return np.array(index, np.int64), np.array(weight)


def _number(raw: bytes) -> float | None:
    """Read a number that can be a weight, as C writes it with ``%la``, or None."""
    # A locale may write a comma.
    text = raw.replace(b",", b".").decode("ascii", "replace")
    try:
        value = float.fromhex(text) if "x" in text.lower() else float(text)
    except (ValueError, OverflowError):
        return None
    return value if abs(value) <= LARGEST_WEIGHT else None


def _layout(
    file: ForeignBytes, names: list[bytes], L: int
) -> tuple[list[tuple[bytes, int]], list[tuple[bytes, int]], int]:
    """Return ((name, first weight) of labels, of transitions, number of weights): one
    observation follows another.

    An observation of labels (``u``) has L weights, one of transitions (``b``) L * L,
    one of both (``*``) first the one and then the other.
    """
    nodes: list[tuple[bytes, int]] = []
    edges: list[tuple[bytes, int]] = []
    first = 0
    for name in names:
        if name[:1] not in (b"u", b"b", b"*"):
            wrong = f"{file.name}: the observation {as_text(name)!r:.60} starts with none of u, b and *"
            raise ModelFileError(wrong)
        for letters, size, found in ((b"u*", L, nodes), (b"b*", L * L, edges)):
            if name[0] in letters:
                found.append((name, first))
                first += size
    return nodes, edges, first


# --------------------------------------------------------------------------------------
# Writing
# --------------------------------------------------------------------------------------
def save_wapiti(model: object, path: Path) -> None:
    """Write a fitted tagger as a model of Wapiti.

    Parameters
    ----------
    model : L1CRF, StructuredPerceptron or another chain tagger
        With templates that read tokens, ``%x``; also an average or a mixture.
    path : str or os.PathLike
        Written whole or not at all; what was there before is replaced.

    Raises
    ------
    TypeError
        If it is no chain tagger.
    ValueError
        If the format has no place for a part of the model: ``order=2``, ready-made
        features, functions of tokens, white space in tokens, labels that are not str,
        dense rows of numbers. The message says which.
    OSError
        If the file cannot be written.

    Notes
    -----
    Features without weights are left out. Wapiti has one symbol for all that is five or
    more tokens before a sequence, or behind it; features that differ in these only need
    equal weights.
    """
    write_whole(path, _bytes_of(*keyed_model(model, WAPITI)))


def _bytes_of(patterns: Patterns, named: NamedModel) -> bytes:
    """Return the model file."""
    L = len(named.labels)
    rows: list[str] = []  # weights as text
    first = 0  # weights before the observation
    names = list(dict.fromkeys([*named.names, *named.transitions]))
    bounds = np.searchsorted(named.row, np.arange(len(names) + 1)).tolist()
    for name, a, b in zip(names, bounds, bounds[1:]):
        if name[0] in "u*":
            rows += _lines(first, named.column[a:b], named.weight[a:b])
            first += L
        if name[0] in "b*":
            block = named.transitions.get(name, np.zeros((L, L))).ravel()
            places = np.flatnonzero(block)
            rows += _lines(first, places, block[places])
            first += L * L
    lines = patterns.lines
    highest = patterns.n_columns - 1
    return b"".join((
        f"#mdl#2#{len(rows)}\n#rdr#{len(lines)}/{highest}/0\n".encode(), *map(_netstring, lines),
        f"#qrk#{L}\n".encode(), *map(_netstring, named.labels),
        f"#qrk#{len(names)}\n".encode(), *map(_netstring, names),
        "".join(rows).encode(),
    ))  # fmt: skip


def _netstring(string: str) -> bytes:
    raw = as_bytes(string)
    return b"%d:%s,\n" % (len(raw), raw)


def _lines(first: int, places: np.ndarray, weights: np.ndarray) -> list[str]:
    """Return the lines of the weights at some places behind ``first``."""
    return [
        f"{first + p}={_hexadecimal(w)}\n"
        for p, w in zip(places.tolist(), weights.tolist())
    ]


def _hexadecimal(weight: float) -> str:
    """Return a number as C writes it with ``%la``."""
    mantissa, _, exponent = weight.hex().partition("p")
    return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}p{exponent}"
