"""``skstruct evaluate A B FILE``: two models beside each other on one file.

Each reads the file in its own way, and both are compared with the same annotation; a
difference comes with its interval and a p-value, of the paired bootstrap over
sentences or texts. It is the difference of a score that the table has.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .._data.inputs import LABELS, SPANS, TREES
from .._data.places import counted
from ..metrics.intervals import Score
from ..metrics.significance import paired_difference
from ..metrics.task_scores import MAIN, Scores, figure
from ..metrics.tree_scores import main_types, split_heads
from .common import CommandError
from .held_out import documents_of

if TYPE_CHECKING:
    from ..metrics.significance import PairedBootstrap
    from .corpus import Corpus

NONE = Score(math.nan)
"""The score of a model that has none of that name."""

SEED = 0
"""The seed of the resamples: the same files give the same numbers."""


DISAGREE = "the interval and p disagree, which happens in close cases"
"""The note where one finds a difference, at 5 %, and the other does not."""


class Side(NamedTuple):
    """A model, and what it makes of the file.

    ``scheme`` is that by which labels were read; "auto" is that of their looks.
    """

    path: str
    task: str
    corpus: Corpus
    predicted: Any
    scores: Scores
    scheme: str = "auto"


def check_same(a: Side, b: Side) -> None:
    """Raise unless two models were asked the same of the same.

    Raises
    ------
    CommandError
        If they do other tasks, or read another annotation of the file.
    """
    if a.task != b.task:
        raise CommandError(
            f"{a.path} predicts {a.task} and {b.path} {b.task}: they cannot be compared"
        )
    if a.corpus.y != b.corpus.y:
        raise CommandError(
            f"{a.corpus.name}: {a.path} and {b.path} read different labels in "
            "it; pass --format, --label and --tokens for both"
        )


def measure_of(a: Side, b: Side) -> str | None:
    """Return the name of the score that two models are compared by: the main one of
    those that both have; None if both have nothing to count.
    """
    sides = a.scores.overall, b.scores.overall
    both = (name for name in MAIN if all(name in side for side in sides))
    known = (
        name for name in both if not any(math.isnan(side[name].value) for side in sides)
    )
    return next(known, None)


def compared(a: Side, b: Side, measure: str) -> PairedBootstrap:
    """Return the difference of a score of two models."""
    score: Literal["accuracy", "segments", "words", "spans"] = "accuracy"
    more: dict[str, Any] = {}
    sides: list[Any] = [a.corpus.y, a.predicted, b.predicted]
    if a.task == TREES:
        sides = [_arcs(trees, measure == "las") for trees in sides]
    elif a.task == SPANS:
        score = "spans"
        more = {"texts": a.corpus.X}
    elif a.task != LABELS:
        score = "words"
    elif measure == "f1":
        score = "segments"
        more = {"scheme": "BIO" if a.scheme == "auto" else a.scheme}
    documents = documents_of(a.corpus)
    if documents.known:
        more["groups"] = documents.numbers
    return paired_difference(*sides, score=score, random_state=SEED, **more)


def _differ(a: Side, b: Side) -> str:
    """Say of how many sequences the predictions differ, and what is drawn."""
    n = len(a.predicted)
    differ = sum(list(x) != list(y) for x, y in zip(a.predicted, b.predicted))
    unit = "text" if a.task == SPANS else "sentence"
    text = f"the predictions differ in {differ:,} of {counted(n, unit)}"
    documents = documents_of(a.corpus)
    if documents.known:
        text += f"; drawn are {counted(int(documents.numbers.max()) + 1, 'document')}"
    return text


def _arcs(trees: Any, with_labels: bool) -> list[list[Any]]:
    """Return arcs as `skstruct.metrics.attachment_scores` compares them: heads alone,
    or heads with main types, None where there is no label.
    """
    found = []
    for i, tree in enumerate(trees):
        heads, labels = split_heads(i, tree)
        arcs = list(heads)
        if with_labels and labels is not None:
            types = main_types(labels)
            arcs = [None if t is None else (h, t) for h, t in zip(heads, types)]
        found.append(arcs)
    return found


def as_dict(a: Side, b: Side) -> dict[str, Any]:
    """Return the scores of both, and the difference of the main one that both have, for
    JSON.
    """
    measure = measure_of(a, b)
    names = "difference", "low", "high", "p_value"
    difference: dict[str, Any] = dict.fromkeys(names)
    if measure is not None:
        found = compared(a, b, measure)
        difference = {name: getattr(found, name) for name in names}
    return {
        "a": {"model": a.path, **a.scores.to_dict()},
        "b": {"model": b.path, **b.scores.to_dict()},
        "difference": {"measure": measure, **difference},
    }


def _rows(a: Side, b: Side) -> Iterator[tuple[str, float, float]]:
    """Yield names, and the scores of both; NaN where one has none."""
    sides = a.scores, b.scores
    for name in {**a.scores.overall, **b.scores.overall}:
        x, y = (each.overall.get(name, NONE).value for each in sides)
        yield name.replace("_", " "), x, y
    if a.scores.table != b.scores.table:
        return
    for label in sorted({*a.scores.by_label, *b.scores.by_label}):
        x, y = (
            each.by_label[label]["f1"].value if label in each.by_label else 0.0
            for each in sides
        )
        yield f"f1 {label}", x, y


def as_text(a: Side, b: Side) -> str:
    """Return a table of both, labels too, and what of the difference may be luck."""
    names = [os.path.basename(side.path) for side in (a, b)]
    if names[0] == names[1]:
        names = [a.path, b.path]
    rows = list(_rows(a, b))
    width = max(18, *(len(name) + 2 for name, *_ in rows))
    room = max(10, *(len(name) + 2 for name in names))
    head = "".join(f"{name:>{room}}" for name in names)
    lines = [f"{'':<{width}}{head}{'difference':>12}"]
    for name, x, y in rows:
        difference = "-" if math.isnan(y - x) else f"{y - x:+.4f}"
        cells = f"{figure(x):>{room}}{figure(y):>{room}}{difference:>12}"
        lines.append(f"{name:<{width}}{cells}")
    measure = measure_of(a, b)
    lines.append("")
    tables = a.scores.table, b.scores.table
    if tables[0] != tables[1] and "segments" in tables:
        without = names[1 - tables.index("segments")]
        lines.append(
            f"{without} has no segment scores, so both are compared by token scores"
        )
    lines.append(_differ(a, b))
    if measure is None:
        return "\n".join([*lines, "the two models have no score in common"])
    found = compared(a, b, measure)
    lines.append(
        f"{measure.replace('_', ' ')}: {names[1]} minus {names[0]} is "
        f"{found.difference:+.4f} (95 %: {found.low:+.4f} to {found.high:+.4f}), "
        f"p = {found.p_value:.3f}"
    )
    if (found.low > 0.0 or found.high < 0.0) != (found.p_value < 0.05):
        lines.append(f"({DISAGREE})")
    return "\n".join(lines)
