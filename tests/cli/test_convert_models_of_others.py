"""Models of other tools on the command line: convert, show, tag, evaluate; data of
CRFsuite.
"""

import json
import pickle

import pytest
from cli_cases import run
from foreign_models import (
    LABELS,
    crfpp_binary,
    crfpp_small,
    crfpp_text,
    crfsuite_small,
    wapiti,
    wapiti_small,
)

import skstruct
from skstruct import L1CRF, StructuredPerceptron
from skstruct.interchange import load_crfpp, load_crfsuite, load_wapiti

BYTES = {
    "crfsuite": crfsuite_small(),
    "crf++": crfpp_binary(*crfpp_small()),
    "crf++-text": crfpp_text(*crfpp_small()),
    "wapiti": wapiti(*wapiti_small()),
}
LOADERS = {
    "crfsuite": load_crfsuite,
    "crf++": load_crfpp,
    "crf++-text": load_crfpp,
    "wapiti": load_wapiti,
}

COLUMNS = "he P\nran V\n\n\nthey P\nran V\n"
ATTRIBUTES = "A\tw\\:he\tup:2\nB\tw\\:ran\n\n\nO\tunknown\tup\tup\n"


@pytest.fixture
def model(tmp_path):
    """A function that writes a model file of a tool, and gives its path."""

    def write(kind):
        (tmp_path / "model").write_bytes(BYTES[kind])
        return tmp_path / "model"

    return write


@pytest.mark.parametrize("kind", BYTES)
def test_show(kind, model, capsys):
    code, out, err = run(capsys, "show", "-m", model(kind), "--json")
    about = json.loads(out)
    assert (code, err, about["file"], about["labels"]) == (0, "", kind, LABELS)
    assert (
        "epochs" not in about and about["model"] == "L1CRF" and about["n_weights"] > 5
    )
    code, out, err = run(capsys, "show", "-m", model(kind))
    assert code == 0 and "transitions" in out


@pytest.mark.parametrize("kind", ["crf++", "crf++-text", "wapiti"])
def test_tag_and_evaluate_columns(kind, model, tmp_path, capsys):
    crf = LOADERS[kind](BYTES[kind])
    (tmp_path / "corpus").write_text(COLUMNS)
    code, out, err = run(capsys, "tag", "-m", model(kind), tmp_path / "corpus")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.split("\n") if line]
    X = [[("he", "P"), ("ran", "V")], [("they", "P"), ("ran", "V")]]
    assert [row[2] for row in rows] == [
        label for labels in crf.predict(X) for label in labels
    ]
    (tmp_path / "gold").write_text(out)
    code, scores, err = run(
        capsys, "evaluate", "-m", model(kind), tmp_path / "gold", "--json"
    )
    assert code == 0 and json.loads(scores)["token_accuracy"] == 1.0
    code, out, err = run(capsys, "show", "-m", model(kind), "--explain", "he/P ran/V")
    assert code == 0 and out.startswith("score ")


def test_data_of_crfsuite(model, tmp_path, capsys):
    (tmp_path / "data").write_text(ATTRIBUTES)
    path = model("crfsuite")
    code, out, err = run(capsys, "tag", "-m", path, tmp_path / "data")
    assert code == 1 and "or features from data of CRFsuite (--format crfsuite)" in err
    code, out, err = run(
        capsys, "tag", "-m", path, tmp_path / "data", "--format", "crfsuite"
    )
    X = [[{"w:he": 1, "up": 2.0}, {"w:ran": 1}], [{"unknown": 1, "up": 2.0}]]
    crf = load_crfsuite(BYTES["crfsuite"])
    (a, b), (c,) = crf.predict(X)
    assert (code, out) == (
        0,
        f"{a}\tw\\:he\tup:2\n{b}\tw\\:ran\n\n\n{c}\tunknown\tup\tup\n",
    )
    (tmp_path / "predicted").write_text(out)
    code, scores, _ = run(
        capsys, "evaluate", "--gold", tmp_path / "data", "--pred", tmp_path / "predicted",
        "--format", "crfsuite", "--json",
    )  # fmt: skip
    direct = run(
        capsys,
        "evaluate",
        "-m",
        path,
        tmp_path / "data",
        "--format",
        "crfsuite",
        "--json",
    )
    assert code == 0 and json.loads(scores) == json.loads(direct[1])
    assert json.loads(scores)["tokens"] == 3
    code, out, err = run(
        capsys,
        "tag",
        "-m",
        path,
        tmp_path / "data",
        "--format",
        "crfsuite",
        "--kbest",
        2,
    )
    assert code == 0 and out.count("# 1 ") == 2
    code, _, err = run(
        capsys, "convert", path, tmp_path / "tagger.py", "--check", tmp_path / "data"
    )
    assert code == 0 and "0 of 2 sequences labelled otherwise" in err


def test_learning_from_data_of_crfsuite(tmp_path, capsys):
    (tmp_path / "data").write_text(ATTRIBUTES)
    arguments = "--format", "crfsuite", "-a", "l1crf", "-p", "c1=0.01", "-p", "tol=1e-6"
    code, out, err = run(
        capsys, "train", tmp_path / "data", "-m", tmp_path / "ours", *arguments
    )
    assert code == 0, err
    X = [[{"w:he": 1, "up": 2.0}, {"w:ran": 1}], [{"unknown": 1, "up": 2.0}]]
    assert skstruct.load(tmp_path / "ours").predict(X) == [["A", "B"], ["O"]]
    code, out, err = run(
        capsys, "convert", tmp_path / "ours", tmp_path / "theirs.crfsuite"
    )
    assert (code, out) == (0, "") and "read skstruct, wrote crfsuite" in err
    assert load_crfsuite(tmp_path / "theirs.crfsuite").predict(X) == [["A", "B"], ["O"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "A\tw:he\n",
            r"data, line 1: expected name or name:value, with \: for a colon in the name, got 'w:he'",
        ),
        ("A\tw\nB\tw:nan\n", "data, line 2: expected name or name:value"),
        ("A\tw:1:2\n", "data, line 1: expected name or name:value"),
        ("\n\n", "the file has no sentence"),
    ],
)
def test_data_that_is_none(text, message, model, tmp_path, capsys):
    (tmp_path / "data").write_text(text)
    path = model("crfsuite")
    code, _, err = run(
        capsys, "evaluate", "-m", path, tmp_path / "data", "--format", "crfsuite"
    )
    assert code == 1 and message in err


