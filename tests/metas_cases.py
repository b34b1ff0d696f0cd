"""The rows and columns of ``test_metas.py`` and its neighbours, and what they lack."""

import numpy as np
from meta_cases import CHARACTERS, PLACES, SPANS, TEXTS, WORDS
from meta_cases import PROSE as TEXTS_OF_SPANS
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from skstruct import (
    L1CRF,
    L1CRFCV,
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    Segmenter,
    SpanSets,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct.features import TokenPredictions

TEXT = TEXTS * 3, WORDS * 3
LABELLED = CHARACTERS * 3, PLACES * 3
PROSE = TEXTS_OF_SPANS * 5, SPANS * 5
NESTED = PROSE[0], [[*spans, (*spans[0][:2], "ANY")] for spans in PROSE[1]]
ROWS = (
    [np.eye(3)[["abc".index(c) for c in text]] for text in TEXTS * 3],
    LABELLED[1],
)


def perceptron(**parameters):
    return StructuredPerceptron(
        **{"features": "char", "max_iter": 2, "random_state": 0, **parameters}
    )


def crf(**parameters):
    return L1CRF(**{"c1": 0.1, "max_iter": 5, "random_state": 0, **parameters})


def average(learner, **parameters):
    return BaggingShuffleAverager(learner, 3, random_state=0, **parameters)


def reranker(base, **parameters):
    return KBestReranker(base, k=2, cv=2, max_iter=2, random_state=0, **parameters)


def search(**parameters):
    return L1CRFCV(
        candidates=[(0.1, 0.1), (1.0, 0.1)], cv=2, random_state=0, **parameters
    )


def unchanged(X):
    return X


METAS = {
    "average": (average, perceptron, LABELLED),
    "average in threads": (lambda p: average(p, n_jobs=2), perceptron, LABELLED),
    "average of a CRF": (average, crf, LABELLED),
    "mixer": (lambda p: ParameterMixer(p, random_state=0), perceptron, LABELLED),
    "calibrated": (lambda p: CalibratedTagger(p, cv=2), perceptron, LABELLED),
    "calibrated in threads": (
        lambda p: CalibratedTagger(p, cv=2, n_jobs=2),
        perceptron,
        LABELLED,
    ),
    "segmenter": (Segmenter, perceptron, TEXT),
    "span tagger": (
        SpanTagger,
        lambda **given: perceptron(**{"features": "auto", **given}),
        PROSE,
    ),
    "span tagger of two chains": (
        lambda p: SpanTagger(p, overlap="by-type"),
        lambda **given: perceptron(**{"features": "auto", **given}),
        NESTED,
    ),
    "sets": (lambda p: SpanSets(SpanTagger(p), recall=0.5, cv=2), crf, PROSE),
    "reranker": (reranker, perceptron, LABELLED),
    "search": (lambda _: search(), crf, LABELLED),
    "predictions": (
        lambda p: TokenPredictions(p, cv=2),
        lambda **given: ExtraTreesClassifier(2, random_state=0, **given),
        ROWS,
    ),
    # two levels deep
    "calibrated average": (
        lambda p: CalibratedTagger(average(p), cv=2),
        perceptron,
        LABELLED,
    ),
    "segmenter of an average": (lambda p: Segmenter(average(p)), perceptron, TEXT),
    "segmenter of a pipeline": (
        lambda p: Segmenter(
            Pipeline([("same", FunctionTransformer(unchanged)), ("tagger", p)])
        ),
        perceptron,
        TEXT,
    ),
    "mixer of a segmenter": (
        lambda p: ParameterMixer(Segmenter(p), random_state=0),
        perceptron,
        TEXT,
    ),
    "reranker of a segmenter": (lambda p: reranker(Segmenter(p)), perceptron, TEXT),
}
"""Name -> (estimator around a learner, the learner, corpus)."""

COLUMNS = (
    "warm start",
    "callback of its own",
    "callback that is handed on",
    "callback of the learner",
    "interrupt",
    "interrupt of a fitted one",
    "clone",
)

LACKS = {
    ("search", "warm start"): "a search has no learner inside to set it of",
    ("search", "callback of the learner"): "a search has no learner inside",
    ("mixer", "callback of the learner"): "refused by name: shards have no fit",
    ("mixer of a segmenter", "callback of the learner"): "as that of the mixer",
    ("predictions", "callback"): "classifiers of scikit-learn have none",
    ("sets", "callback of its own"): "SpanSets takes no callbacks",
    ("sets", "callback that is handed on"): "SpanSets takes no callbacks",
    ("predictions", "interrupt"): "classifiers have no epochs to be interrupted at",
    ("in threads", "interrupt"): "signals act in the main thread",
    ("of a CRF", "interrupt"): "a solver is interrupted in its own tests",
    ("sets", "interrupt"): "a solver is interrupted in its own tests",
    ("search", "interrupt"): "see test_an_interrupted_refit_keeps_the_search",
    ("segmenter of a pipeline", "callback"): "scikit-learn's pipelines hand on none",
}
"""Parts of the names of a row and of a column: why there are no such cells."""


def reason_in(table, name, column):
    return next(
        (why for (a, b), why in table.items() if a in name and b in column), None
    )


def rows(column):
    return [name for name in METAS if reason_in(LACKS, name, column) is None]


def case(name, **parameters):
    """(meta-estimator, X, y)"""
    around, learner, (X, y) = METAS[name]
    return around(learner(**parameters)), X, y


def fitted_of(model):
    """The fitted attributes of an estimator, and of all that it holds."""
    return {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_") or name == "_model"
    }
