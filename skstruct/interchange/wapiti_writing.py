"""Models of Wapiti, written."""

import os

import numpy as np

from ..data.types import Path
from ..features.patterns import WAPITI
from ..saving.atomic import atomic_write
from .exporting import chain_model
from .pattern_export import keyed_model
from .reading import as_bytes


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
        If the format has no place for a part of the model: ``order=2``, ready-made features, functions of
        tokens, white space in tokens, labels that are not str, dense rows of numbers. The message says which.
    OSError
        If the file cannot be written.

    Notes
    -----
    Features without weights are left out. Wapiti has one symbol for all that is five or more tokens before a
    sequence, or behind it; features that differ in these only need equal weights.
    """
    patterns, named = keyed_model(chain_model(model, "Wapiti"), WAPITI)
    with atomic_write(os.fspath(path)) as file:
        file.write(_bytes_of(patterns, named))


def _bytes_of(patterns, named):
    """The model file."""
    L = len(named.labels)
    bounds = np.searchsorted(named.row, np.arange(len(named.names) + 1)).tolist()
    transitions = dict(named.transitions)
    names, rows, first = [], [], 0  # observations; weights as text; weights before the observation
    for k, name in enumerate([*named.names, *transitions]):
        of_labels = k < len(named.names)
        if not of_labels and name not in transitions:
            continue  # written with the feature of labels of that name
        names.append(name)
        if of_labels:
            mine = slice(bounds[k], bounds[k + 1])
            rows += _weights(first, named.column[mine], named.weight[mine])
        first += L if name[0] in "u*" else 0
        if name[0] in "b*":
            block = transitions.pop(name, np.zeros((L, L))).ravel()
            places = np.flatnonzero(block)
            rows += _weights(first, places, block[places])
            first += L * L
    lines, highest = patterns.lines, patterns.n_columns - 1
    return b"".join((
        f"#mdl#2#{len(rows)}\n#rdr#{len(lines)}/{highest}/0\n".encode(), *map(_netstring, lines),
        f"#qrk#{L}\n".encode(), *map(_netstring, named.labels),
        f"#qrk#{len(names)}\n".encode(), *map(_netstring, names),
        "".join(rows).encode(),
    ))  # fmt: skip


def _netstring(string):
    raw = as_bytes(string)
    return b"%d:%s,\n" % (len(raw), raw)


def _weights(first, places, weights):
    """The lines of the weights at some places behind ``first``."""
    return [f"{first + p}={_hexadecimal(w)}\n" for p, w in zip(places.tolist(), weights.tolist())]


def _hexadecimal(weight):
    """A number as C writes it with ``%la``."""
    mantissa, _, exponent = weight.hex().partition("p")
    return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}p{exponent}"
