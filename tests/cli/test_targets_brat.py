"""Folders of brat, to which tagged texts are written."""

import pytest
from cli_cases import run

import skstruct
from skstruct import SpanTagger, StructuredPerceptron
from skstruct.datasets import load_entities, read_spans, write_spans


@pytest.fixture(scope="module")
def ner(tmp_path_factory):
    """A model of spans, in a file."""
    path = tmp_path_factory.mktemp("brat") / "ner"
    texts, spans = skstruct.datasets.columns_to_spans(*load_entities())
    tagger = SpanTagger(StructuredPerceptron(max_iter=1, random_state=0))
    tagger.fit(texts[:30], spans[:30]).save(path)
    return path


TEXTS, SPANS = ["Ann met Bob Lee."], [[(0, 3, "Given name"), (8, 15, "Full  name")]]


@pytest.fixture
def spaced(tmp_path):
    model = SpanTagger(StructuredPerceptron(max_iter=5, random_state=0)).fit(
        TEXTS, SPANS
    )
    model.save(tmp_path / "spaced")
    (tmp_path / "letter.txt").write_text(TEXTS[0])
    return [
        "tag",
        tmp_path / "letter.txt",
        "-m",
        tmp_path / "spaced",
        "--write",
        "brat",
    ]


def test_labels_with_white_space(spaced, tmp_path, capsys, monkeypatch):
    out = tmp_path / "brat"
    with monkeypatch.context() as patch:
        patch.setattr(SpanTagger, "predict", None)
        code, _, err = run(capsys, *spaced, "-o", out)
        assert code == 1 and not out.exists()
        assert "has 'Full  name'; --label-space _ writes Full_name" in err
        for wrong in "", " ", "a b":
            assert run(capsys, *spaced, "-o", out, "--label-space", wrong)[0] == 2
        assert run(capsys, *spaced[:4], "--label-space", "_")[0] == 2  # for brat alone
    assert run(capsys, *spaced, "-o", out, "--label-space", "_")[0] == 0
    named = [
        [span[:2] + (" ".join(span[2].split()).replace(" ", "_"),) for span in SPANS[0]]
    ]
    assert read_spans(out) == (TEXTS, named)


def test_labels_that_would_be_one(tmp_path, capsys):
    spans = [[(0, 3, "a b"), (8, 15, "a_b")]]
    model = SpanTagger(StructuredPerceptron(max_iter=1)).fit(TEXTS, spans)
    model.save(tmp_path / "m")
    (tmp_path / "t.txt").write_text(TEXTS[0])
    given = [
        "tag",
        tmp_path / "t.txt",
        "-m",
        tmp_path / "m",
        "--write",
        "brat",
        "-o",
        tmp_path / "o",
    ]
    code, _, err = run(capsys, *given, "--label-space", "_")
    assert code == 1 and "'a b' and 'a_b' would both be 'a_b'" in err
    assert run(capsys, *given, "--label-space", "-")[0] == 0


def test_labels_in_python_say_what_to_write(tmp_path):
    with pytest.raises(
        ValueError,
        match="brat cannot store the label 'Given name'.*; write 'Given_name' instead",
    ):
        write_spans(tmp_path / "out", TEXTS, SPANS, "brat")


@pytest.mark.parametrize(
    "names, message",
    [
        (["../a"], "line 1: metadata: sequence 0: expected the name of a file within"),
        (["b", "a\0b"], "line 2: metadata: sequence 1: expected the name of a file"),
        (["a", "./a"], "line 2: metadata: sequence 1: there is a text 'a' already"),
        (["x" * 300], "File name too long"),
        (["taken"], "taken.txt: exists already; to replace it, pass --force"),
        (["folder"], "folder.txt: is not a regular file"),
    ],
)
def test_files_of_brat_are_checked_before_predicting(
    names, message, ner, tmp_path, capsys, monkeypatch
):
    out, notes = tmp_path / "brat", tmp_path / "in.jsonl"
    (out / "folder.txt").mkdir(parents=True)
    (out / "taken.txt").write_text("Ann")
    X = ["Ann"] * len(names)
    write_spans(
        notes, X, [[]] * len(names), metadata=[{"name": name} for name in names]
    )
    monkeypatch.setattr(SpanTagger, "predict", None)
    before = sorted(out.iterdir())
    given = ["tag", notes, "-m", ner, "--write", "brat", "-o", out]
    code, _, err = run(capsys, *given)
    assert code == 1 and message in err, err
    assert sorted(out.iterdir()) == before
