"""The first bytes of a file say whose it is."""

import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline

import skstruct
from skstruct import L1CRF, StructuredPerceptron
from skstruct.cli import main
from skstruct.features import TokenVectorizer, WordVectors
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


@pytest.mark.parametrize(
    "transformer", [WordVectors(2, min_count=1), TokenVectorizer()]
)
def test_a_transformer_is_no_model(transformer, tmp_path, capsys):
    """It can be saved alone, and every command says that it predicts nothing."""
    path = str(tmp_path / "file")
    skstruct.save(transformer.fit(X * 3), path)
    (tmp_path / "test.txt").write_text("the D\n\n")
    test = str(tmp_path / "test.txt")
    for command in (
        ["show", path],
        ["tag", test, "-m", path],
        ["evaluate", test, "-m", path],
        ["report", test, "-m", path, "-o", path + ".html"],
        ["select", test, "-m", path],
        ["convert", path, path + ".skstruct"],
        ["serve", path],
    ):
        assert main(command) == 1
        name = type(transformer).__name__
        assert f"{path}: a {name} predicts nothing" in capsys.readouterr().err


def test_a_pipeline_is_converted_as_it_is(tmp_path):
    words = FrozenEstimator(WordVectors(2, n_clusters=2, min_count=1).fit(X * 3))
    tagger = StructuredPerceptron(["U:%x[0,1]", "B"], random_state=0)
    model = make_pipeline(words, tagger).fit(X, Y)
    skstruct.save(model, tmp_path / "a")
    target = tmp_path / "b.skstruct"
    assert main(["convert", str(tmp_path / "a"), str(target)]) == 0
    assert skstruct.load(target).predict(X) == model.predict(X)
