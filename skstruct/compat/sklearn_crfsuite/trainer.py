"""The name of ``sklearn_crfsuite.trainer``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import pycrfsuite

if TYPE_CHECKING:
    from ..pycrfsuite._logparser import LabelScore


_COLUMNS = (
    ("time={time:<5.2f} ", "time"),
    ("loss={loss:<8.2f} ", "loss"),
    ("active={active_features:<5} ", "active_features"),
    (
        "precision={avg_precision:0.3f}  recall={avg_recall:0.3f}  F1={avg_f1:0.3f} ",
        "avg_f1",
    ),
    (
        "Acc(item/seq)={item_accuracy_float:0.3f} {instance_accuracy_float:0.3f} ",
        "item_accuracy_float",
    ),
    ("feature_norm={feature_norm:<8.2f}", "feature_norm"),
)
"""Parts of a line, each with the figure without which it is not shown."""


class LinePerIterationTrainer(pycrfsuite.Trainer):
    """A trainer that prints a line for each pass, and at the end a table of the scores
    on held-out data."""

    def on_iteration(self, log: str, info: dict[str, Any]) -> None:
        """Print a line."""
        shown = [
            f"Iter {info['num']:<3} ",
            *(form.format(**info) for form, key in _COLUMNS if key in info),
        ]
        print(" ".join(shown).strip())

    def on_optimization_end(self, log: str) -> None:
        """Print the scores of the last pass."""
        scores = (self.logparser.last_iteration or {}).get("scores")
        if scores:
            print("\n".join(_table(scores)))
        super().on_optimization_end(log)


def _table(scores: dict[str, LabelScore]) -> list[str]:
    """Return lines of a table: a label, three scores, and how often the label is right,
    in each.
    """
    width = max(5, *map(len, scores))
    titles = (f"{title:>9}" for title in ("Precision", "Recall", "F1", "Support"))
    head = f"{'Label':<{width}}  {'  '.join(titles)}"
    lines = ["=" * len(head), head]
    for label, score in sorted(scores.items()):
        shares = (
            f"{share or 0.0:>9.3f}"
            for share in (score.precision, score.recall, score.f1)
        )
        lines.append(f"{label:<{width}}  {'  '.join(shares)}  {score.ref:>9}")
    return [*lines, "-" * len(head)]
