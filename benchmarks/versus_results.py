"""What two commits are compared by: many small fits, and SHA-256 of all that comes out
of them.

Only the public interface is used, so that the same file runs on both commits. A case
fits one model on the embedded sample, and on a part of a corpus where there is one.
What is hashed is written out first, floats in hexadecimal: one bit more or less in one
weight is another hash.

``python -m benchmarks.versus_results FOLDER`` prints the hashes as JSON. FOLDER is
where the package has to come from.
"""

import hashlib
import json
import pathlib
import sys
import warnings
import zlib

import numpy as np
from sklearn.base import clone

import skstruct
from benchmarks.common import DATA, load_conll2000, load_gsd
from benchmarks.parser import load_ewt
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    KBestReranker,
    ParameterMixer,
    PassiveAggressiveTagger,
    Segmenter,
    ShiftReduceParser,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct.datasets import load_chunking, load_parsing, load_sample, read_segmented
from skstruct.inspection import feature_weights, transition_weights

FACTS = (
    "predictions",
    "decision_function",
    "feature_weights",
    "transition_weights",
    "other outputs",
)
TAGGERS = (StructuredPerceptron, PassiveAggressiveTagger, L1CRF)
EPOCHS = 3


# --------------------------------------------------------------------------------------
# Data: (X, y) of a task; the last quarter of the sequences is not trained on
# --------------------------------------------------------------------------------------
def _pairs(sample):
    return [[*zip(words, tags)] for words, tags in zip(sample.words, sample.tags)]


def _sxu():
    words = read_segmented(DATA / "sxu/train.txt")[:400]
    return ["".join(w) for w in words], words


def _dicts(X, y):
    return [
        [
            {
                "word": w,
                "tag": p,
                "upper": w[:1].isupper(),
                "length": len(w) / 4,
                "before": {x[t - 1][1]: 0.5},
            }
            for t, (w, p) in enumerate(x)
        ]
        for x in X
    ], y


def _many(X, y):
    return X, [
        [f"{zlib.crc32(f'{w}{t}'.encode()) % 640}" for t, (w, _) in enumerate(x)]
        for x in X
    ]


def _conll():
    return tuple(part[:400] for part in load_conll2000("train"))


TASKS = {
    "chunks": (load_chunking, "conll2000", _conll),
    "dicts": (lambda: _dicts(*load_chunking()), "conll2000", lambda: _dicts(*_conll())),
    "many labels": (lambda: _many(*load_chunking()), "conll2000", lambda: _many(*_conll())),
    "words": (lambda: (load_sample("zh").text, load_sample("zh").words), "sxu", _sxu),
    "tagged words": (
        lambda: (load_sample("zh").text, _pairs(load_sample("zh"))), "gsd-zh", lambda: load_gsd("train"),
    ),
    "trees": (load_parsing, "ewt", lambda: load_ewt("train", ("answers",))),
}  # fmt: skip
"""Task -> loader of the embedded sample, folder of a corpus, its loader."""


def data_of(task):
    """{name: (X, y)} of the data there is for a task: the sample, and 400 sentences of
    the corpus.
    """
    sample, folder, corpus = TASKS[task]
    out = {"sample": sample()}
    if (DATA / folder).is_dir():
        out[folder] = tuple(part[:400] for part in corpus())
    return out


# --------------------------------------------------------------------------------------
# Cases
# --------------------------------------------------------------------------------------
CASES = {}
"""Name -> (task, function of training and test data that returns a fitted model and
other outputs).
"""


def case(task, name):
    """Enter a function of (X, y, X_test) as a case."""

    def enter(function):
        CASES[name] = (task, function)
        return function

    return enter


def fits(task, name, model):
    """Enter a case that does nothing but fit a model."""
    CASES[name] = (task, lambda X, y, X_test: (clone(model).fit(X, y), None))


def streams(task, name, model):
    """Enter a case that feeds a model in four parts, short sequences first: labels and
    features grow.
    """

    def run(X, y, X_test):
        order = sorted(range(len(X)), key=lambda i: len(X[i]))
        fitted = clone(model)
        for part in np.array_split(order, 4):
            fitted.partial_fit([X[i] for i in part], [y[i] for i in part])
        return fitted, None

    CASES[name] = (task, run)


