"""Input files line by line: how much of one is held, and how often a line is looked at."""

import json
import sys
import tracemalloc
from argparse import Namespace

from cli_cases import run

from skstruct import SpanTagger
from skstruct.cli import corpus, texts
from skstruct.cli.input_files import Source
from skstruct.datasets.formats.span_files import AnnotationReader

TEXT = "Ann is in Rome. " * 100
N = 2000  # the beginning of a file, which says its format, is held several times


def test_lines_of_annotated_texts_are_not_kept(tmp_path):
    """What is held while they pass is a batch, not the file, be it to learn from or to be labelled."""
    path = tmp_path / "notes.jsonl"
    path.write_text((json.dumps({"text": TEXT, "spans": [[0, 3, "PER"]]}) + "\n") * N)
    arguments = Namespace(
        tokens=None, label=None, separator=None, comment=None, format=None, read=[], lines=False, write=None,
        encoding="utf-8",
    )  # fmt: skip
    layout = corpus.Layout("spans", None, None, None, None, AnnotationReader())
    for pieces in (
        lambda source: corpus.batches(source, layout, 10),
        lambda source: texts.read_texts(source, arguments),
    ):
        with Source(str(path)) as source:
            tracemalloc.start()
            found = sum(1 for _ in pieces(source))
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert found in (N, N // 10) and peak < path.stat().st_size / 5
            assert source.readline() == ""


def test_a_docbin_is_refused_by_the_way_out(tmp_path, capsys):
    (tmp_path / "train.spacy").write_bytes(b"x\x9c\x00\xff")
    code, _, err = run(
        capsys, "train", tmp_path / "train.spacy", "-m", tmp_path / "model"
    )
    assert (
        code == 1
        and "spacy.tokens.DocBin().from_disk" in err
        and "--encoding" not in err
    )


def test_blank_lines_at_the_top_are_looked_at_once(monkeypatch):
    looks = []

    class Line(str):
        def strip(self, *characters):
            looks.append(self)
            return super().strip(*characters)

    lines = [Line("\n")] * 1000 + [Line("a b\n")] * 60
    monkeypatch.setattr(sys, "stdin", iter(lines))
    source = Source("-")
    assert source.peek() == ["a b"] * 50 and len(looks) <= 1060
    assert "".join(source) == "".join(lines)


def test_a_folder_is_no_file_of_text(tmp_path, capsys):
    SpanTagger().fit(["Ann"], [[(0, 3, "PER")]]).save(tmp_path / "model")
    (tmp_path / "folder").mkdir()
    for more in ["--lines"], ["--format", "text"]:
        code, out, err = run(
            capsys, "tag", tmp_path / "folder", "-m", tmp_path / "model", *more
        )
        assert (code, out) == (
            1,
            "",
        ) and "folder: there is no file NAME.txt or NAME.ann in the folder" in err
