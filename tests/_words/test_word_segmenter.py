"""The word-based segmenter as an estimator."""

import pickle
from copy import copy

import numpy as np
import pytest
from inside import training_of
from segment_oracle import segmentations
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from word_segmenter_cases import X, Y, new, same

import skstruct
from skstruct import (
    BaggingShuffleAverager,
    KBestReranker,
    ParameterMixer,
    WordSegmenter,
)
from skstruct._data.inputs import Sequences
from skstruct.metrics import word_f1_score

TEXTS = ["我喜欢图书馆", "他来北京"]
WORDS = [["我", "喜欢", "图书馆"], ["他", "来", "北京"]]


@pytest.fixture(scope="module")
def fitted():
    return new().fit(X[:120], Y[:120])


# -- words -----------------------------------------------------------------------------
@pytest.mark.parametrize("templates", ["zsz18", "zc14"])
@pytest.mark.parametrize("update", ["early", "max-violation", "standard"])
def test_overfits(templates, update):
    segmenter = new(templates=templates, update=update, max_iter=30).fit(X, Y)
    predicted = segmenter.predict(X)
    assert (
        type(predicted) is Sequences
        and type(predicted[0]) is list
        and type(predicted[0][0]) is str
    )
    assert ["".join(words) for words in predicted] == X
    score = segmenter.score(X, Y)
    assert type(score) is float and score >= 0.999
    assert score == pytest.approx(word_f1_score(Y, predicted), abs=1e-12)


def test_does_better_than_characters_on_unseen_text(fitted):
    characters = word_f1_score(Y[120:], [list(text) for text in X[120:]])
    assert fitted.score(X[120:], Y[120:]) > max(0.7, characters + 0.1)


def test_exact_search_scores_best(fitted):
    exact = clone(fitted).set_params(beam_size=None)
    exact.fit(X[:40], Y[:40])
    scores = {
        b: exact.set_params(beam_size=b).decision_function(X[:60])
        for b in (1, 2, 8, None)
    }
    assert all((scores[b] <= scores[None] + 1e-9).all() for b in scores)
    assert scores[8].sum() > scores[1].sum()


def test_white_space(fitted):
    text = "".join(X[:4])
    parts = [text[:3], text[3:10], text[10:11], text[11:]]
    words = fitted.predict(["  " + " \u3000".join(parts) + "\n"])[0]
    assert "".join(words) == text
    assert set(np.cumsum(list(map(len, words)))) >= {3, 10, 11}
    assert fitted.predict(["", " \t", "好"]) == [[], [], ["好"]]
    np.testing.assert_array_equal(fitted.decision_function(["", " \t"]), 0.0)
    texts = ["the cat sat", "a  dog barks loudly "]
    split = [t.split() for t in texts]
    assert new().fit(texts, split).predict(texts) == split


def test_odd_characters():
    texts = ["\x00#\ud800𝒳", "a\x00b"]
    words = [["\x00#", "\ud800𝒳"], ["a\x00", "b"]]
    segmenter = new(max_iter=20).fit(texts, words)
    assert segmenter.predict(texts) == words


# -- constraints -----------------------------------------------------------------------
def test_boundaries(fitted):
    free = fitted.predict(X[120:])
    for text, words in zip(X[120:], free):
        starts = set(np.cumsum([0] + [len(w) for w in words]).tolist())
        everything = [k in starts for k in range(len(text))]
        assert fitted.predict([text], boundaries=[everything]) == [words]
        assert fitted.predict([text], boundaries=[[None] * len(text)]) == [words]
        opposite = [True] + [not flag for flag in everything[1:]]
        found = fitted.predict([text], boundaries=[np.array(opposite)])[0]
        assert "".join(found) == text
        stops = set(np.cumsum([0] + [len(w) for w in found]).tolist()) - {len(text)}
        assert stops == {k for k, flag in enumerate(opposite) if flag}
    assert fitted.predict(X[120:], boundaries=[None] * len(X[120:])) == free
    assert fitted.predict(["好 的"], boundaries=[[None, False, None]]) == [["好", "的"]]


