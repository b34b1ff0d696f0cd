"""A cell of the table *every model x every verb*: a fitted model, and what verbs need
besides.
"""

import copy
import functools
import io
import sys

from cli_cases import run
from model_cases import (
    ALL_CASES,
    annotated,
    bags,
    dicts,
    fitted,
    frames,
    nested,
    pairs,
    rows,
    sparse_rows,
    texts,
    tokens,
    trees,
    trees_of_columns,
    words,
)

from skstruct.datasets import write_spans

VERBS = {}
"""Name -> function of a `Cell`."""

COSTLY = set()
"""Verbs that fit several models: they are tried on one base for each wrapper."""


def verb(function):
    """Enter a function among the verbs."""
    VERBS[function.__name__] = function
    return function


def costly(function):
    """Enter a function among the verbs that are tried on fewer models."""
    COSTLY.add(function.__name__)
    return verb(function)


trained = functools.cache(fitted)
"""(estimator, X, y) of a case and a number of labels, fitted once."""


def plain(words):
    """Words without their tags."""
    return [word if isinstance(word, str) else word[0] for word in words]


class Refused(Exception):
    """A command ended with an error; holds what it said."""


def length(sequence):
    """Tokens of a sequence; CSR has no ``len``."""
    return sequence.shape[0] if hasattr(sequence, "shape") else len(sequence)


class Cell:
    """A fitted model, which no verb changes, and what verbs need besides."""

    def __init__(self, name, folder, capsys):
        self.name, self.folder, self.capsys = name, folder, capsys
        self.data, self.make = ALL_CASES[name]
        self.model, self.X, self.y = trained(name, 4)

    @property
    def kind(self):
        kinds = {
            texts: "words", words: "words", annotated: "spans", nested: "spans", trees: "trees", trees_of_columns: "trees",
        }  # fmt: skip
        return kinds.get(self.data, "labels")

    def first(self):
        """The first sequence."""
        whole = self.kind in ("words", "spans") or self.data in (
            rows,
            sparse_rows,
            frames,
        )
        return self.X[0] if whole else list(self.X[0])

    def copy(self):
        return copy.deepcopy(self.model)

    def parameters(self, ending):
        """The names of the parameters, those of inner estimators included, that are
        called so.
        """
        names = [
            name for name in self.make().get_params() if name.split("__")[-1] == ending
        ]
        if not names:
            raise AttributeError(f"{self.name} has no attribute {ending!r}")
        return names

    def command(self, *arguments, stdin="", to=None, model=None):
        """What a command prints; ``to`` is the file to convert to."""
        before = sys.stdin
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        try:
            files = ["-m", self.saved()] if to is None else [model or self.saved(), to]
            code, out, err = run(self.capsys, *arguments, *files)
        finally:
            sys.stdin = before
        if code:
            raise Refused(err)
        return out

    def saved(self):
        self.model.save(self.folder / "model")
        return self.folder / "model"

    def corpus(self):
        """A file of the training corpus."""
        if self.data in (bags, dicts, rows, sparse_rows, frames):
            lines = ["".join(f"a b {label}\n" for label in labels) for labels in self.y]
        elif self.kind == "labels":
            cells = ([[t] if isinstance(t, str) else t for t in x] for x in self.X)
            lines = [
                "".join(" ".join([*t, g]) + "\n" for t, g in zip(x, y))
                for x, y in zip(cells, self.y)
            ]
        elif self.kind == "words":
            return self.write("".join(" ".join(plain(text)) + "\n" for text in self.y))
        elif self.kind == "spans":
            write_spans(self.folder / "corpus", self.X, self.y)
            return self.folder / "corpus"
        else:
            lines = []
            for x, y in zip(self.X, self.y):
                full = [(*word, "_", "_")[:4] for word in x]
                numbered = enumerate(zip(full, y), start=1)
                cells = (
                    f"{t}\t{w}\t_\t{u}\t{p}\t{f}\t{h}\t{d}\t_\t_\n"
                    for t, ((w, p, u, f), (h, d)) in numbered
                )
                lines.append("".join(cells))
        return self.write("\n".join(lines) + "\n")

    def reading(self):
        """The option that says what tokens are, where that is not the default."""
        return (
            ["--tokens", "form,xpos,upos,feats"]
            if self.data is trees_of_columns
            else []
        )

    def write(self, text):
        (self.folder / "corpus").write_text(text, encoding="utf-8")
        return self.folder / "corpus"

    def bad(self):
        """A sequence that no model takes."""
        if self.kind in ("words", "spans"):
            return 3
        if self.data is frames:
            return self.X[0].assign(number="many")
        first = self.X[0][[0]] if hasattr(self.X[0], "tocsr") else self.X[0][0]
        return [
            first,
            (3, 4) if self.kind == "trees" or isinstance(first, tuple) else 3,
        ]

    def bad_y(self, i):
        """What belongs to no sequence, made from that of the sequence i."""
        return [(0, 999, "T00")] if self.kind == "spans" else [*self.y[i], *self.y[i]]

    def forms(self):
        """The words of each sequence of y; None where tokens hold none."""
        if self.kind == "words":
            return [plain(text) for text in self.y]
        if self.data is tokens:
            return self.X
        return (
            [plain(x) for x in self.X]
            if self.data in (pairs, trees, trees_of_columns)
            else None
        )