def test_formats_that_do_not_fit(model, tmp_path, capsys):
    (tmp_path / "data").write_text(ATTRIBUTES)
    tagger = StructuredPerceptron(["U:%x[0,0]"]).fit([["a"]], [["A"]])
    tagger.save(tmp_path / "words")
    code, _, err = run(
        capsys,
        "tag",
        "-m",
        tmp_path / "words",
        tmp_path / "data",
        "--format",
        "crfsuite",
    )
    assert code == 1 and "reads columns or CoNLL-U, not data of CRFsuite" in err
    code, _, err = run(
        capsys,
        "tag",
        "-m",
        model("crfsuite"),
        tmp_path / "data",
        "--format",
        "crfsuite",
        "--tokens",
        "0",
    )
    assert code == 2 and "is not for data of CRFsuite" in err
    code, _, err = run(
        capsys, "compare", tmp_path / "data", tmp_path / "data", "--format", "crfsuite"
    )
    assert code == 2 and "holds features already" in err


@pytest.mark.parametrize("kind", BYTES)
@pytest.mark.parametrize(
    "ending, to",
    [("skstruct", "skstruct"), ("crfsuite", "crfsuite"), ("crfpp", "crf++"), ("txt", "crf++-text"),
     ("wapiti", "wapiti"), ("bin", "crf++")],
)  # fmt: skip
def test_convert(kind, ending, to, model, tmp_path, capsys):
    target = tmp_path / f"converted.{ending}"
    option = ["--to", to] if ending == "bin" else []
    code, out, err = run(capsys, "convert", model(kind), target, *option)
    reasons = {
        ("crfsuite", "crf++"): "features that come ready-made with the tokens",
        ("crfsuite", "wapiti"): "features that come ready-made with the tokens",
        ("crf++", "crfsuite"): "transitions conditioned on the input",
        ("wapiti", "crfsuite"): "transitions conditioned on the input",
        ("wapiti", "crf++"): "a pattern such as 'u:l=%X[-1,0]'",
    }
    reason = reasons.get((kind.removesuffix("-text"), to.removesuffix("-text")))
    if reason is not None:
        assert (
            code == 1
            and f"{tmp_path / 'model'}: the model cannot be written for" in err
            and reason in err
        )
        assert not target.exists()
        return
    assert (code, out) == (0, "") and f"read {kind}, wrote {to}" in err
    again = skstruct.load(target) if to == "skstruct" else LOADERS[to](target)
    X = (
        [[["w:he", "up"], ["w:ran"]]]
        if kind == "crfsuite"
        else [[("he", "P"), ("ran", "V")]]
    )
    crf = LOADERS[kind](BYTES[kind])
    assert again.predict_kbest(X, 3)[0] == [
        (y, pytest.approx(s)) for y, s in crf.predict_kbest(X, 3)[0]
    ]


def test_pickles_are_told_by_their_content_or_name(tmp_path, capsys):
    sklearn_crfsuite = pytest.importorskip("sklearn_crfsuite")
    crf = sklearn_crfsuite.CRF(max_iterations=5).fit(
        [[{"a": "b"}, {}]] * 2, [["X", "Y"]] * 2
    )
    for protocol, name in ((4, "any"), (0, "crf.pkl")):
        (tmp_path / name).write_bytes(pickle.dumps(crf, protocol=protocol))
        code, out, err = run(
            capsys, "convert", tmp_path / name, tmp_path / "model.crfsuite", "--force"
        )
        assert code == 0 and "read pickle, wrote crfsuite" in err
    with open(crf.modelfile.name, "rb") as file:
        assert file.read() == (tmp_path / "model.crfsuite").read_bytes()


def test_convert_says_what_is_wrong(model, tmp_path, capsys):
    code, _, err = run(capsys, "convert", model("wapiti"), tmp_path / "model.bin")
    assert (
        code == 2 and "does not say which format to write: end it in .skstruct, " in err
    )
    assert ".html, or pass --to with one of skstruct, crfsuite, crf++" in err
    code, _, err = run(capsys, "convert", tmp_path / "absent", tmp_path / "model.txt")
    assert code == 1 and "absent: No such file" in err
    for text in "something else", '{"text": "👨\u200d⚕️ soft\u00adhyphen"}':
        (tmp_path / "text").write_text(text, encoding="utf-8")
        code, _, err = run(capsys, "convert", tmp_path / "text", tmp_path / "model.txt")
        assert code == 1 and "not a skstruct file: it looks like text" in err
    (tmp_path / "cut").write_bytes(BYTES["crfsuite"][:200])
    code, _, err = run(capsys, "show", "-m", tmp_path / "cut")
    assert code == 1 and "cut off" in err
    crf = L1CRF(["U:%x[0,0]"]).fit([["a", "b"]], [[1, 2]])
    crf.save(tmp_path / "numbers")
    code, _, err = run(
        capsys, "convert", tmp_path / "numbers", tmp_path / "model.wapiti"
    )
    assert code == 1 and "labels that are not str, such as int 1" in err
