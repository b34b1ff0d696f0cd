"""Times and memory by which two commits are compared; one figure a process.

``python -m benchmarks.versus_speed FIGURE SEQUENCES FOLDER`` prints ``{name: {unit:
value}}`` as JSON. SEQUENCES limits the data: 50 are enough to compile everything, 0
means all. FOLDER is where the package has to come from. Small data is fitted first, so
that loading compiled kernels is not counted.
"""

import functools
import json
import pathlib
import sys
import tempfile
import time
import warnings

import skstruct
from benchmarks.common import CORPORA, load_conll2000, load_gsd
from benchmarks.memory import peak
from benchmarks.parser import load_ewt
from benchmarks.versus_results import check_place
from skstruct import (
    L1CRF,
    ShiftReduceParser,
    StructuredPerceptron,
    WordSegmenter,
    datasets,
    inspection,
)

REPEAT = 3
PASSES = 25
"""Of L1CRF, on both sides: the same work, and not the same end."""


def timed(function, *args, repeat=REPEAT):
    """The least CPU time and the least wall time of several calls."""
    cpu, wall = [], []
    for _ in range(repeat):
        began, clock = time.process_time(), time.perf_counter()
        function(*args)
        cpu.append(time.process_time() - began)
        wall.append(time.perf_counter() - clock)
    return {"s CPU": min(cpu), "s": min(wall)}


def cut(data, limit):
    """The first sequences of (X, y)."""
    X, y = data
    return X[:limit], y[:limit]


def perceptron(limit, corpus):
    """Fit and tag with the perceptron; memory of the first fit above a process that has
    read the corpus.
    """
    load, _, preset = CORPORA[corpus]
    X, y = cut(load("train"), limit)
    X_test, _ = cut(load("test"), limit)
    before = peak()
    tagger = StructuredPerceptron(preset, random_state=0).fit(X, y)
    memory = peak() - before
    tagger.predict(X_test[:20])
    return {
        f"{corpus}: fit": timed(tagger.fit, X, y),
        f"{corpus}: tag": timed(tagger.predict, X_test, repeat=10),
        f"{corpus}: memory of the fit": {"MB": memory},
    }


def crf(limit, corpus):
    """Fit L1CRF for a number of passes, on one thread."""
    load, _, preset = CORPORA[corpus]
    X, y = cut(load("train"), limit)
    settings = {"c1": 1.0, "c2": 0.0, "all_pairs": False, "sgd_iter": 2, "decay": 0.5}
    model = L1CRF(preset, **settings, max_iter=PASSES, random_state=0)
    model.fit(X[:50], y[:50])
    return {f"{corpus}: L1CRF, {PASSES} passes": timed(model.fit, X, y, repeat=1)}


def parser(limit):
    """Fit and parse with a part of EWT."""
    X, y = cut(load_ewt("train", ("answers",)), limit or 1000)
    X_test, _ = cut(load_ewt("dev", ("answers",)), limit)
    model = ShiftReduceParser(max_iter=3, random_state=0)
    model.fit(X[:20], y[:20]).predict(X[:20])
    return {
        "parser: fit": timed(model.fit, X, y, repeat=1),
        "parser: parse": timed(model.predict, X_test, repeat=10),
    }


def words(limit):
    """Fit and segment with a part of GSD."""
    X, y = cut(load_gsd("train"), limit or 1500)
    X_test, _ = cut(load_gsd("dev"), limit)
    y = [[word for word, _ in s] for s in y]
    model = WordSegmenter(random_state=0)
    model.fit(X[:20], y[:20]).predict(X[:20])
    return {
        "word segmenter: fit": timed(model.fit, X, y),
        "word segmenter: segment": timed(model.predict, X_test, repeat=10),
    }


