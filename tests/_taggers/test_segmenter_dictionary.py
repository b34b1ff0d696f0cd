"""A dictionary given at prediction: its words are found, everything else stays in
form.
"""

import numpy as np
import pytest
from counting import calls, needs_compiled
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone

from skstruct import (
    BaggingShuffleAverager,
    KBestReranker,
    ParameterMixer,
    PassiveAggressiveTagger,
    Segmenter,
    StructuredPerceptron,
    load,
)
from skstruct.datasets import load_segmentation

WORD_SCHEMES = "BMES", "BI", "B2B3MES"
X, Y = load_segmentation()
PAIRS = [[(word, "N" if len(word) > 1 else "X") for word in words] for words in Y]


def new_tagger(**parameters):
    return PassiveAggressiveTagger(
        **{"features": "char", "random_state": 0, "max_iter": 3, **parameters}
    )


@pytest.fixture(scope="module")
def segmenters():
    """One of each scheme, well-formed labels or any, words or (word, tag)."""
    return [
        Segmenter(new_tagger(constraints=scheme if constrained else None), scheme).fit(
            X, y
        )
        for scheme in WORD_SCHEMES
        for constrained in (False, True)
        for y in (Y, PAIRS)
    ]


def matched(text, dictionary):
    """Maximum matching: {(start, stop)} of the words that have to come out."""
    out, start = set(), 0
    for piece in text.split():
        t = 0
        while t < len(piece):
            n = max((len(w) for w in dictionary if piece.startswith(w, t)), default=0)
            if n:
                out.add((start + t, start + t + n))
            t += max(n, 1)
        start += len(piece)
    return out


def spans_of(words):
    ends = np.cumsum([len(word) for word in words]).tolist()
    return set(zip([0, *ends], ends))


STRING = st.text("今天北京大学的。", min_size=1, max_size=6)


@given(
    texts=st.lists(st.lists(STRING, max_size=3).map(" ".join), min_size=1, max_size=4),
    dictionary=st.sets(STRING, max_size=5),
)
def test_words_of_the_dictionary_come_out(segmenters, texts, dictionary):
    for segmenter in segmenters:
        for text, words in zip(texts, segmenter.predict(texts, dictionary=dictionary)):
            words = [word[0] for word in words] if segmenter.tagged_ else words
            assert "".join(words) == "".join(text.split())
            assert matched(text, dictionary) <= spans_of(words)
            whites = np.cumsum([len(piece) for piece in text.split()]).tolist()
            assert set(whites) <= {stop for _, stop in spans_of(words)}


def test_segmentation_changes_without_training():
    segmenter = Segmenter(new_tagger()).fit(X, Y)
    text = "他在北京大学图书馆看书。"
    assert segmenter.predict([text]) == [
        ["他", "在", "北京", "大学", "图书馆", "看", "书", "。"]
    ]
    found = segmenter.predict([text], dictionary=["北京大学图书馆", "北京大学", "看书"])
    assert found == [["他", "在", "北京大学图书馆", "看书", "。"]]
    assert segmenter.predict([text], dictionary=["大学图"])[0][2:4] == [
        "北京",
        "大学图",
    ]
    # The first of two words that overlap wins.
    assert "学图" in segmenter.predict([text], dictionary=["图书馆", "学图"])[0]
    assert segmenter.predict([text]) == [
        ["他", "在", "北京", "大学", "图书馆", "看", "书", "。"]
    ]


def test_the_rest_is_searched_around_the_words():
    """A label before a word of the dictionary ends a word: the tagger knows, it is not
    just cut there.
    """
    segmenter = Segmenter(new_tagger()).fit(X, Y)
    asked = []
    segmenter.tagger_.predict = lambda x, allowed=None: (
        asked.append(allowed)
        or type(segmenter.tagger_).predict(segmenter.tagger_, x, allowed)
    )
    segmenter.predict(["他在北京大学看书", "天气"], dictionary=["北京大学"])
    first, second = asked[0]
    assert [None if one is None else "".join(sorted(one)) for one in first] == [
        "BS", "ES", "B", "M", "M", "E", "BS", "ES",
    ]  # fmt: skip
    assert second == [None, None]


def test_nothing_found_changes_nothing():
    segmenter = Segmenter(new_tagger()).fit(X, Y)
    expected = segmenter.predict(X)
    for dictionary in (None, [], ["ਅਆ"], (), set()):
        assert segmenter.predict(X, dictionary=dictionary) == expected
    assert segmenter.predict(["", " "], dictionary=["今天"]) == [[], []]
    own = segmenter.predict(
        X[:3], dictionary=[word for words in expected[:3] for word in words]
    )
    assert ["".join(words) for words in own] == X[:3]


def test_words_that_no_label_spells():
    """Training without words of three characters knows no M; a word of the dictionary
    is one all the same.
    """
    for constraints in (None, "BMES"):
        for y in (
            [["今天", "好"], ["好"]],
            [[("今天", "N"), ("好", "V")], [("好", "V")]],
        ):
            segmenter = Segmenter(new_tagger(constraints=constraints)).fit(
                ["今天好", "好"], y
            )
            words = segmenter.predict(
                ["今天好今天", "好好"], dictionary=["天好今", "好"]
            )
            words = [[w[0] for w in one] if segmenter.tagged_ else one for one in words]
            assert words == [["今", "天好今", "天"], ["好", "好"]]


