"""Pickled ``sklearn_crfsuite.CRF`` objects, read without running their code.

A pickle is a program that may import and call anything. Here every name it asks for is
answered by an inert object, which only notes what it is given; nothing is imported or
called. The bytes of the model file stand in the state of an inert ``FileResource``.
``joblib`` writes the contents of arrays between the instructions: they are passed over.
"""

from __future__ import annotations

import bz2
import lzma
import pickle
import re
import zlib
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .._saving.container import ModelFileError
from .foreign import ForeignBytes

MODEL_BYTES = "__FILE_RESOURCE_DATA__"
"""The key of the file of a ``FileResource`` in a pickle."""

_COMPRESSED = (
    (b"\x1f\x8b", "gzip", lambda most: zlib.decompressobj(31)),
    (b"BZh", "bz2", lambda most: bz2.BZ2Decompressor()),
    (b"\xfd7zXZ", "xz", lambda most: lzma.LZMADecompressor(memlimit=most)),
    (b"\x5d\x00", "lzma", lambda most: lzma.LZMADecompressor(memlimit=most)),
    (b"\x78", "zlib", lambda most: zlib.decompressobj()),
)
"""First bytes, name and decompressor of what ``joblib`` compresses with, by the memory
that it may take.
"""

_MOST_NAMED = 5
_MOST_STEPS = 8
"""The most CRFs that an error names, and the most steps to each of them."""

_MOST_DIMENSIONS = 64
"""The most dimensions of an array, as in numpy."""

_MOST_TIMES = 100
_SMALL = 2**26
"""A file may unpack to so many times its size, and so many bytes on top."""

_INSTRUCTIONS = 10
_FEW = 100_000
"""A pickle may have so many instructions for each byte of its file, and so many on top:
most leave an object of a hundred bytes.
"""


def unpacked(file: ForeignBytes) -> ForeignBytes:
    """Return the content of a compressed file; of any other the file itself."""
    for start, name, new in _COMPRESSED:
        if file.data.startswith(start):
            most = _SMALL + _MOST_TIMES * len(file.data)
            try:
                machine = new(most + 2**20)
                data = machine.decompress(file.data, most)
            except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError) as error:
                raise ModelFileError(
                    f"{file.name}: not a {name} file, or damaged: {error}"
                ) from None
            if not machine.eof:
                what = (
                    f"it unpacks to more than {most} bytes"
                    if len(data) >= most
                    else "it is cut off"
                )
                raise ModelFileError(f"{file.name}: a {name} file: {what}")
            return ForeignBytes(data, f"{file.name} (unpacked)", file.size)
    return file


def crf_in_pickle(file: ForeignBytes) -> tuple[ForeignBytes, dict[str, Any]]:
    """Return the model file within a pickle that has one fitted
    ``sklearn_crfsuite.CRF`` in it.

    Others may be there that are not fitted, as in a search. Of several that are fitted,
    the one inside a ``best_estimator_`` is meant.

    Parameters
    ----------
    file : ForeignBytes

    Returns
    -------
    model : ForeignBytes
    parameters : dict
        Of the CRF.
    """
    reader = _Reader(
        BytesIO(file.data), _Limited(_METHODS, _FEW + _INSTRUCTIONS * file.size)
    )
    try:
        root = reader.load()
    except (
        Exception
    ) as error:  # whatever an instruction runs into: all of it is the file's fault
        what = f"{type(error).__name__}: {error}"
        file.fail(
            reader.position(),
            f"neither a CRFsuite model nor a pickle, or damaged ({what:.200})",
        )
    states = [found.state for found in reader.found if isinstance(found.state, dict)]
    resources = [state for state in states if MODEL_BYTES in state]
    crfs = [state for state in states if "modelfile" in state]
    if not resources:
        raise ModelFileError(f"{file.name}: {_why_none(crfs, reader.found)}")
    resource = resources[0] if len(resources) == 1 else _best_of(resources, root, file)
    model = resource[MODEL_BYTES]
    if isinstance(model, str):  # of Python 2
        with suppress(UnicodeEncodeError):
            model = model.encode("latin1")
    if not isinstance(model, bytes):
        raise ModelFileError(
            f"{file.name}: the model in the pickle is not made of bytes"
        )
    owners = [
        crf for crf in crfs if getattr(crf["modelfile"], "state", None) is resource
    ]
    name = f"{file.name} (the model inside)"
    return ForeignBytes(model, name), owners[0] if owners else {}


def _best_of(
    resources: list[dict[str, Any]], root: Any, file: ForeignBytes
) -> dict[str, Any]:
    """Return the one of several model files that is inside a ``best_estimator_``.

    Raises if it is not clear which one is meant.
    """
    found = _places(root)
    places = [found[id(resource)] for resource in resources if id(resource) in found]
    best = [place for place in places if place.is_best]
    if len(best) == 1:
        return best[0].state
    names = [place.text() for place in places[:_MOST_NAMED]]
    names += ["..."] * (len(places) > _MOST_NAMED)
    listed = f": {', '.join(names)}" if names else ""
    raise ModelFileError(
        f"{file.name}: {len(resources)} CRFs are in the pickle{listed}; expected one that "
        "is fitted, or a search with its best_estimator_. Read the pickle in Python if you "
        "trust it, and give the CRF that is meant"
    )


