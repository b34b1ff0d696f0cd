"""Bad input of `Segmenter`."""

import pickle

import numpy as np
import pandas as pd
import pytest
from segmenter_cases import TEXTS, WORDS, X, Y, new_tagger
from sklearn.exceptions import NotFittedError

from skstruct._taggers.segmenter import Segmenter


@pytest.fixture(scope="module")
def plain():
    return Segmenter(new_tagger()).fit(X[:120], Y[:120])


# -- bad input -------------------------------------------------------------------------
P = [[("我", "PN"), ("喜欢", "VV")]]
BAD = {
    "text alone": ("我", [["我"]], r"X must be a list of texts, got str '我'; use \[text\]"),
    "number": (3, [["我"]], "X must be a list of texts, got int 3"),
    "generator": ((t for t in TEXTS), WORDS, "a generator can be read only once"),
    "frame": (pd.DataFrame({"text": TEXTS, "more": TEXTS}), WORDS, "X must be a list of texts"),
    "characters": ([list("我们")], [["我们"]], "sequence 0.*Segmenter takes text.*''.join"),
    "text is None": (["我", None], [["我"], ["我"]], "X: sequence 1: expected a text.*None"),
    "text is bytes": ([b"abc"], [["abc"]], "X: sequence 0: expected a text.*bytes"),
    "no y": (TEXTS, None, "y must be a list of lists of words, got None"),
    "y too short": (TEXTS, WORDS[:1], "same number of sequences, got 2 and 1"),
    "y is text": (["我们"], ["我们"], "y: sequence 0 is the str '我们'"),
    "y is no list": (["我们"], [3], "y: sequence 0 must be a list of words"),
    "other word": (TEXTS, [WORDS[0], ["他", "去", "北京"]],
                   "y: sequence 1, position 1: .*goes on with '来北京', got '去'"),
    "too few": (TEXTS, [WORDS[0][:2], WORDS[1]],
                "y: sequence 0, position 2: .*goes on with '图书馆' after"),
    "too many": (TEXTS, [[*WORDS[0], "好"], WORDS[1]],
                 "y: sequence 0, position 3: .*has ended, got '好'"),
    "words of an empty text": (["", "好"], [["好"], ["好"]], "sequence 0, position 0: .*has ended"),
    "empty word": (TEXTS, [["我", "", "喜欢", "图书馆"], WORDS[1]],
                   "sequence 0, position 1: the word must be a str, and not empty"),
    "word with space": (["我 们"], [["我 们"]],
                        "sequence 0, position 0: a word must not hold white space"),
    "word over space": (["好", "我们 的书"], [["好"], ["我", "们的", "书"]],
                        "sequence 1, position 1: the text has white space inside of the word '们的'"),
    "word is None": (TEXTS, [["我", None, "图书馆"], WORDS[1]],
                     "sequence 0, position 1: expected a word.*None"),
    "first is a number": (["我"], [[3]], "sequence 0, position 0: expected a word, a str, got int 3"),
    "pair after words": (TEXTS, [WORDS[0], [("他", "PN"), "来", "北京"]],
                         "sequence 1, position 0: expected a word, a str, as before, got tuple"),
    "word after pairs": (["我喜欢"], [[("我", "PN"), "喜欢"]],
                         r"sequence 0, position 1: expected a \(word, tag\) pair, as before, got str"),
    "no tag": (["我喜欢"], [[("我", "PN"), ("喜欢",)]],
               "sequence 0, position 1: expected a .word, tag. pair"),
    "three": (["我"], [[("我", "PN", "x")]], "sequence 0, position 0: expected a .word, tag. pair"),
    "tag is None": (["我喜欢"], [[("我", "PN"), ("喜欢", None)]],
                    "sequence 0, position 1: the tag must be a str, and not empty"),
    "tag is a number": (["我"], [[("我", 3)]], "position 0: the tag must be a str, and not empty"),
    "tag is empty": (["我"], [[("我", "")]], "position 0: the tag must be a str, and not empty"),
    "tagged word is None": (["我"], [[(None, "PN")]], "position 0: the word must be a str, and not empty"),
    "tagged word is empty": (["我"], [[("", "PN"), ("我", "PN")]],
                             "position 0: the word must be a str, and not empty"),
    "no text": ([], [], "X is empty"),
    "no character": (["", " "], [[], []], "X holds no character"),
}  # fmt: skip


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("x, y, message", list(BAD.values()), ids=list(BAD))
def test_bad_training_data(x, y, message, method):
    if hasattr(x, "__next__"):
        x = (t for t in TEXTS)
    segmenter = Segmenter(new_tagger())
    with pytest.raises(ValueError, match=message):
        getattr(segmenter, method)(x, y)
    assert list(vars(segmenter)) == ["tagger", "scheme"]
    # Nor does it spoil a segmenter that was fitted before.
    segmenter.fit(TEXTS, WORDS)
    before = pickle.dumps(segmenter)
    with pytest.raises(ValueError):
        getattr(segmenter, method)(x, y)
    assert pickle.dumps(segmenter) == before


@pytest.mark.parametrize("x", [["我", 3], "我", [list("我")]])
def test_bad_texts_in_prediction(plain, x):
    with pytest.raises(ValueError, match="X"):
        plain.predict(x)


def test_unfitted_comes_before_bad_input():
    for call in (lambda s: s.predict(3), lambda s: s.score(3, 4)):
        with pytest.raises(NotFittedError):
            call(Segmenter())


@pytest.mark.parametrize(
    "parameters", [{"scheme": "BIO"}, {"scheme": None}, {"tagger": 3}]
)
def test_bad_parameters(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        Segmenter(**parameters).fit(TEXTS, WORDS)


def test_bad_weights():
    for weight in ([1.0], [1.0, -1.0], [0.0, 0.0], [1.0, np.nan]):
        with pytest.raises(ValueError):
            Segmenter().fit(TEXTS, WORDS, weight)


def test_score_refuses_words_that_do_not_spell_the_text(plain):
    with pytest.raises(ValueError, match="sequence 1, position 0"):
        plain.score(TEXTS, [WORDS[0], ["我"]])
