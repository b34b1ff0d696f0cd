"""What the defaults cost and gain: ``averages`` those of ``SpanTagger``, ``Segmenter`` and ``train``, ``crf`` those of ``L1CRF``.

Sentences are drawn from the training part, several times. Medians of processor time of one thread; means of
the scores: F1 of spans, segments or words, or the share of right tags.

``averages``: members, epochs, dropout and features by size; scores on a development and a test part. One fit
of the most members serves all smaller averages, which are of its first ones. Text that is encoded twice as
distributed is repaired, and sentences are joined to text.

``crf``: which pairs have weights, both penalties, when training ends; ``all_pairs`` and ``tol`` vary at c1 = c2
= 0.1, the penalties with ``all_pairs="transitions"``.
"""

import argparse
import random
import time
import warnings

import numpy as np

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


# --------------------------------------------------------------------------------------------------
# Averages: (training, development, test), each (X, y)
# --------------------------------------------------------------------------------------------------
def as_texts(sentences):
    """Texts, a sentence each, and their spans."""
    return tuple(map(list, zip(*(detokenized([s]) for s in sentences))))


def columns(name):
    """(words, labels) of the sentences of a file of columns, which may differ in number."""
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
    return [
        as_texts(columns(f"conll2002-esp/{p}.txt")) for p in ("train", "dev", "test")
    ]


def load_dutch():
    """Entities of CoNLL-2002 Dutch; both held-out parts are halves of its development part."""
    parts = (
        columns("conll2002-ned/train.txt"),
        *halves(columns("conll2002-ned/dev.txt")),
    )
    return [as_texts(part) for part in parts]


def load_chunks():
    """Chunks of CoNLL-2000 as spans."""
    parts = *cut(columns("conll2000/train.txt"), 1000), columns("conll2000/test.txt")
    return [as_texts(part) for part in parts]


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
    "esp": (load_spanish, spans, OF_SPANS, span_f1_score),
    "ned": (load_dutch, spans, OF_SPANS, span_f1_score),
    "conll2000": (load_chunks, spans, OF_SPANS, span_f1_score),
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
]


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


def run_averages(name, size, draws, most, held_out):
    """A line for each candidate and number of members."""
    load, around, features, score = LEARNED[name]
    (X, y), *parts = load()
    parts = [(A[:held_out], b[:held_out]) for A, b in parts]
    rows = []
    for label, parameters in candidates(features):
        found, seconds = [], []
        for draw in range(draws):
            drawn = np.random.RandomState(1000 + draw).permutation(len(X))[:size]
            base = StructuredPerceptron(**parameters)
            model = around(
                BaggingShuffleAverager(base, most, keep_members=True, random_state=draw)
            )
            began = time.process_time()
            model.fit([X[i] for i in drawn], [y[i] for i in drawn])
            seconds.append(time.process_time() - began)
            found.append(averages_of(model, score, *parts))
        for k in found[0]:
            dev, test = np.mean([each[k] for each in found], axis=0)
            second = f"{np.median(seconds):.2f}" if k == most else ""
            rows.append([label, k, f"{dev:.4f}", f"{test:.4f}", second])
    print(f"\n{name}, {min(size, len(X))} sentences, {draws} draws\n", flush=True)
    table(["", "members", "dev", "test", "s"], rows)


# --------------------------------------------------------------------------------------------------
# The CRF
# --------------------------------------------------------------------------------------------------
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
    parser.add_argument("what", choices=["averages", "crf"], nargs="?", default="crf")
    known = sorted({*TASKS, *LEARNED})
    parser.add_argument("--task", choices=known, nargs="+")
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--seeds", type=int, default=3, help="draws, too")
    parser.add_argument("--members", type=int, default=10, help="the most")
    parser.add_argument("--held-out", type=int, default=1500, help="sentences, at most")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    averages = arguments.what == "averages"
    sizes = arguments.sizes or ([50, 200, 1000, 5000] if averages else [400, 1500])
    for size in sizes:
        for task in arguments.task or (LEARNED if averages else TASKS):
            if averages:
                run_averages(
                    task, size, arguments.seeds, arguments.members, arguments.held_out
                )
            else:
                run_crf(task, size, arguments.seeds)


if __name__ == "__main__":
    main()
