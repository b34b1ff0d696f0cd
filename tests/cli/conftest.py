"""What the tests of the command line share: folders of corpora and models, standard
input.
"""

import io
import sys

import pytest
from cli_cases import N_TRAIN, columns
from cli_model_cases import write_models

from skstruct import cli
from skstruct.datasets import load_chunking, load_sample, load_segmentation


def conllu(forms, tags):
    text = ""
    for i, sentence in enumerate(zip(forms, tags)):
        text += f"# sent_id = {i}\n"
        for t, (form, tag_) in enumerate(zip(*sentence), start=1):
            if t == 2:
                text += "2-3\tof_two\t" + "\t".join("_" * 8) + "\n"
            text += f"{t}\t{form}\t_\t_\t{tag_}\t_\t_\t_\t_\t_\n"
        text += "\n"
    return text


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Corpora, and a model of each format, in one folder."""
    root = tmp_path_factory.mktemp("cli")
    X, y = load_chunking()
    (root / "train.txt").write_text(columns(X[:N_TRAIN], y[:N_TRAIN]), encoding="utf-8")
    (root / "test.txt").write_text(columns(X[N_TRAIN:], y[N_TRAIN:]), encoding="utf-8")
    sample = load_sample("en")
    (root / "train.conllu").write_text(
        conllu(sample.tokens[:40], sample.pos[:40]), encoding="utf-8"
    )
    (root / "test.conllu").write_text(
        conllu(sample.tokens[40:50], sample.pos[40:50]), encoding="utf-8"
    )
    _, words = load_segmentation()
    segmented = [" ".join(w) + "\n" for w in words]
    (root / "train.seg").write_text("".join(segmented[:N_TRAIN]), encoding="utf-8")
    (root / "test.seg").write_text("".join(segmented[N_TRAIN:]), encoding="utf-8")
    for source, target in (
        ("train.txt", "chunk"),
        ("train.conllu", "pos"),
        ("train.seg", "seg"),
    ):
        assert (
            cli.main(
                ["train", str(root / source), "-m", str(root / target), "--epochs", "5"]
            )
            == 0
        )
    return root


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Corpora, and a model of each kind, in one folder."""
    return write_models(tmp_path_factory.mktemp("models"))


@pytest.fixture
def stdin(monkeypatch):
    """A function that puts a text, or bytes, into standard input."""

    def give(text):
        data = text if isinstance(text, bytes) else text.encode()
        monkeypatch.setattr(
            sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="ascii")
        )

    return give
