"""The mistakes of models on texts that they were not trained on: given, and found.

A mistake of a model that is sure may be one of the annotators; `skstruct check` looks
for these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .._data.elements import word_of
from .._data.inputs import LABELS, SPANS
from .._data.scheme_rules import LabelTable, are_chunks, read_spans

if TYPE_CHECKING:
    from .corpus import Corpus

SURE = 0.95
"""Probability from which on a model is sure."""

Item = tuple[int, int, Any]
"""(start, end, label): characters of a text, or tokens."""


class Mistake(NamedTuple):
    """Items that are given or found at one place, but not both.

    Attributes
    ----------
    given, found : list of (start, end, label)
    sure : bool
        Whether a model gives all that it found a probability of at least `SURE`.
    """

    given: list[Item]
    found: list[Item]
    sure: bool = False


def mistakes_in(
    given: Iterable[Item], found: Iterable[Item], probable: dict[Item, float]
) -> list[Mistake]:
    """Return what differs, joined where items share a place.

    Parameters
    ----------
    given, found : list of (start, end, label)
    probable : dict
        Probabilities of those found; may be empty.
    """
    given = [item for item in given if item[2] is not None]
    both = set(given) & set(found)
    left = [(item, True) for item in given if item not in both]
    left += [(item, False) for item in found if item not in both]
    result: list[Mistake] = []
    end = -1
    for item, is_given in sorted(left, key=lambda each: (each[0][:2], not each[1])):
        if item[0] >= end:
            result.append(Mistake([], []))
            end = item[1]
        end = max(end, item[1])
        (result[-1].given if is_given else result[-1].found).append(item)
    return [
        each._replace(
            sure=bool(each.found)
            and all(probable.get(item, 0.0) >= SURE for item in each.found)
        )
        for each in result
    ]


def items_of(task: str, sequence: Sequence[Any], scheme: str | None) -> list[Item]:
    """Return spans of a text as items; of labels the segments, or all tokens."""
    if task == SPANS:
        return [(span[0], span[1], span[2]) for span in sequence]
    if task != LABELS:
        return []
    labels = list(sequence)
    if scheme is not None:
        known = [label if isinstance(label, str) else "O" for label in labels]
        return list(read_spans(known, LabelTable(scheme, strict=False)))
    return [(t, t + 1, label) for t, label in enumerate(labels)]


def scheme_for(task: str, y: Iterable[Any]) -> str | None:
    """Return a scheme that reads segments in labels; None if they are none."""
    if task != LABELS:
        return None
    labels = {label for row in y for label in row if isinstance(label, str)}
    return "BIO" if labels and are_chunks(labels) else None


def probabilities(model: Any, task: str, X: Any, found: Any) -> list[dict[Item, float]]:
    """Return for each text how probable the spans found in it are, if a model knows."""
    if task != SPANS or not hasattr(model, "predict_segment_proba"):
        return [{} for _ in X]
    return [
        {(span[0], span[1], span[2]): p for span, p in row}
        for row in model.predict_segment_proba(X, found)
    ]


def in_words(mistake: Mistake, corpus: Corpus, i: int) -> str:
    """Write what was given and what was found."""
    x = corpus.X[i]

    def words(items: list[Item]) -> str:
        if not items:
            return "nothing"
        return ", ".join(_item(x, item) for item in items)

    return f"given {words(mistake.given)}; found {words(mistake.found)}"


def _item(x: Any, item: Item) -> str:
    from ..inspection.findings import named

    start, end, label = item
    if isinstance(x, str):
        text = " ".join(x[start:end].split())
        return f'{start}-{end} "{text}" {named(label)}'
    text = " ".join(str(word_of(token)) for token in x[start:end])
    return f'"{text}" {named(label)}'
