"""``export``: a fitted model written as one file that runs without this package."""

from __future__ import annotations

import os
import re
from typing import Any

from ...data.types import Path
from ...saving.atomic import atomic_write
from .payload import payload_of
from .quantities import WEIGHTS
from .splicing import javascript_file, python_file

ENDINGS = ".py", ".js", ".cjs", ".mjs"

_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)


def export(model: Any, path: Path, *, weights: str = "exact") -> None:
    """Write a fitted tagger as one file of Python or JavaScript that needs nothing else.

    Parameters
    ----------
    model : StructuredPerceptron, PassiveAggressiveTagger, L1CRF ...
        A fitted chain tagger; also an average, a mixture or a calibrated one, or a search or pipeline that
        ends in one.
    path : str or os.PathLike
        Ends in ``.py``, ``.js`` (or ``.cjs``) or ``.mjs``. Written whole or not at all; what was there before
        is replaced.
    weights : {"exact", "int16", "int8"}, default="exact"
        ``"exact"``: labels and scores are those of the model, bit for bit. Otherwise weights are rounded to
        multiples of the largest over 32767, or over 127, and scores are close.

    Raises
    ------
    TypeError
        If it is no chain tagger.
    ValueError
        If the model cannot be written, or a parameter has another value; the message says why.
    OSError
        If the file cannot be written.
    """
    ending = os.path.splitext(os.fspath(path))[1]
    if ending not in ENDINGS:
        raise ValueError(
            f"path must end in .py, .js, .cjs or .mjs, got {os.path.basename(os.fspath(path))!r}"
        )
    if weights not in WEIGHTS:
        raise ValueError(f"weights must be 'exact', 'int16' or 'int8', got {weights!r}")
    payload = payload_of(model, weights)
    stem = os.path.splitext(os.path.basename(os.fspath(path)))[0]
    block = payload.block(name=stem if _IDENTIFIER.fullmatch(stem) else "tagger")
    if ending == ".py":
        text = python_file(block, payload.parts)
    else:
        text = javascript_file(block, payload.parts, ".mjs" if ending == ".mjs" else ".js")
    with atomic_write(os.fspath(path), encoding="utf-8") as file:
        file.write(text)
