"""Asking for memory that is read a little later.

A table of features is far larger than the caches of a processor, and most of the time
of a search went into waiting for its slots, a few at a time. A processor that was asked
for lines of memory goes on meanwhile.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

try:
    from numba.core.cgutils import ir
except ImportError:
    ir = None


@intrinsic
def _prefetch(typingctx: Any, array: Any, index: Any) -> Any:  # noqa: ARG001
    if not isinstance(array, types.Array) or not isinstance(index, types.Integer):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # Kernels are right without it: nothing is asked for where numba has other names
        # for all this.
        with suppress(AttributeError):
            kind, _ = signature.args
            data = context.make_array(kind)(context, builder, arguments[0]).data
            index = context.cast(builder, arguments[1], signature.args[1], types.intp)
            address = ir.IntType(8).as_pointer()
            word = ir.IntType(32)
            place = builder.bitcast(builder.gep(data, [index]), address)
            signature = ir.FunctionType(ir.VoidType(), [address, word, word, word])
            fetch = builder.module.declare_intrinsic(
                "llvm.prefetch", [address], signature
            )
            builder.call(
                fetch, [place, word(0), word(3), word(1)]
            )  # to read, soon again, not code
        return context.get_dummy_value()

    return types.none(array, index), generate


def prefetch(array: np.ndarray, index: int) -> None:
    """Fetch the line of ``array.ravel()[index]`` of a contiguous array, which need not
    exist.
    """


@overload(prefetch)
def _(array: np.ndarray, index: int) -> Any:  # noqa: ARG001 - numba goes by names
    def fetch(array: np.ndarray, index: int) -> Any:
        _prefetch(array, index)

    return fetch
