"""The fields of chain models in files.

Every array is checked against the number of labels and of feature rows, every row
number and column against its range: kernels index without checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._saving.fields import Field, Table, array, via
from .._saving.label_sets import label_set
from .._saving.stores import weights
from ..features.encoder_choice import encoder
from .bigram import n_trigram_rows
from .shown_pairs import ShownPairs

if TYPE_CHECKING:
    from .._saving.fields import Kind

_ROWS = {"nodes": "R", "edges": "E × L", "trigrams": "L × (L + 1)"}

SIZES = {
    "L": lambda f: len(f["labels"]),
    "R": lambda f: f["encoder"].n_node_rows,
    "E × L": lambda f: f["encoder"].n_edge_rows * f["L"],
    "L × (L + 1)": lambda f: n_trigram_rows(f["L"]),
}


def _stores(final: bool) -> tuple[Field, Field, Field]:
    """Make the fields of the stores of a chain; only one of order 2 has trigrams."""
    nodes, edges, trigrams = (
        Field(name, weights(R, "L", final=final)) for name, R in _ROWS.items()
    )
    return (
        nodes,
        edges,
        trigrams._replace(of=lambda chain: chain.trigrams or None, default=None),
    )


def _scores(*shape: str) -> Kind:
    """Make the kind of arrays of 0 for what is allowed, else of minus infinity."""
    return via(
        array("bool", *shape),
        lambda found: found == 0.0,
        lambda ok: np.where(ok, 0.0, -np.inf),
    )


CONSTRAINTS = Table(
    "Constraints",
    Field("start", _scores("L"), of=lambda parts: parts[0]),
    Field("allowed", _scores("L", "L"), of=lambda parts: parts[1]),
    Field("end", _scores("L"), of=lambda parts: parts[2]),
    make=lambda f: (f["start"], f["allowed"], f["end"]),
)

CHAIN = Table(
    "Model of a tagger",
    Field("labels", label_set),
    Field("encoder", encoder),
    *_stores(final=True),
    Field("constraints", CONSTRAINTS),
    **SIZES,
)

TAGGER = Table(
    "State of a tagger",
    Field("model", CHAIN, of=lambda model: model, stem=""),
    make=lambda f: f["model"],
)

TRAINED = Table("Chain in training", *_stores(final=False), **SIZES)


def _ascending(keys: np.ndarray) -> np.ndarray:
    """Return keys, and raise ValueError unless they ascend."""
    if (np.diff(keys) <= 0).any():
        raise ValueError("ascending numbers expected")
    return keys


def _keys(of: str) -> Kind:
    """Make the kind of arrays of ascending keys below the size named ``of``."""
    return via(array("int64", None, low=0, high=of), lambda keys: keys, _ascending)


SHOWN_PAIRS = Table(
    "Shown pairs",
    Field("nodes", _keys("R × L"), default=None),
    Field("edges", _keys("E × L × L"), default=None),
    make=lambda f: ShownPairs(f["nodes"], f["edges"]),
    **{
        "R × L": lambda f: f["encoder"].n_node_rows * len(f["labels"]),
        "E × L × L": lambda f: f["encoder"].n_edge_rows * len(f["labels"]) ** 2,
    },
)

SHOWN = Field("pairs", SHOWN_PAIRS, default=None)
