"""``--min-proba``: the least probability of spans that are written, for all or by type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._taggers.abilities import span_labels
from .._taggers.probability_tagger import least_by_type
from .common import checked_type

if TYPE_CHECKING:
    from .common import Arguments


def _parsed(text: str) -> float | dict[str | None, float]:
    parts = [part.rpartition("=") for part in text.split(",")]
    found = {kind if equals else None: float(p) for kind, equals, p in parts}
    if len(found) < len(parts) or "" in found:
        raise ValueError(text)
    return found[None] if [*found] == [None] else found


def _is_valid(given: float | dict[str | None, float]) -> bool:
    each = given.values() if isinstance(given, dict) else [given]
    return all(0.0 < p <= 1.0 for p in each)


min_proba = checked_type(_parsed, _is_valid, "above 0 and at most 1, or TYPE=P,TYPE=P")
"""A type of ``argparse``."""


def settle_min_proba(model: Any, arguments: Arguments) -> None:
    """Replace what the option says by the least probability of each type."""
    if arguments.min_proba is None:
        return
    try:
        least = least_by_type(arguments.min_proba, span_labels(model))
    except ValueError as error:
        text = str(error).replace("under the key None it has", "a P alone is")
        arguments.usage_error(f"--{text.replace('_', '-', 1)}")
    arguments.min_proba = least
