"""Records of Presidio's evaluator: a text under ``full_text``."""

from __future__ import annotations

from .keyed import KeyedFormat, Keys


class Presidio(KeyedFormat):
    """The entry of the table."""

    name = "presidio"
    description = "records of Presidio: full_text and spans with entity_type"
    keys = Keys(
        "full_text",
        "spans",
        "start_position",
        "end_position",
        "entity_type",
        covered="entity_value",
    )