def test_dictionary(fitted):
    text = "他在北京大学图书馆看书。"
    assert "北京大学图书馆" in fitted.predict([text], dictionary=["北京大学图书馆"])[0]
    found = fitted.predict([text], dictionary={"北京大", "京大学", "。"})[0]
    assert "北京大" in found and found[-1] == "。" and "".join(found) == text
    assert fitted.predict([text], dictionary=[]) == fitted.predict([text])
    # White space and flags come first.
    assert fitted.predict(["北京 大学"], dictionary=["北京大学"])[0][0] != "北京大学"
    split = [None] * 4 + [True] + [None] * 7
    found = fitted.predict([text], dictionary=["北京大学", "看书"], boundaries=[split])[
        0
    ]
    assert "看书" in found and 4 in np.cumsum([len(w) for w in found])
    single = fitted.predict([text], dictionary=list(text))[0]
    assert single == list(text)


def test_partial_annotation():
    flags = [[True, True, False, True, None, False], [None, True, True, None]]
    segmenter = new(max_iter=10).fit(TEXTS, flags)
    found = segmenter.predict(TEXTS)
    assert found[0][:2] == ["我", "喜欢"] and found[1][:2] == ["他", "来"]
    # All known is the same as words.
    full = [
        [k in np.cumsum([0] + [len(w) for w in words]) for k in range(len(t))]
        for t, words in zip(X, Y)
    ]
    same(new().fit(X[:60], full[:60]), new().fit(X[:60], Y[:60]))
    same(new().fit(X[:60], full[:30] + Y[30:60]), new().fit(X[:60], Y[:60]))
    # Half of the flags still teach.
    generator = np.random.default_rng(0)
    some = [[f if generator.random() < 0.5 else None for f in flags] for flags in full]
    assert new(max_iter=10).fit(X[:120], some[:120]).score(X[120:], Y[120:]) > 0.6
    # White space needs a flag, which says nothing.
    segmenter = new().fit(
        ["我 喜欢", " 他来"], [[None, False, True, False], [False, True, None]]
    )
    assert segmenter.predict(["我 喜欢"]) == [["我", "喜欢"]]


# -- the k best ------------------------------------------------------------------------
def flags_of(words):
    return [flag for word in words for flag in [True] + [False] * (len(word) - 1)]


@pytest.mark.parametrize("templates", ["zsz18", "zc14"])
def test_kbest_of_a_wide_beam_is_enumeration(templates):
    segmenter = new(templates=templates, max_iter=2).fit(X[:40], Y[:40])
    segmenter.set_params(beam_size=None)
    for text in (X[120][:1], X[121][:2], X[122][:9]):
        (ranked,) = segmenter.predict_kbest([text], 1000)
        everything = [tuple(words) for words in segmentations(text)]
        assert sorted(tuple(words) for words, _ in ranked) == sorted(everything)
        # The score of one segmentation: that of the best, where no other is allowed.
        alone = [
            segmenter.predict_kbest([text], 1, boundaries=[flags_of(words)])
            for words, _ in ranked
        ]
        assert [best[0][0] for (best,) in alone] == [words for words, _ in ranked]
        assert [best[0][1] for (best,) in alone] == pytest.approx(
            [score for _, score in ranked], abs=1e-9
        )
        assert segmenter.predict_kbest([text], 3)[0] == ranked[:3]
        (wide,) = copy(segmenter).set_params(beam_size=100).predict_kbest([text], 1000)
        assert {tuple(words): score for words, score in wide} == {
            tuple(w): score for w, score in ranked
        }


@pytest.mark.parametrize("templates", ["zsz18", "zc14"])
def test_kbest(templates, tmp_path):
    segmenter = new(templates=templates, max_iter=3).fit(X[:60], Y[:60])
    found = segmenter.predict_kbest(X, 6)
    assert (
        type(found) is Sequences
        and type(found[0]) is list
        and type(found[0][0]) is tuple
    )
    assert type(found[0][0][0]) is list and type(found[0][0][1]) is float
    assert [ranked[0][0] for ranked in found] == segmenter.predict(X)
    assert [ranked[0][1] for ranked in found] == segmenter.decision_function(X).tolist()
    for text, ranked in zip(X, found):
        assert all("".join(words) == text for words, _ in ranked)
        assert len({tuple(words) for words, _ in ranked}) == len(ranked) <= 6
        assert [score for _, score in ranked] == sorted(
            (score for _, score in ranked), reverse=True
        )
    assert np.mean([len(ranked) for ranked in found]) > 5
    assert segmenter.set_params(n_jobs=2).predict_kbest(X, 6) == found
    segmenter.save(tmp_path / "model")
    assert skstruct.load(tmp_path / "model").predict_kbest(X, 6) == found
    assert [ranked[:2] for ranked in found] == segmenter.predict_kbest(X, 2)
    # A beam of one state has one segmentation to offer.
    assert {
        len(ranked) for ranked in segmenter.set_params(beam_size=1).predict_kbest(X)
    } == {1}


