"""Conversion of the options for annotated texts into a layout that a model keeps, and
back.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ..._data.source_layout import SourceLayout, is_plain, plain_names
from .span_files import AnnotationReader

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


def reader_of(layout: SourceLayout) -> AnnotationReader:
    """Return the reader of annotated texts that a layout describes.

    Raises
    ------
    ValueError
        If the layout has an option that is none of the format, or a value that it
        cannot have.
    """
    known = {option.name for option in fields(AnnotationReader)}
    for name in layout.options:
        if name not in known:
            raise ValueError(f"layout: annotated texts have no option {name!r}")
    return AnnotationReader(
        format=layout.format,
        offsets=layout.offsets or "auto",
        ends=layout.ends or "auto",
        encoding=layout.encoding,
        **layout.options,
    )
