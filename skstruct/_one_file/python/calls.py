"""The public functions of a tagger."""

from __future__ import annotations

from typing import Any

from .chain import NEVER, Chain
from .names import Names
from .patterns import Patterns
from .reading import PARTS, read_block, refuse
from .templates import Templates


class Tagger:
    """Labels sequences of tokens.

    ``labels`` are all labels; ``about`` says where the model is from.
    """

    holds = "sequences"
    hint = ""
    """A description of X for errors."""

    def __init__(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.header = header
        self.labels = header["labels"]
        self.about = header["about"]
        self.features: Names | Patterns | Templates = PARTS[header["features"]](
            header, arrays
        )
        self.chain: Chain = PARTS[header["chain"]](header, arrays)

    def predict(self, X: Any, allowed: Any = None) -> list[Any]:
        """Return the best labels of each sequence.

        ``allowed``: for each token of each sequence None (any label), a label, or
        several labels.
        """
        X = self.sequences(X)
        out = []
        if allowed is not None and (isinstance(allowed, str) or len(allowed) != len(X)):
            raise ValueError("X and allowed must hold the same number of sequences")
        for i, x in enumerate(X):
            ((tokens, _),) = self.parts(x, i)
            options = None if allowed is None else self.options(tokens, i, allowed[i])
            out.append([self.labels[y] for y in self.best_of(tokens, i, options)[0]])
        return out

    def decision_function(self, X: Any) -> list[float]:
        """Return the score of the best labelling of each sequence."""
        return [self.best_of_all(x, i)[1] for i, x in enumerate(self.sequences(X))]

    def predict_marginals(self, X: Any) -> list[list[list[float]]]:
        """Return for each token of each sequence the probabilities of all labels."""
        scale = self.header["probabilities"]
        if scale is None:
            text = (
                "calibrate it, or train an L1CRF"
                if self.header["chain"] == "chain"
                else "its order is 2"
            )
            raise ValueError("the model has no probabilities: " + text)
        scale *= self.header["step"]
        out = []
        for i, x in enumerate(self.sequences(X)):
            rows = [self.features.rows(tokens, i) for tokens, _ in self.parts(x, i)]
            out.append(
                [
                    row
                    for part in rows
                    for row in PARTS["sums"](self.chain, scale, *part)
                ]
            )
        return out

    def explain(self, sequence: Any) -> list[dict[str, Any]]:
        """Tell why each token has its label.

        A dict for each token: ``label``; ``runner_up``, its label in the best labelling
        that gives it another one; ``margin``, how far that is behind; ``features``, as
        (name, weight for the label, weight for the runner-up); and ``neighbours``, what
        the labels around add to the margin.
        """
        return [
            reasons
            for part in self.parts(sequence, 0)
            for reasons in self.explained(*part)
        ]

    # -- inside ------------------------------------------------------------------------
    def sequences(self, X: Any) -> list[Any]:
        """Return all that is labelled, as a list."""
        if isinstance(X, (str, dict)) or not hasattr(X, "__iter__"):
            raise ValueError(f"X must be a list of {self.holds}, got {X!r}{self.hint}")
        return list(X)

    def parts(self, sequence: Any, i: int) -> list[tuple[list[Any], Any]]:
        """Return what is labelled as one: (tokens, for each the numbers of the labels
        it may get, or None).
        """
        if isinstance(sequence, (str, dict)) or not hasattr(sequence, "__len__"):
            refuse(i, None, f"expected a list of tokens, got {sequence!r}")
        return [(list(sequence), None)]  # an array is one, too

    def best_of_all(self, x: Any, i: int) -> tuple[list[int], float]:
        """Return (numbers of labels, score) of all parts."""
        path = []
        score = 0.0
        for tokens, options in self.parts(x, i):
            found, reached = self.best_of(tokens, i, options)
            path += found
            score += reached
        return path, score

    def best_of(
        self, sequence: Any, i: int, options: Any = None
    ) -> tuple[list[int], float]:
        """Return (numbers of labels, score) of one sequence."""
        if not sequence:
            return [], 0.0
        path, score = self.chain.decode(
            *self.scores(self.features.rows(sequence, i), options)
        )
        if score == NEVER:
            refuse(i, None, "the constraints and the labels allowed leave no labelling")
        return path, score * self.header["step"]

    def scores(self, found: Any, options: Any) -> tuple[list[list[float]], list[Any]]:
        """Return by token the scores of labels, and transitions; ``options`` has the
        labels of each, or None.
        """
        rows, values, edges = found
        emission = self.chain.emissions(rows, values)
        for score, some in zip(emission, options or ()):
            if some is not None:
                score[:] = [s if y in some else NEVER for y, s in enumerate(score)]
        return emission, self.chain.transitions(edges, self.chain.plain, len(rows))

    def options(self, sequence: Any, i: int, choices: Any) -> list[set[int] | None]:
        """Return for each token the numbers of the labels that it may get, or None."""
        out = []
        if len(choices) != len(sequence):
            refuse(
                i,
                None,
                f"expected {len(sequence)} entries in allowed, got {len(choices)}",
            )
        for t, choice in enumerate(choices):
            some = (
                list(choice)
                if isinstance(choice, (list, tuple, set, frozenset))
                else [choice]
            )
            for label in some:
                if choice is not None and label not in self.labels:
                    refuse(i, t, f"{label!r} is not a label of the model")
            out.append(None if choice is None else set(map(self.labels.index, some)))
        return out

    def explained(self, sequence: Any, options: Any = None) -> list[dict[str, Any]]:
        """Explain one sequence of tokens, as `explain`; ``options`` as of `scores`."""
        if not sequence:
            return []
        path = self.best_of(sequence, 0, options)[0]
        found = self.features.rows(sequence, 0)
        emission, transitions = self.scores(found, options)
        best = self.chain.best_with_each_label(emission, transitions)
        (rows, values, _) = found
        values = values or [[1.0] * len(mine) for mine in rows]
        return list(map(self.reasons, sequence, path, best, emission, rows, values))

    def reasons(
        self,
        token: Any,
        y: int,
        best: list[float],
        emission: list[float],
        rows: Any,
        values: Any,
    ) -> dict[str, Any]:
        """Return the explanation of one token."""
        step = self.header["step"]
        others = [s if k != y else NEVER for k, s in enumerate(best)]
        other = max(range(len(best)), key=others.__getitem__)
        found = others[other] > NEVER
        features = []
        for row, x in zip(rows, values):
            weights = self.chain.states[row]
            weights = dict(enumerate(weights) if isinstance(weights, list) else weights)
            mine = step * x * weights.get(y, 0.0)
            its = step * x * weights.get(other, 0.0)
            if mine or found and its:
                features.append((self.features.name(row), mine, its if found else None))
        around = (best[y] - emission[y]) - (best[other] - emission[other])
        return {
            "token": token,
            "label": self.labels[y],
            "runner_up": self.labels[other] if found else None,
            "margin": (best[y] - best[other]) * step if found else None,
            "features": features,
            "neighbours": around * step if found else None,
        }


PARTS["labels"] = Tagger


def open_model(data: str) -> Tagger:
    """Return the tagger whose data is a constant."""
    header, arrays = read_block(data)
    return PARTS[header["task"]](header, arrays)
