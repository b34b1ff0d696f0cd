"""Models of CRFsuite; what is written is byte for byte what the tool writes.

A file has features (attribute, label, weight) and (label, label, weight), a database of
labels, one of attributes, and the lists of features of each label and each attribute,
by which the tool finds them. The attributes are what items of ``python-crfsuite`` are
made of: the same names that ``features.bag_encoder`` makes of dictionaries, so that the
model becomes an ordinary one over ready-made features. The numbers of the labels are
kept, since the smallest of equally good labels wins.

References
----------
N. Okazaki, "CRFsuite: a fast implementation of Conditional Random Fields (CRFs)", 2007.
"""

from __future__ import annotations

import os
import struct
import warnings
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from .._core.final_weights import LARGEST_WEIGHT
from .._crf.l1crf import L1CRF, ready_crf
from .._crf.solver.solve import SparseWeights
from .._data.places import describe, ranges
from .._data.types import Path
from .._saving.atomic import write_whole
from .._saving.container import ModelFileError
from ..features.bag_encoder import BagEncoder
from .cqdb import read_strings, string_database
from .foreign import (
    MOST_LABELS,
    canonical,
    chain_model,
    encoded,
    labels_in_order,
    named_model,
    read_source,
    refuse,
)
from .pickles import crf_in_pickle, unpacked

if TYPE_CHECKING:
    from .foreign import ForeignBytes, NamedModel


MAGIC = b"lCRF"
VERSION = 100
FEATURE = np.dtype([("type", "<u4"), ("src", "<u4"), ("dst", "<u4"), ("weight", "<f8")])
"""A feature: its type and source (0 and an attribute, or 1 and a label), its target
label, its weight.
"""

STATE = 0
TRANSITION = 1
HEADER_SIZE = 48
HEADER = (
    "magic", "size", "type", "version", "num_features", "num_labels", "num_attrs",
    "off_features", "off_labels", "off_attrs", "off_labelrefs", "off_attrrefs",
)  # fmt: skip
ALL_PAIRS = {
    (False, False): False, (True, False): "states", (False, True): "transitions", (True, True): True,
}  # fmt: skip
"""Our ``all_pairs`` by CRFsuite's options for weights of all pairs of attribute and
label, and of labels.
"""

CHUNK_HEADER = 12
"""Bytes of a tag, a size and a count."""


def load_crfsuite(source: Any, encoding: str = "utf-8") -> L1CRF:
    """Read a model of CRFsuite, ``python-crfsuite`` or ``sklearn-crfsuite``.

    Parameters
    ----------
    source : str, os.PathLike, bytes or sklearn_crfsuite.CRF
        A model file or its bytes; a pickle of a ``sklearn_crfsuite.CRF`` or its bytes,
        alone or inside other objects, as ``pickle`` or ``joblib`` write it, compressed
        or not; or a fitted ``CRF`` itself. Of a pickle nothing is imported, called or
        executed; of a search the best estimator is read.
    encoding : str, default="utf-8"
        Of the strings in the file, such as ``"euc_jp"``: that of the data that the tool
        was trained on. It keeps bytes and knows of no encoding.

    Returns
    -------
    L1CRF
        Fitted. It predicts what the tool does, from the same items (dicts of features
        or lists of str). ``classes_`` are in the order of the file. Of a ``CRF``
        trained by ``lbfgs`` it has ``c1``, ``c2`` and ``all_pairs``. To go on learning,
        set ``warm_start=True`` before ``fit``.

    Raises
    ------
    ModelFileError
        If the file is damaged, or not such a model, or its strings are not in the
        encoding; a ``ValueError``, which names the file and the byte.
    OSError
        If it cannot be read.

    Warns
    -----
    UserWarning
        If strings should be UTF-8 and are not.

    Examples
    --------
    >>> import os, tempfile
    >>> from skstruct import L1CRF
    >>> from skstruct.interchange import load_crfsuite, save_crfsuite
    >>> X = [[{"word": "the"}, {"word": "dog"}], [{"word": "a"}, {"word": "cat"}]]
    >>> crf = L1CRF(c1=0.01, random_state=0).fit(X, [["D", "N"], ["D", "N"]])
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "model.crfsuite")
    >>> save_crfsuite(crf, path)
    >>> load_crfsuite(path).predict([[{"word": "a"}, {"word": "dog"}]])
    [['D', 'N']]
    >>> folder.cleanup()
    """
    file, parameters = _file_of(source)
    file.encoding = canonical(encoding)
    contents = _contents(file)
    file.warn_of_bytes([*contents.labels, *contents.attributes])
    return _crf_of(file, contents, parameters)


