"""Model files with wrong content: an error that says so, or a model that stays within
its arrays.
"""

import copy
import hashlib
import json
import os
import struct
import tempfile

import numpy as np

import skstruct
from skstruct import L1CRF, ShiftReduceParser, WordSegmenter, interchange
from skstruct._saving.container import ModelFileError, read_container, write_container

from .. import estimators, texts
from ..cases import scenario
from ..corpora import Corpus

OWN_FEATURES = {
    "str": ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "B"],
    "tuple": ["U0:%x[0,0]", "B", "B1:%x[0,1]"],
}
TOOLS = {
    "list": ("crfsuite",),
    "dict": ("crfsuite",),
    "str": ("crfpp", "wapiti"),
    "tuple": ("crfpp", "wapiti"),
}


def _used(model, X, more=None):
    """Call what runs kernels. Any error will do but those of accesses beyond an
    array.
    """
    calls = [
        lambda: model.predict(X),
        lambda: model.predict_kbest(X, 3),
        lambda: model.compress().predict(X),
    ]
    if hasattr(model, "predict_marginals"):
        calls.append(lambda: model.predict_marginals(X))
    if more is not None and hasattr(model, "partial_fit"):
        calls.append(lambda: model.partial_fit(*more))
    for call in calls:
        try:
            call()
        except (SystemError, IndexError):
            raise
        except Exception:
            pass  # who wrote such a file gets what it says


@scenario
def damaged_files_of_tools(draw):
    """Wrong bytes in a model of CRFsuite, CRF++ or Wapiti."""
    kind = draw.one(*TOOLS)
    corpus = Corpus(
        draw, kind, [f"L{k}" for k in range(draw.int(2, 5))], budget=60, partial=0.0
    )
    model = L1CRF(OWN_FEATURES.get(kind, "auto"), c1=0.01, max_iter=5).fit(
        corpus.X, corpus.y
    )
    tool = draw.one(*TOOLS[kind])
    draw.note(tool=tool)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        getattr(interchange, f"save_{tool}")(model, path)
        with open(path, "rb") as file:
            right = file.read()
    for _ in range(30):
        data = bytearray(right)
        for _ in range(draw.one(1, 1, 2, 5)):
            at = draw.int(0, min(len(data) - 1, draw.one(200, 10**9)))
            if draw.chance(0.5):
                data[at] = draw.one(
                    0, 1, 127, 255, data[at] ^ (1 << draw.int(0, 7)), draw.int(0, 255)
                )
            else:
                number = draw.one(0, 1, 2**31 - 1, 2**32 - 1, draw.int(0, 5000))
                data[at : at + 4] = number.to_bytes(4, "little")
        if draw.chance(0.1):
            del data[draw.int(0, len(data) - 1) :]
        try:
            found = getattr(interchange, f"load_{tool}")(bytes(data))
        except ModelFileError:
            continue
        _used(found, corpus.new[0])


STRANGE = (
    None,
    True,
    -1,
    0,
    1,
    7,
    2**40,
    0.5,
    -1e300,
    "",
    "x",
    "s0.lc.r s0.t",
    [],
    [1],
    {},
    {"$array": "x"},
)


def _places(node, at=()):
    """All places in nested JSON, as tuples of keys."""
    if isinstance(node, (dict, list)):
        for key in node if isinstance(node, dict) else range(len(node)):
            yield (*at, key)
            yield from _places(node[key], (*at, key))


def _change_header(draw, header):
    places = [
        place for place in _places(header["estimator"]) if place[0] != "parameters"
    ]
    *where, last = draw.one(*places)
    node = header["estimator"]
    for key in where:
        node = node[key]
    siblings = list(node.values()) if isinstance(node, dict) else node
    node[last] = copy.deepcopy(draw.one(*STRANGE, *siblings))
    return tuple(where), last


