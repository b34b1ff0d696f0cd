"""The states of weight stores, update rules and step counters."""

import numpy as np

from ..core.codes import EACH_EPOCH, EACH_STEP, NO_AVERAGE, PENALTIES, PERCEPTRON, VARIANTS
from ..core.store import Clock, Rule, Store, in_use, sizes
from .packing import packed_state, unpacked_state
from .values import name_of, require, within

_UPDATES = {"perceptron": PERCEPTRON, **VARIANTS}
_AVERAGES = {None: NO_AVERAGE, "step": EACH_STEP, "epoch": EACH_EPOCH}


def store_state(store, writer, name, divisor=0):
    """The JSON of a store; for ``divisor`` see :func:`.packing.packed_state`."""
    store = in_use(store)
    state = {"sparse": bool(store.sparse), "columns": int(store.columns)}
    for field in ("value", "moment", "received"):
        if not np.isfinite(getattr(store, field)).all():
            raise ValueError(f"the model cannot be saved: it has weights ({name}) that are not finite")
    if writer.packed is not None:
        return {**state, **packed_state(store, writer, name, divisor)}
    for field in ("value", "moment", "received", "column", "last", "first", "count", "room"):
        array = getattr(store, field)
        if array.size:
            state[field] = writer.array(f"{name}.{field}", array)
    return state


def store_from_state(node, reader, where, rows, columns, rule, step, final=False):
    """The store of a file.

    Parameters
    ----------
    rows, columns : int
        What encoder and labels ask for.
    rule : Rule
        Decides which of the bookkeeping arrays have to exist.
    step : int
        Steps of the clock.
    final : bool
        Whether the store is for prediction only.
    """
    sparse, n_columns = reader.members(node, where, "sparse columns")
    sparse = reader.flag(sparse, f"{where}.sparse")
    require(type(n_columns) is int and n_columns == columns, f"{where}: {columns} columns expected")

    unpacked = (
        unpacked_state(node, reader, where, rows, columns, sparse) if final and "packed" in node else {}
    )

    def array(field, dtype, n):
        at = f"{where}.{field}"
        if field in unpacked:
            require(unpacked[field].dtype == dtype, f"{at} must be {np.dtype(dtype)}")
            require(n in (None, unpacked[field].shape[0]), f"{at} must have {n} elements")
            return unpacked[field]
        if field in node:
            return reader.array(node[field], at, dtype, (n,))
        require(not n, f"{where} lacks {field}")
        return np.zeros(0, dtype)

    value = array("value", np.float64, None if sparse else rows * columns)
    places = value.shape[0]
    size = sizes(rule, rows, places)
    in_rows = rows if sparse else 0
    store = Store(
        sparse=sparse,
        columns=columns,
        value=value,
        moment=array("moment", np.float64, size["moment"]),
        received=array("received", np.float64, size["received"]),
        last=array("last", np.int64, size["last"]),
        first=array("first", np.int64, in_rows),
        count=array("count", np.int32, in_rows),
        # Early files of L1CRF have it in final stores too, where it says nothing.
        room=np.zeros(0, np.int32) if final else array("room", np.int32, in_rows),
        column=array("column", np.int32, places if sparse else 0),
        used=np.array([places if sparse else 0], np.int64),
    )
    for part in (store.value, store.moment, store.received):
        require(np.isfinite(part).all(), f"{where} must be finite")
    require((store.received >= 0.0).all(), f"{where}.received must not be negative")
    require(within(store.last, 0, step + 1), f"{where}.last is out of range")
    require(within(store.column, 0, columns), f"{where}.column is out of range")
    if sparse:
        reserved = store.count if final else store.room
        ok = within(store.count, 0, 2**31) and (store.count <= reserved).all()
        # Not `first + reserved <= places`, which may overflow.
        ok = ok and within(store.first, 0, places + 1) and (store.first <= places - reserved).all()
        require(ok, f"{where}: a row is out of range")
    return store


def full(store):
    """A final store as training wants it: its rows, if sparse, have no room left."""
    return store._replace(room=store.count.copy())


def steps_state(rule, clock):
    """The JSON of rule and clock."""
    return {
        "rule": {
            "update": name_of(rule.update, _UPDATES),
            "aggressiveness": float(rule.aggressiveness),
            "hamming": bool(rule.hamming),
            "penalty": name_of(rule.penalty, PENALTIES),
            "alpha": float(rule.alpha),
            "average": name_of(rule.average, _AVERAGES),
        },
        "clock": {"step": clock.step.tolist(), "scale": clock.scale.tolist()},
    }


def rule_from_state(node, reader, where):
    """The :class:`Rule` of a file."""
    read = reader.part(node, where)
    return Rule(
        read("update", reader.choice, _UPDATES),
        read("aggressiveness", reader.number, 0.0, np.finfo(float).max),
        read("hamming", reader.flag),
        read("penalty", reader.choice, PENALTIES),
        read("alpha", reader.number, 0.0, 1.0),
        read("average", reader.choice, _AVERAGES),
    )


def clock_from_state(node, reader, where):
    """The :class:`Clock` of a file."""
    step, scale = (reader.list(part, where) for part in reader.members(node, where, "step scale"))
    require(len(step) == len(scale) == 2, f"{where} must have two steps and two scales")
    tiny, huge = np.finfo(float).tiny, np.finfo(float).max
    return Clock(
        np.array([reader.integer(n, f"{where}.step", 0) for n in step], np.int64),
        np.array([reader.number(x, f"{where}.scale", low, huge) for x, low in zip(scale, (tiny, 0.0))]),
    )
