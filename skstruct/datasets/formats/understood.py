"""What was understood of a file: said to the user, and remembered by a model."""

from __future__ import annotations

from typing import NamedTuple

from ..._data.places import counted
from ..._data.source_layout import SourceLayout


class Understood(NamedTuple):
    """How a file is read, why, and what is in it."""

    layout: SourceLayout  # what a model remembers
    why: str  # what speaks for the format, or that an option says it
    # How many sentences, tokens, texts, spans, documents there are, by name in the
    # singular; what was skipped.
    counts: dict[str, int]

    def sentence(self) -> str:
        """Say in one line what was understood."""
        counts = [counted(n, name) for name, n in self.counts.items()]
        why = f" ({self.why})" if self.why else ""
        return "; ".join([f"{self.layout.describe()}{why}", *counts])
