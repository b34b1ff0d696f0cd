"""What a model reads and predicts: the tagger inside, its tokens, and what y holds."""

import numpy as np
import pytest

from skstruct import Segmenter, SpanTagger, StructuredPerceptron, WordSegmenter
from skstruct._data.elements import word_of
from skstruct.inspection.explain_taggers import (
    as_characters,
    kind_of,
    positions_of,
    seen_by_tagger,
    tokens_shown,
    words_of,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize(
    "X, y, kind",
    [
        ([["the", "dog"]], [["D", "N"]], "labels"),
        ([["the", "dog"]], [[]], "labels"),
        (["thedog"], [["the", "dog"]], "words"),
        (["thedog"], [[("the", "D"), ("dog", "N")]], "words"),
        (["the dog"], [[(4, 7, "ANIMAL")]], "spans"),
        (["the dog"], [[]], "spans"),
        ([["the", "dog"]], [[(2, "det"), (0, "root")]], "trees"),
        ([[("the", "D"), ("dog", "N")]], [[2, 0]], "trees"),
        ([[("the", "D"), ("dog", "N")]], [[2, 1]], "labels"),  # a circle
        ([["the", "dog"]], [[2, 0]], "labels"),  # numbers of words alone
    ],
)
def test_what_y_holds(X, y, kind):
    assert kind_of(X, y) == kind


def test_words_and_tokens_to_show():
    assert word_of("dog") == word_of(("dog", "N")) == "dog"
    assert word_of({"w": "dog"}) == "{'w': 'dog'}"
    assert words_of("the dog.") == ["the", "dog", "."]
    assert tokens_shown([("the", "dog")]) == [["the", "dog"]]
    assert tokens_shown([np.zeros((2, 3)), np.zeros((1, 3))]) == [["0", "1"], ["0"]]


def test_spans_as_labels_of_characters():
    texts, gold, found = as_characters(
        ["ab c"], [[(0, 2, "A"), (3, 4, None)]], [[(0, 1, "A"), (3, 4, "B")]]
    )
    assert texts == [["a", "b", " ", "c"]]
    assert gold == [["B-A", "I-A", "O", None]]
    assert found == [["B-A", "O", "O", "B-B"]]
    assert as_characters(["ab"], [[]])[2] is None


def test_the_tagger_inside():
    tagger = StructuredPerceptron("word", max_iter=2, random_state=0)
    X, y = [["the", "dog"], [], ["a"]], [["D", "N"], [], ["D"]]
    seen = seen_by_tagger(tagger.fit(X, y), X, y)
    assert seen.tagger is tagger and seen.y == y and seen.n == 3
    assert seen.classes.tolist() == ["D", "N"]
    assert seen.grouped([[1, 2], [], [3]]) == [[1, 2], [], [3]]
    assert positions_of(tagger, X) is None


def test_texts_are_seen_as_their_pieces_and_characters():
    spans = SpanTagger(StructuredPerceptron("word", max_iter=2, random_state=0))
    texts, y = ["Ann met Bob.", ""], [[(0, 3, "P"), (8, 11, "P")], []]
    seen = seen_by_tagger(spans.fit(texts, y), texts, y)
    assert sum(map(len, seen.y)) == 4 and seen.n == 2
    assert positions_of(spans, texts) == [[0, 4, 8, 11], []]
    words = Segmenter(StructuredPerceptron("char", max_iter=2, random_state=0))
    words.fit(["ab c"], [["ab", "c"]])
    seen = seen_by_tagger(words, ["ab c"], [["ab", "c"]])
    assert [len(labels) for labels in seen.y] == [3]
    assert positions_of(words, ["ab c"]) == [[0, 1, 3]]


def test_without_a_tagger_inside():
    model = WordSegmenter(max_iter=1, random_state=0).fit(["ab c"], [["ab", "c"]])
    with pytest.raises(TypeError, match="is needed, got a WordSegmenter"):
        seen_by_tagger(model, ["ab"])
