"""Python values as JSON with references to arrays, and back.

What JSON can say is written as it is. What it cannot say (tuples, sets, infinities,
arrays, ...) becomes an object with one member whose name starts with ``$`` and says how
to read it; the table is in ``docs/file-format.md``. Reading builds only the types in
that table: no file can name a class or a function that is then looked up. Modules
higher up add kinds of values by :func:`savable_value`.
"""

from __future__ import annotations

import builtins
import contextlib
import enum
import json
import math
import os
import pathlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .._data.elements import stored
from .._data.places import as_objects, describe
from .container import ModelFileError, require
from .fields import (
    Field,
    Kind,
    Members,
    Table,
    array,
    choice,
    each,
    integer,
    json_node,
    number,
    string,
)
from .forms import FAST
from .packing import from_groups, groups

LONG = 1000
"""Collections longer than this become an array of their JSON text: the header of a file
is limited.
"""

_ARRAYS = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()
)
_COLLECTIONS = tuple, set, frozenset
_SCALARS = {name: np.dtype(name).type for name in (*_ARRAYS, "float16")} | {
    "str": np.str_
}


_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def _one_by_one(text: str) -> str:
    """Return a str, and raise if it has two surrogates that JSON would give back as one
    character.
    """
    if not text.isascii() and _PAIR.search(text):
        wrong = (
            "has two surrogates in a row, which a file would give back as one character"
        )
        remedy = (
            "join them with text.encode('utf-16', 'surrogatepass').decode('utf-16')"
        )
        raise TypeError(f"the str {text!r} {wrong}; {remedy}")
    return text


