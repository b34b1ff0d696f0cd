"""Random choices of a case: numbers, lengths of sequences, labels."""

import numpy as np


class Draw:
    """A random generator that keeps notes of what a case is made of.

    Parameters
    ----------
    seed : list of int
    tiny : bool
        Small corpora only, for kernels that run as plain Python.
    """

    def __init__(self, seed, tiny=False):
        self.rng = np.random.default_rng(seed)
        self.tiny = tiny
        self.notes = {}

    def one(self, *items):
        """One of the items."""
        return items[int(self.rng.integers(len(items)))]

    def chance(self, p):
        """True with probability p."""
        return bool(self.rng.random() < p)

    def int(self, low, high):
        """A number from low to high, both included."""
        return int(self.rng.integers(low, high + 1))

    def note(self, **facts):
        """Keep facts, which are shown when the case fails."""
        self.notes.update(facts)


BLOCKS = (1, 2, 4, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128)
"""Lengths about the sizes of groups of sequences that kernels work on at once."""


def lengths(draw, budget, least=1):
    """Lengths of sequences of one of several shapes: about ``budget`` tokens at most,
    at least one token.

    At least ``least`` sequences are not empty.
    """
    shape = draw.one(
        "tiny", "small", "mixed", "long", "blocks", "ones", "edges", "empty"
    )
    draw.note(lengths=shape)
    n = draw.int(1, 40)
    if shape == "tiny":
        found = draw.rng.integers(0, 4, draw.int(1, 8))
    elif shape == "small":
        found = draw.rng.integers(0, 13, n)
    elif shape == "mixed":
        found = np.where(
            draw.rng.random(n) < 0.1,
            draw.rng.integers(50, 301, n),
            draw.rng.integers(0, 8, n),
        )
    elif shape == "long":
        found = draw.rng.integers(0, 301, draw.int(1, 6))
    elif shape == "blocks":
        found = draw.one(*BLOCKS) + draw.rng.integers(
            0, 2, draw.one(*BLOCKS[:-2], 9, 17, 47, 48)
        )
    elif shape == "ones":
        found = np.append(np.ones(draw.int(1, 70), int), draw.int(1, 200))
    elif shape == "edges":
        found = np.array(
            [draw.one(0, 1, 2, 300, 64, 65, 128) for _ in range(draw.int(1, 8))]
        )
    else:
        found = np.zeros(draw.int(1, 5), int)
        found[0] = draw.int(1, 30)
    found = draw.rng.permutation(found)
    if draw.tiny:
        found = np.minimum(found, draw.one(5, 9))
    found = found[np.cumsum(found) <= max(budget, found[0])]
    if found.sum() == 0:
        found[0] = 1
    return found.tolist() + [
        draw.int(1, 5) for _ in range(least - np.count_nonzero(found))
    ]


def many_lengths(draw, budget):
    """Lengths as in real corpora, of about ``budget`` tokens together."""
    found = 1 + draw.rng.geometric(1 / draw.one(5, 20, 60), budget)
    return found[np.cumsum(found) <= budget].tolist()


N_LABELS = (1, 2, 2, 3, 3, 4, 5, 8, 12, 15, 16, 17, 18, 33, 64, 100, 300)


def labels(draw, most=300):
    """Distinct labels of one type; about 16 and 64 of them kernels change their
    ways.
    """
    n = min(draw.one(*N_LABELS), most, 20 if draw.tiny else most)
    kind = draw.one("str", "str", "str", "int", "tuple", "float", "bool")
    draw.note(n_labels=n, label_type=kind)
    if kind == "bool" and n <= 2:
        return [True, False][:n]
    if kind == "int":
        return [k * 3 - 5 for k in range(n)]
    if kind == "float":
        return [k * 0.5 - 1 for k in range(n)]
    if kind == "tuple":
        return [("T", k) for k in range(n)]
    return [f"L{k}" for k in range(n)]


MARKS = {"BIO": "BIIB", "BIOES": "BIES", "BILOU": "BILU"}
"""The letters of a scheme: the first token of a segment, those inside, the last one,
and one alone.
"""

SCHEME_LABELS = {
    scheme: ["O", *(f"{mark}-{kind}" for kind in "XY" for mark in sorted({*marks}))]
    for scheme, marks in MARKS.items()
} | {"IO": ["O", "X", "Y"]}


def scheme_labels(draw, scheme, length):
    """A well-formed labelling under a scheme."""
    found = []
    while len(found) < length:
        if draw.chance(0.4):
            found.append("O")
            continue
        n, kind = min(draw.int(1, 4), length - len(found)), draw.one("X", "Y")
        if scheme == "IO":
            found += [kind] * n
            continue
        first, inside, last, alone = MARKS[scheme]
        marks = [first, *[inside] * (n - 2), last] if n > 1 else [alone]
        found += [f"{mark}-{kind}" for mark in marks]
    return found
