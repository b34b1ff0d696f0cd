"""The first-order chain: scores of labels and of transitions, and the best labelling
(Viterbi).

A labelling scores start[y0] + sum of emission[t][y] + sum of transition[t][p][y] +
end[y]. Sums run in the order of the package that wrote this file, so that scores are
the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import add
from typing import Any

from .reading import PARTS, Weights

NEVER = float("-inf")


class Chain:
    """Weights, constraints and decoding of order 1."""

    def __init__(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        L = self.L = len(header["labels"])
        self.states = Weights(header, arrays, "nodes", L)
        self.edges = Weights(header, arrays, "edges")
        allowed = [0.0 if ok else NEVER for ok in arrays["allowed"]]
        self.start = allowed[:L]
        self.end = allowed[L : 2 * L]
        self.allowed = allowed[2 * L :]
        self.plain = self.transitions_into(1.0)

    def transitions_into(self, scale: float) -> tuple[list[list[float]], list[float]]:
        """Return for each label y the scores of the steps from each p, and the largest
        of them.
        """
        L = self.L
        matrix = list(self.allowed)
        for k, w in self.edges[0]:
            matrix[k] = scale * w + self.allowed[k]
        into = [matrix[y::L] for y in range(L)]
        return into, [max(scores) for scores in into]

    def emissions(
        self, rows: Any, values: Any, scale: float = 1.0
    ) -> list[list[float]]:
        """Return for each token the scores of all labels, by the rows of weights of its
        features.
        """
        weights = self.states
        out = []
        for t, mine in enumerate(rows):
            score = [0.0] * self.L
            for k, row in enumerate(mine):
                found = weights[row]
                x = 1.0 if values is None else values[t][k]
                if type(found) is list:
                    score = list(
                        map(add, score, found if x == 1.0 else [x * w for w in found])
                    )
                else:
                    for y, w in found:
                        score[y] += x * w
            out.append(score if scale == 1.0 else [scale * s for s in score])
        return out

    def transitions(
        self, rows: Any, plain: Any, T: int, scale: float = 1.0
    ) -> list[Any]:
        """Return for each token the transitions into it: ``plain``, and what its own
        features add.
        """
        if rows is None:
            return [plain] * T
        out = []
        L = self.L
        for mine in rows:
            added = [entry for row in mine for entry in self.edges[row]]
            labels = {k % L for k, _ in added}
            into, highest = map(list, plain) if added else plain
            for y in labels:
                into[y] = list(into[y])
            for k, w in added:
                into[k % L][k // L] += scale * w
            for y in labels:
                highest[y] = max(into[y])
            out.append((into, highest))
        return out

    def prefixes(
        self,
        emission: list[list[float]],
        transitions: list[Any],
        joined_before: Callable[..., list[float]],
    ) -> list[list[float]]:
        """Return for each token and label what joins the scores of prefixes that end
        there in the label.
        """
        out = [list(map(add, self.start, emission[0]))]
        for score, (into, highest) in zip(emission[1:], transitions[1:]):
            out.append(list(map(add, joined_before(out[-1], into, highest), score)))
        return out

    def decode(
        self, emission: list[list[float]], transitions: list[Any]
    ) -> tuple[list[int], float]:
        """Return (labels, score): of equal scores the smaller label, from the last
        token backwards.
        """
        scores = self.prefixes(emission, transitions, best_before)
        reached = list(map(add, scores[-1], self.end))
        path = []
        score = max(reached)
        for t in range(len(emission) - 1, -1, -1):
            path.append(reached.index(max(reached)))
            if t:
                reached = list(map(add, scores[t - 1], transitions[t][0][path[-1]]))
        return path[::-1], score

    def best_with_each_label(
        self, emission: list[list[float]], transitions: list[Any]
    ) -> list[list[float]]:
        """Return for each token and label the best score of labellings that give the
        label to the token.
        """
        return self.with_each_label(emission, transitions, best_before, max)

    def with_each_label(
        self,
        emission: list[list[float]],
        transitions: list[Any],
        joined_before: Callable[..., list[float]],
        joined: Callable[[list[float]], float],
    ) -> list[list[float]]:
        """Return for each token and label what joins the scores of labellings that give
        the label to the token.

        ``joined`` is the maximum of some scores, or their sum as logarithms;
        ``joined_before`` is that over the labels before, as `best_before`.
        """
        scores = self.prefixes(emission, transitions, joined_before)
        behind = self.end
        out = []
        for t in range(len(emission) - 1, -1, -1):
            out.append([a + b for a, b in zip(scores[t], behind)])
            if t:
                rest = [a + b for a, b in zip(emission[t], behind)]
                into = transitions[t][0]
                behind = [
                    joined([into[y][p] + rest[y] for y in range(self.L)])
                    for p in range(self.L)
                ]
        return out[::-1]


def best_before(
    before: list[float], into: list[list[float]], highest: list[float]
) -> list[float]:
    """Return for each label y the largest ``before[p] + into[y][p]``; ``highest[y]``
    bounds the second part.
    """
    return best_of_ranked(
        sorted(zip(before, range(len(before))), reverse=True), into, highest
    )


def best_of_ranked(
    ranked: list[tuple[float, int]], into: list[list[float]], highest: list[float]
) -> list[float]:
    """Return what `best_before` does; ``ranked`` holds (before[p], p), best first.

    They are tried until none can win.
    """
    out = []
    for scores, most in zip(into, highest):
        best = NEVER
        for reached, p in ranked:
            if reached + most <= best:
                break
            reached += scores[p]
            if reached > best:
                best = reached
        out.append(best)
    return out


PARTS["chain"] = Chain
