"""Raw text for word vectors: files, rules that cut it, words looked up as learned."""

import gzip
import io
import re
import unicodedata

import numpy as np
import pytest
from one_file_cases import loaded as imported
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline

import skstruct
from skstruct import StructuredPerceptron
from skstruct.features import WordVectors
from skstruct.interchange import export

CUT = {
    "The dog's bowl isn't full.": "The dog 's bowl is n't full .",
    "He can't, won't and DON'T; we cannot.": "He ca n't , wo n't and DO N'T ; we can not .",
    "I’m sure they’ll say it’s O'Brien’s.": "I ’m sure they ’ll say it ’s O'Brien ’s .",
    "U.S. exports (e.g. to the E.U.) rose": "U.S. exports ( e.g. to the E.U. ) rose",
    "Mr. J. Smith of B.A.T and AT&T Corp.": "Mr. J. Smith of B.A.T and AT&T Corp.",
    "a state-of-the-art buy-out at $5.3 -- 12%": "a state-of-the-art buy-out at $ 5.3 -- 12 %",
    "On 1996-08-22 at 10:30, 1,000.5 and/or 3rd": "On 1996-08-22 at 10:30 , 1,000.5 and/or 3rd",
    "``Well ...'' she said: \"no\"": "`` Well ... '' she said : \" no \"",
    "see https://example.org/a?b=1 now": "see https://example.org/a?b=1 now",
    "the dogs' bowls": "the dogs ' bowls",
    "café noir de l'été": "café noir de l'été",
    "x\u0304y isn't": "x\u0304y is n't",
}
"""Texts, and their tokens as English corpora have them."""


def vectors(**parameters):
    defaults = {"n_clusters": 2, "min_count": 1, "random_state": 0, "lowercase": False}
    return WordVectors(2, **{**defaults, **parameters})


def has(fitted, word):
    """Whether a word has a cluster, whoever asks."""
    [[token]] = fitted.transform([[word]])
    assert fitted.table().label(word) in ("_", f"c{token[1]}")
    assert (token[1] == "_") == (fitted.table().label(word) == "_")
    return token[1] != "_"


# -- rules -----------------------------------------------------------------------------
@pytest.mark.parametrize("text", CUT)
def test_treebank(text):
    words = CUT[text].split()
    found = vectors(tokenizer="treebank").fit_text([text])
    assert set(found.words_) == set(words)
    assert set(vectors(tokenizer="spaces").fit_text([CUT[text]]).words_) == set(words)


def test_a_function_cuts():
    pattern = re.compile(r"\w+'\w+|\S+")
    for cut in pattern.findall, lambda text: [(0, 3), (4, len(text))]:
        found = vectors(tokenizer=cut).fit_text(["the dog's"] * 2)
        assert list(found.words_) == ["the", "dog's"] and has(found, "dog's")
        assert clone(found).tokenizer is cut
    wrong = vectors(tokenizer=lambda text: ["cat"])
    message = "tokenizer: sequence 2: token 0, 'cat', is not in the text"
    with pytest.raises(ValueError, match=message):
        wrong.fit_text(["a cat", "cat", "dog"])


@pytest.mark.parametrize("tokenizer", ["tree-bank", r"\S+", 3, None])
def test_rules_that_are_none(tokenizer):
    message = (
        "tokenizer must be one of 'words', 'characters', 'spaces', 'treebank', or a"
    )
    for fit in vectors(tokenizer=tokenizer).fit, vectors(tokenizer=tokenizer).fit_text:
        with pytest.raises(ValueError, match=message) as error:
            fit([["a"]])
    if isinstance(tokenizer, str):
        assert f"re.compile({tokenizer!r}).findall" in str(error.value)


# -- what is learned is found ----------------------------------------------------------
LOOKED_UP = ["U.S.", "n't", "'s", "café", "Ａ", "İstanbul", "한국", "e\u0301t\u00e9"]


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("tokenizer", ["words", "treebank", "spaces", "characters"])
def test_what_is_learned_is_found(tokenizer, lowercase):
    """Each word that a rule cuts is found, in every normal form that is canonical."""
    given = {"lowercase": lowercase, "tokenizer": tokenizer}
    for form in "NFC", "NFD":
        lines = [unicodedata.normalize(form, " ".join(LOOKED_UP))] * 2
        learned = vectors(**given).fit_text(lines)
        words = list(learned.words_)
        for word in words:
            for other in "NFC", "NFD":
                assert has(learned, unicodedata.normalize(other, word))
    if tokenizer in ("treebank", "spaces"):
        assert all(has(learned, word) for word in LOOKED_UP)


