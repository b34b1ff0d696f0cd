"""What `explain` returns: contributions that add up to scores, as text, frame, dict and
HTML.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from math import fsum, inf, isfinite
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._data.elements import spelled
from .html import LONG, SHORT, Shown, bar, box, cell, escaped, note, table
from .html import arcs as drawn_arcs
from .pictures import Mark, line
from .weight_tables import new_frame

TOP = 10
MOST = 200
"""In HTML: contributions listed of a token, others being one line; tokens whose
contributions are listed.
"""


class Counterfactual(NamedTuple):
    """What would have to change.

    Attributes
    ----------
    label : object
        What the model would say instead.
    features : list of str
        Features of the token; without all of them the model changes its mind.
    """

    label: object
    features: list[str]


class _Contributions:
    """Lists of (feature, contribution), in the attributes that ``_lists`` names, that
    add up to a score.
    """

    _lists: ClassVar[dict[str, str]]  # {attribute: what `to_frame` calls it}

    def _all(self):
        """(kind, feature, contribution) of all."""
        lists = self._lists.items()
        return [
            (kind, feature, x)
            for name, kind in lists
            for feature, x in getattr(self, name)
        ]

    @property
    def score(self) -> float:
        """The sum of all contributions."""
        return fsum(value for _, _, value in self._all())

    @property
    def largest(self) -> list[tuple[str, float]]:
        """All contributions but those of 0, largest first."""
        return by_size((name, value) for _, name, value in self._all())

    def _would(self):
        """What would have to change, as HTML; nothing where that is not known."""
        return ""

    def _later(self):
        """(heading, contributions) of what is chosen later and no part of the score, or
        None.
        """
        return None

    def _as_dict(self):
        entry = {
            **vars(self),
            "score": self.score,
            "margin": None if self.margin == inf else self.margin,
        }
        for name, value in entry.items():
            if isinstance(value, np.ndarray):
                entry[name] = value.tolist()
            elif isinstance(value, Counterfactual):
                entry[name] = value._asdict()
        return entry


@dataclass(frozen=True)
class TokenExplanation(_Contributions):
    """What one token adds to the score of a labelling.

    Attributes
    ----------
    token, label : object
    features : list of (str, float)
        Feature and contribution: its weight for the label, times its value if it has
        one.
    transitions : list of (str, float)
        The same for the transition into the label: the label bigram, the trigram with
        ``order=2``, transitions conditioned on the observation, and -inf for each
        constraint that is broken. Empty for the first token, unless a constraint is.
    runner_up : object
        The label of this token in the best labelling that gives it another one; None if
        there is none.
    margin : float
        By how much that labelling falls behind in score; negative if it is the better
        one, inf if there is none.
    counterfactual : Counterfactual or None
        Of chain taggers: the smallest set of features of this token whose removal makes
        the model give it another label, and which label that is. None if no set does,
        if the model does not give the token this label in the first place, and of
        segmenters by beam search and re-rankers.
    """

    token: object
    label: object
    features: list[tuple[str, float]]
    transitions: list[tuple[str, float]]
    runner_up: object
    margin: float
    counterfactual: Counterfactual | None = None

    _lists = {"features": "feature", "transitions": "transition"}

    def _would(self):
        change = self.counterfactual
        if change is None:
            return (
                note("The model itself says something else here.")
                if self.margin < 0
                else ""
            )
        names = ", ".join(
            f"<b>{escaped(name, SHORT)}</b>" for name in change.features[:TOP]
        )
        if len(change.features) > TOP:
            names += f" and {len(change.features) - TOP} more"
        return note(f"Without {names} it would be {escaped(change.label)}.")


@dataclass(frozen=True)
class ArcExplanation(_Contributions):
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
        The action that makes the arc; None of the root, which is left over, unless
        there is a root step.
    features : list of (str, float)
        Features of the state before the action, with their weights for it.
    label_features : list of (str, float)
        Features of the arc, with their weights for the label.
    others : dict
        The scores of the other actions in that state, without labels.
    runner_up : object
        The label with the next best score; None if there is no other.
    margin : float
        By how much that falls behind; negative if it is the better one, inf if there is
        no other.
    shift_features : list of (str, float)
        Features of the state before the word is read, with their weights for
        ``"SHIFT"``.
    label_counts : bool
        Whether the label is part of the score. Those of the root, and of template sets
        that read no labels, are not: they are chosen when the tree is found.
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
    shift_features: list[tuple[str, float]]
    label_counts: bool

    _lists = {
        "shift_features": "shift",
        "features": "action",
        "label_features": "label",
    }

    def _all(self):
        return [
            each for each in super()._all() if self.label_counts or each[0] != "label"
        ]

    def _later(self):
        """(heading, contributions) of a label that is no part of the score, if there is
        one.
        """
        if self.label_counts or self.label is None:
            return None
        return f"label {self.label}, chosen for the finished tree:", by_size(
            self.label_features
        )

    def _would(self):
        later = self._later()
        return "" if later is None else bars(escaped(later[0]), later[1])


class _Explained(Shown):
    """An explanation of several items; a subclass says what stands beside the
    contributions of each.
    """

    _items: ClassVar[str]  # the attribute that lists them
    _first: ClassVar[int] = 0  # number of the first item
    _columns: ClassVar[
        tuple[str, ...]
    ]  # of `to_frame`, before kind, feature and contribution

    def _numbered(self):
        return list(enumerate(getattr(self, self._items), self._first))

    def describe(self, top: int = 5) -> str:
        """The explanation as text, with the ``top`` largest contributions to each token
        or arc.
        """
        lines = [f"score {self.score:+.3f}"]
        for k, item in self._numbered():
            lines += [self._heading(k, item), *_largest(item.largest, top)]
            if item._later() is not None:
                heading, found = item._later()
                lines += [
                    f"  {printable(heading)} {_sum(found):+.3f}",
                    *_largest(found, top),
                ]
        return "\n".join(lines)

    __str__ = describe

    def to_frame(self) -> Any:
        """The explanation as a table.

        Returns
        -------
        pandas.DataFrame
            One row for each contribution: ``position``, ``token`` and ``label``, or of
            a tree ``position`` counted from 1, ``word``, ``head`` and ``label``; then
            ``kind`` ("feature" or "transition", of a tree "shift", "action" or
            "label"), ``feature`` and ``contribution``. The contributions add up to the
            score.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        rows = [
            (k, *(getattr(item, name) for name in self._columns), *each)
            for k, item in self._numbered()
            for each in item._all()
        ]
        names = ["position", *self._columns, "kind", "feature", "contribution"]
        return new_frame(rows, type(self).__name__, columns=names)

    def _details(self, heading):
        """What each item's contributions are, as a list of HTML; and a note if there
        are too many items.
        """
        items = self._numbered()
        listed = [
            (heading(k, item), item.largest, item._would()) for k, item in items[:MOST]
        ]
        scale = _scale(pair for _, found, _ in listed for pair in found)
        rest = f"{len(items) - MOST:,} more {self._columns[0]}s; to_frame() has all of them"
        return [bars(*each, scale) for each in listed], note(rest) if len(
            items
        ) > MOST else ""


