"""An explanation, and how it is shown."""

from __future__ import annotations

from math import fsum, inf
from typing import Any, NamedTuple

import numpy as np

from .explanation_html import explanation_html
from .frames import new_frame
from .html import Shown


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


class TokenExplanation(NamedTuple):
    """What one token adds to the score of a labelling.

    Attributes
    ----------
    token, label : object
    features : list of (str, float)
        Feature and contribution: its weight for the label, times its value if it has one.
    transitions : list of (str, float)
        The same for the transition into the label: the label bigram, the trigram with ``order=2``,
        transitions conditioned on the observation, and -inf for each constraint that is broken. Empty for
        the first token, unless a constraint is.
    runner_up : object
        The label of this token in the best labelling that gives it another one; None if there is no
        such labelling.
    margin : float
        By how much that labelling falls behind, in score; negative if it is the better one, inf if
        there is none.
    counterfactual : Counterfactual or None
        Features of this token whose removal makes the model give it another label, and which label that is.
        Of taggers it is a smallest set, removed from this token alone; None if no set does, or if the model
        does not give the token this label in the first place. Of segmenters by beam search and of re-rankers
        the features are removed from the whole model, and the set is found by search: none of them can be
        spared, but there may be smaller ones, and None means that none was found.
    """

    token: object
    label: object
    features: list[tuple[str, float]]
    transitions: list[tuple[str, float]]
    runner_up: object
    margin: float
    counterfactual: Counterfactual | None = None

    @property
    def score(self) -> float:
        """The sum of all contributions."""
        return fsum(value for _, value in self.features + self.transitions)


class Explanation(NamedTuple):
    """Why a labelling has the score it has; ``print`` shows the essence, a notebook a picture.

    Attributes
    ----------
    labels : list
        The labelling explained.
    score : float
        Its score, the sum of everything in ``tokens``; -inf if it breaks a constraint.
    tokens : list of TokenExplanation
    segments : list of (int, int, str) or None
        First token, end and type of each segment or word; None if labels do not spell segments.
    """

    labels: list[Any]
    score: float
    tokens: list[TokenExplanation]
    segments: list[tuple[int, int, str]] | None = None

    def describe(self, top: int = 5) -> str:
        """The explanation as text, with the ``top`` largest contributions to each token."""
        lines = [f"score {self.score:+.3f}"]
        for t, token in enumerate(self.tokens):
            head = f"{t} {printable(_short(token.token))} -> {printable(str(token.label))}"
            if token.margin < inf:
                other = printable(str(token.runner_up))
                head += f" ({token.score:+.3f}; {other} instead: {-token.margin:+.3f})"
            else:
                head += f" ({token.score:+.3f}; no other label is possible)"
            lines.append(head)
            parts = [part for part in token.features + token.transitions if part[1] != 0.0]
            parts.sort(key=lambda part: -abs(part[1]))
            lines += [f"    {value:+.3f}  {printable(name)}" for name, value in parts[:top]]
            if len(parts) > top:
                rest = fsum(value for _, value in parts[top:])
                lines.append(f"    {rest:+.3f}  {len(parts) - top} more")
        return "\n".join(lines)

    __str__ = describe

    def to_dict(self) -> dict[str, Any]:
        """The explanation as dicts and lists, all contributions included.

        Returns
        -------
        dict
            ``labels``, ``score``, ``segments``, and ``tokens``, a list of dicts with the attributes of
            `TokenExplanation` and its ``score``. Tokens that are arrays become lists.
        """
        tokens = []
        for token in self.tokens:
            entry = {**token._asdict(), "score": token.score}
            if isinstance(token.token, np.ndarray):
                entry["token"] = token.token.tolist()
            if token.counterfactual is not None:
                entry["counterfactual"] = token.counterfactual._asdict()
            tokens.append(entry)
        return {"labels": self.labels, "score": self.score, "segments": self.segments, "tokens": tokens}

    def to_frame(self) -> Any:
        """The explanation as a table.

        Returns
        -------
        pandas.DataFrame
            One row for each contribution: ``position``, ``token``, ``label``, ``kind`` ("feature" or
            "transition"), ``feature`` and ``contribution``.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        rows = [
            (t, token.token, token.label, kind, name, value)
            for t, token in enumerate(self.tokens)
            for kind, parts in (("feature", token.features), ("transition", token.transitions))
            for name, value in parts
        ]
        names = ["position", "token", "label", "kind", "feature", "contribution"]
        columns = dict(zip(names, map(list, zip(*rows)))) if rows else {name: [] for name in names}
        return new_frame(columns, "Explanation")

    def _repr_html_(self) -> str:
        return explanation_html(self)

    to_html = Shown.to_html


def _short(token):
    """A token in at most 40 characters."""
    text = repr(token)
    return text if len(text) <= 40 else text[:37] + "..."


def printable(text):
    """``text`` on one line: what does not print, such as a newline, is escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