class _Place(NamedTuple):
    """The place of an object in a pickle: a step from another place."""

    before: Any  # the other place, None at the object itself
    step: Any  # name of an attribute, or a key or number in brackets
    is_best: bool  # whether it is inside a best_estimator_
    state: Any = None  # of an inert object that stands here

    def text(self) -> str:
        """Return what to write behind the object to get there, from the last steps."""
        steps: list[Any] = []
        place = self
        while place.before is not None and len(steps) < _MOST_STEPS:
            is_name = isinstance(place.step, str)
            steps.append(
                f".{place.step:.40}" if is_name else f"[{place.step[0]!r:.40}]"
            )
            place = place.before
        cut = "..." if place.before is not None else ""
        path = "".join(reversed(steps)).removesuffix(".modelfile").lstrip(".")
        return cut + path or "the object itself"


def _places(root: Any) -> dict[int, _Place]:
    """Tell where each inert object stands first below the object of a pickle, by ``id``
    of its state.

    A hostile file may nest objects deeply: a place is one step, and only those of an
    error become text.
    """
    found: dict[Any, Any] = {}
    seen = set()
    left = [(_Place(None, "", False), root)]
    while left:
        place, value = left.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        inside = []
        if isinstance(value, _Inert) and isinstance(value.state, dict):
            found.setdefault(id(value.state), place._replace(state=value.state))
            inside = value.state.items()
        elif isinstance(value, dict):
            inside = [((key,), each) for key, each in value.items()]
        elif isinstance(value, (list, tuple)):
            inside = [((k,), each) for k, each in enumerate(value)]
        for step, each in reversed(inside):
            left.append(
                (_Place(place, step, place.is_best or step == "best_estimator_"), each)
            )
    return found


def _why_none(crfs: list[dict[str, Any]], found: list[_Inert]) -> str:
    own = next(
        (each.name[1] for each in found if each.name[0].startswith("skstruct.")), None
    )
    if not crfs and own is not None:
        return (
            f"the pickle holds a {own.rpartition('.')[2]:.80} of skstruct; pickles run code when they are "
            "read, so read it in Python if you trust it (joblib.load, pickle.load), and write the "
            "model by its save()"
        )
    if not crfs:
        return "no sklearn_crfsuite.CRF is in the pickle"
    state = getattr(crfs[0]["modelfile"], "state", None)
    path = state.get("name") if isinstance(state, dict) else None
    if isinstance(path, str):
        return f"the CRF in the pickle has its model in a file of its own, {path!r:.200}: load that"
    return "the CRF in the pickle is not fitted"


class _Inert:
    """A stand-in for an object of a pickle: its class's name, its arguments and its
    state.
    """

    __slots__ = ("arguments", "name", "state")

    def __init__(self, name: tuple[str, str], arguments: Any = ()) -> None:
        self.name = name
        self.arguments = arguments
        self.state = None

    def append(self, item: Any) -> None:
        """Take an item of a list, which is nothing."""

    extend = append


_SCALAR = {(f"numpy.{core}.multiarray", "scalar") for core in ("core", "_core")}
"""Functions that make a number of numpy, such as a parameter of a search over a
distribution.
"""


def _scalar(arguments: tuple[Any, ...]) -> Any:
    """Return the number that numpy makes of arguments; None of what is no number."""
    try:
        dtype, data = arguments
        code = re.fullmatch(r"[biuf]\d", dtype.arguments[0])
        order = dtype.state[1] if dtype.state else "="
        return np.frombuffer(data, f"{order}{code[0]}").item()  # type: ignore[index]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None


_ENCODE = object()
"""Stands for ``_codecs.encode``, with which protocols 0 to 2 write bytes."""


class _Limited(dict):
    """The functions of instructions, by code, with a limit on their number."""

    def __init__(self, dispatch: dict[int, Callable[..., None]], most: int) -> None:
        super().__init__(dispatch)
        self.most = self.left = most

    def __getitem__(self, code: int) -> Callable[..., None]:
        self.left -= 1
        if self.left < 0:
            raise pickle.UnpicklingError(
                f"more than {self.most} instructions in a file of this size"
            )
        return super().__getitem__(code)


_Unpickler: Any = pickle._Unpickler
"""The unpickler in Python, of which type checkers know half."""


