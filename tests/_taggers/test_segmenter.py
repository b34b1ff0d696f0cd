"""The segmenter: text in, words out, over any tagger."""

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from inside import labels_of_pieces
from segmenter_cases import PAIRS, TEXTS, WORDS, X, Y, new_tagger
from sklearn.base import BaseEstimator
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import cross_validate

from skstruct import PassiveAggressiveTagger, StructuredPerceptron
from skstruct._data.inputs import Sequences
from skstruct._data.schemes import labels_to_words, words_to_labels
from skstruct._data.segmented import as_pieces, cut
from skstruct._taggers.segmenter import Segmenter
from skstruct.metrics import word_f1_score

WORD_SCHEMES = "BMES", "BI", "B2B3MES"


class Recorder(BaseEstimator):
    """Remembers what it was given; says the first label of training for every
    character.
    """

    def __init__(self, wrong_length=0, weighted=False):
        self.wrong_length = wrong_length
        self.weighted = weighted

    def fit(self, X, y, sample_weight=None):
        self.seen_, self.labels_, self.weight_ = X, y, sample_weight
        self.says_ = y[0][0]
        return self

    def predict(self, X):
        self.asked_ = X
        return [[self.says_] * (len(x) + self.wrong_length) for x in X]


@pytest.fixture(scope="module")
def plain():
    return Segmenter(new_tagger()).fit(X[:120], Y[:120])


@pytest.fixture(scope="module")
def joint():
    return Segmenter(new_tagger()).fit(X[:120], PAIRS[:120])


# -- words -----------------------------------------------------------------------------
@pytest.mark.parametrize("scheme", WORD_SCHEMES)
@pytest.mark.parametrize("tagger", [StructuredPerceptron, PassiveAggressiveTagger])
def test_learns_every_scheme(scheme, tagger):
    segmenter = Segmenter(tagger(features="char", random_state=0), scheme=scheme).fit(
        X, Y
    )
    predicted = segmenter.predict(X)
    assert (
        type(predicted) is Sequences
        and type(predicted[0]) is list
        and type(predicted[0][0]) is str
    )
    assert ["".join(words) for words in predicted] == X
    score = segmenter.score(X, Y)
    assert type(score) is float and score > 0.98
    assert score == pytest.approx(word_f1_score(Y, predicted), abs=1e-12)
    assert segmenter.tagged_ is False


def test_default_tagger():
    segmenter = Segmenter().fit(X, Y)
    assert segmenter.tagger is None
    inside = segmenter.tagger_.estimator_
    assert type(inside) is StructuredPerceptron
    assert inside.features == "char-types" and inside.constraints is None
    assert segmenter.score(X, Y) > 0.98


def test_does_better_than_characters_on_unseen_text(plain):
    characters = word_f1_score(Y[120:], [list(text) for text in X[120:]])
    assert plain.score(X[120:], Y[120:]) > max(0.7, characters + 0.1)


def test_constraints_of_the_tagger_hold():
    segmenter = Segmenter(new_tagger(constraints="BMES")).fit(X, Y)
    assert segmenter.score(X, Y) > 0.98


def test_tags_come_back_as_pairs(joint):
    predicted = joint.predict(X)
    assert joint.tagged_ is True
    assert all(type(item) is tuple and len(item) == 2 for item in predicted[0])
    assert type(predicted[0][0][1]) is str
    assert ["".join(word for word, _ in items) for items in predicted] == X
    assert joint.score(X[:120], PAIRS[:120]) > 0.95
    expected = word_f1_score(PAIRS, predicted, tagged=True)
    assert joint.score(X, PAIRS) == pytest.approx(expected, abs=1e-12)
    # Against plain words only the boundaries count.
    assert joint.score(X, Y) == pytest.approx(word_f1_score(Y, predicted), abs=1e-12)
    assert joint.score(X, Y) >= joint.score(X, PAIRS)
    assert joint.predict([""]) == [[]]


def test_tags_with_hyphens_and_pairs_as_lists():
    y = [
        [["我", "A-B"], ["喜欢", "C"], ["图书馆", "A-B"]],
        [["他", "A-B"], ["来", "C"], ["北京", "-"]],
    ]
    segmenter = Segmenter(new_tagger(max_iter=20)).fit(TEXTS, y)
    assert segmenter.predict(TEXTS) == [[tuple(pair) for pair in pairs] for pairs in y]


