"""What training of a CRF with very many labels will cost, said before it begins.

A pass takes time in proportion to tokens times pairs of labels, and a pair of labels is
a weight. So a thousand labels are a million weights, each with its place in all vectors
of the solver, whatever the corpus is.
"""

from __future__ import annotations

from .._core.user_warnings import warn
from .solver.corpus_sums import N_BLOCKS

MUCH_TIME = 1800.0
"""Seconds from which on a user is warned."""

MUCH_MEMORY = 2e9
"""Bytes from which on a user is warned."""

_SECONDS = 0.3e-9
"""Of a pass, for a token and a pair of labels; on one core of 2.5 GHz, with 400 and 800
labels.
"""

_PASSES = 100
"""How many passes most corpora take; see *L1CRF: what was tried* in
``docs/decisions.md``.
"""

_VECTORS = 50
"""Arrays of eight bytes for each pair of labels that the objective and both stages
have, besides two for each block of the corpus; the peak of fits has 477 to 571 bytes a
pair in all.
"""


def expected_bytes(n_labels: int, memory: int) -> int:
    """Return how much memory the weights of pairs of labels take in training, at most.

    Parameters
    ----------
    n_labels : int
    memory : int
        Steps that the solver remembers, with changes of the gradient, each in four
        bytes a weight that is not zero.
    """
    return n_labels**2 * 8 * (2 * N_BLOCKS + _VECTORS + memory)


def expected_seconds(n_labels: int, n_tokens: int, max_passes: int) -> float:
    """Return about how much processor time training takes.

    Parameters
    ----------
    n_labels, n_tokens : int
    max_passes : int
        Those that the user allows.
    """
    return min(_PASSES, max_passes) * n_tokens * n_labels**2 * _SECONDS


def _in_words(seconds: float) -> str:
    """Return a time to one digit."""
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{float(f'{seconds / size:.1g}'):g} {unit}"
    return "a minute or two"


def warn_of_cost(
    n_labels: int, n_tokens: int, max_passes: int, memory: int, n_shards: int = 0
) -> None:
    """Warn if training takes very long, or very much memory, because of the number of
    labels; say what to do.

    Parameters
    ----------
    n_labels, n_tokens, max_passes, memory : int
        As of :func:`expected_bytes` and :func:`expected_seconds`; tokens of all shards.
    n_shards : int
        Shards with sums of their own; 0 without shards.
    """
    size = expected_bytes(n_labels, memory)
    seconds = expected_seconds(n_labels, n_tokens, max_passes)
    if size < MUCH_MEMORY and seconds < MUCH_TIME:
        return
    bytes_of = f"up to {size / 1e9:.1f} GB of memory"
    if n_shards:
        of_shard = expected_bytes(n_labels, 0) / 1e9
        bytes_of += f" here, up to {of_shard:.1f} GB for each of {n_shards} shards,"
    warn(
        f"L1CRF has {n_labels:,} labels, so {n_labels**2:,} weights of label pairs: "
        f"training takes {bytes_of} and in the order of "
        f"{_in_words(seconds)} of processor time. Use fewer labels, or "
        f"StructuredPerceptron, which takes a small part of both; `memory=10` and "
        f"`max_iter` take less of each"
    )