def by_size(found):
    """(name, contribution) of those that are not 0, largest first."""
    return sorted(
        (pair for pair in found if pair[1] != 0.0), key=lambda pair: -abs(pair[1])
    )


def _sum(found):
    return fsum(value for _, value in found)


def _scale(found):
    return max((abs(value) for _, value in found if isfinite(value)), default=0.0)


def _largest(found, top):
    """Lines with the first contributions, which are the largest, and the sum of the
    others.
    """
    lines = [f"    {value:+.3f}  {printable(name)}" for name, value in found[:top]]
    if len(found) > top:
        lines.append(f"    {_sum(found[top:]):+.3f}  {len(found) - top} more")
    return lines


def bars(heading, found, below="", scale=None, top=TOP):
    """Bars that add up to a score, under a line that opens them; ``found`` as of
    :func:`by_size`.
    """
    scale = _scale(found) if scale is None else scale
    rows = [(escaped(name, LONG), value) for name, value in found[:top]]
    if len(found) > top:
        rows.append((f"<i>{len(found) - top} more</i>", _sum(found[top:])))
    cells = [
        (cell(bar(value, scale)), cell(f"{value:+.3f}", "number"), cell(name))
        for name, value in rows
    ]
    total = cell(""), cell(f"<b>{_sum(found):+.3f}</b>", "number"), cell("all together")
    return f"<details><summary>{heading}</summary>{table([*cells, total])}{below}</details>"


