"""``--min-proba``: the least probability of spans that are written, for all or by type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._taggers.abilities import span_labels
from .._taggers.min_proba import check_types, min_proba_of
from .common import checked_type

if TYPE_CHECKING:
    from .common import Arguments


def _is_valid(given: float | dict[str | None, float]) -> bool:
    each = given.values() if isinstance(given, dict) else [given]
    return all(0.0 < p <= 1.0 for p in each)


min_proba = checked_type(
    min_proba_of, _is_valid, "above 0 and at most 1, or TYPE=P,TYPE=P"
)
"""A type of ``argparse``."""


def check_min_proba(model: Any, arguments: Arguments) -> None:
    """Refuse types that no label of the model has, before any text is read."""
    if arguments.min_proba is None:
        return
    try:
        check_types(arguments.min_proba, span_labels(model))
    except ValueError as error:
        arguments.usage_error(f"--{str(error).replace('_', '-', 1)}")
