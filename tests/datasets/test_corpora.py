"""Public corpora, from a server on this machine."""

import gzip

import pytest
from file_server import names, sha256
from inside import CONLL2000, CONLL2002, Part

from skstruct.datasets import (
    corpora,
    fetch_conll2000,
    fetch_conll2002,
    fetch_ud,
)

COLUMNS = "He PRP B-NP\nreckons VBZ B-VP\n\nYes UH O\n\n"


TREES = (
    "1\tEs\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tgeht\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
)


# --------------------------------------------------------------------------------------
# Corpora
# --------------------------------------------------------------------------------------
def test_conll2000(server, tmp_path, monkeypatch, capsys):
    content = gzip.compress(COLUMNS.encode())
    server.files["train.txt.gz"] = content
    part = Part(server.url + "train.txt.gz", (sha256(content),))
    monkeypatch.setitem(CONLL2000, "train", part)
    corpus = fetch_conll2000(data_home=tmp_path)
    assert corpus.data == [[("He", "PRP"), ("reckons", "VBZ")], [("Yes", "UH")]]
    assert corpus.target == [["B-NP", "B-VP"], ["O"]]
    assert "Licence:" in corpus.DESCR and corpus.DESCR in capsys.readouterr().err
    assert corpus.filename == str(tmp_path / "conll2000" / "train.txt.gz")
    server.shutdown()
    X, y = fetch_conll2000(data_home=tmp_path, return_X_y=True)
    assert (X, y) == (corpus.data, corpus.target) and capsys.readouterr().err == ""


def test_conll2000_uncompressed_on_the_way(server, tmp_path, monkeypatch):
    server.files["test.txt.gz"] = COLUMNS.encode()
    part = Part(server.url + "test.txt.gz", (sha256(COLUMNS.encode()),))
    monkeypatch.setitem(CONLL2000, "test", part)
    assert fetch_conll2000("test", data_home=tmp_path).target == [
        ["B-NP", "B-VP"],
        ["O"],
    ]


def test_published_checksum_is_that_of_the_corpus(corpus_path):
    for subset, (_, digests) in CONLL2000.items():
        text = corpus_path(f"conll2000/{subset}.txt").read_bytes()
        assert sha256(text.rstrip(b"\n") + b"\n\n") in digests


@pytest.mark.parametrize(
    "language, text, expected",
    [
        ("es", "Año O\n", [["Año"]]),
        ("es", "Año NC O\n", [[("Año", "NC")]]),
        ("nl", "-DOCSTART- -DOCSTART- O\nEén Num O\n\n", [[("Eén", "Num")]]),
    ],
)
def test_conll2002(server, tmp_path, monkeypatch, language, text, expected):
    server.files["x.testa"] = text.encode("latin-1")
    monkeypatch.setitem(CONLL2002[language], "dev", Part(server.url + "x.testa", ()))
    corpus = fetch_conll2002(language, "dev", data_home=tmp_path)
    assert (corpus.data, corpus.target) == (expected, [["O"]])
    assert names(tmp_path / "conll2002") == ["x.testa", "x.testa.sha256"]


def test_ud(server, tmp_path, monkeypatch):
    server.files["UD_German-GSD/r2.14/de_gsd-ud-dev.conllu"] = TREES.encode()
    server.files["UD_Chinese-GSD/r2.14/zh_gsd-ud-train.conllu"] = TREES.encode()
    monkeypatch.setattr(corpora, "UD", server.url)
    options = {"data_home": tmp_path, "return_X_y": True}
    assert fetch_ud("German-GSD", "dev", **options) == (
        [["Es", "geht"]],
        [["PRON", "VERB"]],
    )
    assert fetch_ud("German-GSD", "dev", task="parsing", **options) == (
        [[("Es", "PRON"), ("geht", "VERB")]],
        [[(2, "nsubj"), (0, "root")]],
    )
    assert fetch_ud("Chinese-GSD", task="segmentation", **options) == (
        ["Esgeht"],
        [["Es", "geht"]],
    )
    assert len(server.asked) == 2
    assert "CC BY-SA 4.0" in fetch_ud("German-GSD", "dev", data_home=tmp_path).DESCR


def test_a_page_instead_of_a_corpus(server, tmp_path, monkeypatch):
    monkeypatch.setattr(corpora, "UD", server.url)
    page = b"<html>\n<body>Log in</body>\n</html>\n"
    server.files["UD_English-EWT/r2.14/en_ewt-ud-train.conllu"] = page
    with pytest.raises(
        ValueError, match="en_ewt-ud-train.conllu is not the file expected: .*line 1"
    ):
        fetch_ud(data_home=tmp_path)
    assert names(tmp_path / "ud" / "r2.14") == []


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: fetch_conll2000("dev"),
            "subset must be one of 'train', 'test'; got 'dev'",
        ),
        (lambda: fetch_conll2002("de"), "language must be one of"),
        (lambda: fetch_ud("Klingon"), "treebank must be one of"),
        (lambda: fetch_ud(task="singing"), "task must be one of"),
        (lambda: fetch_ud(task="segmentation"), "for Chinese"),
        (lambda: fetch_ud(release="../x"), "release must be a tag"),
    ],
)
def test_wrong_parameters(call, message):
    with pytest.raises(ValueError, match=message):
        call()