def test_words_where_no_label_is_a_word_of_one_character():
    segmenter = Segmenter(new_tagger()).fit(["今天", "北京"], [["今天"], ["北京"]])
    assert segmenter.predict(["今天北"], dictionary=["天"]) == [["今", "天", "北"]]


def test_tags_are_those_that_know_the_whole_word():
    y = [[("今天天", "N"), ("好", "V")], [("好", "V"), ("大学", "V")]]
    segmenter = Segmenter(new_tagger(constraints="BMES", max_iter=10)).fit(
        ["今天天好", "好大学"], y
    )
    assert segmenter.predict(["好大学"], dictionary=["好大学"]) == [[("好大学", "N")]]


def test_a_tagger_without_allowed():
    class Single(BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return [["S"] * len(x) for x in X]

    segmenter = Segmenter(Single()).fit(X, Y)
    words = segmenter.predict(["他在北京 大学"], dictionary=["北京", "京大"])
    assert words == [["他", "在", "北京", "大", "学"]]


@pytest.mark.parametrize("y", [Y, PAIRS], ids=["words", "tagged"])
@pytest.mark.parametrize(
    "segmenter",
    [
        Segmenter(BaggingShuffleAverager(new_tagger(), n_estimators=2, random_state=0)),
        Segmenter(ParameterMixer(new_tagger(), n_shards=2, random_state=0)),
        ParameterMixer(Segmenter(new_tagger()), n_shards=2, random_state=0),
        KBestReranker(
            Segmenter(BaggingShuffleAverager(new_tagger(), n_estimators=2, random_state=0)),
            k=2, cv=2, max_iter=1, random_state=0,
        ),
    ],
    ids=["averager", "mixer", "mixer of a segmenter", "base of a re-ranker"],
)  # fmt: skip
def test_as_with_the_plain_tagger(segmenter, y, tmp_path):
    """An averager and a mixer search around white space and dictionary, as the tagger
    inside would.
    """
    segmenter = clone(segmenter).fit(X[:60], y[:60])
    segmenter.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    dictionary = {
        text[k : k + 3] for text in X[60:] for k in (1, 5) if len(text) > k + 3
    }
    spaced = [
        " ".join(text[k : k + 3] for k in range(0, len(text), 3)) for text in X[60:]
    ]
    for model in (segmenter, loaded):
        model = getattr(model, "base_", model)
        inner = getattr(model, "estimator_", model)
        plain, cut = Segmenter(), Segmenter(Foreign())
        plain.tagger_ = getattr(inner.tagger_, "estimator_", inner.tagger_)
        cut.tagger_ = Foreign(plain.tagger_)
        plain.tagged_ = cut.tagged_ = inner.tagged_
        for texts, options in ((spaced, {}), (X[60:], {"dictionary": dictionary})):
            expected = plain.predict(texts, **options)
            assert model.predict(texts, **options) == expected
            assert (
                cut.predict(texts, **options) != expected
            )  # so that the search makes a difference


class Foreign(BaseEstimator):
    """A tagger that knows nothing of this package."""

    def __init__(self, tagger=None):
        self.tagger = tagger

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.tagger.predict(X)


def test_characters_beyond_the_basic_plane_and_surrogates():
    segmenter = Segmenter(StructuredPerceptron("char", random_state=0)).fit(
        X[:20], Y[:20]
    )
    words = segmenter.predict(
        ["\U00020000今\ud800天"], dictionary=["\U00020000今", "\ud800天"]
    )
    assert words == [["\U00020000今", "\ud800天"]]


@pytest.mark.parametrize(
    ("dictionary", "message"),
    [
        ("今天", r"a collection of words, got str '今天'; use \[word\]"),
        (b"x", "a collection of words"),
        ({"今天": 2.0}, "'今天' must have a tag, some tags, or None"),
        (3, "a collection of words, got int 3"),
        (["今天", 3], "entry 1 must be a word, a str without white space, got int 3"),
        (
            [("今天", "N")],
            "entry 0 must be a word, a str without white space, got tuple",
        ),
        (["今天", ""], "entry 1 must be a word, a str without white space, got str ''"),
        ([" "], "entry 0 must be a word, a str without white space, got str ' '"),
        (
            ["New York"],
            "entry 0 must be a word, a str without white space, got str 'New York'",
        ),
    ],
)
def test_what_is_no_dictionary(segmenters, dictionary, message):
    with pytest.raises(ValueError, match=message):
        segmenters[0].predict(["今天"], dictionary=dictionary)


@needs_compiled
def test_texts_do_not_go_through_the_dictionary():
    """The words are read once: what more texts cost does not depend on how many words
    there are.
    """
    segmenter = Segmenter(new_tagger()).fit(X, Y)
    known, text = sorted({w for words in Y for w in words}), ("".join(X) * 100)[:5000]
    texts = [text[k : k + 50] for k in range(0, len(text), 50)]
    segmenter.predict(texts[:2], dictionary=known)
    counts = {}
    for n_words in (10, 10_000):
        words = known + [f"{k:06d}" for k in range(n_words)]
        for n in (10, 100):
            counts[n_words, n], _ = calls(
                lambda n=n, words=words: segmenter.predict(texts[:n], dictionary=words)
            )
    few, many = (counts[n_words, 100] - counts[n_words, 10] for n_words in (10, 10_000))
    assert many <= 1.1 * few
