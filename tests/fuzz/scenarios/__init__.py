"""The scenarios: each trains a model on random data, and checks what must hold of
it.
"""

from . import (
    crf,
    damage,
    inputs,
    nested,
    others,
    partial,
    several,
    spans,
    structures,
    taggers,
)

__all__ = [
    "crf",
    "damage",
    "inputs",
    "nested",
    "others",
    "partial",
    "several",
    "spans",
    "structures",
    "taggers",
]
