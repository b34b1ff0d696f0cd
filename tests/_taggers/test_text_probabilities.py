"""The k best analyses of texts, and probabilities of their words and spans."""

import itertools

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from skstruct import L1CRF, Segmenter, SpanTagger, StructuredPerceptron
from skstruct._data.spans import Span
from skstruct._taggers.text_probabilities import best_sums

TEMPLATES = ["U0:%x[0,0]", "U1:%x[-1,0]", "B"]


@pytest.mark.parametrize("k", [1, 3, 10])
def test_the_best_sums_are_those_of_all_sums(k):
    random = np.random.RandomState(0)
    for _ in range(20):
        pieces = [
            sorted(
                (([f"{i}.{j}"], float(score)) for j, score in enumerate(scores)),
                key=lambda each: -each[1],
            )
            for i, scores in enumerate(random.normal(size=(3, 4)))
        ]
        every = sorted(
            (
                (
                    sum((spans for spans, _ in parts), []),
                    sum(score for _, score in parts),
                )
                for parts in itertools.product(*pieces)
            ),
            key=lambda each: -each[1],
        )
        found = best_sums(pieces, k)
        assert [spans for spans, _ in found] == [spans for spans, _ in every[:k]]
        np.testing.assert_allclose(
            [score for _, score in found], [score for _, score in every[:k]]
        )
    assert best_sums([], k) == [([], 0.0)]


def test_the_k_best_spans_of_pieces_are_those_of_their_text():
    X = ["Ann in Rome.\nBob in Bonn.", "Rome, Bob.\n\nBonn, Ann."]
    y = [
        [(0, 3, "PER"), (7, 11, "LOC"), (13, 16, "PER"), (20, 24, "LOC")],
        [(0, 4, "LOC"), (6, 9, "PER"), (12, 16, "LOC"), (18, 21, "PER")],
    ]
    tagger = SpanTagger(StructuredPerceptron(random_state=0), pieces="lines").fit(X, y)
    ranked = tagger.predict_kbest([*X, " "], k=4)
    assert [best[0][0] for best in ranked] == tagger.predict([*X, " "])
    for best in ranked[:2]:
        scores = [score for _, score in best]
        assert len(best) == 4 and scores == sorted(scores, reverse=True)
        assert len({tuple(spans) for spans, _ in best}) == 4
        assert all(isinstance(span, Span) for spans, _ in best for span in spans)
    assert ranked[2] == [([], 0.0)]


def test_words_above_a_probability():
    X, y = (
        ["ab cab", "abc", "", "cba ab"],
        [["ab", "cab"], ["abc"], [], ["c", "ba", "ab"]],
    )
    model = Segmenter(L1CRF(TEMPLATES, c1=0.1, random_state=0)).fit(X, y)
    found = model.predict_segment_proba(X, min_proba=1e-9)
    spans = [[span for span, _ in each] for each in found]
    assert [dict(each) for each in model.predict_segment_proba(X, spans)] == [
        dict(each) for each in found
    ]
    for text, each in zip(X, found):  # every character is in one word
        for t, c in enumerate(text):
            total = sum(p for (a, b, _), p in each if a <= t < b)
            assert total == pytest.approx(0.0 if c == " " else 1.0, abs=1e-6)


# -- as many analyses as there are -----------------------------------------------------
def segmentations(text):
    """All that keep to the white space of a text."""
    each = []
    for part in text.split():
        cuts = itertools.product([False, True], repeat=len(part) - 1)
        each.append([_parts(part, where) for where in cuts])
    return [sum(words, []) for words in itertools.product(*each)]


def _parts(part, where):
    found = [part[0]]
    for c, is_cut in zip(part[1:], where):
        if is_cut:
            found.append(c)
        else:
            found[-1] += c
    return found


@pytest.mark.parametrize("scheme", ["BMES", "BI"])
@pytest.mark.parametrize("learner", [StructuredPerceptron, L1CRF])
def test_there_are_k_segmentations_if_so_many_exist(learner, scheme):
    """Several labellings spell one segmentation, of texts of any length."""
    X, y = ["ab cab", "abc", "cba ab"], [["ab", "cab"], ["abc"], ["c", "ba", "ab"]]
    model = Segmenter(learner(TEMPLATES, random_state=0), scheme=scheme).fit(X, y)
    texts = ["a", "ab", "a b", "abc", "ab c", "", "abca", "a bc", "cab ba"]
    for k in (1, 2, 3, 5, 100):
        for text, best in zip(texts, model.predict_kbest(texts, k)):
            expected = segmentations(text) if text else [[]]
            found = [words for words, _ in best]
            assert len(found) == min(k, len(expected)), (text, k)
            assert all(words in expected for words in found)
            assert len({tuple(words) for words in found}) == len(found)
            scores = [score for _, score in best]
            assert scores == sorted(scores, reverse=True)
    # What is asked for first stays first.
    few, many = (model.predict_kbest(texts, k) for k in (2, 6))
    assert [best[:2] for best in many] == few
    (fixed,) = model.predict_kbest(["abca"], 10, dictionary=["bc"])
    assert [words for words, _ in fixed] == [["a", "bc", "a"]]


