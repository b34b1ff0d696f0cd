"""What the defaults cost and gain: ``averages`` and ``tried`` those of ``SpanTagger``,
``Segmenter`` and ``train``, ``crf`` those of ``L1CRF``.

Sentences are drawn from the training part, several times. Medians of processor time of
one thread; means of the scores: F1 of spans, segments or words, or the share of right
tags.

``averages``: by corpus and size one perceptron, the default average, and, for spans,
CRFsuite with its tutorial's features (it reads the corpus's own tokens); scores on a
development and a test part. Text that is encoded twice as distributed is repaired, and
sentences are joined to text.

``tried``: members, epochs, dropout and features by size. One fit of the most members
serves all smaller averages, which are of its first ones.

``crf``: which pairs have weights, both penalties, when training ends; ``all_pairs`` and
``tol`` vary at c1 = c2 = 0.1, the penalties with ``all_pairs="transitions"``.
"""

import argparse
import random
import time
import warnings

import numpy as np
import sklearn_crfsuite

from benchmarks import users_road
from benchmarks.common import (
    corpus,
    load_conll2000,
    load_esp,
    load_ewt,
    load_gsd,
    load_sxu,
    table,
)
from benchmarks.peers import word_features
from benchmarks.spans import detokenized
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    Segmenter,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct.datasets import read_segmented
from skstruct.features.presets import PRESETS
from skstruct.metrics import (
    segment_f1_score,
    span_f1_score,
    token_accuracy_score,
    word_f1_score,
)


# --------------------------------------------------------------------------------------
# Averages: (training, development, test), each (X, y)
# --------------------------------------------------------------------------------------
def as_texts(sentences):
    """Texts, a sentence each, and their spans."""
    return tuple(map(list, zip(*(detokenized([s]) for s in sentences))))


def columns(name):
    """(words, labels) of the sentences of a file of columns, which may differ in
    number.
    """
    lines = corpus(name).read_text(encoding="utf-8").split("\n")
    sentences = [[]]
    for line in lines:
        cells = line.split()
        if not cells or cells[0] == "-DOCSTART-":
            sentences.append([])
        else:
            sentences[-1].append((cells[0], cells[-1]))
    return [tuple(map(list, zip(*s))) for s in sentences if s]


def halves(pairs):
    """Every other one, and the rest."""
    return pairs[::2], pairs[1::2]


def cut(pairs, n):
    """All but n, and these n, drawn once."""
    pairs = list(pairs)
    random.Random(7).shuffle(pairs)
    return pairs[n:], pairs[:n]


def unzipped(pairs):
    """(X, y) of pairs."""
    return tuple(map(list, zip(*pairs)))


def load_spanish():
    """Entities of CoNLL-2002 Spanish."""
    return [columns(f"conll2002-esp/{part}.txt") for part in ("train", "dev", "test")]


def load_dutch():
    """Entities of CoNLL-2002 Dutch; both held-out parts are halves of its development
    part.
    """
    return [
        columns("conll2002-ned/train.txt"),
        *halves(columns("conll2002-ned/dev.txt")),
    ]


def load_chunks():
    """Chunks of CoNLL-2000."""
    return [*cut(columns("conll2000/train.txt"), 1000), columns("conll2000/test.txt")]


IN_COLUMNS = {"esp": load_spanish, "ned": load_dutch, "conll2000": load_chunks}
"""Name -> the parts of a corpus of spans, sentences of (words, labels)."""


def texts_of(name):
    """What loads such a corpus as texts with spans."""
    return lambda: [as_texts(part) for part in IN_COLUMNS[name]()]


def load_tags():
    """Tags of EWT; both held-out parts are halves of its development part."""
    return [
        load_ewt("train"),
        *map(unzipped, halves(list(zip(*load_ewt("dev"))))),
    ]


def load_gsd_words():
    """Words of GSD."""
    parts = [load_gsd(part) for part in ("train", "dev", "test")]
    return [(X, [[word for word, _ in s] for s in y]) for X, y in parts]


def load_sxu_words():
    """Words of SXU."""
    train, test = (
        [("".join(words), words) for words in read_segmented(corpus(f"sxu/{p}.txt"))]
        for p in ("train", "test")
    )
    return [*map(unzipped, cut(train, 1500)), unzipped(test)]


def spans(average):
    """A tagger of spans around an average."""
    return SpanTagger(average)


def words(average):
    """A segmenter around an average."""
    return Segmenter(average)


def tags(average):
    """The average itself."""
    return average


COARSE = [
    *(f"Ulower{o:+d}:%lower[{o},0]" for o in (-1, 0, 1)),
    *(f"U{kind}{n}:%{kind}{n}[0,0]" for kind in ("prefix", "suffix") for n in (2, 3)),
    *(f"Ushape{o:+d}:%shape[{o},0]" for o in (-1, 0, 1)),
    "B",
]
"""Some ten features a token, as CRFsuite's tutorial has them."""

