r"""Data of CRFsuite whole: weights of sentences, ``\:`` in labels, probabilities behind
them
"""

import io
import warnings

import pytest
from cli_cases import run

import skstruct
from skstruct import L1CRF
from skstruct.datasets import read_tokens
from skstruct.datasets.formats.readers import iter_attributes

WEIGHTED = "@weight:5\nB\tw=a\nO\tw=b\n\nB\tw=c\nO\tw=b\n\n"


def test_weights_of_sentences():
    found = list(iter_attributes(io.StringIO(WEIGHTED), return_weight=True))
    assert [weight for _, weight in found] == [5.0, 1.0]
    assert [label for label, _ in found[0][0]] == ["B", "O"]
    text = "A\tx\n@weight:0\nB\tx\n\n@weight:2\n\nA\tx\n"  # amid, and of nothing
    found = list(iter_attributes(io.StringIO(text), return_weight=True))
    assert [weight for _, weight in found] == [0.0, 1.0]
    for read in iter_attributes, read_tokens:
        with pytest.warns(
            UserWarning, match="1 sentence had a weight .@weight., which"
        ):
            list(read(io.StringIO(WEIGHTED), **_crfsuite(read)))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            list(read(io.StringIO(WEIGHTED.replace("5", "1")), **_crfsuite(read)))


def _crfsuite(read):
    return {"format": "crfsuite"} if read is read_tokens else {}


@pytest.mark.parametrize("weight", ["-1", "inf", "nan", "x", ""])
def test_wrong_weights_are_named(weight):
    text = f"A\tx\n\n@weight:{weight}\nA\tx\n"
    with pytest.raises(ValueError, match="<StringIO>, line 3: expected @weight: and"):
        list(iter_attributes(io.StringIO(text)))


@pytest.mark.parametrize(
    ("written", "label"),
    [
        (r"\:", ":"),
        (r"a\:b", "a:b"),
        (r"\\", "\\"),
        (r"\\\:", "\\:"),
        ("@", "@"),
        ("@weights", "@weights"),
        ("A:0.931512", "A"),
        (r"\::1.000000", ":"),
        ("A:0.000001", "A"),
    ],
)
def test_labels_are_unescaped(written, label):
    ((row,),) = iter_attributes(io.StringIO(f"{written}\tx\n"))
    assert row == (label, {"x": 1.0})


@pytest.mark.parametrize("written", ["a:b", "A:1", "A:2.5", "a:", "a:0.5:0.5", "a\\"])
def test_a_colon_in_a_label_is_not_guessed_at(written):
    """The tool drops what is behind it: T:1 and T:2 would be one label."""
    with pytest.raises(ValueError, match="line 1: expected a label, with"):
        list(iter_attributes(io.StringIO(f"{written}\tx\n")))


@pytest.fixture
def escaped(tmp_path):
    r"""A file whose labels are ``:``, ``\`` and ``NN``, and a model that knows them."""
    text = "\\:\tw=\\:\nNN\tw=b\n\n\\\\\tw=c\nNN\tw=b\n\n"
    (tmp_path / "c.txt").write_text(text)
    X = [[{"w=:": 1.0}, {"w=b": 1.0}], [{"w=c": 1.0}, {"w=b": 1.0}]] * 3
    crf = L1CRF(c1=0.0, c2=0.1, random_state=0)
    crf.fit(X, [[":", "NN"], ["\\", "NN"]] * 3).save(tmp_path / "m")
    return tmp_path / "c.txt", text, tmp_path / "m"


def test_labels_go_both_ways(escaped, capsys):
    path, text, model = escaped
    given = "-m", model, "--format", "crfsuite"
    code, out, err = run(capsys, "evaluate", path, *given)
    assert code == 0 and "token accuracy        1.0000" in out and "unknown" not in err
    assert run(capsys, "tag", path, *given)[:2] == (0, text)


def test_probabilities_as_the_tool_writes_them(escaped, capsys):
    path, text, model = escaped
    given = "-m", model, "--format", "crfsuite"
    code, out, _ = run(capsys, "tag", path, *given, "--proba")
    assert code == 0
    labels = [line.split("\t")[0] for line in out.splitlines() if line]
    assert [label.rpartition(":")[0] for label in labels] == ["\\:", "NN", "\\\\", "NN"]
    marginals = skstruct.load(model).predict_marginals([[{"w=:": 1.0}, {"w=b": 1.0}]])
    assert labels[1].rpartition(":")[2] == f"{marginals[0][1].max():.6f}"
    path.write_text(out)  # and they are read again
    code, scores, _ = run(capsys, "evaluate", path, *given)
    assert code == 0 and "token accuracy        1.0000" in scores
    code, _, err = run(capsys, "tag", path, *given, "--proba", "--scheme", "BIO")
    assert code == 2 and "--scheme: data of CRFsuite has no place" in err


@pytest.mark.parametrize(
    "options",
    [
        ["-a", "l1crf"],
        ["-a", "perceptron"],
        ["-a", "l1crf", "--shards", "2"],
        ["-a", "pa", "--shards", "2"],
        ["-a", "l1crf", "--search"],
        ["--members", "2"],
        ["--calibrate"],
        ["-a", "perceptron", "--stream", "8"],
    ],
    ids=" ".join,
)
def test_every_way_of_training_weighs(tmp_path, capsys, options):
    """A sentence of weight 0 beside one of the same words and other labels says
    nothing.
    """
    text = "".join(
        f"@weight:{w}\n{a}\tw=a\n{b}\tw=b\n\n"
        for w, a, b in [(0, "O", "B"), (1, "B", "O")] * 8
    )
    (tmp_path / "w.txt").write_text(text)
    given = tmp_path / "w.txt", "-m", tmp_path / "m", "--format", "crfsuite"
    code, _, err = run(capsys, "train", *given, *options)
    assert code == 0, err
    model = skstruct.load(tmp_path / "m")
    assert list(model.classes_) == ["B", "O"]
    assert [list(x) for x in model.predict([[{"w=a": 1.0}, {"w=b": 1.0}]])] == [
        ["B", "O"]
    ]
    code, out, _ = run(capsys, "tag", *given)
    assert code == 0 and out.count("@weight:0\n") == 8


def test_a_weight_is_a_repetition():
    """As in the tool."""
    rows = list(iter_attributes(io.StringIO(WEIGHTED), return_weight=True))
    X = [[token for _, token in cells] for cells, _ in rows]
    y = [[label for label, _ in cells] for cells, _ in rows]
    crf = L1CRF(c1=0.0, c2=1.0, tol=1e-9, random_state=0)
    weighted = crf.fit(X, y, sample_weight=[weight for _, weight in rows]).objective_
    repeated = crf.fit([X[0]] * 5 + [X[1]], [y[0]] * 5 + [y[1]]).objective_
    assert weighted == pytest.approx(repeated)