@dataclass(frozen=True)
class Explanation(_Explained):
    """Why a labelling has the score it has; ``print`` shows the essence, a notebook a
    picture.

    Attributes
    ----------
    labels : list
        The labelling explained.
    score : float
        Its score, the sum of everything in ``tokens``; -inf if it breaks a constraint.
    tokens : list of TokenExplanation
    segments : list of (int, int, str) or None
        First token, end and type of each segment or word; None if labels do not spell
        segments.
    """

    labels: list[Any]
    score: float
    tokens: list[TokenExplanation]
    segments: list[tuple[int, int, str]] | None = None

    _items = "tokens"
    _columns = "token", "label"

    def _heading(self, t, token):
        text = repr(token.token)
        short = printable(text if len(text) <= 40 else text[:37] + "...")
        rival = "no other label is possible"
        if token.margin < inf:
            rival = (
                f"{printable(spelled(token.runner_up))} instead: {-token.margin:+.3f}"
            )
        return f"{t} {short} -> {printable(spelled(token.label))} ({token.score:+.3f}; {rival})"

    def to_dict(self) -> dict[str, Any]:
        """The explanation as dicts and lists, all contributions included.

        Returns
        -------
        dict
            ``labels``, ``score``, ``segments``, and ``tokens``, a list of dicts with
            the attributes of `TokenExplanation` and its ``score``. Tokens that are
            arrays become lists, a margin of inf None.
        """
        tokens = [token._as_dict() for token in self.tokens]
        return {
            "labels": self.labels,
            "score": self.score,
            "segments": self.segments,
            "tokens": tokens,
        }

    def _repr_html_(self) -> str:
        """The sequence, and for each token bars; tokens of no segment are folded."""
        segments = self.segments
        details = ""
        if segments is None:
            segments = [
                (t, t + 1, spelled(token.label)) for t, token in enumerate(self.tokens)
            ]
        lines, rest = self._details(_heading_of_token)
        outside = [self.segments is not None and label == "O" for label in self.labels]
        for folded, group in groupby(
            zip(range(len(lines)), lines), lambda each: outside[each[0]]
        ):
            places, shown = zip(*group)
            details += (
                self._folded(places, shown)
                if folded and len(places) > 1
                else "".join(shown)
            )
        sequence = line(
            [token.token for token in self.tokens],
            [Mark(*segment) for segment in segments],
        )
        return box(sequence + note(f"score {self.score:+.3f}") + details + rest)

    def _folded(self, places, shown):
        words = " ".join(
            escaped(self.tokens[t].token, SHORT // 4) for t in places[:TOP]
        )
        words += " …" * (len(places) > TOP)
        heading = f"{places[0]}–{places[-1]} {words} → <b>O</b>"
        return f"<details><summary>{heading}</summary>{''.join(shown)}</details>"


def _heading_of_token(t, token):
    heading = (
        f"{t} {escaped(token.token)} → <b>{escaped(token.label)}</b> {token.score:+.3f}"
    )
    if token.margin < inf:
        heading += f" ({escaped(token.runner_up)} instead: {-token.margin:+.3f})"
    return heading


@dataclass(frozen=True)
class TreeExplanation(_Explained):
    """Why a tree has its score; ``print`` shows the essence.

    Attributes
    ----------
    tree : list of (head, label), or of heads
    arcs : list of ArcExplanation
        One for each word.
    """

    tree: list[Any]
    arcs: list[ArcExplanation]

    _items = "arcs"
    _first = 1
    _columns = "word", "head", "label"

    @property
    def score(self) -> float:
        """The sum of the scores of ``arcs``: that of the actions that build the tree,
        and of their labels.
        """
        return fsum(value for arc in self.arcs for _, _, value in arc._all())

    def _heading(self, k, arc):
        word = printable(repr(arc.word))
        label = printable(spelled(arc.label))
        return f"{k} {word} <- {arc.head} {label} ({arc.score:+.3f})"

    def to_dict(self) -> dict[str, Any]:
        """The same as dicts, lists, strings and numbers."""
        return {
            "tree": self.tree,
            "score": self.score,
            "arcs": [arc._as_dict() for arc in self.arcs],
        }

    def _repr_html_(self) -> str:
        lines, rest = self._details(_heading_of_arc)
        tree = [
            (arc.head, "" if arc.label is None else spelled(arc.label))
            for arc in self.arcs
        ]
        picture = drawn_arcs([arc.word for arc in self.arcs], tree)
        return box(picture + note(f"score {self.score:+.3f}") + "".join(lines) + rest)


def _heading_of_arc(k, arc):
    label = "" if arc.label is None else f"<b>{escaped(arc.label)}</b> "
    return f"{k} {escaped(arc.word)} ← {arc.head} {label}{arc.score:+.3f}"


def printable(text):
    """``text`` on one line: what does not print, such as a newline, is escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