def perceptron(features="chunk", **parameters):
    """A small perceptron."""
    return StructuredPerceptron(
        features, **{"max_iter": EPOCHS, "random_state": 0, **parameters}
    )


def words(**parameters):
    """A small word segmenter."""
    return WordSegmenter(**{"max_iter": EPOCHS, "random_state": 0, **parameters})


def parser(**parameters):
    """A small parser."""
    return ShiftReduceParser(**{"max_iter": EPOCHS, "random_state": 0, **parameters})


def char(**parameters):
    """A segmenter around a perceptron."""
    return Segmenter(perceptron("char", **parameters))


REGULARISED = {
    "dropout": dict(dropout=0.1),
    "feature noise dropout": dict(feature_noise="dropout", edge_noise=None),
    "feature noise zipf": dict(feature_noise="zipf", edge_noise=None),
    "edge noise dropout": dict(edge_noise="dropout"),
    "edge noise zipf": dict(edge_noise="zipf"),
    "penalty l1": dict(penalty="l1", alpha=1e-3),
    "penalty l1-cumulative": dict(penalty="l1-cumulative", alpha=1e-3),
    "penalty l2": dict(penalty="l2", alpha=1e-3),
}
MIXED = dict(
    dropout=0.05, feature_noise="zipf", edge_noise="same", penalty="l1", alpha=1e-4
)

fits("chunks", "perceptron", perceptron())
fits(
    "chunks",
    "perceptron, last weights, order as given",
    perceptron(average=False, shuffle=False),
)
for _name, _parameters in REGULARISED.items():
    fits("chunks", f"perceptron, {_name}", perceptron(**_parameters))
fits("chunks", "perceptron, order 2", perceptron(order=2))
fits("chunks", "perceptron, order 2, noise and penalty", perceptron(order=2, **MIXED))
fits("chunks", "perceptron, class_weight balanced", perceptron(class_weight="balanced"))
fits(
    "chunks", "perceptron, class_weight of a label", perceptron(class_weight={"O": 0.5})
)
fits("chunks", "perceptron, constraints", perceptron(constraints="BIO"))
fits("chunks", "perceptron, min_count 2", perceptron(min_count=2))
fits(
    "chunks",
    "perceptron, early stopping",
    perceptron(max_iter=8, early_stopping=True, n_iter_no_change=1),
)
fits("dicts", "perceptron, dict tokens", perceptron("auto"))
# On the corpus so many labels that rows of weights are stored sparsely.
fits("many labels", "perceptron, many labels", perceptron(max_iter=1))
streams(
    "many labels",
    "perceptron, many labels, stream, noise and penalty",
    perceptron(**MIXED),
)
fits(
    "many labels",
    "mixer, many labels",
    ParameterMixer(perceptron(max_iter=1), random_state=0),
)
fits(
    "chunks",
    "passive-aggressive",
    PassiveAggressiveTagger("chunk", max_iter=EPOCHS, random_state=0),
)
fits(
    "chunks",
    "passive-aggressive, PA-II, Hamming cost, l2",
    PassiveAggressiveTagger(
        "chunk", variant="PA-II", cost="hamming", average="epoch", penalty="l2", alpha=1e-4,
        max_iter=EPOCHS, random_state=0,
    ),
)  # fmt: skip
streams("chunks", "perceptron, stream of growing labels", perceptron())
streams(
    "chunks",
    "perceptron, stream, l1-cumulative",
    perceptron(penalty="l1-cumulative", alpha=1e-4),
)
streams("chunks", "perceptron, stream, order 2", perceptron(order=2))


@case("chunks", "perceptron, None labels")
def _none(X, y, X_test):
    y = [
        [None if (i + t) % 3 == 0 else label for t, label in enumerate(s)]
        for i, s in enumerate(y)
    ]
    return perceptron().fit(X, y), None


@case("chunks", "perceptron, sample_weight")
def _weighted(X, y, X_test):
    return perceptron().fit(X, y, sample_weight=np.arange(len(X)) % 4 / 2), None


@case("chunks", "perceptron, warm start")
def _warm(X, y, X_test):
    half = len(X) // 2
    return perceptron(warm_start=True).fit(X[:half], y[:half]).fit(X, y), None