@pytest.mark.parametrize("lowercase", [True, False])
def test_tokens_are_learned_in_normal_form(lowercase):
    for learned in "NFC", "NFD":
        words = [unicodedata.normalize(learned, word) for word in LOOKED_UP]
        fitted = vectors(lowercase=lowercase).fit([words] * 2)
        assert len(fitted.words_) == len(LOOKED_UP)
        assert all(
            has(fitted, unicodedata.normalize("NFD", word)) for word in LOOKED_UP
        )


def test_written_programs_find_them_too(tmp_path):
    words = vectors().fit_text([" ".join(["café", "thé", "blanc", "noir"])] * 2).table()
    X, y = [["café", "blanc"], ["thé", "noir"]], [["N", "A"], ["N", "A"]]
    templates = ["U:%cluster[0,0]/%x[0,0]", "U1:%cluster[0,0]", "B"]
    tagger = StructuredPerceptron(templates, words=words, random_state=0).fit(X, y)
    decomposed = [[unicodedata.normalize("NFD", word) for word in x] for x in X]
    assert tagger.predict(decomposed) == tagger.predict(X)
    export(tagger, tmp_path / "program.py")
    assert imported(tmp_path / "program.py").predict(decomposed) == tagger.predict(X)


# -- files -----------------------------------------------------------------------------
def test_files_of_all_kinds_are_one_text(tmp_path):
    lines = ["the dog barks", "", "a café"] * 3
    data = "\r\n".join(lines).encode("utf-8-sig")
    (tmp_path / "a.txt").write_bytes(data)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(data, mtime=0))
    expected = vectors().fit_text(lines)
    for source in (
        tmp_path / "a.txt",
        tmp_path / "a.txt.gz",
        gzip.open(tmp_path / "a.txt.gz", "rt", encoding="utf-8-sig"),
        io.StringIO("\n".join(lines)),
    ):
        found = vectors().fit_text(source)
        assert found.words_ == expected.words_
        np.testing.assert_array_equal(found.vectors_, expected.vectors_)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("b.txt", b"ok\ncaf\xe9\n", r"b\.txt, line 2: not valid utf-8"),
        (
            "b.gz",
            gzip.compress(b"ok\ncaf\xe9\n", mtime=0),
            r"b\.gz, line 2: not valid utf-8",
        ),
        ("c.gz", b"no gzip", r"c\.gz, after line 0: Not a gzipped file"),
        (
            "d.gz",
            gzip.compress(b"the dog\n" * 99, mtime=0)[:-9],
            r"d\.gz, after line \d+: ",
        ),
    ],
)
def test_files_that_cannot_be_read(name, data, message, tmp_path):
    """The error names file and line, and what was learned before stays."""
    (tmp_path / name).write_bytes(data)
    fitted = vectors().fit_text(["the dog"])
    before = dict(vars(fitted))
    with pytest.raises(ValueError, match=message):
        fitted.fit_text(tmp_path / name)
    assert vars(fitted) == before
    with open(tmp_path / "b.txt", "wb") as file:
        file.write(b"caf\xe9")
    with open(tmp_path / "b.txt", encoding="utf-8") as file:
        with pytest.raises(ValueError, match=r"b\.txt, line 1: not valid utf-8"):
            vectors().fit_text(file)
    with open(tmp_path / "b.txt", "rb") as file:
        with pytest.raises(TypeError, match="opened in text mode"):
            vectors().fit_text(file)


# -- model files -----------------------------------------------------------------------
def pipeline(**parameters):
    words = vectors(**parameters).fit_text(["the dog 's", "a cat 's"] * 2)
    tagger = StructuredPerceptron(["U:%x[0,1]", "B"], random_state=0)
    model = make_pipeline(FrozenEstimator(words), tagger)
    return model.fit([["the", "dog", "'s"]], [["D", "N", "P"]])


def test_model_files_keep_the_rule(tmp_path):
    for tokenizer in "treebank", "spaces", "words":
        skstruct.save(pipeline(tokenizer=tokenizer), tmp_path / "model")
        found = skstruct.load(tmp_path / "model")
        assert found[0].estimator.tokenizer == tokenizer
        X = [["the", "dog", "'s"]]
        assert found.predict(X) == pipeline(tokenizer=tokenizer).predict(X)


def test_a_function_is_in_no_file(tmp_path):
    """The error says so before a file is there; the table of the words can be kept."""
    cut = str.split
    message = (
        "tokenizer=.* cannot be saved: files hold no code; give the name of a rule"
    )
    with pytest.raises(TypeError, match=message):
        skstruct.save(pipeline(tokenizer=cut), tmp_path / "model")
    assert not (tmp_path / "model").exists()
    table = vectors(tokenizer=cut).fit_text(["the dog"]).table()
    tagger = StructuredPerceptron(words=table, random_state=0)
    tagger.fit([["the", "dog"]], [["D", "N"]]).save(tmp_path / "model")
    assert skstruct.load(tmp_path / "model").words == table
