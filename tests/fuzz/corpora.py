"""Random corpora of every kind of token. Tokens say something about their labels."""

import copy
import itertools

import numpy as np
import pandas
from scipy import sparse
from sklearn.preprocessing import FunctionTransformer

from skstruct import SequenceMatrix
from skstruct.features import SequenceUnion, TokenTransformer

from . import drawing

STRINGS = ("str", "char", "tuple", "tuple3")
NAMED = ("dict", "dict-values", "list")
NUMBERS = ("dense", "dense32", "listed", "sparse", "matrix", "union")
KINDS = (*STRINGS, *NAMED, *NUMBERS, "frame")

READ_AS = {
    **dict.fromkeys(("str", "char"), "strings"), **dict.fromkeys(("tuple", "tuple3"), "columns"),
    **dict.fromkeys(NAMED, "features"), **dict.fromkeys(NUMBERS, "numbers"), "frame": "both",
}  # fmt: skip
"""Kind -> what a model takes its tokens for; it takes no others."""


def form(number):
    """The string of a word number."""
    return (
        "wxyz"[number % 4]
        + "".join("abcdefghij"[int(c)] for c in str(number))
        + "-Q1" * (number % 5 == 0)
    )


class Tokens:
    """Turns sequences of word numbers into tokens of a kind."""

    def __init__(self, draw, kind, n_words):
        self.kind, self.n_words = kind, n_words
        self.width = draw.one(1, 2, 5, 17, 40)
        self.table = np.round(draw.rng.normal(size=(n_words, self.width)), 2)
        self.table[draw.rng.random(self.table.shape) < draw.one(0.0, 0.3, 0.9)] = 0.0
        self.size = draw.one(1.0, 1.0, 1.0, 1e6, 1e-6, 1e30)
        self.one_hot = draw.chance(0.5)
        draw.note(kind=kind, n_words=n_words, width=self.width)

    def grow(self, draw, more):
        """Let there be more words."""
        self.n_words += more
        self.table = np.concatenate(
            [self.table, draw.rng.normal(size=(more, self.width))]
        )

    def sequences(self, numbers):
        """The corpus of sequences of word numbers."""
        if self.kind in ("matrix", "union"):
            rows = [self.table[np.asarray(sequence, int)] for sequence in numbers]
            X = SequenceMatrix(
                np.concatenate(rows), lengths=[len(sequence) for sequence in numbers]
            )
            return self._united(X) if self.kind == "union" and self.width > 1 else X
        return [self.sequence(sequence) for sequence in numbers]

    def _united(self, X):
        """The same rows, half of the columns dense and the others sparse."""
        half = self.width // 2
        parts = [
            lambda rows: rows[:, :half],
            lambda rows: sparse.csr_matrix(rows[:, half:]),
        ]
        return SequenceUnion(
            [
                (f"part{k}", TokenTransformer(FunctionTransformer(part)))
                for k, part in enumerate(parts)
            ]
        ).fit_transform(X)

    def sequence(self, numbers):
        if self.kind in NUMBERS:
            return self._rows(np.asarray(numbers, int))
        if self.kind == "frame":
            columns = {
                "word": [form(k) for k in numbers],
                "tag": ["NVAD"[k % 4] for k in numbers],
            }
            frame = pandas.DataFrame(
                {**columns, "x": self.table[np.asarray(numbers, int), 0]}
            )
            return frame.astype({"word": object, "tag": object, "x": float})
        return [self._token(k) for k in numbers]

    def _token(self, k):
        word, tag = form(k), "NVAD"[k % 4]
        if self.kind == "str":
            return word
        if self.kind == "char":
            return chr(ord("A") + k % 5000)
        if self.kind == "tuple":
            return word, tag
        if self.kind == "tuple3":
            return word, tag, str(k % 3)
        if self.kind == "dict":
            return {"w": word, "odd": bool(k % 2), "all": True}
        if self.kind == "list":
            return [f"w={word}", "bias"] + [f"m{k % 4}"] * (k % 3)
        x = float(self.table[k, 0]) * self.size
        nested = {"a": k % 3 == 0, "b": [f"q{k % 7}", "r"], "c": {"d": 0.5}}
        return {"w": word, "x": x, "neg": -k / 7, "none": 0.0, "in": nested, "int": k}

    def _rows(self, at):
        dense = self.table[at].reshape(len(at), self.width)
        if self.kind == "dense32":
            return dense.astype(np.float32)
        if self.kind == "listed":
            return dense.tolist()
        if self.kind == "sparse":
            return sparse.csr_array(np.eye(self.n_words)[at] if self.one_hot else dense)
        return dense