class Writer:
    """Turns values into JSON and collects the arrays.

    Parameters
    ----------
    training : bool
        Whether estimators store what only further training needs.
    encode_estimator : callable
        ``(value, writer, name) -> dict``, or None for what is no estimator of this
        package.
    smaller : tuple of (dtype, keep), optional
        Compress all models on the way; see :meth:`.registry.Savable.compress`.
    beside : list, optional
        Takes what is to stand beside the bytes, or what no file can hold: estimators
        within, what is shared, functions. Without, there is no such place.

    Attributes
    ----------
    arrays : dict of str to ndarray
    packed : str or None
        Type of the weights of the model that is being written, if it is a compressed
        one.
    packing_of_file : Packing
        How small the file is made: as small as possible with a compressed model in it.
    """

    def __init__(
        self,
        training: bool,
        encode_estimator: Callable[[Any, Writer, str], dict[str, Any] | None] | None,
        smaller: tuple[str, float] | None = None,
        beside: list[Any] | None = None,
    ) -> None:
        self.beside = beside
        self.arrays: dict[str, np.ndarray] = {}
        self.training = training
        self.smaller = smaller
        self.packed: str | None = None
        self.packing_of_file = FAST
        self._encode_estimator: Any = encode_estimator  # None: nothing is within
        self._numbers: dict[
            int, int
        ] = {}  # of the estimators within, by id; they stay alive as long as this

    @contextlib.contextmanager
    def packing(self, dtype: str | None) -> Iterator[None]:
        """Return a context in which weights are stored as that type; None: as they
        are.
        """
        before = self.packed
        self.packed = dtype
        try:
            yield
        finally:
            self.packed = before

    def array(self, name: str, array: np.ndarray) -> dict[str, Any]:
        """Store an array, and return the reference to it."""
        unique = name
        number = 2
        while unique in self.arrays:
            unique = f"{name}~{number}"
            number = number + 1
        self.arrays[unique] = array
        return {"$array": unique}

    def groups(
        self, name: str, array: np.ndarray, signed: bool = False
    ) -> dict[str, Any]:
        """Store integers, int64 for a reader, seven bits at a time; see ``packing``."""
        node = self.array(name, groups(array, signed))
        return {**node, "groups": "signed" if signed else "unsigned"}

    def value(self, value: Any, name: str) -> Any:
        """Return the JSON of any value; ``name`` starts the names of arrays.

        Raises
        ------
        TypeError
            If the value is, or holds, something that no file can give back.
        """
        if self.beside is None:
            return self._encoded(value, name)
        if _stands_beside(value):
            return self.put_beside(value)
        try:
            return self._encoded(value, name)
        except TypeError:
            return self.put_beside(value)

    def put_beside(self, value: Any) -> dict[str, int]:
        """Let a value stand beside the bytes, and return the reference to it."""
        assert self.beside is not None, "nothing can stand beside a file"
        for k, other in enumerate(self.beside):
            if other is value:
                return {"$beside": k}
        self.beside.append(value)
        return {"$beside": len(self.beside) - 1}

    def _encoded(self, value: Any, name: str) -> Any:
        kind = type(value)
        if value is None or kind in (bool, int):
            return value
        if kind is str:
            return _one_by_one(value)
        if kind is float:
            return value if math.isfinite(value) else {"$float": str(value)}
        if kind is list:
            return self._items(value, name)
        if kind in _COLLECTIONS:
            items = [self.value(item, name) for item in value]
            items = items if kind is tuple else sorted(items, key=json.dumps)
            return {f"${kind.__name__}": self._long(items, name)}
        if kind is dict:
            if len(value) <= LONG and all(
                type(k) is str and k[:1] != "$" for k in value
            ):
                return {
                    _one_by_one(k): self.value(v, f"{name}.{k}")
                    for k, v in value.items()
                }
            return {"$dict": self._items([list(item) for item in value.items()], name)}
        if kind is np.ndarray:
            return self._any_array(value, name)
        if kind in _SCALARS.values():
            dtype = "str" if kind is np.str_ else value.dtype.name
            return {"$numpy": [dtype, self.value(value.item(), name)]}
        if id(value) in self._numbers:
            return {"$same": self._numbers[id(value)]}
        if kind in _ENCODERS:
            tag, write = _ENCODERS[kind]
            node = {tag: write(value, self, name, None)}
            if tag in _SHARED:
                self._numbers[id(value)] = len(self._numbers)
            return node
        if isinstance(value, os.PathLike) and type(os.fspath(value)) is str:
            return {"$path": os.fspath(value)}
        if isinstance(value, enum.Enum) and isinstance(value, (str, int, float)):
            return self.value(stored(value), name)  # which is equal to it
        encode = self._encode_estimator
        estimator = None if encode is None else encode(value, self, name)
        if estimator is None:
            raise TypeError(
                f"a value of type {kind.__name__} cannot be saved, got {describe(value)}"
            )
        self._numbers[id(value)] = len(self._numbers)
        return {"$estimator": estimator}

    def _items(self, values: Any, name: str) -> Any:
        return self._long([self.value(value, name) for value in values], name)

    def _long(self, items: Any, name: str) -> Any:
        if len(items) <= LONG:
            return items
        text = json.dumps(items, separators=(",", ":")).encode("ascii")
        return {"$json": self.array(name, np.frombuffer(text, np.uint8))}

    def _any_array(self, array: np.ndarray, name: str) -> dict[str, Any]:
        if array.dtype.name in _ARRAYS and array.dtype.isnative:
            return self.array(name, array)
        tag = {"U": "$text", "O": "$objects"}.get(array.dtype.kind)
        if tag is None:
            raise TypeError(f"an array of dtype {array.dtype} cannot be saved")
        return {
            tag: {
                "shape": list(array.shape),
                "items": self._items(array.ravel().tolist(), name),
            }
        }


