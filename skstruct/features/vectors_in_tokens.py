"""The error for a token that holds a vector, and how to pass vectors instead."""

from __future__ import annotations

from typing import Any

import numpy as np


def way_out(value: Any, name: Any = None) -> str:
    """Return the end of an error about a value that is no feature; empty if it is no
    vector.

    Parameters
    ----------
    value : object
        What a token holds.
    name : str, optional
        Of the feature in a dict.
    """
    if isinstance(value, (str, bytes, dict, set, frozenset)):
        return ""
    try:
        vector = np.asarray(value)
    except (TypeError, ValueError):  # parts of several sizes
        return ""
    if vector.ndim == 0 or not vector.size or vector.dtype.kind not in "biuf":
        return ""
    text = (
        "; vectors are columns of their own: SequenceUnion([('names', "
        "TokenVectorizer()), ('vectors', "
        "TokenTransformer(FunctionTransformer(rows)))]), where rows(tokens) is an "
        "array of the vectors of tokens, which do not hold them"
    )
    if name is None:
        return text
    shown = [f"'{k}': {x!r}" for k, x in enumerate(vector.ravel()[:2].tolist())]
    more = ", ..." if vector.size > 2 else ""
    return f"{text}; or numbers by name, {{{name!r}: {{{', '.join(shown)}{more}}}}}"