OF_SPANS = {
    "text": "auto",
    "coarse": COARSE,
    "coarse, with layout": [*COARSE[:-1], *PRESETS["text"][-8:-6], "B"],
}
OF_WORDS = {name: name for name in ("char-types", "char", "char-best")}
OF_TAGS = {"word": "auto", "word-best": "word-best"}

LEARNED = {
    **{name: (texts_of(name), spans, OF_SPANS, span_f1_score) for name in IN_COLUMNS},
    "gsd": (load_gsd_words, words, OF_WORDS, word_f1_score),
    "sxu": (load_sxu_words, words, OF_WORDS, word_f1_score),
    "ewt": (load_tags, tags, OF_TAGS, token_accuracy_score),
}
"""Name -> (parts, what is put around an average, features by name, score)."""

MEMBERS = 1, 3, 5, 10
TRIED = [
    {"dropout": 0.1},
    {"dropout": 0.0},
    {"dropout": 0.2},
    {"dropout": 0.1, "max_iter": 5},
    {"dropout": 0.1, "max_iter": 20},
]

ALONE = {"gsd": "char", "sxu": "char"}
"""Features of one perceptron, as it was the default, where they are not those of the
default average.
"""

SIZES = (50, 200, 1000, 5000, 10**9)
DRAWS = ((50, 10), (200, 5), (1000, 2))
"""Draws up to so many sentences; beyond them one."""


def candidates(features):
    """(name, parameters of the perceptron) of what is tried."""
    first, *others = features
    for parameters in TRIED:
        name = ", ".join(f"{key}={value}" for key, value in parameters.items())
        yield f"{first}, {name}", {"features": features[first], **parameters}
    for other in others:
        yield f"{other}, dropout=0.1", {"features": features[other], "dropout": 0.1}


def averages_of(model, score, *parts):
    """{members: scores on the parts}, of an average that has kept its members."""
    average = getattr(model, "tagger_", model)
    models = [member._model for member in average.estimators_]
    found = {}
    for k in MEMBERS:
        if k <= len(models):
            mean = type(models[0]).average(iter(models[:k]), nonzero=True)
            average.estimator_._model = mean
            found[k] = [score(y, model.predict(X)) for X, y in parts]
    return found


def drawn_pairs(X, y, size, draw):
    """Sequences chosen by the number of a draw."""
    chosen = np.random.RandomState(1000 + draw).permutation(len(X))[:size]
    return [X[i] for i in chosen], [y[i] for i in chosen]


def contenders(name):
    """{name: what makes a tagger of the number of a draw} of one perceptron and the
    default.
    """
    _, around, features, _ = LEARNED[name]
    first = next(iter(features.values()))

    def alone(draw):
        return around(StructuredPerceptron(ALONE.get(name, first), random_state=draw))

    def default(draw):
        member = StructuredPerceptron(first, dropout=0.1, max_iter="auto")
        return around(BaggingShuffleAverager(member, "auto", random_state=draw))

    return {"one perceptron": alone, "default": default}


class TutorialCRF:
    """CRFsuite with the features of sklearn-crfsuite's tutorial that need no tags, and
    its settings.
    """

    def __init__(self, draw):
        """A draw has no effect: there is no chance in it."""
        self.crf = sklearn_crfsuite.CRF(
            algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100
        )

    def fit(self, X, y):
        """Train; returns this object."""
        self.crf.fit(list(map(word_features, X)), y)
        return self

    def predict(self, X):
        """Labels of sentences."""
        return self.crf.predict(list(map(word_features, X)))


def measured(make, score, parts, size, draws, held_out):
    """Scores on the held-out parts, by draw, and the median seconds of a fit."""
    (X, y), *others = parts
    found, seconds = [], []
    for draw in range(draws):
        data = drawn_pairs(X, y, size, draw)
        model = make(draw)
        began = time.process_time()
        model.fit(*data)
        seconds.append(time.process_time() - began)
        found.append(
            [score(b[:held_out], model.predict(A[:held_out])) for A, b in others]
        )
    return found, float(np.median(seconds))


def run_averages(name, size, draws, held_out):
    """A line for one perceptron, the default, and for spans CRFsuite."""
    load, _, _, score = LEARNED[name]
    parts = load()
    lines = {
        label: measured(make, score, parts, size, draws, held_out)
        for label, make in contenders(name).items()
    }
    if name in IN_COLUMNS:
        rows = [unzipped(part) for part in IN_COLUMNS[name]()]
        lines["CRFsuite, its tutorial's features"] = measured(
            TutorialCRF, segment_f1_score, rows, size, draws, held_out
        )
    ours = np.array(lines["default"][0])[:, -1]
    printed = []
    for label, (found, seconds) in lines.items():
        dev, test = np.mean(found, axis=0)
        lead = ours - np.array(found)[:, -1]
        error = f"{np.std(lead, ddof=1) / draws**0.5:.4f}" if draws > 1 else ""
        printed.append(
            [label, f"{dev:.4f}", f"{test:.4f}", f"{lead.mean():+.4f}", error]
        )
        printed[-1].append(f"{seconds:.2f}")
    n = min(size, len(parts[0][0]))
    print(f"\n{name}, {n} sentences, draws: {draws}\n", flush=True)
    table(["", "dev", "test", "default is ahead by", "standard error", "s"], printed)


