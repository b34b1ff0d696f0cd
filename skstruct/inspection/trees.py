"""The parts that make up the scores of a tree's arcs."""

from __future__ import annotations

from math import fsum
from typing import Any, NamedTuple

import numpy as np

from .arcs import arcs as drawn_arcs
from .explanation_html import MOST, contributions
from .feature_lists import weight_rows
from .frames import new_frame
from .html import Shown, box, escaped, note
from .rendering import printable


class ArcExplanation(NamedTuple):
    """What speaks for one arc.

    Attributes
    ----------
    word : object
        The token.
    head : int
        Position of the head, 1-based; 0 at the root.
    label : object
        None without labels.
    action : str or None
        The action that makes the arc; None of the root, which is left over.
    features : list of (str, float)
        Features of the state before the action, with their weights for it.
    label_features : list of (str, float)
        Features of the arc, with their weights for the label.
    others : dict
        The scores of the other actions in that state, without labels.
    runner_up : object
        The label with the next best score; None if there is no other.
    margin : float
        By how much that falls behind; negative if it is the better one.
    """

    word: object
    head: int
    label: object
    action: str | None
    features: list[tuple[str, float]]
    label_features: list[tuple[str, float]]
    others: dict[str, float]
    runner_up: object
    margin: float

    @property
    def score(self) -> float:
        """The sum of all contributions."""
        return fsum(value for _, value in self.features + self.label_features)

    @property
    def largest(self) -> list[tuple[str, float]]:
        """All contributions but those of 0, largest first."""
        parts = [part for part in self.features + self.label_features if part[1] != 0.0]
        return sorted(parts, key=lambda part: -abs(part[1]))


class TreeExplanation(NamedTuple):
    """Why a tree has its arcs; ``print`` shows the essence.

    Attributes
    ----------
    tree : list of (head, label), or of heads
    arcs : list of ArcExplanation
        One for each word.
    """

    tree: list[Any]
    arcs: list[ArcExplanation]

    def to_dict(self) -> dict[str, Any]:
        """The same as dicts, lists, strings and numbers."""
        arcs = [{**arc._asdict(), "score": arc.score} for arc in self.arcs]
        return {"tree": self.tree, "arcs": arcs}

    def to_frame(self) -> Any:
        """The explanation as a table.

        Returns
        -------
        pandas.DataFrame
            One row for each contribution: ``position`` of the word, counted from 1, ``word``, ``head``,
            ``label``, ``kind`` ("action" or "label"), ``feature`` and ``contribution``.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        rows = [
            (k, arc.word, arc.head, arc.label, kind, name, value)
            for k, arc in enumerate(self.arcs, 1)
            for kind, parts in (("action", arc.features), ("label", arc.label_features))
            for name, value in parts
        ]
        names = ["position", "word", "head", "label", "kind", "feature", "contribution"]
        columns = dict(zip(names, map(list, zip(*rows)))) if rows else {name: [] for name in names}
        return new_frame(columns, "TreeExplanation")

    def _repr_html_(self) -> str:
        found = [arc.largest for arc in self.arcs[:MOST]]
        largest = max((abs(value) for parts in found for _, value in parts), default=0.0)
        details = ""
        for k, (arc, parts) in enumerate(zip(self.arcs, found), 1):
            label = "" if arc.label is None else f"<b>{escaped(arc.label)}</b> "
            head = f"{k} {escaped(arc.word)} ← {arc.head} {label}{arc.score:+.3f}"
            details += contributions(head, parts, arc.score, largest)
        if len(self.arcs) > MOST:
            details += note(f"{len(self.arcs) - MOST:,} more words; to_frame() has all of them")
        heads, labels = [arc.head for arc in self.arcs], [arc.label for arc in self.arcs]
        return box(drawn_arcs([arc.word for arc in self.arcs], (heads, labels)) + details)

    to_html = Shown.to_html

    def describe(self, top: int = 5) -> str:
        """What ``print`` shows, with the ``top`` largest contributions to each arc."""
        lines = []
        for k, arc in enumerate(self.arcs, 1):
            head = f"{k} {printable(repr(arc.word))} <- {arc.head} {printable(str(arc.label))}"
            lines.append(f"{head} ({arc.score:+.3f})")
            parts = arc.largest
            lines += [f"    {value:+.3f}  {printable(name)}" for name, value in parts[:top]]
            if len(parts) > top:
                rest = fsum(value for _, value in parts[top:])
                lines.append(f"    {rest:+.3f}  {len(parts) - top} more")
        return "\n".join(lines)

    __str__ = describe


def _names(model, arcs):
    """{row: name} of the features of arcs, of actions and of labels.

    All at once, since each question for names goes through all keys of the model.
    """
    none = np.zeros(0, np.int64)
    found = [
        np.unique(np.concatenate([none, *rows])) for rows in zip(*((a.rows, a.label_rows) for a in arcs))
    ]
    return [dict(zip(rows.tolist(), part.names(rows))) for part, rows in zip(model.named_weights(), found)]


def explain_tree(model, sentence, beam=None):
    """The explanation of the tree that a parser predicts; ``model`` is its ParserModel."""
    tree, arcs = model.arcs(sentence, beam)
    actions, labels = (part.labels for part in model.named_weights())
    out, (names, label_names) = [], _names(model, arcs) if arcs else ({}, {})
    for token, arc in zip(sentence, arcs):
        weights = weight_rows(model.weights, arc.rows)
        features, others = [], {}
        if arc.action:
            features = list(zip(map(names.get, arc.rows.tolist()), weights[:, arc.action].tolist()))
            totals = weights.sum(axis=0).tolist()
            others = {name: totals[a] for a, name in enumerate(actions) if a != arc.action}
        label_features, label, runner_up, margin = [], None, None, float("inf")
        if arc.label >= 0:
            label, weights = labels[arc.label], weight_rows(model.label_weights, arc.label_rows)
            listed = map(label_names.get, arc.label_rows.tolist())
            label_features = list(zip(listed, weights[:, arc.label].tolist()))
            totals = weights.sum(axis=0)
            ranked = [y for y in (-totals).argsort(kind="stable").tolist() if y != arc.label]
            if ranked:
                runner_up, margin = labels[ranked[0]], float(totals[arc.label] - totals[ranked[0]])
        action = actions[arc.action] if arc.action else None
        out.append(
            ArcExplanation(
                token, arc.head, label, action, features, label_features, others, runner_up, margin
            )
        )
    return TreeExplanation(tree, out)
