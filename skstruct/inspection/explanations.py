"""The results of `explain`: contributions that add up to scores.

They can be had as text, frame, dict and HTML.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from math import fsum, inf, isfinite
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from .._data.elements import label_text, spelled
from .feature_words import in_words
from .html import LONG, SHORT, Shown, bar, box, cell, escaped, note, table
from .html import arcs as drawn_arcs
from .pictures import Mark, are_characters, line
from .token_words import shown
from .weight_tables import new_frame

if TYPE_CHECKING:
    from .._taggers.probability_tagger import Segment


Contribution: TypeAlias = tuple[str, float]
"""Name of a feature, and what it adds to a score."""

TOP = 10
MOST = 200
"""In HTML: contributions listed of a token, others being one line; tokens whose
contributions are listed.
"""


class Counterfactual(NamedTuple):
    """The smallest change that gives another label.

    Attributes
    ----------
    label : object
        The label that the model would predict instead.
    features : list of str
        Features of the token; without all of them the model changes its mind.
    """

    label: Any
    features: list[str]


class _Contributions:
    """Lists of (feature, contribution) that add up to a score.

    ``_lists`` names the attributes that hold them.
    """

    _lists: ClassVar[dict[str, str]]  # {attribute: what `to_frame` calls it}
    margin: float

    def _all(self) -> list[tuple[str, str, float]]:
        """List (kind, feature, contribution) of all that count."""
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

    def _would(self) -> str:
        """Write what would have to change as HTML; nothing where that is not known."""
        return ""

    def _later(self) -> tuple[str, list[Contribution]] | None:
        """Return heading and contributions of what is chosen later, unscored.

        None if there is no such thing.
        """
        return None

    def _as_dict(self) -> dict[str, Any]:
        """Return the attributes, and the score, as values that JSON has."""
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
    """The contribution of one token to the score of a labelling.

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
        The distance of that labelling in score; negative if it is the better one, inf
        if there is none.
    counterfactual : Counterfactual or None
        For chain taggers: the smallest set of features of this token whose removal
        makes the model give it another label, and which label that is. None if no set
        does, if the model does not give the token this label in the first place, and of
        segmenters by beam search and re-rankers.
    """

    token: Any
    label: Any
    features: list[Contribution]
    transitions: list[Contribution]
    runner_up: Any
    margin: float
    counterfactual: Counterfactual | None = None

    _lists = {"features": "feature", "transitions": "transition"}

    def _would(self) -> str:
        """Write which features make the model change its mind, as HTML."""
        change = self.counterfactual
        if change is None:
            return (
                note("The model itself predicts something else here.")
                if self.margin < 0
                else ""
            )
        shown = change.features[:TOP]
        names = ", ".join(f"<b>{escaped(name, SHORT)}</b>" for name in shown)
        if len(change.features) > TOP:
            names += f" and {len(change.features) - TOP} more"
        return note(f"Without {names} it would be {escaped(label_text(change.label))}.")


@dataclass(frozen=True)
class ArcExplanation(_Contributions):
    """The contributions to the score of one arc.

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
        True if the label is part of the score. Labels of the root, and of template sets
        that read no labels, are not: they are chosen when the tree is found.
    """

    word: Any
    head: int
    label: Any
    action: str | None
    features: list[Contribution]
    label_features: list[Contribution]
    others: dict[str, float]
    runner_up: Any
    margin: float
    shift_features: list[Contribution]
    label_counts: bool

    _lists = {
        "shift_features": "shift",
        "features": "action",
        "label_features": "label",
    }

    def _all(self) -> list[tuple[str, str, float]]:
        """List (kind, feature, contribution) of all, of the label if it counts."""
        return [
            each for each in super()._all() if self.label_counts or each[0] != "label"
        ]

    def _later(self) -> tuple[str, list[Contribution]] | None:
        """Return heading and contributions of a label that is not scored."""
        if self.label_counts or self.label is None:
            return None
        return f"label {self.label}, chosen for the finished tree:", by_size(
            self.label_features
        )

    def _would(self) -> str:
        """Write the contributions to a label that is chosen later, as HTML."""
        later = self._later()
        return "" if later is None else bars(escaped(later[0]), later[1])


class _Explained(Shown):
    """An explanation of several items, tokens or arcs, with contributions of each."""

    _items: ClassVar[str]  # the attribute that lists them
    _first: ClassVar[int] = 0  # number of the first item
    # of `to_frame`, before kind, feature and contribution
    _columns: ClassVar[tuple[str, ...]]

    if TYPE_CHECKING:  # a field of one subclass, a property of the other

        @property
        def score(self) -> float: ...

    @abstractmethod
    def _heading(self, k: int, item: Any) -> str:
        """Return the line of text that opens the contributions of item k."""

    def _words(self, found: Iterable[Contribution]) -> list[Contribution]:
        """Name contributions in words, where that is known."""
        return list(found)

    def _numbered(self) -> list[tuple[int, Any]]:
        """Number the items as users count them."""
        return list(enumerate(getattr(self, self._items), self._first))

    def describe(self, top: int = 5) -> str:
        """Write a text with the ``top`` largest contributions to each token or arc."""
        lines = [f"score {self.score:+.3f}"]
        for k, item in self._numbered():
            largest = self._words(item.largest)
            lines += [self._heading(k, item), *_largest(largest, top)]
            later = item._later()
            if later is not None:
                heading, found = later
                lines += [
                    f"  {printable(heading)} {_sum(found):+.3f}",
                    *_largest(found, top),
                ]
        return "\n".join(lines)

    __str__ = describe

    def to_frame(self) -> Any:
        """Return the explanation as a table.

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

    def _details(self, heading: Callable[[int, Any], str]) -> tuple[list[str], str]:
        """Write the contributions of each item as HTML, and a note on what is left
        out.
        """
        items = self._numbered()
        listed = [
            (heading(k, item), self._words(item.largest), item._would())
            for k, item in items[:MOST]
        ]
        scale = _scale(pair for _, found, _ in listed for pair in found)
        rest = ""
        if len(items) > MOST:
            more = f"{len(items) - MOST:,} more {self._columns[0]}s"
            rest = note(f"{more}; to_frame() lists all of them")
        return [bars(*each, scale) for each in listed], rest


