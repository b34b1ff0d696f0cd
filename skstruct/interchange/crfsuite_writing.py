"""Models of CRFsuite, written: byte for byte what the tool writes."""

import os
import struct
from typing import BinaryIO

import numpy as np

from ..data.types import Path
from ..saving.atomic import atomic_write
from .cqdb import string_database
from .crfsuite import CHUNK_HEADER, FEATURE, HEADER_SIZE, MAGIC, STATE, TRANSITION, VERSION
from .exporting import chain_model, named_model, refuse
from .reading import as_bytes

_LIMIT = 2**32
"""Offsets in a file have four bytes."""


def save_crfsuite(model: object, path: Path | BinaryIO) -> None:
    """Write a fitted tagger as a model of CRFsuite, for ``python-crfsuite`` and ``sklearn-crfsuite``.

    Parameters
    ----------
    model : L1CRF, StructuredPerceptron or another chain tagger
        Also an average or a mixture of such.
    path : str, os.PathLike or file
        A file is written whole or not at all; what was there before is replaced. Or an open binary file, such
        as ``io.BytesIO()``.

    Raises
    ------
    TypeError
        If it is no chain tagger.
    ValueError
        If the format has no place for a part of the model: ``order=2``, transitions conditioned on the input,
        constraints of the first or the last label, labels that are not str, features of one name, dense rows
        of numbers. The message says which.
    OSError
        If the file cannot be written.

    Notes
    -----
    The attributes are the names of the features. Of a model over dicts and lists the tool makes them from the
    same items; of a model with templates they are expanded templates such as ``U05:the/dog``, which
    :func:`skstruct.inspection.features_of` lists. Transitions that constraints forbid get the weight -10000.
    Weights that are 0 are left out.
    """
    data = crfsuite_bytes(crfsuite_model(model))
    if hasattr(path, "write"):
        path.write(data)
        return
    with atomic_write(os.fspath(path)) as file:
        file.write(data)


def crfsuite_model(model):
    """The :class:`.NamedModel` of a fitted tagger, if the format can express it."""
    inside = chain_model(model, "CRFsuite")
    named = named_model(inside, "CRFsuite")
    if len(named.transitions) > 1:
        refuse("CRFsuite", "transitions conditioned on the input")
    if not (named.start.all() and named.end.all()):
        refuse("CRFsuite", "constraints of the first or the last label")
    return named


def crfsuite_bytes(named):
    """The model file of a :class:`NamedModel`."""
    n_labels, n_attributes = len(named.labels), len(named.names)
    n_states = named.weight.shape[0]
    bigram = named.transitions[0]
    before, after = np.nonzero(bigram)
    features = np.empty(n_states + before.shape[0], FEATURE)
    features["type"] = np.repeat([STATE, TRANSITION], [n_states, before.shape[0]])
    features["src"] = np.concatenate([named.row, before])
    features["dst"] = np.concatenate([named.column, after])
    features["weight"] = np.concatenate([named.weight, bigram[before, after]])
    out = bytearray(HEADER_SIZE)
    offsets = [len(out)]
    out += struct.pack("<4sII", b"FEAT", CHUNK_HEADER + features.nbytes, features.shape[0])
    out += features.tobytes()
    for strings, what in ((named.labels, "label"), (named.names, "name of a feature")):
        offsets.append(len(out))
        out += string_database([_checked(string, what) for string in strings])
    for tag, owner, first, n in (
        (b"LFRF", before, n_states, n_labels),
        (b"AFRF", named.row, 0, n_attributes),
    ):
        out += bytes(-len(out) % 4)
        offsets.append(len(out))
        out += _lists(tag, owner, first, n, len(out))
    if len(out) >= _LIMIT:
        refuse("CRFsuite", f"files above {_LIMIT} bytes; this one has {len(out)}")
    struct.pack_into(
        "<4sI4s4I5I", out, 0, MAGIC, len(out), b"FOMC", VERSION, 0, n_labels, n_attributes, *offsets
    )
    return bytes(out)


def _checked(string, what):
    if "\0" in string:
        refuse("CRFsuite", f"a {what} with a NUL character: {string!r:.60}")
    try:
        return as_bytes(string)
    except UnicodeEncodeError:
        refuse("CRFsuite", f"a {what} that is no Unicode text: {string!r:.60}")


def _lists(tag, owner, first, n, at):
    """The lists of the features of n labels or attributes; ``owner`` is ascending."""
    spare = 2 if tag == b"LFRF" else 0  # of a start and an end that no version has used
    size = np.bincount(owner, minlength=n)
    begin = CHUNK_HEADER // 4 + n + spare + np.cumsum(size + 1) - size - 1  # in words from the tag
    words = np.zeros(CHUNK_HEADER // 4 + n + spare + n + owner.shape[0], np.int64)
    words[3 : 3 + n] = at + 4 * begin
    words[begin] = size
    place = np.arange(owner.shape[0]) - np.repeat(np.cumsum(size) - size, size) + np.repeat(begin + 1, size)
    words[place] = first + np.arange(owner.shape[0])
    words[1:3] = 4 * words.shape[0], n + spare
    if words.max() >= _LIMIT:
        refuse("CRFsuite", f"files above {_LIMIT} bytes")
    data = words.astype("<u4").tobytes()
    return tag + data[4:]
