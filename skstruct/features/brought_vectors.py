"""Word vectors that people bring: a file of text as word2vec and GloVe write it, or a
dict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._data.inputs import describe
from .._saving.text_lines import numbered_lines
from .word_clusters import normal_form

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._data.types import Path


def vectors_of_file(path: Path, encoding: str) -> tuple[list[str], np.ndarray]:
    """Read a file with a word and its numbers a line.

    Parameters
    ----------
    path : str or os.PathLike
        Its first line may say how many words and numbers there are.
    encoding : str

    Returns
    -------
    words : list of str
        In normal form C; of equal ones the first counts.
    vectors : ndarray of shape (n_words, n_components), float32

    Raises
    ------
    ValueError
        If a line has another number of numbers, or one that is none; the message names
        file and line.
    """
    with numbered_lines(path, encoding, False) as (name, lines):
        return _together(_vectors(name, lines), f"{name}: there are no vectors")


def _vectors(
    name: str, lines: Iterator[tuple[int, str]]
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield words with their numbers."""
    width = None
    for number, line in lines:
        parts = line.rstrip().split(" ")
        if number == 1 and len(parts) == 2 and all(map(str.isdecimal, parts)):
            width = int(parts[1])
            continue
        width = len(parts) - 1 if width is None else width
        where = f"{name}:{number}"
        if width < 1 or len(parts) <= width:
            raise ValueError(
                f"{where}: expected a word and {max(width, 1)} numbers, with a space "
                f"before each, got {line[:60]!r}"
            )
        try:
            vector = np.array(parts[-width:], np.float32)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        if not np.isfinite(vector).all():
            raise ValueError(f"{where}: a number is not finite")
        yield " ".join(parts[:-width]), vector


def vectors_of_dict(
    given: Mapping[str, ArrayLike],
) -> tuple[list[str], np.ndarray]:
    """Read a dict of word to vector, as :func:`vectors_of_file` reads a file."""
    if not isinstance(given, Mapping):
        raise TypeError(
            f"vectors must be a dict of word to vector, got {describe(given)}"
        )
    return _together(_checked(given), "there are no vectors")


def _checked(given: Mapping[str, ArrayLike]) -> Iterator[tuple[str, np.ndarray]]:
    width = None
    for word, value in given.items():
        vector = np.asarray(value, np.float32)
        if not isinstance(word, str):
            raise TypeError(f"words must be str, got {describe(word)}")
        width = vector.size if width is None else width
        if vector.shape != (width,) or not width or not np.isfinite(vector).all():
            raise ValueError(
                f"the vector of {word!r} must be {width} finite numbers, got "
                f"{describe(value)}"
            )
        yield word, vector


def _together(
    found: Iterator[tuple[str, np.ndarray]], nothing: str
) -> tuple[list[str], np.ndarray]:
    """Put vectors together, the first of each word in normal form C."""
    vectors: dict[str, Any] = {}
    for word, vector in found:
        vectors.setdefault(normal_form(word), vector)
    if not vectors:
        raise ValueError(nothing)
    return list(vectors), np.array(list(vectors.values()))
