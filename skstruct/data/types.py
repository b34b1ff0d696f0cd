"""Types of what users hand over, for type hints."""

import os
from collections.abc import Collection
from typing import Any, TypeAlias

Corpus: TypeAlias = Collection[Collection[Any]]
"""Sequences of tokens, labels, words or arcs: a list, a tuple, an object array or a Series of such."""

Texts: TypeAlias = Collection[str]
"""Strings, one a text."""

Path: TypeAlias = str | os.PathLike[str]
"""Name of a file or folder."""

History: TypeAlias = list[dict[str, Any]]
"""What a fit notes of each epoch."""