def dicts(limit):
    """Fit and tag dicts with the perceptron: flat ones, dicts inside, and numbers."""
    from benchmarks.users_road import load, nested  # which imports the peer

    X, y = cut(load("train"), limit or 1000)
    counted = [
        [{**t, "length": len(t["word.lower()"]), "x": 0.25} for t in x] for x in X
    ]
    figures = {}
    for kind, tokens in (
        ("dicts", X),
        ("dicts inside", nested(X)),
        ("dicts with numbers", counted),
    ):
        model = StructuredPerceptron(max_iter=1, random_state=0)
        model.fit(tokens[:50], y[:50]).predict(tokens[:20])
        figures[f"{kind}: fit"] = timed(model.fit, tokens, y)
        figures[f"{kind}: tag"] = timed(model.predict, tokens, repeat=10)
    return figures


def rarer_verbs(limit):
    """What users call besides `fit` and `predict`: probabilities, one sentence a call,
    files, and the check of labels.
    """
    load, _, preset = CORPORA["conll2000"]
    X, y = cut(load("train"), limit or 600)
    crf = L1CRF(preset, c1=1.0, c2=0.0, max_iter=5, random_state=0).fit(X, y)
    tagger = StructuredPerceptron(preset, max_iter=2, random_state=0).fit(X, y)
    tagger.predict(X[:1])
    crf.predict_marginals(X[:20])

    def one_by_one():
        for x in X[:200]:
            tagger.predict([x])

    figures = {
        "probabilities": timed(crf.predict_marginals, X),
        "one sentence a call, 200 calls": timed(one_by_one),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.skstruct")
        figures["save"] = timed(tagger.save, path)
        figures["load"] = timed(skstruct.load, path)
    learner = StructuredPerceptron(preset, max_iter=1, random_state=0)
    inspection.label_issues(learner, X[:20], y[:20], cv=2)
    few = X[:300], y[:300]
    figures["check"] = timed(
        functools.partial(inspection.label_issues, learner, *few, cv=2), repeat=1
    )
    return figures


def read(limit):
    """Read files of columns, of tokens with labels in JSON, and of spans of texts."""
    X, y = cut(load_conll2000("train"), limit or 2000)
    words = [[token[0] for token in x] for x in X]
    columns = "\n".join(
        "".join(f"{word} {label}\n" for word, label in zip(*each))
        for each in zip(words, y)
    )
    tokens = [{"tokens": x, "tags": labels} for x, labels in zip(words, y)]
    texts = [
        {"text": " ".join(x), "spans": [{"start": 0, "end": len(x[0]), "label": "A"}]}
        for x in words
    ]
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind, reader, lines in (
            ("columns", datasets.read_columns, columns),
            ("tokens", datasets.read_tokens, "\n".join(map(json.dumps, tokens))),
            ("spans", datasets.read_spans, "\n".join(map(json.dumps, texts))),
        ):
            path = pathlib.Path(folder, kind + (".txt", ".jsonl")[kind != "columns"])
            path.write_text(lines + "\n", encoding="utf-8")
            reader(path)
            figures[f"read {kind}"] = timed(reader, path)
    return figures


def start(limit):
    """The first fit of a process, on a few words: loads the kernels, or compiles
    them.
    """
    X, y = (
        [["the", "dog", "barks"], ["a", "cat", "sleeps"]] * 10,
        [["D", "N", "V"]] * 20,
    )
    return {
        "first fit": timed(StructuredPerceptron(random_state=0).fit, X, y, repeat=1)
    }


FIGURES = {
    "sxu": functools.partial(perceptron, corpus="sxu"),
    "conll2000": functools.partial(perceptron, corpus="conll2000"),
    "sxu-crf": functools.partial(crf, corpus="sxu"),
    "conll2000-crf": functools.partial(crf, corpus="conll2000"),
    "parser": parser,
    "words": words,
    "dicts": dicts,
    "verbs": rarer_verbs,
    "read": read,
    "start": start,
}

if __name__ == "__main__":
    figure, sequences, folder = sys.argv[1:]
    check_place(folder)
    warnings.simplefilter("ignore")
    print(json.dumps(FIGURES[figure](int(sequences) or None)))
