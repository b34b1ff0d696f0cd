"""What was understood of a file: said to the user, and remembered by a model."""

from __future__ import annotations

from typing import NamedTuple

from ..._data.places import counted
from ..._data.source_layout import SourceLayout


class Understood(NamedTuple):
    """How a file is read, why, and what is in it.

    Attributes
    ----------
    layout : SourceLayout
        What a model remembers.
    why : str
        Why it is this format: what was seen in the file, or the option that names it.
    counts : dict of str to int
        How many sentences, tokens, words, texts, spans, documents there are, by name in
        the singular.
    """

    layout: SourceLayout
    why: str
    counts: dict[str, int]

    def sentence(self) -> str:
        """Say in one line what was understood."""
        counts = [counted(n, name) for name, n in self.counts.items()]
        why = f" ({self.why})" if self.why else ""
        return "; ".join([f"{self.layout.describe()}{why}", *counts])
