"""Learning from some boundaries, and dictionaries whose words have tags."""

import numpy as np
import pytest

from skstruct import (
    L1CRF,
    PartialWords,
    Segmenter,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct.datasets import load_segmentation
from skstruct.metrics import word_f1_score

TEXTS = ["abcab", "cabab", "abc", "bcab"] * 3
ROWS = [
    PartialWords(["ab", "c a", "b"]),
    PartialWords(["c", "a b", "ab"]),
    ["ab", "c"],
    PartialWords(["b c a b"]),
] * 3
LABELS = [
    ["B", "E", {"B", "S"}, {"E", "S"}, "S"],
    ["S", {"B", "S"}, {"E", "S"}, "B", "E"],
    ["B", "E", "S"],
    [{"B", "S"}, None, None, {"E", "S"}],
] * 3
JOINT = [[("ab", "N"), ("c", "V"), ("ab", "N")], [("c", "V"), ("ab", "P"), ("ab", "N")]]
TAGGED = ["abcab", "cabab"] * 4


@pytest.mark.parametrize(
    "tagger",
    [
        StructuredPerceptron("char", random_state=0),
        L1CRF("char", constraints="BMES", c1=0.1, max_iter=20, random_state=0),
    ],
)
def test_it_learns_what_the_tagger_learns_from_sets_of_labels(tagger):
    segmenter = Segmenter(tagger).fit(TEXTS, ROWS)
    sets = tagger.fit([list(text) for text in TEXTS], LABELS)
    inner = segmenter.tagger_
    assert inner.classes_.tolist() == sets.classes_.tolist()
    scores = [each.decision_function(list(map(list, TEXTS))) for each in (inner, sets)]
    np.testing.assert_array_equal(*scores)


def test_some_boundaries_are_better_than_few_sentences():
    X, words = load_segmentation()
    rng = np.random.default_rng(0)
    partly = []
    for row in words[20:120]:
        text = "".join(row)
        ends = set(np.cumsum(list(map(len, row))).tolist())
        known = rng.random(len(text)) < 0.5
        marks = [
            ("|" if t + 1 in ends else "-") if known[t] else " "
            for t in range(len(text))
        ]
        line = "".join(c + m for c, m in zip(text, marks))[:-1]
        partly.append(PartialWords(line.replace("-", "").split("|")))
    tagger = StructuredPerceptron("char", random_state=0)
    few = Segmenter(tagger).fit(X[:20], words[:20])
    more = Segmenter(tagger).fit(X[:120], [*words[:20], *partly])
    assert more.score(X[120:], words[120:]) > few.score(X[120:], words[120:]) + 0.05


def test_only_words_with_known_boundaries_count():
    gold = [PartialWords(["ab", "c d", "e"])]
    assert word_f1_score(gold, [["ab", "c", "d", "e"]]) == 1.0
    assert word_f1_score(gold, [["ab", "cd", "e"]]) == 1.0
    assert word_f1_score(gold, [["a", "b", "cd", "e"]]) == 0.4
    assert word_f1_score(gold, [["ab", "cde"]]) == pytest.approx(2 / 3)
    gold = [PartialWords([("ab", {"N", "V"}), ("c d", None), ("e", "N")])]
    right = [("ab", "V"), ("cd", "X"), ("e", "N")]
    assert word_f1_score(gold, [right]) == 1.0
    assert word_f1_score(gold, [[("ab", "X"), *right[1:]]]) == 0.5


def test_tags_of_some_words():
    rows = [
        *JOINT * 3,
        PartialWords([("ab", "N"), "cab"]),
        PartialWords(["c a b a", ("b", "N")]),
    ]
    segmenter = Segmenter(StructuredPerceptron("char", random_state=0))
    segmenter.fit(TAGGED, rows)
    assert segmenter.tagged_ and segmenter.predict(["abcab"]) == [JOINT[0]]
    assert segmenter.score(TAGGED, rows) > 0.9
    segmenter.partial_fit(["cab"], [PartialWords(["c", "a b"])])
    with pytest.raises(ValueError, match="sequence 1: has tags"):
        segmenter.fit(["ab", "ab"], [["ab"], PartialWords([("ab", "N")])])


def test_white_space_is_a_boundary():
    segmenter = Segmenter(StructuredPerceptron("char", random_state=0))
    segmenter.fit(["ab cab", "cab"], [PartialWords(["a b c a b"]), ["c", "ab"]])
    with pytest.raises(ValueError, match="sequence 0.*white space inside of the word"):
        segmenter.fit(["ab cab", "cab"], [PartialWords(["a bc a b"]), ["c", "ab"]])
    with pytest.raises(ValueError, match="must spell the text"):
        segmenter.fit(["ab"], [PartialWords(["a c"])])


def test_what_needs_whole_words_says_so():
    segmenter = WordSegmenter(max_iter=1).fit(["ab"], [["ab"]])
    with pytest.raises(ValueError, match="sequence 3: is partly segmented"):
        segmenter.score(["ab"] * 4, [["ab"]] * 3 + [PartialWords(["a b"])])


def test_a_search_for_words_learns_from_them_as_from_flags():
    X, y = ["abcab", "ca b"] * 4, [PartialWords(["ab", "c a", "b"]), ["ca", "b"]] * 4
    flags = [[True, False, True, None, True], ["ca", "b"]] * 4
    partly, flagged = (
        WordSegmenter(max_iter=3, random_state=0).fit(X, rows).decision_function(X)
        for rows in (y, flags)
    )
    np.testing.assert_array_equal(partly, flagged)
    with pytest.raises(ValueError, match="sequence 0: the words must spell"):
        WordSegmenter().fit(["ab"], [PartialWords(["a c"])])
    with pytest.raises(ValueError, match="sequence 0: has tags"):
        WordSegmenter().fit(["ab"], [PartialWords([("ab", "N")])])


def test_tags_of_a_dictionary():
    segmenter = Segmenter(StructuredPerceptron("char", random_state=0))
    segmenter.fit(TAGGED, JOINT * 4)
    assert segmenter.predict(["abcab"]) == [JOINT[0]]
    found = segmenter.predict(["abcab"], {"ab": "P", "c": None})
    assert found == [[("ab", "P"), ("c", "V"), ("ab", "P")]]
    found = segmenter.predict(["abcab"], {"abc": {"P", "V"}})[0]
    assert found[0][0] == "abc" and found[0][1] in "PV"
    # No label was seen for a P of one character.
    assert segmenter.predict(["cab"], {"c": "P"})[0][0] == ("c", "P")
    for words, _ in segmenter.predict_kbest(["abcab"], 3, {"ab": ["P"]})[0]:
        assert [tag for word, tag in words if word == "ab"] == ["P", "P"]
    with pytest.raises(ValueError, match="'X' of the word 'ab' is no tag"):
        segmenter.predict(["abcab"], {"ab": "X"})
    with pytest.raises(ValueError, match="must have a tag"):
        segmenter.predict(["abcab"], {"ab": 0.5})
    plain = Segmenter(StructuredPerceptron("char")).fit(["abc"], [["ab", "c"]])
    assert plain.predict(["abc"], {"abc": None}) == [["abc"]]
    with pytest.raises(ValueError, match="the model predicts none"):
        plain.predict(["abc"], {"abc": "N"})