class Reader:
    """Turns the JSON of a :class:`Writer` back into values; trusts nothing.

    Parameters
    ----------
    arrays : dict of str to ndarray
        Each is handed out once, so that nothing shares memory.
    decode_estimator : callable
        ``(node, reader, where) -> estimator``
    beside : list, optional
        What a writer put beside the bytes.
    """

    def __init__(
        self,
        arrays: dict[str, np.ndarray],
        decode_estimator: Callable[[Any, Reader, str], Any] | None,
        beside: builtins.list[Any] | None = None,
    ) -> None:
        self._beside = [] if beside is None else beside
        self._arrays = dict(arrays)
        self._decode_estimator: Any = decode_estimator  # None: nothing is within
        self._known = Members({}, reader=self)
        self._estimators: list[
            Any
        ] = []  # within, in the order in which they were complete

    def members(self) -> Members:
        """Return what reads an object outside of all others."""
        return self._known

    def list(self, node: Any, where: str) -> builtins.list[Any]:
        """Return a JSON list, its elements not yet decoded."""
        if isinstance(node, dict) and "$json" in node:
            text = self.array(node["$json"], where, np.uint8, (None,)).tobytes()
            try:
                node = json.loads(text)
            except ValueError as error:  # UnicodeDecodeError is one
                raise ModelFileError(f"malformed: {where}: {error}") from None
        require(isinstance(node, list), f"{where} must be a list")
        return node

    def array(
        self,
        node: Any,
        where: str,
        dtype: Any = None,
        shape: Sequence[int | None] | None = None,
    ) -> np.ndarray:
        """Return an array that the caller owns; None in ``shape`` is any length."""
        require(
            isinstance(node, dict) and isinstance(node.get("$array"), str),
            f"{where}: no array",
        )
        require(
            node["$array"] in self._arrays,
            f"{where}: array {node['$array']!r} is absent or used twice",
        )
        array = self._arrays.pop(node["$array"])
        if "groups" in node:
            kind = node["groups"]
            require(kind in ("signed", "unsigned"), f"{where}: unknown groups")
            array = from_groups(array, kind == "signed", where)
        require(
            dtype is None or array.dtype == dtype, f"{where} must be {np.dtype(dtype)}"
        )
        if shape is not None:
            fits = len(shape) == array.ndim and all(
                n is None or n == m for n, m in zip(shape, array.shape)
            )
            require(fits, f"{where} must have the shape {shape}, got {array.shape}")
        return array

    def value(self, node: Any, where: str) -> Any:
        """Return the value that :meth:`Writer.value` was given.

        Raises
        ------
        ModelFileError
            If the JSON does not describe one.
        """
        if isinstance(node, list):
            return [self.value(item, where) for item in node]
        if not isinstance(node, dict):
            return node
        if not any(name.startswith("$") for name in node):
            return {k: self.value(v, f"{where}.{k}") for k, v in node.items()}
        tag = next(iter(node))
        require(
            len(node) == 1 and tag in _READERS, f"{where}: unknown form {sorted(node)}"
        )
        try:
            return _READERS[tag](node[tag], where, self._known)
        except (TypeError, ValueError, OverflowError) as error:
            if isinstance(error, ModelFileError):
                raise
            raise ModelFileError(f"malformed: {where}: {error}") from error

    def beside(self, node: Any, where: str) -> Any:
        """Return what stands beside the bytes; ``node`` numbers it."""
        number = integer(0, len(self._beside)).read(node, where, self._known)
        return self._beside[number]

    def estimator(self, node: Any, where: str) -> Any:
        """Return the next estimator within."""
        require(self._decode_estimator is not None, f"{where}: an estimator within")
        return self.shared(self._decode_estimator(node, self, where))

    def shared(self, found: Any) -> Any:
        """Note a value that may occur again."""
        self._estimators.append(found)
        return found

    def same(self, node: Any, where: str) -> Any:
        """Return one of the estimators, or shared values, before; ``node`` numbers
        it.
        """
        return self._estimators[
            integer(0, len(self._estimators)).read(node, where, self._known)
        ]


# --------------------------------------------------------------------------------------
# Marked values
# --------------------------------------------------------------------------------------
def _items(node: Any, where: str, f: Members) -> list[Any]:
    return f.reader.value(f.reader.list(node, where), where)


def _shaped(f: Members) -> tuple[list[Any], list[int]]:
    """Return the items, if they are as many as the shape says."""
    items = _items(f["items"], f.where, f)
    require(math.prod(f["shape"]) == len(items), f"{f.where}: shape and items disagree")
    return items, f["shape"]


_SHAPED = Table(
    "Arrays of objects",
    Field("shape", each(integer())),
    Field("items", json_node),
    make=_shaped,
)


def _objects(*place: Any) -> np.ndarray:
    items, shape = _SHAPED.read(*place)
    return as_objects(items).reshape(shape)


def _text(node: Any, where: str, f: Members) -> np.ndarray:
    items, shape = _SHAPED.read(node, where, f)
    require(all(type(v) is str for v in items), f"{where} must hold strings")
    # Each takes as much memory as the longest: 16 times what the file has, and a
    # little, at most.
    longest = max(map(len, items), default=0)
    ok = len(items) * longest <= 16 * (sum(map(len, items)) + len(items)) + 2**20
    require(ok, f"{where}: the strings differ too much in length")
    return np.array(items, dtype=str).reshape(shape)


