"""What a span tagger's tagger learns from: tokens of pieces, and labels that spell spans."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from skstruct import PartialSpans, SpanTagger, StructuredPerceptron
from skstruct._data.labels import AllBut
from skstruct._taggers.span_training import all_but

TEXT = "Ann Lee left.\nBob came."
SPANS = [(0, 7, "PER"), (14, 17, "PER")]


def learned(**options):
    """(sequences, labels) that the tagger inside is given."""
    seen = []

    class Noting(StructuredPerceptron):
        def fit(self, X, y, sample_weight=None, **given):
            seen.append(([list(x) for x in X], [list(labels) for labels in y]))
            return super().fit(X, y, sample_weight, **given)

    tagger = Noting(random_state=0)
    model = SpanTagger(tagger, layout=False, **options).fit([TEXT], [SPANS])
    return *seen[0], model


@pytest.mark.parametrize("pieces, n", [("lines", 2), ("texts", 1)])
def test_texts_are_cut_into_pieces_and_spans_are_labels(pieces, n):
    X, y, model = learned(pieces=pieces, scheme="BIO")
    assert len(X) == n and model.pieces_ == pieces
    assert sum(X, []) == ["Ann", "Lee", "left", ".", "Bob", "came", "."]
    assert sum(y, []) == ["B-PER", "I-PER", "O", "O", "B-PER", "O", "O"]
    assert model.alignment_["spans"] == 2


def test_the_tagger_obeys_the_scheme_unless_it_names_another():
    model = SpanTagger(StructuredPerceptron(random_state=0), scheme="BIOES")
    assert model.fit([TEXT], [SPANS]).tagger_.constraints == "BIOES"
    other = SpanTagger(StructuredPerceptron(constraints="BMES"), scheme="BIO")
    with pytest.raises(ValueError, match="the tagger has constraints='BMES'"):
        other.fit([TEXT], [SPANS])


def test_spans_that_do_not_end_where_tokens_do_are_told():
    with pytest.warns(UserWarning, match="1 of 1 span does not end where tokens do"):
        SpanTagger(StructuredPerceptron(random_state=0)).fit([TEXT], [[(0, 6, "PER")]])


def test_outside_of_the_types_annotated_any_other_label_may_stand():
    found = all_but(frozenset({"PER"}), "BIO")
    assert isinstance(found, AllBut)
    assert "B-LOC" in found and "O" in found
    assert "B-PER" not in found and "I-PER" not in found
    partly = PartialSpans([(0, 7, "PER")], types={"PER"})
    model = SpanTagger(StructuredPerceptron(random_state=0), scheme="BIO")
    model.fit([TEXT, TEXT], [[*SPANS, (18, 22, "LOC")], partly])
    assert model.predict([TEXT])[0][0] == (0, 7, "PER")


def test_texts_without_a_span_are_said():
    tagger = SpanTagger(StructuredPerceptron(max_iter=1, random_state=0))
    texts = ["Ann met Bob.", "He left."]
    for y in ([[], []], [[(0, 3, None)], []]):
        with pytest.warns(UserWarning, match="y holds no span"):
            tagger.fit(texts, y)
    tagger.fit(texts, [[(0, 3, "PER")], []])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tagger.partial_fit(texts[1:], [[]])  # a part may hold none


def test_a_tagger_of_others_may_predict_arrays():
    class Arrays(BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return [np.array(["B-A", *["O"] * (len(tokens) - 1)]) for tokens in X]

    tagger = SpanTagger(Arrays(), scheme="BIO").fit(["Ann met"], [[(0, 3, "A")]])
    assert tagger.predict(["Bob left", ""]) == [[(0, 3, "A")], []]