def run_tried(name, size, draws, most, held_out):
    """A line for each candidate and number of members."""
    load, around, features, score = LEARNED[name]
    (X, y), *parts = load()
    parts = [(A[:held_out], b[:held_out]) for A, b in parts]
    rows = []
    for label, parameters in candidates(features):
        found, seconds = [], []
        for draw in range(draws):
            data = drawn_pairs(X, y, size, draw)
            base = StructuredPerceptron(**parameters)
            model = around(
                BaggingShuffleAverager(base, most, keep_members=True, random_state=draw)
            )
            began = time.process_time()
            model.fit(*data)
            seconds.append(time.process_time() - began)
            found.append(averages_of(model, score, *parts))
        for k in found[0]:
            dev, test = np.mean([each[k] for each in found], axis=0)
            second = f"{np.median(seconds):.2f}" if k == most else ""
            rows.append([label, k, f"{dev:.4f}", f"{test:.4f}", second])
    print(f"\n{name}, {min(size, len(X))} sentences, draws: {draws}\n", flush=True)
    table(["", "members", "dev", "test", "s"], rows)


# --------------------------------------------------------------------------------------
# The CRF
# --------------------------------------------------------------------------------------
TASKS = {
    "tutorial": (users_road.load, "test", "auto", segment_f1_score),
    "esp": (load_esp, "test", "word", segment_f1_score),
    "conll2000": (load_conll2000, "test", "chunk", segment_f1_score),
    "ewt": (load_ewt, "dev", "word", token_accuracy_score),
    "sxu": (load_sxu, "test", "char", segment_f1_score),
}
BASE = {"c1": 0.1, "c2": 0.1, "all_pairs": "transitions"}
PAIRS = [{"all_pairs": value} for value in (False, "transitions", "states", True)]
PENALTIES = [
    (1.0, 0.0),
    (0.3, 0.0),
    (0.1, 0.0),
    (0.3, 0.03),
    (0.1, 0.01),
    (0.1, 0.3),
    (0.0, 0.1),
    (0.0, 1.0),
]
STOPS = [{"tol": value} for value in (2e-5, 1e-3, 3e-3, 1e-2)]
VARIANTS = [*PAIRS, *({"c1": c1, "c2": c2} for c1, c2 in PENALTIES), *STOPS]


def run_crf(task, size, seeds):
    """A line for each variant."""
    load, part, features, score = TASKS[task]
    (X, y), (X_test, y_test) = load("train"), load(part)
    X_test, y_test = X_test[:1000], y_test[:1000]
    L1CRF(features, **BASE, max_iter=20).fit(X[:30], y[:30]).predict(
        X_test[:2]
    )  # compiled
    rows = []
    for variant in VARIANTS:
        found = []
        for seed in range(seeds):
            drawn = np.random.RandomState(seed).permutation(len(X))[:size]
            part = [X[i] for i in drawn], [y[i] for i in drawn]
            began = time.process_time()
            crf = L1CRF(
                features, **{**BASE, **variant}, n_jobs=1, random_state=seed
            ).fit(*part)
            seconds = time.process_time() - began
            found.append(
                (
                    score(y_test, crf.predict(X_test)),
                    seconds,
                    crf.n_iter_,
                    crf.n_active_features_,
                )
            )
        scores, seconds, passes, active = zip(*found)
        rows.append([
            ", ".join(f"{name}={value}" for name, value in variant.items()),
            f"{np.mean(scores):.4f}", f"{np.std(scores):.4f}", f"{np.median(seconds):.2f}",
            f"{np.median(passes):.0f}", f"{np.median(active):,.0f}",
        ])  # fmt: skip
    print(f"\n{task}, {size} sentences\n", flush=True)
    table(["", "score", "deviation", "s", "passes", "active"], rows)


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = ["averages", "tried", "crf"]
    parser.add_argument("what", choices=kinds, nargs="?", default="crf")
    known = sorted({*TASKS, *LEARNED})
    parser.add_argument("--task", choices=known, nargs="+")
    parser.add_argument("--sizes", type=int, nargs="+", help="in sentences")
    parser.add_argument("--seeds", type=int, help="draws, too")
    parser.add_argument(
        "--members", type=int, default=10, help="the most, of what was tried"
    )
    parser.add_argument("--held-out", type=int, default=1500, help="sentences, at most")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    crf = arguments.what == "crf"
    for size in arguments.sizes or ((400, 1500) if crf else SIZES):
        draws = next((draws for most, draws in DRAWS if size <= most), 1)
        seeds = arguments.seeds or (3 if crf else draws)
        for task in arguments.task or (TASKS if crf else LEARNED):
            if crf:
                run_crf(task, size, seeds)
            elif arguments.what == "averages":
                run_averages(task, size, seeds, arguments.held_out)
            else:
                run_tried(task, size, seeds, arguments.members, arguments.held_out)


if __name__ == "__main__":
    main()
