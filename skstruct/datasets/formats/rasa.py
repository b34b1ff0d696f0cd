"""Training data of Rasa in JSON: one object that holds all examples."""

from __future__ import annotations

from .keyed import KeyedFormat, Keys


class Rasa(KeyedFormat):
    """The entry of the table."""

    name = "rasa"
    description = "training data of Rasa: rasa_nlu_data with common_examples"
    keys = Keys(
        "text",
        "entities",
        "start",
        "end",
        "entity",
        covered="value",
        records="rasa_nlu_data.common_examples",
    )
