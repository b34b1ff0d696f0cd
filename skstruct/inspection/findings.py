"""The suspected errors of a corpus: one place, what is there, and how sure that is.

`label_issues`, `errors` and `report` speak of findings, and so do the commands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

from .._data.elements import label_text
from .._data.places import Where as Where
from .._data.places import counted
from .html import box, cell, escaped, label_html, note, readable, table
from .weight_tables import Records

SHOWN = 100
"""Findings that a picture shows; ``print`` shows a fifth of them."""

MOST_ERRORS = 0.9
"""Share of the expected errors that a list holds."""

FEW = 1.5
"""Findings for each error that is expected, up to which all of them are listed."""

KINDS = {
    "other type": "the span is right, its type is not",
    "other boundary": "the span begins or ends elsewhere",
    "missing": "there is a span that nobody has annotated",
    "superfluous": "there is no span",
    "other label": "the token has another label",
}
"""Kinds of findings, and what each says."""


Places: TypeAlias = Sequence[Where | Mapping[str, Any]] | None
"""The place of each sequence: a `Where`, or a dict with some of its names as keys."""


def as_places(places: Places, n: int) -> list[Where]:
    """Check places, one for each of n sequences; None is nothing known."""
    if places is None:
        return [Where()] * n
    if len(places) != n:
        raise ValueError(
            f"places must hold one entry for each of the {n} sequences, got {len(places)}"
        )
    return [each if isinstance(each, Where) else _where(each) for each in places]


def _where(known: Mapping[str, Any]) -> Where:
    return Where(**{name: known.get(name) for name in Where._fields})


class Finding(NamedTuple):
    """One place of a corpus where something is wrong, or may be.

    Attributes
    ----------
    sequence : int
        The sequence or text.
    start, end : int
        The tokens meant, of a text the characters; the end is exclusive.
    given, suggested : object
        The label of the corpus, and the one that it should be; None is no span.
    probability : float or None
        Probability of the suggestion; None if the model gives none.
    score : float or None
        Suspicion of the given label; the largest come first.
    kind : str
        "other type", "other boundary", "missing" or "superfluous" of spans, "other
        label" of tokens.
    chance : float or None
        Calibrated probability that the given label is wrong: about one in five findings
        with 0.2 is an error.
    text : str
        The tokens or characters in [ ], and some around them.
    where : Where
        The place of the sequence.
    other : (int, int) or None
        For "other boundary" the begin and end that the span should have.
    """

    sequence: int
    start: int
    end: int
    given: Any
    suggested: Any
    probability: float | None = None
    score: float | None = None
    kind: str = "other label"
    chance: float | None = None
    text: str = ""
    where: Where = Where()
    other: tuple[int, int] | None = None

    @property
    def position(self) -> int:
        """Return where it begins."""
        return self.start

    @property
    def place(self) -> str:
        """Return where the sequence stands, in words; its number if nothing else is
        known.
        """
        return str(self.where) or f"sequence {self.sequence}"


class Findings(Records):
    """A list of `Finding`, most suspicious first.

    ``print`` shows the first by kind, notebooks a table.
    """

    _record: ClassVar[Any] = Finding

    def context(self, finding: Finding) -> str:
        """Return the token or span of a finding in [ ], and what is around it."""
        return finding.text

    def by_kind(self) -> dict[str, list[Finding]]:
        """Return the findings of each kind, most suspicious first."""
        found: dict[str, list[Finding]] = {
            kind: [] for kind in KINDS if any(each.kind == kind for each in self)
        }
        for each in self:
            found.setdefault(each.kind, []).append(each)
        return found

    def expected(self) -> float:
        """Return how many of the findings are errors, as far as one can tell."""
        return sum(each.chance or 0.0 for each in self)

    def likely(self) -> Findings:
        """Return the first of them, as far as errors are expected: `MOST_ERRORS`
        of these, in at most three times as many findings; all if they are few.
        """
        if len(self) <= FEW * self.expected():
            return self
        wanted = MOST_ERRORS * self.expected()
        most = 3 * round(self.expected())
        found = 0.0
        for k, each in enumerate(self):
            if (found >= wanted or k >= most) and (each.chance or 0.0) < 0.5:
                return type(self)(self[:k])
            found += each.chance or 0.0
        return self

    def summary(self) -> str:
        """Say how many findings there are, of which kinds, and how many are errors."""
        kinds = Counter(each.kind for each in self)
        listed = ", ".join(f"{kinds[kind]:,} {kind}" for kind in KINDS if kinds[kind])
        text = counted(len(self), "finding") + (f": {listed}" if listed else "")
        if any(each.chance is not None for each in self):
            text += f"; {about(self.expected())} of these are probably errors; others may be missed"
        return text

    def __str__(self) -> str:
        lines = [
            f"{_number(each.chance if each.chance is not None else each.score)}  "
            f"{each.place}, {each.start}-{each.end}: {each.kind}: "
            f"{named(each.given)} -> {named(each.suggested)}   {each.text}"
            for each in self[: SHOWN // 5]
        ]
        if len(self) > len(lines):
            lines.append(f"{len(self) - len(lines):,} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "chance", "place", "where", "given", "suggested", "probability", "text"
        parts = [note(f"{escaped(self.summary(), 400)}. {_LEGEND}")]
        shown = type(self)(self[:SHOWN])
        for kind, of_kind in shown.by_kind().items():
            rows = [_row(each) for each in of_kind]
            title = f"<h3>{escaped(kind)}: {escaped(KINDS.get(kind, ''), 90)}</h3>"
            parts.append(title + table(rows, head, "long"))
        if len(self) > SHOWN:
            parts.append(note(f"{len(self) - SHOWN:,} more"))
        return box("".join(parts))


_LEGEND = (
    "The most suspicious annotations come first. <i>chance</i>: the probability that "
    "the annotation is wrong; <i>given</i>: the annotation in the corpus; "
    "<i>suggested</i>: the prediction of a model that was not trained on the text, with "
    "its <i>probability</i>. Correct the wrong annotations, and leave the others as "
    "they are."
)


def _row(each: Finding) -> list[str]:
    """Write a finding as the cells of a row."""
    given, suggested = (
        "no span" if label is None else label_html(named(label))
        for label in (each.given, each.suggested)
    )
    if each.other is not None:
        suggested += f" {each.other[0]}–{each.other[1]}"
    return [
        cell(_number(each.chance if each.chance is not None else each.score), "number"),
        cell(escaped(each.place, 90)),
        cell(f"{each.start}–{each.end}", "number"),
        cell(given),
        cell(suggested),
        cell(_number(each.probability), "number"),
        cell(escaped(each.text, 200)),
    ]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def about(number: float) -> str:
    """Say a number that is to be expected, in words where it is below one half."""
    return "fewer than one" if number < 0.5 else f"about {round(number):,}"


def named(label: Any) -> str:
    """Write a label for display; of what is no span a dash."""
    return "-" if label is None else readable(label_text(label))