def test_kbest_has_more_right_words_than_the_best(fitted):
    def right(words, true):
        return len(
            set(np.cumsum([len(w) for w in words]))
            & set(np.cumsum([len(w) for w in true]))
        )

    gain = 0
    for ranked, true in zip(fitted.predict_kbest(X[120:], 5), Y[120:]):
        gain += max(right(words, true) for words, _ in ranked) - right(
            ranked[0][0], true
        )
    assert gain > 0


def test_kbest_obeys_white_space_dictionary_and_boundaries(fitted):
    text = "他在北京大学图书馆看书。"
    for options, inside in [
        ({"dictionary": ["北京大学图书馆"]}, "北京大学图书馆"),
        (
            {"boundaries": [[None] * 4 + [True, False, False, True] + [None] * 4]},
            "大学图",
        ),
    ]:
        (ranked,) = fitted.predict_kbest([text], 8, **options)
        assert len(ranked) > 1 and all(inside in words for words, _ in ranked)
        assert ranked[0][0] == fitted.predict([text], **options)[0]
    (ranked,) = fitted.predict_kbest([" 他在 北京大 学\n"], 8)
    assert all({2, 5} <= set(np.cumsum([len(w) for w in words])) for words, _ in ranked)
    assert fitted.predict_kbest(["好", "", " \t", "ab"], 5)[:3] == [
        [(["好"], fitted.decision_function(["好"])[0])], [([], 0.0)], [([], 0.0)]
    ]  # fmt: skip
    assert fitted.predict_kbest([]) == []
    (everything,) = fitted.predict_kbest(["你好"], 10**9, boundaries=[[True, None]])
    assert sorted(words for words, _ in everything) == [["你", "好"], ["你好"]]


def test_kbest_of_bad_input(fitted):
    for k in (0, -1, 2.0, True, "two", None):
        with pytest.raises(
            ValueError, match=f"k must be an int of at least 1, got {k!r}"
        ):
            fitted.predict_kbest(["你好"], k)
    with pytest.raises(ValueError, match="X: sequence 1: expected a text"):
        fitted.predict_kbest(["你好", 3])
    with pytest.raises(ValueError, match="sequence 0, position 0: a flag must be"):
        fitted.predict_kbest(["你好"], boundaries=[[1, None]])
    with pytest.raises(ValueError, match="dictionary"):
        fitted.predict_kbest(["你好"], dictionary=["a b"])
    with pytest.raises(NotFittedError):
        WordSegmenter().predict_kbest(["你好"])


@pytest.mark.parametrize("meta", [BaggingShuffleAverager, ParameterMixer])
def test_kbest_of_averages_and_mixtures(meta):
    combined = meta(new(max_iter=2), 2, random_state=0).fit(X[:40], Y[:40])
    found = combined.predict_kbest(X[120:], 4, dictionary=["我们"])
    assert found == combined.estimator_.predict_kbest(X[120:], 4, dictionary=["我们"])
    assert [ranked[0][0] for ranked in found] == combined.predict(
        X[120:], dictionary=["我们"]
    )
    assert (
        combined.set_params(n_jobs=2).predict_kbest(X[120:], 4, dictionary=["我们"])
        == found
    )


