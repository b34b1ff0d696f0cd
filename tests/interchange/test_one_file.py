"""A fitted model as one file: the written file is the model."""

import subprocess
import sys

import pytest
from one_file_cases import check_source, loaded, written

from skstruct import StructuredPerceptron
from skstruct.datasets import load_chunking
from skstruct.interchange import export


@pytest.fixture(scope="module")
def chunker():
    X, y = load_chunking()
    return StructuredPerceptron("chunk", constraints="BIO", random_state=0).fit(X[:100], y[:100]), X


def test_a_written_tagger_is_the_model(chunker, tmp_path):
    model, X = chunker
    path = written(model, tmp_path)
    check_source(path)
    file = loaded(path)
    assert file.predict(X) == model.predict(X)
    assert file.decision_function(X) == model.decision_function(X).tolist()
    assert file.labels == model.classes_.tolist()


def test_from_the_command_line(chunker, tmp_path):
    """The bytes of ``skstruct tag``, in an interpreter without any package."""
    model, X = chunker
    path, corpus = written(model, tmp_path), tmp_path / "corpus.txt"
    lines = ["\n".join(" ".join(token) for token in sentence) + "\n\n" for sentence in X[100:110]]
    corpus.write_text("".join(lines), encoding="utf-8")
    model.save(tmp_path / "model.skstruct")
    own = subprocess.run([sys.executable, "-I", "-S", path, corpus], capture_output=True, check=True)
    command = [sys.executable, "-m", "skstruct", "tag", corpus, "--model", tmp_path / "model.skstruct"]
    assert own.stdout == subprocess.run(command, capture_output=True, check=True).stdout


@pytest.mark.parametrize(
    "arguments, text",
    [
        ({"path": "tagger.exe"}, "path must end in .py, .js, .cjs or .mjs, got 'tagger.exe'"),
        ({"path": "tagger.py", "weights": "int4"}, "weights must be 'exact', 'int16' or 'int8', got 'int4'"),
    ],
)
def test_refused_parameters(arguments, text, chunker):
    with pytest.raises(ValueError) as error:
        export(chunker[0], **arguments)
    assert str(error.value) == text
