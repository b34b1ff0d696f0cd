"""Records of PubAnnotation: denotations of a text."""

from __future__ import annotations

from .keyed import KeyedFormat, Keys


class PubAnnotation(KeyedFormat):
    """The entry of the table."""

    name = "pubannotation"
    description = "records of PubAnnotation: a text and its denotations"
    keys = Keys("text", "denotations", "span.begin", "span.end", "obj")