@case("chunks", "perceptron, k-best and scores")
def _kbest(X, y, X_test):
    model = perceptron().fit(X, y)
    return model, [model.predict_kbest(X_test, k=5), model.score(X, y)]


for _average in ("nonzero", "all"):
    fits(
        "chunks",
        f"averager, {_average}",
        BaggingShuffleAverager(
            perceptron(), n_estimators=3, average=_average, n_jobs=2, random_state=0
        ),
    )
fits(
    "chunks",
    "averager, bootstrap, noise and penalty",
    BaggingShuffleAverager(
        perceptron(**MIXED),
        n_estimators=3,
        bootstrap=True,
        max_samples=0.7,
        n_jobs=2,
        random_state=0,
    ),
)
for _mixing in ("uniform", "errors", "nonzero"):
    fits(
        "chunks",
        f"mixer, {_mixing}",
        ParameterMixer(
            perceptron(), n_shards=3, mixing=_mixing, n_jobs=2, random_state=0
        ),
    )
fits(
    "chunks",
    "mixer, once",
    ParameterMixer(perceptron(), n_shards=3, strategy="once", random_state=0),
)
fits(
    "chunks",
    "mixer, order 2, noise and penalty",
    ParameterMixer(perceptron(order=2, **MIXED), random_state=0),
)


@case("chunks", "mixer, shards of their own")
def _shards(X, y, X_test):
    loads = [lambda k=k: (X[k::3], y[k::3]) for k in range(3)]
    return ParameterMixer(perceptron(), random_state=0).fit_shards(loads), None


BEFORE = {"c1": 1.0, "c2": 0.0, "all_pairs": True, "sgd_iter": 2, "decay": 0.5}
"""The defaults of L1CRF in earlier versions."""


def crf(name, **parameters):
    """Enter a case of L1CRF, with its probabilities."""

    def run(X, y, X_test):
        settings = (
            {"features": "chunk", "max_iter": 20, "n_jobs": 2, "random_state": 0}
            | BEFORE
            | parameters
        )
        model = L1CRF(**settings).fit(X, y)
        return model, [
            model.objective_,
            model.predict_marginals(X_test),
            model.predict_posterior(X_test),
            model.sequence_log_proba(X, y),
        ]

    CASES[name] = ("chunks", run)


crf("L1CRF, all pairs", all_pairs=True)
crf("L1CRF, pairs seen", all_pairs=False, c1=0.5)
crf(
    "L1CRF, c2, constraints, class_weight",
    c2=0.1,
    constraints="BIO",
    class_weight="balanced",
)
crf("L1CRF, owlqn", solver="owlqn", all_pairs=False)
crf("L1CRF, sgd with line search", solver="sgd", line_search=True)

fits("words", "segmenter", char())
fits("words", "segmenter, dropout", char(dropout=0.1))
fits("words", "word segmenter, zsz18", words())
fits("words", "word segmenter, zc14", words(templates="zc14"))
fits(
    "words",
    "word segmenter, zsz18, max-violation, noise and penalty",
    words(update="max-violation", **MIXED),
)
fits(
    "words", "word segmenter, zc14, noise and penalty", words(templates="zc14", **MIXED)
)
fits(
    "words",
    "word segmenter, beam 2, standard",
    words(beam_size=2, update="standard", min_count=2),
)
fits(
    "words",
    "word segmenter, early stopping",
    words(max_iter=8, early_stopping=True, n_iter_no_change=1),
)
streams(
    "words",
    "word segmenter, stream, l1-cumulative",
    words(penalty="l1-cumulative", alpha=1e-4),
)
fits(
    "words",
    "averager of word segmenters",
    BaggingShuffleAverager(words(), n_estimators=2, random_state=0),
)
fits(
    "words",
    "mixer of word segmenters",
    ParameterMixer(words(), mixing="errors", random_state=0),
)
fits(
    "words",
    "re-ranker",
    KBestReranker(char(), k=5, cv=3, max_iter=EPOCHS, random_state=0),
)
fits(
    "words",
    "re-ranker, noise and penalty",
    KBestReranker(char(), k=5, cv=3, random_state=0, **MIXED),
)


@case("words", "segmenters with a dictionary")
def _dictionary(X, y, X_test):
    model, known = words(max_iter=1).fit(X, y), [w for s in y for w in s][::7]
    return model, [
        m.predict(X_test, dictionary=known) for m in (model, char().fit(X, y))
    ]


