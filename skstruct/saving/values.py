"""Python values as JSON with references to arrays, and back.

What JSON can say is written as it is. What it cannot say (tuples, sets, infinities, arrays, ...)
becomes an object with one member whose name starts with ``$`` and says how to read it; the table is in
``docs/file-format.md``. Reading builds only the types in that table: no file can name a class or a
function that is then looked up. Modules higher up add kinds of values by :func:`savable_value`.
"""

import contextlib
import json
import math
import os
import pathlib

import numpy as np

from ..data.places import as_objects, describe
from .checks import require as require
from .checks import within as within
from .container import ModelFileError, pack_strings, unpack_strings
from .packing import NARROWED, groups, narrowed, widened

LONG = 1000
"""Collections longer than this become an array of their JSON text: the header of a file is limited."""

_ARRAYS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()
_SCALARS = {name: np.dtype(name).type for name in (*_ARRAYS, "float16")} | {"str": np.str_}


def name_of(value, names):
    """The key of a value; what :meth:`Reader.choice` undoes."""
    return next(name for name, other in names.items() if other == value)


class Writer:
    """Turns values into JSON and collects the arrays.

    Parameters
    ----------
    training : bool
        Whether estimators store what only further training needs.
    encode_estimator : callable
        ``(value, writer, name) -> dict``, or None for what is no estimator of this package.
    smaller : tuple of (dtype, keep), optional
        Compress all models on the way; see :meth:`.registry.Savable.compress`.

    Attributes
    ----------
    arrays : dict of str to ndarray
    packed : str or None
        Type of the weights of the model that is being written, if it is a compressed one.
    version : int
        Of the format that the file needs.
    """

    def __init__(self, training, encode_estimator, smaller=None):
        self.arrays = {}
        self.training = training
        self.smaller = smaller
        self.packed = None
        self.version = 1
        self._encode_estimator = encode_estimator
        self._numbers = {}  # of the estimators within, by id; they stay alive as long as this

    @contextlib.contextmanager
    def packing(self, dtype):
        """A context in which weights are stored as that type and integers in few bytes; None: as they are."""
        before, self.packed = self.packed, dtype
        if dtype is not None:
            self.version = max(self.version, 2)
        try:
            yield
        finally:
            self.packed = before

    def array(self, name, array):
        """Store an array; returns the reference to it."""
        if self.packed is None or array.dtype.name not in NARROWED:
            return self._whole(name, array)
        array, node = narrowed(array)
        return {**self._whole(name, array), **node}

    def groups(self, name, array, signed=False):
        """Store integers, int64 for a reader, seven bits at a time; see ``packing``."""
        self.version = max(self.version, 3)
        node = {"dtype": "int64", "groups": "signed" if signed else "unsigned"}
        return {**self._whole(name, groups(array, signed)), **node}

    def _whole(self, name, array):
        unique, number = name, 2
        while unique in self.arrays:
            unique, number = f"{name}~{number}", number + 1
        self.arrays[unique] = array
        return {"$array": unique}

    def strings(self, name, strings):
        """Store many strings; returns the reference to them."""
        data, offsets = pack_strings(strings)
        return {
            "bytes": self.array(f"{name}.bytes", data),
            "offsets": self.array(f"{name}.offsets", offsets),
        }

    def value(self, value, name):
        """The JSON of any value; ``name`` starts the names of arrays.

        Raises
        ------
        TypeError
            If the value is, or holds, something that no file can give back.
        """
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"$float": str(value)}
        if kind is list:
            return self._items(value, name)
        if kind is tuple:
            return {"$tuple": self._items(value, name)}
        if kind in (set, frozenset):
            items = sorted((self.value(v, name) for v in value), key=json.dumps)
            return {f"${kind.__name__}": self._long(items, name)}
        if kind is dict:
            if len(value) <= LONG and all(type(k) is str and k[:1] != "$" for k in value):
                return {k: self.value(v, f"{name}.{k}") for k, v in value.items()}
            return {"$dict": self._items([list(item) for item in value.items()], name)}
        if kind is np.ndarray:
            return self._any_array(value, name)
        if kind in _SCALARS.values():
            dtype = "str" if kind is np.str_ else value.dtype.name
            return {"$numpy": [dtype, self.value(value.item(), name)]}
        if kind is np.random.RandomState:
            return self._random_state(value, name)
        if kind in _ENCODERS:
            tag, to_state = _ENCODERS[kind]
            return {tag: to_state(value, self, name)}
        if isinstance(value, os.PathLike) and type(os.fspath(value)) is str:
            return {"$path": os.fspath(value)}
        if id(value) in self._numbers:
            return {"$same": self._numbers[id(value)]}
        estimator = self._encode_estimator(value, self, name)
        if estimator is None:
            raise TypeError(f"a value of type {kind.__name__} cannot be saved, got {describe(value)}")
        self._numbers[id(value)] = len(self._numbers)
        return {"$estimator": estimator}

    def _items(self, values, name):
        return self._long([self.value(value, name) for value in values], name)

    def _long(self, items, name):
        if len(items) <= LONG:
            return items
        text = json.dumps(items, separators=(",", ":")).encode("ascii")
        return {"$json": self.array(name, np.frombuffer(text, np.uint8))}

    def _any_array(self, array, name):
        if array.dtype.name in _ARRAYS and array.dtype.isnative:
            return self._whole(name, array)
        tag = {"U": "$text", "O": "$objects"}.get(array.dtype.kind)
        if tag is None:
            raise TypeError(f"an array of dtype {array.dtype} cannot be saved")
        return {tag: {"shape": list(array.shape), "items": self._items(array.ravel().tolist(), name)}}

    def _random_state(self, random, name):
        state = random.get_state(legacy=False)
        if state["bit_generator"] != "MT19937":
            raise TypeError(
                f"a RandomState over {state['bit_generator']} cannot be saved, only one over MT19937"
            )
        return {
            "$random_state": {
                "key": self.array(name, state["state"]["key"]),
                "position": int(state["state"]["pos"]),
                "has_gauss": int(state["has_gauss"]),
                "gauss": float(state["gauss"]),
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
    version : str, optional
        Of the package that wrote the file.
    """

    def __init__(self, arrays, decode_estimator, version=None):
        self.version = version
        self._arrays = dict(arrays)
        self._decode_estimator = decode_estimator
        self._estimators = []  # within, in the order in which they were complete

    # -- what has to be there ----------------------------------------------------------------------
    def part(self, node, where):
        """How to read the members of a JSON object: ``read("n", reader.integer, 0)`` is an int of at least 0.

        ``read(name, how, *arguments)`` hands ``how`` the member, the place that errors name, and arguments.
        """
        require(isinstance(node, dict), f"{where} must be a JSON object")

        def read(name, how, *arguments):
            require(name in node, f"{where} lacks {name}")
            return how(node[name], f"{where}.{name}", *arguments)

        return read

    def members(self, node, where, names):
        """The members of a JSON object, in the order of ``names``; others are left alone."""
        require(isinstance(node, dict), f"{where} must be a JSON object")
        missing = [name for name in names.split() if name not in node]
        require(not missing, f"{where} lacks {', '.join(missing)}")
        return [node[name] for name in names.split()]

    def list(self, node, where):
        """A JSON list, its elements not yet decoded."""
        if isinstance(node, dict) and "$json" in node:
            text = self.array(node["$json"], where, np.uint8, (None,)).tobytes()
            try:
                node = json.loads(text)
            except ValueError as error:  # UnicodeDecodeError is one
                raise ModelFileError(f"malformed: {where}: {error}") from None
        require(isinstance(node, list), f"{where} must be a list")
        return node

    def integer(self, node, where, low, high=2**62):
        """An int from ``low`` up to, not including, ``high``."""
        require(type(node) is int and low <= node < high, f"{where} must be an int from {low} on")
        return node

    def number(self, node, where, low, high):
        """A float between ``low`` and ``high``."""
        require(type(node) is float and low <= node <= high, f"{where} must be a float from {low} on")
        return node

    def flag(self, node, where):
        """A bool."""
        require(type(node) is bool, f"{where} must be true or false")
        return node

    def choice(self, node, where, choices):
        """What a name, or null, stands for."""
        require(node is None or isinstance(node, str), f"{where} must be a string or null")
        require(node in choices, f"{where} must be one of {list(choices)}, got {node!r:.40}")
        return choices[node]

    def array(self, node, where, dtype=None, shape=None, low=None, high=None):
        """An array that the caller owns; None in ``shape`` is any length. Elements are in [low, high)."""
        require(isinstance(node, dict) and isinstance(node.get("$array"), str), f"{where}: no array")
        array = self._arrays.pop(node["$array"], None)
        require(array is not None, f"{where}: array {node['$array']!r} is absent or used twice")
        if "dtype" in node:
            array = widened(array, node, where)
        require(dtype is None or array.dtype == dtype, f"{where} must be {np.dtype(dtype)}")
        if shape is not None:
            fits = len(shape) == array.ndim and all(n is None or n == m for n, m in zip(shape, array.shape))
            require(fits, f"{where} must have the shape {shape}, got {array.shape}")
        require(low is None or within(array, low, high), f"{where} is out of range")
        return array

    def strings(self, node, where):
        """The list of strings that :meth:`Writer.strings` stored."""
        data, offsets = self.members(node, where, "bytes offsets")
        return unpack_strings(self.array(data, where), self.array(offsets, where))

    def distinct(self, node, where):
        """The same if no string occurs twice."""
        strings = self.strings(node, where)
        require(len(set(strings)) == len(strings), f"{where}: a string occurs twice")
        return strings

    # -- any value ---------------------------------------------------------------------------------
    def value(self, node, where):
        """The value that :meth:`Writer.value` was given.

        Raises
        ------
        ModelFileError
            If the JSON does not describe one.
        """
        if isinstance(node, list):
            return self._items(node, where)
        if not isinstance(node, dict):
            return node
        if not any(name.startswith("$") for name in node):
            return {k: self.value(v, f"{where}.{k}") for k, v in node.items()}
        tag = next(iter(node))
        require(len(node) == 1 and tag in _DECODERS, f"{where}: unknown form {sorted(node)}")
        try:
            return _DECODERS[tag](self, node[tag], where)
        except (TypeError, ValueError, OverflowError) as error:
            if isinstance(error, ModelFileError):
                raise
            raise ModelFileError(f"malformed: {where}: {error}") from error

    def _items(self, node, where):
        return [self.value(item, where) for item in self.list(node, where)]

    def _shaped(self, node, where, dtype):
        shape, items = self.members(node, where, "shape items")
        items = self._items(items, where)
        ok = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
        require(ok and math.prod(shape) == len(items), f"{where}: shape and items disagree")
        if dtype is str:
            require(all(type(v) is str for v in items), f"{where} must hold strings")
            # Each takes as much memory as the longest: 16 times what the file has, and a little, at most.
            longest = max(map(len, items), default=0)
            ok = len(items) * longest <= 16 * (sum(map(len, items)) + len(items)) + 2**20
            require(ok, f"{where}: the strings differ too much in length")
            return np.array(items, dtype=str).reshape(shape)
        return as_objects(items).reshape(shape)

    def _numpy(self, node, where):
        require(isinstance(node, list) and len(node) == 2, f"{where}: a numpy scalar has two parts")
        require(isinstance(node[0], str) and node[0] in _SCALARS, f"{where}: unknown dtype")
        kind, value = _SCALARS[node[0]], self.value(node[1], where)
        if issubclass(kind, np.integer):  # numpy 1 would warn of an overflow and go on
            limits = np.iinfo(kind)
            require(type(value) is int and limits.min <= value <= limits.max, f"{where} is no {node[0]}")
        return kind(value)

    def _random_state(self, node, where):
        key, position, has_gauss, gauss = self.members(node, where, "key position has_gauss gauss")
        state = {
            "bit_generator": "MT19937",
            "state": {
                "key": self.array(key, where, np.uint32, (624,)),
                "pos": self.integer(position, where, 0, 625),  # numpy does not check it
            },
            "has_gauss": self.integer(has_gauss, where, 0, 2),
            "gauss": self.number(gauss, where, -1e300, 1e300),
        }
        random = np.random.RandomState(0)
        random.set_state(state)
        return random

    def _float(self, node, where):
        return self.choice(node, where, {s: float(s) for s in ("nan", "inf", "-inf")})

    def _path(self, node, where):
        require(isinstance(node, str), f"{where} must be a string")
        return pathlib.Path(node)

    def _estimator(self, node, where):
        estimator = self._decode_estimator(node, self, where)
        self._estimators.append(estimator)
        return estimator

    def _same(self, node, where):
        return self._estimators[self.integer(node, where, 0, len(self._estimators))]


_DECODERS = {
    "$array": lambda self, node, where: self.array({"$array": node}, where),
    "$dict": lambda self, node, where: dict(self._items(node, where)),
    "$estimator": Reader._estimator,
    "$float": Reader._float,
    "$frozenset": lambda self, node, where: frozenset(self._items(node, where)),
    "$json": lambda self, node, where: self._items({"$json": node}, where),
    "$numpy": Reader._numpy,
    "$objects": lambda self, node, where: self._shaped(node, where, object),
    "$path": Reader._path,
    "$random_state": Reader._random_state,
    "$same": Reader._same,
    "$set": lambda self, node, where: set(self._items(node, where)),
    "$text": lambda self, node, where: self._shaped(node, where, str),
    "$tuple": lambda self, node, where: tuple(self._items(node, where)),
}

_ENCODERS = {}
"""Class -> (tag, ``to_state``) of what :func:`savable_value` added."""


def savable_value(tag, cls, to_state, from_state):
    """Let instances of a class stand wherever a value can: in parameters, lists, fitted attributes.

    Parameters
    ----------
    tag : str
        The member by which a file marks them; starts with ``$``.
    cls : type
        Not its subclasses.
    to_state : callable
        ``(value, writer, name) -> JSON``
    from_state : callable
        ``(node, reader, where) -> value``; has to check everything.
    """
    _ENCODERS[cls] = tag, to_state
    _DECODERS[tag] = lambda reader, node, where: from_state(node, reader, where)