class _Reader(_Unpickler):
    """An unpickler that imports and calls nothing.

    It is the one in Python: in the one in C the size of a table in memory is up to the
    file.
    """

    def __init__(self, stream: BytesIO, instructions: _Limited) -> None:
        super().__init__(stream, encoding="latin1")
        self._stream = stream
        self.dispatch = instructions
        self.found: list[Any] = []
        self._encoded: dict[Any, Any] = {}

    def position(self) -> int:
        """Return the byte that is read next."""
        return self._stream.tell()

    def get_extension(self, code: int) -> NoReturn:
        """Raise: what a code stands for is up to the process that reads."""
        raise pickle.UnpicklingError("an extension code")

    def find_class(self, module: str, name: str) -> Any:
        """Return the stand-in for a name."""
        return (
            _ENCODE
            if (module, name) == ("_codecs", "encode")
            else self._new((module, name))
        )

    def _new(self, name: tuple[str, str], arguments: Any = ()) -> _Inert:
        self.found.append(_Inert(name, arguments))
        return self.found[-1]

    def _made(self, called: Any, arguments: Any) -> Any:
        """Return what an instruction makes that would call something."""
        if called is _ENCODE:
            text, encoding = arguments
            if not isinstance(text, str) or encoding != "latin1":
                raise pickle.UnpicklingError("expected text in latin1")
            if (
                text not in self._encoded
            ):  # once, however often a small file asks for it
                self._encoded[text] = text.encode("latin1")
            return self._encoded[text]
        if not isinstance(called, _Inert):
            raise pickle.UnpicklingError(f"a {type(called).__name__} is called")
        if (
            type(arguments) is not tuple
        ):  # a copy of a long text at each call would fill the memory
            raise pickle.UnpicklingError(
                f"a {type(arguments).__name__} is given as arguments"
            )
        if called.name in _SCALAR:
            return _scalar(arguments)
        return self._new(called.name, arguments)

    def _instantiate(self, klass: Any, arguments: Any) -> None:
        self.append(self._made(klass, tuple(arguments)))

    # -- instructions, in place of those of the base class -----------------------------
    def load_reduce(self) -> None:
        arguments = self.stack.pop()
        self.stack[-1] = self._made(self.stack[-1], arguments)

    load_newobj = load_reduce

    def load_newobj_ex(self) -> None:
        self.stack.pop()  # arguments by name
        self.load_reduce()

    def load_build(self) -> None:
        state = self.stack.pop()
        target = self.stack[-1]
        if not isinstance(target, _Inert):
            raise pickle.UnpicklingError(
                f"a state is given to a {type(target).__name__}"
            )
        target.state = state
        if target.name == ("joblib.numpy_pickle", "NumpyArrayWrapper") and isinstance(
            state, dict
        ):
            self._pass_over_array(state)

    def _pass_over_array(self, state: Any) -> None:
        """Pass over the bytes of an array in the stream, or over a pickle of its own if
        they
        are objects.
        """
        shape = state.get("shape")
        dtype = state.get("dtype")
        code = (
            dtype.arguments[0]
            if isinstance(dtype, _Inert) and dtype.arguments
            else None
        )
        found = (
            re.fullmatch(r"[<>|=]?([a-zA-Z])(\d{0,9})", code)
            if isinstance(code, str)
            else None
        )
        ok = isinstance(shape, tuple) and len(shape) <= _MOST_DIMENSIONS
        if found is None or not ok or not all(type(n) is int and n >= 0 for n in shape):
            raise pickle.UnpicklingError("an array of an unknown type")
        if found[1] == "O":
            inner = _Reader(self._stream, self.dispatch)
            inner.load()
            self.found += inner.found
            return
        if state.get("numpy_array_alignment_bytes") is not None:
            padding = self._stream.read(1)
            self._stream.seek(padding[0] if padding else 0, 1)
        size = 0 if 0 in shape else int(found[2] or 1) * (4 if found[1] == "U" else 1)
        left = len(self._stream.getbuffer()) - self._stream.tell()
        for n in (*shape, 1):
            if (
                size > left
            ):  # looked at before each product: a number may have as many digits as the file
                raise pickle.UnpicklingError("an array is cut off")
            size *= n
        self._stream.seek(size, 1)

    # Keys and elements that are tuples of tuples may take for ever to hash; none of
    # them matters.
    def load_dict(self) -> None:
        items = self.pop_mark()
        self.append({})
        self._set(items)

    def load_setitem(self) -> None:
        value = self.stack.pop()
        key = self.stack.pop()
        self._set([key, value])

    def load_setitems(self) -> None:
        self._set(self.pop_mark())

    def _set(self, items: Any) -> None:
        target = self.stack[-1]
        if type(target) is dict:
            target.update(
                (k, v) for k, v in zip(items[::2], items[1::2]) if type(k) is str
            )
        elif not isinstance(target, _Inert):
            raise pickle.UnpicklingError(
                f"items are given to a {type(target).__name__}"
            )

    load_additems = _Unpickler.load_pop_mark

    def load_empty_set(self) -> None:
        self.append(frozenset())

    def load_frozenset(self) -> None:
        self.pop_mark()
        self.load_empty_set()

    def load_bytearray8(self) -> None:
        size = int.from_bytes(self.read(8), "little")
        if size > len(
            self._stream.getbuffer()
        ):  # the file; a frame of it may have been read ahead
            raise pickle.UnpicklingError("bytes are cut off")
        self.append(self.read(size))


_METHODS = {
    code: getattr(_Reader, do.__name__) for code, do in _Unpickler.dispatch.items()
}
"""The methods of instructions by their codes: those of the base class, or those of that
name here.
"""
