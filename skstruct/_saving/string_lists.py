"""Lists of strings as two arrays: the UTF-8 bytes of all of them, and where each
begins.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection

import numpy as np

from .container import ModelFileError


def pack_strings(strings: Collection[str]) -> tuple[np.ndarray, np.ndarray]:
    """Turn a list of strings into two arrays, for `write_container`.

    Parameters
    ----------
    strings : list of str

    Returns
    -------
    data : ndarray of uint8, shape (n_bytes,)
        All strings, UTF-8, one after the other.
    offsets : ndarray of int64, shape (n_strings + 1,)
        String i is ``data[offsets[i]:offsets[i + 1]]``.

    Examples
    --------
    >>> data, offsets = pack_strings(["ab", "", "\u00e9"])
    >>> bytes(data), offsets.tolist()
    (b'ab\xc3\xa9', [0, 2, 2, 4])
    """
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    return np.frombuffer(bytearray().join(encoded), dtype=np.uint8), offsets


def unpack_strings(data: np.ndarray, offsets: np.ndarray) -> list[str]:
    """Turn the two arrays of `pack_strings` back into a list of str.

    Parameters
    ----------
    data, offsets : ndarray of uint8, shape (n_bytes,), and of int64, shape (n_strings +
    1,)

    Returns
    -------
    list of str

    Raises
    ------
    ModelFileError
        If the arrays are not such a pair.
    """
    ok = data.dtype == np.uint8 and data.ndim == 1
    if not (ok and offsets.dtype == np.int64 and offsets.ndim == 1):
        raise ModelFileError("packed strings must be a 1-d uint8 and a 1-d int64 array")
    if not (offsets.size and offsets[0] == 0 and offsets[-1] == data.size):
        raise ModelFileError(
            f"offsets of packed strings must run from 0 to {data.size}"
        )
    if not (offsets[1:] >= offsets[:-1]).all():
        raise ModelFileError("offsets of packed strings must not decrease")
    text = data.tobytes()
    bounds = offsets.tolist()
    try:
        return [
            text[i:j].decode("utf-8", "surrogatepass")
            for i, j in itertools.pairwise(bounds)
        ]
    except UnicodeDecodeError as error:
        raise ModelFileError(f"packed strings are not UTF-8: {error}") from None
