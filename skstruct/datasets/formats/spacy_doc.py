"""What spaCy's ``Doc.to_json`` gives: the entities under ``ents``."""

from __future__ import annotations

from .keyed import KeyedFormat, Keys


class SpacyDoc(KeyedFormat):
    """The entry of the table."""

    name = "spacy-doc"
    description = "what Doc.to_json of spaCy gives: a text and its ents"
    keys = Keys("text", "ents", "start", "end", "label")
