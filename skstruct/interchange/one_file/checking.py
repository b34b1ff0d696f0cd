"""The report of a written file: its size, and how its predictions compare with those of the model."""

from __future__ import annotations

import gzip
import os
from typing import Any, NamedTuple

import numpy as np

from ...data.inputs import describe
from .python.parts import open_model

MOST_PLACES = 10


class ExportReport(NamedTuple):
    """What :func:`skstruct.interchange.export` wrote; prints as three lines.

    Attributes
    ----------
    path : str
    n_bytes, n_bytes_gzip : int
        Size of the file, and of what servers send of it.
    n_weights : int
        Weights that are not zero.
    n_sequences : int
        Sequences that were compared; 0 without ``check``.
    n_sequences_differ, n_tokens_differ : int
        Of these how many the file labels otherwise than the model, and how many tokens in them; of texts how
        many words, or spans, of the model it misses.
    largest_difference : float or None
        Of a score; None if the model gives no scores.
    places : list of (sequence, position)
        The first ten that differ.
    """

    path: str
    n_bytes: int
    n_bytes_gzip: int
    n_weights: int
    n_sequences: int
    n_sequences_differ: int
    n_tokens_differ: int
    largest_difference: float | None
    places: list[tuple[int, int]]

    def __str__(self) -> str:
        size = f"{self.n_bytes / 1000:,.0f} kB ({self.n_bytes_gzip / 1000:,.0f} kB gzipped)"
        lines = [f"{self.path}: {size}, {self.n_weights:,} weights"]
        if not self.n_sequences:
            return "\n".join([*lines, "not compared with the model", "check=X does that on sequences"])
        n = f"{self.n_sequences_differ:,} of {self.n_sequences:,} sequences"
        places = ", first " + ", ".join(map(str, self.places[:3])) if self.places else ""
        lines.append(f"{n} labelled otherwise, {self.n_tokens_differ:,} tokens{places}")
        largest = "no scores" if self.largest_difference is None else f"{self.largest_difference:.3g}"
        return "\n".join([*lines, f"largest difference of a score: {largest}"])


class Comparison(NamedTuple):
    """Predictions of a model and of the data that is written of it."""

    n_sequences: int = 0
    n_sequences_differ: int = 0
    n_tokens_differ: int = 0
    largest_difference: float | None = 0.0
    places: list[tuple[int, int]] = []


def compared(model: Any, block: str, X: Any) -> Comparison:
    """The :class:`Comparison` on some sequences, or texts."""
    if isinstance(X, (str, dict)) or not hasattr(X, "__len__"):
        raise ValueError(f"check must be a list of sequences, got {describe(X)}")
    file = open_model(block)
    places, n_differ = [], 0
    for i, (expected, found) in enumerate(zip(model.predict(X), file.predict(X))):
        if file.header["task"] == "labels":
            wrong = [t for t, (one, other) in enumerate(zip(expected, found)) if one != other]
        else:
            known = set(found)
            wrong = [t for t, item in enumerate(expected) if item not in known]
        n_differ += list(expected) != list(found)
        places += [(i, t) for t in wrong]
    largest = None
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), float), np.asarray(file.decision_function(X), float)
        largest = float(np.abs(scores[0] - scores[1]).max(initial=0.0))
    return Comparison(len(X), n_differ, len(places), largest, places[:MOST_PLACES])


def report_of(path: Any, text: str, n_weights: int, found: Comparison) -> ExportReport:
    """The report of what is written to a path."""
    data = text.encode()
    return ExportReport(os.fspath(path), len(data), len(gzip.compress(data, mtime=0)), n_weights, *found)