def _file_of(source: Any) -> tuple[ForeignBytes, dict[str, Any]]:
    """Return (model file, parameters of :class:`L1CRF`) of what :func:`load_crfsuite`
    takes.
    """
    if hasattr(source, "modelfile"):
        path = getattr(source.modelfile, "name", None)
        if not path:
            raise ModelFileError("the CRF is not fitted")
        return read_source(path), _parameters(vars(source))
    file = unpacked(read_source(source))
    if file.data.startswith(MAGIC):
        return file, {}
    file.require(file.data, 0, "the file is empty")
    model, found = crf_in_pickle(file)
    return model, _parameters(found)


def _parameters(crf: dict[str, Any]) -> dict[str, Any]:
    """Return what :class:`L1CRF` calls the parameters of a ``sklearn_crfsuite.CRF``, as
    far as it has them.
    """
    if crf.get("algorithm", "lbfgs") not in (None, "lbfgs"):
        return {}
    found: dict[str, Any] = {}
    for name, default in (("c1", 0.0), ("c2", 1.0)):
        value = crf.get(name)
        value = default if value is None else value
        if isinstance(value, (int, float)) and 0 <= value < float("inf"):
            found[name] = float(value)
            continue
        usual = getattr(L1CRF(), name)
        warnings.warn(
            f"{name} of the CRF is {describe(value)}; the model has {name}={usual}, "
            "which counts where it is trained on",
            UserWarning,
            stacklevel=4,
        )
    states, transitions = (
        crf.get(f"all_possible_{kind}") is True for kind in ("states", "transitions")
    )
    found["all_pairs"] = ALL_PAIRS[states, transitions]
    return found


class CRFsuiteContents(NamedTuple):
    """The content of a model file."""

    header: dict  # HEADER
    labels: list
    attributes: list  # in their order; those whose weights are all 0 too
    features: np.ndarray  # of FEATURE


def crfsuite_contents(source: Any) -> tuple[CRFsuiteContents, L1CRF | None]:
    """Return the contents of a model file, and its :class:`L1CRF`, None if it was
    trained on nothing.

    Parameters and errors are those of :func:`load_crfsuite`.
    """
    file, parameters = _file_of(source)
    contents = _contents(file)
    return contents, _crf_of(file, contents, parameters) if contents.labels else None


def _contents(file: ForeignBytes) -> CRFsuiteContents:
    header = _header(file)
    labels = read_strings(file, header["off_labels"], header["num_labels"], "labels")
    attributes = read_strings(
        file, header["off_attrs"], header["num_attrs"], "attributes"
    )
    return CRFsuiteContents(
        header, labels, attributes, _features(file, header["off_features"])
    )


def _crf_of(
    file: ForeignBytes, contents: CRFsuiteContents, parameters: dict[str, Any]
) -> L1CRF:
    """Return the :class:`L1CRF` of a model file, with parameters."""
    header, labels, attributes, features = contents
    known = labels_in_order(labels, file.name)
    L = len(labels)
    weights = []
    at = (
        header["off_features"]
        + CHUNK_HEADER
        + FEATURE.itemsize * np.arange(features.shape[0])
    )
    file.require_all(features["dst"] < L, at, f"a feature of a label above {L - 1}")
    file.require_all(np.isfinite(features["weight"]), at, "a weight that is not finite")
    small = np.abs(features["weight"]) <= LARGEST_WEIGHT
    file.require_all(
        small,
        at,
        f"a weight above {LARGEST_WEIGHT:g} in size: scores would be no numbers",
    )
    parts = (
        (TRANSITION, b"LFRF", "off_labelrefs", L),
        (STATE, b"AFRF", "off_attrrefs", len(attributes)),
    )
    for kind, tag, lists, n in parts:
        mine = np.flatnonzero(features["type"] == kind)
        source = features["src"][mine].astype(np.int64)
        file.require_all(
            source < n, at[mine], f"a feature whose source is above {n - 1}"
        )
        _check_lists(file, header[lists], tag, n, mine, source)
        keys = source * L + features["dst"][mine]
        is_first = np.zeros(mine.size, np.bool_)
        is_first[np.unique(keys, return_index=True)[1]] = True
        file.require_all(is_first, at[mine], "a feature that occurs before")
        weights.append(
            SparseWeights.of((n, L), keys, features["weight"][mine].astype(np.float64))
        )
    encoder = BagEncoder.of_names(attributes)
    if len(encoder.nodes.ids) < len(attributes):
        file.fail(header["off_attrs"], "an attribute occurs twice")
    transitions, states = weights
    return ready_crf(encoder, known, states, transitions, **parameters)


