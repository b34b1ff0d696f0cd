"""A call on one sentence does no work of the model's size: it is counted, not timed.

Every estimator and every transformer is trained on a small vocabulary and on one that
is forty times as large. One and the same short sentence then has to cost the same:
bytes that are allocated, calls, and names of columns that are compared. What reads all
columns at each call, compares or copies them fails here: in any verb, of a model that
was fitted, read from a file, or unpickled.

A run tries each class as it was fitted and as it was read, and each case at least once.
"""

import pickle
from functools import cache, partial
from inspect import isclass, signature

import model_cases
import numpy as np
import pandas
import pytest
from counting import allocated, calls, needs_compiled
from covers import cover, slow_beyond
from inside import watch_names
from model_cases import ALL_CASES, traits
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

import skstruct
import skstruct.features
from skstruct import L1CRF, CalibratedTagger, NumericFeatures, StructuredPerceptron
from skstruct.features import (
    SequenceUnion,
    TokenPredictions,
    TokenTransformer,
    TokenVectorizer,
    Window,
    WordVectors,
)

pytestmark = [needs_compiled, pytest.mark.filterwarnings("ignore")]

SMALL, LARGE = 60, 2400
"""Words of the vocabularies."""


def tokens(n):
    """(X, y): sentences of six words, each of which occurs twice."""
    X = [[f"w{k + s}" for k in range(6)] for s in range(0, n, 6)] * 2
    return X, [["B-X", "I-X", "O"] * 2 for _ in X]


def _of_words(make):
    def data(n):
        X, y = tokens(n)
        return [[make(word) for word in x] for x in X], y

    return data


def sparse_rows(n):
    X, y = tokens(n)
    columns = [np.array([int(word[1:]) for word in x]) for x in X]
    return [
        sparse.csr_array((np.ones(6), (np.arange(6), c)), shape=(6, n)) for c in columns
    ], y


def frames(n):
    X, y = tokens(n)
    return [
        pandas.DataFrame({"word": x, "number": 0.5, "last": [w[-1] for w in x]})
        for x in X
    ], y


def texts(n):
    X, _ = tokens(n)
    return ["".join(x) for x in X], [[(word, "T") for word in x] for x in X]


def annotated(n):
    X, _ = tokens(n)
    ends = [(len(x[0]), len(x[0]) + 1 + len(x[1])) for x in X]
    return [" ".join(x) for x in X], [[(0, a, "A"), (a + 1, b, "B")] for a, b in ends]


def words(n):
    X, _ = tokens(n)
    return ["".join(x) for x in X], X


def trees(n):
    X, _ = tokens(n)
    heads = [(2, "a"), (3, "b"), (4, "a"), (5, "b"), (6, "a"), (0, "root")]
    return [[(word, "N") for word in x] for x in X], [heads for _ in X]


def trees_of_columns(n):
    X, y = trees(n)
    return [[(w, t, "n", "Case=A") for w, t in x] for x in X], y


DATA = {
    model_cases.tokens: tokens,
    model_cases.pairs: _of_words(lambda word: (word, word[-1])),
    model_cases.dicts: _of_words(lambda word: {"w": word, "length": 0.5}),
    model_cases.bags: _of_words(lambda word: [f"w={word}", "bias"]),
    model_cases.sparse_rows: sparse_rows,
    model_cases.frames: frames,
    model_cases.texts: texts,
    model_cases.annotated: annotated,
    model_cases.words: words,
    model_cases.trees: trees,
    model_cases.trees_of_columns: trees_of_columns,
}
"""The data of `model_cases`, and the same with as many words as asked for.

Dense rows are not among them: each holds all columns, so that the input itself grows.
"""


# -- transformers, and pipelines that begin with them ----------------------------------
TEMPLATES = ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "B"]


