"""Types of what users hand over, for type hints."""

import os
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, TypeAlias

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from typing_extensions import Self as Self
else:
    Self = Any

Corpus: TypeAlias = Collection[Collection[Any]]
"""Sequences of tokens, labels, words or arcs: a list, a tuple, an object array or a
Series of such.
"""

Texts: TypeAlias = Collection[str]
"""Strings, one a text."""

Path: TypeAlias = str | os.PathLike[str]
"""Name of a file or folder."""

Weights: TypeAlias = ArrayLike | None
"""The weights of sequences, as ``sample_weight``."""

Given: TypeAlias = Corpus | None
"""An argument that users may leave out, as ``X_val`` and ``y_val``."""

Ranked: TypeAlias = list[list[tuple[list[Any], float]]]
"""For each sequence the k best analyses with their scores, best first."""

History: TypeAlias = list[dict[str, Any]]
"""The notes of a fit on each epoch."""