def _numpy(node: Any, where: str, f: Members) -> Any:
    require(
        isinstance(node, list) and len(node) == 2,
        f"{where}: a numpy scalar has two parts",
    )
    require(isinstance(node[0], str) and node[0] in _SCALARS, f"{where}: unknown dtype")
    kind = _SCALARS[node[0]]
    value = f.reader.value(node[1], where)
    if issubclass(kind, np.integer):  # numpy 1 would warn of an overflow and go on
        limits = np.iinfo(kind)
        require(
            type(value) is int and limits.min <= value <= limits.max,
            f"{where} is no {node[0]}",
        )
    return kind(value)


_READERS: dict[str, Callable[..., Any]] = {
    "$array": lambda node, where, f: f.reader.array({"$array": node}, where),
    "$beside": lambda node, where, f: f.reader.beside(node, where),
    "$dict": lambda *place: dict(_items(*place)),
    "$estimator": lambda node, where, f: f.reader.estimator(node, where),
    "$float": choice({name: float(name) for name in ("nan", "inf", "-inf")}).read,
    "$json": lambda node, where, f: _items({"$json": node}, where, f),
    "$numpy": _numpy,
    "$objects": _objects,
    "$path": lambda *place: pathlib.Path(string.read(*place)),
    "$same": lambda node, where, f: f.reader.same(node, where),
    "$text": _text,
    **{
        f"${cls.__name__}": lambda *place, cls=cls: cls(_items(*place))
        for cls in _COLLECTIONS
    },
}
"""Tag -> what reads a value, as of a :class:`.fields.Kind`."""

_ENCODERS: dict[type, tuple[str, Callable[..., Any]]] = {}
"""Class -> (tag, function that writes it) of what :func:`savable_value` added."""


def stands_alone(value: Any) -> bool:
    """Tell whether a value is a transformer that a file may hold alone."""
    return type(value) in _ENCODERS and hasattr(value, "transform")


def _stands_beside(value: Any) -> bool:
    """Tell whether a value keeps a state of its own: an estimator, or what is
    shared.
    """
    if type(value) in _ENCODERS and _ENCODERS[type(value)][0] in _SHARED:
        return True
    return hasattr(value, "get_params") and not isinstance(value, type)


_SHARED: set[str] = set()
"""Tags of values that a file has once, wherever they occur: large ones that never
change.
"""


def savable_value(
    tag: str, cls: type, kind: Kind | Table, shared: bool = False
) -> Kind:
    """Let instances of a class stand wherever a value can: in parameters, lists, fitted
    attributes.

    Parameters
    ----------
    tag : str
        The member by which a file marks them; starts with ``$``.
    cls : type
        Not its subclasses.
    kind : Kind or Table
        Reading has to check everything.
    shared : bool
        Whether a file has it once; it must never change.

    Returns
    -------
    Kind
        Of places where files have such a value without the tag.
    """
    _ENCODERS[cls] = tag, kind.write
    _READERS[tag] = kind.read
    if shared:
        _SHARED.add(tag)
        _READERS[tag] = lambda node, where, f: f.reader.shared(
            kind.read(node, where, f)
        )
    return Kind(
        kind.text,
        kind.write,
        lambda node, where, members: members.reader.value({tag: node}, where),
    )


def _write_random_state(
    random: np.random.RandomState, writer: Writer, name: str, f: Members
) -> dict[str, Any]:
    state = random.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise TypeError(
            f"a RandomState over {state['bit_generator']} cannot be saved, only one over MT19937"
        )
    return RANDOM_STATE.write({**state, **state["state"]}, writer, name, f)


def _random_state(f: Members) -> np.random.RandomState:
    random = np.random.RandomState(0)
    state = {"key": f["key"], "pos": f["position"]}
    random.set_state({"bit_generator": "MT19937", **f, "state": state})
    return random


RANDOM_STATE = Table(
    "`$random_state`",
    Field("key", array("uint32", 624), stem=""),
    Field("position", integer(0, 625), of="pos"),  # numpy does not check it
    Field("has_gauss", integer(0, 2)),
    Field("gauss", number(-1e300, 1e300)),
    make=_random_state,
)

_RANDOM = Kind(RANDOM_STATE.text, _write_random_state, RANDOM_STATE.read)
savable_value("$random_state", np.random.RandomState, _RANDOM)