def _change_array(draw, arrays):
    name = draw.one(*arrays)
    array = arrays[name] = arrays[name].copy()
    if array.size == 0 or draw.chance(0.1):
        arrays[name] = (
            draw.one(array[:-1], np.concatenate([array, array]))
            if array.ndim
            else array[None]
        )
    elif array.dtype.kind == "b":
        array.flat[draw.int(0, array.size - 1)] ^= True
    elif array.dtype.kind == "f":
        array.flat[draw.int(0, array.size - 1)] = draw.one(
            np.nan, np.inf, -1e300, 1e300, 0.0
        )
    else:
        limits = np.iinfo(array.dtype)
        near = int(draw.one(*array.ravel()[:1000])) + draw.one(-1, 0, 1)
        value = draw.one(limits.min, limits.max, 0, 1, 2, 50, near)
        array.flat[draw.int(0, array.size - 1)] = min(
            max(value, limits.min), limits.max
        )
    return name


def _own_model(draw):
    """A fitted model of any structure, new input, and (X, y) to learn on with."""
    which = draw.one("tagger", "tagger", "crf", "words", "parser")
    if which == "words":
        X, y, _ = texts.texts(draw, 60)
        return (
            WordSegmenter(beam_size=4, max_iter=2, random_state=0).fit(X, y),
            X[:5],
            (X, y),
        )
    if which == "parser":
        X, y = texts.trees(draw, 60, draw.one(2, 4))
        templates, labeled = (
            draw.one("hs28", "rich", ["s0.t s1.t", "s0.w"]),
            draw.chance(0.6),
        )
        model = ShiftReduceParser(
            templates, beam_size=4, max_iter=2, labeled=labeled, random_state=0
        )
        return model.fit(X, y), X[:5], (X, y)
    corpus = Corpus(draw, most_labels=20, budget=80)
    model = estimators.plain_tagger(
        draw, corpus, *(("crf",) if which == "crf" else ("perceptron", "pa"))
    )
    return model.fit(corpus.X, corpus.y), corpus.new[0], (corpus.X, corpus.y)


@scenario
def damaged_files(draw):
    """Wrong numbers and words in our own files, under a right checksum."""
    model, X, more = _own_model(draw)
    if draw.chance(0.3):
        model = model.compress()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        model.save(path)
        header, arrays = read_container(path, kind="model")
        for _ in range(40):
            forged, changed = copy.deepcopy(header), dict(arrays)
            for _ in range(draw.one(1, 1, 2)):
                if draw.chance(0.4):
                    draw.note(changed=_change_header(draw, forged))
                else:
                    draw.note(changed=_change_array(draw, changed))
            write_container(path, forged, changed)
            try:
                again = skstruct.load(path)
            except ModelFileError:
                continue
            _used(again, X, more if draw.chance(0.3) else None)


def _redescribed(draw, data):
    """A container whose description of an array, or whose bytes, are others, under a
    right checksum.
    """
    (length,) = struct.unpack_from("<Q", data, 12)
    header, rest = (
        json.loads(data[20 : 20 + length]),
        bytearray(data[20 + length : -32]),
    )
    if draw.chance(0.5):
        description = draw.one(*header["arrays"])
        member = draw.one("held", "as", "steps", "zlib", "dtype", "shape")
        description[member] = draw.one(
            *(0, 1, 7, 64, 2**20, 2**40, True, None, [3], [2**20, 2**20]),
            *("int8", "uint16", "int32", "float64", "bool"),
        )
        draw.note(description=description)
    for _ in range(draw.one(0, 1, 2, 5) if rest else 0):
        rest[draw.int(0, len(rest) - 1)] = draw.int(0, 255)
    text = json.dumps(header).encode("ascii")
    text += b" " * (-(20 + len(text)) % 64)
    out = data[:12] + struct.pack("<Q", len(text)) + text + bytes(rest)
    return out + hashlib.sha256(out).digest()


@scenario
def damaged_containers(draw):
    """Wrong descriptions and bytes of stored arrays, under a right checksum."""
    model, X, more = _own_model(draw)
    if draw.chance(0.3):
        model = model.compress()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        model.save(path)
        with open(path, "rb") as file:
            right = file.read()
        for _ in range(40):
            with open(path, "wb") as file:
                file.write(_redescribed(draw, right))
            try:
                again = skstruct.load(path)
            except ModelFileError:
                continue
            _used(again, X, more if draw.chance(0.3) else None)