def _header(file: ForeignBytes) -> dict[str, Any]:
    """Return the numbers of the header, by their names in CRFsuite's own dump."""
    file.tag(0, MAGIC)
    head = file.array(4, 11, "<u4", "the header").tolist()
    file.tag(8, b"FOMC")
    file.require(head[2] == VERSION, 12, f"expected version {VERSION}, found {head[2]}")
    size = head[0]
    n_labels = head[4]
    n = len(file.data)
    file.require(
        size <= n, 4, f"the file has {n} bytes, but says {size}: it is cut off"
    )
    file.require(
        n_labels <= MOST_LABELS,
        20,
        f"{n_labels} labels; at most {MOST_LABELS} are read",
    )
    for k, at in enumerate(head[6:]):
        ok = HEADER_SIZE <= at <= n - CHUNK_HEADER
        file.require(
            ok, 28 + 4 * k, f"the offset {at} is outside of the {n} bytes of the file"
        )
    return dict(zip(HEADER, ("lCRF", size, "FOMC", *head[2:])))


def _chunk(file: ForeignBytes, at: int, tag: bytes) -> tuple[int, int]:
    """Return the count of a chunk, and its end."""
    file.tag(at, tag)
    size, n = file.array(at + 4, 2, "<u4", tag.decode()).tolist()
    ok = CHUNK_HEADER <= size <= len(file.data) - at
    file.require(ok, at + 4, f"{tag.decode()} of {size} bytes does not fit in")
    return n, at + size


def _features(file: ForeignBytes, at: int) -> np.ndarray:
    n, end = _chunk(file, at, b"FEAT")
    size = CHUNK_HEADER + n * FEATURE.itemsize
    file.require(
        at + size == end, at + 4, f"{n} features take {size} bytes, not {end - at}"
    )
    return file.array(at + CHUNK_HEADER, n, FEATURE, "features")


