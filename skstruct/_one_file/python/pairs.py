"""The second-order chain: transitions look two labels back (Collins 2002).

Most prefixes cannot be the start of a best labelling. What can follow a label is
bounded by a first-order chain: a step scores the most that it can behind any label
before. A beam finds a score to beat.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from math import isfinite
from operator import add
from typing import Any

from .chain import NEVER, Chain, best_before, best_of_ranked
from .reading import PARTS, Weights

BEAM = 3
"""Prefixes of each token that are kept to find the score to beat."""


class Pairs(Chain):
    """Weights, constraints and decoding of order 2; prefixes are told apart by their
    last two labels.
    """

    def __init__(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        super().__init__(header, arrays)
        L = self.L
        trigrams = Weights(header, arrays, "trigrams")
        # [p][y][a]: y behind p behind a; the last a, which is also -1, is the start
        self.trigram = [[[0.0] * (L + 1) for _ in range(L)] for _ in range(L)]
        for p in range(L):
            for a in range(-1, L):
                for y, w in trigrams[p * (L + 1) + a + 1]:
                    self.trigram[p][y][a] = w
        self.most = [list(map(max, by_label)) for by_label in self.trigram]
        self.size = max(
            abs(w) for by_label in self.trigram for scores in by_label for w in scores
        )
        self.plain_limits = self.limits(self.plain[0])

    def limits(
        self, into: list[list[float]]
    ) -> tuple[list[list[float]], list[float], float]:
        """Return for each p at least what steps to each y add, the largest of it, and
        the size of its terms.
        """
        limits = [list(map(add, *rows)) for rows in zip(self.most, zip(*into))]
        return (
            limits,
            list(map(max, limits)),
            self.size + largest(chain.from_iterable(into)),
        )

    def bounds(
        self, emission: list[list[float]], transitions: list[Any]
    ) -> tuple[list[list[float]], list[Any], float]:
        """Return (behind, limits, error): for each token and label at least what can
        follow, and its `limits`.

        A prefix and what can follow score at least what a labelling that begins with it
        scores, but for rounding: they may be ``error`` below it.
        """
        behind = [self.end]
        limits: list[Any] = [None]
        size = largest(emission[0])
        for score, (into, _) in zip(emission[:0:-1], transitions[:0:-1]):
            limit, highest, most = (
                self.plain_limits if into is self.plain[0] else self.limits(into)
            )
            limits.append(limit)
            size += largest(score) + most
            behind.append(
                best_before(list(map(add, score, behind[-1])), limit, highest)
            )
        # nine roundings for each token, of at most 2^-53 of the sum of all terms
        return (
            behind[::-1],
            limits[:1] + limits[:0:-1],
            1e-15 * (len(emission) + 1) * size,
        )

    def score_to_beat(
        self,
        emission: list[list[float]],
        transitions: list[Any],
        behind: list[list[float]],
    ) -> float:
        """Return the score of a labelling, most often the best; a beam keeps the
        prefixes of the highest bounds.
        """
        beam = [(a + b, -1, y) for y, (a, b) in enumerate(zip(self.start, emission[0]))]
        for t, follow in enumerate(behind):
            if t:
                rows = list(zip(range(self.L), emission[t], transitions[t][0]))
                beam = [
                    (s + weights[a] + (e + scores[p]), p, y)
                    for s, a, p in beam
                    for (y, e, scores), weights in zip(rows, self.trigram[p])
                ]
            beam = sorted(
                beam, key=lambda prefix: prefix[0] + follow[prefix[2]], reverse=True
            )[:BEAM]
        return beam[0][0] + self.end[beam[0][2]]

    def pair_prefixes(
        self,
        emission: list[list[float]],
        transitions: list[Any],
        behind: list[list[float]],
        limits: list[Any],
        beat: float,
    ) -> list[list[list[tuple[float, int]]]]:
        """Return for each token and label y (score, p) of the best prefixes that end in
        p, y, from the best one on.

        Those are left out that cannot become a labelling of the score ``beat``.
        """
        first = [a + b for a, b in zip(self.start, emission[0])]
        out = [[[] if s + b < beat else [(s, -1)] for s, b in zip(first, behind[0])]]
        for t in range(1, len(emission)):
            score = emission[t]
            into = transitions[t][0]
            now: list[list[tuple[float, int]]] = [[] for _ in range(self.L)]
            rest = list(map(add, score, behind[t]))
            for p, ranked in enumerate(out[-1]):
                if not ranked:
                    continue
                need = beat - ranked[0][0]
                trigram = self.trigram[p]
                most = self.most[p]
                some = [
                    y
                    for y, bound in enumerate(map(add, limits[t][p], rest))
                    if not bound < need
                ]
                best = best_of_ranked(
                    ranked, [trigram[y] for y in some], [most[y] for y in some]
                )
                for y, s in zip(some, best):
                    s += score[y] + into[y][p]
                    if not s + behind[t][y] < beat:
                        now[y].append((s, p))
            for ranked in now:
                ranked.sort(reverse=True)
            out.append(now)
        return out

    def decode(
        self, emission: list[list[float]], transitions: list[Any]
    ) -> tuple[list[int], float]:
        """Return (labels, score): of equal scores the smaller labels, from the last
        token backwards.
        """
        behind, limits, error = self.bounds(emission, transitions)
        beat = self.score_to_beat(emission, transitions, behind) - error
        prefixes = self.pair_prefixes(emission, transitions, behind, limits, beat)
        total, y, p = max(
            (s + self.end[y], -y, -p)
            for y, ranked in enumerate(prefixes[-1])
            for s, p in ranked
        )
        path = [-y]
        y = -y
        p = -p
        for ranked in prefixes[-2::-1]:
            path.append(p)
            weights = self.trigram[p][y]
            y = p
            p = -max((s + weights[a], -a) for s, a in ranked[p])[1]
        return path[::-1], total

    def best_with_each_label(
        self, emission: list[list[float]], transitions: list[Any]
    ) -> list[list[float]]:
        """Return for each token and label the best score of labellings that give the
        label to the token.
        """
        bounds, limits, _ = self.bounds(emission, transitions)
        prefixes = self.pair_prefixes(emission, transitions, bounds, limits, NEVER)
        labels = range(self.L)
        # [p][y]: the best that can follow p, y
        behind = [self.end] * self.L
        out = []
        for t in range(len(emission) - 1, 0, -1):
            whole = [
                {p: s + behind[p][y] for s, p in ranked}
                for y, ranked in enumerate(prefixes[t])
            ]
            out.append([max(scores.values()) for scores in whole])
            if t == 1:
                out.append([max(scores[p] for scores in whole) for p in labels])
            into = transitions[t][0]
            rest = [
                [into[y][p] + emission[t][y] + behind[p][y] for y in labels]
                for p in labels
            ]
            behind = [
                [
                    max(self.trigram[p][y][a] + rest[p][y] for y in labels)
                    for p in labels
                ]
                for a in labels
            ]
        return out[::-1] or [[s + e for ((s, _),), e in zip(prefixes[0], self.end)]]


def largest(scores: Iterable[float]) -> float:
    """Return the largest absolute value of those that are finite."""
    return max(map(abs, filter(isfinite, scores)), default=0.0)


PARTS["pairs"] = Pairs
