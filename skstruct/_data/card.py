"""The card of a model: when it was made, of which data, by which options, and how good
it was on data that it had not seen.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from .._version import __version__
from .places import describe
from .source_layout import is_plain

if TYPE_CHECKING:
    from .types import Self

_SHOWN = 12
"""Digits of a digest that are shown."""


@dataclass(frozen=True)
class Card:
    """A card: when and of what a model was made.

    Parameters
    ----------
    date : str
        When training ended, in UTC, as 2026-01-31T12:00:00Z.
    version : str
        Of the package that trained it.
    data : list of dict
        Of each file: ``name``, without its folder, ``sha256``, and ``use``, such as
        "train", "dev" or "text".
    counts : dict of str to int
        What was learned from, such as ``sentences``, ``tokens``, ``labels``.
    score : dict, optional
        Of a model that did not see the held-out part: ``measure``, ``value``, ``low``
        and ``high`` (the ends of a 95 % interval), ``how`` it was held out, and ``of``
        how many documents.
    options : dict
        Of the command, those that are not the default.
    parent : dict, optional
        The model that this one was made of: ``name``, ``sha256``, ``date``.

    Raises
    ------
    ValueError
        If a value is of another kind.

    Examples
    --------
    >>> card = Card("2026-01-31T12:00:00Z", "0.4.0", [], {"sentences": 40})
    >>> print(*card.lines(), sep="\\n")
    trained       2026-01-31T12:00:00Z, skstruct 0.4.0
    learned from  40 sentences
    """

    date: str
    version: str
    data: list[dict[str, Any]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    score: dict[str, Any] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    parent: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        kinds = {
            "date": str, "version": str, "data": list, "counts": dict,
            "score": dict | None, "options": dict, "parent": dict | None,
        }  # fmt: skip
        for name, kind in kinds.items():
            given = getattr(self, name)
            if not isinstance(given, kind):
                what = getattr(kind, "__name__", "dict or None")
                raise ValueError(
                    f"card: {name} must be a {what}, got {describe(given)}"
                )
            if not is_plain(given):
                raise ValueError(
                    f"card: {name} must hold JSON values only, got {describe(given)}"
                )
        if not all(isinstance(each, dict) for each in self.data):
            raise ValueError("card: data must be a list of dicts")

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters, as JSON can say them."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Return what :meth:`to_dict` was called of.

        Raises
        ------
        ValueError
            If a name is unknown or missing, or a value of another kind.
        """
        known = {each.name for each in fields(cls)}
        odd = sorted(set(map(str, given)) - known)
        lacks = sorted({"date", "version"} - set(given))
        if odd or lacks:
            raise ValueError(
                f"card: unknown: {', '.join(odd)}; known are {', '.join(sorted(known))}"
                if odd
                else f"card: {lacks[0]} is missing"
            )
        return cls(**given)

    def lines(self) -> Iterator[str]:
        """Yield what people read, a line each."""
        rows = [("trained", f"{self.date}, skstruct {self.version}")]
        for each in self.data:
            digest = str(each.get("sha256", ""))[:_SHOWN]
            rows.append(
                (str(each.get("use", "data")), f"{each.get('name')} (sha256 {digest})")
            )
        if self.counts:
            shown = (f"{number:,} {name}" for name, number in self.counts.items())
            rows.append(("learned from", ", ".join(shown)))
        if self.score is not None:
            rows.append(("held out", shown_score(self.score)))
        if self.options:
            shown = (f"{name}={value}" for name, value in self.options.items())
            rows.append(("options", " ".join(shown)))
        if self.parent is not None:
            digest = str(self.parent.get("sha256", ""))[:_SHOWN]
            rows.append(("made from", f"{self.parent.get('name')} (sha256 {digest})"))
        for name, value in rows:
            yield f"{name:<14}{value}"


def shown_score(score: Mapping[str, Any]) -> str:
    """Return a score of a :class:`Card` as text: ``f1 0.812 (0.764 to 0.853), ...``."""
    value = score.get("value")
    text = f"{score.get('measure')} {'-' if value is None else f'{value:.4f}'}"
    if score.get("low") is not None:
        text += f" ({score['low']:.4f} to {score['high']:.4f})"
    return f"{text}, {score['how']}" if score.get("how") else text


def now() -> str:
    """Return the date and time, in UTC, as :class:`Card` has it."""
    found = datetime.datetime.now(datetime.timezone.utc)
    return found.strftime("%Y-%m-%dT%H:%M:%SZ")


def new_card(**given: Any) -> Card:
    """Return a :class:`Card` of now and this version."""
    return Card(now(), __version__, **given)
