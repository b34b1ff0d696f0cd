"""Corpora, peers and measuring, for all benchmarks."""

import os
import pathlib
import statistics
import sys
import time

from skstruct.datasets import read_columns, read_conllu, read_segmented
from skstruct.schemes import words_to_labels

DATA = pathlib.Path(
    os.environ.get("SKSTRUCT_DATA")
    or pathlib.Path(__file__).resolve().parent.parent.parent / "shared" / "data"
)


def corpus(name):
    """A file of the corpora; ends the script with a message where it is absent."""
    path = DATA / name
    if not path.exists():
        sys.exit(
            f"{name} is not in {DATA}: set SKSTRUCT_DATA to the folder of the corpora"
        )
    return path


def load_sxu(part):
    """Characters, BMES labels, words."""
    words = read_segmented(corpus(f"sxu/{part}.txt"))
    return [list("".join(w)) for w in words], [
        words_to_labels(w, "BMES") for w in words
    ]


def load_conll2000(part):
    """(word, part of speech) tokens and chunk labels."""
    rows = read_columns(corpus(f"conll2000/{part}.txt"))
    return [[(w, p) for w, p, _ in s] for s in rows], [
        [c for _, _, c in s] for s in rows
    ]


def load_gsd(part):
    """Texts and lists of (word, tag)."""
    rows = read_conllu(corpus(f"gsd-zh/{part}.conllu"), fields=("form", "xpos"))
    return ["".join(w for w, _ in s) for s in rows], [
        [tuple(t) for t in s] for s in rows
    ]


def load_esp(part):
    """Words and entity labels of CoNLL-2002 Spanish."""
    rows = read_columns(corpus(f"conll2002-esp/{part}.txt"))
    return [[r[0] for r in s] for s in rows], [[r[-1] for r in s] for s in rows]


def load_ewt(part, genres=("answers", "email", "newsgroup", "reviews", "weblog")):
    """Words and PTB tags of UD English EWT."""
    X, y = [], []
    for genre in genres:
        for file in sorted(corpus(f"ewt/{part}").glob(f"{genre}*")):
            for sentence in read_conllu(file, fields=("form", "xpos")):
                X.append([form for form, _ in sentence])
                y.append([tag for _, tag in sentence])
    return X, y


def char_features(x):
    """The seven character templates as feature strings, boundary symbols as in
    CRF++.
    """
    p = ["_B-2", "_B-1", *x, "_B+1", "_B+2"]
    return [
        [
            "a" + p[t - 1], "b" + p[t], "c" + p[t + 1], "d" + p[t - 2] + "/" + p[t - 1],
            "e" + p[t - 1] + "/" + p[t], "f" + p[t] + "/" + p[t + 1],
            "g" + p[t + 1] + "/" + p[t + 2],
        ]
        for t in range(2, len(p) - 2)
    ]  # fmt: skip


def chunk_features(x):
    """The nineteen chunking templates as feature strings."""
    w = ["_B-2", "_B-1", *(a for a, _ in x), "_B+1", "_B+2"]
    p = ["_B-2", "_B-1", *(b for _, b in x), "_B+1", "_B+2"]
    out = []
    for t in range(2, len(w) - 2):
        features = [f"w{o}={w[t + o]}" for o in (-2, -1, 0, 1, 2)]
        features += [f"ww{o}={w[t + o]}/{w[t + o + 1]}" for o in (-1, 0)]
        features += [f"p{o}={p[t + o]}" for o in (-2, -1, 0, 1, 2)]
        features += [f"pp{o}={p[t + o]}/{p[t + o + 1]}" for o in (-2, -1, 0, 1)]
        features += [
            f"ppp{o}={p[t + o]}/{p[t + o + 1]}/{p[t + o + 2]}" for o in (-2, -1, 0)
        ]
        out.append(features)
    return out


CORPORA = {
    "sxu": (load_sxu, char_features, "char"),
    "conll2000": (load_conll2000, chunk_features, "chunk"),
}


class Stopwatch:
    """Seconds of named things, over repetitions; by the wall clock unless told
    otherwise.
    """

    def __init__(self, clock=time.perf_counter):
        self.clock, self.seconds = clock, {}

    def time(self, name, function, *args):
        """Call, note the time, return the result."""
        began = self.clock()
        result = function(*args)
        self.seconds.setdefault(name, []).append(self.clock() - began)
        return result

    def median(self, name):
        """Median seconds."""
        return statistics.median(self.seconds[name])

    def ratio(self, slow, fast):
        """Median of the ratios of paired repetitions."""
        return statistics.median(
            a / b for a, b in zip(self.seconds[slow], self.seconds[fast])
        )


def table(header, rows):
    """Print a Markdown table."""
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def n_tokens(X):
    """Tokens in a corpus."""
    return sum(map(len, X))