def by_size(found: Iterable[Contribution]) -> list[Contribution]:
    """Sort contributions by their size, largest first, without those of 0."""
    return sorted(
        (pair for pair in found if pair[1] != 0.0), key=lambda pair: -abs(pair[1])
    )


def _sum(found: Iterable[Contribution]) -> float:
    return fsum(value for _, value in found)


def _scale(found: Iterable[Contribution]) -> float:
    return max((abs(value) for _, value in found if isfinite(value)), default=0.0)


def _largest(found: list[Contribution], top: int) -> list[str]:
    """Write the first contributions, which are the largest, and the sum of others."""
    lines = [f"    {value:+.3f}  {printable(name)}" for name, value in found[:top]]
    if len(found) > top:
        lines.append(f"    {_sum(found[top:]):+.3f}  {len(found) - top} more")
    return lines


def bars(
    heading: str,
    found: list[Contribution],
    below: str = "",
    scale: float | None = None,
    top: int = TOP,
) -> str:
    """Draw bars that add up to a score, under a line that opens them.

    ``found`` is sorted by :func:`by_size`; ``scale`` is the value of the longest bar.
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
    listed = table([*cells, total])
    return f"<details><summary>{heading}</summary>{listed}{below}</details>"


@dataclass(frozen=True)
class Explanation(_Explained):
    """Why a labelling has the score it has.

    ``print`` shows the essence, a notebook a picture.

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
    templates : dict of str to str
        Those of the model, by identifier: texts and pictures say in words what features
        read, with their names in brackets.
    """

    labels: list[Any]
    score: float
    tokens: list[TokenExplanation]
    segments: list[Segment] | None = None
    templates: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    _items = "tokens"
    _columns = "token", "label"

    def _words(self, found: Iterable[Contribution]) -> list[Contribution]:
        """Name contributions in words, where that is known."""
        tokens = [token.token for token in self.tokens]
        of_text = bool(tokens) and are_characters(tokens)
        unit = "character" if of_text else "word"
        return [(in_words(name, self.templates, unit), x) for name, x in found]

    @cached_property
    def _shown_tokens(self) -> list[Any]:
        """The tokens; of features the word in them."""
        return shown([[token.token for token in self.tokens]])[0]

    def _heading(self, t: int, token: TokenExplanation) -> str:
        text = repr(self._shown_tokens[t])
        short = printable(text if len(text) <= 40 else text[:37] + "...")
        rival = "no other label is possible"
        if token.margin < inf:
            rival = f"{printable(label_text(token.runner_up))} instead: {-token.margin:+.3f}"
        label = printable(label_text(token.label))
        return f"{t} {short} -> {label} ({token.score:+.3f}; {rival})"

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as dicts and lists, all contributions included.

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
        """Draw the sequence, and bars for its tokens; those of no segment are
        folded.
        """
        segments = self.segments
        if segments is None:
            segments = [
                (t, t + 1, spelled(token.label)) for t, token in enumerate(self.tokens)
            ]
        lines, rest = self._details(self._heading_in_html)
        outside = [self.segments is not None and label == "O" for label in self.labels]
        details = ""
        for folded, group in groupby(enumerate(lines), lambda each: outside[each[0]]):
            places, parts = zip(*group)
            if folded and len(places) > 1:
                details += self._folded(places, parts)
            else:
                details += "".join(parts)
        sequence = line(self._shown_tokens, [Mark(*segment) for segment in segments])
        return box(sequence + note(f"score {self.score:+.3f}") + details + rest)

    def _folded(self, places: Sequence[int], shown: Sequence[str]) -> str:
        """Fold the bars of neighbouring tokens that are in no segment."""
        words = " ".join(
            escaped(self._shown_tokens[t], SHORT // 4) for t in places[:TOP]
        )
        words += " …" * (len(places) > TOP)
        heading = f"{places[0]}–{places[-1]} {words} → <b>O</b>"
        return f"<details><summary>{heading}</summary>{''.join(shown)}</details>"

    def _heading_in_html(self, t: int, token: TokenExplanation) -> str:
        label = escaped(label_text(token.label))
        heading = f"{t} {escaped(self._shown_tokens[t])} → <b>{label}</b>"
        heading += f" {token.score:+.3f}"
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
        """The score of the tree: that of the actions that build it, and of labels."""
        return fsum(value for arc in self.arcs for _, _, value in arc._all())

    def _heading(self, k: int, arc: ArcExplanation) -> str:
        word = printable(repr(arc.word))
        label = printable(spelled(arc.label))
        return f"{k} {word} <- {arc.head} {label} ({arc.score:+.3f})"

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as dicts and lists, all contributions included.

        Returns
        -------
        dict
            ``tree``, ``score``, and ``arcs``, a list of dicts with the attributes of
            `ArcExplanation` and its ``score``.
        """
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


def _heading_of_arc(k: int, arc: ArcExplanation) -> str:
    label = "" if arc.label is None else f"<b>{escaped(arc.label)}</b> "
    return f"{k} {escaped(arc.word)} ← {arc.head} {label}{arc.score:+.3f}"


def printable(text: str) -> str:
    """Write a text on one line: what does not print, such as a newline, is escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