# -- white space -----------------------------------------------------------------------
def test_tagger_sees_no_white_space():
    segmenter = Segmenter(Recorder()).fit(
        ["", " 我 喜欢\u3000图书馆\n", "\t ", "他来"],
        [[], WORDS[0], [], ["他", "来"]],
        [1, 2, 3, 4],
    )
    assert segmenter.tagger_.seen_ == [list("我喜欢图书馆"), list("他来")]
    assert segmenter.tagger_.labels_ == [list("SBEBME"), list("SS")]
    assert segmenter.tagger_.weight_.tolist() == [2.0, 4.0]
    segmenter.predict(["好 的", " ", ""])
    assert segmenter.tagger_.asked_ == [["好", "的"]]


def test_white_space_always_cuts():
    # A tagger that says M everywhere, and knows nothing of `allowed`.
    segmenter = Segmenter(Recorder(), scheme="BMES").fit(["我们的"], [["我们的"]])
    segmenter.tagger_.says_ = "M"
    assert segmenter.predict([" 一二 三\u3000四五六\n", "一二三", " \t", ""]) == [
        ["一二", "三", "四五六"], ["一二三"], [], [],
    ]  # fmt: skip


@pytest.mark.parametrize("scheme", WORD_SCHEMES)
@pytest.mark.parametrize("y", [Y, PAIRS], ids=["words", "pairs"])
@given(cuts=st.lists(st.integers(1, 200), max_size=8))
def test_white_space_is_a_boundary(scheme, y, cuts):
    key = (scheme, y is PAIRS)
    if key not in FITTED:
        FITTED[key] = Segmenter(new_tagger(), scheme=scheme).fit(X, y)
    text = "".join(X[:8])
    marks = sorted({min(c, len(text)) for c in cuts})
    parts = [text[a:b] for a, b in zip([0, *marks], [*marks, len(text)]) if a < b]
    found = FITTED[key].predict([" ".join(parts)])[0]
    words = [item[0] for item in found] if y is PAIRS else found
    assert "".join(words) == text
    stops = set(np.cumsum([len(word) for word in words]))
    assert stops.issuperset(np.cumsum([len(part) for part in parts]))


FITTED = {}


def test_white_space_is_searched_not_only_cut():
    """The labels that the tagger finds already have the boundary."""
    segmenter = Segmenter(new_tagger()).fit(X, Y)
    pieces = as_pieces(["图书 馆看书。", "图书馆"])
    labels = labels_of_pieces(segmenter, pieces)
    assert labels[0][1] in "ES" and labels[0][2] in "BS"
    assert labels[1] == segmenter.tagger_.predict([list("图书馆")])[0]


def test_white_space_without_single_character_words():
    """The label S is unknown; a lone character between white space is a word all the
    same.
    """
    segmenter = Segmenter(new_tagger(constraints="BMES")).fit(
        ["喜欢图书馆"], [["喜欢", "图书馆"]]
    )
    assert segmenter.predict(["喜 欢图书馆"])[0][0] == "喜"


def test_english_with_spaces_round_trip():
    texts = ["the cat sat", "a  dog barks loudly "]
    words = [text.split() for text in texts]
    assert Segmenter().fit(texts, words).predict(texts) == words


# -- any labels ------------------------------------------------------------------------
PREFIXES = {"BMES": "BMESO", "BI": "BI", "B2B3MES": ("B", "B2", "B3", "M", "E", "S")}


@st.composite
def labelled(draw):
    scheme = draw(st.sampled_from(WORD_SCHEMES))
    kinds = draw(st.sampled_from([[""], ["-X", "-Y"], ["-X-Y", "-Z"]]))
    labels = st.sampled_from(
        [p if p == "O" else p + kind for p in PREFIXES[scheme] for kind in kinds]
    )
    letters = st.characters(exclude_categories=("Zs", "Cc")).filter(
        lambda c: not c.isspace()
    )
    texts = draw(
        st.lists(st.text(letters, min_size=1, max_size=12), min_size=1, max_size=5)
    )
    return (
        scheme,
        texts,
        [draw(st.lists(labels, min_size=len(t), max_size=len(t))) for t in texts],
    )


@given(labelled())
def test_cut_equals_labels_to_words(drawn):
    scheme, texts, labels = drawn
    for tagged in (False, True):
        found = cut([[text] for text in texts], labels, scheme, tagged)
        for text, row, words in zip(texts, labels, found):
            expected = labels_to_words(text, row, scheme)
            if expected and isinstance(expected[0], tuple):
                assert words == (expected if tagged else [word for word, _ in expected])
            else:  # no label has a type
                assert words == (
                    [(word, "") for word in expected] if tagged else expected
                )


