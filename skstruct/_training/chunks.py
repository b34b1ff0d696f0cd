"""Pieces of a corpus on threads, and arrays lent to kernels."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

import numpy as np
from joblib import effective_n_jobs
from sklearn import config_context, get_config

from .._data.inputs import renumbered

T = TypeVar("T")

Bounds: TypeAlias = tuple[int, int, int, int]
"""Bounds of a piece of a corpus: first and last sequence, first and last token; the
last ones are not in it.
"""

PIECE_TOKENS = 262_144
"""Tokens predicted at a time: bounds the memory of the encoding."""


class _Lent:
    """Hands an array's memory to numpy as writeable."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array  # kept alive by the arrays made from this object
        self.__array_interface__ = {
            **array.__array_interface__,
            "data": (array.__array_interface__["data"][0], False),
        }


def with_arrays_changed(
    value: Any, change: Callable[[str, np.ndarray], Any], name: str = ""
) -> Any:
    """Put ``change(name, array)`` in the place of each array in nested named tuples.

    Names are paths of fields, which begin with ``name``.
    """
    if isinstance(value, np.ndarray):
        return change(name, value)
    if not isinstance(value, tuple):
        return value
    names = getattr(value, "_fields", range(len(value)))
    parts = [
        with_arrays_changed(part, change, f"{name}.{field}")
        for field, part in zip(names, value)
    ]
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)


def as_writeable_view(value: T) -> T:
    """Make all arrays in nested tuples such that kernels accept them without being
    compiled anew.

    A model may live in a read-only memory map. Numba treats read-only arrays as another
    type; since prediction never writes to weights, it sees them as ordinary ones.
    """

    def lend(_: str, array: np.ndarray) -> np.ndarray:
        if array.flags.writeable and array.flags.aligned and type(array) is np.ndarray:
            return array
        fits = array.flags.aligned and array.flags.c_contiguous and array.size
        return np.asarray(_Lent(array)) if fits else np.array(array)

    return with_arrays_changed(value, lend)


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep Python's cyclic collector from walking, again and again, over many lists in
    the making.

    Twenty labellings of 3,654 sentences are 73,000 lists: half of the time went there.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def threads(n_jobs: int | None, n: int) -> Iterator[Callable[..., Iterable[Any]]]:
    """Provide a ``map`` for n items, on threads unless one is enough; results come in
    the order of the items.
    """
    n_threads = min(effective_n_jobs(n_jobs), n)
    if n_threads < 2:
        yield map
        return
    config = get_config()  # that of this thread: scikit-learn keeps one for each

    def map_all(work: Callable[[Any], Any], items: Iterable[Any]) -> Iterable[Any]:
        def configured(item: Any) -> Any:
            with config_context(**config):
                return work(item)

        return pool.map(configured, items)

    with ThreadPoolExecutor(n_threads) as pool:
        yield map_all


def map_chunks(
    work: Callable[[Bounds], T],
    token: np.ndarray,
    n_jobs: int | None,
    piece_tokens: int = PIECE_TOKENS,
) -> list[T]:
    """Call ``work(bounds)`` for each piece of a corpus, on threads, and return the
    results in order.

    ``token`` (n + 1,) tells where each sequence starts. The pieces depend on
    ``n_jobs``, results must not. An error that ``work`` raises counts the sequences of
    its piece; here it learns where they are.
    """

    def placed(piece: Bounds) -> T:
        with renumbered(range(piece[0], piece[1])):
            return work(piece)

    n = len(token) - 1
    if n == 1:  # no pieces, and the place of an error is right
        return [work((0, 1, 0, int(token[1])))]
    n_threads = effective_n_jobs(n_jobs)
    n_pieces = max(
        4 * n_threads if n_threads > 1 else 1, -(-int(token[-1]) // piece_tokens)
    )
    marks = np.linspace(0, token[-1], n_pieces + 1)[1:-1]
    cuts = (
        np.unique([0, *np.searchsorted(token, marks).tolist(), n]).tolist()
        if n
        else [0, 0]
    )
    bounds = [(a, b, int(token[a]), int(token[b])) for a, b in zip(cuts, cuts[1:])]
    with threads(n_jobs, len(bounds)) as map_all:
        return list(map_all(placed, bounds))