class Corpus:
    """A corpus of one kind of tokens, perhaps partially labelled, and new text of the
    same kind.

    Attributes
    ----------
    X, y : what to train on
        ``None`` in y is no label.
    new : tuple (X, y)
        Held-out sequences, some with words that training lacks.
    labels : list
    scheme : str or None
    partial : float or "whole"
        The share of tokens without label; or sequences without any.
    """

    def __init__(
        self,
        draw,
        kind=None,
        labels=None,
        budget=None,
        scheme=None,
        partial=None,
        most_labels=300,
        least=1,
    ):
        budget = min(
            budget or draw.one(60, 300, 1500, 4000), 40 if draw.tiny else 10**9
        )
        self.scheme = scheme
        self.labels = (
            drawing.SCHEME_LABELS.get(scheme)
            or labels
            or drawing.labels(draw, most_labels)
        )
        self.kind = kind or draw.one(*KINDS)
        self.tokens = Tokens(draw, self.kind, draw.one(2, 5, 30, 200))
        sizes = (
            drawing.many_lengths(draw, budget)
            if budget > 4000
            else drawing.lengths(draw, budget, least)
        )
        self.X, self.full_y = self.made(draw, sizes)
        self.partial = (
            draw.one(0.0, 0.0, 0.2, 0.5, 0.95, "whole") if partial is None else partial
        )
        self.y = [self._hidden(draw, sequence) for sequence in self.full_y]
        if all(label is None for sequence in self.y for label in sequence):
            self.y, self.partial = self.full_y, 0.0
        draw.note(
            tokens=sum(map(len, self.y)), sequences=len(self.y), partial=self.partial
        )
        self.new = self.made(
            draw,
            [min(n, 40) for n in drawing.lengths(draw, min(budget, 200))],
            noise=0.6,
        )

    def made(self, draw, sizes, noise=0.3):
        """(X, y) of new sequences; ``noise`` is the share of tokens that say nothing of
        their label.
        """
        numbers, y = [], []
        for n in sizes:
            if self.scheme:
                sequence = drawing.scheme_labels(draw, self.scheme, n)
                ids = [self.labels.index(label) for label in sequence]
            else:
                ids = draw.rng.integers(0, len(self.labels), n).tolist()
                for t in range(1, n):
                    if draw.chance(0.5):  # labels follow each other
                        ids[t] = (ids[t - 1] + 1) % len(self.labels)
                sequence = [self.labels[k] for k in ids]
            numbers.append(self._words(draw, np.asarray(ids, int), noise))
            y.append(sequence)
        self.numbers = numbers
        return self.tokens.sequences(numbers), y

    def new_as(self, kind):
        """The new text, its words written as tokens of another kind."""
        tokens = copy.copy(self.tokens)
        tokens.kind = kind
        return tokens.sequences(self.numbers)

    def is_new_as(self, kind):
        """Whether that are the same numbers, or strings, in another form."""
        forms = {"dense", "listed", "matrix", "union"} | (
            set() if self.tokens.one_hot else {"sparse"}
        )
        return kind == self.kind or {kind, self.kind} <= forms

    def _words(self, draw, ids, noise):
        n_words, n = self.tokens.n_words, ids.shape[0]
        own = (ids * 2 + draw.rng.integers(0, 2, n)) % n_words
        return np.where(
            draw.rng.random(n) < noise, draw.rng.integers(0, n_words, n), own
        ).tolist()

    def _hidden(self, draw, sequence):
        if self.partial == "whole":
            return [None] * len(sequence) if draw.chance(0.3) else sequence
        if not self.partial or draw.chance(0.3):
            return sequence
        return [None if draw.chance(self.partial) else label for label in sequence]

    def pairs(self):
        """The pairs of neighbouring labels in y, and of labels at the ends, as
        constraints name them.
        """
        sides = ([None, *sequence, None] for sequence in self.full_y if sequence)
        return {pair for sequence in sides for pair in itertools.pairwise(sequence)}
