"""Scores of spans that are right in part: four schemas of SemEval 2013, task 9.

Each predicted span, in the order of the text, takes a true span that none before it has
taken: one that makes it right under the schema, else the first that it overlaps. With C
right, I wrong, P half right, M true spans left over and S predicted ones,

    precision = (C + P / 2) / (C + I + P + S),   recall = (C + P / 2) / (C + I + P + M).

References
----------
I. Segura-Bedmar, P. Martínez, M. Herrero-Zazo (2013). SemEval-2013 task 9: extraction
of drug-drug interactions from biomedical texts. SemEval. The counts are those of N.
Chinchor and B. Sundheim (1993). MUC-5 evaluation metrics. MUC-5.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from math import isnan
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.utils import Bunch

from .._data.elements import spelled
from .._data.spans import check_annotated
from .._data.text import as_texts
from .._data.types import Corpus, Texts, Weights
from .checks import ZeroDivision, in_order, ratio, value_of_nothing, warn_undefined
from .counting import weights_of
from .text_scores import NO_TEXT, both_sides, judged

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMAS = ("strict", "exact", "partial", "type")
COUNTS = ("correct", "incorrect", "partial", "missed", "spurious")
CORRECT, INCORRECT, PARTIAL, MISSED, SPURIOUS = range(5)

Segment: TypeAlias = Sequence[Any]
"""(start, end, type), ``end`` exclusive."""


class PartialSpanReport(Bunch):
    """Scores of spans under four schemas: a dict whose keys are attributes, and that
    prints well.

    Attributes
    ----------
    strict : dict
        Right if start, end and type are. ``correct``, ``incorrect``, ``partial``,
        ``missed``, ``spurious``, ``precision``, ``recall`` and ``f1``.
    exact : dict
        Right if start and end are.
    partial : dict
        The same, and half right if they overlap.
    type : dict
        Right if they overlap and have one type.
    by_type : dict of str to PartialSpanReport
        Only with ``by_type=True``: by type the same of its spans alone, true and
        predicted.
    """

    strict: dict[str, float]
    exact: dict[str, float]
    partial: dict[str, float]
    type: dict[str, float]
    by_type: dict[str, PartialSpanReport]

    def __str__(self) -> str:
        by_type = self.get("by_type", {})
        return table_of({schema: self[schema] for schema in SCHEMAS}, by_type, 9)


def table_of(
    scores: dict[str, dict[str, float]],
    by_type: Mapping[Any, Mapping[str, dict[str, float]]],
    width: int,
) -> str:
    """Tabulate the scores of schemas, and below them those of each type."""
    columns = ("precision", "recall", "f1", *COUNTS)
    rows = dict(scores)
    for kind, of_type in by_type.items():
        named = spelled(kind) or "(no type)"
        rows |= {f"{named}, {schema}": of_type[schema] for schema in SCHEMAS}
    width = max(width, *(len(name) + 2 for name in rows))
    lines = [" " * width + "".join(f"{name:>10}" for name in columns)]
    for name, row in rows.items():
        cells = "".join(
            f"{'-' if isnan(row[column]) else format(row[column], '.4f'):>10}"
            for column in columns[:3]
        )
        cells += "".join(f"{row[column]:>10g}" for column in COUNTS)
        lines.append(f"{name:<{width}}{cells}")
    return "\n".join(lines)


def partial_span_report(
    y_true: Corpus,
    y_pred: Corpus,
    sample_weight: Weights = None,
    *,
    texts: Texts | None = None,
    by_type: bool = False,
    zero_division: ZeroDivision = "warn",
) -> PartialSpanReport:
    """Compute scores of spans that are right in part.

    They are the four of SemEval 2013: strict, exact, partial and by type.

    Parameters
    ----------
    y_true, y_pred, sample_weight, texts
        As for `span_f1_score`. Spans that share a character overlap.
    by_type : bool, default=False
        Whether there is a report of each type besides, which looks at spans of this
        type alone, as nervaluate does: a span with the right ends and another type is
        missed there, and spurious where it was predicted.
    zero_division : {"warn", 0.0, 1.0, np.nan}, default="warn"
        What stands where there is nothing to count; "warn" is 0.0 with a warning.

    Returns
    -------
    PartialSpanReport

    Raises
    ------
    ValueError
        As `span_f1_score`.

    Examples
    --------
    >>> from skstruct.metrics import partial_span_report
    >>> y_true = [[(0, 7, "PER"), (17, 21, "LOC")]]
    >>> scores = partial_span_report(y_true, [[(0, 3, "PER"), (17, 21, "ORG")]])
    >>> {name: row["f1"] for name, row in scores.items()}
    {'strict': 0.0, 'exact': 0.5, 'partial': 0.75, 'type': 0.5}
    """
    nothing = value_of_nothing(zero_division)
    true, found = both_sides(y_true, y_pred, texts)
    weight = weights_of(sample_weight, [True] * len(true), NO_TEXT)
    if texts is not None:
        check_annotated(as_texts(texts, "texts"), true, weight, "y_true")
    sides = [judged(*pair) for pair in zip(true, found)]
    scores = schemas_of(sides, weight, nothing)
    for name, none in (
        ("precision", "no span is predicted"),
        ("recall", "no span is true"),
        ("F1", "no span is true and none is predicted"),
    ):
        n_true, n_found = _totals(scores["strict"])
        empty = {"precision": not n_found, "recall": not n_true}
        if empty.get(name, not n_true and not n_found):
            warn_undefined(zero_division, name, none)
    report = PartialSpanReport(**scores)
    if by_type:
        report.by_type = {
            kind: PartialSpanReport(**of_type)
            for kind, of_type in schemas_by_type(sides, weight, nothing).items()
        }
    return report


def _totals(row: dict[str, float]) -> tuple[float, float]:
    """Return the true and the predicted spans that were counted."""
    both = row["correct"] + row["incorrect"] + row["partial"]
    return both + row["missed"], both + row["spurious"]


def schemas_of(
    sides: Iterable[tuple[Collection[Segment], Collection[Segment]]],
    weight: Iterable[float] | None = None,
    nothing: float = float("nan"),
) -> dict[str, dict[str, float]]:
    """Return counts and scores of true and found segments, under each schema.

    Parameters
    ----------
    sides : iterable of (true, found)
        Of each sequence its segments; those that occur twice count once.
    weight : iterable of float, optional
        Of each sequence.
    nothing : float
        What stands where there is nothing to count.
    """
    pairs = list(sides)
    total = np.zeros((len(SCHEMAS), len(COUNTS)))
    weights = [1.0] * len(pairs) if weight is None else weight
    for (true, found), w in zip(pairs, weights):
        first, second = _in_order(true), _in_order(found)
        for k, schema in enumerate(SCHEMAS):
            total[k] += w * np.array(_counts(first, second, schema), float)
    return {
        schema: _row(counts, nothing) for schema, counts in zip(SCHEMAS, total.tolist())
    }


def schemas_by_type(
    sides: Iterable[tuple[Collection[Segment], Collection[Segment]]],
    weight: Iterable[float] | None = None,
    nothing: float = float("nan"),
) -> dict[Any, dict[str, dict[str, float]]]:
    """Return by type what `schemas_of` does of the segments of this type alone.

    The parameters are those of `schemas_of`.
    """
    pairs = list(sides)
    weights = [1.0] * len(pairs) if weight is None else list(weight)
    of_type: dict[Any, list[tuple[list[Segment], list[Segment], float]]] = {}
    for pair, w in zip(pairs, weights):
        parted: dict[Any, tuple[list[Segment], list[Segment]]] = {}
        for k, side in enumerate(pair):
            for segment in side:
                parted.setdefault(segment[2], ([], []))[k].append(segment)
        for kind, (true, found) in parted.items():
            of_type.setdefault(kind, []).append((true, found, w))
    return {
        kind: schemas_of(
            [(true, found) for true, found, _ in of_type[kind]],
            [w for *_, w in of_type[kind]],
            nothing,
        )
        for kind in in_order(of_type)
    }


def _in_order(segments: Collection[Segment]) -> list[Segment]:
    """Return distinct segments in the order of the text."""
    distinct: set[Segment] = {tuple(each) for each in segments}
    return sorted(distinct, key=lambda each: (each[0], each[1], str(each[2])))


def _row(counts: list[float], nothing: float) -> dict[str, float]:
    right = counts[CORRECT] + counts[PARTIAL] / 2
    both = sum(counts[:MISSED])
    n_true = both + counts[MISSED]
    n_found = both + counts[SPURIOUS]
    return {
        **dict(zip(COUNTS, counts)),
        "precision": ratio(right, n_found, nothing),
        "recall": ratio(right, n_true, nothing),
        "f1": ratio(2 * right, n_true + n_found, nothing),
    }


def _counts(true: list[Segment], found: list[Segment], schema: str) -> list[int]:
    """Return the `COUNTS` of one sequence, whose segments are in order."""
    counts = [0] * len(COUNTS)
    starts = [segment[0] for segment in true]
    furthest = list(accumulate([segment[1] for segment in true], max))
    taken = [False] * len(true)
    for segment in found:
        right = near = None
        closest = 0
        for k in _beside(segment, starts, furthest):
            if taken[k]:
                continue
            away = abs(true[k][0] - segment[0]) + abs(true[k][1] - segment[1])
            overlaps = _overlap(true[k], segment)
            if _is_right(true[k], segment, schema, overlaps):
                if right is None or away < closest:
                    right, closest = k, away
            elif overlaps and near is None:
                near = k
        kind = CORRECT
        if right is None:
            right = near
            kind = PARTIAL if schema == "partial" else INCORRECT
        if right is None:
            counts[SPURIOUS] += 1
        else:
            counts[kind] += 1
            taken[right] = True
    counts[MISSED] = taken.count(False)
    return counts


def _overlap(first: Segment, second: Segment) -> bool:
    """Tell whether two segments share an element, or are the same place."""
    if first[:2] == second[:2]:
        return True
    return first[0] < second[1] and second[0] < first[1]


def _beside(segment: Segment, starts: list[int], furthest: list[int]) -> Iterator[int]:
    """Yield the true segments that can overlap one, or begin where it does."""
    first = bisect_left(furthest, segment[0])
    stop = bisect_left(starts, max(segment[1], segment[0] + 1))
    yield from range(first, stop)


def _is_right(true: Segment, found: Segment, schema: str, overlaps: bool) -> bool:
    same_type = true[2] == found[2]
    if schema == "type":
        return overlaps and same_type
    same_ends = true[0] == found[0] and true[1] == found[1]
    return same_ends and (same_type or schema != "strict")
