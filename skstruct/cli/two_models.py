"""``skstruct evaluate A B FILE``: two models beside each other on one file.

Each reads the file in its own way, and both are compared with the same annotation; a
difference comes with its interval and a p-value, of the paired bootstrap over
sentences or texts. It is the difference of a score that the table has.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .._data.inputs import LABELS, SPANS, TREES, WORDS
from ..metrics import paired_bootstrap
from ..metrics.tree_scores import main_types, split_heads
from .common import CommandError

if TYPE_CHECKING:
    from ..metrics.significance import PairedBootstrap
    from .corpus import Corpus

SEED = 0
"""Of the resamples: the same files give the same numbers."""


DISAGREE = (
    "interval and p disagree, as they may in close cases: they look at opposite tails "
    "of the same resamples"
)
"""What is said where one finds a difference, at 5 %, and the other does not."""


class Side(NamedTuple):
    """A model, and what it makes of the file.

    ``scheme`` is that by which labels were read; "auto" is that of their looks.
    """

    path: str
    task: str
    corpus: Corpus
    predicted: Any
    scores: dict[str, Any]
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
            f"{a.corpus.name}: {a.path} and {b.path} are to predict other labels of "
            "it; --format, --label and --tokens say what both read"
        )


def compared(a: Side, b: Side, scheme: str) -> PairedBootstrap:
    """The difference of the main score of two models.

    Parameters
    ----------
    a, b : Side
    scheme : str
        Of labels; "none" compares the accuracy of tokens.
    """
    measure: Literal["accuracy", "segments", "words", "spans"] = "accuracy"
    more: dict[str, Any] = {}
    sides: list[Any] = [a.corpus.y, a.predicted, b.predicted]
    if a.task == TREES:
        with_labels = _have_labels(a, b)
        sides = [_arcs(trees, with_labels) for trees in sides]
    if a.task == SPANS:
        measure = "spans"
        more = {"texts": a.corpus.X}
    elif a.task == WORDS:
        measure = "words"
    elif a.task == LABELS and scheme != "none":
        measure = "segments"
        more = {"scheme": scheme}
    return paired_bootstrap(*sides, score=measure, random_state=SEED, **more)


def _have_labels(a: Side, b: Side) -> bool:
    """Whether the arcs of both parsers have labels."""
    return "las" in a.scores and "las" in b.scores


def _arcs(trees: Any, with_labels: bool) -> list[list[Any]]:
    """Arcs as `skstruct.metrics.attachment_scores` compares them: heads alone, or heads
    with main types, None where there is no label.
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


def measure_of(a: Side, b: Side, scheme: str) -> str:
    """What `compared` compares, in words."""
    if a.task == TREES:
        return f"{'' if _have_labels(a, b) else 'un'}labelled attachment"
    if a.task == WORDS and "joint_f1" in a.scores and "joint_f1" in b.scores:
        return "joint F1"
    return "token accuracy" if a.task == LABELS and scheme == "none" else "F1"


def as_dict(a: Side, b: Side, scheme: str) -> dict[str, Any]:
    """Scores of both, and the difference of the main one, for JSON."""
    found = compared(a, b, scheme)
    names = "difference", "low", "high", "p_value"
    return {
        "a": {"model": a.path, **a.scores},
        "b": {"model": b.path, **b.scores},
        "difference": {
            "measure": measure_of(a, b, scheme),
            **{name: getattr(found, name) for name in names},
        },
    }


def as_text(a: Side, b: Side, scheme: str) -> str:
    """A table of both, labels too, and what of the difference may be luck."""
    found = compared(a, b, scheme)
    names = [os.path.basename(side.path) for side in (a, b)]
    if names[0] == names[1]:
        names = [a.path, b.path]
    rows = [
        (name.replace("_", " "), a.scores[name], b.scores[name])
        for name in a.scores
        if isinstance(a.scores[name], float) and name in b.scores
    ]
    of_a, of_b = (
        side.scores.get("segments") or side.scores.get("labels") or {}
        for side in (a, b)
    )
    for label in sorted({*of_a, *of_b} - {"micro avg", "macro avg", "weighted avg"}):
        both = [of.get(label, {}).get("f1", 0.0) for of in (of_a, of_b)]
        rows.append((f"f1 {label}", both[0], both[1]))
    if "micro avg" in of_a and "micro avg" in of_b:
        both = [of["micro avg"]["f1"] for of in (of_a, of_b)]
        rows.append(("f1", both[0], both[1]))
    width = max(18, *(len(name) + 2 for name, *_ in rows))
    room = max(10, *(len(name) + 2 for name in names))
    lines = [" " * width + "".join(f"{name:>{room}}" for name in names) + f"{'':>12}"]
    lines += [
        f"{name:<{width}}{x:>{room}.4f}{y:>{room}.4f}{y - x:>+12.4f}"
        for name, x, y in rows
    ]
    what = measure_of(a, b, scheme)
    lines += [
        "",
        f"{what}: {names[1]} minus {names[0]} is {found.difference:+.4f} "
        f"({found.low:+.4f} to {found.high:+.4f}), p = {found.p_value:.3f}",
    ]
    if (found.low > 0.0 or found.high < 0.0) != (found.p_value < 0.05):
        lines.append(f"({DISAGREE})")
    return "\n".join(line.rstrip() for line in lines)