def _check_lists(
    file: ForeignBytes,
    at: int,
    tag: bytes,
    n: int,
    mine: np.ndarray,
    source: np.ndarray,
) -> None:
    """Raise unless list s holds the features with the source s, each once; ``mine`` are
    those of a type.

    The tool goes by these lists; where they say the same as the features, these are all
    that is needed.
    """
    what = "labels" if tag == b"LFRF" else "attributes"
    found, end = _chunk(file, at, tag)
    # Two more of labels: places for a start and an end that no version has used.
    file.require(
        n <= found <= n + 2, at + 8, f"expected lists of {n} {what}, found {found}"
    )
    start = file.array(at + CHUNK_HEADER, found, "<u4", f"the lists of {what}")[
        :n
    ].astype(np.int64)
    within = (
        (start >= at + CHUNK_HEADER + 4 * found)
        & (start <= end - 4)
        & (start % 4 == at % 4)
    )
    places = at + CHUNK_HEADER + 4 * np.arange(n)
    file.require_all(
        within,
        places,
        f"of the lists of {what}, number {{}} stands outside of its part",
    )
    words = file.array(at, (end - at) // 4, "<u4", tag.decode())
    first = (start - at) // 4
    size = words[first].astype(np.int64)
    wrong = f"of the lists of {what}, one does not hold the features of its own"
    right = (size == np.bincount(source, minlength=n)) & (start + 4 + 4 * size <= end)
    file.require_all(right, start, wrong)
    member = words[ranges(first + 1, size)[1]]
    owner = np.repeat(np.arange(n), size)
    right = (
        member[np.lexsort((member, owner))] == mine[np.argsort(source, kind="stable")]
    )
    file.require_all(right, start[owner], wrong)


# --------------------------------------------------------------------------------------
# Writing
# --------------------------------------------------------------------------------------
_LIMIT = 2**32
"""Offsets in a file have four bytes."""


def save_crfsuite(model: object, path: Path | BinaryIO) -> None:
    """Write a fitted tagger as a model of CRFsuite, for ``python-crfsuite`` and
    ``sklearn-crfsuite``.

    Parameters
    ----------
    model : L1CRF, StructuredPerceptron or another chain tagger
        Also an average or a mixture of such.
    path : str, os.PathLike or file
        A file is written whole or not at all; what was there before is replaced. Or an
        open binary file, such as ``io.BytesIO()``.

    Raises
    ------
    TypeError
        If it is no chain tagger.
    ValueError
        If the format has no place for a part of the model: ``order=2``, transitions
        conditioned on the input, constraints of the first or the last label, labels
        that are not str, features of one name, dense rows of numbers. The message says
        which.
    OSError
        If the file cannot be written.

    Notes
    -----
    The attributes are the names of the features. Of a model over dicts and lists the
    tool makes them from the same items; of a model with templates they are expanded
    templates such as ``U05:the/dog``, which :func:`skstruct.inspection.features_of`
    lists. Transitions that constraints forbid get the weight -10000. Weights that are 0
    are left out.
    """
    data = crfsuite_bytes(crfsuite_model(model))
    if isinstance(path, (str, os.PathLike)):
        write_whole(path, data)
    else:
        path.write(data)


def crfsuite_model(model: Any) -> NamedModel:
    """Return the :class:`.NamedModel` of a fitted tagger, if the format can express
    it.
    """
    named = named_model(chain_model(model, "CRFsuite"), "CRFsuite")
    if len(named.transitions) > 1:
        refuse("CRFsuite", "transitions conditioned on the input")
    if not (named.start.all() and named.end.all()):
        refuse("CRFsuite", "constraints of the first or the last label")
    return named


def crfsuite_bytes(named: NamedModel) -> bytes:
    """Return the model file of a :class:`NamedModel`."""
    n_labels = len(named.labels)
    n_attributes = len(named.names)
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
    out += struct.pack(
        "<4sII", b"FEAT", CHUNK_HEADER + features.nbytes, features.shape[0]
    )
    out += features.tobytes()
    for strings, what in ((named.labels, "label"), (named.names, "name of a feature")):
        offsets.append(len(out))
        out += string_database(encoded(strings, what, "CRFsuite"))
    lists = (b"LFRF", before, n_states, n_labels), (b"AFRF", named.row, 0, n_attributes)
    for tag, owner, first, n in lists:
        out += bytes(-len(out) % 4)
        offsets.append(len(out))
        out += _lists(tag, owner, first, n, len(out))
    if len(out) >= _LIMIT:
        refuse("CRFsuite", f"files above {_LIMIT} bytes; this one has {len(out)}")
    header = MAGIC, len(out), b"FOMC", VERSION, 0, n_labels, n_attributes, *offsets
    struct.pack_into("<4sI4s4I5I", out, 0, *header)
    return bytes(out)


def _lists(tag: bytes, owner: np.ndarray, first: int, n: int, at: int) -> bytes:
    """Return the lists of the features of n labels or attributes; ``owner`` is
    ascending.
    """
    spare = 2 if tag == b"LFRF" else 0  # of a start and an end that no version has used
    size = np.bincount(owner, minlength=n)
    begins = at + CHUNK_HEADER + 4 * (n + spare + np.cumsum(size + 1) - size - 1)
    lists = np.insert(
        first + np.arange(owner.size), np.cumsum(size) - size, size
    )  # each behind its length
    data = (
        np.concatenate([begins, np.zeros(spare, np.int64), lists])
        .astype("<u4")
        .tobytes()
    )
    return struct.pack("<4sII", tag, CHUNK_HEADER + len(data), n + spare) + data
