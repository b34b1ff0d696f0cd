"""Splitters see what is split: X and y as the user gave them, and groups where there
are some.

The kind: every estimator and function of the package that takes ``cv``. What stratifies
by content, by the labels of a sequence, say, works nowhere if it is shown positions
alone.
"""

import inspect
import types

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import BaseCrossValidator
from sklearn.preprocessing import TargetEncoder

import skstruct
from skstruct import (
    L1CRF,
    L1CRFCV,
    CalibratedTagger,
    SpanSets,
    SpanTagger,
    StructuredPerceptron,
    features,
    inspection,
)
from skstruct.features import TokenPredictions, TokenTransformer

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

WORDS = [["ab", "cab"], ["b", "ab", "b"], ["cab"], ["ab", "ab"]] * 5
LABELS = [
    ["AB"[(i // 4 + t) % 2] for t in range(len(words))] for i, words in enumerate(WORDS)
]
BIO = [[{"A": "B-X", "B": "O"}[label] for label in labels] for labels in LABELS]
ROWS = [
    np.array([[len(word), t] for t, word in enumerate(words)], float) for words in WORDS
]
TAGS = [np.array([[word] for word in words], object) for words in WORDS]
PROSE = ["Ann lives in Rome", "in Rome lives Bob", "Bob saw Ann", "Rome saw Bob"] * 5
SPANS = [[(0, 3, "P"), (13, 17, "L")], [(3, 7, "L"), (14, 17, "P")], [(0, 3, "P"), (8, 11, "P")],
         [(0, 4, "L"), (9, 12, "P")]] * 5  # fmt: skip
GROUPS = np.arange(20) // 2


class ByContent(BaseCrossValidator):
    """Stratifies by the first label, or span, of a sequence; notes what it is shown."""

    def __init__(self):
        self.shown = []

    def get_n_splits(self, X=None, y=None, groups=None):
        return 2

    def split(self, X, y=None, groups=None):
        self.shown.append((X, y, groups))
        kinds = [str(labels[0][-1]) for labels in y]
        place = {}
        fold = np.array(
            [
                place.setdefault(kind, []).append(0) or len(place[kind]) % 2
                for kind in kinds
            ]
        )
        for k in range(2):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def crf():
    return L1CRF(c1=0.1, c2=0.1, max_iter=20, random_state=0)


PLACES = {
    "L1CRFCV": (
        lambda cv, X, y, **more: L1CRFCV(
            c1s=[0.1], c2s=[0.1], cv=cv, random_state=0
        ).fit(X, y, **more),
        WORDS,
        LABELS,
    ),
    "CalibratedTagger": (
        lambda cv, X, y: CalibratedTagger(
            StructuredPerceptron(random_state=0), cv=cv
        ).fit(X, y),
        WORDS,
        LABELS,
    ),
    "SpanSets": (
        lambda cv, X, y, **more: SpanSets(SpanTagger(crf()), recall=0.5, cv=cv).fit(
            X, y, **more
        ),
        PROSE,
        SPANS,
    ),
    "SpanSets of tokens": (
        lambda cv, X, y, **more: SpanSets(
            L1CRF(c1=0.1, constraints="BIO", random_state=0), recall=0.5, cv=cv
        ).fit(X, y, **more),
        WORDS,
        BIO,
    ),
    "TokenPredictions": (
        lambda cv, X, y, **more: TokenPredictions(
            SGDClassifier(random_state=0), cv=cv
        ).fit_transform(X, y, **more),
        ROWS,
        LABELS,
    ),
    "label_issues": (
        lambda cv, X, y, **more: inspection.label_issues(crf(), X, y, cv=cv, **more),
        WORDS,
        LABELS,
    ),
    "label_issues of spans": (
        lambda cv, X, y, **more: inspection.label_issues(
            SpanTagger(crf()), X, y, cv=cv, **more
        ),
        PROSE,
        SPANS,
    ),
    "thresholds_for": (
        lambda cv, X, y, **more: inspection.thresholds_for(
            SpanTagger(crf()), X, y, precision=0.5, cv=cv, **more
        ),
        PROSE,
        SPANS,
    ),
    "out_of_fold_marginals": (
        lambda cv, X, y, **more: inspection.out_of_fold_marginals(
            crf(), X, y, cv=cv, **more
        ),
        WORDS,
        LABELS,
    ),
}

WITHOUT_GROUPS = {"CalibratedTagger"}

NUMBERS_ALONE = {"KBestReranker"}
"""What takes a number of parts, and no splitter."""


def test_every_place_that_takes_cv_is_tried():
    found = set()
    for module in (skstruct, features, inspection):
        for name in module.__all__:
            each = getattr(module, name)
            is_estimator = inspect.isclass(each) and issubclass(each, BaseEstimator)
            if is_estimator or isinstance(each, types.FunctionType):
                found |= {name} if "cv" in inspect.signature(each).parameters else set()
    assert found - NUMBERS_ALONE == {name.partition(" ")[0] for name in PLACES}


@pytest.mark.parametrize("name", PLACES)
def test_splitters_see_the_users_sequences_and_labels(name):
    work, X, y = PLACES[name]
    cv = ByContent()
    work(cv, X, y)
    assert cv.shown
    for seen in cv.shown:
        assert seen[0] is X and seen[1] is y and seen[2] is None


@pytest.mark.parametrize("name", sorted(PLACES.keys() - WITHOUT_GROUPS))
def test_splitters_see_groups(name):
    work, X, y = PLACES[name]
    seen = []

    class Grouped(ByContent):
        def split(self, X, y=None, groups=None):
            seen.append(groups)
            for k in range(2):
                yield np.flatnonzero(groups % 2 != k), np.flatnonzero(groups % 2 == k)

    work(Grouped(), X, y, groups=GROUPS)
    assert seen and all(groups is GROUPS for groups in seen)


@pytest.mark.parametrize("name", PLACES)
def test_a_splitter_is_as_good_as_its_splits(name):
    work, X, y = PLACES[name]
    one, other = work(ByContent(), X, y), work([*ByContent().split(X, y)], X, y)
    if hasattr(one, "predict"):
        assert one.predict(X) == other.predict(X)
    else:
        assert repr(one) == repr(other)


@pytest.mark.parametrize(
    "container", ["list", "array", "tuple", "frames", "texts in an array"]
)
def test_containers_are_shown_as_they_are(container):
    X, y, work = WORDS, LABELS, PLACES["L1CRFCV"][0]
    if container == "array":
        X = np.empty(len(WORDS), object)
        X[:] = WORDS
    elif container == "tuple":
        X, y = tuple(X), tuple(y)
    elif container == "frames":
        pandas = pytest.importorskip("pandas")
        X = [pandas.DataFrame({"word": words}) for words in WORDS]
    elif container == "texts in an array":
        X, y, work = np.array(PROSE), SPANS, PLACES["SpanSets"][0]
    cv = ByContent()
    work(cv, X, y)
    assert cv.shown[0][0] is X and cv.shown[0][1] is y


def test_the_encoder_of_targets_cuts_sequences_that_have_tokens():
    cv = ByContent()
    X, y = [TAGS[0], np.zeros((0, 1), object), *TAGS[1:]], [LABELS[0], [], *LABELS[1:]]
    encoder = TargetEncoder(target_type="binary").set_params(cv=cv)
    try:
        TokenTransformer(encoder).fit_transform(X, y)
    except (
        ValueError
    ) as error:  # scikit-learn's own fit, once the folds are done: numbers alone
        assert "'cv' parameter" in str(error)
    assert len(cv.shown[0][0]) == len(cv.shown[0][1]) == len(X) - 1
