"""One encoder for several models that number features alike, so that a text is encoded
once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._saving.values import Writer
from .._sklearn import innermost
from ..features.encoder_choice import encoder


def share_encoders(taggers: Iterable[Any]) -> None:
    """Let fitted taggers have one encoder where theirs are equal, as those of chains of
    labels that were read from a file.
    """
    known: list[Any] = []
    for tagger in taggers:
        model: Any = getattr(innermost(tagger).estimator, "_model", None)
        own = getattr(model, "encoder", None)
        if own is None:
            continue
        same = next((each for each in known if are_equal(each, own)), None)
        if same is None:
            known.append(own)
        else:
            model.encoder = same


def are_equal(one: Any, two: Any) -> bool:
    """Tell whether two encoders are the same in files."""
    if one is two:
        return True
    sizes = [(type(x), x.n_node_rows, x.n_edge_rows, x.n_features) for x in (one, two)]
    if sizes[0] != sizes[1]:
        return False
    writers = [Writer(True, None), Writer(True, None)]
    nodes = [encoder.write(x, w, "", None) for x, w in zip((one, two), writers)]
    arrays = [writer.arrays for writer in writers]
    return (
        nodes[0] == nodes[1]
        and arrays[0].keys() == arrays[1].keys()
        and all(np.array_equal(a, arrays[1][name]) for name, a in arrays[0].items())
    )
