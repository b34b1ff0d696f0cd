"""The scenarios: each trains a model on random data, and checks what must hold of
it.
"""

from . import crf, damage, inputs, others, several, spans, structures, taggers

__all__ = [
    "crf",
    "damage",
    "inputs",
    "others",
    "several",
    "spans",
    "structures",
    "taggers",
]
