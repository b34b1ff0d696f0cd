"""The fields of weight stores, update rules and step counters."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.codes import (
    EACH_EPOCH,
    EACH_STEP,
    NO_AVERAGE,
    PENALTIES,
    PERCEPTRON,
    VARIANTS,
)
from .._core.final_weights import LARGEST_WEIGHT, are_weights
from .._core.store import READ_ONLY, Clock, Rule, new_store, sizes, without_spare_places
from .container import require
from .fields import (
    Field,
    Kind,
    Members,
    Table,
    array,
    choice,
    exactly,
    flag,
    integer,
    number,
    pair,
    via,
)
from .packing import COMPRESSED, EXACT, numerators

if TYPE_CHECKING:
    from .._core.store import Store
    from .values import Writer


# --------------------------------------------------------------------------------------
# Weights
# --------------------------------------------------------------------------------------
def _kept(name: str, dtype: str, n: str, **how: Any) -> Field:
    return Field(name, array(dtype, n, may_lack=True, **how))


_SHAPE = Field("sparse", flag), Field("columns", exactly("C"))
_VALUE = _kept("value", "float64", "places", finite=True, largest=LARGEST_WEIGHT)
_COLUMN = _kept("column", "int32", "listed", low=0, high="C")
_ROWS = (
    _kept("first", "int64", "rows listed"),
    _kept("count", "int32", "rows listed", low=0, high=2**31),
)
_SIZES = {
    "places": lambda f: None if f["sparse"] else f["R"] * f["C"],
    "listed": lambda f: len(f["value"]) if f["sparse"] else 0,
    "rows listed": lambda f: f["R"] if f["sparse"] else 0,
}

FINAL = Table("Weights", *_SHAPE, _VALUE, _COLUMN, *_ROWS, **_SIZES)

TRAINED = Table(
    "Weights in training",
    *_SHAPE,
    _VALUE,
    _kept("moment", "float64", "averaged", finite=True),
    _kept("received", "float64", "penalized", low=0, high=np.inf),
    _COLUMN,
    _kept("last", "int64", "current", low=0, high="next step"),
    *_ROWS,
    _kept("room", "int32", "rows listed"),
    bookkeeping=lambda f: sizes(f["rule"], f["R"], len(f["value"])),
    averaged=lambda f: f["bookkeeping"]["moment"],
    penalized=lambda f: f["bookkeeping"]["received"],
    current=lambda f: f["bookkeeping"]["last"],
    **{"next step": lambda f: int(f["clock"].step[0]) + 1},
    **_SIZES,
)


def _write_packed(value: Any, writer: Writer, name: str, _: Any) -> dict[str, Any]:
    return (
        writer.groups(name, value, True)
        if value.dtype == np.int64
        else writer.array(name, value)
    )


def _read_packed(node: Any, where: str, f: Members) -> np.ndarray:
    value = f.reader.array(node, where, None, (None,))
    ok = value.dtype == np.int64 and f["divisor"] or value.dtype.kind == "f"
    require(ok, f"{where} must be floating-point numbers")
    return value


def _unpacked(f: Members) -> dict[str, Any]:
    """Return the members of a store that :func:`_packed` was given."""
    value = f["packed"].astype(np.float64)
    if f["packed"].dtype == np.int64:
        value /= f["divisor"]
        with np.errstate(over="ignore"):  # what is not finite is refused
            value = value.astype(f["rounded"] or "float64").astype(np.float64)
    require(np.isfinite(value).all(), f"{f.where} must be finite")
    require(are_weights(value), f"{f.where} must be at most {LARGEST_WEIGHT:g} in size")
    found = {"sparse": f["sparse"], "value": value}
    if f["sparse"]:
        count = f["count"]
        ok = int(count.sum(dtype=np.int64)) == value.shape[0]
        require(ok, f"{f.where}.count must add up to {value.shape[0]}")
        first = np.cumsum(count, dtype=np.int64) - count
        return {**found, "column": f["column"], "count": count, "first": first}
    n = f["R"] * f["C"]
    held = np.unpackbits(f["held"], count=n).view(np.bool_)
    require(
        np.count_nonzero(held) == value.shape[0],
        f"{f.where}.held must mark {value.shape[0]} weights",
    )
    found["value"] = np.zeros(n)
    found["value"][held] = value
    return found


PACKED = Table(
    "Weights without zeros",
    *_SHAPE,
    Field("count", array("int32", "R", low=0, high=2**31), when="sparse"),
    Field("column", array("int32", "packed", low=0, high="C"), when="sparse"),
    # A bit each: the file is as long as its claims, so no small one fills the memory.
    Field("held", array("uint8", "R × C / 8"), when="dense"),
    Field("divisor", integer(1, int(EXACT)), default=None),
    Field("rounded", choice({name: name for name in COMPRESSED}), default=None),
    Field(
        "packed",
        Kind("float64, float32, float16 or signed groups", _write_packed, _read_packed),
    ),
    make=_unpacked,
    dense=lambda f: not f["sparse"],
    **{"R × C / 8": lambda f: -(-f["R"] * f["C"] // 8)},
)


def _packed(store: Store, dtype: str, divisor: int | None) -> dict[str, Any]:
    """Return the members of a final store without zeros: of a compressed model, or of
    one with a ``divisor``.

    The latter, if it is not 0, is what numerators are divided by, if weights are such
    means.
    """
    held = (
        np.ones(store.value.shape[0], np.bool_) if store.sparse else store.value != 0.0
    )
    value = store.value[held]
    out = {**store._asdict(), "held": np.packbits(held)}
    integers = numerators(value, divisor, dtype) if divisor else None
    if integers is None:
        return {**out, "packed": value.astype(dtype)}
    return {**out, "divisor": divisor, "rounded": dtype, "packed": integers}


def weights(
    rows: int | str,
    columns: int | str,
    *,
    final: bool = True,
    may_be_sparse: bool = True,
) -> Kind:
    """Return the kind of a store of so many rows and columns.

    One in training asks for ``rule`` and ``clock``.
    """

    def write(store: Store, writer: Writer, name: str, f: Members) -> dict[str, Any]:
        store = without_spare_places(store)._replace(columns=int(store.columns))
        for field in ("value", "moment", "received"):
            if not np.isfinite(getattr(store, field)).all():
                raise ValueError(
                    f"the model cannot be saved: it has weights ({name}) that are not finite"
                )
        if not are_weights(store.value):
            what = f"weights ({name}) above {LARGEST_WEIGHT:g} in size"
            raise ValueError(f"the model cannot be saved: it has {what}")
        if writer.packed is None:
            return TRAINED.write(store._asdict(), writer, name)
        return PACKED.write(_packed(store, writer.packed, f["divisor"]), writer, name)

    def read(node: Any, where: str, around: Members) -> Store:
        R = around.size(rows)
        C = around.size(columns)
        packed = final and isinstance(node, dict) and "packed" in node
        table = PACKED if packed else FINAL if final else TRAINED
        found = table.read(node, where, Members({"R": R, "C": C}, around))
        store = new_store(0, C, READ_ONLY, found.pop("sparse"))
        require(may_be_sparse or not store.sparse, f"{where} must not be sparse")
        known = {name: found[name] for name in store._fields[2:] if name in found}
        store = store._replace(**known)
        if store.sparse:
            places = store.value.shape[0]
            reserved = store.count if final else store.room
            ok = (store.count <= reserved).all() and (store.first >= 0).all()
            # Not `first + reserved <= places`, which may overflow.
            ok = ok and (store.first <= places - reserved).all()
            require(ok, f"{where}: a row is out of range")
            store.used[0] = places
        return store

    return Kind(f"weights, {rows} × {columns}", write, read)


def full(store: Store) -> Store:
    """Return a final store as training wants it: its rows, if sparse, have no room
    left.
    """
    return store._replace(room=store.count.copy())


# --------------------------------------------------------------------------------------
# Rules and clocks
# --------------------------------------------------------------------------------------
RULE = Table(
    "Rule",
    Field("update", choice({"perceptron": PERCEPTRON, **VARIANTS})),
    Field("aggressiveness", number(0.0)),
    Field("hamming", flag),
    Field("penalty", choice(PENALTIES)),
    Field("alpha", number(0.0, 1.0)),
    Field(
        "average", choice({None: NO_AVERAGE, "step": EACH_STEP, "epoch": EACH_EPOCH})
    ),
    make=lambda f: Rule(**f),
)


_TINY = float(np.finfo(float).tiny)

CLOCK = Table(
    "Clock",
    Field(
        "step",
        via(
            pair(integer(), integer()),
            np.ndarray.tolist,
            partial(np.array, dtype=np.int64),
        ),
    ),
    Field("scale", via(pair(number(_TINY), number(0.0)), np.ndarray.tolist, np.array)),
    make=lambda f: Clock(**f),
)
