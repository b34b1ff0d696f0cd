"""Spans that are known before prediction, against all labellings that a model scores."""

import random

import numpy as np
import pytest

from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    CalibratedTagger,
    Lexicon,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct._data.text import tokenized

X = [
    "Ann Lee lives in Rome.",
    "Bob Lee left Paris.",
    "In Rome, Ann met Bob.",
    "Acme hired Bob Lee Kim in New York.",
]
Y = [
    [(0, 7, "PER"), (17, 21, "LOC")],
    [(0, 7, "PER"), (13, 18, "LOC")],
    [(3, 7, "LOC"), (9, 12, "PER"), (17, 20, "PER")],
    [(0, 4, "ORG"), (11, 22, "PER"), (26, 34, "LOC")],
]
TAGGERS = {
    "perceptron": lambda: StructuredPerceptron(random_state=0),
    "order2": lambda: StructuredPerceptron(order=2, random_state=0),
    "l1crf": lambda: L1CRF(c1=0.1, random_state=0),
    "calibrated": lambda: CalibratedTagger(StructuredPerceptron(random_state=0), cv=2),
    "average": lambda: BaggingShuffleAverager(
        L1CRF(c1=0.1), n_estimators=2, random_state=0
    ),
}
EVERY = 100_000
"""More labellings than a text of three tokens has."""


def agrees(spans, known):
    for start, end, label in known:
        inside = [s for s in spans if s.start < end and start < s.end]
        if label == "O":
            if inside:
                return False
        elif [(s.start, s.end) for s in inside] != [(start, end)]:
            return False
        elif label is not None and inside[0].label not in np.ravel(label).tolist():
            return False
    return True


def drawn(rng, text):
    (tokens,) = tokenized([text]).pairs()
    a, b = sorted(rng.sample(range(len(tokens) + 1), 2))
    label = rng.choice([None, "O", "PER", "LOC", ("PER", "ORG")])
    return [(tokens[a][0], tokens[b - 1][1], label)]


@pytest.mark.parametrize("scheme", ["BIO", "BIOES", "BILOU", "BMES"])
@pytest.mark.parametrize("name", TAGGERS)
def test_the_best_of_all_labellings_with_what_is_known(name, scheme):
    model = SpanTagger(TAGGERS[name](), scheme=scheme).fit(X, Y)
    rng = random.Random(0)
    refused = 0
    for text in ("Kim Lee Rome", "in Acme Paris", "Rome"):
        (every,) = model.predict_kbest([text], EVERY)
        for _ in range(12):
            known = drawn(rng, text)
            expected = [(spans, s) for spans, s in every if agrees(spans, known)]
            try:
                (ranked,) = model.predict_kbest([text], 3, known=[known])
            except ValueError as error:
                assert "has learned no label" in str(error) and not expected
                refused += 1
                continue
            scores = [score for _, score in ranked]
            np.testing.assert_allclose(scores, [s for _, s in expected[:3]])
            assert all(agrees(spans, known) for spans, _ in ranked)
            (best,) = model.predict([text], known=[known])
            assert dict((tuple(s), p) for s, p in expected)[tuple(best)] == (
                pytest.approx(scores[0])
            )
    assert refused < 18


@pytest.mark.parametrize("name", ["l1crf", "average"])
def test_probabilities_are_those_given_what_is_known(name):
    model = SpanTagger(TAGGERS[name](), scheme="BIO").fit(X, Y)
    text, rng = "Kim Lee Rome", random.Random(1)
    (every,) = model.predict_kbest([text], EVERY)
    for _ in range(8):
        known = drawn(rng, text)
        some = [(spans, np.exp(s)) for spans, s in every if agrees(spans, known)]
        total = sum(p for _, p in some)
        (found,) = model.predict_segment_proba([text], min_proba=1e-9, known=[known])
        for span, p in found:
            share = sum(each for spans, each in some if span in spans) / total
            assert p == pytest.approx(share, abs=1e-9)
        (predicted,) = model.predict_segment_proba([text], known=[known])
        assert [s for s, _ in predicted] == model.predict([text], known=[known])[0]


def test_spans_across_lines_join_them():
    model = SpanTagger(L1CRF(c1=0.1), pieces="lines").fit(X, Y)
    text = "He met Kim\nLee in Oslo."
    assert model.predict([text], known=[[(7, 14, "PER")]])[0][1] == (7, 14, "PER")


def test_lexicons_and_nothing_known():
    model = SpanTagger(L1CRF(c1=0.1)).fit(X, Y)
    texts = ["OSLO met Bob.", "", "Nothing."]
    lexicon = Lexicon({"Oslo": "LOC", "Bob": "O"})
    assert model.predict(texts, known=lexicon)[0] == [(0, 4, "LOC")]
    assert model.predict(texts, known=[[], [], []]) == model.predict(texts)
    assert model.predict(texts, known=lexicon.find(texts))[0] == [(0, 4, "LOC")]


def test_parts_of_a_large_corpus(monkeypatch):
    """Texts are predicted some at once; known spans go with theirs."""
    model = SpanTagger(L1CRF(c1=0.1)).fit(X, Y)
    known = [[(0, 3, "LOC")], [], [(3, 7, "PER")], [(0, 4, "O")]]
    whole = model.predict(X, known=known)
    monkeypatch.setattr("skstruct._data.text.AT_ONCE", 20)
    assert model.predict(X, known=known) == whole
    with pytest.raises(ValueError, match="known: sequence 3, position 0"):
        model.predict(X, known=[[], [], [], [(1, 4, "ORG")]])


@pytest.mark.parametrize(
    "model, reason",
    [
        (SpanTagger(StructuredPerceptron(), scheme="IOB1"), "scheme='IOB1'"),
        (
            SpanTagger(StructuredPerceptron(constraints=[("O", "O")])),
            "the constraints of its tagger are not those of BIOES",
        ),
    ],
)
def test_what_takes_nothing_known_says_why(model, reason):
    model.fit(["a b", "c"], [[], [(0, 1, "A")]])
    assert not model.accepts_known
    with pytest.raises(ValueError, match=f"does not support known spans: {reason}"):
        model.predict(["a b"], known=[[]])


def test_numbers_of_lists_have_to_agree():
    model = SpanTagger(L1CRF(c1=0.1)).fit(X, Y)
    with pytest.raises(ValueError, match="X has 1 texts, known has 2 lists of spans"):
        model.predict(["a"], known=[[], []])


@pytest.mark.parametrize(
    "tokenizer", ["words", r"\w+\s*|\S\s*", r"\s*\w+|\s*\S", r"\w+|\S"]
)
def test_predicted_spans_can_be_given_back_as_known(tokenizer):
    """Also where tokens begin or end with white space, or a byte order mark."""
    model = SpanTagger(StructuredPerceptron(random_state=0), tokenizer=tokenizer)
    model.fit(X, Y)
    texts = [*X, "Ann Lee \n left Rome . ", "\ufeffBob met Ann Lee", " Acme "]
    found = model.predict(texts)
    assert any(found)
    assert model.predict(texts, known=found) == found
