"""Arguments stay what they are: nothing that a caller hands to a verb is changed by it.

The kind: lists, arrays, dicts, frames, weights, groups, parameters that are containers,
splitters. A RandomState moves on, as everywhere in scikit-learn; nothing else does.
Arrays may be read-only.
"""

import copy
import pickle

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from skstruct import (
    L1CRF,
    L1CRFCV,
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    PartialSpans,
    PassiveAggressiveTagger,
    Segmenter,
    ShiftReduceParser,
    SpanSets,
    SpanTagger,
    StructuredPerceptron,
    WordSegmenter,
    inspection,
)
from skstruct.features import (
    SequenceUnion,
    TokenPredictions,
    TokenTransformer,
    TokenVectorizer,
    Window,
    WordVectors,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

N = 20
NUMBERS = np.random.default_rng(0).normal(size=(N, 3, 2))
LISTS = [[f"w{int(10 * abs(row[0])) % 5}" for row in rows] for rows in NUMBERS]
LABELS = [["B-X" if row[0] > 0 else "O" for row in rows] for rows in NUMBERS]
TEXTS = ["ab cab", "b ab", "cab b", "ab ab"] * 5
WORDS = [text.split() for text in TEXTS]
PROSE = ["Ann lives in Rome", "in Rome lives Bob", "Bob saw Ann", "Rome saw Bob"] * 5
SPANS = [
    [(13, 17, "L"), (0, 3, "P")],
    [{"start": 14, "end": 17, "label": "P"}, {"start": 3, "end": 7, "label": "L"}],
    PartialSpans([(0, 3, "P")], types={"P"}),
    [[0, 4, "L"], [9, 12, "P"]],
] * 5
WHOLE = [list(spans) for spans in SPANS]
TREES = [[("the", "D"), ("dog", "N"), ("barks", "V")]] * N
ARCS = [[(2, "det"), (3, "nsubj"), (0, "root")]] * N


def objects(items):
    found = np.empty(len(items), object)
    found[:] = items
    return found


TOKENS = {
    "lists": LISTS,
    "tuples": tuple(map(tuple, LISTS)),
    "columns": [[(token, token[-1]) for token in tokens] for tokens in LISTS],
    "dicts": [
        [{"w": token, "n": 1.5, "cap": True} for token in tokens] for tokens in LISTS
    ],
    "bags": [[[token, "bias"] for token in tokens] for tokens in LISTS],
    "objects": objects(LISTS),
    "series": pandas.Series(LISTS, index=range(5, N + 5)),
    "rows": [*NUMBERS],
    "array": NUMBERS,
    "sparse": [sparse.csr_array(rows) for rows in NUMBERS],
    "unsorted": [
        sparse.csr_array(
            (rows.ravel()[:5], [1, 0, 1, 0, 0], [0, 3, 3, 5]), shape=(3, 2)
        )
        for rows in NUMBERS
    ],
    "frames": [pandas.DataFrame(rows, columns=["a", "b"]) for rows in NUMBERS],
    "mixed frames": [
        pandas.DataFrame({"w": pandas.Categorical(tokens), "n": rows[:, 0]})
        for tokens, rows in zip(LISTS, NUMBERS)
    ],
}

LEARNERS = {
    "perceptron": lambda: StructuredPerceptron(max_iter=2, random_state=0),
    "passive-aggressive": lambda: PassiveAggressiveTagger(max_iter=2, random_state=0),
    "CRF": lambda: L1CRF(c1=0.1, max_iter=5, random_state=0),
}


def frozen(value):
    """A read-only copy: what writes into its arrays fails at once."""
    found = copy.deepcopy(value)
    for part in [found] if isinstance(found, np.ndarray) else list(found):
        for array in (
            part,
            getattr(part, "data", None),
            getattr(part, "indices", None),
        ):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
    return found


def bits(*values):
    """All that values hold, as bytes; elements one by one, so that sharing does not
    count.
    """
    found = []
    for value in values:
        plain = value.to_dict("list") if isinstance(value, pandas.DataFrame) else value
        if sparse.issparse(value):  # which notes besides whether it is sorted
            plain = value.shape, value.data, value.indices, value.indptr
        nested = isinstance(value, (list, tuple, pandas.Series)) or (
            isinstance(value, np.ndarray) and value.dtype == object
        )
        found.append((type(value), bits(*value) if nested else pickle.dumps(plain)))
    return found


def try_all(model, X, y, **more):
    """Every verb that a model has, on the same arguments."""
    model.fit(X, y, **more)
    for verb in (
        "partial_fit", "predict", "predict_kbest", "predict_marginals", "predict_posterior",
        "predict_segment_proba", "predict_sets", "decision_function", "sequence_log_proba", "score",
        "encode", "adapt", "transform", "fit_transform", "tokens", "alignment_report",
    ):  # fmt: skip
        method = getattr(model, verb, None)
        if method is None:
            continue
        labelled = verb in {
            "partial_fit", "score", "sequence_log_proba", "fit_transform", "alignment_report",
        }  # fmt: skip
        try:
            method(X, y) if labelled else method(X)
        except (ValueError, TypeError) as error:
            assert "read-only" not in str(error), verb


@pytest.mark.parametrize("kind", TOKENS)
@pytest.mark.parametrize("name", LEARNERS)
def test_tokens_labels_and_weights(name, kind):
    X, y = frozen(TOKENS[kind]), copy.deepcopy(LABELS)
    weight = np.linspace(0.5, 2, N)
    weight.flags.writeable = False
    before = bits(X, y, weight)
    try_all(LEARNERS[name](), X, y, sample_weight=weight)
    assert bits(X, y, weight) == before


def crf():
    return L1CRF(c1=0.1, max_iter=5, random_state=0)


def perceptron():
    return StructuredPerceptron(max_iter=2, random_state=0)


AROUND = {
    "averager": (
        lambda: BaggingShuffleAverager(perceptron(), 2, random_state=0),
        LISTS,
        LABELS,
    ),
    "mixer": (lambda: ParameterMixer(perceptron(), random_state=0), LISTS, LABELS),
    "calibrated": (lambda: CalibratedTagger(perceptron(), cv=2), LISTS, LABELS),
    "search": (lambda: L1CRFCV(c1s=[0.1], c2s=[0.1], cv=2, max_iter=5), LISTS, LABELS),
    "reranker": (
        lambda: KBestReranker(perceptron(), cv=2, k=2, max_iter=1),
        LISTS,
        LABELS,
    ),
    "segmenter": (lambda: Segmenter(perceptron()), TEXTS, WORDS),
    "spans": (lambda: SpanTagger(crf()), PROSE, SPANS),
    "sets": (lambda: SpanSets(SpanTagger(crf()), recall=0.5, cv=2), PROSE, WHOLE),
    "words": (lambda: WordSegmenter(max_iter=2, random_state=0), TEXTS, WORDS),
    "parser": (
        lambda: ShiftReduceParser(max_iter=2, beam_size=2, random_state=0),
        TREES,
        ARCS,
    ),
    "window": (Window, [*NUMBERS], LABELS),
    "transformer": (
        lambda: TokenTransformer(StandardScaler(copy=True)),
        [*NUMBERS],
        LABELS,
    ),
    "predictions": (
        lambda: TokenPredictions(SGDClassifier(random_state=0), cv=2),
        [*NUMBERS],
        LABELS,
    ),
    "vectorizer": (TokenVectorizer, LISTS, LABELS),
    "vectors": (lambda: WordVectors(n_components=2, random_state=0), LISTS, LABELS),
    "union": (
        lambda: SequenceUnion([("a", "passthrough"), ("b", Window())]),
        [*NUMBERS],
        LABELS,
    ),
}


@pytest.mark.parametrize("name", AROUND)
def test_what_estimators_around_others_are_given(name):
    make, X, y = AROUND[name]
    X, y = frozen(X), copy.deepcopy(y)
    before = bits(X, y)
    try_all(make(), X, y)
    assert bits(X, y) == before


def test_parameters_that_are_containers():
    given = {
        "features": ["U0:%x[0,0]", "U1:%x[-1,0]", "B"],
        "class_weight": {"B-X": 2.0, "O": 1.0},
        "constraints": [
            ("O", "O"),
            ("O", "B-X"),
            ("B-X", "O"),
            ("B-X", "B-X"),
            (None, "O"),
            (None, "B-X"),
        ],
    }
    search = {
        "c1s": [0.1, 1.0],
        "candidates": [{"c1": 0.1}, {"c2": 0.1}],
        "cv": [(range(9), range(9, N))],
    }
    for make, more in (
        (StructuredPerceptron, {}),
        (PassiveAggressiveTagger, {}),
        (L1CRF, {}),
        (L1CRFCV, search),
    ):
        parameters = copy.deepcopy({**given, **more})
        before = pickle.dumps(parameters)
        model = make(max_iter=2, **parameters).fit(LISTS, LABELS)
        model.predict(LISTS)
        assert pickle.dumps(parameters) == before
        assert all(getattr(model, name) is value for name, value in parameters.items())


def test_metadata_and_options_of_calls():
    groups, cv = np.arange(N) // 2, GroupKFold(2)
    groups.flags.writeable = False
    allowed = [[{"O", "B-X"}, None, "O"] for _ in LISTS]
    segments = [[(0, 1, "X")] for _ in LISTS]
    held = LISTS[:5], LABELS[:5]
    arguments = groups, allowed, segments, held
    before, splitter = bits(*arguments), pickle.dumps(cv)
    search = L1CRFCV(c1s=[0.1], c2s=[0.1], cv=cv, max_iter=5).fit(
        LISTS, LABELS, groups=groups
    )
    search.predict(LISTS, allowed=allowed)
    search.predict_kbest(LISTS, k=2, allowed=allowed)
    search.predict_segment_proba(LISTS, segments, scheme="BIO")
    perceptron().fit(LISTS, LABELS, X_val=held[0], y_val=held[1])
    perceptron().partial_fit(LISTS, LABELS, classes=["O", "B-X"])
    inspection.label_issues(crf(), LISTS, LABELS, cv=cv, groups=groups)
    inspection.out_of_fold_marginals(crf(), LISTS, LABELS, cv=cv, groups=groups)
    assert bits(*arguments) == before and pickle.dumps(cv) == splitter


def test_a_random_state_moves_on_and_stays_the_same_object():
    for make in (StructuredPerceptron, PassiveAggressiveTagger):
        random = np.random.RandomState(0)
        model = make(max_iter=2, random_state=random).fit(LISTS, LABELS)
        assert model.random_state is random
        twin = np.random.RandomState(0)
        again = make(max_iter=2, random_state=twin).fit(LISTS, LABELS)
        np.testing.assert_array_equal(
            model.decision_function(LISTS), again.decision_function(LISTS)
        )
        assert random.randint(2**31) == twin.randint(2**31)
