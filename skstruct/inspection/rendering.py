"""An explanation, and how it is printed."""

from __future__ import annotations

from math import fsum, inf
from typing import Any, NamedTuple


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
    """

    token: object
    label: object
    features: list[tuple[str, float]]
    transitions: list[tuple[str, float]]
    runner_up: object
    margin: float

    @property
    def score(self) -> float:
        """The sum of all contributions."""
        return fsum(value for _, value in self.features + self.transitions)


class Explanation(NamedTuple):
    """Why a labelling has the score it has; ``print`` shows the essence.

    Attributes
    ----------
    labels : list
        The labelling explained.
    score : float
        Its score, the sum of everything in ``tokens``; -inf if it breaks a constraint.
    tokens : list of TokenExplanation
    """

    labels: list[Any]
    score: float
    tokens: list[TokenExplanation]

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


def _short(token):
    """A token in at most 40 characters."""
    text = repr(token)
    return text if len(text) <= 40 else text[:37] + "..."


def printable(text):
    """``text`` on one line: what does not print, such as a newline, is escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