class Even(ClassifierMixin, BaseEstimator):
    """A classifier without a size; what scikit-learn's do at each call is their own."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((X.shape[0], len(self.classes_)), 1 / len(self.classes_))


def vectorizer():
    return TokenVectorizer(TEMPLATES)


def vectors(**parameters):
    return WordVectors(3, min_count=1, random_state=0, **parameters)


def union(**parameters):
    return SequenceUnion([("form", vectorizer()), ("vectors", vectors())], **parameters)


def perceptron(features="auto"):
    return StructuredPerceptron(features, max_iter=1, random_state=0)


def crf():
    return L1CRF(max_iter=3, random_state=0)


def nested():
    """Names of columns that come from two levels, and a part with a weight."""
    parts = [("both", union()), ("again", make_pipeline(union(), Window()))]
    return SequenceUnion(parts, transformer_weights={"both": 2.0})


NEIGHBOURS = NumericFeatures(window=(-1, 1))
WITH_VECTORS = {
    "vectors": vectors,
    "clusters": lambda: vectors(n_clusters=3),
    "vectorizer": vectorizer,
    "union": union,
    "union of one": lambda: SequenceUnion([("form", vectorizer())]),
    "union with a weight": lambda: union(transformer_weights={"vectors": 2.0}),
    "union of unions": nested,
    "window": lambda: make_pipeline(vectorizer(), Window()),
    "window of both": lambda: make_pipeline(union(), Window(deltas=True)),
    "passthrough": lambda: make_pipeline(
        vectorizer(), SequenceUnion([("same", "passthrough")])
    ),
    "transformer": lambda: make_pipeline(
        union(), TokenTransformer(FunctionTransformer())
    ),
    "predictions": lambda: make_pipeline(vectorizer(), TokenPredictions(Even(), cv=2)),
    "tagger": lambda: make_pipeline(vectorizer(), perceptron()),
    "tagger of both": lambda: make_pipeline(union(), perceptron()),
    "tagger of neighbours": lambda: make_pipeline(union(), perceptron(NEIGHBOURS)),
    "tagger of windows": lambda: make_pipeline(union(), Window(), perceptron()),
    "tagger of vectors": lambda: make_pipeline(vectors(), perceptron()),
    "tagger of clusters": lambda: make_pipeline(
        vectors(n_clusters=3), perceptron(["U:%x[0,1]"])
    ),
    "tagger with clusters": lambda: StructuredPerceptron(
        TEMPLATES, words=vectors(n_clusters=3), max_iter=1, random_state=0
    ),
    "CRF of both": lambda: make_pipeline(union(), crf()),
    "calibrated tagger of both": lambda: make_pipeline(
        union(), CalibratedTagger(crf(), cv=2)
    ),
}
"""Of words."""

ALONE = " alone"
CASES = {
    **{name: (tokens, make) for name, make in WITH_VECTORS.items()},
    **{
        f"{name}{ALONE}": (DATA[data], make)
        for name, (data, make) in ALL_CASES.items()
        if data in DATA
    },
    "vectorizer of dicts": (DATA[model_cases.dicts], TokenVectorizer),
    "vectorizer of lists": (DATA[model_cases.bags], TokenVectorizer),
    "vectorizer of frames": (frames, vectorizer),
    "tagger of dicts": (
        DATA[model_cases.dicts],
        lambda: make_pipeline(TokenVectorizer(), perceptron()),
    ),
}

VERBS = {
    **dict.fromkeys(
        ["transform", "predict", "predict_kbest", "predict_marginals", "encode",
         "predict_posterior", "decision_function"],
        lambda act, X, y: act(X),
    ),
    **dict.fromkeys(["score", "sequence_log_proba"], lambda act, X, y: act(X, y)),
    "predict_segment_proba": lambda act, X, y: act(X, **_scheme_for(act)),
}  # fmt: skip
"""What is done with tokens, by name."""


def _scheme_for(method):
    forwards = signature(method).parameters.keys() & {"scheme", "options"}
    return {"scheme": "BIO"} if forwards else {}


@cache
def trained(case, n):
    """(model, one sentence, its labels)"""
    data, make = CASES[case]
    X, y = data(n)
    return make().fit(X, y), X[:1], y[:1]


def read_again(model, tmp_path):
    """The model as `skstruct.load` reads it; None if files do not keep it."""
    try:
        skstruct.save(model, tmp_path / "model")
    except TypeError:
        return None
    return skstruct.load(tmp_path / "model")


def work_of(model, X, y, names_compared):
    """{verb: (bytes, calls, names of columns compared)} of calls after the second."""
    found = {}
    # A pipeline lacks most verbs of its last step.
    if isinstance(model, Pipeline) and not hasattr(model, "transform"):
        inner = work_of(model[-1], model[:-1].transform(X), y, names_compared)
        found = {f"{verb} of the last": work for verb, work in inner.items()}
    for verb, make_call in VERBS.items():
        if not hasattr(model, verb):
            continue
        act = partial(make_call, getattr(model, verb), X, y)
        act()
        act()
        names_compared.clear()
        found[verb] = allocated(act), calls(act)[0], sum(names_compared)
    return found


# A pickle holds the bytes of the file, so that few cases are tried by both.
UNPICKLED = "tagger of both", "union of unions", "averager-parser alone"
WAYS = [(case, how) for case in CASES for how in ("fitted", "read", "unpickled")]


def parts_of(case):
    """What a case is made of: the traits of a model that stands alone, else the classes
    of a pipeline and of all inside.
    """
    if case.endswith(ALONE):
        return traits(case.removesuffix(ALONE))
    whole = CASES[case][1]()
    inside = whole.get_params(deep=True).values()
    return {type(each) for each in (whole, *inside) if hasattr(each, "fit")}


def held(cell):
    """What a cell tries: each part in a way, and the case."""
    case, how = cell
    return {(part, how) for part in parts_of(case)} | {case}


WEEKLY = "CRF of both", "calibrated tagger of both"
"""They need kernels that nothing else does, which take ten seconds to compile. A tagger
of both, and CRFs of each kind of token, are tried in every run.
"""

QUICK = [
    (case, how)
    for case, how in WAYS
    if case not in WEEKLY and (how != "unpickled" or case in UNPICKLED)
]
COVER = {QUICK[k] for k in cover(QUICK, held)}


def test_what_is_tried_weekly_is_made_of_parts_that_every_run_tries():
    parts = [part for case, _ in COVER for part in parts_of(case)]
    # A class that stands alone is a trait: (depth, class).
    tried = {part[1] if isinstance(part, tuple) else part for part in parts}
    for case in WEEKLY:
        assert parts_of(case) <= tried


@pytest.mark.parametrize("case, how", slow_beyond(COVER, WAYS))
def test_a_call_on_one_sentence(case, how, tmp_path, monkeypatch):
    names_compared = watch_names(monkeypatch)
    small, large = [], []
    for n, found in (SMALL, small), (LARGE, large):
        model, X, y = trained(case, n)
        if how == "unpickled":
            model = pickle.loads(pickle.dumps(model))
        elif how == "read":
            model = read_again(model, tmp_path)
            if model is None:
                pytest.skip("files do not keep such transformers")
        found.append(work_of(model, X, y, names_compared))
    (small,), (large,) = small, large
    assert small.keys() == large.keys() != set()
    for verb, (n_bytes, n_calls, n_compared) in large.items():
        few_bytes, few_calls, few_compared = small[verb]
        # How many labellings are looked at depends on weights.
        assert n_bytes < 1.1 * few_bytes + 1000, (verb, n_bytes, few_bytes)
        # A segmenter asks for more labellings until k words differ: a model that learned
        # from less may ask more often, never less.
        is_ranking = case.startswith(("segmenter", "mixer", "reranker-segmenter"))
        least = 0 if is_ranking else 0.9 * few_calls
        assert least <= n_calls <= 1.1 * few_calls, (verb, n_calls, few_calls)
        assert n_compared == few_compared, (verb, "compares the names of all columns")


def test_every_estimator_and_transformer_has_a_row():
    public = [getattr(skstruct, name) for name in skstruct.__all__]
    public += [getattr(skstruct.features, name) for name in skstruct.features.__all__]
    expected = {each for each in public if isclass(each) and hasattr(each, "fit")}
    models = [make() for _, make in CASES.values()]
    found = {
        type(step)
        for model in models
        for _, step in getattr(model, "steps", [("", model)])
    }
    assert expected <= found
