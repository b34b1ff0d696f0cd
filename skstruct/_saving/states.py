"""The state of an estimator in pickles, copies, skops and MLflow: its parameters as
they are, and the bytes of its own file.

The bytes are a container (``container``) of the kind ``"state"``, in one array of
uint8, which memory maps and processes share: what is read of it are views. Estimators
within, functions and what is shared by several stand beside it, and keep states of
their own.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .._data.places import describe
from .._version import __version__
from .container import (
    ModelFileError,
    container_array,
    read_container_array,
    require,
)
from .fields import Field, Table, json_node
from .forms import FASTEST, SMALLEST
from .label_sets import classes_of
from .origin import Origin, origin_of, read_origin, set_origin, write_origin
from .repeated import Repeated
from .values import Reader, Writer

if TYPE_CHECKING:
    from typing_extensions import Self

    State = dict[str, Any]

KIND = "state"
BYTES = "_state"
BESIDE = "_beside"

LARGE = 1_000_000
"""Bytes above which pools of joblib hand an array on as a memory map."""

_WRITTEN = Repeated()
"""Bytes of models that are handed to one task after the other: the same array each
time, which joblib maps once.
"""

_MAPPED = Repeated()
"""The states that were read of such maps."""

FITTED = re.compile(r"[A-Za-z]\w*_\Z", re.ASCII)
"""Names of fitted attributes."""

PARTS = Table(
    "Estimators",
    *(Field(name, json_node) for name in "class parameters fitted state".split()),
)


class KeepsState:
    """Base of estimators whose pickles hold parameters and the bytes of a file.

    It stands before scikit-learn's base, whose ``__getstate__`` would hand out the
    inside of this package.
    """

    def _note_settings(self) -> None:
        """Remember the parameters of the fit; those of a file are."""

    def _check_settings(self) -> None:
        """Raise if a parameter that prediction reads is not that of the fit."""

    _written: ClassVar[tuple[str, ...]] = ()
    """Attributes that ``_to_state`` writes."""

    _follows: ClassVar[tuple[str, ...]] = ()
    """Attributes that follow from others, and are part of no state."""

    def _to_state(self, writer: Writer, name: str) -> dict[str, Any]:
        """Return the JSON of what the estimator has learned beyond attributes like
        ``classes_``.

        ``name`` starts the names of arrays.
        """
        return {}

    @classmethod
    def _from_state(
        cls, node: Any, fitted: dict[str, Any], reader: Reader, where: str
    ) -> dict[str, Any]:
        """Return the attributes to set, given that JSON, and those like ``classes_``.

        Has to check everything; ``where`` starts the reasons in errors.
        """
        return {}

    def __getstate__(self) -> State:
        """Return what pickles hold: parameters, and one array of bytes."""
        names = _parameters_of(type(self))
        follows = (*type(self)._follows, "_origin")
        known = {a: v for a, v in vars(self).items() if a not in follows}
        writer = Writer(True, None, beside=[])
        fitted = {
            a: writer.value(classes_of(v) if a == "classes_" else v, a)
            for a, v in known.items()
            if a not in (*names, *type(self)._written) and FITTED.match(a)
        }
        left_out = {*fitted, *type(self)._written}
        kept: State = {a: v for a, v in known.items() if a not in left_out}
        parts = {
            "class": _class_of(type(self)).__name__,
            "parameters": _given({a: kept[a] for a in names if a in kept}, writer),
            "fitted": fitted,
        }
        key = _key_of(self, parts, writer)
        found = None if key is None else _WRITTEN.find(key)
        if found is None:
            found = self._in_bytes(parts, writer)
            if key is not None and getattr(found[0], "nbytes", 0) >= LARGE:
                _WRITTEN.made(key, found, _written_by(self))
        data, beside = found
        if data is not None:
            kept[BYTES] = data
        if beside:
            kept[BESIDE] = beside
        return kept

    def _in_bytes(
        self, parts: dict[str, Any], writer: Writer
    ) -> tuple[np.ndarray | None, list[Any]]:
        """Return the bytes, None if nothing is fitted, and what stands beside them."""
        state = self._to_state(writer, "")
        if not (state or parts["fitted"]):
            return None, []
        header = {
            "kind": KIND,
            "skstruct": __version__,
            "estimator": {**parts, "state": state},
            **write_origin(origin_of(self), writer),
        }
        # What is read of a compressed model are no views in any case.
        compressed = writer.packing_of_file == SMALLEST
        packing = FASTEST if compressed else None
        data = container_array(header, writer.arrays, packing)
        return data, writer.beside or []

    def __setstate__(self, state: State) -> None:
        """Become what a state says, all of which is checked.

        Raises
        ------
        ModelFileError
            If it is damaged, or of a later version that this one does not understand.
        """
        try:
            found, origin = _read(type(self), state)
        except (ModelFileError, RecursionError) as error:
            wrong = "malformed: nested too deeply"
            wrong = str(error) if isinstance(error, ModelFileError) else wrong
            me = type(self).__name__
            raise ModelFileError(f"the state of a {me}: {wrong}") from None
        vars(self).update(found)
        set_origin(self, origin)

    def __copy__(self) -> Self:
        """Return an estimator that shares all attributes with this one."""
        twin = type(self).__new__(type(self))
        vars(twin).update(vars(self))
        return twin


class KeptAsBytes:
    """Base of values that pickles hold as the bytes of a file, and nothing else."""

    def __getstate__(self) -> State:
        writer = Writer(True, None)
        header = {"kind": KIND, "value": writer.value(self, "")}
        return {BYTES: container_array(header, writer.arrays)}

    def __setstate__(self, state: State) -> None:
        name = type(self).__name__
        try:
            given = state.get(BYTES) if isinstance(state, dict) else None
            header, arrays = read_container_array(given, kind=KIND)
            found = Reader(arrays, None).value(header.get("value"), name)
            require(type(found) is type(self), f"the bytes are those of no {name}")
        except (ModelFileError, RecursionError) as error:
            raise ModelFileError(f"the state of a {name}: {error}") from None
        vars(self).update(vars(found))


def _parameters_of(cls: Any) -> list[str]:
    """List the parameters of a class of estimators, in a fixed order."""
    names: list[str] = cls._get_param_names()
    return names


def _class_of(cls: type) -> type:
    """Return the class of this package that an estimator is of, or that a user's class
    is derived from.
    """
    package = __name__.partition(".")[0]
    return next(c for c in cls.__mro__ if c.__module__.partition(".")[0] == package)


def _given(parameters: dict[str, Any], writer: Writer) -> dict[str, Any]:
    """Return the JSON of the parameters that bytes can hold.

    They stand beside the bytes as they are; those in the bytes, whose checksum covers
    them, tell whether something has changed on the way.
    """
    out = {}
    for name, value in parameters.items():
        trial = Writer(True, None, beside=[])
        node = trial.value(value, f"parameters.{name}")
        if not trial.beside:
            out[name] = node
            writer.arrays.update(trial.arrays)
    return out


def _read(cls: Any, state: Any) -> tuple[dict[str, Any], Origin]:
    """Return the attributes of an estimator, given its state, and where it is from."""
    known = isinstance(state, dict) and all(isinstance(a, str) for a in state)
    require(known, "a dict of attributes was expected")
    kept = dict(state)
    data = kept.pop(BYTES, None)
    beside = kept.pop(BESIDE, [])
    require(isinstance(beside, list), f"{BESIDE} must be a list")
    inside = sorted(kept.keys() & set(cls._written))
    require(not inside, f"{', '.join(inside)} must be in the bytes")
    names = _parameters_of(cls)
    for name in kept:
        hidden = name not in names and callable(getattr(cls, name, None))
        require(not hidden, f"{name:.60} is a method")
    for name in names:
        if name not in kept:  # a parameter of a later version than that of the state
            default = inspect.signature(cls.__init__).parameters[name].default
            require(default is not inspect.Parameter.empty, f"it lacks {name}")
            kept[name] = default
    if data is None:
        return kept, Origin()
    mapped = _map_of(data, cls)
    read = None if mapped is None else _MAPPED.find(mapped)
    header, arrays = read_container_array(data, kind=KIND, intact=read is not None)
    version = header.get("skstruct")
    version = version if isinstance(version, str) else None
    reader = Reader(arrays, None, beside)
    try:
        require("estimator" in header, "the header lacks the estimator")
        learned, state = _learned(cls, header["estimator"], kept, reader)
        if read is None:
            read = cls._from_state(state, learned, reader, cls.__name__)
            if mapped is not None and not beside:
                _MAPPED.made(mapped, read)
        return {**kept, **learned, **read}, read_origin(header, reader)
    except ModelFileError as error:
        by = "" if version is None else f" (written by skstruct {version[:40]})"
        raise ModelFileError(f"{error}{by}") from None


def _learned(
    cls: Any, node: Any, kept: dict[str, Any], reader: Reader
) -> tuple[dict[str, Any], Any]:
    """Return fitted attributes that bytes hold, and the JSON of the rest."""
    name, parameters, fitted, state = PARTS.read(node, "the estimator", None).values()
    mine = _class_of(cls).__name__
    require(name == mine, f"the bytes are those of a {name!r:.60}, not of a {mine}")
    learned = fitted_attributes(cls, parameters, fitted, reader, mine)
    for a, node in parameters.items():
        value = reader.value(node, f"{mine}.{a}")
        same = encoded(value) == encoded(kept[a])
        found = f"{describe(kept[a])}, the bytes say {describe(value)}"
        require(same, f"the parameter {a} is {found}")
    return learned, state


def _written_by(estimator: KeepsState) -> list[Any]:
    """List what ``_to_state`` writes."""
    known = vars(estimator)
    return [known[a] for a in type(estimator)._written if a in known]


def _key_of(
    estimator: KeepsState, parts: dict[str, Any], writer: Writer
) -> Hashable | None:
    """Return what bytes depend on; None if that cannot be told without writing them."""
    written = _written_by(estimator)
    if not written or writer.beside:
        return None
    facts = [parts, repr(origin_of(estimator))]
    digest = hashlib.sha256(json.dumps(facts).encode("ascii"))
    for name, array in writer.arrays.items():
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return (*map(id, written), digest.digest())


def _map_of(data: Any, cls: type) -> Hashable | None:
    """Return which bytes of which file an array shows; None if it is no map of one."""
    name = data.filename if isinstance(data, np.memmap) else None
    if name is None or data.nbytes < LARGE or data.mode != "r":
        return None
    try:
        file = os.stat(name)
    except OSError:  # deleted
        return None
    facts = file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns
    return (cls, *facts, data.nbytes, data[-32:].tobytes())


def encoded(value: Any) -> Any:
    """Return what two values have in common that are the same parameter."""
    writer = Writer(True, None, beside=[])
    node = writer.value(value.item() if isinstance(value, np.generic) else value, "")
    arrays = writer.arrays.items()
    found = [(name, a.dtype, a.shape, a.tobytes()) for name, a in arrays]
    return node, found, list(map(id, writer.beside or ()))


def fitted_attributes(
    cls: Any, parameters: Any, fitted: Any, reader: Reader, where: str
) -> dict[str, Any]:
    """Return attributes like ``classes_``, after a check of their names and of those of
    parameters.
    """
    for what, found in (("parameters", parameters), ("fitted attributes", fitted)):
        require(isinstance(found, dict), f"{where}: the {what} must be a JSON object")
    names = _parameters_of(cls)
    unknown = sorted(set(parameters) - set(names))
    require(not unknown, f"{where} has no parameter {', '.join(unknown):.60}")
    # What a later version calls a fitted attribute may be a method or property here, or
    # the reverse.
    odd = sorted(
        a for a in fitted if not FITTED.match(a) or a in names or hasattr(cls, a)
    )
    require(not odd, f"{where} has no fitted attribute {', '.join(odd):.60}")
    return {a: reader.value(v, f"{where}.{a}") for a, v in fitted.items()}