fits("tagged words", "segmenter with tags", char())
streams("tagged words", "segmenter with tags, stream", char())

fits("trees", "parser", parser())
fits("trees", "parser, without labels", parser(labeled=False))
for _templates in ("hs28", "zsz28"):
    fits("trees", f"parser, {_templates}", parser(templates=_templates))
fits(
    "trees",
    "parser, templates as lines",
    parser(templates=["s0.w s1.w", "s0.t s1.t q0.t", "s0.lc.t s0.vl"]),
)
fits(
    "trees",
    "parser, early update, beam 4, no merging",
    parser(update="early", beam_size=4, merge_states=False),
)
for _name, _parameters in REGULARISED.items():
    if _name.startswith("penalty"):
        fits(
            "trees",
            f"parser, {_name}",
            parser(templates="hs28", max_iter=2, **_parameters),
        )
fits("trees", "parser, noise and penalty", parser(templates="hs28", **MIXED))
fits(
    "trees",
    "parser, early stopping",
    parser(templates="hs28", early_stopping=True, n_iter_no_change=1),
)
streams("trees", "parser, stream of growing labels", parser(templates="hs28"))
fits(
    "trees",
    "averager of parsers",
    BaggingShuffleAverager(parser(templates="hs28"), 2, random_state=0),
)
fits(
    "trees",
    "mixer of parsers",
    ParameterMixer(parser(templates="hs28"), random_state=0),
)


# --------------------------------------------------------------------------------------
# Hashes
# --------------------------------------------------------------------------------------
def spelled(value):
    """A value as text, the same for the same bits."""
    if isinstance(value, float):
        return float(value).hex()
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{spelled(value.tolist())}"
    if isinstance(value, (list, tuple)):
        return f"{'(' if isinstance(value, tuple) else '['}{' '.join(map(spelled, value))}]"
    return repr(value)


def _hash(value):
    return hashlib.sha256(spelled(value).encode()).hexdigest()


def facts_of(model, other, X):
    """{fact: hash} of a fitted model; of a re-ranker the predictions only."""
    found = {"predictions": model.predict(X)}
    if isinstance(model, KBestReranker):
        return {fact: _hash(value) for fact, value in found.items()}
    if hasattr(model, "decision_function"):
        found["decision_function"] = model.decision_function(X)
    while hasattr(model, "tagger_") or hasattr(model, "estimator_"):
        model = model.tagger_ if hasattr(model, "tagger_") else model.estimator_
    weights = feature_weights(model)
    found["feature_weights"] = sorted(
        (name, spelled(label), w.hex()) for name, label, w in weights
    )
    if isinstance(model, TAGGERS):
        labels = [spelled(label) for label in model.classes_.tolist()]
        rows = zip(labels, transition_weights(model).tolist())
        found["transition_weights"] = sorted(
            (p, q, w.hex()) for p, row in rows for q, w in zip(labels, row)
        )
    if other is not None:
        found["other outputs"] = other
    return {fact: _hash(value) for fact, value in found.items()}


def results(names=None, data_of=data_of):
    """{case and data: {fact: hash}}, or {"error": message} where a case fails."""
    data, out = {}, {}
    for name in names or CASES:
        task, run = CASES[name]
        if task not in data:
            data[task] = data_of(task)
        for where, (X, y) in data[task].items():
            cut = 3 * len(X) // 4
            try:
                model, other = run(X[:cut], y[:cut], X[cut:])
                out[f"{name} ({where})"] = facts_of(model, other, X[cut:])
            except Exception as error:  # a commit may lack what a later one can
                message = " ".join(f"{type(error).__name__}: {error}".split())
                out[f"{name} ({where})"] = {"error": message}
    return out


def check_place(folder):
    """End the process unless the package comes from this folder, as an editable install
    may prevent.
    """
    found = pathlib.Path(skstruct.__file__).resolve().parent.parent
    if found != pathlib.Path(folder).resolve():
        sys.exit(f"skstruct was imported from {found}, expected {folder}")


if __name__ == "__main__":
    check_place(sys.argv[1])
    warnings.simplefilter("ignore")
    print(json.dumps(results()))
