"""Texts and tokens: examples, and properties on random texts."""

import random
import re
import unicodedata

import pytest
from span_oracle import is_mark, is_space, random_text

from skstruct._data.text import TextToken, as_texts, check_tokenizer, tokenized


def words(text, tokenizer="words"):
    (pairs,) = tokenized([text], tokenizer).pairs()
    return [text[a:b] for a, b in pairs]


@pytest.mark.parametrize(
    "spelled",
    [
        "Don|'|t pay 1|,|000|.|50|€ to U|.|S|. -- José|... (|(|it|'|s|)|) “|no|”",
        "हिन्दी में नमस्ते",
        "서|울|에|서 北|京|ひ|ら|ー|ไ|ท|ย|abc ñandú",
        "👩\u200d👩\u200d👧|👍🏽|😀😀|🇩🇪|🇫🇷|🇩|1️⃣",
        "e\u0301te\u0301 \u00ad|x",  # a soft hyphen belongs to what it follows, which is nothing here
        "a\u200d|😀",  # a letter is not joined with a symbol
        "🇩\u0308🇪|🇫",
        "ᄒ\u1161\u11ab|ᄀ\u1173\u11af",
    ],
)
def test_words(spelled):
    assert words(spelled.replace("|", "")) == re.split("[| ]", spelled)


def test_layout_and_normal_form():
    text = "a b-c\nd\r\ne\r\n\r\nf \n \t\ng\u200bh\u2028i caf\u0065\u0301"
    tokens = tokenized([text, "", " x"])
    shown = "".join(t.before + t.word for t in tokens.words(True))
    assert shown == "3a1b0-0c2d2e3f3g1h2i1café3x"
    assert tokens.words(True)[-1] == TextToken("x", "3") == ("x", "3")
    assert tokens.words(False)[-2] == "caf\u00e9"
    assert tokens.first.tolist() == [0, 11, 11, 12] and tokens.pairs()[2] == [(1, 2)]


def test_other_tokenizers():
    assert words("Aé b\n😀", "characters") == list("Aéb😀")
    assert words("a-b, c", r"\w+") == ["a", "b", "c"]
    assert words("a-b, c", str.split) == ["a-b,", "c"]
    assert words(
        "a-b c", lambda text: [m.span() for m in re.finditer("[a-z-]+", text)]
    ) == ["a-b", "c"]
    assert words("a b", list) == ["a", "b"]  # white space among strings is no token
    assert tokenized([], "words").pairs() == [] and tokenized(
        [""], str.split
    ).pairs() == [[]]


@pytest.mark.parametrize(
    "tokenizer, message",
    [
        (
            "([",
            r'tokenizer must be "words", .* got \'\(\[\' \(unterminated character set',
        ),
        (
            7,
            r'tokenizer must be "words", "characters", a regular expression or a function, got 7',
        ),
        (
            lambda text: [(0, 1), (2, 2)],
            r"tokenizer: sequence 1: token 1, \(2, 2\), is empty",
        ),
        (
            lambda text: [(0, 2), (1, 3)],
            r"sequence 1: token 1, \(1, 3\), begins before token 0 ends",
        ),
        (lambda text: [(-1, 2)], r"sequence 1: token 0, \(-1, 2\), leaves the text"),
        (lambda text: [(0, 9**30)], r"sequence 1: token 0, .* leaves the text"),
        (
            lambda text: [(0, 2.0)],
            r"sequence 1: token 0: expected \(start, end\) or a str, got tuple",
        ),
        (
            lambda text: ["Ann", "``"],
            "sequence 1: token 1, '``', is not in the text behind token 0; return .* instead of strings",
        ),
        (r"\b", r"sequence 1: token 0, \(0, 0\), is empty"),
    ],
)
def test_bad_tokenizer(tokenizer, message):
    used = (
        tokenizer
        if isinstance(tokenizer, (str, int))
        else lambda text: tokenizer(text) if text else []
    )
    with pytest.raises(ValueError, match=message):
        check_tokenizer(used)
        tokenized(["", "Ann Lee"], used)


@pytest.mark.parametrize(
    "X, message",
    [
        ("Ann", r"X must be a list of texts, got str 'Ann'; use \[text\] for one text"),
        ([1], r"X: sequence 0: expected a text \(str\), got int 1"),
        (["a", ["b"]], r"X: sequence 1: expected a text \(str\), got list \['b'\]"),
        (iter("a"), "use list"),
    ],
)
def test_bad_texts(X, message):
    with pytest.raises(ValueError, match=message):
        as_texts(X)


def assert_tokens_partition(texts):
    tokens = tokenized(texts)
    for text, pairs in zip(texts, tokens.pairs()):
        ends = [0, *(b for _, b in pairs)]
        assert all(behind <= a < b for behind, (a, b) in zip(ends, pairs)), text
        inside = {t for a, b in pairs for t in range(a, b)}
        assert inside == {t for t, c in enumerate(text) if not is_space(c)}, text
        for a, _ in pairs:
            assert not is_mark(text[a]) or a == 0 or is_space(text[a - 1]), (text, a)
    return tokens


def test_random_texts():
    rng = random.Random(0)
    texts = [random_text(rng) for _ in range(1500)]
    tokens = assert_tokens_partition(texts)
    # A text has the same tokens alone.
    assert [tokenized([text]).pairs()[0] for text in texts[:200]] == tokens.pairs()[
        :200
    ]
    assert all(unicodedata.is_normalized("NFC", word) for word in tokens.words(False))


@pytest.mark.slow
def test_twenty_thousand_random_texts():
    rng = random.Random(1)
    assert_tokens_partition([random_text(rng) for _ in range(20_000)])


def test_a_tokenizer_that_leaves_the_text_by_far():
    with pytest.raises(ValueError, match="token 0, .* leaves the text"):
        tokenized(["ab"], lambda text: [(-(10**30), 10**30)])


@pytest.mark.parametrize(
    ("tokenizer", "hint"),
    [
        ("word", "did you mean 'words'"),
        ("Characters", "did you mean 'characters'"),
        ("whitespace", "a word, and no pattern"),
        (re.compile(r"\w+"), r"write its pattern, '\\\\w\+'"),
    ],
)
def test_a_tokenizer_that_is_only_nearly_one_is_refused(tokenizer, hint):
    with pytest.raises(ValueError, match=f"tokenizer must be .*{hint}"):
        check_tokenizer(tokenizer)
