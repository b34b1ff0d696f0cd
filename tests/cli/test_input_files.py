"""Input files line by line: how much of one is held, and how often a line is looked
at.
"""

import json
import sys
import tracemalloc

import pytest
from cli_cases import run

from skstruct import SpanTagger
from skstruct.cli import corpus, texts
from skstruct.cli.common import Arguments
from skstruct.datasets import SourceLayout
from skstruct.datasets.formats.source import Source
from skstruct.datasets.formats.span_files import AnnotationReader
from skstruct.datasets.formats.table import BY_NAME

TEXT = "Ann is in Rome. " * 100
N = 1000  # the beginning of a file, which says its format, is held several times


@pytest.mark.parametrize("road", ["to learn from", "to be labelled"])
def test_lines_of_annotated_texts_are_not_kept(tmp_path, road):
    """What is held while they pass is a batch and the first texts, which vote on units:
    not the file.
    """
    arguments = Arguments(
        tokens=None, label=None, separator=None, comment=None, format=None, read=[], lines=False, write=None,
        encoding="utf-8",
    )  # fmt: skip
    layout = corpus.Layout(
        SourceLayout("jsonl"), BY_NAME["jsonl"], "", AnnotationReader()
    )
    peaks = []
    for n in (N // 4, N):
        path = tmp_path / f"{n}.jsonl"
        line = json.dumps({"text": TEXT, "spans": [[0, 3, "PER"]]}) + "\n"
        path.write_text(line * n)
        with Source(str(path)) as source:
            pieces = texts.read_texts(source, arguments)
            if road == "to learn from":
                pieces = corpus.batches(source, layout, 10)
            tracemalloc.start()
            found = sum(1 for _ in pieces)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
            assert found in (n, n // 10)
            assert source.readline() == ""
    assert peaks[1] < peaks[0] + path.stat().st_size / 5


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
