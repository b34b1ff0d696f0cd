"""Models of other tools whose strings are not UTF-8: the tools keep bytes, and know of
no encoding.

A model is written with the bytes of an encoding, as its tool would have written it, and
read back.
"""

import warnings

import pytest
from cli_cases import run

from skstruct import L1CRF
from skstruct._saving.container import ModelFileError
from skstruct.features.patterns import CRFPP, WAPITI, Patterns
from skstruct.interchange import (
    load_crfpp,
    load_crfsuite,
    load_wapiti,
    save_crfpp,
    save_crfsuite,
    save_wapiti,
)

ENCODINGS = {
    "euc_jp": [("東京", "地"), ("は", "外"), ("田中", "人"), ("雨", "外")],
    "latin-1": [("é", "Ä"), ("ü", "Ö"), ("où", "Ä"), ("à", "é")],
    "cp1251": [("дом", "С"), ("идёт", "Г"), ("кот", "С"), ("и", "П")],
}


def features(kind):
    return {
        "crf++": Patterns(["U0:%x[0,0]", "B"], CRFPP),
        "crf++-text": Patterns(["U0:%x[0,0]", "B"], CRFPP),
        "wapiti": Patterns(["u0:%x[0,0]", "b"], WAPITI),
        "crfsuite": None,
    }[kind]


SAVE = {
    "crf++": save_crfpp,
    "crf++-text": lambda model, path: save_crfpp(model, path, text=True),
    "wapiti": save_wapiti,
    "crfsuite": save_crfsuite,
}
LOAD = {
    "crf++": load_crfpp,
    "crf++-text": load_crfpp,
    "wapiti": load_wapiti,
    "crfsuite": load_crfsuite,
}


def as_kind(kind, word):
    return ["w=" + word] if kind == "crfsuite" else word


def model_in(encoding, kind, path):
    """A model in the bytes of an encoding; the words, and labels, as text."""
    words, labels = zip(*ENCODINGS[encoding])

    def raw(text):
        return text.encode(encoding).decode("utf-8", "surrogateescape")

    X = [[as_kind(kind, raw(word)) for word in words]] * 3
    crf = L1CRF(*filter(None, [features(kind)]), c1=0.0, c2=0.1, random_state=0)
    SAVE[kind](crf.fit(X, [[raw(label) for label in labels]] * 3), path)
    return [as_kind(kind, word) for word in words], list(labels)


@pytest.mark.parametrize("kind", SAVE)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_words_and_labels_in_an_encoding(tmp_path, kind, encoding):
    X, labels = model_in(encoding, kind, tmp_path / "model")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LOAD[kind](tmp_path / "model", encoding=encoding)
    assert model.predict([X]) == [labels]
    assert set(model.classes_) == set(labels)
    with pytest.warns(UserWarning, match="strings are not UTF-8.*--encoding"):
        model = LOAD[kind](tmp_path / "model")
    assert not set(model.classes_) & set(labels)
    LOAD[kind]((tmp_path / "model").read_bytes(), encoding=encoding.upper())


@pytest.mark.parametrize("kind", SAVE)
def test_a_wrong_encoding_is_an_error(tmp_path, kind):
    model_in("cp1251", kind, tmp_path / "model")
    with pytest.raises(ModelFileError, match="the string b.* is no text in ascii"):
        LOAD[kind](tmp_path / "model", encoding="ascii")
    with pytest.raises(ValueError, match="encoding must be one that Python knows"):
        LOAD[kind](tmp_path / "model", encoding="utf-9")


@pytest.mark.parametrize("kind", SAVE)
def test_a_model_in_utf8_warns_of_nothing(tmp_path, kind):
    X, labels = model_in("latin-1", kind, tmp_path / "other")
    words, labels = zip(*ENCODINGS["euc_jp"])
    crf = L1CRF(*filter(None, [features(kind)]), c1=0.0, c2=0.1, random_state=0)
    X = [as_kind(kind, word) for word in words]
    SAVE[kind](crf.fit([X], [labels]), tmp_path / "model")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LOAD[kind](tmp_path / "model").predict([X]) == [list(labels)]


def test_patterns_that_match_bytes_have_no_other_encoding(tmp_path):
    """They cut tokens amid characters; a key that is half a character is no fault."""
    patterns = Patterns(['u0:%m[0,0,".$"]', "b"], WAPITI)
    model = L1CRF(patterns, random_state=0).fit([["é", "a"]], [["A", "B"]])
    save_wapiti(model, tmp_path / "model")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_wapiti(tmp_path / "model").predict([["é", "a"]]) == [["A", "B"]]
    with pytest.raises(ModelFileError, match="its patterns match bytes"):
        load_wapiti(tmp_path / "model", encoding="latin-1")


# -- the command line passes its own ---------------------------------------------------
def corpus_in(encoding, path):
    rows = (f"{word} {label}\n" for word, label in ENCODINGS[encoding])
    path.write_bytes("".join(rows).encode(encoding))


@pytest.mark.parametrize("kind", ["crf++", "wapiti"])
@pytest.mark.parametrize("encoding", ["euc_jp", "latin-1"])
def test_commands_read_model_and_data_alike(tmp_path, capsys, kind, encoding):
    model, data = tmp_path / "model", tmp_path / "data.txt"
    _, labels = model_in(encoding, kind, model)
    corpus_in(encoding, data)
    given = "-m", model, "--encoding", encoding
    code, out, err = run(capsys, "evaluate", data, *given)
    assert code == 0 and "accuracy        1.0000" in out and "unknown" not in err
    code, out, _ = run(capsys, "tag", data, *given, "-o", tmp_path / "out")
    tagged = (tmp_path / "out").read_bytes().decode(encoding).split()
    assert code == 0 and tagged[2::3] == labels
    code, out, err = run(capsys, "show", "-m", model, "--encoding", encoding)
    assert (
        code == 0 and all(label in out for label in labels) and "not UTF-8" not in err
    )
    run(capsys, "convert", model, tmp_path / "m.skstruct", "--encoding", encoding)
    code, out, _ = run(
        capsys, "evaluate", data, "-m", tmp_path / "m.skstruct", "--encoding", encoding
    )
    assert code == 0 and "accuracy        1.0000" in out
    assert "its strings are not UTF-8" in run(capsys, "show", "-m", model)[2]


def test_a_model_in_utf8_stays_so_whatever_the_data_are(tmp_path, capsys):
    """As before: only a model that is not UTF-8 has the encoding of the data."""
    words, labels = zip(*ENCODINGS["latin-1"])
    crf = L1CRF(features("crf++"), c1=0.0, c2=0.1, random_state=0)
    save_crfpp(crf.fit([list(words)], [labels]), tmp_path / "model")
    corpus_in("latin-1", tmp_path / "data.txt")
    given = "-m", tmp_path / "model", "--encoding", "latin-1"
    code, out, _ = run(capsys, "evaluate", tmp_path / "data.txt", *given)
    assert code == 0 and "accuracy        1.0000" in out