@given(
    st.lists(
        st.text(st.characters(exclude_categories=("Zs", "Cc")), min_size=1), min_size=1
    )
)
def test_cut_reads_what_words_to_labels_wrote(words):
    words = [word for word in ("".join(word.split()) for word in words) if word] or [
        "a"
    ]
    for scheme in WORD_SCHEMES:
        labels = words_to_labels(words, scheme)
        assert cut([["".join(words)]], [labels], scheme, False) == [words]


def test_characters_beyond_the_basic_plane_and_surrogates():
    texts = ["𠮷野家\ud800", "𝒳"]
    words = [["𠮷", "野家\ud800"], ["𝒳"]]
    assert Segmenter(new_tagger(max_iter=20)).fit(texts, words).predict(texts) == words


def test_tagger_that_miscounts_is_refused():
    segmenter = Segmenter(Recorder(wrong_length=1)).fit(TEXTS, WORDS)
    with pytest.raises(ValueError, match="one label for each character"):
        segmenter.predict(TEXTS)


# -- weights ---------------------------------------------------------------------------
def test_sample_weight_zero_is_as_good_as_absent(plain):
    weight = np.r_[np.ones(120), np.zeros(len(X) - 120)]
    weighted = Segmenter(new_tagger()).fit(X, Y, sample_weight=weight)
    assert weighted.predict(X) == plain.predict(X)
    assert weighted.score(X, Y, weight) == pytest.approx(plain.score(X[:120], Y[:120]))
    assert weighted.score(X, Y, 2 * weight) == pytest.approx(
        plain.score(X[:120], Y[:120])
    )
    doubled = plain.score(X[110:130] + X[120:130], Y[110:130] + Y[120:130])
    weight = np.r_[np.ones(10), 2 * np.ones(10)]
    assert plain.score(X[110:130], Y[110:130], weight) == pytest.approx(doubled)


def test_metadata_routing():
    weight = np.ones(len(TEXTS))
    with sklearn.config_context(enable_metadata_routing=True):
        with pytest.raises(UnsetMetadataPassedError):
            Segmenter(new_tagger()).fit(TEXTS, WORDS, sample_weight=weight)
        tagger = Recorder().set_fit_request(sample_weight=True)
        segmenter = Segmenter(tagger).set_fit_request(sample_weight=True)
        segmenter.set_score_request(sample_weight=True)
        assert (
            segmenter.fit(TEXTS, WORDS, sample_weight=weight).tagger_.weight_
            is not None
        )
        assert Segmenter(tagger).fit(TEXTS, WORDS).tagger_.weight_ is None
        refuses = Segmenter(Recorder().set_fit_request(sample_weight=False))
        assert refuses.fit(TEXTS, WORDS, sample_weight=weight).tagger_.weight_ is None
        result = cross_validate(
            segmenter,
            X[:20],
            Y[:20],
            params={"sample_weight": np.ones(20)},
            cv=2,
            return_estimator=True,
        )
        assert all(len(fold.tagger_.weight_) == 10 for fold in result["estimator"])


# -- going on --------------------------------------------------------------------------
def test_partial_fit():
    segmenter = Segmenter(new_tagger())
    for _ in range(8):
        assert segmenter.partial_fit(X[:60], Y[:60]) is segmenter
    tagger = segmenter.tagger_
    for _ in range(8):
        segmenter.partial_fit(X[60:], Y[60:])
    assert segmenter.tagger_ is tagger
    assert segmenter.score(X, Y) > 0.9
    with pytest.raises(ValueError, match="expected words as in earlier calls"):
        segmenter.partial_fit(X, PAIRS)
    with pytest.raises(
        ValueError, match=r"expected \(word, tag\) pairs as in earlier calls"
    ):
        Segmenter().partial_fit(X, PAIRS).partial_fit(X, Y)
    assert segmenter.fit(X, PAIRS).tagged_  # a new fit may change it


def test_partial_fit_is_there_if_the_tagger_has_it():
    assert hasattr(Segmenter(), "partial_fit")
    assert hasattr(Segmenter(new_tagger()), "partial_fit")
    assert not hasattr(Segmenter(Recorder()), "partial_fit")


def test_interrupt_keeps_what_the_tagger_kept():
    class Interrupted(Recorder):
        def fit(self, X, y, sample_weight=None):
            if self.wrong_length == 0:
                super().fit(X, y)
            raise KeyboardInterrupt

    usable, useless = Segmenter(Interrupted()), Segmenter(Interrupted(wrong_length=1))
    for segmenter in (usable, useless):
        with pytest.raises(KeyboardInterrupt):
            segmenter.fit(TEXTS, WORDS)
    assert "".join(usable.predict(TEXTS)[0]) == TEXTS[0]
    assert not hasattr(useless, "tagger_")
