"""Errors of a user's scorer on held-out sequences name the user's own sequences."""

import re

import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

from skstruct import (
    L1CRF,
    L1CRFCV,
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    PartialSpans,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct._data.places import PlaceError

WORDS = [["Ann", "Lee", "saw", "Rome", "."], ["in", "Oslo", ",", "Bob", "sat"]]
TAGS = [["B-P", "I-P", "O", "B-L", "O"], ["O", "B-L", "O", "B-P", "O"]]
TEXTS = ["Ann Lee saw Rome .\n\nBob sat .", "in Oslo , Bob sat\nAnn Lee sat"] * 6
SPANS = [
    PartialSpans([(0, 7, "P"), (20, 23, "P")], {"P"}),
    [(3, 7, "L"), (10, 13, "P"), (18, 25, "P")],
] * 6


def perceptron(scoring=None, **options):
    return StructuredPerceptron(max_iter=2, random_state=0, scoring=scoring, **options)


def plain():
    return WORDS * 6, TAGS * 6


def corpus():
    """Sentences and labels, with empty sequences in between."""
    X, y = plain()
    for i in (9, 6, 3, 0):
        X.insert(i, [])
        y.insert(i, [])
    return X, y


def refusing(estimator, X, y):
    """A scorer that refuses the last sequence with tokens, and quotes its first one."""
    i = max(i for i, tokens in enumerate(X) if len(tokens))
    word = getattr(X[i][0], "word", X[i][0])
    raise PlaceError(i, 0, f"odd is {word}", "y_true")


def numbered_words():
    X, y = corpus()
    return [[f"w{i}", *tokens[1:]] if tokens else [] for i, tokens in enumerate(X)], y


def named_place(error):
    """The name and the number of a sequence in an error, and the number it quotes."""
    found = re.search(r"(\w+): sequence (\d+), position 0: odd is w(\d+)", str(error))
    return found[1], int(found[2]), int(found[3])


STOPS = perceptron(refusing, early_stopping=True, validation_fraction=0.5)
STRANGERS = {
    "X_val": perceptron(refusing),
    "X_val of a CRF": L1CRF(scoring=refusing),
    "X_val of a calibrated": CalibratedTagger(perceptron(refusing), cv=2),
    "X_val of an average": BaggingShuffleAverager(perceptron(refusing), 2, n_jobs=2),
    "X_val of a mixture": ParameterMixer(perceptron(refusing), 2),
    "X_val of a reranker": KBestReranker(perceptron(), cv=2, scoring=refusing),
    "X": STOPS,
    "X of an average": BaggingShuffleAverager(STOPS, 2, n_jobs=2),
    "X of a calibrated": CalibratedTagger(STOPS, cv=2),
    "X of a reranker": KBestReranker(
        perceptron(),
        cv=2,
        early_stopping=True,
        validation_fraction=0.5,
        scoring=refusing,
    ),
    "X of a search": L1CRFCV(
        c1s=[0.1],
        c2s=[0.1],
        cv=KFold(3, shuffle=True, random_state=0),
        scoring=refusing,
        n_jobs=2,
    ),
}


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("way", STRANGERS)
def test_errors_of_a_users_scorer_name_the_users_sequence(way, weights):
    X, y = numbered_words()
    sample_weight = [float(i % 5 > 0) for i in range(len(X))]
    given = {"X_val": X, "y_val": y} if way.startswith("X_val") else {}
    more = {"sample_weight": sample_weight} if weights and not given else {}
    with pytest.raises(ValueError) as caught:
        clone(STRANGERS[way]).fit(*(plain() if given else (X, y)), **given, **more)
    name, number, quoted = named_place(caught.value)
    assert number == quoted and name == ("y_val" if given else "y")


@pytest.mark.parametrize("kind", ["alone", "mixture inside", "mixture outside"])
def test_errors_about_pieces_of_held_out_texts_name_the_text(kind):
    texts = [*TEXTS, "", "one two\nthree\nw13"]
    spans = [*SPANS, [], []]
    learner = perceptron(refusing)
    inside = ParameterMixer(learner, 1) if kind == "mixture inside" else learner
    model = SpanTagger(inside, pieces="lines", tokenizer=r"\S+")
    if kind == "mixture outside":
        model = ParameterMixer(model, 1)
    with pytest.raises(ValueError) as caught:
        model.fit(TEXTS, SPANS, X_val=texts, y_val=spans)
    assert named_place(caught.value) == ("y_val", 13, 13)


def test_errors_about_pieces_of_texts_name_the_text():
    texts = [f"w{i} saw\nw{i} sat" for i in range(12)]
    spans = [[(0, 2, "P")]] * 12
    with pytest.raises(ValueError) as caught:
        SpanTagger(STOPS, pieces="lines", tokenizer=r"\S+").fit(texts, spans)
    name, number, quoted = named_place(caught.value)
    assert name == "y" and number == quoted
