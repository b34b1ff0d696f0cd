"""What was understood of a file: said to the user, and remembered by a model."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._data.places import counted
from ..._data.source_layout import SourceLayout, is_plain, plain_names

if TYPE_CHECKING:
    from .span_files import AnnotationReader


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


_OF_ONE_FILE = frozenset(("format", "encoding", "annotated"))
"""Options of annotated texts that a model does not remember, or says elsewhere."""


def reader_options(reader: AnnotationReader) -> dict[str, Any]:
    """Return the fields of a `SourceLayout` that say how annotated texts are read."""
    given = {
        option.name: getattr(reader, option.name)
        for option in fields(reader)
        if option.name not in _OF_ONE_FILE
        and getattr(reader, option.name) != option.default
    }
    if "label_names" in given:
        given["label_names"] = plain_names(given["label_names"])
    units: dict[str, Any] = {
        name: given.pop(name) for name in ("offsets", "ends") if name in given
    }
    options = {name: value for name, value in given.items() if is_plain(value)}
    return {**units, "options": options}
