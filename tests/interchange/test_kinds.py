"""The first bytes of a file say whose it is."""

import pytest

from skstruct import L1CRF
from skstruct.interchange import save_crfpp, save_crfsuite, save_wapiti
from skstruct.interchange.kinds import kind_of, load_model

X = [["the", "dog"], ["a", "cat"]]
Y = [["D", "N"], ["D", "N"]]

SAVE = {
    "skstruct": lambda model, path: model.save(path),
    "crfsuite": save_crfsuite,
    "wapiti": save_wapiti,
    "crf++": save_crfpp,
    "crf++-text": lambda model, path: save_crfpp(model, path, text=True),
}


@pytest.fixture(scope="module")
def model():
    return L1CRF(["U:%x[0,0]", "B"], random_state=0, max_iter=20).fit(X, Y)


@pytest.mark.parametrize("kind", SAVE)
def test_a_file_is_known_and_read(kind, model, tmp_path):
    path = tmp_path / "file"
    SAVE[kind](model, path)
    assert kind_of(path) == kind
    tokens = [[[f"U:{w}"] for w in x] for x in X] if kind == "crfsuite" else X
    assert load_model(path).predict(tokens) == Y


@pytest.mark.parametrize(
    "name, start", [("a", b"\x80\x04"), ("a.pkl", b"(lp0"), ("a", b"BZh9")]
)
def test_pickles_are_known_too(name, start, tmp_path):
    path = tmp_path / name
    path.write_bytes(start)
    assert kind_of(path) == "pickle"


def test_what_looks_like_nothing_is_ours(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"hello")
    assert kind_of(path) == "skstruct"
