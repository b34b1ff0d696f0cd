"""Lexicons: what is found in texts."""

import pickle
import unicodedata

import pytest

from skstruct import Lexicon, Span


def found(lexicon, text, **options):
    return [(text[a:b], label) for a, b, label in lexicon.find([text], **options)[0]]


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
@pytest.mark.parametrize("given", ["NFC", "NFD"])
def test_case_width_and_normal_form_make_no_difference(form, given):
    words = ["Zoë", "Straße", "ガス", "한글", "New York", "Ångström"]
    lexicon = Lexicon([unicodedata.normalize(given, word) for word in words])
    text = unicodedata.normalize(form, "ZOË STRASSE, ｶﾞｽ 한글 ＮＥＷ\nＹＯＲＫ ångström")
    assert [word for word, _ in found(lexicon, text)] == [
        unicodedata.normalize(form, word)
        for word in ("ZOË", "STRASSE", "ｶﾞｽ", "한글", "ＮＥＷ\nＹＯＲＫ", "ångström")
    ]
    exact = Lexicon(words, ignore_case=False)
    assert "ångström" not in [word for word, _ in found(exact, text)]


def test_whole_words_the_first_and_the_longest():
    lexicon = Lexicon({"Ann": "PER", "Ann Lee": "ORG", "Lee Kim": "PER", "北京": "LOC"})
    assert found(lexicon, "Anna, Ann Lee Kim 到北京去") == [
        ("Ann Lee", "ORG"),
        ("北京", "LOC"),
    ]
    assert found(lexicon, "Ann\n\nLee") == [("Ann", "PER")]
    assert found(lexicon, "Ann-Lee Ann.", tokenizer=r"\S+") == []


def test_types_of_equal_matches_are_joined():
    lexicon = Lexicon({"Lee": "PER", "LEE": "ORG", "Kim": None}, {"K.m": "PER"})
    assert found(lexicon, "lee Kim") == [("lee", ("ORG", "PER")), ("Kim", None)]
    with pytest.raises(ValueError, match="'us' has a type, and is in no span"):
        Lexicon({"US": "LOC", "us": "O"})


def test_patterns_match_whole_words():
    lexicon = Lexicon({}, {r"\d{4}": "YEAR"})
    assert found(lexicon, "in 2024 or 20245") == [("2024", "YEAR")]
    assert lexicon.find(["", "2024"]) == [[], [Span(0, 4, "YEAR")]]


def test_a_pickle_finds_the_same():
    lexicon = Lexicon({"Ann": ("PER", "ORG")}, {"B.b": None}, ignore_case=False)
    again = pickle.loads(pickle.dumps(lexicon))
    text = "Ann Bob ann"
    assert found(again, text) == found(lexicon, text)
    assert repr(again) == "<Lexicon of 1 entries and 1 patterns>"


def test_files(tmp_path):
    path = tmp_path / "names.tsv"
    path.write_text("Ann\tPER\nAnn\tORG\nKim\n\n/\\d+/\tNUM\n", encoding="utf-8")
    assert found(Lexicon.from_file(path), "ANN KIM 12") == [
        ("ANN", ("ORG", "PER")),
        ("KIM", None),
        ("12", "NUM"),
    ]
    for line, message in {
        "Ann\tPER\tx": "line 2: expected an entry, a tab and a type",
        "Ann\t": "line 2: expected an entry",
        "/(/\tPER": "line 2: patterns: '\\('",
        "Kim\tO": "line 2: 'Kim' has a type, and is in no span",
    }.items():
        path.write_text(f"Kim\tPER\n{line}\n", encoding="utf-8")
        with pytest.raises(ValueError, match=message):
            Lexicon.from_file(path)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["Ann"], "entries must map str to types"),
        ([[""]], "entries must be str that are not empty"),
        ([[" "]], "is white space"),
        ([{"Ann": 3}], "entries: 'Ann'"),
        ([{"Ann": ("O", "PER")}], "'O' says that no span is there"),
        ([{}, {"(": "PER"}], r"patterns: '\('"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        Lexicon(*arguments)


def test_a_column_of_a_table_is_a_list_of_entries():
    pandas = pytest.importorskip("pandas")
    names = Lexicon(pandas.Series(["Ann", "New York"], index=["x", "y"]))
    assert names.find(["ann saw New York"]) == [[Span(0, 3, None), Span(8, 16, None)]]
