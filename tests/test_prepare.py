"""Corpora written in the layout of the studies, from files as their publishers give
them.
"""

import gzip
import zipfile

import numpy as np
import pytest

from benchmarks.prepare import CORPORA, main
from skstruct.datasets import read_columns, read_conllu, read_segmented

TREE = (
    "# sent_id = {}\n"
    "1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n"
    "2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_\n\n"
)


def letter(number, symbol, following, fold, pixel):
    pixels = ["0"] * 128
    pixels[pixel] = "1"
    return (
        "\t".join([str(number), symbol, str(following), "1", "1", str(fold), *pixels])
        + "\n"
    )


@pytest.fixture
def published(tmp_path):
    """Folders of files as they are published, tiny."""
    files = {
        "conll2000/train.txt.gz": gzip.compress(b"He PRP B-NP\nsees VBZ B-VP\n\n"),
        "conll2000/test.txt": b"She PRP B-NP\r\n\r\n",
        "conll2002-esp/esp.train": "España NP B-LOC\n\n".encode("latin-1"),
        "conll2002-esp/esp.testa": "y CC O\n\n".encode("latin-1"),
        "conll2002-esp/esp.testb": "él PP O\n\n".encode("latin-1"),
        "ewt/en_ewt-ud-train.conllu": (
            TREE.format("email-1") + TREE.format("weblog-1") * 2
        ).encode(),
        "ewt/en_ewt-ud-dev.conllu": TREE.format("email-2").encode(),
        "ocr/letter.data.gz": gzip.compress(
            (
                letter(1, "o", 2, 0, 0)
                + letter(2, "m", -1, 0, 127)
                + letter(3, "a", -1, 7, 5)
            ).encode()
        ),
        "sxu/train.txt": "我们 来\n".encode(),
        "sxu/test.txt": "好 吧\n".encode(),
        **{
            f"gsd-zh/zh_gsdsimp-ud-{part}.conllu": TREE.format(1).encode()
            for part in ("train", "dev", "test")
        },
    }
    for name, content in files.items():
        path = tmp_path / "published" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    folder = tmp_path / "published" / "wsj-sample"
    folder.mkdir()
    with zipfile.ZipFile(folder / "dependency_treebank.zip", "w") as archive:
        archive.writestr("dependency_treebank/wsj_0002.dp", "Yes\tUH\t0\n\nNo\tUH\t0\n")
        archive.writestr(
            "dependency_treebank/wsj_0001.dp", "Dogs\tNNS\t2\nbark\tVBP\t0\n\n"
        )
    return tmp_path / "published"


def test_every_corpus_in_its_layout(published, tmp_path, capsys):
    sources = [f"--source={name}={published / name}" for name in CORPORA]
    data = tmp_path / "data"
    assert main([str(data), *sources, "--offline"]) == 0
    assert read_columns(data / "conll2000" / "train.txt") == [
        [("He", "PRP", "B-NP"), ("sees", "VBZ", "B-VP")]
    ]
    assert read_columns(data / "conll2000" / "test.txt") == [[("She", "PRP", "B-NP")]]
    assert read_columns(data / "conll2002-esp" / "train.txt") == [
        [("España", "NP", "B-LOC")]
    ]
    assert read_columns(data / "conll2002-esp" / "test.txt") == [[("él", "PP", "O")]]
    assert len(read_conllu(data / "ewt" / "train" / "weblog.conllu")) == 2
    assert len(read_conllu(data / "ewt" / "dev" / "email.conllu")) == 1
    trees = read_conllu(
        data / "wsj-sample" / "all.conllu", fields=("form", "xpos", "head", "deprel")
    )
    assert trees[0] == [("Dogs", "NNS", 2, "dep"), ("bark", "VBP", 0, "root")]
    assert [tree[0][0] for tree in trees] == ["Dogs", "Yes", "No"]
    assert len(read_conllu(data / "gsd-zh" / "test.conllu")) == 1
    assert read_segmented(data / "sxu" / "train.txt") == [["我们", "来"]]
    letters = np.load(data / "ocr" / "ocr_letters.npz")
    assert letters["length"].tolist() == [2, 1] and letters["fold"].tolist() == [0, 7]
    assert letters["label"].tolist() == [14, 12, 0]
    pixels = np.unpackbits(letters["pixels"], axis=1)
    assert pixels.shape == (3, 128) and np.flatnonzero(pixels).tolist() == [
        0,
        128 + 127,
        256 + 5,
    ]
    assert capsys.readouterr().err == ""


def test_what_is_there_is_kept(published, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SKSTRUCT_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "data" / "sxu"
    folder.mkdir(parents=True)
    (folder / "train.txt").write_text("mine\n", encoding="utf-8")
    assert main([str(tmp_path / "data"), "--offline"]) == 0
    assert (folder / "train.txt").read_text(encoding="utf-8") == "mine\n"
    out, err = capsys.readouterr()
    assert "sxu: is there" in out and "ewt: left out" in err


@pytest.mark.parametrize(
    "name, said", [("sxu", "--source sxu=FOLDER"), ("ocr", "letter.data.gz")]
)
def test_what_cannot_be_had_is_named(name, said, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SKSTRUCT_CACHE", str(tmp_path / "cache"))
    assert main([str(tmp_path / "data"), name, "--offline"]) == 1
    assert said in capsys.readouterr().err
    assert not (tmp_path / "data" / name).exists()


def test_a_corpus_that_there_is_not(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main([str(tmp_path), "wsj"])
    assert "no corpus 'wsj'; there are conll2000" in capsys.readouterr().err
