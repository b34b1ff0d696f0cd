"""What a compressed model takes in a file: integers in few bytes, weights without zeros.

Plain arrays, which a reader needs no decompressor for. An array grows to at most 64 times its bytes in the
file, so that no small file fills the memory.
"""

import numpy as np

from .checks import require, within

COMPRESSED = ("float64", "float32", "float16")
"""Types of weights that a compressed model has in a file."""

NARROWED = {"int32", "int64"}
"""Types of integers that a compressed model stores in fewer bytes."""


def _narrow(array):
    """The same integers in the smallest type that holds them."""
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    fits = (np.iinfo(name) for name in ("uint8", "int8", "uint16", "int16", "int32", "int64"))
    return array.astype(next(i.dtype for i in fits if i.min <= low and high <= i.max))


def narrowed(array):
    """Integers, or their differences, in few bytes; and the members of the reference that say so."""
    narrow, node = _narrow(array), {"dtype": array.dtype.name}
    if array.ndim and narrow.itemsize > 1:
        steps = _narrow(np.diff(array.astype(np.int64), axis=0, prepend=0))
        if steps.itemsize < narrow.itemsize:
            return steps, {**node, "steps": True}
    return narrow, node


def widened(array, node, where):
    """What :func:`narrowed` was given."""
    ok = array.dtype.kind in "iu" and array.dtype != np.uint64 and array.ndim > 0
    require(ok and node["dtype"] in NARROWED, f"{where}: integers expected")
    if "steps" in node:
        array = np.cumsum(array, axis=0, dtype=np.int64)
    limits = np.iinfo(node["dtype"])
    require(within(array, limits.min, limits.max + 1), f"{where} must be {node['dtype']}")
    return array.astype(node["dtype"])


def packed_state(store, writer, name):
    """The arrays of a compressed store, which holds no zero if it is sparse."""
    value, state = store.value, {}
    if store.sparse:
        for field in ("count", "column"):
            state[field] = writer.array(f"{name}.{field}", getattr(store, field))
    else:
        held = value != 0.0
        value, state["held"] = value[held], writer.array(f"{name}.held", np.packbits(held))
    return {**state, "packed": writer.array(f"{name}.packed", value.astype(writer.packed))}


def unpacked_state(node, reader, where, rows, columns, sparse):
    """The members of the store that :func:`packed_state` was given."""
    value = reader.array(node["packed"], f"{where}.packed", None, (None,))
    require(value.dtype.kind == "f", f"{where}.packed must be floating-point numbers")
    value = value.astype(np.float64)
    if sparse:
        count, column = reader.members(node, where, "count column")
        count = reader.array(count, f"{where}.count", np.int32, (rows,))
        ok = within(count, 0, 2**31) and int(count.sum(dtype=np.int64)) == value.shape[0]
        require(ok, f"{where}.count must add up to {value.shape[0]}")
        first = np.cumsum(count, dtype=np.int64) - count
        return {
            "value": value,
            "column": reader.array(column, f"{where}.column"),
            "count": count,
            "first": first,
        }
    (held,) = reader.members(node, where, "held")
    # A bit each: the file is as long as its claims, so no small one fills the memory.
    held = reader.array(held, f"{where}.held", np.uint8, (-(-rows * columns // 8),))
    held = np.unpackbits(held, count=rows * columns).view(np.bool_)
    require(np.count_nonzero(held) == value.shape[0], f"{where}.held must mark {value.shape[0]} weights")
    out = np.zeros(rows * columns)
    out[held] = value
    return {"value": out}