@pytest.mark.parametrize("meta", [None, BaggingShuffleAverager])
def test_kbest_can_be_reranked(meta, tmp_path):
    base = new(max_iter=2) if meta is None else meta(new(max_iter=2), 2, random_state=0)
    reranker = KBestReranker(base, k=5, cv=3, max_iter=3, random_state=0)
    reranker.fit([*X[:60], ""], [*Y[:60], []], X_val=X[60:80], y_val=Y[60:80])
    predicted = reranker.predict([*X[120:], "", "北京 大学"])
    assert ["".join(words) for words in predicted] == [*X[120:], "", "北京大学"]
    assert reranker.score(X[120:], Y[120:]) == pytest.approx(
        word_f1_score(Y[120:], predicted[:-2])
    )
    assert reranker.score(X[:60], Y[:60]) > 0.9 and reranker.oracle_ > 0.7
    assert len(reranker.history_) == 3 and all(
        "validation_score" in h for h in reranker.history_
    )
    reranker.save(tmp_path / "model")
    same(reranker, skstruct.load(tmp_path / "model"))
    same(reranker, clone(reranker).set_params(n_jobs=2).fit(X[:60], Y[:60]))


# -- bad input -------------------------------------------------------------------------
BAD = [
    ("abc", [["abc"]], r"must be a list of texts"),
    ([["我"]], [["我"]], r"X: sequence 0: expected a text"),
    (TEXTS, None, "must be a list of lists of words"),
    (TEXTS, WORDS[:1], "same number of sequences, got 2 and 1"),
    (TEXTS[:1], [[True], [None]], "same number of sequences, got 1 and 2"),
    (TEXTS, [WORDS[0], ["他", "去", "北京"]], r"sequence 1, position 1: the words must spell the text"),
    (TEXTS, [WORDS[0], ["他", "来", "北"]], r"sequence 1, position 3: the words must spell"),
    (TEXTS, [WORDS[0], ["他", "", "来", "北京"]], "position 1: the word must be a str, and not empty"),
    (TEXTS, [WORDS[0], ["他", 3, "北京"]], r"sequence 1, position 1: expected a word"),
    (TEXTS, [WORDS[0], ["他", "来 北", "京"]], r"sequence 1, position 1: a word must not hold white space"),
    (["我喜 欢"], [["我", "喜欢"]], r"sequence 0, position 1: the text has white space inside"),
    (TEXTS, [[(w, "N") for w in words] for words in WORDS], "position 0: expected a word"),
    (TEXTS, [WORDS[0], [True, None, True]], "sequence 1: expected one flag for each of the 4"),
    (TEXTS, [WORDS[0], [None, "来", None, None]], "sequence 1, position 1: a flag must be"),
    (TEXTS, [WORDS[0], [False, None, None, None]], "sequence 1, position 0: False, but a word starts"),
    (["我 喜"], [[None, None, False]], "sequence 0, position 2: False, but a word starts"),
    (["", " "], [[], []], "X holds no character"),
    ([], [], "X is empty"),
]  # fmt: skip


@pytest.mark.parametrize("x, y, message", BAD)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_input(fitted, method, x, y, message):
    segmenter = clone(fitted).fit(TEXTS, WORDS)
    before, model = vars(segmenter).copy(), pickle.dumps(training_of(segmenter))
    with pytest.raises(ValueError, match=message):
        getattr(segmenter, method)(x, y)
    assert vars(segmenter) == before and pickle.dumps(training_of(segmenter)) == model


def test_bad_options(fitted):
    for flags, message in [
        ([], "as many items as X, got 0 and 1"),
        ([[True]], "sequence 0: expected one flag for each of the 2"),
        ([[1, None]], "sequence 0, position 0: a flag must be"),
        (["ab"], "sequence 0 must be None or a list of flags"),
        ([[False, None]], "sequence 0, position 0: False"),
        ("ab", "must be a list with flags"),
    ]:
        with pytest.raises(ValueError, match=message):
            fitted.predict(["你好"], boundaries=flags)
    with pytest.raises(ValueError, match="dictionary"):
        fitted.predict(["你好"], dictionary=["a b"])
    with pytest.raises(ValueError, match="knows no tags"):
        fitted.score(TEXTS, [[(w, "N") for w in words] for words in WORDS])
    with pytest.raises(NotFittedError):
        WordSegmenter().predict(["你好"])
    for parameter, value in [
        ("templates", "other"), ("beam_size", 0), ("update", "late"), ("dropout", 1.0), ("min_count", 0)
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=parameter):
            WordSegmenter(**{parameter: value}).fit(TEXTS, WORDS)
    with pytest.raises(ValueError, match="positive sample_weight are empty"):
        WordSegmenter().fit(["", "好"], [[], ["好"]], sample_weight=[1, 0])