def test_there_are_k_sets_of_spans_if_so_many_exist():
    y = [[(0, 1, "X")], [(2, 3, "X")], [(0, 3, "X")]]
    tagger = SpanTagger(StructuredPerceptron(random_state=0), scheme="BIOES")
    tagger.fit(["a b", "b a", "c d"], y)
    (best,) = tagger.predict_kbest(["a b"], 100)
    found = {tuple(spans) for spans, _ in best}
    assert len(found) == len(best) == 5  # none, either, both, and one of both tokens
    for k in range(1, 6):
        assert tagger.predict_kbest(["a b"], k)[0] == best[:k]


def test_the_least_probability_may_go_by_type():
    X = ["Ann in Rome.", "Bob in Bonn.", "Rome, Bob.", "Bonn, Ann."]
    y = [
        [(0, 3, "PER"), (7, 11, "LOC")],
        [(0, 3, "PER"), (7, 11, "LOC")],
        [(0, 4, "LOC"), (6, 9, "PER")],
        [(0, 4, "LOC"), (6, 9, "PER")],
    ]
    model = SpanTagger(L1CRF(c1=0.5, random_state=0)).fit(X, y)
    every = model.predict_segment_proba(X, min_proba=0.01)
    for least, low in ({"PER": 0.6, "LOC": 0.02}, 0.6), ({"LOC": 0.02, None: 0.9}, 0.9):
        expected = [
            [(s, p) for s, p in row if p >= (0.02 if s.label == "LOC" else low)]
            for row in every
        ]
        assert model.predict_segment_proba(X, min_proba=least) == expected
        assert expected not in (every, model.predict_segment_proba(X, min_proba=low))
    for wrong, message in (
        ({"PER": 0.5}, "min_proba names no probability for the type 'LOC'"),
        ({"X": 0.5, None: 0.5}, "no label has the type 'X'; known are 'LOC', 'PER'"),
        ({"PER": 0.0, None: 0.5}, "min_proba of the type 'PER' must be a number above"),
    ):
        with pytest.raises(ValueError, match=message):
            model.predict_segment_proba(X, min_proba=wrong)


@pytest.mark.parametrize("known", [None, [[(0, 3, "PER")], [], [(0, 4, "O")], []]])
def test_predicted_spans_that_are_probable_enough(known):
    """Those of ``predict``, by the probabilities of ``predict_segment_proba``."""
    X = ["Ann in Rome.", "Bob in Bonn.", "Rome, Bob.", "Bonn, Ann."]
    y = [
        [(0, 3, "PER"), (7, 11, "LOC")],
        [(0, 3, "PER"), (7, 11, "LOC")],
        [(0, 4, "LOC"), (6, 9, "PER")],
        [(0, 4, "LOC"), (6, 9, "PER")],
    ]
    model = make_pipeline(SpanTagger(L1CRF(c1=0.5, random_state=0))).fit(X, y)
    pairs = model[-1].predict_segment_proba(X, known=known)
    assert [[span for span, _ in row] for row in pairs] == model.predict(X, known=known)
    every = sorted(p for row in pairs for _, p in row)
    for least in every[1:-1:2]:
        for given in least, {"PER": least, None: 0.01}, {"LOC": 1, "PER": least}:
            of = given if isinstance(given, dict) else {None: given}
            expected = [
                [s for s, p in row if p >= of.get(s.label, of.get(None))]
                for row in pairs
            ]
            assert model.predict(X, known=known, min_proba=given) == expected
    assert model.predict([], min_proba=0.5) == []
    for wrong, message in (
        ({"PER": 0.5}, "min_proba names no probability for the type 'LOC'"),
        ({"X": 0.5, None: 0.5}, "no label has the type 'X'; known are 'LOC', 'PER'"),
        ({"PER": 1.5, None: 0.5}, "min_proba of the type 'PER' must be a number above"),
        (0, "min_proba must be a number above 0, up to 1, got 0"),
        (True, "min_proba must be a number above 0, up to 1, got True"),
        ("0.5", "min_proba must be a number above 0, up to 1, got '0.5'"),
    ):
        with pytest.raises(ValueError, match=message):
            model.predict(X, min_proba=wrong)
